/* SPDX-License-Identifier: Apache-2.0 */
/* From what ranks did to the one cause of the waits of a call. */
#include "report/causes/ranks/rank_cause.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/ranks/rank_build.h"

const char *const rank_cause_kinds[RANK_CAUSE_KINDS] = {
	[RANK_CANNOT_TELL] = "cannot tell", [RANK_CALLS] = "call",	     [RANK_COMPUTES] = "computes",
	[RANK_WANTS_CPU] = "waits for a CPU", [RANK_MESSAGES] = "messages", [RANK_DEVICE] = "device",
	[RANK_GIL] = "waits for the GIL", [RANK_GC] = "collects garbage",
	[RANK_OPENMP] = "waits for OpenMP threads",
};

void delays_done(struct delays *d)
{
	struct map *maps[] = {&d->lane_of, &d->group_of, &d->part_of, &d->lane_part_of, &d->line_of, &d->windows,
			      &d->stacks, &d->kinds, &d->workers};

	array_free(one, d->lanes, d->lane_count, free(one->waits));
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		map_done(maps[i]);
	attribution_done(&d->attribution);
	usages_free(d->usages);
	free(d->waits);
	free(d->groups);
	free(d->spans);
	free(d->parts);
	free(d->of_lanes);
	free(d->lines);
}

/* Fewer samples may be chance. Where lines take longer by more than MOST_SLOWED, samples say little about them. */
enum { SAMPLES_LEAST = 5, MOST_SLOWED = 10 };

/* A rank that waited a smaller part of the longest wait is none that waits. */
enum { WAITED_PERCENT = 10 };

/* ---- the cause of one group ---- */

/* Parts that together may be the cause: of one name and line, of one line, of one name in one function, of one reason
 * for which all lines are delayed. */
enum cause_level { BY_PART, BY_LINE_ALONE, BY_FUNCTION, BY_REASON, LEVELS };

static const char *text_of(const struct delays *d, uint32_t number)
{
	return d->texts.items[number].text;
}

static double excess(const struct rank_part *p)
{
	return p->more - p->less;
}

/* A part with a name was recorded. */
static bool is_sampled(const struct rank_part *p)
{
	return rank_cause_is_sampled(p->kind) && !p->name;
}

/* Whether it is the line that does it, rather than what others do to it. */
static bool is_of_line(const struct rank_part *p)
{
	return p->kind == RANK_CALLS || p->kind == RANK_COMPUTES || p->kind == RANK_DEVICE;
}

static bool is_alike(const struct rank_part *a, const struct rank_part *b, enum cause_level level)
{
	if (a->group != b->group || (level == BY_PART && a != b))
		return false;
	if (a == b)
		return true;
	if (level == BY_REASON)
		return a->kind == b->kind && (a->kind == RANK_GIL || a->kind == RANK_GC || a->kind == RANK_OPENMP);
	if (!a->line || !b->line || (a->kind != b->kind && (!is_of_line(a) || !is_of_line(b))))
		return false;
	return level == BY_LINE_ALONE ? a->line == b->line
				      : a->name == b->name && !strcmp(a->line->function, b->line->function);
}

/* The parts that explain most. */
static void choose(struct cause_choice *c, enum cause_level level)
{
	const struct delays *d = c->delays;
	size_t first = SIZE_MAX;

	c->ns = 0;
	for (size_t i = 0; i < d->part_count; i++) {
		double sum;

		if (d->parts[i].group != c->group || excess(&d->parts[i]) <= 0)
			continue;
		sum = array_sum(part, d->parts, d->part_count,
				is_alike(&d->parts[i], part, level) ? excess(part) : 0);
		if (sum > c->ns) {
			c->ns = sum;
			first = i;
		}
	}
	c->best = first;
	for (size_t i = 0; i < d->part_count; i++) {
		c->chosen[i] = first != SIZE_MAX && is_alike(&d->parts[first], &d->parts[i], level);
		if (c->chosen[i] && excess(&d->parts[i]) > excess(&d->parts[c->best]))
			c->best = i;
	}
}

/* The innermost line, at any depth of stacks, that explains so much, and which the other ranks run for less than that
 * part of its time: what is called there is the cause. NULL: there is none. */
static const struct rank_line *find_caller(const struct cause_choice *c, double wanted, double slowed, double part)
{
	const struct delays *d = c->delays;
	const struct rank_line *found = NULL;

	array_each(const struct rank_line, l, d->lines, d->line_count) {
		if (l->group == c->group && (l->more - l->less) * slowed >= wanted && l->less < l->more * part &&
		    (!found || l->more < found->more * 0.98))
			found = l;
	}
	return found;
}

/* A line that the other ranks run as well says little: then it is that of the innermost caller that they run much less,
 * if there is one. */
static const struct code_line *specific_line(const struct cause_choice *c)
{
	const struct delays *d = c->delays;
	const struct rank_part *best = &d->parts[c->best];
	const struct rank_line *found;
	double more = 0, less = 0;

	for (size_t i = 0; i < d->part_count; i++)
		if (c->chosen[i]) {
			more += d->parts[i].more;
			less += d->parts[i].less;
		}
	if (less * 50 < more)
		return best->line;
	found = find_caller(c, c->ns * RANK_CAUSE_PERCENT / 100, best->name ? 1 : d->groups[c->group].slowed,
			    less / more / 4);
	return found ? found->line : best->line;
}

