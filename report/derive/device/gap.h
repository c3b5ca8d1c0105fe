/* SPDX-License-Identifier: Apache-2.0 */
/* Why devices had nothing to do. For each device that a process used, the whole run is cut into times in which it worked
 * for that process and gaps; each gap has one cause: what took most of it on the thread that gave the device its next
 * work. So the causes of a device add up to its idle time, to the ns. */
#ifndef PILLION_GAP_H
#define PILLION_GAP_H

#include "report/derive/device/device.h"

enum gap_cause {
	GAP_NOT_STARTED,  /* the process was not there yet */
	GAP_ENDED,	  /* nor any more */
	GAP_NOT_RECORDED, /* outside of the capture range, or another tool had the source */
	GAP_LAUNCH,	  /* from the begin of the call that asked for the next work to that work */
	GAP_WAIT,	  /* a call that waits for the device */
	GAP_COPY,	  /* a copy or memset, before the device had to do with it */
	GAP_MEMORY,	  /* memory being allocated, pinned or freed */
	GAP_CUDA,	  /* any other call of CUDA's */
	GAP_OS,		  /* a call of the OS or of MPI */
	GAP_HOST,	  /* no recorded call: the program's own computing */
	GAP_CAUSES
};

/* All gaps of one device of one process and of one cause. */
struct gap_sum {
	size_t process;
	uint32_t device;
	enum gap_cause cause;
	const char *function; /* where the cause is a call; borrowed from the trace. NULL: none */
	uint64_t count, total_ns;
	uint64_t between_ns; /* of total_ns, between the device's first and last work */
	uint64_t longest_ns, longest_start; /* CLOCK_REALTIME */
	const struct image *image;	    /* of the stack */
	uint32_t stack; /* of that call, or of the one that ended the longest gap; 0: not taken */
};

struct gap_device {
	size_t process;
	uint32_t device;
	uint64_t wall_ns, busy_ns; /* the run's length; what the device did for this process */
	uint64_t first, last;	   /* CLOCK_REALTIME of its first work's start and its last work's end */
	uint64_t launches, shorter; /* kernels whose launch is recorded; those that took less time than it */
};

/* Kernels of one kind on one device that took less time than the calls that launched them. */
struct gap_short {
	size_t process;
	const struct image *image;
	uint32_t device, operation;
	uint64_t count, kernels_ns, calls_ns;
	uint64_t longest_ns; /* of the calls that have a stack */
	uint32_t stack;	     /* of that one; 0: none was taken */
};

struct gaps {
	struct gap_sum *sums; /* by process and device, largest first */
	size_t sum_count, sum_capacity;
	struct gap_device *devices; /* those that did anything, by process */
	size_t device_count, device_capacity;
	struct gap_short *shorts; /* by process, then as they came */
	size_t short_count, short_capacity;
	uint64_t left_out; /* pieces of work on devices beyond the first GAP_DEVICES of a process */
};

enum { GAP_DEVICES = 1024 };

/* Under a filter (filter.h) gaps are those of the work that it lets through. */
struct gaps *gaps_find(const struct report_context *c);
void gaps_free(struct gaps *g);

/* The sums of a device: [*ret_from, returned). */
size_t gaps_of(const struct gaps *g, const struct gap_device *d, size_t *ret_from);

/* "host in OS call: read", "launch latency". Appends. */
void gap_words(const struct gap_sum *s, struct buffer *ret);

#endif
