/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks did in the spans: recorded calls of the main thread, between these what CPU samples say, and the kernels
 * and copies of its devices where it waited for them. Short calls without a stack count as computing, because samples
 * have their lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/openmp/openmp_places.h"
#include "report/causes/ranks/rank_build.h"
#include "report/events/cuda/correlate.h"
#include "report/events/stacks/samples.h"

enum { LONG_CALL_NS = 80000, USER_FRAMES = 32 };
enum { COMPUTING = UINT32_MAX, IDLE = UINT32_MAX - 1, WORKERS = UINT32_MAX - 2, ON_DEVICE = UINT32_MAX - 3 };
/* So many operations of other streams may be in progress when a span begins. */
enum { CONCURRENT = 64 };

struct lane_call {
	uint64_t start_ns, end_ns;
	uint32_t function, stack;
};

struct lane_sample {
	uint64_t ns, cpu_ns;
	uint32_t stack;
	const struct image *image; /* that has the stack */
};

struct lane_operation {
	uint64_t start_ns, end_ns;
	uint32_t operation, stack; /* stack: of the call that launched it */
};

/* Of one lane: what one function did by one stack in the spans of one group. */
struct span_tally {
	const struct image *image;
	uint32_t group, function, stack; /* function: or COMPUTING, ... */
	uint32_t operation;		 /* ON_DEVICE */
	double more, less, path_ns, own_ns; /* as of parts and lanes */
	uint64_t samples;
};

struct lane_reading {
	struct delays *delays;
	uint32_t lane;
	const struct image *image;
	struct lane_call *calls; /* by start, none inside of another one */
	size_t call_count, call_capacity;
	struct lane_sample *samples;
	size_t sample_count, sample_capacity;
	struct lane_sample *workers; /* of threads of OpenMP, for which the main thread waits without a recorded call */
	size_t worker_count, worker_capacity;
	struct lane_operation *operations; /* by start */
	size_t operation_count, operation_capacity;
	struct rank_teams teams;
	double part; /* of time that is accounted: what is lost in a region of OpenMP is not */
	uint64_t begin_ns; /* the end of its initialisation */
	struct span_tally *tallies;
	size_t tally_count, tally_capacity;
	struct map tally_of; /* (group and function, image or operation, and stack) -> tally */
};

/* ---- the events of a lane ---- */

static uint64_t time_of(const struct lane_reading *r, uint64_t ticks)
{
	return clock_map_ns(&r->delays->context->model->machines[r->image->machine].clock, ticks);
}

static void take_call(struct lane_reading *r, const struct event *e)
{
	const struct function *f = trace_function(r->image->trace, e->id);
	struct lane_call c = {
		.start_ns = time_of(r, event_start(e)), .end_ns = time_of(r, e->ticks), .function = e->id};

	if (!f || c.end_ns <= c.start_ns)
		return;
	c.stack = event_stack(e);
	if (f->kind.parallel & PARALLEL_BEGINS)
		r->begin_ns = c.end_ns;
	if (!c.stack && f->group == TF_GROUP_OSRT && c.end_ns - c.start_ns < LONG_CALL_NS)
		return;
	/* those inside of it were written before it */
	while (r->call_count && r->calls[r->call_count - 1].start_ns >= c.start_ns)
		r->call_count--;
	mem_append(r->calls, r->call_count, r->call_capacity, c);
}

static void take_sample(struct lane_reading *r, const struct image *image, const struct event *e, bool is_main)
{
	struct lane_sample s = {.ns = time_of(r, e->ticks),
				.cpu_ns = samples_ns(e),
				.stack = event_stack(e),
				.image = image};

	if (is_main) {
		mem_append(r->samples, r->sample_count, r->sample_capacity, s);
	} else if (delays_is_worker(r->delays, image, s.stack)) {
		mem_append(r->workers, r->worker_count, r->worker_capacity, s);
	}
}

static void read_image(struct lane_reading *r, const struct image *image)
{
	struct cursor cursor;
	struct event e;

	bool is_recorded = image->trace && openmp_is_in(image);
	bool has_openmp = is_recorded || attribution_uses_module(image, attribution_is_openmp);

	for (size_t i = 0; image->trace && i < image->trace->thread_count; i++) {
		bool is_main = image->trace->threads[i].tid == image->pid;

		if (!is_main && !has_openmp)
			continue;
		cursor_init(&cursor, image->trace, &image->trace->threads[i]);
		while (cursor_next(&cursor, &e)) {
			if (is_recorded && image == r->image)
				rank_teams_take(&r->teams, image, &e, is_main);
			if (e.kind == TF_CALL && image == r->image && is_main)
				take_call(r, &e);
			else if (e.kind == TF_SAMPLE)
				take_sample(r, image, &e, is_main);
		}
	}
}

