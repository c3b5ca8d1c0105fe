/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates events by the source line to which they are attributed. */
#include "report/events/stacks/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/energy/energy_share.h"
#include "report/events/stacks/heap.h"
#include "report/events/stacks/lines_pass.h"
#include "report/events/stacks/samples.h"
#include "report/events/traffic.h"

static const char no_stack[] = "(not attributed)";

/* ---- rows ---- */

/* Fields: file, line, function. */
static void lines_add_frame(const struct code_line *l, struct buffer *key)
{
	buffer_field(key, l->file ? l->file : "");
	if (l->file)
		buffer_print(key, "%" PRIu32, l->line);
	buffer_add(key, "", 1);
	buffer_text(key, l->function);
}

/* The site of a frame at `place`; *site is what it is if it is new. */
static size_t site_number(struct lines_pass *w, uint64_t group, uint64_t place, const struct site *site)
{
	return map_place(&w->numbers, group, place, w->sites, w->site_count, w->site_capacity, *site);
}

/* Attributes a stack that was not seen before; returns the value stored in `stacks`. */
static uint64_t new_stack(struct lines_pass *w, uint64_t group, uint32_t range, uint32_t stack)
{
	struct scan *s = &w->scan;
	struct site site = {.image = s->image, .thread = s->thread, .range = range};
	size_t number;

	site.is_stackless = !attribution_stack(&w->attribution, s->image, stack, &site.frame, &site.is_users);
	number = site_number(w, group, site.is_stackless ? UINT64_MAX : site.frame.place, &site);
	return number << 1 |
	       (!site.is_stackless && attribution_runs_python(w->attribution.symbols, s->image, stack));
}

static uint64_t group_of(const struct lines_pass *w, uint64_t start, uint32_t *ret_range)
{
	const struct scan *s = &w->scan;

	*ret_range = s->thread ? scan_range(s, start) : 0;
	return (uint64_t)(s->image - s->context->model->images) << 32 | *ret_range;
}

/* The line of a stack that was taken at `start`. Valid until the next call. */
static struct site *lines_site(struct lines_pass *w, uint32_t stack, uint64_t start, bool *ret_is_interpreter)
{
	uint32_t range;
	uint64_t group = group_of(w, start, &range), *known;
	bool is_new;

	/* most calls in succession have the same stack, or none */
	if (!w->has_last || w->last_group != group || w->last_stack != stack) {
		known = map_put(&w->stacks, group, stack, &is_new);
		if (is_new)
			*known = new_stack(w, group, range, stack);
		w->has_last = true;
		w->last_group = group;
		w->last_stack = stack;
		w->last_known = *known;
	}
	if (ret_is_interpreter)
		*ret_is_interpreter = w->last_known & 1;
	return &w->sites[w->last_known >> 1];
}

static struct site *lines_site_of(struct lines_pass *w, const struct event *e, bool *ret_is_interpreter)
{
	return lines_site(w, event_stack(e), event_start(e), ret_is_interpreter);
}

/* The row of a site, named at the first call. */
static uint32_t lines_row(struct lines_pass *w, struct site *site)
{
	struct lines *l = w->lines;
	SCOPED(buffer) key = {0};

	if (site->has_row)
		return site->row;
	w->scan.image = site->image;
	w->scan.thread = site->thread;
	scan_group(&w->scan, site->range, &key);
	if (site->is_stackless) {
		buffer_add(&key, "\0", 2);
		buffer_text(&key, no_stack);
	} else {
		symbols_name(w->attribution.symbols, &site->frame);
		lines_add_frame(site->frame.line, &key);
	}
	site->row = scan_row(&w->scan, &key);
	site->has_row = true;
	if (site->row == l->count)
		mem_append(l->values, l->count, l->capacity, (struct line_values){.is_users = site->is_users});
	return site->row;
}

/* Finds the lines that a stack is in, each once, though it may be there several times in a recursive function. Returns
 * the first place + 1. */
static uint64_t new_around(struct lines_pass *w, uint64_t group, uint32_t range, uint32_t stack)
{
	struct site site = {.image = w->scan.image, .thread = w->scan.thread, .range = range, .is_users = true};
	const struct symbol_frame *frames;
	size_t count = attribution_users(&w->attribution, w->scan.image, stack, &frames), first = w->around_count;

	for (size_t i = 0; i < count; i++) {
		size_t number, at = first;
		uint32_t row;

		site.frame = frames[i];
		number = site_number(w, group, frames[i].place, &site);
		row = lines_row(w, &w->sites[number]);
		while (at < w->around_count && w->sites[w->around[at].site].row != row)
			at++;
		if (at < w->around_count)
			continue;
		mem_append(w->around, w->around_count, w->around_capacity, (struct around){.site = number});
	}
	if (w->around_count == first)
		return UINT64_MAX;
	w->around[w->around_count - 1].is_last = true;
	return first + 1;
}

