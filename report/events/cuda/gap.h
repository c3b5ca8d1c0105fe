/* SPDX-License-Identifier: Apache-2.0 */
/* Why devices were idle. For each device that a process used, the whole run is divided into times in which the
 * device worked for that process, and gaps. Each gap has one cause: what took most of it on the thread that
 * submitted the next operation. So the causes of a device add up exactly to its idle time. */
#pragma once

#include "report/events/cuda/device.h"

enum gap_cause {
	GAP_NOT_STARTED,  /* the process had not started */
	GAP_ENDED,	  /* the process had ended */
	GAP_NOT_RECORDED, /* outside of the capture range, or another tool used the source */
	GAP_LAUNCH,	  /* from the start of the call that submitted the next operation to that operation */
	GAP_WAIT,	  /* a call that waits for the device */
	GAP_COPY,	  /* a copy or memset, before the device started it */
	GAP_MEMORY,	  /* memory was allocated, pinned or freed */
	GAP_CUDA,	  /* any other CUDA call */
	GAP_OS,		  /* a call of the OS or of MPI */
	GAP_HOST,	  /* no recorded call: the program was computing */
	GAP_CAUSES
};

/* All gaps of one device of one process with one cause. */
struct gap_sum {
	size_t process;
	uint32_t device;
	enum gap_cause cause;
	size_t place; /* where gaps_find() had it before it sorted the sums */
	const struct function *function; /* if the cause is a call; borrowed from the trace. NULL: it is not */
	uint64_t count, total_ns;
	uint64_t between_ns; /* part of total_ns, between the device's first and last operation */
	uint64_t longest_ns, longest_start; /* CLOCK_REALTIME */
	const struct image *image;	    /* of the stack */
	uint32_t stack; /* of that call, or of the call that ended the longest gap; 0: not taken */
};

/* The part of a gap_sum between the device's first and last operation that belongs to one stack, which is chosen for
 * each gap as gap_sum's is for the longest. */
struct gap_stack {
	size_t sum;		   /* position in gaps.sums */
	const struct image *image; /* of the stack; NULL: none */
	uint32_t stack;		   /* 0: not taken */
	uint64_t count, ns;
};

/* A gap between two operations in which a thread computed, GAP_HOST_NS or longer. */
struct gap_host {
	const struct trace_thread *thread; /* the one that submitted the next operation */
	uint64_t start, end;		   /* CLOCK_REALTIME */
	size_t sum;			   /* position in gaps.sums */
};

/* CPU samples are rarer: what they tell of shorter gaps is nothing. */
enum { GAP_HOST_NS = 1000000 };

struct gap_device {
	size_t process;
	uint32_t device;
	uint64_t wall_ns, busy_ns; /* duration of the run; device time of this process */
	uint64_t first, last;	   /* CLOCK_REALTIME: start of its first operation, end of its last one */
	uint64_t launches, shorter; /* kernels whose launch was recorded; those that took less time than their launch */
};

/* Kernels of one kind on one device that took less time than their launches. */
struct gap_short {
	size_t process;
	const struct image *image;
	uint32_t device, operation;
	uint64_t count, kernels_ns, calls_ns;
	uint64_t longest_ns; /* the longest call among those with a stack */
	uint32_t stack;	     /* of that call; 0: none was taken */
};

struct gaps {
	struct gap_sum *sums; /* by process and device, largest first */
	size_t sum_count, sum_capacity;
	struct gap_stack *stacks; /* by sum */
	size_t stack_count, stack_capacity;
	struct gap_host *hosts; /* by thread, start and end */
	size_t host_count, host_capacity;
	struct gap_device *devices; /* devices that executed anything, by process */
	size_t device_count, device_capacity;
	struct gap_short *shorts; /* by process, then in the order of their first occurrence */
	size_t short_count, short_capacity;
	uint64_t left_out; /* operations on devices beyond the first GAP_DEVICES of a process */
};

enum { GAP_DEVICES = 1024 };

/* With a filter (filter.h) the gaps are those between the operations that pass it. */
struct gaps *gaps_find(const struct report_context *c);
void gaps_free(struct gaps *g);

/* The sums of a device: from *ret_from up to the returned index, exclusive. */
size_t gaps_of(const struct gaps *g, const struct gap_device *d, size_t *ret_from);

/* The stacks of a sum: from *ret_from up to the returned index, exclusive. */
size_t gap_stacks_of(const struct gaps *g, const struct gap_sum *s, size_t *ret_from);

/* Appends a description, such as "host in OS call: read" or "launch latency". */
void gap_words(const struct gap_sum *s, struct buffer *ret);
