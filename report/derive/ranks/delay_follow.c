/* SPDX-License-Identifier: Apache-2.0 */
/* Follows each wait back over what the late rank did, and over its own waits to those for whom it waited. */
#include <stdlib.h>

#include "report/derive/ranks/rank_build.h"

/* A chain of more ranks is followed no further. Of more ranks that wait in one meeting, only so many are subtracted, in
 * each meeting others, and count for all. */
enum { HOPS = 256, SUBTRACTED = 48 };

static void add_span(struct delays *d, const struct rank_span *s)
{
	if (s->to_ns <= s->from_ns)
		return;
	d->spans = mem_grow(d->spans, d->span_count, &d->span_capacity, sizeof(*d->spans));
	d->spans[d->span_count++] = *s;
}

/* The last wait of the lane that had ended by then; NULL: none. */
static const struct rank_wait *last_wait(const struct delays *d, uint32_t lane, uint64_t ns)
{
	const struct rank_lane *l = &d->lanes[lane];
	size_t place = first_place(i, 0, l->count, d->waits[l->waits[i]].end_ns <= ns);

	return place ? &d->waits[l->waits[place - 1]] : NULL;
}

static uint64_t most_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* From the end of the span back to since_ns. */
static void follow(struct delays *d, struct rank_span s, uint64_t since_ns, size_t hops)
{
	for (; hops && s.to_ns > since_ns; hops--) {
		const struct rank_wait *w = last_wait(d, s.lane, s.to_ns);

		s.called_ns = s.called_ns ? s.called_ns : UINT64_MAX;
		if (!w || w->end_ns <= since_ns) {
			s.from_ns = since_ns;
			add_span(d, &s);
			return;
		}
		/* what the call took once the late rank had arrived is the lane's own */
		s.from_ns = most_of(w->late_ns, since_ns);
		add_span(d, &s);
		s.lane = w->late;
		s.to_ns = w->late_ns;
		s.called_ns = w->late_called_ns;
	}
}

static void follow_meeting(struct delays *d, const struct rank_wait *waits, size_t count)
{
	size_t step = (count + SUBTRACTED - 1) / SUBTRACTED, first = step ? waits->meeting % step : 0;
	const struct rank_wait *last = waits;
	size_t subtracted = 0;

	for (size_t i = 0; i < count; i++)
		last = waits[i].late_ns > last->late_ns ? &waits[i] : last;
	for (size_t i = first; i < count; i += step)
		subtracted++;
	d->groups[waits->group].paths++;
	++*map_put(&d->windows, waits->group, last->late, NULL);
	follow(d, (struct rank_span){.to_ns = last->late_ns, .called_ns = last->late_called_ns,
				     .weight = (double)count, .lane = last->late, .group = waits->group},
	       last->since_ns, HOPS);
	for (size_t i = first; i < count; i += step) {
		++*map_put(&d->windows, waits->group, waits[i].waiting, NULL);
		follow(d, (struct rank_span){.to_ns = waits[i].start_ns, .called_ns = waits[i].called_ns,
					     .weight = -(double)count / (double)subtracted,
					     .lane = waits[i].waiting, .group = waits->group},
		       last->since_ns, HOPS);
	}
}

static int compare_ends(size_t left, size_t right, const void *waits)
{
	const struct rank_wait *all = waits;

	return order_of(all[left].end_ns, all[right].end_ns) ?: order_of(left, right);
}

static void order_waits(struct delays *d)
{
	size_t *order = places_in_order(d->wait_count, compare_ends, d->waits);

	for (size_t i = 0; i < d->wait_count; i++) {
		struct rank_lane *l = &d->lanes[d->waits[order[i]].waiting];

		l->waits = mem_grow(l->waits, l->count, &l->capacity, sizeof(*l->waits));
		l->waits[l->count++] = (uint32_t)order[i];
	}
	free(order);
}

void delays_follow(struct delays *d)
{
	order_waits(d);
	for (size_t i = 0, next; i < d->wait_count; i = next) {
		/* the ranks of one meeting may call it in several lines: they are of the first one's */
		for (next = i; next < d->wait_count && d->waits[next].meeting == d->waits[i].meeting; next++) {
			struct wait_group *g = &d->groups[d->waits[i].group];

			g->wait_ns += d->waits[next].late_ns - d->waits[next].start_ns;
			g->count++;
		}
		follow_meeting(d, &d->waits[i], next - i);
	}
}

void delays_path(struct delays *d, uint32_t lane, uint64_t ns, uint64_t since_ns)
{
	order_waits(d);
	follow(d, (struct rank_span){.to_ns = ns, .weight = 1, .lane = lane}, since_ns, SIZE_MAX);
}
