/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/gap.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/device_timeline.h"
#include "report/events/host_time.h"

enum { BATCH = 1 << 18 };

/* The time between two operations of one device, within the life of the process. */
struct gap {
	/* call_start: of the call that submitted the next operation; end: UINT64_MAX if not known */
	uint64_t start, end, call_start;
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t device, stack;
	bool is_between; /* between two operations, so neither before the first nor after the last */
};

struct gap_span {
	uint64_t from, to;
};

struct gap_state {
	const struct report_context *context;
	struct gaps *gaps;
	struct map by_cause; /* -> position in gaps.sums */
	struct map by_stack; /* position in gaps.sums, image and stack -> position in gaps.stacks */
	struct map by_operation;  /* image and operation -> position in gaps.shorts */
	size_t process, first_device;
	const struct process *life;
	uint64_t run_end;
	struct gap *batch;
	size_t count;
	struct gap_span *unrecorded; /* in order, disjoint */
	size_t unrecorded_count, unrecorded_capacity;
};

/* ---- sums ---- */

static void gap_add_stack(struct gap_state *s, size_t sum, const struct image *image, uint32_t stack, uint64_t ns)
{
	uint64_t number = stack ? (uint64_t)(image - s->context->model->images) + 1 : 0;
	struct gaps *g = s->gaps;
	size_t place = map_place(&s->by_stack, (uint64_t)sum << 32 | stack, number, g->stacks, g->stack_count,
				 g->stack_capacity,
				 (struct gap_stack){.sum = sum, .image = stack ? image : NULL, .stack = stack});

	g->stacks[place].count++;
	g->stacks[place].ns += ns;
}

static void gap_add_host(struct gaps *to, size_t sum, const struct gap *g)
{
	mem_append(to->hosts, to->host_count, to->host_capacity, (struct gap_host){g->thread, g->start, g->end, sum});
}

static void gap_add_cause(struct gap_state *s, enum gap_cause cause, const struct gap *g, uint32_t function,
			  uint32_t stack)
{
	const struct function *f =
		g->image && function != UINT32_MAX ? trace_function(g->image->trace, function) : NULL;
	uint64_t image = g->image ? (uint64_t)(g->image - s->context->model->images) : 0, length = g->end - g->start;
	struct gap_sum *sum;
	size_t place;

	if (!length)
		return;
	if (cause < GAP_WAIT || cause == GAP_HOST)
		f = NULL;
	place = map_place(&s->by_cause, (uint64_t)s->process << 32 | g->device,
			  (uint64_t)cause << 56 | (f ? (uint64_t)(function + 1) | image << 24 : 0), s->gaps->sums,
			  s->gaps->sum_count, s->gaps->sum_capacity,
			  (struct gap_sum){.process = s->process, .device = g->device, .cause = cause, .function = f});
	sum = &s->gaps->sums[place];
	sum->count++;
	sum->total_ns += length;
	if (g->is_between) {
		sum->between_ns += length;
		gap_add_stack(s, place, g->image, stack, length);
		if (cause == GAP_HOST && g->thread && length >= GAP_HOST_NS)
			gap_add_host(s->gaps, place, g);
	}
	if (length > sum->longest_ns) {
		sum->longest_ns = length;
		sum->longest_start = g->start;
		sum->image = g->image;
		sum->stack = stack;
	}
}

/* ---- host activity ---- */

static enum gap_cause cause_of(const struct function *f)
{
	unsigned cuda = f->kind.cuda;

	return !cuda					     ? GAP_OS
	       : cuda & CUDA_LAUNCH			     ? GAP_LAUNCH
	       : cuda & CUDA_SYNCHRONIZE		     ? GAP_WAIT
	       : cuda & (CUDA_COPIES | CUDA_SET)		     ? GAP_COPY
	       : cuda & (CUDA_ALLOC | CUDA_FREE | CUDA_REGISTER) ? GAP_MEMORY
								 : GAP_CUDA;
}