COMPARATOR(compare_samples, struct lane_sample, order_of(a->ns, b->ns))

static void take_operations(void *context, const struct correlated *k)
{
	struct lane_reading *r = context;
	const struct clock_map *clock = &r->delays->context->model->machines[r->image->machine].clock;

	array_each(const struct device_record, d, k->records, k->record_count) {
		mem_append(r->operations, r->operation_count, r->operation_capacity, (struct lane_operation){
			.start_ns = clock_map_monotonic(clock, d->start_ns),
			.end_ns = clock_map_monotonic(clock, d->start_ns + d->duration_ns),
			.operation = d->operation,
			.stack = k->thread ? event_stack(&k->event) : 0});
	}
}

COMPARATOR(compare_operations, struct lane_operation,
	   order_of(a->start_ns, b->start_ns) ?: order_of(a->end_ns, b->end_ns))

/* The process has samples in its own trace, or those that the launcher took by perf. */
static void read_lane(struct lane_reading *r)
{
	const struct model *m = r->delays->context->model;
	const struct process *p = &m->processes[r->image->process];

	read_image(r, r->image);
	for (size_t i = p->first_image; i < p->first_image + p->image_count && !r->sample_count; i++)
		if (m->images[i].via == TF_VIA_OBSERVED)
			read_image(r, &m->images[i]);
	r->delays->has_samples |= r->sample_count;
	sort_unless_sorted(r->samples, r->sample_count, sizeof(*r->samples), compare_samples);
	sort_unless_sorted(r->workers, r->worker_count, sizeof(*r->workers), compare_samples);
	rank_teams_settle(&r->teams);
	if (device_source(r->image->trace).is_known)
		correlate_unfiltered(r->delays->context, r->image, r, take_operations);
	sort_unless_sorted(r->operations, r->operation_count, sizeof(*r->operations), compare_operations);
}

/* ---- spans ---- */

/* `of`: as in a tally, without its times. */
static struct span_tally *tally(struct lane_reading *r, const struct rank_span *s, struct span_tally of, double ns)
{
	uint32_t other = of.function == ON_DEVICE ? of.operation : of.image != r->image;
	struct span_tally *t;
	size_t place;

	of.group = s->group;
	place = map_place(&r->tally_of, (uint64_t)s->group << 32 | of.function, (uint64_t)other << 32 | of.stack,
			  r->tallies, r->tally_count, r->tally_capacity, of);
	t = &r->tallies[place];
	ns *= r->part;
	t->more += s->weight > 0 ? ns * s->weight : 0;
	t->less += s->weight < 0 ? ns * -s->weight : 0;
	t->path_ns += s->weight > 0 ? ns : 0;
	t->own_ns += s->weight ? 0 : ns;
	return t;
}

/* What the devices did between two times. Returns how long they did nothing. */
static double take_device(struct lane_reading *r, const struct rank_span *s, uint64_t from, uint64_t until)
{
	size_t i = first_place(k, 0, r->operation_count, r->operations[k].start_ns < from);
	double nothing = 0;

	for (i = i > CONCURRENT ? i - CONCURRENT : 0; i < r->operation_count && from < until; i++) {
		const struct lane_operation *o = &r->operations[i];
		uint64_t start = o->start_ns > from ? o->start_ns : from, end = o->end_ns < until ? o->end_ns : until;

		if (end <= start)
			continue;
		nothing += (double)(start - from);
		tally(r, s,
		      (struct span_tally){.image = r->image, .function = ON_DEVICE, .stack = o->stack,
					  .operation = o->operation},
		      (double)(end - start));
		from = end;
	}
	return nothing + (from < until ? (double)(until - from) : 0);
}

/* By the samples between two times. */
static double cpu_ns(const struct lane_reading *r, uint64_t from, uint64_t until)
{
	double sum = 0;

	for (size_t i = first_place(k, 0, r->sample_count, r->samples[k].ns < from);
	     i < r->sample_count && r->samples[i].ns < until; i++)
		sum += (double)r->samples[i].cpu_ns;
	return sum;
}

static void take_called(struct lane_reading *r, const struct rank_span *s, const struct lane_call *c, uint64_t from,
			uint64_t until)
{
	const struct function *f = trace_function(r->image->trace, c->function);
	enum blocked_kind kind = f->kind.waits;
	double ns = (double)(until - from);

	if (r->operation_count && kind == BLOCKED_GPU)
		ns = take_device(r, s, from, until);
	/* libraries of MPI poll: what is no CPU time was spent without a CPU */
	if (r->sample_count && kind == BLOCKED_MPI)
		ns = cpu_ns(r, from, until);
	tally(r, s, (struct span_tally){.image = r->image, .function = c->function, .stack = c->stack}, ns);
	if (r->sample_count && kind == BLOCKED_MPI)
		tally(r, s, (struct span_tally){.image = r->image, .function = IDLE}, (double)(until - from) - ns);
}

