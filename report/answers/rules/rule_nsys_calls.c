/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_memcpy_async, cuda_memcpy_sync, cuda_memset_sync, cuda_api_sync: nsys's rules on copies and waits, with its
 * thresholds and columns (Nsight Systems 2022.4, host-linux-x64/rules). As in nsys, only functions of the runtime
 * are searched. */
#include <string.h>

#include "report/answers/rule.h"

enum { ROWS = 50, SMALL_BYTES = 64000 };

/* Values of CUpti_ActivityMemoryKind and of struct tf_device_operation's copy. */
enum { MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2, MEMORY_MANAGED = 5, COPY_HTOD = 1, COPY_PTOP = 10 };

struct long_call {
	uint64_t duration, start, bytes;
	const struct image *image;
	uint32_t tid, function, stack;
	struct tf_device_operation operation;
};

struct search {
	struct rules *rules;
	uint64_t total_ns, count;
	struct long_call worst[ROWS]; /* longest first */
	size_t rows;
	uint16_t has, lacks; /* of CUDA_*: the functions */
	bool (*is_operation)(const struct tf_device_operation *operation, uint64_t bytes);
};

/* Equal lines are ordered by process, as nsys orders them where it shows only some. */
static bool line_is_before(const struct long_call *a, const struct long_call *b)
{
	if (a->duration != b->duration)
		return a->duration > b->duration;
	return a->image != b->image ? a->image < b->image : a->start < b->start;
}

static void search_keep_line(struct search *s, const struct long_call *line)
{
	size_t at = s->rows;

	s->total_ns += line->duration;
	s->count++;
	while (at && line_is_before(line, &s->worst[at - 1]))
		at--;
	if (at == ROWS)
		return;
	s->rows -= s->rows == ROWS;
	memmove(s->worst + at + 1, s->worst + at, (s->rows - at) * sizeof(*line));
	s->worst[at] = *line;
	s->rows++;
}

static const char *name_of(const struct long_call *line)
{
	const struct function *f = trace_function(line->image->trace, line->function);

	return f ? f->name : "?";
}

/* ---- which calls and which device operations ---- */

static bool is_searched(const struct search *s, const struct function *f)
{
	return f->group == TF_GROUP_CUDA && (f->kind.cuda & (s->has | s->lacks)) == s->has;
}

static bool is_pageable_copy(const struct tf_device_operation *w, uint64_t bytes)
{
	(void)bytes;
	return w->kind == TF_DEVICE_COPY && (w->source == MEMORY_PAGEABLE || w->target == MEMORY_PAGEABLE);
}

/* Small copies to a device return before the copy is complete. */
static bool is_blocking_copy(const struct tf_device_operation *w, uint64_t bytes)
{
	return w->kind == TF_DEVICE_COPY && !(bytes <= SMALL_BYTES && w->copy == COPY_HTOD) &&
	       !(w->copy == COPY_PTOP && w->source_device == w->target_device);
}

static bool is_host_set(const struct tf_device_operation *w, uint64_t bytes)
{
	(void)bytes;
	return w->kind == TF_DEVICE_SET && (w->target == MEMORY_PINNED || w->target == MEMORY_MANAGED);
}

/* ---- search ---- */

static void search_visit_correlated(void *context, const struct correlated *k)
{
	struct search *s = context;
	const struct function *f = k->thread ? trace_function(k->image->trace, k->event.id) : NULL;
	const struct clock_map *clock = &s->rules->context->model->machines[k->image->machine].clock;

	if (!f || !is_searched(s, f))
		return;
	array_each(const struct device_record, r, k->records, k->record_count) {
		struct long_call line = {.duration = r->duration_ns,
				    .start = model_since_origin(s->rules->context->model,
								clock_map_monotonic(clock, r->start_ns)),
				    .bytes = r->bytes,
				    .image = k->image,
				    .function = k->event.id,
				    .stack = event_stack(&k->event)};

		if (device_operation(k->image->trace, r->operation, &line.operation) &&
		    s->is_operation(&line.operation, r->bytes))
			search_keep_line(s, &line);
	}
}

static void search_visit_call(struct scan *scan, const struct event *e)
{
	struct search *s = scan->more;
	const struct function *f = event_function(scan->image->trace, e);
	uint64_t duration = clock_map_duration(scan->clock, e->duration);

	if (f && is_searched(s, f))
		search_keep_line(
			s, &(struct long_call){.duration = duration,
					  .start = model_since_origin(s->rules->context->model,
								      clock_map_ns(scan->clock, e->ticks) - duration),
					  .image = scan->image,
					  .tid = scan->thread->tid,
					  .function = e->id,
					  .stack = event_stack(e)});
}

