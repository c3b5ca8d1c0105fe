/* SPDX-License-Identifier: Apache-2.0 */
/* One trace file: its header, chunks, threads, definitions, and the events of each thread in the order in which they
 * were written. Every length and index is checked here, so that the results are safe to use; ids are only looked up. */
#pragma once

#include "runtime/shared/format/trace_format.h"
#include "report/base/attachment.h"
#include "report/base/bytes.h"
#include "report/read/functions.h"
#include "report/read/mapping.h"

struct chunk {
	uint64_t offset, base_ticks;
	uint32_t size; /* bytes of it that exist in the file */
	uint32_t thread, sequence, tid;
	bool has_page; /* begins with struct tf_thread */
	bool is_left_out; /* it is earlier than reader_since_ns: no cursor reads it */
	uint64_t blobs; /* bits of the kinds of blobs in it, of a chunk without a page */
};

/* Calls of one function that were counted only. */
struct trace_counter {
	uint32_t function;
	struct tf_counter sum;
};

struct trace_thread {
	uint32_t number, tid;
	size_t first_chunk, chunk_count; /* in trace.chunks */
	const struct tf_thread *page;	   /* in the file; NULL: there is none */
	char name[64];
	size_t first_counter, counter_count; /* in trace.counters */
	/* counted while reading the thread once */
	uint64_t events, first_ticks, last_ticks, longest_ticks; /* of the longest call */
	uint64_t unmatched_pushes, unmatched_pops;
	uint64_t summed, summed_other; /* calls in the sums of --mode=profile; of these, in rows "other" */
	/* likewise ranges of NVTX; steps in rows "other"; ranges that were open at the end, by start and by push */
	uint64_t summed_ranges, summed_ranges_other, summed_steps_other, open_starts;
	uint64_t samples, sampled_us, last_sample_ticks; /* sampled_us: the CPU time that the samples represent */
	uint64_t stackless_samples;
	uint32_t kinds,
		args, groups; /* bits of enum tf_kind, tf_arg_kind and tf_group (of calls) that occur: a search for
				 others can skip the thread */
	bool has_device_records;
	uint64_t old; /* with --ring: events and counted calls from before the time that is kept, but see ring_events */
	struct tf_counted before; /* with --ring: what the page had counted before the time that is kept */
};

/* Bits of what occurs in any thread, as the fields of struct trace_thread. */
struct trace_bits {
	uint32_t kinds, args, groups;
};

/* A definition. Its bytes are not contiguous, see trace_blob. */
struct blob {
	uint64_t offset; /* of its first data slot */
	uint32_t id;
	uint16_t length;
	uint8_t type; /* enum tf_blob_kind */
};

struct trace_child {
	struct tf_child child;
	uint64_t ticks; /* of the wait call, approximately; 0: not known */
};

/* Spans of ticks, sorted and disjoint. Both ends belong to a span. */
struct tick_spans {
	struct tick_span {
		uint64_t from, to;
	} *items;
	size_t count;
};

struct trace {
	struct mapping bytes;
	char *path;
	struct tf_header header; /* a copy in which every string is terminated */
	struct functions *functions;
	struct chunk *chunks;
	size_t chunk_count, chunk_capacity;
	struct trace_thread *threads;
	size_t thread_count;
	struct trace_counter *counters; /* of functions that were called */
	size_t counter_count, counter_capacity;
	struct blob *blobs; /* by kind: blobs_each */
	size_t blob_count;
	struct map definitions; /* (type, id) -> position in blobs, of those that are asked for by id */
	struct trace_child *children;
	size_t child_count, child_capacity;
	struct attachments attachments; /* state of modules that derive from the trace */
	uint64_t written_bytes; /* of events and definitions; the file may contain holes */
	size_t owner;		/* the process that reads its events, where several share them; else 0 */
	bool is_sound; /* all events were read once, and nothing was unreadable */
	/* unreadable parts */
	uint64_t torn, orphans, broken, holes, damaged_bytes, missing_bytes;
	uint64_t unread_bytes; /* of chunks with definitions that were left out */
};

struct event {
	uint8_t kind;	 /* enum tf_kind; for TF_BLOB id, blob, length and args (its first DATA slot) are set */
	uint8_t blob;	 /* enum tf_blob_kind */
	uint16_t length; /* of the blob in bytes */
	uint32_t id;	 /* function, domain, or the blob's id */
	uint32_t text;	 /* id of the string of a push, mark or range start */
	uint32_t args_count;
	uint64_t ticks;	      /* the end of a call or construct */
	uint64_t duration;    /* of these, in ticks */
	const uint64_t *args; /* args_count slots, all TF_ARG */
	const uint64_t *sum;	 /* of a TF_SUM or TF_RANGES: slots of the numbers, see event_sum */
	const uint64_t *payload; /* slot of its complete TF_BLOB_PAYLOAD; NULL: none */
};

