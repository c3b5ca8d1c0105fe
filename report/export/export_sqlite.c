/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite: the database that `nsys export` would have made of the same run. Times are in ns since the start of the
 * capture. */
#include "report/export/export_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/derive/events/filter.h"
#include "report/derive/stacks/samples.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

/* NVTX_EVENTS.eventType, and eventClass elsewhere. */
enum { TYPE_CATEGORY = 33, TYPE_MARK = 34, TYPE_PUSHPOP = 59, TYPE_STARTEND = 60, TYPE_DOMAIN = 75 };
enum { CLASS_RUNTIME = 0, CLASS_DRIVER = 1, CLASS_OSRT = 27, CLASS_CUBLAS = 46, CLASS_CUDNN = 45 };
enum { THREAD_NAME_PRIORITY = 20, FRAMES = TF_BLOB_BYTES / sizeof(uint64_t), DOMAINS = 1 << 16 };

static int64_t time_ns(const struct sqlite_writer *w, uint64_t ticks)
{
	return (int64_t)(clock_map_ns(w->clock, ticks) - w->origin_ns);
}

/* Like nsys: machine, 24 bits of pid, 24 bits of tid. */
static int64_t process_id(const struct model *m, const struct image *image)
{
	return (int64_t)(((uint64_t)host_number(m, image->machine) + 1) << 48 | (uint64_t)(image->pid & 0xffffff)
										    << 24);
}

static int64_t thread_id(const struct sqlite_writer *w, uint32_t tid)
{
	return w->global_pid | (tid & 0xffffff);
}

static int64_t function_name(struct sqlite_writer *w, uint32_t id)
{
	const struct function *f = trace_function(w->image->trace, id);

	if (!f)
		return nsys_string(&w->nsys, "?");
	if (!w->functions[id])
		w->functions[id] = nsys_string(&w->nsys, f->name);
	return w->functions[id];
}

static int64_t text_id(struct sqlite_writer *w, uint32_t string)
{
	const struct blob *b = trace_definition(w->image->trace, TF_BLOB_STRING, string);
	bool is_new;
	uint64_t *place = map_put(&w->texts, string, 0, &is_new);
	struct buffer text = {0};

	if (!is_new)
		return (int64_t)*place;
	if (b)
		trace_text(w->image->trace, b, &text);
	else
		buffer_print(&text, "(text %u lost)", string);
	*place = (uint64_t)nsys_string(&w->nsys, buffer_string(&text));
	buffer_done(&text);
	return (int64_t)*place;
}

/* ---- call chains ---- */

static void chain_row(struct sqlite_writer *w, enum nsys_table table, int64_t id, size_t depth,
		      const struct symbol_frame *f)
{
	int64_t symbol = nsys_string(&w->nsys, f->text),
		module = nsys_string(&w->nsys, *f->module ? f->module : "[unknown]"), address = (int64_t)f->address;

	if (table != NSYS_CUDA_STACKS)
		nsys_row(&w->nsys, table,
			 (int64_t[]){id, symbol, module, NSYS_NULL, NSYS_NULL, NSYS_NULL, NSYS_NULL, address, NSYS_NULL,
				     (int64_t)depth},
			 10);
	else
		nsys_row(&w->nsys, table, (int64_t[]){id, symbol, module, NSYS_NULL, address, (int64_t)depth}, 6);
}

static void chain_rows(struct sqlite_writer *w, enum nsys_table table, int64_t id, uint32_t stack)
{
	size_t count = symbols_frames(w->x->context->symbols, w->image, stack, w->frames, FRAMES);

	for (size_t i = 0; i < count; i++)
		chain_row(w, table, id, i, &w->frames[i]);
}

static int64_t sqlite_call_chain(struct sqlite_writer *w, const struct event *e, enum nsys_table table)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;
	uint64_t *place;
	bool is_new;

	if (!arg)
		return 0;
	place = map_put(&w->stacks, tf_arg_value(arg), table, &is_new);
	if (!is_new)
		return (int64_t)*place;
	*place = (uint64_t)++w->next_chain;
	chain_rows(w, table, w->next_chain, (uint32_t)tf_arg_value(arg));
	return w->next_chain;
}

/* nsys has the value of the counter that triggered the sample in cpuCycles. Here that is the thread's CPU time in ns.
 * A call chain has the id of its sample, so equal ones are not shared. */