/* The gaps of one thread and device, in order, and the one being filled. */
struct filling {
	struct gap_state *state;
	struct gap *gaps;
	size_t count, at;
	struct part {
		enum gap_cause cause;
		uint32_t function, stack;
		uint64_t ns, longest;
	} *parts;
	size_t part_count, part_capacity;
	uint64_t filled;
};

static uint64_t launch_start(const struct gap *g)
{
	return g->call_start < g->start ? g->start : g->call_start > g->end ? g->end : g->call_start;
}

/* In a tie a call wins over host computing, because it is more specific. */
static void gap_finish_filling(struct filling *f)
{
	const struct gap *g = &f->gaps[f->at++];
	uint64_t start = launch_start(g), launch = g->end - start, host = start - g->start - f->filled;
	const struct part *best = NULL;

	array_each(const struct part, p, f->parts, f->part_count) {
		if (p->cause == GAP_LAUNCH)
			launch += p->ns;
		else if (!best || p->ns > best->ns)
			best = p;
	}
	if (best && best->ns >= launch && best->ns >= host)
		gap_add_cause(f->state, best->cause, g, best->function, best->stack);
	else if (launch >= host)
		gap_add_cause(f->state, GAP_LAUNCH, g, UINT32_MAX, g->stack);
	else
		gap_add_cause(f->state, GAP_HOST, g, UINT32_MAX, g->stack);
	f->part_count = 0;
	f->filled = 0;
}

static void gap_fill_from_host(struct filling *f, const struct host_span *h, uint64_t from, uint64_t to)
{
	const struct function *function = trace_function(f->gaps[f->at].image->trace, h->function);
	enum gap_cause cause = function ? cause_of(function) : GAP_CUDA;
	struct part *part = array_find(one, f->parts, f->part_count,
				       one->function == h->function && one->cause == cause)
			    ?: mem_new(f->parts, f->part_count, f->part_capacity,
				       (struct part){.cause = cause, .function = h->function});

	part->ns += to - from;
	f->filled += to - from;
	if (to - from > part->longest) {
		part->longest = to - from;
		part->stack = h->stack;
	}
}

static void visit_host(void *context, const struct host_span *h)
{
	struct filling *f = context;

	while (f->at < f->count && f->gaps[f->at].end <= h->start)
		gap_finish_filling(f);
	while (f->at < f->count && f->gaps[f->at].start < h->end) {
		const struct gap *g = &f->gaps[f->at];
		uint64_t from = h->start > g->start ? h->start : g->start, limit = launch_start(g),
			 to = h->end < limit ? h->end : limit;

		if (from < to)
			gap_fill_from_host(f, h, from, to);
		if (g->end > h->end)
			return;
		gap_finish_filling(f);
	}
}

COMPARATOR(by_thread, struct gap,
	   order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->device, b->device)
	   ?: order_of(a->start, b->start))

static void gap_settle_batch(struct gap_state *s)
{
	struct filling f = {.state = s};

	array_sort(s->batch, s->count, by_thread);
	for (size_t i = 0; i < s->count; i += f.count) {
		f.gaps = s->batch + i;
		f.at = f.count = 0;
		while (i + f.count < s->count && f.gaps[f.count].thread == f.gaps->thread &&
		       f.gaps[f.count].device == f.gaps->device)
			f.count++;
		if (f.gaps->thread)
			host_time(s->context->model, f.gaps->image, f.gaps->thread, f.gaps->start,
				  f.gaps[f.count - 1].end, &f, visit_host);
		while (f.at < f.count)
			gap_finish_filling(&f);
	}
	s->count = 0;
	free(f.parts);
}

/* ---- gaps ---- */