/* Several parts that one line calls: of a routine that only the late ranks call. Returns the line of the part that is
 * half of it, or else that one; NULL: there is none. */
static const struct code_line *choose_caller(struct cause_choice *c, double wanted)
{
	const struct delays *d = c->delays;
	const struct rank_line *found = find_caller(c, wanted, 1, 0.25);

	if (!found)
		return NULL;
	c->ns = found->more - found->less;
	for (size_t i = 0; i < d->part_count; i++)
		c->chosen[i] = d->parts[i].group == c->group && d->parts[i].line && excess(&d->parts[i]) > 0;
	return excess(&d->parts[c->best]) * 2 > c->ns ? d->parts[c->best].line : found->line;
}

/* To tell at least which ranks are late. */
static void choose_all(struct cause_choice *c)
{
	for (size_t i = 0; i < c->delays->part_count; i++)
		c->chosen[i] = c->delays->parts[i].group == c->group && excess(&c->delays->parts[i]) > 0;
}

/* ---- the whole ---- */

/* A line takes longer than its samples say where ranks wait for CPUs: so much longer as in the ranks that are not late,
 * or in a typical rank, at least up to twice as long, and at most MOST_SLOWED times. What late ranks waited more than
 * that remains idle time. */
static void settle_idle(struct delays *d, uint32_t group)
{
	double more = 0, less = 0, factor;
	struct rank_part *idle = NULL;

	array_each(struct rank_part, p, d->parts, d->part_count) {
		if (p->group != group)
			continue;
		if (p->kind == RANK_WANTS_CPU)
			idle = p;
		more += is_sampled(p) ? p->more : 0;
		less += is_sampled(p) ? p->less : 0;
	}
	d->groups[group].slowed = 1;
	if (!idle || !more || idle->more <= 0)
		return;
	factor = less && idle->less > less ? idle->less / less : 1;
	factor = d->delay_ratio > factor ? d->delay_ratio : factor;
	factor = factor < MOST_SLOWED - 1 ? factor : MOST_SLOWED - 1;
	factor = idle->more / more < factor ? idle->more / more : factor;
	idle->more -= more * factor;
	idle->less -= less * factor;
	d->groups[group].slowed += factor;
	for (size_t i = 0; i < d->part_count; i++)
		if (d->parts[i].group == group && is_sampled(&d->parts[i])) {
			d->parts[i].more *= 1 + factor;
			d->parts[i].less *= 1 + factor;
		}
}

static int compare_parts(size_t left, size_t right, const void *context)
{
	const struct delays *d = context;
	double a = excess(&d->parts[left]), b = excess(&d->parts[right]);

	return (a < b) - (a > b);
}

static const char *words_of(const struct delays *d, const struct rank_part *p)
{
	switch (p->kind) {
	case RANK_WANTS_CPU:
		return "without a CPU or in what is not recorded";
	case RANK_GIL:
		return "waiting for the GIL";
	case RANK_GC:
		return "collecting garbage";
	case RANK_OPENMP:
		return "waiting for OpenMP threads";
	default:
		return p->name ? text_of(d, p->name) : "computing";
	}
}

/* "41 % fsync at job.c:5 save, 30 % computing at job.c:9 step, 12 % without a CPU or in what is not recorded". */
static void name_parts(const struct delays *d, uint32_t group, struct rank_cause *ret)
{
	SCOPED_MEMORY size_t *order = places_in_order(d->part_count, compare_parts, d);
	SCOPED(buffer) text = {0};
	int named = 0;

	for (size_t i = 0; i < d->part_count && named < 3; i++) {
		const struct rank_part *p = &d->parts[order[i]];
		double percent = 100 * excess(p) / (double)ret->wait_ns;

		if (p->group != group || percent < 5)
			continue;
		if (p->kind == RANK_WANTS_CPU && d->has_samples)
			ret->idle_ns = (uint64_t)excess(p);
		buffer_print(&text, "%s%.0f %% %s", named++ ? ", " : "", percent < 100 ? percent : 100,
			     words_of(d, p));
		if (p->line) {
			buffer_text(&text, " at ");
			code_line_short(p->line, &text);
		}
	}
	ret->parts = mem_copy_text(buffer_string(&text), text.size);
}

/* Whether the best part is a cause. A thread that waits for one that has sockets does not tell what that one does. */
static bool tells(const struct cause_choice *c)
{
	const struct delays *d = c->delays;
	const struct rank_part *p = &d->parts[c->best];
	uint64_t samples = 0;

	for (size_t i = 0; i < d->part_count; i++)
		samples += c->chosen[i] ? d->parts[i].samples : 0;
	if (is_sampled(p) && (double)samples < SAMPLES_LEAST * d->groups[c->group].slowed)
		return false;
	return p->kind == RANK_WANTS_CPU ? d->has_samples : p->kind != RANK_MESSAGES || p->waits != BLOCKED_THREAD;
}

