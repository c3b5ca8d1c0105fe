/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as sums. A capture of --mode=profile has them of ranges only: in rows of steps, by their names, and else in
 * those of all ranges. Which of them are the steps follows from what follows in step_ranges.c, but for one thing: of
 * ranges with other names it is not known whether they overlap. */
#include <stdlib.h>

#include "report/time/steps/steps.h"

/* ---- rows of --mode=profile ---- */

/* The ranges of one thread with one name, but for numbers in it. */
struct summed_group {
	struct step_sum sum;
	enum range_role role;
	bool overlaps;
};

struct summed_groups {
	const struct report_context *context;
	const struct clock_map *clock;
	const struct image *image;
	struct map known; /* thread and domain, hash of the name -> position + 1 */
	struct summed_group *items;
	size_t count, capacity;
};

static uint64_t number_of(const struct event *e, unsigned i)
{
	return __atomic_load_n(&e->sum[i], __ATOMIC_RELAXED) >> 8;
}

/* Half of the steps are shorter. They are assumed to be spread evenly over each class. */
static uint64_t median_ticks(const struct event *e, const struct event_sum *sum)
{
	enum { CLASSES = TF_STEPS_NUMBERS - TF_STEPS_CLASSES };
	uint64_t all = 0, below = 0, here = 0;
	unsigned class = 0;
	double low, high;

	for (unsigned i = 0; i < CLASSES; i++)
		all += number_of(e, TF_STEPS_CLASSES + i);
	for (; class < CLASSES; class++, below += here) {
		here = number_of(e, TF_STEPS_CLASSES + class);
		if (here && 2 * (below + here) >= all)
			break;
	}
	low = class && tf_steps_least(class) > sum->least ? (double)tf_steps_least(class) : (double)sum->least;
	high = class + 1 < CLASSES && tf_steps_least(class + 1) < sum->most ? (double)tf_steps_least(class + 1)
									     : (double)sum->most;
	return here && high > low ? (uint64_t)(low + (high - low) * ((double)all / 2 - (double)below) / (double)here)
				  : (uint64_t)low;
}

static struct summed_group *group_of(struct summed_groups *all, const struct event *e, const struct buffer *name)
{
	uint64_t thread = tf_ranges_thread(e->args[-1]), *known;

	known = map_put(&all->known, thread << 32 | (uint64_t)(e->text & TF_RANGES_IS_STEPS) << 16 | e->id,
			hash_bytes(name->data, name->size), NULL);
	if (!*known) {
		list_add(all, (struct summed_group){
	     .sum = {.image = all->image, .tid = (uint32_t)thread, .least_ns = UINT64_MAX},
	     .role = step_role(name->data)});
		*known = all->count;
	}
	return &all->items[*known - 1];
}

static void group_add(struct summed_group *g, const struct clock_map *clock, const struct event *e)
{
	struct event_sum sum = event_sum(e);
	uint64_t total_ns = clock_map_duration(clock, sum.total), least_ns = clock_map_duration(clock, sum.least),
		 most_ns = clock_map_duration(clock, sum.most);
	double ns_per_tick = sum.total ? (double)total_ns / (double)sum.total : 0;
	bool is_steps = e->text & TF_RANGES_IS_STEPS;

	g->sum.count += sum.count;
	g->sum.total_ns += total_ns;
	g->sum.squares += sum.squares * ns_per_tick * ns_per_tick;
	g->sum.least_ns = least_ns < g->sum.least_ns ? least_ns : g->sum.least_ns;
	g->sum.most_ns = most_ns > g->sum.most_ns ? most_ns : g->sum.most_ns;
	g->overlaps |= is_steps && number_of(e, TF_STEPS_OVERLAPS);
	if (is_steps)
		g->sum.median_ns = (double)clock_map_duration(clock, median_ticks(e, &sum));
}

/* Ranges that are steps have a row of steps, too; those without a thread may be of several. */
static void add_sum(struct scan *s, const struct event *e)
{
	struct summed_groups *all = s->more;
	SCOPED(buffer) name = {0};
	bool is_steps;

	if (e->kind != TF_RANGES || e->text & TF_RANGES_IS_OTHER || !tf_ranges_thread(e->args[-1]) ||
	    !event_sum(e).count)
		return;
	is_steps = e->text & TF_RANGES_IS_STEPS;
	if (step_name(s->image->trace, (uint32_t)tf_arg_value(event_arg(e, TF_ARG_VALUE)), &name) &&
	    is_steps == (step_role(name.data) > NAMED_OTHERWISE))
		group_add(group_of(all, e, &name), all->clock, e);
}

/* Of an optimizer's calls, a row has one less than there were. */
static bool is_loop(const struct summed_group *g, double lifetime_ns)
{
	double coverage = (double)g->sum.total_ns / lifetime_ns;

	return !g->overlaps && coverage <= 1 &&
	       steps_are_loop(g->role, g->sum.count + (g->role == NAMED_OPTIMIZER), coverage);
}

static bool sum_of_rows(const struct report_context *c, const struct image *image, struct step_sum *ret)
{
	struct summed_groups all = {
		.context = c, .image = image, .clock = &c->model->machines[image->machine].clock};
	struct scan s = {.context = c, .image = image, .kinds = 1u << TF_RANGES, .more = &all};
	const struct summed_group *best = NULL;
	double lifetime_ns = steps_lifetime_ns(c, image);

	scan_image(&s, add_sum);
	list_each(const struct summed_group, g, &all) {
		if (is_loop(g, lifetime_ns) && (!best || g->role > best->role ||
						(g->role == best->role && g->sum.total_ns > best->sum.total_ns)))
			best = g;
	}
	if (best) {
		*ret = best->sum;
		ret->source = step_source(best->role);
	}
	free(all.items);
	map_done(&all.known);
	return best;
}

/* ---- recorded steps ---- */

static void sum_of_series(const struct step_series *s, struct step_sum *ret)
{
	SCOPED_MEMORY uint64_t *lengths = mem_alloc(s->count * sizeof(*lengths));
	const size_t low = (s->count - 1) / 2, high = s->count / 2;

	*ret = (struct step_sum){.image = s->image, .tid = s->thread->tid, .source = s->source, .count = s->count};
	for (size_t i = 0; i < s->count; i++) {
		lengths[i] = s->items[i].end_ns - s->items[i].start_ns;
		ret->total_ns += lengths[i];
		ret->squares += (double)lengths[i] * (double)lengths[i];
	}
	sort_numbers(lengths, s->count);
	ret->least_ns = lengths[0];
	ret->most_ns = lengths[s->count - 1];
	ret->median_ns = ((double)lengths[low] + (double)lengths[high]) / 2;
}

void steps_sum(const struct report_context *c, struct step_sums *ret)
{
	SCOPED(step_list) list = {0};
	size_t next = 0;

	*ret = (struct step_sums){0};
	steps_find(c, &list);
	array_each(const struct image, image, c->model->images, c->model->image_count) {
		struct step_sum sum = {0};

		if (next < list.count && list.items[next].image == image)
			sum_of_series(&list.items[next++], &sum);
		else if (!image->trace || image->trace->header.mode != TF_MODE_PROFILE || !sum_of_rows(c, image, &sum))
			continue;
		list_add(ret, sum);
	}
}

void step_sums_done(struct step_sums *s)
{
	free(s->items);
	*s = (struct step_sums){0};
}
