/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of export_html. The page contains two packs (html_pack.h): "events", blocks of at most
 * HTML_BLOCK_EVENTS events of one track, and "model", JSON with everything else. A block consists of varints: the
 * track, one bit for each column that is present, the number of events, then the columns one after the other.
 * report/page/view/decode.mjs reads it. */
#pragma once

#include "report/answers/answer_tables.h"
#include "report/base/table/emit.h"
#include "report/events/descriptor.h"
#include "report/events/nvtx/operator_text.h"
#include "report/export/export.h"
#include "report/page/html_pack.h"
#include "report/page/html_page.h"
#include "report/time/profile.h"
#include "report/time/timeline/timeline.h"

enum { HTML_BLOCK_EVENTS = 65536 };

/* A page with more events than this omits the shortest ones. */
extern uint64_t html_event_limit;

enum html_column {
	HTML_START,    /* ns since the origin, as the signed difference from the previous event in the track */
	HTML_DURATION, /* ns */
	HTML_NAME,     /* index in names */
	HTML_DETAIL,   /* index in details + 1, 0: none */
	HTML_VALUE,    /* signed: a number that belongs to the detail, or the value of a counter */
	HTML_LINK,     /* epoch << 32 | correlation id, as the signed difference; 0: none */
	HTML_COLUMNS
};

/* A link is not an event: it has the start of a call in the track `of`, and its correlation id. */
enum html_track_kind {
	HTML_CALLS,
	HTML_NVTX,
	HTML_RANGES,
	HTML_STREAM,
	HTML_SAMPLES,
	HTML_COUNTER,
	HTML_LINKS,
	/* A thread's accounts: `duration` is the CPU time and `value` the runnable time since the previous entry. */
	HTML_STATES,
	HTML_PATH, /* the critical path */
	HTML_STEPS,
	HTML_PHASES /* of training: enum operator_phase */
};

/* Categories of names: enum tf_group, then these. */
enum {
	HTML_KERNEL = TF_GROUP_COUNT,
	HTML_COPY,
	HTML_SET,
	HTML_GRAPH,
	HTML_MEMORY,
	HTML_SAMPLE,
	HTML_WAIT,
	HTML_CRITICAL,
	HTML_OVERHEAD,
	HTML_STEP,
	HTML_SLOW_STEP,
	HTML_PHASE, /* enum operator_phase without the first one */
	HTML_CATEGORIES = HTML_PHASE + OPERATOR_PHASES - 1
};

struct html_event {
	int64_t start;
	uint64_t duration;
	int64_t value;
	uint64_t link;
	uint32_t name, detail;
};

struct html_track {
	enum html_track_kind kind;
	uint32_t process, tid; /* process: index in the model */
	uint32_t label, group; /* strings; group: a stream's device, a machine's host */
	const char *unit; /* of a counter: its values are in thousandths of it; NULL: bytes */
	bool is_of_machine;
	uint32_t of;
	const struct image *labelled; /* origin of the label */
	/* of the current block */
	struct buffer columns[HTML_COLUMNS];
	uint32_t count, used;
	int64_t last_start;
	uint64_t last_link;
};

/* Of a counter of the process: the last point. */
struct html_point {
	uint64_t bytes, ns;
};

struct html {
	struct export *x;
	const struct model *model;
	struct page_pack *pack;
	struct texts strings, details;
	struct map by_string, by_name, by_detail, by_track;
	uint32_t *names; /* pairs: string, category */
	size_t name_count, name_capacity;
	struct html_track *tracks;
	size_t track_count, track_capacity;
	struct buffer scratch;
	uint64_t least_ns; /* shorter calls and device operations are omitted */
	uint64_t event_count, left_out;
	/* of the program that is visited */
	const struct image *image;
	const struct clock_map *clock;
	uint32_t calls_track;	    /* of the thread, + 1; 0: it has none yet */
	struct descriptor_search descriptors;
	struct buffer operations;   /* struct html_operation; the slot of an operation has its place + 1 */
	struct map last_bytes;	    /* device -> bytes of memory in use after the last change */
	struct html_point resident, heap;
	struct timeline timeline;
	struct answer answer;
	struct map busy; /* (process, tid) -> 1: a thread, 2: it is in a role */
};

