/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: where a thread's processor time goes, told by timers that run only while it runs.
 *
 * Each thread has a timer on its own CPU clock (timer_create(2)) that signals just this thread. A sample is the time
 * since the thread's sample before it and the stack that the signal came upon. The kernel looks at such timers once a
 * tick, so more than CONFIG_HZ samples a second there never are; what each stands for is measured, so no time is lost
 * by that.
 *
 * The program keeps its signals: ours is a real-time one that it does not use. sigaction() and signal() show it as free
 * and, when the program wants it, hand it over (sample_release). It never stays blocked, for a call like sigsuspend()
 * or ppoll() that unblocks all would then return EINTR: masks are given to the kernel without it and shown with it
 * (sample_is_masked). It cannot end a system call either: since Linux 5.9 (x86-64) the kernel sends it on the way back
 * to the program only, when the call has its result; elsewhere sampling stays off, and the ledger says so. Where a
 * signal of the program has ended the call and ours has come with it, it is settled as the program's handler wants it.
 * One case is open: a call with a mask of its own (sigsuspend, ppoll, pselect, epoll_pwait) then returns EINTR before
 * the program's handler has run, which runs when the signal is next let through. */
#ifndef PILLION_SAMPLE_H
#define PILLION_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/thread.h"

/* Where our signal is looked for, from the first on. SIGRTMAX-2 is Java's, the last ones are systemd's and
 * containers'. */
enum { SAMPLE_SIGNAL_FIRST = 59, SAMPLE_SIGNAL_LAST = 50 };

/* Once per image that was exec'ed: chooses the signal. Under a guard. */
void sample_init(void);

/* sample_hindrance.c: what is in the way of samples that nobody notices, for the ledger, or NULL. Is the process traced
 * by ptrace()? */
const char *sample_hindrance(void);
bool sample_is_traced(void);

/* The calling thread's timer. Under a guard. */
void sample_thread_begin(struct thread *t);
void sample_thread_end(struct thread *t);

/* The program has set an alternate stack for the calling thread: if it does not let ours be, the thread has no samples
 * any more. */
void sample_stack_changed(void);

/* No timer any more, for good: a seccomp filter may forbid the return from a handler. Any thread. */
void sample_stop(void);

/* No timer and no signal of ours any more: a tracer would see them. Any thread, any handler; in the child of a vfork it
 * does nothing. */
void sample_give_up(const char *note);

/* The signal that is ours, 0: none. */
extern int sample_signal;

/* The program is about to use this signal: if it is ours, it is as free as it was when this returns, and we have moved
 * to another one. Any thread, any handler; errno is left alone. */
void sample_release(int signal);

/* Has this thread blocked our signal, as far as it knows? A new thread and a forked child have it from their maker. */
extern __thread bool sample_is_masked __attribute__((tls_model("initial-exec")));

#endif