/* Of the ranks, those that waited at least WAITED_PERCENT of the time that the longest waiting one did. In a collective
 * one rank is always the last. */
static size_t waiting_ranks(const struct delays *d, uint32_t group)
{
	uint64_t *ns = mem_alloc((d->lane_count + 1) * sizeof(*ns)), longest = 0;
	size_t count = 0, most = d->counts.ranks - d->groups[group].is_collective;

	for (size_t i = 0; i < d->wait_count; i++)
		if (d->waits[i].group == group)
			ns[d->waits[i].waiting] += d->waits[i].late_ns - d->waits[i].start_ns;
	for (size_t i = 0; i < d->lane_count; i++)
		longest = ns[i] > longest ? ns[i] : longest;
	count += array_sum(item, ns, d->lane_count, *item && *item >= longest / 100 * WAITED_PERCENT);
	free(ns);
	count = count < most ? count : most;
	return count ? count : 1;
}

static void judge(struct delays *d, uint32_t group, struct rank_cause *ret)
{
	const struct wait_group *g = &d->groups[group];
	struct cause_choice c = {.delays = d, .group = group, .chosen = mem_alloc(d->part_count + 1)};
	struct rank_set set = {.delays = d};
	double wanted = (double)g->wait_ns * RANK_CAUSE_PERCENT / 100;
	const struct code_line *line = NULL;

	*ret = (struct rank_cause){.wait_name = text_of(d, g->name), .wait_line = g->line, .name = "",
				   .wait_ns = g->wait_ns, .count = g->count,
				   .waiting = waiting_ranks(d, group), .is_collective = g->is_collective};
	settle_idle(d, group);
	for (enum cause_level level = 0; level < LEVELS && c.ns < wanted; level++)
		choose(&c, level);
	if (c.best != SIZE_MAX)
		line = c.ns < wanted ? choose_caller(&c, wanted) : specific_line(&c);
	if (c.best == SIZE_MAX || c.ns < wanted) {
		choose_all(&c);
	} else {
		const struct rank_part *best = &d->parts[c.best];

		ret->kind = tells(&c) ? best->kind : RANK_CANNOT_TELL;
		ret->waits = best->waits;
	}
	rank_set_find(&c, &set);
	/* a rank that took somewhat longer for what all do was disturbed */
	if (set.is_alike || (ret->kind == RANK_WANTS_CPU && !rank_usage_waited(&set, &d->parts[c.best])))
		ret->kind = RANK_CANNOT_TELL;
	rank_set_name(&set, ret);
	if (ret->kind == RANK_CANNOT_TELL) {
		name_parts(d, group, ret);
	} else {
		ret->name = text_of(d, d->parts[c.best].name);
		ret->line = line;
		ret->faults = ret->kind == RANK_COMPUTES ? rank_usage_faults(&set, &c) : 0;
		ret->cause_ns = c.ns < (double)g->wait_ns ? (uint64_t)c.ns : g->wait_ns;
	}
	free(set.lanes);
	free(c.chosen);
}

PLACE_COMPARATOR(compare_groups, struct wait_group, order_of(b->wait_ns, a->wait_ns))

static uint64_t span_of(const struct delays *d)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < d->wait_count; i++) {
		first = d->waits[i].start_ns < first ? d->waits[i].start_ns : first;
		last = d->waits[i].end_ns > last ? d->waits[i].end_ns : last;
	}
	return last > first ? last - first : 0;
}

/* Of ranks that neither call MPI nor NCCL the graph tells for whom they wait. */
static void find_in_graph(struct delays *d, struct causality *causes)
{
	struct causality *own = causes ? NULL : causes_find(d->context);

	delays_of_graph(d, causes ? causes : own);
	causes_free(own);
}

void rank_causes_find(const struct report_context *c, struct causality *causes, struct rank_causes *ret)
{
	SCOPED(delays) d = {.context = c, .attribution = {.symbols = c->symbols}};
	SCOPED_MEMORY size_t *order = NULL;

	*ret = (struct rank_causes){0};
	interner_text_number(&d.texts, "");
	delays_of_mpi(&d);
	delays_of_nccl(&d);
	if (!d.counts.ranks)
		find_in_graph(&d, causes);
	delays_follow(&d);
	delays_account(&d);
	rank_usage_find(&d);
	order = places_in_order(d.group_count, compare_groups, d.groups);
	for (size_t i = 0; i < d.group_count && d.groups[order[i]].wait_ns; i++) {
		ret->items = mem_grow(ret->items, ret->count, &ret->capacity, sizeof(*ret->items));
		judge(&d, (uint32_t)order[i], &ret->items[ret->count++]);
	}
	ret->span_ns = span_of(&d);
	ret->ranks = d.counts.ranks;
	ret->meetings = d.counts.collectives + d.counts.messages;
	ret->reason = d.counts.reason;
	ret->texts = d.texts;
}

void rank_causes_done(struct rank_causes *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].ranks);
		free(r->items[i].parts);
	}
	free(r->items);
	interner_done(&r->texts);
	*r = (struct rank_causes){0};
}