/* Adds to the lines that the stack taken at `start` is in. Sites may move. */
static void add_inclusive(struct lines_pass *w, enum line_value value, uint32_t stack, uint64_t start, uint64_t ns)
{
	uint32_t range;
	uint64_t group, *place;

	if (!w->scan.context->is_inclusive || !ns)
		return;
	group = group_of(w, start, &range);
	place = map_put(&w->around_stacks, group, stack, NULL);
	if (!*place)
		*place = new_around(w, group, range, stack);
	for (size_t i = *place - 1; *place != UINT64_MAX; i++) {
		w->sites[w->around[i].site].values[value] += ns;
		if (w->around[i].is_last)
			break;
	}
}

void lines_add_row(struct lines_pass *w, struct site *site)
{
	uint32_t row = lines_row(w, site);

	for (size_t i = 0; i < LINE_VALUES; i++)
		w->lines->values[row].of[i] += site->values[i];
}

/* ---- events ---- */

static void push_within(struct lines_pass *w, uint64_t start, uint64_t total, uint64_t os, uint64_t cuda)
{
	struct within *first = &w->within[w->within_first], *item;

	if (w->within_count == WITHIN) {
		/* Joins the two oldest entries: this matters only for a call that began between them. */
		first[1].start = first->start;
		first[1].total += first->total;
		first[1].os += first->os;
		first[1].cuda += first->cuda;
		first[1].sample = 0, first[1].waited = 0;
		w->within_first++;
		w->within_count--;
		first++;
	}
	if (w->within_first + w->within_count == sizeof(w->within) / sizeof(*w->within)) {
		memmove(w->within, first, w->within_count * sizeof(*w->within));
		w->within_first = 0;
	}
	item = &w->within[w->within_first + w->within_count++];
	item->start = start;
	item->total = total;
	item->os = os;
	item->cuda = cuda;
	item->sample = 0;
	item->waited = 0;
}

/* What was inside of an OS call: samples are the system's time of their own lines, if the call has no line itself. */
static void add_system(struct lines_pass *w, const struct event *e, uint64_t ns)
{
	uint64_t start = event_start(e), inside = 0;
	bool has_stack = event_stack(e) != 0;

	for (size_t i = w->within_count; i-- > 0 && w->within[w->within_first + i].start >= start;) {
		const struct within *k = &w->within[w->within_first + i];

		if (!k->sample)
			continue;
		w->sites[k->sample - 1].values[LINE_IN_OS] += k->total;
		w->sites[k->sample - 1].values[LINE_SYSTEM] += has_stack ? 0 : k->total;
		inside += k->total;
	}
	lines_site_of(w, e, NULL)->values[LINE_SYSTEM] += has_stack ? ns : ns - inside;
}

static struct within collect_within(struct lines_pass *w, uint64_t start)
{
	struct within sum = {0};

	while (w->within_count && w->within[w->within_first + w->within_count - 1].start >= start) {
		const struct within *last = &w->within[w->within_first + --w->within_count];

		sum.total += last->total;
		sum.os += last->os;
		sum.cuda += last->cuda;
		sum.waited += last->waited; /* not for a CPU: the thread was in the call */
		if (last->sample)
			lines_waits_add(w, last->sample - 1, -last->waited);
	}
	return sum;
}

static void add_total(struct lines_pass *w, struct site *site, const struct event *e, uint64_t ns)
{
	site->values[LINE_TOTAL] += ns;
	if (w->each)
		w->each(w->more, lines_row(w, site), &w->scan, e, ns);
}

static void lines_add_sample(struct lines_pass *w, const struct event *e)
{
	bool is_interpreter;
	struct within *item;
	struct site *site;
	uint64_t ns = samples_ns(e);

	add_inclusive(w, LINE_INCLUSIVE, event_stack(e), e->ticks, ns);
	site = lines_site_of(w, e, &is_interpreter);

	site->values[is_interpreter ? LINE_PYTHON : LINE_NATIVE] += ns;
	site->values[LINE_SAMPLES]++;
	add_total(w, site, e, ns);
	push_within(w, e->ticks, ns, 0, 0);
	item = &w->within[w->within_first + w->within_count - 1];
	item->sample = (size_t)(site - w->sites) + 1;
	if (w->sampled)
		w->waited += (int64_t)clock_map_duration(
				     w->scan.clock, image_range_part(w->scan.image, w->sampled, e->ticks)) -
			     (int64_t)ns;
	w->sampled = e->ticks;
	item->waited = w->waited > 0 ? w->waited : 0;
	w->waited -= item->waited;
	lines_waits_add(w, item->sample - 1, item->waited);
}

