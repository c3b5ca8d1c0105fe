/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a thread: its page and its chunk of the trace file.
 *
 * A thread is attached at its first recorded call; one of pthread_create is attached when it starts. It ends in the
 * destructor of our pthread key, in the last round, so that calls from other destructors are still recorded; later
 * calls are only forwarded.
 *
 * The TLS model is initial-exec: reaching it takes no allocation and no call, also in a signal handler. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/process.h"
#include "runtime/shared/format/trace_format.h"

/* Entries of the tables of traffic.h. */
enum { TRAFFIC_FEW = 16, TRAFFIC_MANY = 512, PROFILE_PUSHES_BYTES = 8192 };

struct thread {
	/* Fields that each call reads or writes: one cache line. */
	uint64_t generation; /* process.generation while attached, else one of THREAD_* */
	struct tf_thread *page;
	const uint16_t *place;   /* of the page: 1 + the position of each function's counter; 0: none yet */
	uint64_t next, limit;    /* addresses in the chunk: the next slot, the end */
	uint64_t last_ticks;     /* time of the slot written last */
	uintptr_t current_frame; /* the frame of the call in progress */
	/* writers between allocation and store: more than one if a handler interrupts. A writer that is left by
	 * longjmp stays counted, because it cannot be detected; the thread's later chunks then stay mapped */
	uint32_t writing;
	uint32_t short_left; /* calls below the threshold until the next one whose stack is recorded */
	uint32_t short_place; /* its position among N calls, from 1 on */
	uint32_t number;
	struct tf_chunk *chunk; /* that receives slots; NULL: none yet */
	uint32_t chunks;        /* number of chunks so far */
	uint32_t counters;      /* counters of the page in use */
	uint32_t area;          /* first_chunk.h; THREAD_NO_AREA: the page is not in an area */
	struct tf_thread *apart; /* a page in memory that is not in the file, for want of room; NULL: none */
	struct tf_thread *more; /* a page with a counter for each function, once the first page is full; NULL: none */
	uint32_t retired_bytes; /* the previous chunk, while an interrupted writer may still write to it */
	void *retired;
	uintptr_t stack_low, stack_high; /* the range in which a stack walk is known to be safe */
	uint64_t retry_ticks;            /* when to retry after a chunk could not be allocated */
	uint32_t failures;               /* such failures in succession */
	uint8_t deaths;                  /* rounds of the key's destructor */
	uintptr_t walk_frame;            /* of the stack walk in progress; 0: none */
	bool has_walked;
	void *memo; /* private to stack.c: memo of earlier walks, or THREAD_NO_MEMO; a forked child has it empty */
	struct sampler *sampler; /* NULL: the thread is not sampled */
	/* of a thread that is not attached yet: when it was created, or for a forked child a time just before that;
	 * 0: not known */
	uint64_t created_ticks;
	/* traffic.h: addresses of counters in the chunk, NULL: none. traffic_mask: the number of entries - 1 */
	uint64_t **traffic, *traffic_few[TRAFFIC_FEW];
	uint64_t **traffic_many; /* mapped once TRAFFIC_FEW are too few; a forked child keeps it; NULL: none */
	uint32_t traffic_mask;
	struct profile_pushes *pushes; /* profile_range.c; a forked child keeps it; NULL: none */
	uint32_t traffic_turn; /* with --ring: the turn to which they belong */
};

#define THREAD_NO_AREA ~0u
#define THREAD_NO_MEMO ((void *)-1)
#define THREAD_NEW ~0ull
#define THREAD_OURS (~0ull - 1) /* code of the recorder runs: calls are forwarded */
#define THREAD_DEAD (~0ull - 2)

extern __thread struct thread thread_self __attribute__((tls_model("initial-exec"))) HIDDEN;

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
