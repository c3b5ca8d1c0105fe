/* SPDX-License-Identifier: Apache-2.0 */
/* The state of --mode=profile (profile.h): the bound of the trace file, and what descriptors refer to. Nothing here
 * writes slots. Without --mode=profile, process.profile stays NULL and nothing of this runs. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/process_state.h"

/* A range of NVTX that is open. */
struct profile_open {
	uint64_t *row; /* NULL: there was no room for it */
	uint64_t start, head; /* head: of the row */
	uint32_t text, tid;
	bool is_open, is_shared;
};

/* STARTED: ranges with an id that may be open. UNMATCHED: ends without a begin that are recorded. */
enum { PROFILE_STARTED = 1024, PROFILE_UNMATCHED = 1000 };

/* Bytes of the trace file. */
enum { PROFILE_FOLDS = 500000 };

struct profile_started {
	uint64_t id; /* 0: none. All ones: it begins or ends */
	struct profile_open open;
};

/* Where rows are. */
struct profile_space {
	struct tf_chunk *chunk; /* the last one */
	uint64_t next;
	uint64_t left; /* bytes of further chunks; also under process.growing */
	bool is_full;
};

struct record_profile {
	uint32_t writing; /* lock of the next three */
	struct profile_space calls, ranges; /* ranges: also their texts */
	struct intern_table rows; /* key -> address of the numbers of the row */
	uint64_t begin_ticks;	  /* calls that began before are events */
	uint64_t early[PROCESS_TRAFFIC];     /* likewise, keys of counters by descriptor */
	uint64_t files[PROCESS_DESCRIPTORS]; /* descriptor -> generation << 32 | id of its TF_BLOB_DESCRIPTOR */
	uint32_t unmatched;		     /* see profile_range.c, also for the next one */
	struct profile_started started[PROFILE_STARTED];
};

/* When the trace file is created. */
__attribute__((cold)) void profile_begin(struct tf_header *header);

/* Would `size` more bytes exceed the bound of the trace file? Under process.growing. */
__attribute__((cold)) bool profile_refuses(uint64_t size);

/* True: the trace file has reached its bound, so no further definition is written. */
static inline bool profile_is_full(void)
{
	return __builtin_expect(process.profile != NULL, 0) && __atomic_load_n(&process.profile_full, __ATOMIC_RELAXED);
}

/* True: so much of the trace file's bound is used that stacks within an import, of which there are thousands, become
 * one: else the program has no room for its own. */
static inline bool profile_folds_imports(void)
{
	return __builtin_expect(process.profile != NULL, 0) &&
	       __atomic_load_n(&process.file_end, __ATOMIC_RELAXED) > PROFILE_FOLDS;
}

/* True: stacks of calls and descriptions of files that are not known yet are left out, so that there is room for the
 * stacks of samples. */
bool profile_keeps_rest(void);

/* In this generation the descriptor refers to what this TF_BLOB_DESCRIPTOR describes; 0: it could not be described. */
__attribute__((cold)) void profile_describe(int fd, uint16_t generation, uint32_t id);

/* Are calls on the descriptor that began at this time, or some of its generation, from before the rows? */
__attribute__((cold)) bool profile_follows(int fd, uint16_t generation, uint64_t from_ticks);

/* The id of the description of what the descriptor referred to in this state, or refers to now; 0: there is none. */
uint32_t profile_file(unsigned fd, uint16_t state);
uint32_t profile_file_now(unsigned fd);

/* A call that closes a descriptor passes what it refers to, in a TF_ARG_FILE behind its TF_ARG_FD, because another
 * thread may have the descriptor afterwards. 0: there are no rows. */
static inline uint64_t profile_closed_word(int fd)
{
	return __builtin_expect(process.profile != NULL, 0) ? tf_arg(TF_ARG_FILE, 0, profile_file_now((unsigned)fd))
							    : 0;
}
