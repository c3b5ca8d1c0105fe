/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/file_calls.h"

#include <string.h>

#include "report/events/filter.h"

static void enter_image(struct file_calls *f, const struct image *image)
{
	if (f->image == image)
		return;
	f->image = image;
	f->descriptors = descriptor_search(image->trace);
}

static struct file_function function_of(struct file_calls *f, uint32_t id)
{
	const struct function *function = trace_function(f->image->trace, id);
	struct function_kind k = function ? function->kind : (struct function_kind){BLOCKED_OTHER};

	return (struct file_function){k.role, k.traffic,
				      k.role == ROLE_OPEN	    ? METADATA_OPEN
				      : k.does & FUNCTION_STATS	    ? METADATA_STAT
				      : k.does & FUNCTION_RENAMES ? METADATA_CHANGE
								    : METADATA_NONE,
				      k.does & FUNCTION_LOCKS_FILE};
}

static uint32_t file_of(struct file_calls *f, const struct descriptor *d)
{
	uint64_t image = (uint64_t)(f->image - f->scan.context->model->images);
	SCOPED(buffer) path = {0};
	const uint64_t *known;
	uint32_t file;

	if (!d || d->kind == TF_DESCRIPTOR_UNKNOWN)
		return FILE_UNKNOWN;
	known = aggregate_recall(&f->paths, image, d->text);
	if (known)
		return (uint32_t)*known;
	descriptors_text(f->descriptors.of, d, &path);
	buffer_add(&path, "", 1);
	file = aggregate_row(&f->paths, path.data, path.size);
	aggregate_remember(&f->paths, image, d->text, file);
	return file;
}

static bool is_file(const struct descriptor *d)
{
	return !d || d->kind == TF_DESCRIPTOR_FILE || d->kind == TF_DESCRIPTOR_UNKNOWN ||
	       d->kind == TF_DESCRIPTOR_DIRECTORY;
}

/* --mode=profile: calls that have these arguments in common. */
static void visit_sum(struct file_calls *f, const struct event *e)
{
	uint64_t file = event_arg(e, TF_ARG_FILE), directory = event_arg(e, TF_ARG_DIRECTORY);
	struct event_sum sum = event_sum(e);
	const struct descriptors *all = f->descriptors.of;
	const struct descriptor *d = directory ? descriptors_find_directory(all, tf_arg_value(directory) & 0xffff)
				     : file    ? descriptors_find_id(all, (uint32_t)tf_arg_value(file))
					       : NULL;
	struct file_call call = {.image = f->image, .thread = f->scan.thread, .is_sum = true, .file = FILE_UNKNOWN};
	struct file_function function = function_of(f, e->id);

	call.role = (enum traffic_role)function.role;
	call.metadata = (enum file_metadata)function.metadata;
	if ((!d && call.metadata == METADATA_NONE) || !is_file(d) || !sum.count)
		return;
	call.failed = (directory && tf_arg_value(directory) >> 16) || event_arg(e, TF_ARG_RESULT) ? sum.count : 0;
	call.file = file_of(f, d);
	call.calls = sum.count;
	call.locks = function.locks ? sum.count : 0;
	call.ns = clock_map_duration(f->scan.clock, sum.total);
	call.role = traffic_moves(call.role, function.kind);
	if (call.role == ROLE_READ || call.role == ROLE_WRITE) {
		call.bytes = sum.bytes;
		call.transfers = traffic_transfers(function.kind, sum.count, sum.bytes);
	}
	f->visit(f, &call);
}

static void visit_event(struct scan *s, const struct event *e)
{
	struct file_calls *f = s->more;
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_FD) : 0, fd = 0xffff, many,
		 directory = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_DIRECTORY) : 0;
	int64_t result = (int32_t)(tf_arg_value(arg) >> 16);
	const struct descriptor *d = NULL;
	struct file_call call = {.image = s->image, .thread = s->thread, .calls = 1, .file = FILE_UNKNOWN};
	struct file_function function;

	if (!scan_is_call(e) || e->id >= EVENT_IDS)
		return;
	enter_image(f, s->image);
	if (e->kind == TF_SUM) {
		visit_sum(f, e);
		return;
	}
	function = function_of(f, e->id);
	call.role = (enum traffic_role)function.role;
	call.metadata = (enum file_metadata)function.metadata;
	if (!arg && call.metadata == METADATA_NONE)
		return;
	if (arg)
		fd = call.role == ROLE_OPEN ? (result < 0 || result >= 0xffff ? 0xffff : (uint64_t)result)
					    : tf_arg_value(arg) & 0xffff;
	if (directory)
		d = descriptors_find_directory(f->descriptors.of, tf_arg_value(directory) & 0xffff);
	else if (fd != 0xffff)
		d = descriptors_find(&f->descriptors, fd, call.role == ROLE_CLOSE ? event_start(e) : e->ticks);
	else if (call.metadata == METADATA_NONE)
		return;
	if (!is_file(d))
		return;
	many = arg ? tf_arg_value(event_arg(e, TF_ARG_BYTES)) : 0;
	call.failed = directory ? tf_arg_value(directory) >> 16 != 0 : call.role == ROLE_OPEN && result < 0;
	call.file = file_of(f, d);
	call.start_ticks = event_start(e);
	call.stack = event_stack(e);
	call.locks = function.locks;
	call.ns = clock_map_duration(s->clock, e->duration);
	call.role = traffic_moves(call.role, function.kind);
	if (call.role == ROLE_READ || call.role == ROLE_WRITE) {
		call.bytes = many ? many : result > 0 ? (uint64_t)result : 0;
		call.transfers = traffic_transfers(function.kind, 1, call.bytes);
	}
	f->visit(f, &call);
}

