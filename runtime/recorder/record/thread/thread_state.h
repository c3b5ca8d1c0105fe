/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a thread: its page and its chunk of the trace file. Data only; thread.h declares the functions.
 *
 * The TLS model is initial-exec: reaching it takes no allocation and no call, also in a signal handler. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"
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
