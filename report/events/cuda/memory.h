/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of one image over time: allocations and frees are replayed in the order of their ends. Memory of the
 * report grows with the number of blocks in use at once and of distinct call sites, not with the events. A filter
 * (filter.h) does not apply, because what is in use depends on everything before. */
#pragma once

#include "report/read/merge.h"

enum { MEMORY_OWNERS = 8, MEMORY_FAILURES = 200, MEMORY_HOST = UINT32_MAX }; /* MEMORY_HOST: host memory */

/* An allocation site: a function with a stack (0: not taken), one kind of memory, one device. */
struct memory_site {
	uint32_t function, stack, device;
	uint8_t kind;			/* enum tf_memory */
	uint64_t in_use, blocks;	/* bytes and blocks in use */
	uint64_t peak_in_use, peak_blocks; /* at the peak of its device, if requested */
	uint64_t first_ns;		/* of the oldest block in use at the end */
};

/* One kind of memory of one device; kind 0: all memory of the device. */
struct memory_use {
	uint32_t device;
	uint8_t kind;
	uint64_t allocations, frees, bytes; /* allocated in total */
	uint64_t in_use, blocks;	    /* in use at the end */
	uint64_t peak, peak_ns, peak_event; /* peak_event: number of the event that caused it */
};

/* A failed allocation, and the owners of memory at that time. */
struct memory_failure {
	uint64_t ns, requested; /* requested 0: unknown */
	uint64_t in_use;    /* on the device */
	uint64_t left, total; /* from the last cudaMemGetInfo; total 0: there was none */
	uint32_t function, stack, device, tid;
	uint8_t kind; /* 0: not an allocation */
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
	uint64_t unknown_frees; /* frees of memory whose allocation was not recorded */
	uint64_t replaced;	/* allocations at an address in use: the free was not recorded */
};

/* Replays the image. watch (may be NULL) is called after each change of a use. The caller frees *ret with
 * memory_done. */
typedef void memory_watch(void *context, const struct memory *m, const struct memory_use *use, uint64_t ns);
void memory_replay(const struct model *model, const struct image *image, struct memory *ret, memory_watch *watch,
		   void *context);

/* Likewise, in two passes: the second one finds the owners at each peak. */
void memory_replay_peaks(const struct model *model, const struct image *image, struct memory *ret);
void memory_done(struct memory *m);

/* "Device", "Managed", "Pinned host", "Async pool". */
const char *memory_kind(unsigned int kind);
