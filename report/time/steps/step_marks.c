/* SPDX-License-Identifier: Apache-2.0 */
/* Warm-up, changes and slow steps, by robust statistics: medians, and ranks of lengths. */
#include <math.h>
#include <stdlib.h>

#include "report/time/steps/steps.h"

/* A level has at least so many steps. Warm-up is at most the first third, of steps that are longer by WARM. */
enum { LEVEL_STEPS = 8, WARM_SHARE = 3 };
static const double WARM = 1.25;

/* A change makes the median longer or shorter by so much, and ranks differ by so many standard deviations. */
static const double CHANGE = 1.1, CHANGE_SIGMAS = 5;

/* A slow step is longer than the median of its level by this factor, and by so many deviations. */
static const double SLOW = 1.5;
enum { SLOW_DEVIATIONS = 6 };

static uint64_t length_of(const struct run_step *step)
{
	return step->end_ns - step->start_ns;
}

static uint64_t sorted_median(uint64_t *values, size_t count)
{
	sort_numbers(values, count);
	return count ? values[count / 2] : 0;
}

static uint64_t median_step(const struct step_series *s, size_t from, size_t to, uint64_t *scratch)
{
	for (size_t i = from; i < to; i++)
		scratch[i - from] = length_of(&s->items[i]);
	return sorted_median(scratch, to - from);
}

/* The steps until the first one that is no longer than usual: as many as still stand out. */
static size_t mark_warmup(struct step_series *s, uint64_t *scratch)
{
	uint64_t usual = median_step(s, s->count / 2, s->count, scratch);
	size_t count = 0;

	while (count < s->count / WARM_SHARE && (double)length_of(&s->items[count]) > WARM * (double)usual)
		s->items[count++].is_warmup = true;
	if (count && count == s->count / WARM_SHARE) /* that is no warm-up, but another level */
		while (count)
			s->items[--count].is_warmup = false;
	return count;
}

struct ranked_step {
	uint64_t ns;
	size_t place;
};

COMPARATOR(compare_ranked, struct ranked_step, order_of(a->ns, b->ns) ?: order_of(a->place, b->place))

/* The place at which the ranks of the steps before and after differ most; SIZE_MAX: nowhere significantly. */
static size_t find_change(const struct step_series *s, size_t from, size_t to)
{
	size_t count = to - from, best = SIZE_MAX;
	SCOPED_MEMORY struct ranked_step *ranked = mem_alloc((count + 1) * sizeof(*ranked));
	SCOPED_MEMORY double *ranks = mem_alloc((count + 1) * sizeof(*ranks));
	double sum = 0, most = CHANGE_SIGMAS, n = (double)count;

	for (size_t i = 0; i < count; i++)
		ranked[i] = (struct ranked_step){length_of(&s->items[from + i]), i};
	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++)
		ranks[ranked[i].place] = (double)i + 1;
	for (size_t i = 1; i + LEVEL_STEPS <= count; i++) {
		double left = (double)i, sigma = sqrt(left * (n - left) * (n + 1) / 12), distance;

		sum += ranks[i - 1];
		distance = fabs(sum - left * (n + 1) / 2) / sigma;
		if (i >= LEVEL_STEPS && distance > most) {
			most = distance;
			best = from + i;
		}
	}
	return best;
}

/* Few steps cannot differ by CHANGE_SIGMAS deviations of their ranks: then all of one side are longer. */
static size_t find_clear_change(const struct step_series *s, size_t from, size_t to)
{
	size_t best = SIZE_MAX;
	double most = CHANGE;

	for (size_t at = from + LEVEL_STEPS; at + LEVEL_STEPS <= to && to - from < 8 * LEVEL_STEPS; at++) {
		uint64_t low[2] = {UINT64_MAX, UINT64_MAX}, high[2] = {0, 0};
		double up, down;

		for (size_t i = from; i < to; i++) {
			uint64_t ns = length_of(&s->items[i]);

			low[i >= at] = ns < low[i >= at] ? ns : low[i >= at];
			high[i >= at] = ns > high[i >= at] ? ns : high[i >= at];
		}
		up = (double)low[1] / (double)(high[0] + 1);
		down = (double)low[0] / (double)(high[1] + 1);
		if (up > most || down > most) {
			most = up > down ? up : down;
			best = at;
		}
	}
	return best;
}

