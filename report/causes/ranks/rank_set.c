/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks are late. */
#include <stdlib.h>

#include "report/causes/ranks/rank_build.h"

/* Ranks are late in turn if what the cause took of them differs by less than this part of what it delays. */
enum { IN_TURN = 3 };

static uint32_t number_of(const struct delays *d, uint32_t lane)
{
	return rank_number(image_rank(d->lanes[lane].image), NULL);
}

static int compare_ranks(size_t left, size_t right, const void *context)
{
	const struct rank_set *s = context;

	return order_of(number_of(s->delays, s->lanes[left]), number_of(s->delays, s->lanes[right]));
}

static void sort_set(struct rank_set *s)
{
	SCOPED_MEMORY size_t *order = places_in_order(s->count, compare_ranks, s);
	uint32_t *sorted = mem_alloc((s->count + 1) * sizeof(*sorted));

	for (size_t i = 0; i < s->count; i++)
		sorted[i] = s->lanes[order[i]];
	free(s->lanes);
	s->lanes = sorted;
}

PLACE_COMPARATOR(compare_means, double, (*a < *b) - (*a > *b))

/* How much each lane did of the chosen parts, on average of the times that it was looked at. Returns how much more it
 * was on the way to a wait than on average. */
static double mean_of_lanes(const struct cause_choice *c, double *means)
{
	const struct delays *d = c->delays;
	double paths = (double)d->groups[c->group].paths, path = 0, all = 0;

	for (size_t i = 0; i < d->of_lane_count; i++)
		if (c->chosen[d->of_lanes[i].part]) {
			means[d->of_lanes[i].lane] += d->of_lanes[i].own_ns;
			path += d->of_lanes[i].path_ns;
		}
	for (uint32_t i = 0; i < d->lane_count; i++) {
		const uint64_t *windows = map_find(&d->windows, c->group, i);

		means[i] /= windows ? (double)*windows : paths;
		all += means[i];
	}
	return path / paths - all / (double)d->lane_count;
}

void rank_set_find(const struct cause_choice *c, struct rank_set *ret)
{
	struct delays *d = ret->delays;
	double *means = mem_alloc((d->lane_count + 1) * sizeof(*means)), excess_ns = mean_of_lanes(c, means), gap = 0;
	double inside = 0, outside = 0;
	SCOPED_MEMORY size_t *order = places_in_order(d->lane_count, compare_means, means);

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
	size_t machine = d->lanes[s->lanes[0]].image->machine;
	size_t there = array_sum(lane, d->lanes, d->lane_count, lane->image->machine == machine);

	return there == s->count && there > 1 && there < d->lane_count &&
	       !array_find(lane, s->lanes, s->count, d->lanes[*lane].image->machine != machine);
}

void rank_set_name(struct rank_set *s, struct rank_cause *ret)
{
	struct delays *d = s->delays;
	enum { NAMED = 8 };
	SCOPED(buffer) text = {0};

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
}
