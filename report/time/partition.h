/* SPDX-License-Identifier: Apache-2.0 */
/* The partition of the lifetime of each thread: on a CPU + runnable without a CPU + blocked. Blocked time is the exact
 * rest of the lifetime; its division among calls is an estimate. The main thread has one part for each image of its
 * process, because the kernel's accounts continue over exec. */
#pragma once

#include "report/events/usage.h"
#include "report/time/blocked.h"
#include "report/time/cpu_limit.h"

enum thread_origin {
	THREAD_MAIN,
	THREAD_RECORDED,   /* called a recorded function */
	THREAD_SAMPLED,	   /* never did, but the launcher saw it */
	THREAD_UNRECORDED, /* the process's other CPU time: of threads that neither recorded nor sampled */
	/* not in a partition, but in tables: children_ns and end_ns of struct process_time */
	THREAD_CHILDREN,
	THREAD_END,
};

/* One thread of one image. lifetime_ns = cpu_ns + delay_ns + blocked_ns. */
struct thread_time {
	size_t process; /* in the model */
	const struct image *image;
	const struct trace_thread *thread; /* NULL: it recorded nothing, or there is no trace file */
	enum thread_origin origin;
	uint32_t tid;
	char name[64];
	uint64_t start_ticks, end_ticks;
	uint64_t lifetime_ns, cpu_ns, delay_ns, blocked_ns;
	uint64_t stopped_ns;	  /* part of blocked_ns, in which the process was stopped (SIGSTOP) */
	uint64_t unexplained_ns; /* part of blocked_ns that is neither in a recorded call nor stopped */
	uint64_t voluntary, involuntary;
	bool cpu_is_known;   /* false: cpu_ns is 0 */
	bool delay_is_known; /* false: delay_ns is 0, and what there was is in blocked_ns */
	bool ended; /* by itself, before its image */
	bool is_outside; /* of the capture ranges: see recorded_partition */
	struct cpu_limit limit;
	struct blocked blocked;
};

struct process_time {
	uint64_t cpu_ns;  /* of all its threads: getrusage; TF_USAGE_UNKNOWN */
	uint64_t peak_kb; /* of resident memory; 0: not known */
	uint64_t waited_ns; /* CPU time of the children that it waited for, and of theirs; TF_USAGE_UNKNOWN */
	uint64_t total_ns;  /* of a launcher's COMMAND: its CPU time and that of what it waited for; 0: not known */
	/* see children.h: CPU time that its children did not record, and, only of a launcher's COMMAND, itself */
	uint64_t children_ns, end_ns;
};

struct partition {
	struct thread_time *threads; /* by process, image, thread; the main thread first */
	size_t count, capacity;
	struct process_time *processes; /* as in the model */
	size_t missing; /* threads whose CPU time is not known */
};

/* has_calls: blocked time is divided among calls, which takes a pass over all events; otherwise all of it is
 * unexplained. */
void partition_make(const struct report_context *c, bool has_calls, struct partition *ret);
void partition_done(struct partition *p);

/* The exact arithmetic: fills in blocked_ns and lifetime_ns from the times that the accounts cover. `span_ns` is the
 * time between the thread's first and last known instants; `before_ns` the CPU time that it had used at the first. An
 * account that exceeds the span, by the granularity of the kernel's clocks or because it began earlier, extends it. */
void partition_settle(struct thread_time *t, uint64_t span_ns, uint64_t before_ns);
