/* SPDX-License-Identifier: Apache-2.0 */
/* Follows each wait back over what the late rank did, and over its own waits to those for whom it waited. */
#include <stdlib.h>

#include "report/causes/ranks/rank_build.h"

/* A chain of more ranks is followed no further. Of more ranks that wait in one meeting, only so many are subtracted, in
 * each meeting others, and count for all. */
enum { HOPS = 256, SUBTRACTED = 48 };

static void add_span(struct delays *d, const struct rank_span *s)
{
	if (s->to_ns <= s->from_ns)
		return;
	mem_append(d->spans, d->span_count, d->span_capacity, *s);
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

/* The ranks that were met on the way, and when each was there last. */
struct met {
	struct map *last; /* lane -> place + 1 */
	struct {
		uint32_t lane;
		uint64_t to_ns, called_ns;
	} *items;
	size_t count, capacity;
};

static void meet(struct met *m, const struct rank_span *s)
{
	uint64_t *place = map_put(m->last, s->lane, 0, NULL);

	if (!*place || *place > m->count || m->items[*place - 1].lane != s->lane) {
		m->items = mem_grow(m->items, m->count, &m->capacity, sizeof(*m->items));
		*place = ++m->count;
		m->items[*place - 1].to_ns = 0;
	}
	if (s->to_ns <= m->items[*place - 1].to_ns)
		return;
	m->items[*place - 1].lane = s->lane;
	m->items[*place - 1].to_ns = s->to_ns;
	m->items[*place - 1].called_ns = s->called_ns;
}

/* From the end of the span back to since_ns. */
static void follow(struct delays *d, struct rank_span s, uint64_t since_ns, size_t hops, struct met *met)
{
	for (; hops && s.to_ns > since_ns; hops--) {
		const struct rank_wait *w = last_wait(d, s.lane, s.to_ns);

		s.called_ns = s.called_ns ? s.called_ns : UINT64_MAX;
		if (met)
			meet(met, &s);
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

/* Of the members of a meeting that are looked at, the next one: all, or SUBTRACTED of them, in each meeting others. */
static size_t step_of(size_t count)
{
	return (count + SUBTRACTED - 1) / SUBTRACTED;
}

static size_t first_of(const struct rank_wait *w, size_t count)
{
	return count ? w->meeting % step_of(count) : 0;
}

/* What each of them did itself tells which ones are late. */
static void compare_met(struct delays *d, const struct met *met, const struct rank_wait *w)
{
	for (size_t i = 0; i < met->count; i++) {
		++*map_put(&d->windows, w->group, met->items[i].lane, NULL);
		add_span(d, &(struct rank_span){.from_ns = w->since_ns, .to_ns = met->items[i].to_ns,
						.called_ns = met->items[i].called_ns, .lane = met->items[i].lane,
						.group = w->group});
	}
}

/* The first `count` of all members wait. */
static void follow_meeting(struct delays *d, const struct rank_wait *waits, size_t count, size_t all, struct met *met)
{
	const struct rank_wait *last = waits;
	size_t subtracted = 0;

	for (size_t i = 0; i < count; i++)
		last = waits[i].late_ns > last->late_ns ? &waits[i] : last;
	for (size_t i = first_of(waits, count); i < count; i += step_of(count))
		subtracted++;
	met->count = 0;
	d->groups[waits->group].paths++;
	follow(d, (struct rank_span){.to_ns = last->late_ns, .called_ns = last->late_called_ns,
				     .weight = (double)count, .lane = last->late, .group = waits->group},
	       last->since_ns, HOPS, met);
	for (size_t i = first_of(waits, count); i < count; i += step_of(count))
		follow(d, (struct rank_span){.to_ns = waits[i].start_ns, .called_ns = waits[i].called_ns,
					     .weight = -(double)count / (double)subtracted,
					     .lane = waits[i].waiting, .group = waits->group},
		       last->since_ns, HOPS, met);
	for (size_t i = count + first_of(waits, all - count); i < all; i += step_of(all - count))
		meet(met, &(struct rank_span){.to_ns = waits[i].start_ns, .called_ns = UINT64_MAX,
					      .lane = waits[i].waiting});
	compare_met(d, met, last);
}

PLACE_COMPARATOR(compare_ends, struct rank_wait, order_of(a->end_ns, b->end_ns))

static void order_waits(struct delays *d)
{
	SCOPED_MEMORY size_t *order = places_in_order(d->wait_count, compare_ends, d->waits);

	for (size_t i = 0; i < d->wait_count; i++) {
		const struct rank_wait *w = &d->waits[order[i]];
		struct rank_lane *l = &d->lanes[w->waiting];

		if (w->late_ns == w->start_ns)
			continue;
		mem_append(l->waits, l->count, l->capacity, (uint32_t)order[i]);
	}
}

void delays_follow(struct delays *d)
{
	SCOPED(map) last = {0};
	struct met met = {.last = &last};

	order_waits(d);
	for (size_t i = 0, next; i < d->wait_count; i = next) {
		size_t waiting = 0;

		/* the ranks of one meeting may call it in several lines: they are of the first one's */
		for (next = i; next < d->wait_count && d->waits[next].meeting == d->waits[i].meeting; next++) {
			struct wait_group *g = &d->groups[d->waits[i].group];
			uint64_t ns = d->waits[next].late_ns - d->waits[next].start_ns;

			g->wait_ns += ns;
			g->count += ns != 0;
			waiting += ns != 0;
		}
		follow_meeting(d, &d->waits[i], waiting, next - i, &met);
	}
	free(met.items);
}

void delays_path(struct delays *d, uint32_t lane, uint64_t ns, uint64_t since_ns)
{
	order_waits(d);
	follow(d, (struct rank_span){.to_ns = ns, .weight = 1, .lane = lane}, since_ns, SIZE_MAX, NULL);
}
