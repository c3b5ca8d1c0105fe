/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a walk, shared by walk.c and walk_memo.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A walk proceeds in stretches of that many frames, each with a hash, so that walks with and without a memo give
 * equal hashes. */
enum { WALK_STRETCH = 16, WALK_READS_AT_ONCE = 4, WALK_READS = 2 * WALK_STRETCH + WALK_READS_AT_ONCE };

/* The words that a stretch has read, in order. */
struct walk_log {
	uintptr_t sp; /* where it began: reads below it are not logged */
	unsigned count;
	struct walk_read {
		uintptr_t address, value;
	} reads[WALK_READS];
};

struct stack_walk {
	uintptr_t low, high;  /* bounds of the readable part of the stack */
	bool is_probed;	      /* high is where probed pages end, and may move up */
	bool is_interrupted;  /* pc was interrupted by a signal and is not a return address */
	bool has_handler;     /* the frames so far include that of a signal handler */
	bool is_cached_only;  /* stops at a rule that is not cached, because reading it takes 2.5 KB of stack */
	bool has_unread;      /* it has stopped there */
	uintptr_t fp, sp, pc;
	struct walk_log *log; /* NULL: reads are not logged */
#ifdef __aarch64__
	uintptr_t lr; /* valid for the frame that a signal interrupted, else 0 */
#endif
};

/* WALK_STOPPED: ended before the outermost frame. */
enum walk_outcome { WALK_GOES_ON, WALK_ENDED, WALK_STOPPED };

/* Walks one stretch: at most `size` and at most WALK_STRETCH frames. Their addresses are stored in `buffer` if it is
 * not NULL. */
enum walk_outcome walk_stretch(struct stack_walk *walk, void **buffer, int size, uint64_t seed, int *ret_count,
			       uint64_t *ret_hash);

/* Reads a word of a stack. AddressSanitizer poisons the space between the variables of other functions, which is
 * read too. */
static inline __attribute__((no_sanitize("address"))) uintptr_t walk_load(uintptr_t address)
{
	typedef uintptr_t __attribute__((may_alias)) word;

	return *(const word *)address;
}

static inline uint64_t walk_hash_join(uint64_t joined, uint64_t stretch)
{
	joined = (joined ^ stretch) * 0xd6e8feb86659fd93;
	return joined ^ joined >> 32;
}