static void examine_gap(struct gap_state *s, struct gap g)
{
	if (g.start >= g.end)
		return;
	if (g.call_start <= g.start) {
		gap_add_cause(s, GAP_LAUNCH, &g, UINT32_MAX, g.stack);
		return;
	}
	s->batch[s->count++] = g;
	if (s->count == BATCH)
		gap_settle_batch(s);
}

/* Removes the intervals that were not recorded from the gap. */
static void add_recorded_parts(struct gap_state *s, struct gap g)
{
	size_t first = first_place(i, 0, s->unrecorded_count, s->unrecorded[i].to <= g.start);

	for (size_t i = first; i < s->unrecorded_count && g.start < g.end && s->unrecorded[i].from < g.end; i++) {
		const struct gap_span *off = &s->unrecorded[i];
		struct gap before = g, inside = g;

		if (off->from > g.start) {
			before.end = before.call_start = off->from;
			examine_gap(s, before);
			inside.start = off->from;
		}
		if (off->to < g.end)
			inside.end = off->to;
		gap_add_cause(s, GAP_NOT_RECORDED, &inside, UINT32_MAX, 0);
		g.start = inside.end;
	}
	examine_gap(s, g);
}

static void gap_explain(struct gap_state *s, struct gap g)
{
	struct gap before = g, after = g;

	if (g.start >= g.end)
		return;
	if (g.start < s->life->start_ns) {
		before.end = g.end < s->life->start_ns ? g.end : s->life->start_ns;
		gap_add_cause(s, GAP_NOT_STARTED, &before, UINT32_MAX, 0);
		g.start = before.end;
	}
	if (g.end > s->life->end_ns && g.end > g.start) {
		after.start = g.start > s->life->end_ns ? g.start : s->life->end_ns;
		gap_add_cause(s, GAP_ENDED, &after, UINT32_MAX, 0);
		g.end = after.start;
	}
	add_recorded_parts(s, g);
}

static struct gap_device *gap_device_of(struct gap_state *s, const struct timeline_entry *b)
{
	struct gaps *g = s->gaps;

	for (size_t i = s->first_device; i < g->device_count; i++)
		if (g->devices[i].device == b->device)
			return &g->devices[i];
	if (g->device_count - s->first_device == GAP_DEVICES) {
		g->left_out++;
		return NULL;
	}
	mem_append(g->devices, g->device_count, g->device_capacity,
		   (struct gap_device){.process = s->process,
				       .device = b->device,
				       .wall_ns = s->run_end - s->context->model->origin_ns,
				       .first = b->start,
				       .last = s->context->model->origin_ns});
	return &g->devices[g->device_count - 1];
}

static const struct trace_thread *main_thread(const struct image *image)
{
	return image_main_thread(image) ?: image->trace->thread_count ? &image->trace->threads[0] : NULL;
}

static void count_short(struct gap_state *s, const struct timeline_entry *b, uint64_t call_ns)
{
	struct gaps *g = s->gaps;
	size_t place = map_place(&s->by_operation, (uint64_t)(b->image - s->context->model->images), b->operation,
				 g->shorts, g->short_count, g->short_capacity,
				 (struct gap_short){.process = s->process, .image = b->image, .device = b->device,
						    .operation = b->operation});
	struct gap_short *kind = &g->shorts[place];

	kind->count++;
	kind->kernels_ns += b->end - b->start;
	kind->calls_ns += call_ns;
	if (b->stack && call_ns > kind->longest_ns) {
		kind->longest_ns = call_ns;
		kind->stack = b->stack;
	}
}

static void count_launch(struct gap_state *s, struct gap_device *d, const struct timeline_entry *b)
{
	const struct function *f = b->thread ? trace_function(b->image->trace, b->function) : NULL;
	uint64_t call_ns = b->call_end - b->call_start;

	if (!f || !(f->kind.cuda & CUDA_LAUNCH))
		return;
	d->launches++;
	if (b->end - b->start >= call_ns)
		return;
	d->shorter++;
	count_short(s, b, call_ns);
}