static void sqlite_add_sample(struct sqlite_writer *w, const struct event *e)
{
	uint64_t stack = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;
	int64_t id = ++w->next_sample;

	nsys_row(&w->nsys, NSYS_SAMPLE,
		 (int64_t[]){id, time_ns(w, e->ticks), NSYS_NULL, NSYS_NULL, w->global_tid, (int64_t)samples_ns(e)}, 6);
	if (stack)
		chain_rows(w, NSYS_SAMPLE_STACKS, id, (uint32_t)tf_arg_value(stack));
}

/* ---- calls ---- */

static int64_t return_value(const struct event *e)
{
	uint64_t fd = e->args_count ? event_arg(e, TF_ARG_FD) : 0,
		 timeout = e->args_count && !fd ? event_arg(e, TF_ARG_TIMEOUT) : 0;

	if (timeout)
		return (int16_t)tf_arg_value(timeout);
	return fd ? (int32_t)(tf_arg_value(fd) >> 16) : 0;
}

int64_t sqlite_correlation(struct sqlite_writer *w, uint64_t number)
{
	bool is_new;
	uint64_t *source = map_put(&w->sources, w->image->process, number >> 32, &is_new);

	if (is_new)
		*source = w->sources.count - 1;
	return (int64_t)(*source << 32 | (uint32_t)number);
}

/* For a process without device records. */
static int64_t own_correlation(struct sqlite_writer *w)
{
	return sqlite_correlation(w, (uint64_t)UINT32_MAX << 32 | (uint32_t)++w->correlation);
}

static void cuda_call(struct sqlite_writer *w, const struct event *e, int64_t start, int64_t end, int64_t class)
{
	uint64_t error = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_RESULT)) : 0;
	int64_t callchain = sqlite_call_chain(w, e, NSYS_CUDA_STACKS);
	/* Device records use CUPTI's correlation ids; a call without a device record has none. */
	uint64_t matched = correlation_of(&w->ids, e);
	int64_t correlation = matched                 ? sqlite_correlation(w, matched)
			      : w->has_device_records ? NSYS_NULL
						      : own_correlation(w);

	nsys_row(&w->nsys, NSYS_RUNTIME,
		 (int64_t[]){start, end, class, w->global_tid, correlation, function_name(w, e->id), (int64_t)error,
			     callchain ? callchain : NSYS_NULL},
		 8);
}

static void sqlite_add_call(struct sqlite_writer *w, const struct event *e)
{
	const struct function *f = trace_function(w->image->trace, e->id);
	int64_t end = time_ns(w, e->ticks), start = end - (int64_t)clock_map_duration(w->clock, e->duration);

	if (!f)
		return;
	switch (f->group) {
	case TF_GROUP_OSRT:
		nsys_row(&w->nsys, NSYS_OSRT,
			 (int64_t[]){start, end, CLASS_OSRT, w->global_tid, function_name(w, e->id), return_value(e),
				     NSYS_NULL, sqlite_call_chain(w, e, NSYS_OSRT_STACKS)},
			 8);
		break;
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
		cuda_call(w, e, start, end, f->group == TF_GROUP_CUDA ? CLASS_RUNTIME : CLASS_DRIVER);
		break;
	case TF_GROUP_CUBLAS:
	case TF_GROUP_CUDNN:
		nsys_row(&w->nsys, f->group == TF_GROUP_CUBLAS ? NSYS_CUBLAS : NSYS_CUDNN,
			 (int64_t[]){start, end, f->group == TF_GROUP_CUBLAS ? CLASS_CUBLAS : CLASS_CUDNN,
				     w->global_tid, function_name(w, e->id)},
			 5);
		break;
	case TF_GROUP_MPI:
		sqlite_mpi_call(w, e, f, start, end, function_name(w, e->id));
		break;
	default: /* nsys has no table for it */
		break;
	}
}

/* ---- NVTX ---- */

/* Indices of columns of NVTX_EVENTS. */
enum { NVTX_TEXT = 7, NVTX_UINT64 = 12, NVTX_JSON = 19 };

struct nvtx_row {
	int64_t start, end, type, id, tid, end_tid, text, domain;
	const uint64_t *args, *payload, *end_payload;
	uint32_t args_count;
};

static uint64_t find_arg(const struct nvtx_row *r, enum tf_arg_kind kind)
{
	return event_arg(&(struct event){.args = r->args, .args_count = r->args_count}, kind);
}

