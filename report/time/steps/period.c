/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the loop of a thread's calls by its anchor (period_anchor.c). Where a step begins follows from what comes
 * before the first and after the last call of the anchor. docs/decisions/steps.md */
#include "report/time/steps/period_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At the ends of the loop more than this part of what they call is called as often as usual. */
static const double SURELY = 0.8;

/* What repeats so few times may be chance unless several calls are made in each step. */
enum { CHANCE = 8, CORE_LEAST = 2 };

/* If a step has no call but the anchor, only the lengths of the steps tell a loop from chance. The difference of their
 * quartiles is this part of the sum of these in a loop, at most. For calls at random times (a Poisson process), joined
 * as below, it is 0.41. Quartiles do not depend on the few steps during which the thread had no CPU. */
static const double DISPERSED = 0.33;

/* One that takes so little of the usual length is no step. */
static const double SHORT = 0.3;

/* Two calls follow each other in the loop if they do so this often. */
enum { PAIR_LEAST = 2 };

/* The ends of the first and the last step are found if together they have this part of the usual calls. */
static const double WHOLE = 0.9;
static const double PAIRS = 0.12;

static const double MOSTLY = 0.7;

/* Few intervals (this part) have less, and as few have more, calls of something. */
static const double RARELY = 0.05;

/* ---- the loop ---- */

static void count_calls(struct period_search *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		uint32_t what = s->calls[i].what;

		if (!s->counts[what]++)
			s->firsts[what] = i;
		s->lasts[what] = i;
	}
	for (uint32_t i = 0; i < s->whats; i++) {
		s->weights[i] = s->counts[i] >= PERIOD_STEPS ? log2(s->counts[i]) : 0;
		s->weights[i] *= s->importance ? (double)s->importance[i] : 1;
		s->all_weights += s->weights[i];
	}
}

static void count_interval(struct period_search *s, size_t interval)
{
	for (uint32_t i = s->places[interval] + 1; i < s->places[interval + 1]; i++)
		s->seen[s->calls[i].what] = 0;
	for (uint32_t i = s->places[interval] + 1; i < s->places[interval + 1]; i++)
		s->seen[s->calls[i].what]++;
}

/* How often each of the others is called in most intervals. */
static void find_ranges(struct period_search *s)
{
	size_t count = s->place_count - 1;

	for (size_t i = 0; i < count; i++) {
		count_interval(s, i);
		for (uint32_t k = s->places[i] + 1; k < s->places[i + 1]; k++) {
			uint32_t *seen = &s->seen[s->calls[k].what];

			s->ranges[s->calls[k].what].counts[*seen < RANGE_MOST ? *seen : RANGE_MOST] += *seen != 0;
			*seen = 0;
		}
	}
	for (uint32_t i = 0; i < s->whats; i++) {
		struct usual_range *r = &s->ranges[i];
		uint32_t sum = 0;

		r->counts[0] = (uint32_t)count;
		for (uint32_t k = 1; k <= RANGE_MOST; k++)
			r->counts[0] -= r->counts[k];
		for (; r->least < RANGE_MOST && (sum += r->counts[r->least]) <= RARELY * (double)count;)
			r->least++;
		sum = 0;
		s->core_count += r->least > 0;
		for (r->most = RANGE_MOST; r->most && (sum += r->counts[r->most]) <= RARELY * (double)count;)
			r->most--;
	}
}

/* Whether most of what is called in the interval is called as often as in others. */
static bool is_step(struct period_search *s, size_t interval)
{
	uint32_t all = 0, found = 0;

	for (uint32_t i = 0; i < s->whats; i++)
		s->seen[i] = 0;
	count_interval(s, interval);
	for (uint32_t i = 0; i < s->whats; i++) {
		const struct usual_range *r = &s->ranges[i];

		if (!r->least && !s->seen[i])
			continue;
		all++;
		found += s->seen[i] >= r->least && (s->seen[i] <= r->most || r->most == RANGE_MOST);
	}
	return !all || found > SURELY * all;
}

/* The calls of the anchor in the loop. */
static void find_places(struct period_search *s, const struct anchor *a)
{
	size_t first = 0, last = a->intervals;

	period_places_of(s, a->what);
	s->place_count = a->intervals + 1;
	memmove(s->places, s->places + a->first, s->place_count * sizeof(*s->places));
	find_ranges(s);
	while (first < last && !is_step(s, first))
		first++;
	while (first < last && !is_step(s, last - 1))
		last--;
	s->place_count = last - first + 1;
	memmove(s->places, s->places + first, s->place_count * sizeof(*s->places));
}

