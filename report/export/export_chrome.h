/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of export_chrome. */
#pragma once

#include "report/export/export.h"
#include "report/time/timeline/timeline.h"

/* What is known about the sequence numbers of autograd. */
struct chrome_autograd {
	struct map by_sequence; /* number -> position in pairs */
	struct chrome_pair *pairs;
	size_t count, capacity;
};

struct chrome {
	struct export *x;
	struct sink *out;
	struct timeline timeline;
	struct map process_numbers; /* pid in this file -> its owner */
	struct map lanes;	    /* (pid of a device, tid) in this file -> the owner of that stream */
	/* of the program that is visited */
	uint32_t pid;
	struct buffer *texts; /* JSON; the slot of a text has its place + 1 */
	size_t text_count, text_capacity;
	struct buffer lane; /* "pid":1,"tid":2 of the thread */
	/* of the thread, by function: the begin of a call's event, and of its arguments; empty: not made */
	struct {
		struct buffer begin, arguments;
	} calls[EVENT_IDS];
	const struct trace_thread *thread;
	struct buffer members[ARGUMENT_IDS]; /* ,"name": of an argument that is not a text; empty: it is not written */
	struct buffer scratch, operator; /* operator: the text of the last range that may be PyTorch's */
	struct chrome_autograd autograd;
	uint64_t correlation; /* unique in a process */
	uint64_t next_flow;
	uint64_t next_range;
	bool has_events;
};

/* Begins an event. */
void chrome_begin(struct chrome *w);

/* Inline, as sink_text is. */
static inline void chrome_number(struct chrome *w, const char *name, uint64_t value)
{
	sink_text(w->out, name);
	sink_number(w->out, value);
}

/* "ts" of an event at that common time. */
void chrome_time(struct chrome *w, uint64_t ns);

/* Metadata: `value` is JSON. */
void chrome_meta(struct chrome *w, uint32_t pid, uint32_t tid, const char *what, const char *key, const char *value);

/* The JSON of a text, which `make` appends to the empty scratch buffer when it is first needed. Borrowed until the
 * next call. */
const struct buffer *chrome_text(struct chrome *w, enum timeline_text kind, uint64_t number,
				 void (*make)(struct chrome *w, enum timeline_text kind, uint64_t number,
					      struct buffer *json));

/* The JSON string of a text of NVTX. */
const struct buffer *chrome_string(struct chrome *w, uint32_t number);

/* The devices of a model, as a JSON array. */
void chrome_device_properties(struct chrome *w);

/* Bytes in use over time, by device and kind. */
void chrome_counter(void *chrome, const struct timeline_counter *c);

/* Counters of machines and devices, of the whole model. */
void chrome_series(struct chrome *w);

/* The critical path of the run, and the arrows between its stretches. */
void chrome_critical(struct chrome *w);

/* One end of the arrow with the number next_flow. */
void chrome_flow(struct chrome *w, const char *category, bool is_start, uint32_t pid, uint32_t tid, uint64_t ns);

/* Begins the event of a range that PyTorch has annotated, an operator or a record_function, up to its name, which is
 * without numbers and sizes; false: it is none. Then its args, as Kineto writes them. */
bool chrome_pytorch_name(struct chrome *w, const struct nvtx_range *r, const char *phase);
void chrome_pytorch_args(struct chrome *w, const struct nvtx_range *r);

/* Begins an event with torch.profiler's name if the range is a step, else does nothing and returns false. */
bool chrome_pytorch_step(struct chrome *w, const struct nvtx_range *r);

/* Examines a range of a thread; writes the arrows found, after all ranges of a program. */
void chrome_autograd_range(struct chrome_autograd *a, const char *text, uint32_t tid, uint64_t start_ns);
void chrome_autograd_flows(struct chrome *w);

/* A device operation, and the arrows from a call to those that it caused. */
void chrome_operation(struct chrome *w, const struct timeline_event *e);
void chrome_flows(void *chrome, const struct timeline_flow *f);