/* The columns for payloads are in the order of nvtxPayloadType_t. */
static void bind_payload(sqlite3_stmt *insert, const struct nvtx_row *r, uint64_t payload)
{
	uint64_t bits = tf_arg_value(payload) | tf_arg_value(find_arg(r, TF_ARG_PAYLOAD_HIGH)) << 48;
	int type = (int)tf_arg_small(payload), column = NVTX_UINT64 - 1 + type;
	uint32_t low = (uint32_t)bits;
	double real;
	float single;

	memcpy(&real, &bits, sizeof(real));
	memcpy(&single, &low, sizeof(single));
	if (type == 3 || type == 6)
		sqlite3_bind_double(insert, column, type == 3 ? real : (double)single);
	else if (type > 0 && type < 6)
		sqlite3_bind_int64(insert, column,
				   type == 4   ? (int64_t)low
				   : type == 5 ? (int64_t)(int32_t)low
					       : (int64_t)bits);
}

/* The payloads of a range's start and end, as an array if both have one. */
static void bind_json(struct sqlite_writer *w, sqlite3_stmt *insert, const struct nvtx_row *r)
{
	struct buffer json = {0};

	if (r->payload && r->end_payload)
		buffer_text(&json, "[");
	if (r->payload)
		nvtx_payload_json(&w->nvtx, r->payload, &json);
	if (r->payload && r->end_payload)
		buffer_text(&json, ",");
	if (r->end_payload)
		nvtx_payload_json(&w->nvtx, r->end_payload, &json);
	if (r->payload && r->end_payload)
		buffer_text(&json, "]");
	nsys_bind_text(insert, NVTX_JSON, buffer_string(&json));
	buffer_done(&json);
}

static void nvtx_row(struct sqlite_writer *w, const struct nvtx_row *r)
{
	uint64_t color = find_arg(r, TF_ARG_COLOR), payload = find_arg(r, TF_ARG_PAYLOAD);
	const int64_t values[] = {
	    r->start,
	    r->end,
	    r->type,
	    r->id,
	    color ? (int64_t)(tf_arg_value(color) >> 32) : NSYS_NULL,
	    color ? (int64_t)(tf_arg_value(color) & 0xffffffff) : NSYS_NULL,
	    NSYS_NULL,
	    r->tid,
	    r->end_tid,
	    r->text,
	    r->domain,
	};
	sqlite3_stmt *insert;

	if (!payload && !r->payload && !r->end_payload) {
		nsys_row(&w->nsys, NSYS_NVTX, values, sizeof(values) / sizeof(*values));
		return;
	}
	insert = nsys_insert(&w->nsys, NSYS_NVTX);
	if (!insert)
		return;
	sqlite3_clear_bindings(insert);
	nsys_bind(insert, 1, values, sizeof(values) / sizeof(*values));
	if (payload)
		bind_payload(insert, r, payload);
	if (r->payload || r->end_payload)
		bind_json(w, insert, r);
	nsys_step(&w->nsys, insert);
}

static int64_t domain_id(const struct sqlite_writer *w, uint32_t domain)
{
	return domain ? domain + w->first_domain : 0;
}

static void sqlite_visit_range(void *context, const struct nvtx_range *r)
{
	struct sqlite_writer *w = context;
	int64_t start = time_ns(w, r->start);
	struct nvtx_row row = {
	    .start = start,
	    .end = r->is_unfinished ? NSYS_NULL : start + (int64_t)clock_map_duration(w->clock, r->end - r->start),
	    .type = r->is_pushpop ? TYPE_PUSHPOP : TYPE_STARTEND,
	    .id = NSYS_NULL,
	    .tid = thread_id(w, r->thread->tid),
	    .end_tid = NSYS_NULL,
	    .text = text_id(w, r->text),
	    .domain = domain_id(w, r->domain),
	    .args = r->args,
	    .args_count = r->args_count,
	    .payload = r->payload,
	    .end_payload = r->end_payload,
	};

	if (!r->is_pushpop) {
		row.id = (int64_t)tf_arg_value(find_arg(&row, TF_ARG_VALUE));
		/* Like nsys: only if it differs. */
		row.end_tid =
			r->end_thread && r->end_thread != r->thread ? thread_id(w, r->end_thread->tid) : NSYS_NULL;
	}
	nvtx_row(w, &row);
}

static void sqlite_add_mark(struct sqlite_writer *w, const struct event *e)
{
	nvtx_row(w, &(struct nvtx_row){
			.start = time_ns(w, e->ticks),
			.end = NSYS_NULL,
			.type = TYPE_MARK,
			.id = NSYS_NULL,
			.tid = w->global_tid,
			.end_tid = NSYS_NULL,
			.text = text_id(w, e->text),
			.domain = domain_id(w, e->id),
			.args = e->args,
			.args_count = e->args_count,
			.payload = e->payload,
		    });
}

