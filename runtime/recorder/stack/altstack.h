/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate signal stacks: the kernel has ours registered while the program sees its own.
 *
 * A sample must not run on the stack that it interrupts, which may have no room for a signal frame (3.4 KB with
 * AVX-512). The kernel supports one alternate stack per thread, so in a sampled thread this is ours, whatever the
 * program has registered; sigaltstack() stores and returns what the program set. A handler of the program with
 * SA_ONSTACK is therefore entered on our stack. altstack_enter, which is installed in its place, moves the signal frame
 * to where the kernel would have put it (the top of the program's alternate stack or, if the thread has none, below the
 * interrupted frame) and jumps to the handler. The moved frame is complete: rt_sigreturn, unwinders and debuggers use
 * it in its new place. Nothing of the program remains on our stack while its code runs, so the next sample may
 * overwrite it.
 *
 * Rejected alternatives: samples on the program's alternate stack overflow it when they interrupt a handler, because
 * Rust, faulthandler and libsigsegv register only 8 to 16 KB. Dropping SA_ONSTACK for the whole process while some
 * thread has no alternate stack takes the stack away from the threads that have one.
 *
 * What a program can still observe: uc_stack in the context of a handler, and a sigaltstack system call that bypasses
 * libc, name our stack. A handler that was installed by such a system call runs on it. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int altstack_action_call(int signal, const struct sigaction *action, struct sigaction *old);
typedef void (*altstack_signal_call(int signal, void (*handler)(int)))(int);
typedef int altstack_stack_call(const stack_t *stack, stack_t *old);

/* The kernel's struct sigaction. */
struct altstack_kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* From here on, handlers with SA_ONSTACK are replaced when they are installed. Once per image that was exec'ed, and
 * after altstack_stop(). */
void altstack_start(void);

/* Replaces those that are installed already, for these signals. */
void altstack_replace_handlers(altstack_action_call *real, uint64_t signals);

/* From here on, `handler` stands in the kernel for SIG_DFL of the signals that faults and abort() send, and the program
 * sees SIG_DFL. It runs on the alternate stack, if the thread has one, with all signals but SIGSEGV and SIGBUS blocked.
 * Not in the child of a vfork. Until altstack_stop(). */
void altstack_watch_fatal(void (*handler)(int, siginfo_t *, void *), altstack_action_call *real);

/* Restores all handlers in the kernel as the program set them: a seccomp filter may forbid our system calls. */
void altstack_stop(void);

/* Registers this memory as the calling thread's alternate stack. False: the thread is on an alternate stack now, or
 * uses SS_AUTODISARM. altstack_end() restores the program's stack in the kernel; false: ours is in use. Signals must
 * be blocked in both. */
bool altstack_begin(void *low, size_t size);
bool altstack_end(void);

/* The memory that the calling thread has registered, also before a fork; NULL: none. */
void *altstack_own(void);

/* Is this address in our stack of this thread? In the alternate stack that the program registered for this thread? */
bool altstack_is_ours(const void *address);
bool altstack_is_programs(const void *address);

/* For the context of one of our handlers that runs on another stack, because the return of an earlier handler
 * restored the program's alternate stack: changes the context so that its return restores ours. False: the kernel
 * has another stack. */
bool altstack_repair(stack_t *context_stack);

/* sigaction() and sigaltstack() as the program expects them; `real` is the next definition in the loader's order. */
int altstack_sigaction(int signal, const struct sigaction *action, struct sigaction *old, altstack_action_call *real);
int altstack_sigaltstack(const stack_t *stack, stack_t *old, altstack_stack_call *real);

/* signal() and its relatives that do not change the mask. */
void (*altstack_signal(int signal, void (*handler)(int), altstack_signal_call *real))(int);

/* The system call rt_sigaction, made through syscall(). */
long altstack_raw_sigaction(int signal, const struct altstack_kernel_action *action, struct altstack_kernel_action *old,
			    size_t mask_size);

/* The handler that the program installed for this signal; `now` is the one that the kernel has. */
void *altstack_handler(int signal, void *now);
