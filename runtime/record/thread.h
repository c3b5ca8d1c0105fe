/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's own state: its page and its chunk of the trace file.
 *
 * Life: a thread is attached at its first recorded call; it ends by our pthread key's destructor, in the last round,
 * so that other destructors' calls are still recorded. After that its calls are forwarded.
 * Initial-exec: no allocation and no call to reach it, also in a signal handler. */
#ifndef PILLION_THREAD_H
#define PILLION_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/process.h"
#include "runtime/format/trace_format.h"

struct thread {
	/* What each call reads or writes: one line of the cache. */
	uint64_t generation; /* process.generation while attached, else one of THREAD_* */
	struct tf_thread *page;
	const uint16_t *place;	    /* of the page: 1 + the position of each function's counter, 0: it has none yet */
	uint64_t next, limit;	    /* addresses in the chunk: of the next slot, the end */
	uint64_t last_ticks;	    /* time of the slot written last */
	uintptr_t current_frame;    /* where the call in progress was made */
	uint32_t writing; /* writers between taking space and storing: more than one if a handler interrupts. One that
			     is left by longjmp stays counted, for nobody can tell: the thread's later chunks then stay
			     mapped */
	uint32_t number;
	struct tf_chunk *chunk; /* that slots go to; NULL: none yet */
	uint32_t chunks;	  /* that there have been */
	uint32_t counters;	  /* of the page that are taken */
	uint32_t area;		  /* chunk.h; THREAD_NO_AREA: the page is no chunk */
	struct tf_thread *more;	  /* a page with a counter for each function, once the first has no more; NULL: none */
	uint32_t retired_bytes; /* the chunk before this one, kept while somebody may still write to it */
	void *retired;
	uintptr_t stack_low, stack_high; /* where a backtrace is known to be safe */
	uint64_t retry_ticks;		 /* when to try again after a chunk could not be had */
	uint8_t deaths;			 /* rounds of the key's destructor */
	uintptr_t walk_frame; /* of the backtrace being taken; 0: none */
	bool has_walked;
	void *memo; /* stack.c's own, of walks made before, or THREAD_NO_MEMO; a forked child goes on with it */
	struct sampler *sampler; /* NULL: no CPU samples of this thread */
};

#define THREAD_NO_AREA ~0u
#define THREAD_NO_MEMO ((void *)-1)
#define THREAD_NEW ~0ull
#define THREAD_OURS (~0ull - 1) /* our own code runs: calls are forwarded */
#define THREAD_DEAD (~0ull - 2)

extern __thread struct thread thread_self __attribute__((tls_model("initial-exec"))) HIDDEN;

/* Attaches the thread, if the recorder has been started in this image (recorder_attach() starts it). False: its calls
 * are to be forwarded. */
__attribute__((cold)) bool thread_enter(struct thread *t);

/* May the calling thread record? For code that runs only once the recorder has started. */
static inline bool thread_attached(void)
{
	return __builtin_expect(thread_self.generation == process.generation, 1) || thread_enter(&thread_self);
}

/* What modules that keep something for each thread do when one is attached (NULL: nothing) and when it ends. Under a
 * guard. */
struct thread_watch {
	void (*begin)(struct thread *t);
	void (*end)(struct thread *t);
};
void thread_watch(const struct thread_watch *watch);

/* Guards a stretch of our own slow code: calls made in it are forwarded, signals wait, cancellation too. Not across a
 * real call. */
struct thread_guard {
	uint64_t generation, signals, start_ticks;
	int error, cancel;
	bool has_blocked;
};
void thread_guard_enter(struct thread *t, struct thread_guard *g);
void thread_guard_leave(struct thread *t, const struct thread_guard *g);

/* Makes room for `slots` more slots; false: there is none to be had. */
bool thread_grow(struct thread *t, unsigned slots);

/* The counter of a function that has none on the thread's page yet, there or on another page; NULL: there is none to be
 * had. */
struct tf_counter *thread_counter(struct thread *t, unsigned function);

/* Takes a large chunk, before system calls of ours become impossible. */
void thread_reserve(struct thread *t);

/* Makes sure that this thread's page lies in the file. False: no file to be had. */
bool thread_settle(struct thread *t);

/* Once per process, at the constructor. */
void thread_init(void);

/* Takes the thread's name from the kernel anew. */
void thread_refresh_name(struct thread *t);

#endif