static void mark_level(struct step_series *s, size_t from, size_t to, uint64_t *scratch)
{
	uint64_t usual = median_step(s, from, to, scratch), deviation;

	for (size_t i = from; i < to; i++) {
		uint64_t ns = length_of(&s->items[i]);

		scratch[i - from] = ns > usual ? ns - usual : usual - ns;
	}
	deviation = sorted_median(scratch, to - from);
	for (size_t i = from; i < to; i++) {
		struct run_step *step = &s->items[i];
		double ns = (double)length_of(step);

		step->usual_ns = usual;
		step->spread_ns = usual + SLOW_DEVIATIONS * deviation;
		step->is_slow = ns > SLOW * (double)usual && ns > (double)step->spread_ns;
	}
}

/* Divides the steps into levels between changes. */
static void mark_levels(struct step_series *s, size_t from, size_t to, uint64_t *scratch)
{
	size_t at = to - from < 2 * LEVEL_STEPS ? SIZE_MAX : find_change(s, from, to);
	uint64_t before, after;

	if (at == SIZE_MAX && to - from >= 2 * LEVEL_STEPS)
		at = find_clear_change(s, from, to);
	if (at != SIZE_MAX) {
		before = median_step(s, from, at, scratch);
		after = median_step(s, at, to, scratch);
		if (before && ((double)after > CHANGE * (double)before || (double)before > CHANGE * (double)after)) {
			mark_levels(s, from, at, scratch);
			mark_levels(s, at, to, scratch);
			s->items[at].change = 1; /* the factor follows from the levels */
			return;
		}
	}
	mark_level(s, from, to, scratch);
}

void steps_mark(struct step_series *s)
{
	SCOPED_MEMORY uint64_t *scratch = mem_alloc((s->count + 1) * sizeof(*scratch));
	size_t warm = mark_warmup(s, scratch);

	mark_levels(s, warm, s->count, scratch);
	for (size_t i = 0; i < s->count; i++) {
		struct run_step *step = &s->items[i];

		if (i < warm)
			step->usual_ns = s->items[warm].usual_ns;
		if (step->change > 0 && step[-1].usual_ns)
			step->change = (double)step->usual_ns / (double)step[-1].usual_ns;
	}
}

void step_add(struct step_series *s, uint64_t start_ns, uint64_t end_ns)
{
	list_add(s, (struct run_step){.start_ns = start_ns, .end_ns = end_ns});
}

/* After LEVEL_STEPS others, so that their usual length is known, and warm-up is over. */
static bool is_wanted(const struct step_series *s, size_t i, const struct slow_step *wanted)
{
	const struct run_step *step = &s->items[i];
	uint64_t known_ns = step->end_ns + wanted->after_ns;

	if (i + STEPS_AFTER < s->count && s->items[i + STEPS_AFTER].end_ns < known_ns)
		known_ns = s->items[i + STEPS_AFTER].end_ns;
	return i >= LEVEL_STEPS && !step->is_warmup && length_of(step) > step->spread_ns &&
	       (double)length_of(step) > wanted->factor * (double)step->usual_ns && known_ns > wanted->from_ns &&
	       known_ns <= wanted->to_ns;
}

const struct run_step *steps_slow(const struct step_list *l, const struct slow_step *wanted,
				  const struct step_series **ret_series)
{
	const struct run_step *found = NULL;
	double most = 0;

	list_each(const struct step_series, s, l) {
		for (size_t k = 0; k < s->count; k++) {
			double times = (double)length_of(&s->items[k]) / (double)(s->items[k].usual_ns ?: 1);

			if (times <= most || !is_wanted(s, k, wanted))
				continue;
			most = times;
			found = &s->items[k];
			*ret_series = s;
		}
	}
	return found;
}
