/* SPDX-License-Identifier: Apache-2.0 */
/* An anchor is something that is called once in each step. It is found by what happens between two of its calls:
 * between those of a loop's anchor, the loop does everything that it does. docs/decisions/steps.md */
#include "report/time/steps/period_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many anchors are tried at most. Of an interval, LONG times the usual length is of the loop: the rest is a pause,
 * or the thread had no CPU. One in LONGEST does not count for the usual length. */
enum { ANCHORS = 48, LONG = 10, LONGEST = 8 };

/* A loop is grown from SEED intervals, in SEEDS places of a run, over those that have at least the part ALIKE of what
 * these have, and over fewer than MISSES that do not. */
enum { SEEDS = 3, SEED = 5, MISSES = 3 };
static const double ALIKE = 0.6;

/* An anchor that is also called outside of the loop may take such a call for one of the loop. */
enum { LONELY = 4 };

/* By how much it counts that intervals are alike: what is called in two loops is the anchor of neither. */
enum { ALIKE_COUNTS = 4 };

/* Anchors of one loop have nearly as many intervals as each other. */
static const double SAME = 0.8;

/* Of an inner and an outer loop, the inner one's turns are the steps if they do at least this part of what those of the
 * outer one do: the rest is then something that is done from time to time. Less is enough if there are MANY inner
 * turns. */
static const double INNER = 0.78, INNER_MANY = 0.74;
enum { MANY = 16 };

/* What is done in a step of a loop is done in this part of all steps, on average. */
static const double REGULAR = 0.9;

/* In how many of the intervals each of the others is called, and called once. */
static void count_intervals(struct period_search *s, uint32_t first, uint32_t intervals)
{
	memset(s->seen, 0, s->whats * sizeof(*s->seen));
	memset(s->present, 0, s->whats * sizeof(*s->present));
	memset(s->once, 0, s->whats * sizeof(*s->once));
	for (uint32_t k = 1; k <= intervals; k++)
		for (uint32_t i = s->places[first + k - 1] + 1; i < s->places[first + k]; i++) {
			uint32_t what = s->calls[i].what;

			if (s->seen[what] < 2 * k) {
				s->seen[what] = 2 * k;
				s->present[what]++;
				s->once[what]++;
			} else if (s->seen[what] == 2 * k) {
				s->seen[what]++;
				s->once[what]--;
			}
		}
}

/* How many of the core calls are in the interval. */
static uint32_t core_of_interval(struct period_search *s, uint32_t interval)
{
	uint32_t from = s->places[interval] + 1, until = s->places[interval + 1], found = 0;

	for (uint32_t i = from; i < until; i++)
		if (s->is_core[s->calls[i].what] == 1) {
			s->is_core[s->calls[i].what] = 2;
			found++;
		}
	for (uint32_t i = from; i < until; i++)
		if (s->is_core[s->calls[i].what])
			s->is_core[s->calls[i].what] = 1;
	return found;
}

/* The intervals around one of them that have most of what the nearest ones have. */
static void grow(struct period_search *s, uint32_t seed, uint32_t intervals, struct anchor *a)
{
	uint32_t from = seed > SEED / 2 ? seed - SEED / 2 : 0,
		 until = from + SEED < intervals ? from + SEED : intervals, core = 0;

	count_intervals(s, from, until - from);
	for (uint32_t i = 0; i < s->whats; i++)
		core += s->is_core[i] = s->present[i] && s->present[i] + 1 >= until - from;
	for (uint32_t i = from, misses = 0; i-- > 0 && misses < MISSES; misses++)
		if (core_of_interval(s, i) >= ALIKE * core) {
			from = i;
			misses = UINT32_MAX; /* 0, after it was counted */
		}
	for (uint32_t i = until, misses = 0; i < intervals && misses < MISSES; i++, misses++)
		if (core_of_interval(s, i) >= ALIKE * core) {
			until = i + 1;
			misses = UINT32_MAX;
		}
	a->first = from;
	a->intervals = until - from;
	a->from = s->places[from];
	a->until = s->places[until];
}

uint64_t period_usual_length(struct period_search *s, uint32_t first, uint32_t intervals)
{
	uint32_t count = intervals - intervals / LONGEST, at = 0;
	uint64_t all = 0, half;

	for (uint32_t i = 0; i < intervals; i++)
		s->lengths[i] = period_duration(s, s->places[first + i], s->places[first + i + 1]);
	sort_numbers(s->lengths, intervals);
	all += array_sum(length, s->lengths, count, *length);
	for (half = all / 2; at + 1 < count && half >= s->lengths[at]; at++)
		half -= s->lengths[at];
	return s->lengths[at];
}

