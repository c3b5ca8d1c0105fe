/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates values by stack. */
#include "report/time/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/events/cuda/attribute.h"
#include "report/events/stacks/heap.h"
#include "report/events/stacks/nesting.h"
#include "report/events/stacks/samples.h"
#include "report/names/attribution.h"
#include "report/time/recorded.h"

/* The root of all stacks of a thread that --backtrace-depth has cut: their outermost frames differ. */
#define CUT "(cut)"
enum { CALL_GROUPS = 1u << TF_GROUP_OSRT | 1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER };
enum { LABEL_WIDTH = 80, STACK_FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

const struct metric_words metrics[METRIC_COUNT] = {
	[METRIC_CALLS] = {"calls", "time in OS and CUDA calls", "calls", "time", "nanoseconds"},
	[METRIC_GPU] = {"gpu", "GPU time", "operations", "gpu_time", "nanoseconds"},
	[METRIC_CPU] = {"cpu", "CPU samples", "samples", "cpu_time", "nanoseconds"},
	[METRIC_ALLOC] = {"alloc", "device memory allocated", "allocations", "alloc_space", "bytes"},
	[METRIC_OFF_CPU] = {"off-cpu", "time blocked in calls (estimate)", "calls", "off_cpu_time", "nanoseconds"},
	[METRIC_HOST] = {"host", "host memory allocated (estimate)", "allocations", "host_alloc_space",
			 "bytes"},
};

struct profile_pass {
	struct scan scan;
	struct profile *profile;
	const struct trace_thread *labelled; /* the thread for which `head` holds the names */
	uint32_t head[2];
	struct symbol_frame *frames;
	uint32_t *ids;
	struct nesting nesting;
};

/* Of two kinds with the same name, the first one counts. */
static uint32_t line_id(struct profile *p, const struct code_line *line, enum profile_kind kind)
{
	uint64_t *place = map_put(&p->by_line, (uint64_t)(uintptr_t)line, 0, NULL);

	if (!*place) {
		mem_append(p->names, p->name_count, p->name_capacity, (struct profile_name){line, kind});
		*place = p->name_count;
	}
	return (uint32_t)*place - 1;
}

static uint32_t name_id(struct profile_pass *w, const char *text, enum profile_kind kind)
{
	return line_id(w->profile, symbols_line(w->scan.context->symbols, text, NULL, 0), kind);
}

static enum profile_kind python_kind(const char *file)
{
	static const char import[] = "<frozen importlib._bootstrap";

	return file && !strncmp(file, import, strlen(import)) ? PROFILE_IMPORT : PROFILE_PYTHON;
}

static uint32_t frame_id(struct profile *p, const struct symbol_frame *f)
{
	return line_id(p, f->exact, f->is_interpreter || f->place == SYMBOL_NO_PLACE ? PROFILE_INTERPRETER
				    : f->is_python ? python_kind(f->line->file)
				    : attribution_is_system(f->module) ? PROFILE_LIBRARY
								       : PROFILE_NATIVE);
}

static bool is_same_host(const struct machine *a, const struct machine *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->boot, b->boot);
}

size_t host_number(const struct model *m, size_t machine)
{
	size_t number = 0;

	for (size_t i = 0; i <= machine; i++) {
		size_t first = 0;

		while (!is_same_host(&m->machines[first], &m->machines[i]))
			first++;
		if (is_same_host(&m->machines[i], &m->machines[machine]))
			return number;
		number += first == i;
	}
	return number;
}

bool has_several_hosts(const struct model *m)
{
	for (size_t i = 1; i < m->machine_count; i++)
		if (!is_same_host(&m->machines[i], &m->machines[0]))
			return true;
	return false;
}

void process_label(const struct model *m, const struct process *p, struct buffer *ret)
{
	const char *at, *word, *command = p->command && *p->command ? p->command : "?";
	size_t length = model_command_word(command, 0, &word), width = 0;
	const char *base = word + length, *rest = base + (*base == '\'');
	SCOPED(buffer) text = {0};

	/* Without the directory of the program. */
	while (base > word && base[-1] != '/')
		base--;
	buffer_print(&text, "%.*s%s", (int)(word + length - base), base, rest);
	for (at = text.data; *at && width < LABEL_WIDTH; width++)
		text_add_code(ret, text_next(&at));
	if (*at)
		buffer_text(ret, "...");
	buffer_print(ret, " [%" PRIu32, p->pid);
	if (has_several_hosts(m))
		buffer_print(ret, " on %s", m->machines[p->machine].host);
	buffer_text(ret, "]");
	if (*p->rank)
		buffer_print(ret, " rank %s", p->rank);
}

void thread_label(const struct trace_thread *thread, struct buffer *ret)
{
	buffer_print(ret, "%s [%" PRIu32 "]", *thread->name ? thread->name : "thread", thread->tid);
}