/* Samples between two times, together at most so long. Returns their CPU time. */
static double take_samples(struct lane_reading *r, const struct rank_span *s, const struct lane_sample *samples,
			   size_t count, uint64_t from, uint64_t until, double most, uint32_t function)
{
	double sum = 0;

	for (size_t i = first_place(k, 0, count, samples[k].ns < from);
	     i < count && samples[i].ns < until && sum < most; i++) {
		double ns = (double)samples[i].cpu_ns < most - sum ? (double)samples[i].cpu_ns : most - sum;

		tally(r, s, (struct span_tally){.image = samples[i].image, .function = function,
						.stack = samples[i].stack}, ns)->samples += s->weight > 0;
		sum += ns;
	}
	return sum;
}

/* What the main thread does outside of recorded calls. Returns the time that nothing explains. */
static double take_between(struct lane_reading *r, const struct rank_span *s, uint64_t from, uint64_t until)
{
	double rest = (double)(until - from);

	rest -= take_samples(r, s, r->samples, r->sample_count, from, until, INFINITY, COMPUTING);
	return rest - take_samples(r, s, r->workers, r->worker_count, from, until, rest, WORKERS);
}

/* What the main thread does between two times, all of them in the same region of OpenMP, or in none (NULL). While it
 * waits for its team, samples tell what that does. */
static void take_calls(struct lane_reading *r, const struct rank_span *s, uint64_t at, uint64_t end,
		       const struct rank_team *team)
{
	double rest = 0; /* outside of recorded calls and not covered by samples */

	for (size_t i = first_place(k, 0, r->call_count, r->calls[k].end_ns <= at); at < end; i++) {
		const struct lane_call *c =
			i < r->call_count && r->calls[i].start_ns < end ? &r->calls[i] : NULL;
		uint64_t until = c ? c->start_ns : end;

		if (until > at) {
			rest += take_between(r, s, at, until);
			at = until;
		}
		if (!c)
			break;
		until = c->end_ns < end ? c->end_ns : end;
		if (team && trace_function(r->image->trace, c->function)->kind.parallel & PARALLEL_TEAM_WAITS)
			tally(r, s,
			      (struct span_tally){.image = r->image, .function = c->function, .stack = c->stack},
			      take_between(r, s, at, until));
		else
			take_called(r, s, c, at, until);
		at = until;
	}
	tally(r, s, (struct span_tally){.image = r->image, .function = IDLE}, rest);
}

static void take_team(struct lane_reading *r, const struct rank_span *s, const struct rank_team *team, uint64_t from,
		      uint64_t until)
{
	for (int i = 0; i < RANK_LOST; i++)
		if (team->lost[i].part > 0)
			tally(r, s,
			      (struct span_tally){.image = r->image, .function = team->lost[i].function,
						  .stack = team->lost[i].stack},
			      (double)(until - from) * team->lost[i].part);
	r->part = 1 - rank_team_lost(team);
	take_calls(r, s, from, until, team);
	r->part = 1;
}

static void take_span(struct lane_reading *r, const struct rank_span *s)
{
	uint64_t at = s->from_ns > r->begin_ns ? s->from_ns : r->begin_ns, until;
	uint64_t end = s->called_ns < s->to_ns ? s->called_ns : s->to_ns;

	for (; at < end; at = until) {
		const struct rank_team *team = rank_team_at(&r->teams, at);
		bool is_inside = team && team->from_ns <= at;

		until = !team ? end : is_inside ? team->to_ns : team->from_ns;
		until = until < end ? until : end;
		if (is_inside)
			take_team(r, s, team, at, until);
		else
			take_calls(r, s, at, until, NULL);
	}
	if (s->to_ns > at && s->called_ns < s->to_ns)
		tally(r, s, (struct span_tally){.image = r->image, .function = IDLE},
		      take_device(r, s, at, s->to_ns));
}

/* ---- to parts and lines ---- */

/* The name of a kernel or a copy; 0: it is none. */
static uint32_t operation_text(struct delays *d, const struct span_tally *t)
{
	struct tf_device_operation operation;
	SCOPED(buffer) name = {0};
	uint32_t number = 0;

	if (t->function != ON_DEVICE)
		return 0;
	if (device_operation(t->image->trace, t->operation, &operation))
		device_operation_name(d->context, t->image->trace, &operation, &name);
	number = interner_text_number(&d->texts, name.size ? name.data : "(a device's operation)");
	return number;
}