/* ---- html_track.c: names, details and tracks by index, and blocks ---- */

uint32_t html_string(struct html *h, const char *text);
uint32_t html_name(struct html *h, unsigned int category, const char *text);

/* A detail is a JSON object identified by `key`; `make` is called only for a new one. */
uint32_t html_detail(struct html *h, uint64_t key, void (*make)(struct html *h, const void *from, struct buffer *json),
		     const void *from);

/* The track for (a, b), or a new one of which only kind and process are set. ret_new may be NULL. */
struct html_track *html_track(struct html *h, enum html_track_kind kind, uint64_t a, uint64_t b, bool *ret_new);
void html_add(struct html *h, struct html_track *t, const struct html_event *e);

/* Writes the incomplete blocks. */
void html_flush(struct html *h);
void html_done(struct html *h);

/* ---- export_html_events.c ---- */

/* Adds all events of the model, within the limit. */
void html_events(struct html *h);

/* Append members of a detail; `json` ends with its "{" or with the previous member. */
void html_member(struct buffer *json, const char *name); /* its value follows */
void html_member_text(struct buffer *json, const char *name, const char *text);
void html_member_number(struct buffer *json, const char *name, uint64_t number);
void html_member_handle(struct buffer *json, const char *name, uint64_t handle);
void html_member_shape(struct buffer *json, const uint32_t *grid, const uint32_t *block);

/* A track of an image's process that belongs to no thread. */
struct html_track *html_process_track(struct html *h, enum html_track_kind kind, uint64_t which, const char *label);

/* ns since the origin. */
static inline int64_t html_since_origin(const struct html *h, uint64_t ns)
{
	return (int64_t)(ns - h->model->origin_ns);
}

/* The main thread of a process remains the same through exec; it is named as in the last image. */
struct html_track *html_thread_track(struct html *h, enum html_track_kind kind, const struct trace_thread *thread);

/* ---- export_html_device.c ---- */

/* What the devices executed, and the links to the calls. */
void html_operation(struct html *h, const struct timeline_event *e);
void html_activity(struct html *h, const struct timeline_event *e);
void html_flow(void *html, const struct timeline_flow *f);

/* Memory in use, by device; what follows the last point; the power of the devices; counters of machines. */
void html_counter(void *html, const struct timeline_counter *c);
void html_counters_end(struct html *h);
void html_power(struct html *h);
void html_series(struct html *h);

/* ---- export_html_states.c ---- */

/* Adds when threads were on a CPU, runnable and blocked, from the partition of time and the launcher's samples. */
void html_states(struct html *h);

/* ---- export_html_steps.c ---- */

/* Adds the steps of the main loops, and what the ranges of PyTorch are for. */
void html_steps(struct html *h);

/* ---- html_json.c: the data of a page as JSON, which is added to the pack in pieces if there is one ---- */

struct html_json {
	struct html *html;
	struct buffer text;
};

/* Adds what is complete to the pack, if it is large enough. */
void html_json_take(struct html_json *j);
/* Numbers have the same digits as in csv. is_info: it is no table of its own in the page. */
void html_json_table(struct html_json *j, const char *name, const char *title, bool is_info, const struct table *t);
/* A text from the program, as an index into the strings. */
void html_json_string(struct html_json *j, const char *text);
void html_json_profile(struct html_json *j, const struct profile *p);
/* is_json: they are JSON values, not strings. */
void html_json_texts(struct html_json *j, const struct texts *t, bool is_json);

/* ---- export_html_answer.c: what the page opens with ---- */

void html_answer_begin(struct html *h);
void html_answer_end(struct html *h);
void html_answer_text(struct html *h, struct buffer *ret); /* in plain text */

/* A thread is an idle helper; a process is a shell or another one of start-up, see role.h. */
bool html_is_idle(const struct html *h, uint32_t process, uint32_t tid);
bool html_is_shim(struct html *h, size_t process);

void html_json_answer(struct html_json *j);

/* Adds the critical path as a track of the first process, without stretches that the page would omit as calls. */
void html_critical(struct html *h);
void html_json_findings(struct html_json *j);
void html_json_sources(struct html_json *j);