static void label_thread(struct profile_pass *w, const struct image *image, const struct trace_thread *thread)
{
	const struct model *m = w->scan.context->model;
	SCOPED(buffer) text = {0};

	if (w->labelled == thread)
		return;
	process_label(m, &m->processes[image->process], &text);
	w->head[0] = name_id(w, text.data, PROFILE_OTHER);
	buffer_clear(&text);
	thread_label(thread, &text);
	w->head[1] = name_id(w, text.data, PROFILE_OTHER);
	w->labelled = thread;
}

/* Whether frames of the stack are missing between its thread and its outermost one. */
static bool is_cut(const struct image *image, uint32_t stack)
{
	const struct blob *b = stack ? trace_definition(image->trace, TF_BLOB_STACK, stack) : NULL;

	return b && trace_stack_is_cut(image->trace, b);
}

/* Ids of process, thread and the `count` frames in w->frames; returns how many. */
static size_t stack_ids(struct profile_pass *w, uint32_t stack, size_t count)
{
	size_t used = 0;

	label_thread(w, w->scan.image, w->scan.thread);
	w->ids[used++] = w->head[0];
	w->ids[used++] = w->head[1];
	if (is_cut(w->scan.image, stack))
		w->ids[used++] = name_id(w, CUT, PROFILE_OTHER);
	while (count > 0)
		w->ids[used++] = frame_id(w->profile, &w->frames[--count]);
	return used;
}

/* Likewise, and of the function of a call. */
static size_t call_ids(struct profile_pass *w, const struct event *e, uint32_t stack)
{
	const struct function *f = trace_function(w->scan.image->trace, e->id);
	size_t count =
		   stack ? symbols_frames(w->scan.context->symbols, w->scan.image, stack, w->frames, STACK_FRAMES) : 0,
	       used = stack_ids(w, stack, count);

	if (e->kind == TF_CALL)
		w->ids[used++] = name_id(w, f ? f->name : "?", PROFILE_CALL);
	else if (used == 2)
		w->ids[used++] = name_id(w, "(stack lost)", PROFILE_OTHER);
	return used;
}

static uint32_t new_row(struct profile_pass *w, const struct event *e, uint32_t stack)
{
	size_t used = call_ids(w, e, stack);

	return aggregate_row(w->scan.aggregate, (const char *)w->ids, used * sizeof(*w->ids));
}

