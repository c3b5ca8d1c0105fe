/* SPDX-License-Identifier: Apache-2.0 */
/* CPU samples by perf_event_open(2), taken by the launcher. perf.c decides which processes are sampled, perf_ring.c
 * reads the kernel's records, perf_process.c follows processes and their mappings, perf_trace.c writes their traces. */
#pragma once

#include <linux/perf_event.h>

#include "runtime/launch/run.h"

/* ---- perf.c ---- */

/* ---- perf_ring.c ---- */

/* The events of one process: a descriptor for each of its threads and CPUs. */
struct perf_events {
	struct perf_events *next, *previous;
	size_t threads, count;
	int fds[];
};

struct perf_counts {
	uint64_t lost;	    /* records for which a ring had no room */
	uint64_t unwritten; /* traces that could not be written */
};
extern struct perf_counts perf_counts;

/* Opens events on each thread of a process; the threads and processes that it creates later inherit them. on_exec:
 * the events count from its next execve() on. 0, with *ret_events owned by the caller; or -errno. */
int perf_ring_open(const struct options *o, pid_t pid, bool on_exec, struct perf_events **ret_events);
void perf_ring_close(struct perf_events *events);
/* Closes those of all processes. */
void perf_ring_end(void);

/* Whether the kernel permits such events at all: 0 or -errno. */
int perf_ring_probe(const struct options *o);

/* Passes on the records from before `until_ns` (CLOCK_MONOTONIC) in the order of their times; later ones are kept for
 * the next call, because an older record of another CPU may still follow. */
void perf_ring_drain(uint64_t until_ns, void (*handle)(const struct perf_event_header *record, uint64_t time_ns));

/* The body of PERF_RECORD_SAMPLE with the fields that are requested. */
struct perf_sample {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t time_ns, period_ns;
	uint64_t count, chain[];
};

/* ---- perf_process.c ---- */

void perf_process_init(const struct run *run);
/* Begins to follow a process that exists. Its present mappings are read if is_running, else its execve() follows. Takes
 * ownership of the events. */
void perf_process_add(pid_t pid, struct perf_events *events, bool is_running);
bool perf_process_is_known(uint32_t pid);
void perf_process_handle(const struct perf_event_header *record, uint64_t time_ns);
/* Writes what is in memory to the traces. is_last: and forgets all processes. */
void perf_process_flush(bool is_last);

/* ---- perf_trace.c ---- */

struct perf_trace;

struct perf_image { /* what is known of a process image at its first sample */
	uint32_t pid, parent_pid;
	uint64_t process_start; /* as in struct tf_header */
	uint64_t begin_ns;
	const char *executable, *arguments; /* arguments: `arguments_size` bytes, separated by NUL */
	size_t arguments_size;
};

/* NULL: the file could not be created. */
struct perf_trace *perf_trace_begin(const struct run *run, const struct perf_image *image);
/* The time of each is that of the record that causes it, in CLOCK_MONOTONIC. */
void perf_trace_module(struct perf_trace *t, uint32_t tid, uint64_t time_ns, const struct tf_module *module,
		       const char *path, const struct tf_module_file *file);
bool perf_trace_has_thread(const struct perf_trace *t, uint32_t tid);
void perf_trace_name(struct perf_trace *t, uint32_t tid, uint64_t time_ns, const char *name);
/* `stack`: return addresses, innermost first, as in TF_BLOB_STACK. */
void perf_trace_sample(struct perf_trace *t, uint32_t tid, uint64_t time_ns, uint64_t cpu_ns, const uint64_t *stack,
		       size_t count);
void perf_trace_flush(struct perf_trace *t);
/* Flushes and frees it. `end`: TF_END_EXEC or TF_END_NONE; time 0: the image has not ended. */
void perf_trace_end(struct perf_trace *t, enum tf_end end, uint64_t time_ns);

/* The time of a record on the clock of all events. perf_trace_clock() is called before the records are handled. */
void perf_trace_clock(void);
uint64_t perf_trace_ticks(uint64_t time_ns);