/* Bytes that an OS call has read or written. */
static uint64_t moved(const struct function *f, const struct event *e)
{
	uint64_t arg = event_arg(e, TF_ARG_FD), many = tf_arg_value(event_arg(e, TF_ARG_BYTES));
	int64_t result = (int32_t)(tf_arg_value(arg) >> 16);
	enum traffic_role role = traffic_moves(f->kind.role, f->kind.traffic);

	if (!arg || (role != ROLE_READ && role != ROLE_WRITE))
		return 0;
	return many ? many : result > 0 ? (uint64_t)result : 0;
}

static void add_memory(uint64_t *line, const struct event *e)
{
	uint64_t memory = event_arg(e, TF_ARG_MEMORY), copy = event_arg(e, TF_ARG_COPY);

	if (event_arg(e, TF_ARG_RESULT))
		return;
	if (memory && !(tf_arg_small(memory) & TF_MEMORY_FREE) && tf_arg_small(memory) != TF_MEMORY_HOST)
		line[LINE_ALLOCATED] += tf_arg_value(event_arg(e, TF_ARG_BYTES));
	if (copy)
		line[LINE_COPIED] += tf_arg_value(copy);
}

static void lines_add_call(struct lines_pass *w, const struct event *e)
{
	const struct function *f = trace_function(w->scan.image->trace, e->id);
	bool is_os = f && f->group == TF_GROUP_OSRT,
	     is_cuda = f && f->kind.cuda;
	uint64_t start = event_start(e), part = image_range_part(w->scan.image, start, e->ticks),
		 ns = clock_map_duration(w->scan.clock, part), *line;
	struct within in;
	struct site *site;

	if (!is_os && !is_cuda)
		return;
	if (is_os)
		add_system(w, e, ns);
	in = collect_within(w, start);
	w->waited -= (int64_t)rest_of(ns, in.total) - in.waited;
	add_inclusive(w, LINE_INCLUSIVE, event_stack(e), start, rest_of(ns, in.total));
	site = lines_site_of(w, e, NULL);
	line = site->values;
	line[LINE_CALLS]++;
	add_total(w, site, e, rest_of(ns, in.total));
	if (is_os) {
		line[LINE_OS] += rest_of(ns, in.os);
		line[LINE_OFF_CPU] += rest_of(ns, in.total);
		line[LINE_MOVED] += e->args_count ? moved(f, e) : 0;
		in.os = ns;
	} else {
		line[LINE_CUDA] += rest_of(ns, in.cuda);
		in.cuda = ns;
	}
	if (e->args_count)
		add_memory(line, e);
	push_within(w, start, ns > in.total ? ns : in.total, in.os, in.cuda);
}

/* A row of --mode=profile. Which calls and samples were within another call is not known: their time counts twice. */
static void lines_add_sum(struct lines_pass *w, const struct event *e)
{
	const struct function *f = scan_is_call(e) ? trace_function(w->scan.image->trace, e->id) : NULL;
	const struct event_sum sum = event_sum(e);
	uint64_t ns = f ? clock_map_duration(w->scan.clock, sum.total) : samples_ns(e), *line;
	bool is_interpreter;
	struct site *site;

	if (!samples_are(e) && (!f || (f->group != TF_GROUP_OSRT && f->group != TF_GROUP_CUDA &&
				       f->group != TF_GROUP_CUDA_DRIVER)))
		return;
	add_inclusive(w, LINE_INCLUSIVE, event_stack(e), e->ticks, ns);
	site = lines_site_of(w, e, &is_interpreter);
	line = site->values;
	line[f ? LINE_CALLS : LINE_SAMPLES] += sum.count;
	if (!f)
		line[is_interpreter ? LINE_PYTHON : LINE_NATIVE] += ns;
	else if (f->group == TF_GROUP_OSRT)
		line[LINE_OS] += ns, line[LINE_OFF_CPU] += ns, line[LINE_SYSTEM] += ns;
	else
		line[LINE_CUDA] += ns;
	add_total(w, site, e, ns);
}