static void search_conclude(struct search *s, struct finding *f, const char *what)
{
	if (!s->count)
		return;
	f->cost_ns = s->total_ns;
	buffer_print(&f->text, "%llu %s, ", (unsigned long long)s->count, what);
	rule_time(&f->text, s->total_ns);
	buffer_text(&f->text, " in all");
	f->line = rule_line(s->rules, s->worst[0].image, s->worst[0].stack);
}

static void add_call_place_cells(struct finding *f, const struct long_call *line)
{
	table_cells(&f->table, line->image->pid, line->operation.device, line->operation.context,
		    line->operation.stream, name_of(line));
}

static void search_add_copy_rows(const struct search *s, struct finding *f)
{
	array_each(const struct long_call, line, s->worst, s->rows) {
		rule_row(f);
		table_cells(&f->table, line->duration, line->start, device_memory_name(line->operation.source),
			    device_memory_name(line->operation.target), (double)line->bytes);
		add_call_place_cells(f, line);
	}
}

static void look_at_work(struct search *s, struct finding *f)
{
	const struct model *m = s->rules->context->model;

	if (!rule_has_devices(s->rules, f))
		return;
	for (size_t i = 0; i < m->image_count; i++)
		correlate_image(s->rules->context, &m->images[i], s, search_visit_correlated, NULL);
	if (!s->count)
		rule_missed_devices(s->rules, f);
}

static void find_copies(struct search s, struct finding *f, const char *what)
{
	rule_has(f, COL_DURATION_NS, COL_START_NS, COL_SRC_KIND, COL_DST_KIND, COL_BYTES_MB, COL_PID, COL_DEVICE_ID,
		 COL_CONTEXT_ID, COL_STREAM_ID, COL_API_NAME);
	look_at_work(&s, f);
	search_add_copy_rows(&s, f);
	search_conclude(&s, f, what);
}

void rule_cuda_memcpy_async(struct rules *r, struct finding *f)
{
	find_copies((struct search){.rules = r, .has = CUDA_COPIES | CUDA_ASYNC, .lacks = CUDA_NODE,
				    .is_operation = is_pageable_copy},
		    f, "asynchronous copies of pageable memory");
}

void rule_cuda_memcpy_sync(struct rules *r, struct finding *f)
{
	find_copies((struct search){.rules = r, .has = CUDA_COPIES, .lacks = CUDA_NODE | CUDA_ASYNC,
				    .is_operation = is_blocking_copy},
		    f, "synchronous copies");
}

void rule_cuda_memset_sync(struct rules *r, struct finding *f)
{
	struct search s = {.rules = r, .has = CUDA_SET, .lacks = CUDA_NODE | CUDA_ASYNC,
			   .is_operation = is_host_set};

	rule_has(f, COL_DURATION_NS, COL_START_NS, COL_MEMORY_KIND, COL_BYTES_MB, COL_PID, COL_DEVICE_ID,
		 COL_CONTEXT_ID, COL_STREAM_ID, COL_API_NAME);
	look_at_work(&s, f);
	array_each(const struct long_call, line, s.worst, s.rows) {
		rule_row(f);
		table_cells(&f->table, line->duration, line->start, device_memory_name(line->operation.target),
			    (double)line->bytes);
		add_call_place_cells(f, line);
	}
	search_conclude(&s, f, "synchronous memsets of host memory");
}

void rule_cuda_api_sync(struct rules *r, struct finding *f)
{
	struct search s = {.rules = r, .has = CUDA_SYNCHRONIZE, .lacks = CUDA_OF_EVENT};

	rule_has(f, COL_DURATION_NS, COL_START_NS, COL_PID, COL_TID, COL_API_NAME);
	if (!rule_has_calls(r, f))
		return;
	scan_events(&(struct scan){.context = r->context, .groups = 1u << TF_GROUP_CUDA, .more = &s},
		    search_visit_call);
	for (size_t i = 0; i < s.rows; i++) {
		rule_row(f);
		table_cells(&f->table, s.worst[i].duration, s.worst[i].start, s.worst[i].image->pid, s.worst[i].tid,
			    name_of(&s.worst[i]));
	}
	search_conclude(&s, f, "calls that waited for the device");
}
