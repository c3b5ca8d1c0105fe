/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_idle, input_bound, launch_bound: what devices waited for. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/base/table/aggregate.h"
#include "report/events/nvtx/nvtx.h"
#include "report/events/reading.h"
#include "report/events/stacks/samples.h"

/* Shares of the time above which a finding is reported. */
enum { IDLE_PERCENT = 10, INPUT_PERCENT = 10, LAUNCH_PERCENT = 10, STEPS = 5, KERNELS = 20 };

static void device_cells(const struct rules *r, struct finding *f, size_t process, uint32_t device)
{
	const struct model *m = r->context->model;
	const struct process *p = &m->processes[process];
	SCOPED(buffer) name = {0};

	for (size_t i = 0; i < p->image_count && !name.size; i++) {
		const struct trace *t = m->images[p->first_image + i].trace;

		if (t && trace_definition(t, TF_BLOB_DEVICE_NAME, device))
			device_name(t, device, &name);
	}
	if (!name.size)
		buffer_print(&name, "GPU (%u)", device);
	table_cells(&f->table, p->pid, name.data);
}

static uint64_t span_ns(const struct gap_device *d)
{
	return d->last > d->first ? d->last - d->first : 0;
}

/* Time that a device lost between its first and last operation, for the selected causes. */
static uint64_t lost_ns(const struct rules *r, const struct gap_device *d,
			bool (*is_kind)(const struct rules *, const struct gap_sum *))
{
	const struct gaps *g = r->gaps;
	size_t i, end = gaps_of(g, d, &i);
	uint64_t lost = 0;

	for (; i < end; i++)
		if (is_kind(r, &g->sums[i]))
			lost += g->sums[i].between_ns;
	return lost;
}

static const struct code_line *gap_line_of_sum(struct rules *r, const struct gap_sum *s)
{
	return s->image ? rule_line(r, s->image, s->stack) : NULL;
}

/* ---- gpu_idle ---- */

static bool is_idle(const struct model *m, const struct gaps *g, const struct gap_device *d)
{
	size_t i, end = gaps_of(g, d, &i);
	uint64_t idle = 0;

	for (; i < end; i++)
		if (g->sums[i].cause > GAP_NOT_RECORDED)
			idle += g->sums[i].total_ns;
	return idle > recorded_wall(m, &m->processes[d->process]) / 100 * IDLE_PERCENT;
}

/* *ret_largest: of the sums with other causes than input and launches, which have rules of their own. */
static void idle_row(struct rules *r, struct finding *f, const struct gap_device *d, const struct gap_sum *s,
		     struct buffer *text, const struct gap_sum **ret_largest)
{
	rule_row(f);
	device_cells(r, f, s->process, s->device);
	buffer_clear(text);
	gap_words(s, text);
	table_cells(&f->table, text->data, 100 * (double)s->total_ns / (double)(d->wall_ns - d->busy_ns), s->total_ns,
		    s->count, s->longest_ns, model_since_origin(r->context->model, s->longest_start));
	rule_line_cell(f, gap_line_of_sum(r, s));
	if (s->cause > GAP_LAUNCH && s->cause != GAP_OS &&
	    (!*ret_largest || s->between_ns > (*ret_largest)->between_ns))
		*ret_largest = s;
}

/* What is known of the lines to which the gaps of a sum belong. */
struct idle_lines {
	struct rules *rules;
	size_t sum;
	struct aggregate rows; /* of lines; NULL: not known */
};

static void idle_add(struct idle_lines *l, const struct image *image, uint32_t stack, uint64_t count, uint64_t ns)
{
	const struct code_line *line = rule_line(l->rules, image, stack);
	uint32_t row = aggregate_row(&l->rows, (const char *)&line, sizeof(line));

	l->rows.rows[row].of = line;
	aggregate_add_total(&l->rows, row, count, ns);
}