/* Whether the calls of the loop may be made at random times. */
static bool is_chance(struct period_search *s)
{
	uint32_t intervals = (uint32_t)s->place_count - 1, quarter = intervals / 4;
	double first, third;

	if (s->core_count)
		return intervals + 1 < CHANCE && s->core_count < CORE_LEAST;
	if (intervals + 1 < CHANCE)
		return true;
	period_usual_length(s, 0, intervals);
	first = (double)s->lengths[quarter];
	third = (double)s->lengths[intervals - quarter - 1];
	return third - first > DISPERSED * (third + first);
}

/* A call soon after the previous one is of the same step. */
static void join_short(struct period_search *s)
{
	uint32_t intervals = (uint32_t)s->place_count - 1, kept = 1;
	double least = SHORT * (double)period_usual_length(s, 0, intervals);

	for (uint32_t i = 1; i <= intervals; i++)
		if ((double)period_duration(s, s->places[kept - 1], s->places[i]) >= least)
			s->places[kept++] = s->places[i];
	s->place_count = kept;
}

/* ---- the ends of the loop ---- */

COMPARATOR(compare_counts, uint32_t, order_of(*a, *b))

/* What follows a call, as a number: two others; with `after` or `next` UINT32_MAX any one instead of it. */
static uint64_t followers(uint32_t next, uint32_t after)
{
	return after == UINT32_MAX ? next : ((uint64_t)after + 1) << 32 | next;
}

/* The calls of the usual interval, and how often each call is followed by others in the loop. */
static void find_usual(struct period_search *s)
{
	size_t count = s->place_count - 1;
	SCOPED_MEMORY uint32_t *lengths = mem_alloc((count + 1) * sizeof(*lengths));

	for (size_t i = 0; i < count; i++)
		lengths[i] = s->places[i + 1] - s->places[i] - 1;
	array_sort(lengths, count, compare_counts);
	s->usual = lengths[count / 2];
	for (uint32_t i = s->places[0]; i + 1 < s->places[count]; i++) {
		uint32_t next = s->calls[i + 1].what;

		++*map_put(&s->followers, s->calls[i].what, followers(next, UINT32_MAX), NULL);
		++*map_put(&s->followers, s->calls[i].what, followers(next, s->calls[i + 2].what), NULL);
		++*map_put(&s->followers, s->calls[i].what, followers(UINT32_MAX, s->calls[i + 2].what), NULL);
	}
}

static bool is_often(const struct period_search *s, uint32_t what, uint64_t followed_by)
{
	const uint64_t *count = map_find(&s->followers, what, followed_by);

	return count && *count >= PAIR_LEAST && (double)*count >= PAIRS * (double)s->place_count;
}

/* Whether a call is followed by two others as in the loop. is_lenient: by the first of them, though one between them
 * may not have been recorded. */
static bool is_usual(const struct period_search *s, uint32_t what, uint32_t next, uint32_t after, bool is_lenient)
{
	return is_often(s, what, followers(next, is_lenient ? UINT32_MAX : after)) ||
	       (is_lenient && what != next && is_often(s, what, followers(UINT32_MAX, next)));
}

/* How many calls before the first anchor follow each other as in the loop. */
static uint32_t calls_before(const struct period_search *s, bool is_lenient)
{
	uint32_t first = s->places[0], anchor = s->calls[first].what, next = anchor, after = UINT32_MAX, count = 0;

	while (count < s->usual && count < first) {
		uint32_t what = s->calls[first - count - 1].what;

		if (what == anchor || !is_usual(s, what, next, after, is_lenient))
			break;
		after = next;
		next = what;
		count++;
	}
	return count;
}

/* How many calls after the last anchor do. */
static uint32_t calls_after(const struct period_search *s)
{
	uint32_t last = s->places[s->place_count - 1], count = 0, at = last;

	while (count < s->usual && at + 1 < s->count && s->calls[at + 1].what != s->calls[last].what &&
	       (at == last ? is_usual(s, s->calls[at].what, s->calls[at + 1].what, UINT32_MAX, false)
			   : is_usual(s, s->calls[at - 1].what, s->calls[at].what, s->calls[at + 1].what, false))) {
		count++;
		at++;
	}
	return count;
}

/* A loop begins as early as possible. */
static void find_ends(struct period_search *s)
{
	uint32_t lenient;

	s->head = calls_before(s, false);
	s->tail = calls_after(s);
	lenient = s->head + s->tail < WHOLE * s->usual ? calls_before(s, true) : 0;
	if (lenient > s->head + 1) /* one more may be chance */
		s->head = lenient;
	/* the last anchor lacks its step: the call is made after the loop */
	if (2 * (s->head + s->tail) < s->usual && s->place_count > PERIOD_STEPS) {
		s->place_count--;
		s->tail = calls_after(s);
	}
	if (s->head + s->tail > s->usual)
		s->tail = s->usual - s->head;
}

