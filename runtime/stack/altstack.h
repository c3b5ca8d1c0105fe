/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate signal stacks: the kernel has ours, the program believes that it has its own.
 *
 * A sample must not run on the stack that it interrupts, which may have no room for a signal frame (3.4 KB with
 * AVX-512). The kernel keeps one alternate stack per thread, so in a sampled thread this is ours, whatever the program
 * has registered; sigaltstack() shows and keeps what the program set. A handler of the program with SA_ONSTACK is
 * therefore entered on our stack. altstack_enter, which stands in for it, moves the signal frame to where the kernel
 * would have put it (the top of the program's alternate stack, or, where the thread has none, below the interrupted
 * frame) and goes on in the handler there. The frame is complete: rt_sigreturn, unwinders and debuggers use it where it
 * lies. Nothing of the program stays on our stack while its code runs, so the next sample may overwrite it.
 *
 * Alternatives that were rejected: samples on the program's alternate stack overflow it when they interrupt a handler,
 * and Rust, faulthandler and libsigsegv register 8 to 16 KB; to drop SA_ONSTACK for the whole process while some thread
 * has no alternate stack takes the stack away from the threads that have one.
 *
 * What a program can still see: uc_stack in a handler's context and a system call made past libc name our stack. A
 * handler that was installed past libc runs on it. */
#ifndef PILLION_ALTSTACK_H
#define PILLION_ALTSTACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int altstack_action_call(int signal, const struct sigaction *action, struct sigaction *old);
typedef int altstack_stack_call(const stack_t *stack, stack_t *old);

/* The kernel's struct sigaction. */
struct altstack_kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* Takes over the handlers with SA_ONSTACK that are installed already. Once per image that was exec'ed. */
void altstack_init(altstack_action_call *real);

/* Gives all handlers back to the kernel as the program set them, for good: a seccomp filter may forbid our system
 * calls. */
void altstack_stop(void);

/* Registers this memory as the calling thread's alternate stack; false: the thread is on an alternate stack now, or
 * uses SS_AUTODISARM. altstack_end(): the kernel gets the program's stack back; false: ours is in use. Signals must be
 * blocked in both. */
bool altstack_begin(void *low, size_t size);
bool altstack_end(void);

/* The memory that the calling thread has registered, also before a fork; NULL: none. */
void *altstack_own(void);

/* Is this address in it? In the alternate stack that the program registered for this thread? */
bool altstack_is_ours(const void *address);
bool altstack_is_programs(const void *address);

/* The context of a handler of ours that runs on another stack because the return of an earlier handler restored the
 * program's alternate stack: its own return is made to restore ours. False: the kernel has a stack unknown to us. */
bool altstack_repair(stack_t *context_stack);

/* sigaction() and sigaltstack() as the program means them; `real` is the next one in the loader's order. */
int altstack_sigaction(int signal, const struct sigaction *action, struct sigaction *old, altstack_action_call *real);
int altstack_sigaltstack(const stack_t *stack, stack_t *old, altstack_stack_call *real);

/* rt_sigaction made by syscall(). */
long altstack_raw_sigaction(int signal, const struct altstack_kernel_action *action, struct altstack_kernel_action *old,
			    size_t mask_size);

/* The handler that the program installed for this signal, `now` being what the kernel has. */
void *altstack_handler(int signal, void *now);

#endif