static void sqlite_name_row(struct sqlite_writer *w, int64_t type, uint32_t domain, int64_t category, const char *name)
{
	sqlite3_stmt *insert = nsys_insert(&w->nsys, NSYS_NVTX);

	if (!insert)
		return;
	sqlite3_clear_bindings(insert);
	sqlite3_bind_int64(insert, 1, time_ns(w, w->image->start_ticks));
	sqlite3_bind_int64(insert, 3, type);
	if (type == TYPE_CATEGORY)
		sqlite3_bind_int64(insert, 5, category);
	nsys_bind_text(insert, NVTX_TEXT, name);
	sqlite3_bind_int64(insert, 8, w->global_pid);
	sqlite3_bind_int64(insert, 11, domain_id(w, domain));
	nsys_step(&w->nsys, insert);
}

/* A device that the program named. */
static void device_name_row(struct sqlite_writer *w, const struct nvtx_definition *n)
{
	sqlite3_stmt *insert = nsys_insert(&w->nsys, NSYS_NVTX_DEVICE);

	if (!insert)
		return;
	nsys_bind_text(insert, 1, n->name);
	sqlite3_bind_int64(insert, 2, host_number(w->model, w->image->machine) + 1);
	sqlite3_bind_int64(insert, 3, 0);
	sqlite3_bind_int64(insert, 4, (int64_t)n->head.id);
	nsys_step(&w->nsys, insert);
}

/* Domains and categories are rows as well, with the name in `text`. */
static void sqlite_add_names(struct sqlite_writer *w)
{
	const struct trace *t = w->image->trace;

	for (size_t i = 0; i < t->blob_count; i++) {
		const struct blob *b = &t->blobs[i];
		struct buffer text = {0};

		if (b->type != TF_BLOB_DOMAIN || trace_definition(t, b->type, b->id) != b)
			continue;
		trace_text(t, b, &text);
		sqlite_name_row(w, TYPE_DOMAIN, b->id, 0, buffer_string(&text));
		buffer_done(&text);
	}
	for (size_t i = 0; i < w->nvtx.count; i++) {
		const struct nvtx_definition *n = &w->nvtx.items[i];

		if (n->head.kind == TF_NVTX_CATEGORY)
			sqlite_name_row(w, TYPE_CATEGORY, n->head.domain, (int64_t)n->head.id, n->name);
		else if (n->head.kind == TF_NVTX_RESOURCE &&
			 (n->head.type == TF_NVTX_CUDA_DEVICE || n->head.type == TF_NVTX_CUDART_DEVICE))
			device_name_row(w, n);
	}
}

/* ---- images ---- */