static void idle_visit_sample(struct scan *s, const struct event *e)
{
	struct idle_lines *l = s->more;
	const struct gaps *g = rules_gaps(l->rules);
	uint64_t now = clock_map_ns(s->clock, e->ticks);
	size_t i;

	if (e->kind != TF_SAMPLE)
		return;
	i = first_place(k, 0, g->host_count,
			(uintptr_t)g->hosts[k].thread < (uintptr_t)s->thread ||
				(g->hosts[k].thread == s->thread && g->hosts[k].end < now));
	/* Gaps of several devices may overlap. */
	for (; i < g->host_count && g->hosts[i].thread == s->thread && g->hosts[i].start <= now; i++) {
		if (g->hosts[i].sum != l->sum || g->hosts[i].end < now)
			continue;
		idle_add(l, s->image, event_stack(e), 1, samples_ns(e));
		return;
	}
}

/* Where a thread computed, its samples in these gaps tell the lines. Otherwise a gap belongs to its call, or to the
 * call that ended it. */
static void idle_find_lines(struct idle_lines *l, const struct gap_sum *s)
{
	const struct report_context *c = l->rules->context;
	size_t i, end;

	l->sum = (size_t)(s - rules_gaps(l->rules)->sums);
	if (s->cause == GAP_HOST && samples_any(c->model))
		scan_events(&(struct scan){.context = c, .kinds = 1u << TF_SAMPLE, .more = l}, idle_visit_sample);
	if (l->rows.count)
		return;
	for (end = gap_stacks_of(rules_gaps(l->rules), s, &i); i < end; i++) {
		const struct gap_stack *stack = &rules_gaps(l->rules)->stacks[i];

		idle_add(l, stack->image, stack->stack, stack->count, stack->ns);
	}
}

/* The cost is that of the line to which most of the time belongs, if this is at least half of it; otherwise it is that
 * of all gaps, and the text has the part of the line. */
static void idle_cost(struct rules *r, struct finding *f, const struct gap_sum *s)
{
	struct idle_lines lines = {.rules = r};
	const struct aggregate_row *best = NULL;
	uint64_t gaps = 0;
	size_t at, end = gap_stacks_of(rules_gaps(r), s, &at);

	for (; at < end; at++)
		gaps += rules_gaps(r)->stacks[at].count;
	idle_find_lines(&lines, s);
	for (size_t i = 0; i < lines.rows.count; i++)
		if (lines.rows.rows[i].of && (!best || lines.rows.rows[i].total > best->total))
			best = &lines.rows.rows[i];
	f->cost_ns = s->between_ns;
	if (best && best->total * 2 >= s->between_ns) {
		f->cost_ns = best->total < s->between_ns ? best->total : s->between_ns;
		f->line = best->of;
	}
	f->is_of_lines = !f->line;
	rule_time(&f->text, f->cost_ns);
	buffer_text(&f->text, " of device time lost to ");
	gap_words(s, &f->text);
	if (f->cost_ns == s->between_ns)
		buffer_print(&f->text, ", in %llu gap%s", (unsigned long long)gaps, gaps == 1 ? "" : "s");
	if (best && !f->line) {
		buffer_text(&f->text, ", of which ");
		rule_time(&f->text, best->total);
		buffer_text(&f->text, " at ");
		code_line_short(best->of, &f->text);
	}
	aggregate_done(&lines.rows);
}

/* What is not between two operations costs nothing that is known. */
static void idle_words(const struct gaps *g, struct buffer *ret)
{
	const struct gap_sum *most = NULL;

	for (size_t i = 0; i < g->sum_count; i++)
		if (!most || g->sums[i].total_ns > most->total_ns)
			most = &g->sums[i];
	buffer_print(ret, "devices were idle for more than %d %% of their processes' time", IDLE_PERCENT);
	if (most) {
		buffer_text(ret, " (");
		gap_words(most, ret);
		buffer_text(ret, " ");
		rule_time(ret, most->total_ns);
		buffer_text(ret, ")");
	}
}

void rule_gpu_idle(struct rules *r, struct finding *f)
{
	const struct gap_sum *largest = NULL;
	const struct gaps *g;
	SCOPED(buffer) text = {0};

	rule_has(f, COL_PID, COL_DEVICE, COL_CAUSE, COL_TIME_PERCENT, COL_IDLE_TIME_NS, COL_GAPS, COL_LONGEST_NS,
		 COL_LONGEST_START_NS, COL_LINE);
	if (!rule_has_work(r, f))
		return;
	g = rules_gaps(r);
	array_each(const struct gap_device, d, g->devices, g->device_count) {
		size_t i, end = gaps_of(g, d, &i);

		if (!is_idle(r->context->model, g, d))
			continue;
		for (; i < end; i++)
			idle_row(r, f, d, &g->sums[i], &text, &largest);
	}
	if (largest && largest->between_ns)
		idle_cost(r, f, largest);
	if (f->verdict == VERDICT_FOUND && !f->text.size)
		idle_words(g, &f->text);
	rule_missed_devices(r, f);
}