static void lines_visit_event(struct scan *s, const struct event *e)
{
	struct lines_pass *w = s->more;

	if (w->thread != s->thread) {
		lines_waits_end(w);
		w->within_count = 0;
		w->sampled = 0, w->waited = 0;
		w->is_unwanted = w->filter && !w->filter->is_wanted(w->filter->more, s->image, s->thread->tid);
	}
	w->thread = s->thread;
	if (w->is_unwanted)
		return;
	if (e->kind == TF_SUM)
		lines_add_sum(w, e);
	else if (e->kind == TF_SAMPLE)
		lines_add_sample(w, e);
	else if (e->kind == TF_CALL)
		lines_add_call(w, e);
	else if (e->kind == TF_ALLOCATION)
		lines_site_of(w, e, NULL)->values[LINE_HOST] += heap_weight(e);
}

/* What the devices executed for a call that had `stack` at `start`. */
static void add_device(struct lines_pass *w, uint32_t stack, uint64_t start, const struct device_work *d,
		       bool is_backward)
{
	struct site *site;

	add_inclusive(w, LINE_GPU_INCLUSIVE, stack, start, d->ns);
	site = lines_site(w, stack, start, NULL);
	site->values[LINE_GPU] += d->ns;
	site->values[LINE_ESTIMATED] += d->estimated;
	site->values[LINE_BACKWARD] += is_backward ? d->ns : 0;
	site->values[LINE_ENERGY] += d->energy_uj;
	site->values[LINE_LAUNCHES] += d->launches;
}

static void lines_defer(struct lines_pass *w, uint64_t seq, uint32_t stack, uint64_t start,
			const struct device_work *work)
{
	size_t site = (size_t)(lines_site(w, stack, start, NULL) - w->sites);
	size_t place = map_place(&w->deferred_numbers, seq, (uint64_t)stack << 32 | site, w->deferred,
				 w->deferred_count, w->deferred_capacity,
				 (struct deferred_call){.seq = seq, .thread = w->scan.thread, .stack = stack,
							.start = start});
	struct deferred_call *d = &w->deferred[place];

	d->work.ns += work->ns;
	d->work.estimated += work->estimated;
	d->work.energy_uj += work->energy_uj;
	d->work.launches += work->launches;
}

static void lines_visit_correlated(void *context, const struct correlated *k)
{
	struct lines_pass *w = context;
	const struct event none = {0}, *e = k->thread ? &k->event : &none;
	struct tf_device_operation o;
	enum backward_kind kind = BACKWARD_NONE;
	struct device_work work = {0};
	uint64_t seq;

	if (!k->record_count)
		return;
	for (size_t i = 0; i < k->record_count; i++) {
		work.ns += k->records[i].duration_ns;
		if (w->has_energy)
			work.energy_uj +=
				(uint64_t)(energy_of_record(w->scan.context, k->image, &k->records[i]) * 1e6 + .5);
	}
	work.estimated = k->is_estimate ? work.ns : 0;
	work.launches = device_operation(k->image->trace, k->records->operation, &o) &&
			(o.kind == TF_DEVICE_KERNEL || o.kind == TF_DEVICE_GRAPH);
	w->scan.thread = k->thread;
	if (k->thread && w->backward)
		kind = backward_take(w->backward, k, &seq);
	if (kind == BACKWARD_OF_FORWARD)
		lines_defer(w, seq, event_stack(e), event_start(e), &work);
	else
		add_device(w, event_stack(e), event_start(e), &work, kind == BACKWARD_AGAIN);
}

/* Once the whole image was read. Work whose forward pass is not known remains at the line that launched it. */
static void lines_take_deferred(struct lines_pass *w)
{
	array_each(const struct deferred_call, d, w->deferred, w->deferred_count) {
		const struct backward_cause *cause = backward_cause(w->backward, d->seq);

		w->scan.thread = cause ? cause->thread : d->thread;
		add_device(w, cause ? cause->stack : d->stack, cause ? cause->start : d->start, &d->work, cause);
	}
	w->deferred_count = 0;
	map_done(&w->deferred_numbers);
	w->deferred_numbers = (struct map){0};
}

/* ---- from events to lines ---- */

void lines_pass_begin(struct lines_pass *w, const struct report_context *context, struct lines *ret)
{
	*ret = (struct lines){0};
	*w = (struct lines_pass){.scan = {.context = context}, .lines = ret};
	w->attribution = (struct attribution){.symbols = context->symbols, .is_innermost = context->lines_all};
	w->scan.aggregate = &ret->keys;
	w->scan.more = w;
}