static void sqlite_add_thread(struct sqlite_writer *w, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	w->global_tid = thread_id(w, thread->tid);
	if (*thread->name)
		*map_put(&w->thread_names, (uint64_t)w->global_tid, 0, NULL) =
		    (uint64_t)nsys_string(&w->nsys, thread->name);
	filter_cursor_init(&cursor, w->image->trace, thread);
	while (!w->nsys.code && cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			sqlite_add_call(w, &e);
		else if (e.kind == TF_MARK)
			sqlite_add_mark(w, &e);
		else if (e.kind == TF_SAMPLE)
			sqlite_add_sample(w, &e);
}

static void sqlite_add_image(struct sqlite_writer *w, const struct image *image)
{
	const struct trace *t = image->trace;
	const struct process *p = &w->model->processes[image->process];

	w->image = image;
	w->clock = &w->model->machines[image->machine].clock;
	w->global_pid = process_id(w->model, image);
	/* The domains of a process end with exec. */
	w->first_domain = (image - &w->model->images[p->first_image]) * DOMAINS;
	if (!w->first_domain)
		w->correlation = 0;
	if (!t)
		return;
	w->has_device_records = device_source(t).is_known;
	w->functions = mem_alloc(t->functions->count * sizeof(*w->functions));
	for (size_t i = 0; i < t->blob_count; i++)
		if (t->blobs[i].type == TF_BLOB_DEVICE_NAME)
			sqlite_device(w, &t->blobs[i]);
	nvtx_definitions_make(&w->nvtx, t);
	sqlite_add_names(w);
	correlation_ids(w->x->context, image, &w->ids);
	for (size_t i = 0; i < t->thread_count; i++)
		sqlite_add_thread(w, &t->threads[i]);
	nvtx_ranges(image, NULL, w, sqlite_visit_range);
	sqlite_device_events(w);
	correlation_ids_done(&w->ids);
	nvtx_definitions_done(&w->nvtx);
	free(w->functions);
	w->operation_count = 0;
	map_done(&w->works_by_id);
	map_done(&w->texts);
	map_done(&w->stacks);
}

/* ---- rows written once ---- */

static void add_meta(struct sqlite_writer *w, const char *name, const char *value)
{
	sqlite3_stmt *insert = nsys_insert(&w->nsys, NSYS_META);

	if (!insert)
		return;
	nsys_bind_text(insert, 1, name);
	nsys_bind_text(insert, 2, value);
	nsys_step(&w->nsys, insert);
}

static void format_date(char *text, size_t size, const struct tm *tm)
{
	if (!strftime(text, size, "%Y-%m-%d %H:%M:%S", tm))
		*text = 0;
}

static void sqlite_add_times(struct sqlite_writer *w)
{
	sqlite3_stmt *insert = nsys_insert(&w->nsys, NSYS_START_TIME);
	time_t seconds = (time_t)(w->origin_ns / 1000000000u);
	char text[32];
	struct tm tm;
	uint64_t end = w->origin_ns;

	for (size_t i = 0; i < w->model->process_count; i++)
		if (w->model->processes[i].end_ns > end)
			end = w->model->processes[i].end_ns;
	nsys_row(&w->nsys, NSYS_ANALYSIS,
		 (int64_t[]){(int64_t)1 << 48, (int64_t)(end - w->origin_ns), 0, (int64_t)(end - w->origin_ns)}, 4);
	if (!insert)
		return;
	sqlite3_bind_int64(insert, 1, (int64_t)w->origin_ns);
	format_date(text, sizeof(text), gmtime_r(&seconds, &tm));
	nsys_bind_text(insert, 2, text);
	format_date(text, sizeof(text), localtime_r(&seconds, &tm));
	nsys_bind_text(insert, 3, text);
	nsys_step(&w->nsys, insert);
}

static void add_processes(struct sqlite_writer *w)
{
	for (size_t i = 0; i < w->model->process_count; i++) {
		const struct process *p = &w->model->processes[i];
		const struct image *last = &w->model->images[p->first_image + p->image_count - 1];
		sqlite3_stmt *insert = nsys_insert(&w->nsys, NSYS_PROCESSES);

		if (!insert)
			return;
		sqlite3_bind_int64(insert, 1, process_id(w->model, last));
		sqlite3_bind_int64(insert, 2, p->pid);
		nsys_bind_text(insert, 3, last->executable ? last->executable : "");
		nsys_step(&w->nsys, insert);
	}
}

static void add_thread_names(struct sqlite_writer *w)
{
	for (size_t i = 0; i < w->thread_names.size; i++) {
		const struct map_slot *slot = &w->thread_names.slots[i];

		if (slot->used)
			nsys_row(&w->nsys, NSYS_THREADS,
				 (int64_t[]){(int64_t)slot->value, THREAD_NAME_PRIORITY, (int64_t)slot->a}, 3);
	}
}

int export_sqlite(struct export *x, struct err *err)
{
	struct sqlite_writer w = {.x = x, .model = x->context->model, .origin_ns = x->context->model->origin_ns};
	int code = nsys_open(&w.nsys, x->path, err);

	if (code)
		return code;
	w.frames = mem_alloc(FRAMES * sizeof(*w.frames));
	add_meta(&w, "EXPORT_PRODUCT_NAME", "pillion " PILLION_VERSION);
	add_meta(&w, "EXPORT_SCHEMA_VERSION", "3.0.0");
	add_meta(&w, "EXPORT_SCHEMA_VERSION_MAJOR", "3");
	add_meta(&w, "EXPORT_SCHEMA_VERSION_MINOR", "0");
	add_meta(&w, "EXPORT_SCHEMA_VERSION_MICRO", "0");
	sqlite_add_times(&w);
	add_processes(&w);
	for (size_t i = 0; i < w.model->image_count && !w.nsys.code; i++)
		sqlite_add_image(&w, &w.model->images[i]);
	add_thread_names(&w);
	free(w.frames);
	free(w.operations);
	map_done(&w.devices);
	map_done(&w.thread_names);
	map_done(&w.mpi_threads);
	map_done(&w.sources);
	return nsys_close(&w.nsys, err);
}
