/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of ranks that neither call MPI nor NCCL, as those of gloo: the main thread of a rank waits for a thread
 * that has sockets. In a collective these waits end together in all ranks, so waits in the same line that end at nearly
 * the same time are one meeting; a rank that did not wait was the last one. What precedes the first meeting is start-up
 * of the ranks, and is not judged. */
#include <stdlib.h>
#include <string.h>

#include "report/causes/ranks/rank_build.h"

/* Shorter waits are not looked at. The waits of a meeting end within TOGETHER_NS, or that part of their length. */
enum { THREAD_WAIT_NS = 500000, TOGETHER_NS = 2000000, TOGETHER_PART = 4, MEETINGS_LEAST = 4 };

struct thread_wait {
	uint64_t start_ns, end_ns;
	uint32_t rank, function, stack; /* rank: in ranks */
	const struct code_line *line;
};

struct waiting_rank {
	const struct image *image;
	size_t waits;
};

struct thread_delays {
	struct delays *delays;
	struct aggregate names; /* of ranks */
	struct waiting_rank *ranks;
	size_t rank_capacity;
	struct thread_wait *items; /* by end */
	size_t count, capacity;
};

static void read_waits(struct thread_delays *t, uint32_t rank, const struct image *image)
{
	const struct clock_map *clock = &t->delays->context->model->machines[image->machine].clock;
	struct cursor cursor;
	struct event e;

	for (size_t i = 0; i < image->trace->thread_count; i++) {
		if (image->trace->threads[i].tid != image->pid)
			continue;
		cursor_init(&cursor, image->trace, &image->trace->threads[i]);
		while (cursor_next(&cursor, &e)) {
			const struct function *f = event_function(image->trace, &e);
			struct thread_wait w = {.rank = rank, .function = e.id};

			if (!f || f->kind.waits != BLOCKED_THREAD ||
			    (f->kind.does & (FUNCTION_AWAITS | FUNCTION_JOINS)) != FUNCTION_AWAITS)
				continue;
			w.start_ns = clock_map_ns(clock, event_start(&e));
			w.end_ns = clock_map_ns(clock, e.ticks);
			w.stack = event_stack(&e);
			if (w.end_ns < w.start_ns + THREAD_WAIT_NS ||
			    delays_is_gil(t->delays, image, f, w.stack))
				continue;
			w.line = delays_line(t->delays, image, w.stack);
			if (!w.line)
				continue;
			list_add(t, w);
		}
	}
}

/* Workers of a rank have its number, too: the one that waits most is it. */
static void gather(struct thread_delays *t)
{
	const struct model *m = t->delays->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		const char *name = image_rank(&m->images[i]);
		size_t before = t->count, known = t->names.count, kept = 0;
		uint32_t rank;

		if (!*name || !m->images[i].trace)
			continue;
		rank = aggregate_row(&t->names, name, strlen(name) + 1);
		if (rank == known) {
			t->ranks = mem_grow(t->ranks, known, &t->rank_capacity, sizeof(*t->ranks));
			t->ranks[rank] = (struct waiting_rank){&m->images[i], 0};
		}
		read_waits(t, rank, &m->images[i]);
		if (t->count - before <= t->ranks[rank].waits) {
			t->count = before;
			continue;
		}
		for (size_t k = 0; k < t->count; k++)
			if (k >= before || t->items[k].rank != rank)
				t->items[kept++] = t->items[k];
		t->ranks[rank] = (struct waiting_rank){&m->images[i], t->count - before};
		t->count = kept;
	}
}

COMPARATOR(compare_ends, struct thread_wait,
	   order_of(a->line->number, b->line->number) ?: order_of(a->end_ns, b->end_ns) ?: order_of(a->rank, b->rank))

/* The waits from the first one on that are of one meeting. */
static size_t meeting_of(const struct thread_delays *t, size_t first)
{
	const struct thread_wait *w = &t->items[first];
	uint64_t within = (w->end_ns - w->start_ns) / TOGETHER_PART;
	size_t next = first + 1;

	within = within > TOGETHER_NS ? within : TOGETHER_NS;
	for (; next < t->count && t->items[next].line == w->line && t->items[next].end_ns <= w->end_ns + within; next++)
		for (size_t k = first; k < next; k++)
			if (t->items[k].rank == t->items[next].rank)
				return next;
	return next;
}

/* The rank that began to wait last, or one that did not wait. */
static uint32_t late_of(const struct thread_delays *t, const struct thread_wait *waits, size_t count, uint64_t *ret_ns)
{
	const struct thread_wait *last = waits;
	SCOPED_MEMORY bool *is_there = mem_alloc(t->names.count + 1);
	uint32_t late;

	*ret_ns = waits->end_ns;
	for (size_t i = 0; i < count; i++) {
		is_there[waits[i].rank] = true;
		last = waits[i].start_ns > last->start_ns ? &waits[i] : last;
	}
	for (late = 0; late < t->names.count && is_there[late]; late++)
		;
	if (late < t->names.count)
		return late;
	*ret_ns = last->start_ns;
	return last->rank;
}

static void add_meeting(struct thread_delays *t, const struct thread_wait *waits, size_t count, uint64_t *since_ns)
{
	struct delays *d = t->delays;
	uint64_t late_ns;
	uint32_t late = late_of(t, waits, count, &late_ns);

	for (size_t i = 0; *since_ns && i < count; i++) {
		const struct thread_wait *w = &waits[i];
		const struct image *image = t->ranks[w->rank].image;
		uint64_t until = late_ns < w->end_ns ? late_ns : w->end_ns;

		if (w->rank == late || until < w->start_ns + RANK_WAIT_NS)
			continue;
		delays_wait(d, &(struct rank_wait){.start_ns = w->start_ns,
						   .end_ns = w->end_ns,
						   .late_ns = until,
						   .since_ns = *since_ns < w->start_ns ? *since_ns : w->start_ns,
						   .waiting = delays_lane(d, image),
						   .late = delays_lane(d, t->ranks[late].image),
						   .group = delays_group(d, image, w->function, w->stack),
						   .meeting = d->meetings});
	}
	d->meetings++;
	*since_ns = late_ns;
}

void delays_of_threads(struct delays *d)
{
	struct thread_delays t = {.delays = d};
	size_t meetings = 0;

	gather(&t);
	if (t.count)
		qsort(t.items, t.count, sizeof(*t.items), compare_ends);
	for (int pass = 0; pass < 2; pass++) {
		uint64_t since_ns = 0;

		for (size_t i = 0, next; i < t.count; i = next) {
			next = meeting_of(&t, i);
			since_ns = i && t.items[i].line != t.items[i - 1].line ? 0 : since_ns;
			if (next - i < 2 || (next - i) * 2 < t.names.count)
				continue;
			if (!pass)
				meetings++;
			else
				add_meeting(&t, &t.items[i], next - i, &since_ns);
		}
		if (meetings < MEETINGS_LEAST)
			break;
	}
	if (meetings >= MEETINGS_LEAST) {
		d->counts.collectives += meetings;
		d->counts.ranks = t.names.count;
	}
	aggregate_done(&t.names);
	free(t.ranks);
	free(t.items);
}