void lines_pass_done(struct lines_pass *w)
{
	free(w->sites);
	free(w->deferred);
	free(w->around);
	free(w->waiting);
	usages_free(w->usages);
	map_done(&w->around_stacks);
	map_done(&w->numbers);
	map_done(&w->stacks);
	attribution_done(&w->attribution);
}

static void lines_read_device(struct lines_pass *w, const struct image *image, bool has_operators)
{
	struct backward backward;

	w->scan.image = image;
	if (has_operators) {
		backward_begin(&backward, image);
		w->backward = &backward;
	}
	attribute_image(w->scan.context, image, w, lines_visit_correlated);
	lines_take_deferred(w);
	w->backward = NULL;
	if (has_operators)
		backward_done(&backward);
}

void lines_pass_read(struct lines_pass *w)
{
	const struct model *m = w->scan.context->model;
	bool has_operators = nvtx_has_operators(m);

	scan_events(&w->scan, lines_visit_event);
	lines_waits_end(w);
	for (size_t i = 0; i < m->image_count; i++)
		if (!w->scan.args || trace_bits(m->images[i].trace).args & w->scan.args)
			lines_read_device(w, &m->images[i], has_operators && m->images[i].trace &&
							   device_source(m->images[i].trace).is_known);
	for (size_t i = 0; i < w->site_count; i++)
		w->lines->has_stacks |= !w->sites[i].is_stackless;
}

void lines_gather(const struct report_context *context, lines_each *each, void *more, struct lines *ret)
{
	SCOPED(lines_pass) w = {0};

	lines_pass_begin(&w, context, ret);
	w.each = each;
	w.more = more;
	w.has_energy = context->model->energy_count > 0;
	w.usages = usages_new(context->model);
	lines_pass_read(&w);
	for (size_t i = 0; i < w.site_count; i++)
		lines_add_row(&w, &w.sites[i]);
	for (size_t i = 0; i < w.stacks.size; i++)
		if (w.stacks.slots[i].used && !(uint32_t)w.stacks.slots[i].a)
			*map_put(&ret->stacks, w.stacks.slots[i].a >> 32, w.stacks.slots[i].b, NULL) =
				1ull + w.sites[w.stacks.slots[i].value >> 1].row;
}

/* ---- order ---- */

int compare_line_values(const uint64_t *a, const uint64_t *b)
{
	static const enum line_value keys[] = {LINE_INCLUSIVE, LINE_GPU_INCLUSIVE, LINE_TOTAL, LINE_GPU,
					       LINE_ALLOCATED, LINE_COPIED, LINE_HOST};

	for (size_t n = 0; n < sizeof(keys) / sizeof(*keys); n++)
		if (a[keys[n]] != b[keys[n]])
			return a[keys[n]] > b[keys[n]] ? -1 : 1;
	return 0;
}

struct sorting {
	const struct report_context *context;
	const struct lines *lines;
};

/* Library threads that wait for work would otherwise precede the program's own lines. */
static int line_kind(const struct sorting *s, size_t row)
{
	if (!*lines_field(s->context, s->lines, row, 0) && !strcmp(lines_field(s->context, s->lines, row, 2), no_stack))
		return 2;
	return !s->lines->values[row].is_users && !s->context->lines_all;
}

static int compare_line_rows(size_t i, size_t k, const void *context)
{
	const struct sorting *s = context;

	return line_kind(s, i) - line_kind(s, k) ?: compare_line_values(s->lines->values[i].of, s->lines->values[k].of);
}

size_t *lines_order(const struct report_context *context, const struct lines *l)
{
	return places_in_order(l->count, compare_line_rows, &(struct sorting){context, l});
}

void lines_done(struct lines *l)
{
	aggregate_done(&l->keys);
	map_done(&l->stacks);
	free(l->values);
	*l = (struct lines){0};
}

const char *lines_field(const struct report_context *context, const struct lines *l, size_t row, size_t i)
{
	return aggregate_field(&l->keys.rows[row], i + (context->by != BY_NOTHING));
}

struct line_values *lines_values_of(struct lines *l, const struct code_line *line)
{
	SCOPED(buffer) key = {0};
	uint32_t row;

	lines_add_frame(line, &key);
	buffer_add(&key, "", 1);
	row = aggregate_row(&l->keys, key.data, key.size);
	if (row == l->count)
		mem_append(l->values, l->count, l->capacity, (struct line_values){.is_users = true});
	return &l->values[row];
}
