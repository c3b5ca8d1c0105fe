/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples: how each thread spends CPU time, measured by timers that run only while the thread runs.
 *
 * Each thread has a timer on its own CPU clock (timer_create(2)) that signals this thread only. A sample consists of
 * the CPU time since the thread's previous sample and the interrupted stack. The kernel checks such timers once per
 * tick, so there are never more than CONFIG_HZ samples per second. Each stands for one period, or as many as have
 * passed since the one before, which the kernel counts; the first is due at a random time within a period.
 *
 * The program keeps its signals: ours is a real-time signal that it does not use. sigaction() and signal() report it as
 * free; when the program wants it, it is handed over (sample_release). Masks are passed to the kernel without it
 * (sample_mask.h). It cannot interrupt a system call either: since Linux 5.9 (x86-64) the kernel delivers it only on
 * the return to user mode, when the call has its result. Elsewhere sampling stays off, and the ledger says so. If a
 * signal of the program has interrupted the call and ours is delivered with it, the flags of the program's handler
 * decide whether the call is restarted.
 *
 * Our signal does end a wait of io_uring. It is blocked in those that syscall() makes. In a process that has the
 * instruction itself, sampling stops at the first sample that interrupts such a wait.
 *
 * A sample makes no system call of its own but the return from the handler, as long as it needs no new memory and no
 * Python frames: a seccomp filter that we do not know of may forbid any.
 *
 * Calls with a mask of their own (sigsuspend, ppoll, ...) wait with our signal blocked, see sample_mask.h. Where such a
 * call is not ours (sigpause, io_pgetevents, a system call of the program's own), it may return EINTR before the
 * program's handler has run; the handler runs when the signal is next unblocked. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/thread/thread_state.h"

/* Selects the signal. Once per image that was exec'ed. Under a guard. */
void sample_init(void);

/* sample_hindrance.c: the reason, for the ledger, why samples cannot be taken without the target noticing, or NULL;
 * and the signals that have handlers, or all if that is not known. */
const char *sample_hindrance(uint64_t *ret_handled);

/* What the kernel tells of this process. False: it cannot be read. */
struct sample_status {
	bool is_traced; /* by ptrace() */
	uint32_t filters;
	uint64_t handled;      /* signals that have handlers, or all if that is not known */
	uint64_t signals_left; /* of RLIMIT_SIGPENDING, which all processes of a user share */
};
bool sample_read_status(struct sample_status *ret);
bool sample_was_traced(void); /* at the start of the image */

/* What has changed since the start of the image. */
enum sample_change { SAMPLE_UNCHANGED, SAMPLE_TRACED, SAMPLE_FILTERED };
enum sample_change sample_look(void);

/* Creates and deletes the calling thread's timer. Under a guard. */
void sample_thread_begin(struct thread *t);
void sample_thread_end(struct thread *t);

/* The program has set an alternate stack for the calling thread: if ours is no longer registered, the thread is not
 * sampled any more. */
void sample_stack_changed(void);

/* Deletes all timers and withdraws our alternate stack: a seccomp filter may forbid the return from a handler. After
 * sample_continue(), which the same thread calls if there is no filter, samples are taken as before. Any thread. */
void sample_stop(void);
void sample_continue(void);
extern int sample_stopped_signal; /* what sample_signal was before sample_stop() */

/* For sample_give_up(). */
#define SAMPLE_NOTE_RINGS TF_NOTE_NO_SAMPLES " from here on, the program uses io_uring, whose waits samples would end"

/* Deletes all timers and releases the signal, because a tracer would see them. Any thread, any handler; without
 * effect in the child of a vfork. */
void sample_give_up(const char *note);

/* With -s auto, the program is about to use something with which it could notice samples: none are taken from here on.
 * Without effect with -s cpu. Any thread, any handler. */
#define SAMPLE_NOTE_TIMERS TF_NOTE_NO_SAMPLES " from here on, the program uses CPU timers or their signals"
void sample_yield(const char *note);

/* sample_hindrance.c: may another thread be sampled? -s auto leaves to the program most of vm.max_map_count and of what
 * the user has left of RLIMIT_SIGPENDING, which the timers use up. */
bool sample_may_begin(void);

/* sample_hindrance.c, for the ledger: the program uses our signal, and samples do not use another one. */
const char *sample_note_no_signal(void);

/* The signal that we use; 0: none. */
extern int sample_signal;

/* To be called before the program uses this signal: if it is ours, the signal is free on return, blocked or not as the
 * program has it, and the timers use another one. Any thread, any handler; errno is preserved. Without effect in the
 * child of a vfork, whose signals are its own. */
void sample_release(int signal);
