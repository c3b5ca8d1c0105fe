/* SPDX-License-Identifier: Apache-2.0 */
/* From what ranks did to the one cause of the waits of a call. */
#include "report/derive/ranks/rank_cause.h"

#include <stdlib.h>
#include <string.h>

#include "report/derive/ranks/rank_build.h"
#include "report/derive/stacks/frame.h"

const char *const rank_cause_kinds[RANK_CAUSE_KINDS] = {
	[RANK_CANNOT_TELL] = "cannot tell", [RANK_CALLS] = "call",	     [RANK_COMPUTES] = "computes",
	[RANK_WANTS_CPU] = "waits for a CPU", [RANK_MESSAGES] = "messages", [RANK_DEVICE] = "device",
};

void delays_done(struct delays *d)
{
	struct map *maps[] = {&d->lane_of, &d->group_of, &d->part_of, &d->lane_part_of, &d->line_of, &d->windows,
			      &d->stacks};

	for (size_t i = 0; i < d->lane_count; i++)
		free(d->lanes[i].waits);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		map_done(maps[i]);
	attribution_done(&d->attribution);
	usages_free(d->usages);
	free(d->lanes);
	free(d->waits);
	free(d->groups);
	free(d->spans);
	free(d->parts);
	free(d->of_lanes);
	free(d->lines);
}

/* ---- the cause of one group ---- */

/* Parts that together may be the cause: of one name and line, of one line, of one name in one function. */
enum cause_level { BY_PART, BY_LINE_ALONE, BY_FUNCTION, LEVELS };

struct cause_choice {
	const struct delays *delays;
	uint32_t group;
	uint8_t *chosen; /* by part */
	double ns;	 /* what they explain */
	size_t best;	 /* the largest of them */
};

static const char *text_of(const struct delays *d, uint32_t number)
{
	return d->texts.items[number].text;
}

static double excess(const struct rank_part *p)
{
	return p->more - p->less;
}

static size_t function_length(const char *line)
{
	const char *place = strstr(line, " (");

	return place ? (size_t)(place - line) : strlen(line);
}

static bool is_alike(const struct delays *d, const struct rank_part *a, const struct rank_part *b,
		     enum cause_level level)
{
	const char *left = text_of(d, a->line), *right = text_of(d, b->line);

	if (a->group != b->group || (level == BY_PART && a != b))
		return false;
	if (a == b)
		return true;
	if (!a->line || !b->line || a->is_idle || b->is_idle)
		return false;
	return level == BY_LINE_ALONE ? a->line == b->line
				      : a->name == b->name && function_length(left) == function_length(right) &&
						!strncmp(left, right, function_length(left));
}

