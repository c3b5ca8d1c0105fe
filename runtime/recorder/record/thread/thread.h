/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a thread in the trace.
 *
 * A thread is attached at its first recorded call; one of pthread_create is attached when it starts. It ends in the
 * destructor of our pthread key, in the last round, so that calls from other destructors are still recorded; later
 * calls are only forwarded. */
#pragma once

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/thread_state.h"

/* Attaches the thread if the recorder has been started in this image (by recorder_attach()). False: its calls must
 * only be forwarded. */
__attribute__((noinline)) bool thread_enter(struct thread *t);

/* May the calling thread record? For code that runs after the start of the recorder only. */
static inline bool thread_attached(void)
{
	return __builtin_expect(thread_self.generation == process.generation, 1) || thread_enter(&thread_self);
}

/* Callbacks of modules with per-thread state: when a thread is attached (NULL: none) and when it ends. Under a
 * guard. */
struct thread_watch {
	void (*begin)(struct thread *t);
	void (*end)(struct thread *t);
};
void thread_watch(const struct thread_watch *watch);

/* Guards slow code of the recorder: calls made in it are forwarded; signals and cancellation are deferred. It must
 * not span a call of the target's real function. */
struct thread_guard {
	uint64_t generation, signals, start_ticks;
	int error, cancel;
	bool has_blocked;
};
void thread_guard_enter(struct thread *t, struct thread_guard *g);
void thread_guard_leave(struct thread *t, const struct thread_guard *g);

/* Counts events that could not be stored. */
void thread_lose(struct thread *t, uint64_t events);

/* Makes room for `slots` more slots. False: failed. */
bool thread_grow(struct thread *t, unsigned slots);

/* True: the thread has found no room for a chunk, and it is too early to retry. */
bool thread_has_no_room(const struct thread *t);

/* Allocates the counter of a function that has none on the thread's page yet, there or on a second page; NULL:
 * failed. */
struct tf_counter *thread_counter(struct thread *t, unsigned function);

/* Allocates a large chunk before system calls become impossible. */
void thread_reserve(struct thread *t);

/* Is the thread's page in the trace file? */
bool thread_is_in_file(const struct thread *t);

/* Moves the thread's page into the file if it is not there yet. False: there is no file. */
bool thread_settle(struct thread *t);

/* Likewise, under a guard of its own. */
__attribute__((cold)) void thread_finish_pending(struct thread *t);

/* Once per process, at the constructor. */
void thread_init(void);

/* Reads the thread's name from the kernel again. */
void thread_refresh_name(struct thread *t);
/* The program has set it: a system call of ours would be seen by what counts its own. */
void thread_set_name(struct thread *t, const char *name);
