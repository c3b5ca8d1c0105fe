/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a walk, shared by walk.c and walk_memo.c. */
#ifndef PILLION_WALK_STEP_H
#define PILLION_WALK_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* A walk goes in stretches of that many frames, with a hash for each, so that walks with and without a memo agree. */
enum { WALK_STRETCH = 16, WALK_READS_AT_ONCE = 4, WALK_READS = 2 * WALK_STRETCH + WALK_READS_AT_ONCE };

/* The words that a stretch has read, in order. */
struct walk_log {
	uintptr_t sp; /* where it began: a read below it is not kept */
	unsigned count;
	struct walk_read {
		uintptr_t address, value;
	} reads[WALK_READS];
};

struct walk {
	uintptr_t low, high;  /* of the stack's readable part */
	bool is_probed;	      /* high is as far as pages have been probed, and may move up */
	bool is_interrupted;  /* pc is where a signal came, not a return address */
	bool has_handler;     /* a signal handler's frame was among those walked */
	uintptr_t fp, sp, pc;
	struct walk_log *log; /* NULL: nobody keeps what is read */
#ifdef __aarch64__
	uintptr_t lr; /* known for the frame that a signal interrupted, else 0 */
#endif
};

/* WALK_STOPPED: before the outermost frame. */
enum walk_outcome { WALK_GOES_ON, WALK_ENDED, WALK_STOPPED };

/* One stretch: at most `size` frames, and at most WALK_STRETCH; their addresses go to `buffer` if it is not NULL. */
enum walk_outcome walk_stretch(struct walk *walk, void **buffer, int size, uint64_t seed, int *ret_count,
			       uint64_t *ret_hash);

/* A word of a stack. AddressSanitizer has marked the space between other functions' variables: those words are read
 * too. */
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

#endif