/* The parts that explain most. */
static void choose(struct cause_choice *c, enum cause_level level)
{
	const struct delays *d = c->delays;
	size_t first = SIZE_MAX;

	c->ns = 0;
	for (size_t i = 0; i < d->part_count; i++) {
		double sum = 0;

		if (d->parts[i].group != c->group || excess(&d->parts[i]) <= 0)
			continue;
		for (size_t k = 0; k < d->part_count; k++)
			sum += is_alike(d, &d->parts[i], &d->parts[k], level) ? excess(&d->parts[k]) : 0;
		if (sum > c->ns) {
			c->ns = sum;
			first = i;
		}
	}
	c->best = first;
	for (size_t i = 0; i < d->part_count; i++) {
		c->chosen[i] = first != SIZE_MAX && is_alike(d, &d->parts[first], &d->parts[i], level);
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

	for (size_t i = 0; i < d->line_count; i++) {
		const struct rank_line *l = &d->lines[i];

		if (l->group == c->group && (l->more - l->less) * slowed >= wanted && l->less < l->more * part &&
		    (!found || l->more < found->more * 0.98))
			found = l;
	}
	return found;
}

/* A line that the other ranks run as well says little: then it is that of the innermost caller that they run much less,
 * if there is one. */
static uint32_t specific_line(const struct cause_choice *c)
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
 * half of it, or else that one; 0: there is none. */
static uint32_t choose_caller(struct cause_choice *c, double wanted)
{
	const struct delays *d = c->delays;
	const struct rank_line *found = find_caller(c, wanted, 1, 0.25);

	if (!found)
		return 0;
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

/* ---- which ranks ---- */

/* Ranks are late in turn if what the cause took of them differs by less than this part of what it delays. */
enum { IN_TURN = 3 };

struct rank_set {
	struct delays *delays;
	uint32_t *lanes; /* the members */
	size_t count;
	bool is_alike; /* on average the others did nearly as much */
};

static unsigned long number_of(const struct delays *d, uint32_t lane)
{
	return strtoul(image_rank(d->lanes[lane].image), NULL, 10);
}

static int compare_ranks(size_t left, size_t right, const void *context)
{
	const struct rank_set *s = context;

	return order_of(number_of(s->delays, s->lanes[left]), number_of(s->delays, s->lanes[right]));
}

static void sort_set(struct rank_set *s)
{
	size_t *order = places_in_order(s->count, compare_ranks, s);
	uint32_t *sorted = mem_alloc((s->count + 1) * sizeof(*sorted));

	for (size_t i = 0; i < s->count; i++)
		sorted[i] = s->lanes[order[i]];
	free(s->lanes);
	free(order);
	s->lanes = sorted;
}

static int compare_means(size_t left, size_t right, const void *means)
{
	const double *all = means;

	return (all[left] < all[right]) - (all[left] > all[right]) ?: order_of(left, right);
}

/* How much each lane did of the chosen parts, on average of the times that it was looked at. Returns how much more it
 * was on the way to a wait than on average. */
static double mean_of_lanes(const struct cause_choice *c, double *means)
{
	const struct delays *d = c->delays;
	double paths = (double)d->groups[c->group].paths, path = 0, all = 0;

	for (size_t i = 0; i < d->of_lane_count; i++)
		if (c->chosen[d->of_lanes[i].part]) {
			means[d->of_lanes[i].lane] += d->of_lanes[i].more + d->of_lanes[i].less;
			path += d->of_lanes[i].more;
		}
	for (uint32_t i = 0; i < d->lane_count; i++) {
		const uint64_t *windows = map_find(&d->windows, c->group, i);

		means[i] /= windows ? (double)*windows : paths;
		all += means[i];
	}
	return path / paths - all / (double)d->lane_count;
}

/* Ranks that did clearly more of the cause than the others; all of them if each was late at times. */
static void find_set(const struct cause_choice *c, struct rank_set *ret)
{
	struct delays *d = ret->delays;
	double *means = mem_alloc((d->lane_count + 1) * sizeof(*means)), excess_ns = mean_of_lanes(c, means), gap = 0;
	double inside = 0, outside = 0;
	size_t *order = places_in_order(d->lane_count, compare_means, means);

	ret->lanes = mem_alloc((d->lane_count + 1) * sizeof(*ret->lanes));
	ret->count = 1;
	for (size_t i = 1; i < d->lane_count; i++)
		if (means[order[i - 1]] - means[order[i]] > gap) {
			gap = means[order[i - 1]] - means[order[i]];
			ret->count = i;
		}
	if ((means[order[0]] - means[order[d->lane_count - 1]]) * IN_TURN < excess_ns)
		ret->count = d->lane_count;
	for (size_t i = 0; i < d->lane_count; i++)
		*(i < ret->count ? &inside : &outside) += means[order[i]];
	ret->is_alike = ret->count < d->lane_count &&
			inside / (double)ret->count * 2 < outside / (double)(d->lane_count - ret->count) * 3;
	for (size_t i = 0; i < ret->count; i++)
		ret->lanes[i] = (uint32_t)order[i];
	sort_set(ret);
	free(means);
	free(order);
}

static bool is_every_second(const struct rank_set *s)
{
	if (s->count < 3 || s->count * 2 + 1 < s->delays->lane_count || s->count * 2 > s->delays->lane_count + 1)
		return false;
	for (size_t i = 1; i < s->count; i++)
		if (number_of(s->delays, s->lanes[i]) != number_of(s->delays, s->lanes[i - 1]) + 2)
			return false;
	return true;
}

/* Whether they are all ranks of one host, and there are others. */
static bool is_host(const struct rank_set *s)
{
	const struct delays *d = s->delays;
	size_t machine = d->lanes[s->lanes[0]].image->machine, there = 0;

	for (size_t i = 0; i < d->lane_count; i++)
		there += d->lanes[i].image->machine == machine;
	for (size_t i = 0; i < s->count; i++)
		if (d->lanes[s->lanes[i]].image->machine != machine)
			return false;
	return there == s->count && there > 1 && there < d->lane_count;
}

static void name_set(struct rank_set *s, struct rank_cause *ret)
{
	struct delays *d = s->delays;
	enum { NAMED = 8 };
	struct buffer text = {0};

	ret->process = d->lanes[s->lanes[0]].image->process;
	ret->set = s->count == 1		    ? RANKS_ONE
		   : s->count == d->lane_count  ? RANKS_IN_TURN
		   : is_host(s)			    ? RANKS_OF_HOST
		   : is_every_second(s)		    ? RANKS_EVERY_SECOND
						    : RANKS_SOME;
	if (ret->set == RANKS_IN_TURN)
		buffer_text(&text, "the ranks in turn");
	else if (ret->set == RANKS_OF_HOST)
		buffer_print(&text, "all ranks of host %s, which are ",
			     d->context->model->machines[d->lanes[s->lanes[0]].image->machine].host);
	else
		buffer_text(&text, ret->set == RANKS_ONE ? "rank " : ret->set == RANKS_SOME ? "ranks "
									      : "every second rank, which are ");
	for (size_t i = 0; ret->set != RANKS_IN_TURN && i < s->count; i++) {
		bool is_last = i + 1 == s->count;

		if (i == NAMED && s->count > NAMED + 1) {
			buffer_print(&text, " and %zu more", s->count - NAMED);
			break;
		}
		buffer_print(&text, "%s%s", !i ? "" : is_last ? " and " : ", ",
			     image_rank(d->lanes[s->lanes[i]].image));
	}
	ret->ranks = mem_copy_text(buffer_string(&text), text.size);
	buffer_done(&text);
}

/* ---- the whole ---- */

/* A line takes longer than its samples say where ranks wait for CPUs: so much longer as in the ranks that are not late,
 * or in a typical rank, at least up to twice as long. What late ranks waited more than that remains idle time. */
static void settle_idle(struct delays *d, uint32_t group)
{
	double more = 0, less = 0, factor;
	struct rank_part *idle = NULL;

	for (size_t i = 0; i < d->part_count; i++) {
		struct rank_part *p = &d->parts[i];

		if (p->group != group || p->name)
			continue;
		if (p->is_idle)
			idle = p;
		more += p->is_idle ? 0 : p->more;
		less += p->is_idle ? 0 : p->less;
	}
	d->groups[group].slowed = 1;
	if (!idle || !more || idle->more <= 0)
		return;
	factor = less && idle->less > less ? idle->less / less : 1;
	factor = d->delay_ratio > factor ? d->delay_ratio : factor;
	factor = idle->more / more < factor ? idle->more / more : factor;
	idle->more -= more * factor;
	idle->less -= less * factor;
	d->groups[group].slowed += factor;
	for (size_t i = 0; i < d->part_count; i++)
		if (d->parts[i].group == group && !d->parts[i].name && !d->parts[i].is_idle) {
			d->parts[i].more *= 1 + factor;
			d->parts[i].less *= 1 + factor;
		}
}

static enum rank_cause_kind kind_of(const struct delays *d, const struct rank_part *p)
{
	if (p->is_idle)
		return d->has_samples ? RANK_WANTS_CPU : RANK_CANNOT_TELL;
	if (!p->name)
		return RANK_COMPUTES;
	if (p->is_device)
		return RANK_DEVICE;
	return p->waits == BLOCKED_MPI ? RANK_MESSAGES : RANK_CALLS;
}

/* How long the main thread of a rank was runnable without a CPU. */
static uint64_t delay_of(const struct delays *d, const struct image *image, uint64_t *ret_cpu_ns)
{
	struct usage_of usage = usages_recorded(d->usages, image, image->pid, 0, UINT64_MAX);
	bool is_known = usage.ticks && usage.delay_ns != TF_USAGE_UNKNOWN && usage.cpu_ns != TF_USAGE_UNKNOWN;

	*ret_cpu_ns = is_known ? usage.cpu_ns : 0;
	return is_known ? usage.delay_ns : 0;
}

static int compare_ratios(size_t left, size_t right, const void *ratios)
{
	const double *all = ratios;

	return (all[left] > all[right]) - (all[left] < all[right]) ?: order_of(left, right);
}

static void find_delay_ratio(struct delays *d)
{
	double *ratios = mem_alloc((d->lane_count + 1) * sizeof(*ratios));
	size_t *order;

	d->usages = usages_new(d->context->model);
	for (size_t i = 0; i < d->lane_count; i++) {
		uint64_t cpu, delay = delay_of(d, d->lanes[i].image, &cpu);

		ratios[i] = cpu ? (double)delay / (double)cpu : 0;
	}
	order = places_in_order(d->lane_count, compare_ratios, ratios);
	d->delay_ratio = d->lane_count ? ratios[order[(d->lane_count - 1) / 2]] : 0;
	free(order);
	free(ratios);
}

/* Whether the kernel accounted waits for a CPU to the ranks of the set that explain the cause. */
static bool waited_for_cpu(const struct rank_set *s, const struct rank_part *p)
{
	uint64_t sum = 0, cpu;

	for (size_t i = 0; i < s->count; i++)
		sum += delay_of(s->delays, s->delays->lanes[s->lanes[i]].image, &cpu);
	return (double)sum * 2 >= p->path_ns;
}

static int compare_parts(size_t left, size_t right, const void *context)
{
	const struct delays *d = context;
	double a = excess(&d->parts[left]), b = excess(&d->parts[right]);

	return (a < b) - (a > b);
}

static const char *words_of(const struct delays *d, const struct rank_part *p)
{
	return p->name ? text_of(d, p->name) : p->is_idle ? "without a CPU or in what is not recorded" : "computing";
}

/* "41 % fsync at job.c:5 save, 30 % computing at job.c:9 step, 12 % without a CPU or in what is not recorded". */
static void name_parts(const struct delays *d, uint32_t group, struct rank_cause *ret)
{
	size_t *order = places_in_order(d->part_count, compare_parts, d);
	struct buffer text = {0};
	int named = 0;

	for (size_t i = 0; i < d->part_count && named < 3; i++) {
		const struct rank_part *p = &d->parts[order[i]];
		double percent = 100 * excess(p) / (double)ret->wait_ns;

		if (p->group != group || percent < 5)
			continue;
		if (p->is_idle && d->has_samples)
			ret->idle_ns = (uint64_t)excess(p);
		buffer_print(&text, "%s%.0f %% %s", named++ ? ", " : "", percent, words_of(d, p));
		if (p->line) {
			buffer_text(&text, " at ");
			frame_short(text_of(d, p->line), &text);
		}
	}
	ret->parts = mem_copy_text(buffer_string(&text), text.size);
	buffer_done(&text);
	free(order);
}

static void judge(struct delays *d, uint32_t group, struct rank_cause *ret)
{
	const struct wait_group *g = &d->groups[group];
	struct cause_choice c = {.delays = d, .group = group, .chosen = mem_alloc(d->part_count + 1)};
	struct rank_set set = {.delays = d};
	double wanted = (double)g->wait_ns * RANK_CAUSE_PERCENT / 100;
	uint32_t line = 0;

	*ret = (struct rank_cause){.wait_name = text_of(d, g->name), .wait_line = text_of(d, g->line), .name = "",
				   .line = "", .wait_ns = g->wait_ns, .count = g->count,
				   .is_collective = g->is_collective};
	settle_idle(d, group);
	for (enum cause_level level = 0; level < LEVELS && c.ns < wanted; level++)
		choose(&c, level);
	if (c.best != SIZE_MAX)
		line = c.ns < wanted ? choose_caller(&c, wanted) : specific_line(&c);
	if (c.best == SIZE_MAX || c.ns < wanted) {
		choose_all(&c);
	} else {
		const struct rank_part *best = &d->parts[c.best];

		ret->kind = kind_of(d, best);
		ret->waits = best->waits;
	}
	find_set(&c, &set);
	/* a rank that took somewhat longer for what all do was disturbed */
	if (set.is_alike || (ret->kind == RANK_WANTS_CPU && !waited_for_cpu(&set, &d->parts[c.best])))
		ret->kind = RANK_CANNOT_TELL;
	name_set(&set, ret);
	if (ret->kind == RANK_CANNOT_TELL) {
		name_parts(d, group, ret);
	} else {
		ret->name = text_of(d, d->parts[c.best].name);
		ret->line = text_of(d, line);
		ret->cause_ns = c.ns < (double)g->wait_ns ? (uint64_t)c.ns : g->wait_ns;
	}
	free(set.lanes);
	free(c.chosen);
}

static int compare_groups(size_t left, size_t right, const void *groups)
{
	const struct wait_group *all = groups;

	return order_of(all[right].wait_ns, all[left].wait_ns) ?: order_of(left, right);
}

static uint64_t span_of(const struct delays *d)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < d->wait_count; i++) {
		first = d->waits[i].start_ns < first ? d->waits[i].start_ns : first;
		last = d->waits[i].end_ns > last ? d->waits[i].end_ns : last;
	}
	return last > first ? last - first : 0;
}

void rank_causes_find(const struct report_context *c, struct rank_causes *ret)
{
	struct delays d = {.context = c, .attribution = {.symbols = c->symbols}};
	size_t *order;

	*ret = (struct rank_causes){0};
	interner_text_number(&d.texts, "");
	delays_of_mpi(&d);
	delays_of_nccl(&d);
	if (!d.counts.ranks)
		delays_of_threads(&d);
	delays_follow(&d);
	delays_account(&d);
	find_delay_ratio(&d);
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
	free(order);
	delays_done(&d);
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