/* Device time is added below its call; device records without a call are added below their device. */
static uint32_t new_device_row(struct profile_pass *w, const struct correlated *k, uint32_t stack, uint32_t id)
{
	const struct model *m = w->scan.context->model;
	const struct trace *t = k->image->trace;
	SCOPED(buffer) text = {0};
	struct tf_device_operation operation;
	size_t used = 0;

	if (!device_operation(t, id, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	if (k->thread) {
		used = call_ids(w, &k->event, stack);
	} else {
		process_label(m, &m->processes[k->image->process], &text);
		w->ids[used++] = name_id(w, text.data, PROFILE_OTHER);
		buffer_clear(&text);
		device_name(t, operation.device, &text);
		w->ids[used++] = name_id(w, text.data, PROFILE_OTHER);
		buffer_clear(&text);
	}
	device_operation_name(w->scan.context, t, &operation, &text);
	w->ids[used++] = name_id(w, text.data ? text.data : "?", PROFILE_DEVICE);
	return aggregate_row(w->scan.aggregate, (const char *)w->ids, used * sizeof(*w->ids));
}

static void profile_add_value(struct profile_pass *w, const struct event *e, uint64_t value)
{
	struct scan *s = &w->scan;
	uint32_t stack = event_stack(e);
	uint64_t a = (uint64_t)(s->image - s->context->model->images) << 32 | s->thread->number,
		 b = (uint64_t)e->id << 32 | stack;
	const uint64_t *known = aggregate_recall(s->aggregate, a, b);
	uint32_t row = known ? (uint32_t)*known : new_row(w, e, stack);

	if (!known)
		aggregate_remember(s->aggregate, a, b, row);
	aggregate_add_total(s->aggregate, row, 1, value);
	w->profile->total += value;
}

/* ---- calls, each with the calls inside it ---- */

static void add_id(struct buffer *path, uint32_t id)
{
	buffer_add(path, &id, sizeof(id));
}

/* Appends the frames of the call's stack from the outermost on, without those that the path has already: of the calls
 * around this one. */
static void add_frames(struct profile_pass *w, const struct nested_call *call, struct buffer *path)
{
	struct symbols *symbols = w->scan.context->symbols;
	size_t count =
		call->stack ? symbols_frames(symbols, call->image, call->stack, w->frames, STACK_FRAMES) : 0;

	if (call->outer == NESTING_OUTERMOST && is_cut(call->image, call->stack))
		add_id(path, name_id(w, CUT, PROFILE_OTHER));
	for (size_t at = 2 * sizeof(uint32_t); count && at < path->size; at += sizeof(uint32_t)) {
		uint32_t id;

		memcpy(&id, path->data + at, sizeof(id));
		count -= id == frame_id(w->profile, &w->frames[count - 1]);
	}
	while (count > 0)
		add_id(path, frame_id(w->profile, &w->frames[--count]));
}

static uint32_t new_nested_row(struct profile_pass *w, const struct nested_call *call)
{
	const struct function *f = trace_function(call->image->trace, call->function);
	SCOPED(buffer) path = {0};

	if (call->outer == NESTING_OUTERMOST) {
		label_thread(w, call->image, call->thread);
		add_id(&path, w->head[0]);
		add_id(&path, w->head[1]);
	} else {
		const struct aggregate_row *outer = &w->scan.aggregate->rows[call->outer];

		buffer_add(&path, outer->key, outer->key_size);
	}
	add_frames(w, call, &path);
	add_id(&path, name_id(w, f ? f->name : "?", PROFILE_CALL));
	return aggregate_row(w->scan.aggregate, path.data, path.size);
}

static uint32_t visit_nested(void *context, const struct nested_call *call)
{
	struct profile_pass *w = context;
	bool is_outermost = call->outer == NESTING_OUTERMOST;
	uint64_t a = (uint64_t)!is_outermost << 63 | (uint64_t)(call->image - w->scan.context->model->images) << 32 |
		     (is_outermost ? call->thread->number : call->outer);
	uint64_t b = (uint64_t)call->function << 32 | call->stack;
	const uint64_t *known = aggregate_recall(w->scan.aggregate, a, b);
	uint32_t row = known ? (uint32_t)*known : new_nested_row(w, call);

	if (!known)
		aggregate_remember(w->scan.aggregate, a, b, row);
	aggregate_add_total(w->scan.aggregate, row, 1, call->self_ns);
	w->profile->total += call->self_ns;
	return row;
}

static void profile_visit_call(struct scan *s, const struct event *e)
{
	const struct function *f = event_function(s->image->trace, e);
	struct profile_pass *w = s->more;

	if (!f || f->group >= TF_GROUP_COUNT || !(CALL_GROUPS & 1u << f->group))
		return;
	nesting_add(&w->nesting,
		    &(struct nested_call){
			    .image = s->image,
			    .thread = s->thread,
			    .start = event_start(e),
			    .end = e->ticks,
			    .ns = clock_map_duration(s->clock, e->duration),
			    .function = e->id,
			    .stack = event_stack(e)});
}

/* ---- other values ---- */

static void visit_allocation(struct scan *s, const struct event *e)
{
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_MEMORY) : 0;
	unsigned int memory = tf_arg_small(arg);

	if (!arg || event_arg(e, TF_ARG_RESULT) || (memory & TF_MEMORY_FREE) || memory == TF_MEMORY_HOST)
		return;
	profile_add_value(s->more, e, tf_arg_value(event_arg(e, TF_ARG_BYTES)));
}

static void profile_visit_correlated(void *context, const struct correlated *k)
{
	struct profile_pass *w = context;
	struct aggregate *aggregate = w->scan.aggregate;
	uint32_t stack =
		k->thread ? event_stack(&k->event) : 0;
	uint64_t a = (uint64_t)(k->image - w->scan.context->model->images) << 36 |
		     (k->thread ? (uint64_t)k->thread->number << 12 | k->event.id : ~0u);

	w->scan.thread = k->thread;
	array_each(const struct device_record, r, k->records, k->record_count) {
		uint64_t b = (uint64_t)stack << 32 | r->operation;
		const uint64_t *known = aggregate_recall(aggregate, a, b);
		uint32_t row = known ? (uint32_t)*known : new_device_row(w, k, stack, r->operation);

		if (!known)
			aggregate_remember(aggregate, a, b, row);
		aggregate_add_total(aggregate, row, 1, r->duration_ns);
		w->profile->total += r->duration_ns;
	}
}

static void add_blocked_call(struct profile_pass *w, const struct blocked_call *c)
{
	size_t count = c->stack ? symbols_frames(w->scan.context->symbols, w->scan.image, c->stack, w->frames,
						 STACK_FRAMES) : 0,
	       used = stack_ids(w, c->stack, count);

	w->ids[used++] = name_id(w, c->function->name, PROFILE_CALL);
	aggregate_add_total(w->scan.aggregate,
			    aggregate_row(w->scan.aggregate, (const char *)w->ids, used * sizeof(*w->ids)), c->count,
			    c->blocked_ns);
	w->profile->total += c->blocked_ns;
}

/* The part of the calls' time that their threads were off the CPU and not runnable, by the kernel's accounts: a call
 * that copies computes. */
static void add_blocked_calls(struct profile_pass *w)
{
	SCOPED(partition) p = {0};

	recorded_partition(w->scan.context, true, &p);
	array_each(const struct thread_time, t, p.threads, p.count) {
		w->scan.image = t->image;
		w->scan.thread = t->thread;
		for (size_t k = 0; t->thread && k < t->blocked.count; k++)
			if (t->blocked.calls[k].blocked_ns)
				add_blocked_call(w, &t->blocked.calls[k]);
	}
}

/* Device time by the calls that submitted the operations. */
static void add_device_work(struct profile_pass *w)
{
	const struct model *m = w->scan.context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		w->scan.image = &m->images[i];
		attribute_image(w->scan.context, w->scan.image, w, profile_visit_correlated);
	}
}

