/* SPDX-License-Identifier: Apache-2.0 */
/* Data for flame graphs: a value for each stack of process;thread;stack (if taken);function. Times of calls are without
 * those of the calls inside them, which are frames below: ...;cudaStreamSynchronize;futex. Memory grows with the number
 * of distinct stacks and names. */
#pragma once

#include "report/events/scan.h"

enum metric { METRIC_CALLS, METRIC_GPU, METRIC_CPU, METRIC_ALLOC, METRIC_OFF_CPU, METRIC_HOST, METRIC_COUNT };

struct metric_words {
	const char *name;                 /* on the command line */
	const char *title;                /* shown to the user */
	const char *count, *value, *unit; /* as pprof and speedscope name them */
};
extern const struct metric_words metrics[METRIC_COUNT];

/* What a name of a profile is. PROFILE_LIBRARY: of the system, the interpreter or an installed package. */
enum profile_kind {
	PROFILE_OTHER, /* a process, a thread, a device, or a remark */
	PROFILE_PYTHON,
	PROFILE_NATIVE,
	PROFILE_LIBRARY,
	PROFILE_INTERPRETER, /* C code of the interpreter in a stack that has Python frames, and remarks on its place */
	PROFILE_IMPORT,	     /* Python code of importlib, by which a module imports another one */
	PROFILE_CALL,	     /* a recorded call: what waits, or submits work */
	PROFILE_DEVICE,	     /* what a device executed */
	PROFILE_KINDS
};

struct profile_name {
	const struct code_line *line; /* of what is no frame, only a function */
	enum profile_kind kind;
};

struct profile {
	enum metric metric;
	struct profile_name *names; /* of frames */
	size_t name_count, name_capacity;
	struct map by_line;
	struct aggregate aggregate;
	uint64_t total;
};

/* 0; -ENODATA: the captures have no such data, as err states. The caller frees *ret in either case. */
int profile_make(const struct report_context *context, enum metric metric, struct profile *ret, struct err *err);

/* Whether the captures have data of that kind; for off-cpu, calls in which a thread may have been blocked. */
bool profile_has(const struct model *m, enum metric metric);

/* What a reader wants to see first: CPU samples, or calls where there are none. */
enum metric profile_default(const struct model *m);

/* One profile for each metric that has data, in the order of the metrics; if none has, an empty one of calls. Returns
 * how many; the caller frees each. */
size_t profiles_make(const struct report_context *context, struct profile ret[METRIC_COUNT]);
void profile_done(struct profile *p);

/* One stack: ids of its frames, the outermost first. Borrowed. */
const uint32_t *profile_stack(const struct profile *p, size_t row, size_t *ret_count);

/* The index of a machine of the model among the hosts: a host may occur several times, once for each of its clocks. */
size_t host_number(const struct model *m, size_t machine);
bool has_several_hosts(const struct model *m);

/* "python3 train.py [100]": the label of a process, with its host if there are several. */
void process_label(const struct model *m, const struct process *p, struct buffer *ret);
void thread_label(const struct trace_thread *thread, struct buffer *ret);
