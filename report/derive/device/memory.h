/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one image over time: its allocations and frees, replayed in the order of their ends. Memory grows with the
 * blocks in use at once and with the distinct call sites, not with the events. A filter (filter.h) does not apply: what is
 * in use follows from all that was before. */
#ifndef PILLION_MEMORY_H
#define PILLION_MEMORY_H

#include "report/read/merge.h"

enum { MEMORY_OWNERS = 8, MEMORY_FAILURES = 200, MEMORY_HOST = UINT32_MAX }; /* MEMORY_HOST: no device's */

/* Who allocated: a function, from a stack (0: not taken), of one kind, on one device. */
struct memory_site {
	uint32_t function, stack, device;
	uint8_t kind;			/* enum tf_memory */
	uint64_t in_use, blocks;	/* bytes and blocks now */
	uint64_t peak_in_use, peak_blocks; /* when its device's memory was at its peak, if that was asked for */
	uint64_t first_ns;		/* of the oldest block in use at the end */
};

/* One kind of memory of one device; of kind 0 all that lies on the device. */
struct memory_use {
	uint32_t device;
	uint8_t kind;
	uint64_t allocations, frees, bytes; /* all in all */
	uint64_t in_use, blocks;	    /* at the end */
	uint64_t peak, peak_ns, peak_event; /* peak_event: number of the event that made it */
};

/* A call that got no memory, and who had it then. */
struct memory_failure {
	uint64_t ns, asked; /* asked 0: the call does not say */
	uint64_t in_use;    /* on the device */
	uint64_t left, total; /* as cudaMemGetInfo told last; total 0: it did not */
	uint32_t function, stack, device, tid;
	uint8_t kind; /* 0: no allocation */
	struct {
		size_t site;
		uint64_t in_use, blocks;
	} owners[MEMORY_OWNERS]; /* largest first */
	size_t owner_count;
};

struct memory {
	const struct image *image;
	struct memory_site *sites;
	struct memory_use *uses;
	struct memory_failure *failures;
	size_t site_count, use_count, failure_count, site_capacity, use_capacity, failure_capacity;
	uint64_t failures_left_out;
	uint64_t unknown_frees; /* of what was allocated outside of the recording, or by a way that is not seen */
	uint64_t replaced;	/* allocations where a block was in use: its free was not seen */
};

/* Replays the image. watch (may be NULL) is called after each change of a use. To be freed with memory_done. */
typedef void memory_watch(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns);
void memory_replay(const struct model *model, const struct image *image, struct memory *ret, memory_watch *watch, void *context);

/* Likewise, twice: the second time for who had what at each peak. */
void memory_replay_peaks(const struct model *model, const struct image *image, struct memory *ret);
void memory_done(struct memory *m);

/* "Device", "Managed", "Pinned host", "Async pool". */
const char *memory_kind(unsigned int kind);

#endif