static void profile_visit_sample(struct scan *s, const struct event *e)
{
	if (e->kind == TF_SAMPLE)
		profile_add_value(s->more, e, samples_ns(e));
}

static void visit_host_allocation(struct scan *s, const struct event *e)
{
	if (e->kind == TF_ALLOCATION)
		profile_add_value(s->more, e, heap_weight(e));
}

static void (*const visits[METRIC_COUNT])(struct scan *, const struct event *) = {
	[METRIC_CALLS] = profile_visit_call,
	[METRIC_CPU] = profile_visit_sample,
	[METRIC_ALLOC] = visit_allocation,
	[METRIC_HOST] = visit_host_allocation,
};

bool profile_has(const struct model *m, enum metric metric)
{
	switch (metric) {
	case METRIC_CPU:
		return samples_any(m);
	case METRIC_GPU:
		return device_any(m);
	case METRIC_ALLOC:
		return model_bits(m).args & 1u << TF_ARG_MEMORY;
	case METRIC_HOST:
		return model_bits(m).kinds & 1u << TF_ALLOCATION;
	default:
		return model_bits(m).groups & CALL_GROUPS;
	}
}

enum metric profile_default(const struct model *m)
{
	return profile_has(m, METRIC_CPU) ? METRIC_CPU : METRIC_CALLS;
}

/* The others are made in any case, because only that shows whether there are any. */
static const char *const lacking[METRIC_COUNT] = {
	[METRIC_GPU] = "gpu: the captures have no device records",
	[METRIC_CPU] = "cpu: the captures have no CPU samples",
	[METRIC_ALLOC] = "alloc: the captures have no allocations of device memory",
	[METRIC_HOST] = "host: the captures have no allocations of host memory (--memory)",
};

int profile_make(const struct report_context *context, enum metric metric, struct profile *ret, struct err *err)
{
	struct profile_pass w = {.scan = {.context = context, .aggregate = &ret->aggregate},
				 .profile = ret,
				 .nesting = {visit_nested, &w, NULL, 0}};

	*ret = (struct profile){.metric = metric};
	if (lacking[metric] && !profile_has(context->model, metric))
		return err_set(err, -ENODATA, "%s", lacking[metric]);
	w.frames = mem_alloc(STACK_FRAMES * sizeof(*w.frames));
	w.ids = mem_alloc((STACK_FRAMES + 4) * sizeof(*w.ids));
	w.scan.more = &w;
	w.scan.args = metric == METRIC_ALLOC ? 1u << TF_ARG_MEMORY : 0;
	if (metric == METRIC_GPU)
		add_device_work(&w);
	else if (metric == METRIC_OFF_CPU)
		add_blocked_calls(&w);
	else
		scan_events(&w.scan, visits[metric]);
	nesting_done(&w.nesting);
	free(w.frames);
	free(w.ids);
	return metric == METRIC_OFF_CPU && !ret->aggregate.count
		       ? err_set(err, -ENODATA, "off-cpu: the captures have no calls in which a thread was blocked")
		       : 0;
}

size_t profiles_make(const struct report_context *context, struct profile ret[METRIC_COUNT])
{
	size_t count = 0;
	struct err err;

	for (enum metric i = 0; i < METRIC_COUNT; i++)
		if (!profile_make(context, i, &ret[count], &err) && ret[count].total)
			count++;
		else
			profile_done(&ret[count]);
	if (count)
		return count;
	profile_make(context, METRIC_CALLS, &ret[0], &err);
	return 1;
}

const uint32_t *profile_stack(const struct profile *p, size_t row, size_t *ret_count)
{
	*ret_count = p->aggregate.rows[row].key_size / sizeof(uint32_t);
	return (const uint32_t *)(const void *)p->aggregate.rows[row].key;
}

void profile_done(struct profile *p)
{
	free(p->names);
	map_done(&p->by_line);
	aggregate_done(&p->aggregate);
}