static void rate(struct period_search *s, struct anchor *a)
{
	uint64_t covered = 0, most;
	double squares = 0;

	count_intervals(s, a->first, a->intervals);
	s->present[a->what] = s->once[a->what] = a->intervals;
	most = period_usual_length(s, a->first, a->intervals);
	most = most < UINT64_MAX / LONG ? most * LONG : UINT64_MAX;
	covered += array_sum(length, s->lengths, a->intervals, *length < most ? *length : most);
	a->coverage = (double)covered / (double)s->lifetime_ns;
	for (uint32_t i = 0; i < s->whats; i++) {
		double part = (double)s->present[i] / a->intervals;

		a->score += s->weights[i] * part;
		a->exact += s->weights[i] * s->once[i] / a->intervals;
		squares += s->weights[i] * part * part;
	}
	a->regular = squares / a->score;
	a->score *= a->coverage / s->all_weights;
	a->exact *= a->intervals * pow(a->regular, ALIKE_COUNTS) *
		    pow((a->intervals + 1.0) / s->counts[a->what], LONELY);
}

void period_places_of(struct period_search *s, uint32_t what)
{
	s->place_count = 0;
	for (uint32_t i = s->firsts[what]; i <= s->lasts[what]; i++)
		if (s->calls[i].what == what)
			s->places[s->place_count++] = i;
}

/* Adds the loops of which this may be the anchor. */
static size_t try_anchor(struct period_search *s, uint32_t what, struct anchor *all, size_t count)
{
	uint32_t intervals = s->counts[what] - 1, until = 0;

	period_places_of(s, what);
	for (uint32_t i = 0; i < SEEDS; i++) {
		struct anchor a = {.what = what};
		uint32_t seed = (uint32_t)((uint64_t)intervals * (2 * i + 1) / (2 * SEEDS));

		if (seed < until)
			continue;
		grow(s, seed, intervals, &a);
		until = a.first + a.intervals;
		if (a.intervals + 1 < PERIOD_STEPS)
			continue;
		rate(s, &a);
		if (a.regular >= REGULAR && a.coverage >= PERIOD_COVERED)
			all[count++] = a;
	}
	return count;
}

static int compare_spans(size_t left, size_t right, const void *search)
{
	const struct period_search *s = search;
	uint32_t a = s->counts[left] < PERIOD_STEPS ? 0 : s->lasts[left] - s->firsts[left],
		 b = s->counts[right] < PERIOD_STEPS ? 0 : s->lasts[right] - s->firsts[right];

	return order_of(b, a) ?: order_of(s->firsts[left], s->firsts[right]);
}

/* Of the same loop, or of one inside of it that does nearly as much. It has more than half of the calls or of the time
 * of the other: what is called in each step may be called in the start of the program, too. */
static bool is_related(const struct period_search *s, const struct anchor *a, const struct anchor *best)
{
	uint32_t from = a->from > best->from ? a->from : best->from,
		 until = a->until < best->until ? a->until : best->until;
	double part = a->intervals >= MANY * best->intervals ? INNER_MANY : INNER;

	return until > from &&
	       (2 * (until - from) > best->until - best->from ||
		2 * period_duration(s, from, until) > period_duration(s, best->from, best->until)) &&
	       a->coverage > best->coverage / 2 && a->score * best->coverage >= part * best->score * a->coverage;
}

bool period_choose_anchor(struct period_search *s, struct anchor *ret)
{
	struct anchor *all = mem_alloc(ANCHORS * SEEDS * sizeof(*all)), best = {0};
	size_t *places = places_in_order(s->whats, compare_spans, s), count = 0;
	uint32_t intervals = 0;

	for (size_t i = 0; i < s->whats && i < ANCHORS && s->counts[places[i]] >= PERIOD_STEPS; i++)
		count = try_anchor(s, (uint32_t)places[i], all, count);
	free(places);
	for (size_t i = 0; i < count; i++)
		if (all[i].score > best.score)
			best = all[i];
	for (size_t i = 0; i < count; i++)
		if (is_related(s, &all[i], &best) && all[i].intervals > intervals)
			intervals = all[i].intervals;
	*ret = (struct anchor){0};
	for (size_t i = 0; i < count; i++)
		if (is_related(s, &all[i], &best) && all[i].intervals >= SAME * intervals && all[i].exact > ret->exact)
			*ret = all[i];
	free(all);
	return ret->exact > 0;
}