/* What a sum over calls needs of one. */
struct plain_call {
	uint32_t function;
	uint64_t duration; /* in ticks */
};

enum { EVENT_IDS = 2048 }; /* tf_event_id has 11 bits */

/* What was passed over by cursor_pass_calls. */
struct passed_calls {
	uint64_t count, slots;
	uint64_t first_ticks;		  /* the start of the first one */
	uint64_t last_ticks, longest_ticks;
	uint32_t args;			  /* bits of enum tf_arg_kind */
	uint64_t functions[EVENT_IDS / 64]; /* bits of the functions */
};

/* Reads the events of one thread. Definitions, pushes, pops, starts and ends are never skipped. */
struct cursor {
	const struct trace *trace;
	const struct trace_thread *thread;
	size_t chunk; /* index of the next chunk to read; the last event is in the one before it */
	size_t chunk_end; /* index after the last one to read */
	const uint64_t *at, *end;
	uint64_t now;
	bool is_old; /* with --ring: the chunk began before what is kept, and no event that is has been read in it */
	uint64_t torn, orphans, broken;
	uint64_t old; /* events passed over, because they are from before what --ring keeps */
	/* the latest ones: a payload and its event may be separated by those of a signal handler */
	const uint64_t *payloads[4];
	/* may be set after cursor_init */
	/* calls, marks, samples and allocations that overlap none of these are skipped; NULL: none is skipped */
	const struct tick_spans *shown;
	const uint8_t *wanted;		/* by trace.chunks: which are read; NULL: all */
	uint32_t call_args; /* bits of enum tf_arg_kind: calls without any of these are skipped; 0: none is */
};

/* Opens a trace file. On failure *ret is NULL and err has the reason with the path: -ENODATA for an empty file,
 * -EPROTO for a foreign one, -ENOTSUP for one with a later major version. Further damage is counted and not an
 * error. */
int reader_open(const char *path, struct trace **ret, struct err *err);
/* Likewise; takes ownership of the bytes, also on failure. `path` is used in messages. That many threads read the
 * events. */
int reader_open_mapping(const char *path, struct mapping *bytes, size_t workers, struct trace **ret, struct err *err);
int reader_open_bytes(const void *data, size_t size, struct trace **ret, struct err *err);
/* A trace that consists of one chunk, the first one of its only thread. The chunk is borrowed, the functions are
 * taken. The header's strings must be terminated. */
struct trace *reader_open_chunk(const char *path, const struct tf_header *header, struct functions *functions,
				const void *chunk, size_t size);
void reader_close(struct trace *t);

/* For another process that opens the same file without reading its events: appends what was found in it. */
void trace_save(const struct trace *t, struct buffer *ret);
/* Takes ownership of the bytes, also on failure. */
int reader_open_saved(const char *path, struct mapping *bytes, struct bytes *saved, struct trace **ret,
		      struct err *err);

/* NULL: nothing occurs. */
struct trace_bits trace_bits(const struct trace *t);

/* Has the trace the first chunk of its first thread? */
bool trace_has_first_chunk(const struct trace *t);

/* Whether a thread has ended before its process. */
bool trace_has_ended_threads(const struct trace *t);

void cursor_init(struct cursor *c, const struct trace *t, const struct trace_thread *thread);

/* To be called right after cursor_init: skips chunks that were complete well before that tick. */
void cursor_skip_to(struct cursor *c, uint64_t ticks);

/* The next event, without definitions. False at the end. */
bool cursor_next(struct cursor *c, struct event *ret);

/* Likewise, including definitions. */
bool cursor_step(struct cursor *c, struct event *ret);

/* Restricts the cursor to `count` chunks of the thread from the first-th. To be called right after cursor_init. A
 * payload in an earlier chunk than its event is not found. */
void cursor_restrict(struct cursor *c, size_t first, size_t count);

/* The next call; several times faster than cursor_next, because neither times nor arguments are decoded. The cursor
 * must have no `shown`. */
bool cursor_next_call(struct cursor *c, struct plain_call *ret);

/* Passes over the calls up to the next other event, definition or end of a chunk, and adds them to *sums. The cursor
 * must have no `shown`. */
void cursor_pass_calls(struct cursor *c, struct passed_calls *sums);

/* Does any of the spans overlap the one from `from` to `to`? */
bool tick_spans_overlap(const struct tick_spans *s, uint64_t from, uint64_t to);

