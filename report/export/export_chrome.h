/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of export_chrome. */
#ifndef PILLION_EXPORT_CHROME_H
#define PILLION_EXPORT_CHROME_H

#include "report/derive/device/correlate.h"
#include "report/export/export.h"
#include "report/derive/device/stream_name.h"

/* Texts by number, created when first needed. */
struct chrome_cache {
	struct map places; /* number -> position in texts + 1 */
	struct texts texts;
};

/* What is known about the sequence numbers of autograd. */
struct chrome_autograd {
	struct map by_sequence; /* number -> position in pairs */
	struct chrome_pair *pairs;
	size_t count, capacity;
};

struct chrome {
	struct export *x;
	struct sink *out;
	const struct model *model;
	const struct image *image;
	const struct clock_map *clock;
	struct map process_numbers; /* pid in this file -> its owner */
	struct map lanes;           /* (pid of a device, tid) in this file -> the owner of that stream */
	uint32_t pid;
	bool has_device_records;                                     /* of the image */
	struct chrome_cache calls, strings, launches, stacks, library_calls, operations; /* of the image */
	struct buffer lane;                                          /* "pid":1,"tid":2 of the thread */
	const struct trace_thread *thread;
	struct buffer scratch, operator; /* operator: the text of the last range that may be PyTorch's */
	struct correlation_ids ids; /* of the image */
	struct nvtx_definitions nvtx; /* likewise */
	struct chrome_autograd autograd; /* likewise */
	struct stream_names streams; /* likewise */
	uint64_t correlation; /* unique in a process */
	uint64_t next_flow;
	uint64_t next_range;
	bool has_events;
};

/* Begins an event. */
void chrome_begin(struct chrome *w);
void chrome_number(struct chrome *w, const char *name, uint64_t value);

/* Metadata: `value` is JSON. */
void chrome_meta(struct chrome *w, uint32_t pid, uint32_t tid, const char *what, const char *key, const char *value);

/* The pid in this file for a process, or for a device with an owner above 2^32: `wanted`, or an unused number. */
uint32_t chrome_pid(struct chrome *w, uint32_t wanted, uint64_t owner, bool *ret_new);

const char *chrome_cached(const struct chrome_cache *c, uint64_t number);
const char *chrome_keep(struct chrome_cache *c, uint64_t number, const char *text);

/* The devices of a model, as a JSON array. */
void chrome_device_properties(struct chrome *w);

/* Bytes in use over time, by device and kind, of the writer's image. */
void chrome_memory(struct chrome *w);

/* What was sampled of power and energy, of the whole model. */
void chrome_energy(struct chrome *w);

/* One end of the arrow with the number next_flow. */
void chrome_flow(struct chrome *w, const char *category, bool is_start, uint32_t pid, uint32_t tid, uint64_t ns);

/* Begins the event of a range that PyTorch has annotated, an operator or a record_function, up to its name, which is
 * without numbers and sizes; false: it is none. Then its args, as Kineto writes them. */
bool chrome_pytorch_name(struct chrome *w, const struct nvtx_range *r);
void chrome_pytorch_args(struct chrome *w, const struct nvtx_range *r);

/* Begins an event with torch.profiler's name if the range is a step, else does nothing and returns false. */
bool chrome_pytorch_step(struct chrome *w, const struct nvtx_range *r);

/* Examines a range of a thread; writes the arrows found, after all ranges of an image. */
void chrome_autograd_range(struct chrome_autograd *a, const char *text, uint32_t tid, uint64_t start_ns);
void chrome_autograd_flows(struct chrome *w);

/* Writes the device records of the writer's image, and the arrows from calls to them. */
void chrome_device_events(struct chrome *w);

#endif