static void gap_visit_entry(void *context, const struct timeline_entry *b)
{
	struct gap_state *s = context;
	struct gap_device *d = gap_device_of(s, b);
	uint64_t start = b->start < s->run_end ? b->start : s->run_end, end = b->end < s->run_end ? b->end : s->run_end;

	if (!d)
		return;
	gap_explain(s, (struct gap){.start = d->last,
			    .end = start,
			    .call_start = b->thread ? b->call_start : start,
			    .image = b->image,
			    .thread = b->thread ? b->thread : main_thread(b->image),
			    .device = b->device,
			    .stack = b->stack,
			    .is_between = d->last > d->first});
	count_launch(s, d, b);
	if (end > d->last) {
		d->busy_ns += end - (start > d->last ? start : d->last);
		d->last = end;
	}
}

static const struct image *last_image(const struct model *m, const struct process *p)
{
	const struct image *last = NULL;

	for (size_t i = 0; i < p->image_count; i++)
		if (m->images[p->first_image + i].trace)
			last = &m->images[p->first_image + i];
	return last;
}

/* ---- unrecorded intervals ---- */

static void add_unrecorded(struct gap_state *s, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	mem_append(s->unrecorded, s->unrecorded_count, s->unrecorded_capacity, (struct gap_span){from, to});
}

static void outside_of_ranges(struct gap_state *s, const struct image *image)
{
	const struct clock_map *clock = &s->context->model->machines[image->machine].clock;
	const struct ranges *r = image->ranges;
	uint64_t at = s->life->start_ns;

	for (size_t i = 0; r && i < r->count; i++) {
		if (r->is_cancelled[i])
			continue;
		add_unrecorded(s, at, clock_map_ns(clock, r->items[i].begin_ticks));
		at = r->items[i].end_ticks ? clock_map_ns(clock, r->items[i].end_ticks) : s->life->end_ns;
	}
	if (r)
		add_unrecorded(s, at, s->life->end_ns);
}

static void lost_sources(struct gap_state *s, const struct image *image)
{
	const struct clock_map *clock = &s->context->model->machines[image->machine].clock;
	SCOPED_MEMORY struct device_gap *gaps = NULL;
	size_t count = device_gaps(image, &gaps);

	for (size_t i = 0; i < count; i++)
		add_unrecorded(s, clock_map_ns(clock, gaps[i].from),
			       gaps[i].is_open ? s->life->end_ns : clock_map_ns(clock, gaps[i].to));
}

COMPARATOR(by_from, struct gap_span, order_of(a->from, b->from))

static void find_unrecorded(struct gap_state *s)
{
	size_t used = 0;

	s->unrecorded_count = 0;
	for (size_t i = 0; i < s->life->image_count; i++) {
		const struct image *image = &s->context->model->images[s->life->first_image + i];

		if (!i)
			outside_of_ranges(s, image);
		lost_sources(s, image);
	}
	array_sort(s->unrecorded, s->unrecorded_count, by_from);
	array_each(const struct gap_span, next, s->unrecorded, s->unrecorded_count) {
		if (!used || next->from > s->unrecorded[used - 1].to)
			s->unrecorded[used++] = *next;
		else if (next->to > s->unrecorded[used - 1].to)
			s->unrecorded[used - 1].to = next->to;
	}
	s->unrecorded_count = used;
}

/* ---- results ---- */

static void process_gaps(struct gap_state *s)
{
	const struct image *last = last_image(s->context->model, s->life);

	s->first_device = s->gaps->device_count;
	find_unrecorded(s);
	if (!last || !device_timeline(s->context, s->process, true, s, gap_visit_entry))
		return;
	for (size_t i = s->first_device; i < s->gaps->device_count; i++)
		gap_explain(s, (struct gap){.start = s->gaps->devices[i].last,
					    .end = s->run_end,
					    .call_start = s->run_end,
					    .image = last,
					    .thread = main_thread(last),
					    .device = s->gaps->devices[i].device});
	gap_settle_batch(s);
}