/* ---- calls below the threshold ---- */

static void visit_traffic(struct file_calls *f, const struct clock_map *clock, const struct traffic *t)
{
	const struct descriptor *d = traffic_descriptor(&f->descriptors, t);
	struct file_call call = {
		.image = f->image,
		.thread = t->thread,
		.is_sum = true,
		.start_ticks = t->from_ticks,
		.ns = clock_map_duration(clock, t->ticks),
	};
	struct file_function function;

	if (!is_file(d) || t->function >= EVENT_IDS)
		return;
	function = function_of(f, t->function);
	call.role = (enum traffic_role)function.role;
	call.metadata = (enum file_metadata)function.metadata;
	call.failed = traffic_is_of_path(t) ? t->bytes : 0;
	call.calls = traffic_calls(function.kind, t->calls);
	call.locks = function.locks ? call.calls : 0;
	if (call.role == ROLE_READ || call.role == ROLE_WRITE) {
		call.bytes = t->bytes;
		call.transfers = traffic_transfers(function.kind, t->calls, t->bytes);
	}
	call.file = file_of(f, d);
	f->visit(f, &call);
}

struct sums {
	struct file_calls *calls;
	const struct clock_map *clock;
	struct map count, ticks; /* thread, function -> what visit_traffic had, and visit_counters has not yet */
};

/* The sums of --mode=profile are of all threads. */
static uint32_t thread_of(const struct trace *t, uint32_t number)
{
	return t->header.mode == TF_MODE_PROFILE ? 0 : number;
}

static void add_traffic(void *context, const struct traffic *t)
{
	struct sums *s = context;
	uint32_t thread;

	if (!t->thread)
		return;
	thread = thread_of(s->calls->image->trace, t->thread->number);
	visit_traffic(s->calls, s->clock, t);
	*map_put(&s->count, thread, t->function, NULL) += t->calls;
	*map_put(&s->ticks, thread, t->function, NULL) += t->ticks;
}

/* What is left of the value after the sums by descriptor. */
static uint64_t without(const struct map *m, uint32_t thread, uint32_t function, uint64_t value)
{
	uint64_t *part = map_find(m, thread, function), taken = part && *part < value ? *part : value;

	if (!part)
		return value;
	*part -= taken;
	return value - taken;
}

/* Calls that ask for metadata of a path are counted by function alone. */
static void visit_counters(struct file_calls *f, const struct clock_map *clock, const struct trace_thread *thread,
			   const struct sums *sums)
{
	const struct trace *t = f->image->trace;

	for (size_t i = 0; i < thread->counter_count; i++) {
		const struct trace_counter *c = &t->counters[thread->first_counter + i];
		struct file_call call = {.image = f->image, .thread = thread, .is_sum = true, .file = FILE_UNKNOWN};
		struct file_function function;

		if (c->function >= EVENT_IDS)
			continue;
		function = function_of(f, c->function);
		if (function.metadata == METADATA_NONE)
			continue;
		call.role = (enum traffic_role)function.role;
		call.metadata = (enum file_metadata)function.metadata;
		call.calls = without(&sums->count, thread_of(t, thread->number), c->function, c->sum.calls);
		call.ns = clock_map_duration(clock,
					     without(&sums->ticks, thread_of(t, thread->number), c->function,
						     c->sum.ticks));
		if (call.calls)
			f->visit(f, &call);
	}
}

static void visit_sums(struct file_calls *f, const struct clock_map *clock)
{
	const struct trace *t = f->image->trace;
	struct sums sums = {.calls = f, .clock = clock};

	traffic_each(t, add_traffic, &sums);
	for (size_t k = 0; k < t->thread_count; k++)
		visit_counters(f, clock, &t->threads[k], &sums);
	map_done(&sums.count);
	map_done(&sums.ticks);
}

void file_calls_read(struct file_calls *f, const struct report_context *c)
{
	const struct model *m = c->model;

	f->scan = (struct scan){.context = c, .groups = 1u << TF_GROUP_OSRT, .more = f};
	scan_events(&f->scan, visit_event);
	for (size_t i = 0; i < m->image_count && !filter_is_set(m); i++) {
		if (!m->images[i].trace)
			continue;
		enter_image(f, &m->images[i]);
		visit_sums(f, &m->machines[m->images[i].machine].clock);
	}
}

void file_calls_done(struct file_calls *f)
{
	aggregate_done(&f->paths);
}