/* ---- input_bound ---- */

/* A wait for another thread is one for input if that thread was reading, in the longest of these gaps. */
static bool is_input_wait(const struct rules *r, const struct gap_sum *s)
{
	if (s->cause != GAP_OS || !s->function)
		return false;
	return s->function->kind.does & FUNCTION_INPUT ||
	       (s->function->kind.does & FUNCTION_AWAITS &&
		reading_by_another(r->context->model, s->process, s->longest_start, s->longest_start + s->longest_ns));
}

/* The range that represents one step of the program: of the frequent ranges the one with the longest total time. */
struct step {
	const struct image *image;
	struct map places; /* text -> position */
	struct step_sum {
		uint32_t domain, text;
		uint64_t count, ticks;
	} *sums;
	size_t count, capacity;
};

static void add_step(void *context, const struct nvtx_range *range)
{
	struct step *s = context;
	size_t place;

	if (!range->is_pushpop || range->is_unfinished)
		return;
	place = map_place(&s->places, range->text, range->domain, s->sums, s->count, s->capacity,
			  (struct step_sum){.domain = range->domain, .text = range->text});
	s->sums[place].count++;
	s->sums[place].ticks += range->end - range->start;
}

/* Appends its name. Returns how many there were; 0: there is no such range. */
static uint64_t find_step(const struct rules *r, size_t process, struct buffer *ret)
{
	const struct process *p = &r->context->model->processes[process];
	uint64_t count = 0;

	for (size_t i = 0; i < p->image_count && !count; i++) {
		struct step s = {.image = &r->context->model->images[p->first_image + i]};
		const struct step_sum *best = NULL;

		nvtx_ranges(s.image, NULL, &s, add_step);
		for (size_t k = 0; k < s.count; k++)
			if (s.sums[k].count >= STEPS && (!best || s.sums[k].ticks > best->ticks))
				best = &s.sums[k];
		if (best) {
			nvtx_name(s.image->trace, best->domain, best->text, ret);
			count = best->count;
		}
		map_done(&s.places);
		free(s.sums);
	}
	return count;
}

static void input_rows(struct rules *r, struct finding *f, const struct gap_device *d, uint64_t waited)
{
	const struct gaps *g = rules_gaps(r);
	SCOPED(buffer) step = {0};
	uint64_t steps = find_step(r, d->process, &step);
	size_t i, end = gaps_of(g, d, &i);

	for (; i < end; i++) {
		const struct gap_sum *s = &g->sums[i];
		const struct code_line *line;

		if (!s->between_ns || !is_input_wait(r, s))
			continue;
		rule_row(f);
		device_cells(r, f, d->process, d->device);
		if (steps) {
			table_cells(&f->table, step.data, steps, (double)s->between_ns / (double)steps);
		} else {
			table_nothings(&f->table, 3);
		}
		table_cells(&f->table, s->between_ns, 100 * (double)s->between_ns / (double)span_ns(d),
			    s->function ? s->function->name : NULL);
		line = gap_line_of_sum(r, s);
		rule_line_cell(f, line);
		f->line = f->line ? f->line : line;
	}
	if (waited > f->cost_ns) {
		f->cost_ns = waited;
		buffer_set(&f->edit, "gap~input=0");
		buffer_set(&f->text, "the device waits for input, ");
		rule_time(&f->text, waited);
		buffer_print(&f->text, ", %.1f %% of its time", 100 * (double)waited / (double)span_ns(d));
		if (steps)
			buffer_print(&f->text, ", over %llu steps", (unsigned long long)steps);
	}
}