/* ---- where steps begin ---- */

/* Whether the first step has such a pair of calls before its anchor. */
static bool is_within_head(const struct period_search *s, uint32_t call)
{
	for (uint32_t i = s->places[0] - s->head; i < s->places[0]; i++)
		if (s->calls[i].what == s->calls[call].what && s->calls[i + 1].what == s->calls[call + 1].what)
			return true;
	return false;
}

/* If most intervals have as many calls of what begins a step, then all steps have as many of them before the anchor as
 * the first one. */
static void count_begins(struct period_search *s)
{
	uint32_t begin = s->calls[s->places[0] - s->head].what, counts[RANGE_MOST] = {0};

	s->begins = 0;
	for (size_t i = 1; i < s->place_count; i++) {
		uint32_t count = 0;

		for (uint32_t k = s->places[i - 1] + 1; k < s->places[i]; k++)
			count += s->calls[k].what == begin;
		counts[count < RANGE_MOST ? count : 0]++;
	}
	for (uint32_t i = 1; i < RANGE_MOST; i++)
		if (counts[i] >= MOSTLY * (double)(s->place_count - 1))
			for (uint32_t k = s->places[0] - s->head; k < s->places[0]; k++)
				s->begins += s->calls[k].what == begin;
}

/* The first call of the step of an anchor: else the last one that begins a step and follows something else than within
 * one. If there is none, it was too short to be recorded. */
static uint32_t first_call(const struct period_search *s, size_t anchor)
{
	uint32_t from = s->places[anchor - 1], to = s->places[anchor], begin = s->calls[s->places[0] - s->head].what,
		 end = s->calls[s->places[s->place_count - 1] + s->tail].what;

	for (uint32_t i = to, count = 0; s->head && i-- > from + 1;)
		if (s->calls[i].what == begin &&
		    (s->begins ? ++count == s->begins : !is_within_head(s, i - 1)))
			return i;
	for (uint32_t i = to; s->head && i-- > from;)
		if (s->calls[i].what == end)
			return i + 1;
	return to - from > s->head ? to - s->head : to;
}

static void find_firsts(struct period_search *s, struct period *ret)
{
	count_begins(s);
	ret->firsts = mem_alloc((s->place_count + 1) * sizeof(*ret->firsts));
	ret->firsts[ret->count++] = s->places[0] - s->head;
	for (size_t i = 1; i < s->place_count; i++)
		ret->firsts[ret->count++] = first_call(s, i);
	ret->after = s->places[s->place_count - 1] + s->tail + 1;
}

static void period_search_done(struct period_search *s)
{
	free(s->counts);
	free(s->firsts);
	free(s->lasts);
	free(s->seen);
	free(s->present);
	free(s->once);
	free(s->weights);
	free(s->is_core);
	free(s->ranges);
	map_done(&s->followers);
	free(s->lengths);
	free(s->places);
}

bool period_find(const struct looped_call *calls, size_t count, uint32_t whats, const float *importance,
		 uint64_t lifetime_ns, struct period *ret)
{
	SCOPED(period_search) s = {.calls = calls, .count = (uint32_t)count, .whats = whats,
				   .importance = importance, .lifetime_ns = lifetime_ns ?: 1};
	const size_t words = (whats + 1) * sizeof(uint32_t);
	struct anchor anchor;
	bool is_found;

	*ret = (struct period){0};
	s.counts = mem_alloc(words);
	s.firsts = mem_alloc(words);
	s.lasts = mem_alloc(words);
	s.seen = mem_alloc(words);
	s.present = mem_alloc(words);
	s.once = mem_alloc(words);
	s.ranges = mem_alloc((whats + 1) * sizeof(*s.ranges));
	s.weights = mem_alloc((whats + 1) * sizeof(double));
	s.is_core = mem_alloc(whats + 1);
	s.lengths = mem_alloc((count + 1) * sizeof(*s.lengths));
	s.places = mem_alloc((count + 1) * sizeof(*s.places));
	count_calls(&s);
	is_found = s.all_weights > 0 && period_choose_anchor(&s, &anchor);
	if (is_found) {
		find_places(&s, &anchor);
		if (!s.core_count)
			join_short(&s);
		find_usual(&s);
		find_ends(&s);
		find_firsts(&s, ret);
		ret->coverage = anchor.coverage;
		ret->is_of_one = !s.core_count;
	}
	is_found = is_found && ret->count >= PERIOD_STEPS && !is_chance(&s);
	return is_found;
}

void period_done(struct period *p)
{
	free(p->firsts);
	*p = (struct period){0};
}