/* Of a call of the function, NULL: of none. */
static enum rank_cause_kind kind_of(struct delays *d, const struct span_tally *t, const struct function *f)
{
	if (!f)
		return t->function == IDLE	   ? RANK_WANTS_CPU
		       : t->function == WORKERS	   ? RANK_OPENMP
		       : t->function == ON_DEVICE ? RANK_DEVICE
						  : delays_sample_kind(d, t->image, t->stack);
	if (delays_is_gil(d, t->image, f, t->stack))
		return RANK_GIL;
	if (f->kind.parallel & (PARALLEL_TEAM_WAITS | PARALLEL_REGION))
		return RANK_OPENMP;
	/* what all ranks wait in lasts as long as their messages */
	return f->kind.waits == BLOCKED_MPI || delays_has_group(d, interner_text_number(&d->texts, f->name),
								      delays_line(d, t->image, t->stack))
		       ? RANK_MESSAGES
		       : RANK_CALLS;
}

static void add_part(struct lane_reading *r, const struct span_tally *t)
{
	struct delays *d = r->delays;
	const struct function *f = t->function >= ON_DEVICE ? NULL : trace_function(t->image->trace, t->function);
	enum rank_cause_kind kind = kind_of(d, t, f);
	uint32_t name = kind == RANK_GIL ? 0 : f ? interner_text_number(&d->texts, f->name) : operation_text(d, t);
	const struct code_line *line = delays_line(d, t->image, t->stack);
	size_t place = map_place(&d->part_of, (uint64_t)t->group << 32 | name,
				 (uint64_t)kind << 32 | code_line_number(line), d->parts, d->part_count,
				 d->part_capacity,
				 (struct rank_part){.group = t->group, .name = name, .line = line, .kind = kind,
						    .waits = f ? f->kind.waits : BLOCKED_KINDS});
	size_t of_lane = map_place(&d->lane_part_of, place, r->lane, d->of_lanes, d->of_lane_count, d->of_lane_capacity,
				   (struct rank_part_of_lane){(uint32_t)place, r->lane, 0, 0});
	struct rank_part *p = &d->parts[place];

	p->more += t->more;
	p->less += t->less;
	p->path_ns += t->path_ns;
	p->samples += t->samples;
	d->of_lanes[of_lane].path_ns += t->path_ns;
	d->of_lanes[of_lane].own_ns += t->own_ns;
}

/* Each line that is in the stack. */
static void add_lines(struct delays *d, const struct span_tally *t)
{
	const struct symbol_frame *frames;
	const struct code_line *lines[USER_FRAMES];
	size_t count = attribution_users(&d->attribution, t->image, t->stack, &frames), known = 0;

	for (size_t i = 0; i < count && known < USER_FRAMES; i++) {
		struct symbol_frame f = frames[i];
		size_t place;
		size_t k = 0;

		symbols_name(d->context->symbols, &f);
		while (k < known && lines[k] != f.line)
			k++;
		if (k < known)
			continue;
		lines[known++] = f.line;
		place = map_place(&d->line_of, t->group, f.line->number, d->lines, d->line_count, d->line_capacity,
				  (struct rank_line){t->group, f.line, 0, 0});
		d->lines[place].more += t->more;
		d->lines[place].less += t->less;
	}
}

/* ---- the whole ---- */

static void account_lane(struct delays *d, uint32_t lane, const struct rank_span *spans, size_t count)
{
	struct lane_reading r = {.delays = d, .lane = lane, .image = d->lanes[lane].image,
				 .teams = {.context = d->context}, .part = 1};

	r.begin_ns = time_of(&r, r.image->start_ticks);
	read_lane(&r);
	for (size_t i = 0; i < count; i++)
		take_span(&r, &spans[i]);
	for (size_t i = 0; i < r.tally_count; i++) {
		add_part(&r, &r.tallies[i]);
		add_lines(d, &r.tallies[i]);
	}
	free(r.calls);
	free(r.samples);
	free(r.workers);
	rank_teams_done(&r.teams);
	free(r.operations);
	free(r.tallies);
	map_done(&r.tally_of);
}

COMPARATOR(compare_spans, struct rank_span,
	   order_of(a->lane, b->lane) ?: order_of(a->from_ns, b->from_ns) ?: order_of(a->to_ns, b->to_ns)
	   ?: order_of(a->group, b->group))

void delays_account(struct delays *d)
{
	array_sort(d->spans, d->span_count, compare_spans);
	for (size_t i = 0, next; i < d->span_count; i = next) {
		for (next = i; next < d->span_count && d->spans[next].lane == d->spans[i].lane; next++)
			;
		account_lane(d, d->spans[i].lane, &d->spans[i], next - i);
	}
}