/* Compares the key of a sum with a device. */
static int order_of_device(const struct gap_sum *s, size_t process, uint32_t device)
{
	return order_of(s->process, process) ?: order_of(s->device, device);
}

COMPARATOR(gap_sums_by_total, struct gap_sum,
	   order_of_device(a, b->process, b->device) ?: order_of(b->total_ns, a->total_ns)
	   ?: order_of(a->cause, b->cause))

size_t gap_stacks_of(const struct gaps *g, const struct gap_sum *s, size_t *ret_from)
{
	size_t sum = (size_t)(s - g->sums);

	*ret_from = first_place(i, 0, g->stack_count, g->stacks[i].sum < sum);
	return first_place(i, *ret_from, g->stack_count, g->stacks[i].sum == sum);
}

size_t gaps_of(const struct gaps *g, const struct gap_device *d, size_t *ret_from)
{
	*ret_from = first_place(i, 0, g->sum_count, order_of_device(&g->sums[i], d->process, d->device) < 0);
	return first_place(i, *ret_from, g->sum_count, order_of_device(&g->sums[i], d->process, d->device) == 0);
}

COMPARATOR(gap_stacks_by_sum, struct gap_stack,
	   order_of(a->sum, b->sum) ?: order_of(b->ns, a->ns) ?: order_of(a->stack, b->stack))

COMPARATOR(gap_hosts_by_thread, struct gap_host,
	   order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->start, b->start)
	   ?: order_of(a->end, b->end) ?: order_of(a->sum, b->sum))

/* Largest first, for each device. What belongs to a sum follows it. */
static void gap_sort_sums(struct gaps *g)
{
	SCOPED_MEMORY size_t *place = mem_alloc((g->sum_count + 1) * sizeof(*place));

	for (size_t i = 0; i < g->sum_count; i++)
		g->sums[i].place = i;
	array_sort(g->sums, g->sum_count, gap_sums_by_total);
	for (size_t i = 0; i < g->sum_count; i++)
		place[g->sums[i].place] = i;
	for (size_t i = 0; i < g->stack_count; i++)
		g->stacks[i].sum = place[g->stacks[i].sum];
	for (size_t i = 0; i < g->host_count; i++)
		g->hosts[i].sum = place[g->hosts[i].sum];
	array_sort(g->hosts, g->host_count, gap_hosts_by_thread);
	array_sort(g->stacks, g->stack_count, gap_stacks_by_sum);
}

struct gaps *gaps_find(const struct report_context *c)
{
	struct gap_state s = {
		.context = c, .gaps = mem_alloc(sizeof(*s.gaps)), .batch = mem_alloc(BATCH * sizeof(*s.batch))};

	s.run_end = model_end_ns(c->model);
	for (s.process = 0; s.process < c->model->process_count; s.process++) {
		s.life = &c->model->processes[s.process];
		process_gaps(&s);
	}
	gap_sort_sums(s.gaps);
	map_done(&s.by_cause);
	map_done(&s.by_stack);
	map_done(&s.by_operation);
	free(s.batch);
	free(s.unrecorded);
	return s.gaps;
}

void gaps_free(struct gaps *g)
{
	if (!g)
		return;
	free(g->sums);
	free(g->stacks);
	free(g->hosts);
	free(g->shorts);
	free(g->devices);
	free(g);
}

void gap_words(const struct gap_sum *s, struct buffer *ret)
{
	static const char *const words[GAP_CAUSES] = {
		"process not started",    "process ended", "not recorded", "launch latency",
		"waiting for the device", "copy",          "allocation",   "CUDA call",
		"host in OS call",        "host computing"};

	buffer_text(ret, words[s->cause]);
	if (s->function)
		buffer_print(ret, ": %s", s->function->name);
}