void rule_input_bound(struct rules *r, struct finding *f)
{
	const struct gaps *g;

	rule_has(f, COL_PID, COL_DEVICE, COL_STEP, COL_STEPS, COL_WAIT_BY_STEP_NS, COL_WAIT_NS, COL_SHARE_PERCENT,
		 COL_FUNCTION, COL_LINE);
	if (!rule_has_work(r, f))
		return;
	g = rules_gaps(r);
	for (size_t k = 0; k < g->device_count; k++) {
		uint64_t waited = lost_ns(r, &g->devices[k], is_input_wait);

		if (waited && waited * 100 >= span_ns(&g->devices[k]) * INPUT_PERCENT)
			input_rows(r, f, &g->devices[k], waited);
	}
	rule_missed_devices(r, f);
}

/* ---- launch_bound ---- */

/* By kernel of one device: the time of kernels shorter than their launch, and the time of their calls. */
struct launches {
	struct aggregate kernels, calls;
	const struct gap_short *longest; /* the gap_short with the longest single call */
};

static bool is_launch(const struct rules *r, const struct gap_sum *s)
{
	(void)r;
	return s->cause == GAP_LAUNCH;
}

static void add_launches(const struct report_context *c, struct launches *l, const struct gap_short *kind)
{
	SCOPED(buffer) name = {0};
	struct tf_device_operation operation;
	uint32_t row;

	if (!device_operation(kind->image->trace, kind->operation, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	device_operation_name(c, kind->image->trace, &operation, &name);
	buffer_add(&name, "", 1);
	row = aggregate_row(&l->kernels, name.data, name.size);
	aggregate_row(&l->calls, name.data, name.size);
	aggregate_add_total(&l->kernels, row, kind->count, kind->kernels_ns);
	aggregate_add_total(&l->calls, row, kind->count, kind->calls_ns);
	if (kind->stack && (!l->longest || kind->longest_ns > l->longest->longest_ns))
		l->longest = kind;
}

static void gather_launches(const struct report_context *c, const struct gaps *g, const struct gap_device *d,
			    struct launches *l)
{
	size_t first = first_place(i, 0, g->short_count, g->shorts[i].process < d->process);

	for (size_t i = first; i < g->short_count && g->shorts[i].process == d->process; i++)
		if (g->shorts[i].device == d->device)
			add_launches(c, l, &g->shorts[i]);
}

static void launch_rows(struct rules *r, struct finding *f, const struct gap_device *d, uint64_t lost)
{
	struct launches l = {0};
	const struct code_line *line;

	gather_launches(r->context, rules_gaps(r), d, &l);
	line = l.longest ? rule_line(r, l.longest->image, l.longest->stack) : NULL;
	for (size_t i = 0; i < l.kernels.count && i < KERNELS; i++) {
		const struct aggregate_row *kernels = &l.kernels.rows[i], *calls = &l.calls.rows[i];

		rule_row(f);
		device_cells(r, f, d->process, d->device);
		table_cells(&f->table, kernels->count, (double)kernels->total / (double)kernels->count,
			    (double)calls->total / (double)calls->count, lost, 100 * (double)lost / (double)span_ns(d),
			    aggregate_field(kernels, 0));
		rule_line_cell(f, line);
	}
	if (lost > f->cost_ns) {
		f->cost_ns = lost;
		buffer_set(&f->text, "%llu of %llu kernels are shorter than their launch, and the device lost ",
			   (unsigned long long)d->shorter, (unsigned long long)d->launches);
		rule_time(&f->text, lost);
		buffer_text(&f->text, " waiting for launches");
		f->line = line;
	}
	aggregate_done(&l.kernels);
	aggregate_done(&l.calls);
}

void rule_launch_bound(struct rules *r, struct finding *f)
{
	const struct gaps *g;

	rule_has(f, COL_PID, COL_DEVICE, COL_SHORT_KERNELS, COL_KERNEL_AVG_NS, COL_LAUNCH_AVG_NS, COL_LOST_NS,
		 COL_SHARE_PERCENT, COL_NAME, COL_LINE);
	if (!rule_has_work(r, f))
		return;
	g = rules_gaps(r);
	array_each(const struct gap_device, d, g->devices, g->device_count) {
		uint64_t lost = lost_ns(r, d, is_launch);

		if (lost && lost * 100 >= span_ns(d) * LAUNCH_PERCENT && d->shorter && d->shorter * 2 >= d->launches)
			launch_rows(r, f, d, lost);
	}
	rule_missed_devices(r, f);
}