/* The ids of strings in events are lower. From here on they are those of operators (TF_ARG_VALUE of a push), each of
 * which has a string of its own: the id stands for the place of the first argument's slot. */
enum { OPERATOR_STRINGS = 1 << 24 };

/* The ARG slot of this kind; 0: there is none. */
static inline uint64_t event_arg(const struct event *e, enum tf_arg_kind kind)
{
	for (uint32_t i = 0; i < e->args_count; i++)
		if (tf_arg_kind(e->args[i]) == kind)
			return e->args[i];
	return 0;
}

/* The stack of an event; 0: none was taken. */
static inline uint32_t event_stack(const struct event *e)
{
	return (uint32_t)tf_arg_value(event_arg(e, TF_ARG_STACK));
}

static inline uint64_t event_start(const struct event *e)
{
	return e->ticks > e->duration ? e->ticks - e->duration : 0;
}

/* The numbers of a TF_SUM or TF_RANGES; of the latter, `bytes` is how many have begun. */
struct event_sum {
	uint64_t count, total, least, most, bytes;
	double squares;
};
struct event_sum event_sum(const struct event *e);

const struct blob *trace_definition(const struct trace *t, enum tf_blob_kind type, uint32_t id);

/* Those of one kind, in the order in which each thread wrote them. The trace may be NULL:
 * blobs_each(b, image->trace, TF_BLOB_NOTE) */
#define blobs_each(b, t, kind) \
	for (const struct blob *b = trace_blobs_from(t, kind), *b##_end = trace_blobs_from(t, (kind) + 1); \
	     b < b##_end; b++)
/* Where in `blobs` those of that kind and of later ones begin. */
const struct blob *trace_blobs_from(const struct trace *t, unsigned kind);

/* Copies at most `size` bytes of a blob and returns how many. */
size_t trace_blob(const struct trace *t, const struct blob *b, void *ret, size_t size);

/* Whether a TF_BLOB_STACK has as many frames as --backtrace-depth allows, and no Python frames that are known up to the
 * outermost one: outer ones may be missing. */
bool trace_stack_is_cut(const struct trace *t, const struct blob *b);

/* Appends a blob's text; that of a definition. False: there is none. */
void trace_text(const struct trace *t, const struct blob *b, struct buffer *ret);
bool trace_definition_text(const struct trace *t, enum tf_blob_kind type, uint32_t id, struct buffer *ret);

/* The call that the thread is in, of nested calls the innermost one: its function id and start. False: none. */
bool thread_current(const struct trace_thread *thread, uint32_t *ret_function, uint64_t *ret_start);
/* Likewise the outermost one. */
bool thread_outer(const struct trace_thread *thread, uint32_t *ret_function, uint64_t *ret_start);

/* A thread of the driver's tools: as the recorder says, or because it handed device records over and made no CUDA call
 * (CUPTI's thread waits for the first time before it hands anything over, so that the recorder has not known it). */
bool thread_is_tool(const struct trace_thread *thread);

/* NULL if there is no such number. */
struct trace_thread *trace_thread(const struct trace *t, uint32_t number);

/* NULL if there is no such id. */
static inline const struct function *trace_function(const struct trace *t, uint32_t id)
{
	return id < t->functions->count ? &t->functions->items[id] : NULL;
}

/* NULL of what is no call. */
static inline const struct function *event_function(const struct trace *t, const struct event *e)
{
	return e->kind == TF_CALL ? trace_function(t, e->id) : NULL;
}

static inline bool event_begins_mpi(const struct trace *t, const struct event *e)
{
	const struct function *f = event_function(t, e);

	return f && f->group == TF_GROUP_MPI && f->kind.parallel & PARALLEL_BEGINS;
}

/* ---- for reader.c and reader_saved.c ---- */

struct trace *trace_new(const char *path, struct mapping *bytes);
int trace_begin(struct trace *t, struct err *err); /* header and functions */

/* Reads all events once, in that many threads: definitions, wait statuses, what is counted of each thread. */
void trace_read_events(struct trace *t, size_t workers);

/* Once there are blobs: makes the map of those that are asked for by id. */
void trace_find_definitions(struct trace *t);

/* Called by any thread with the number of bytes read, from time to time. */
extern void (*reader_progress)(uint64_t bytes);

/* CLOCK_REALTIME; 0: traces are read as a whole. Otherwise what is earlier is left out of long traces, except for what
 * it defines, as far as that takes no long time. UINT64_MAX: nothing of the events is read, definitions included, so
 * that it does not take longer the longer a process runs. */
extern uint64_t reader_since_ns;
void trace_leave_out_earlier(struct trace *t);
