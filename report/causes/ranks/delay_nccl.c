/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of ranks in NCCL. The call only enqueues a kernel, and the kernels of a collective wait for each other: who
 * is late began its kernel last, and that of the rank which is late is the short one. Where no rank has a kernel, the
 * calls themselves wait. */
#include <stdlib.h>

#include "report/causes/ranks/rank_build.h"
#include "report/time/clocks/nccl_collective.h"

struct nccl_delays {
	struct delays *delays;
	struct nccl_collective *items; /* by communicator and number */
	size_t count, capacity;
	struct map sizes; /* communicator -> its ranks; (communicator, image) -> 1 */
};

static void take(void *context, const struct nccl_collective *c)
{
	struct nccl_delays *n = context;
	bool is_new;

	list_add(n, *c);
	map_put(&n->sizes, c->id, (uintptr_t)c->image, &is_new);
	if (is_new)
		++*map_put(&n->sizes, c->id, 0, NULL);
}

COMPARATOR(compare_numbers, struct nccl_collective,
	   order_of(a->id, b->id) ?: order_of(a->number, b->number)
	   ?: order_of((uintptr_t)a->image, (uintptr_t)b->image))

/* A collective of which all ranks are known. */
struct nccl_meeting {
	const struct nccl_collective *first;
	size_t count;
	bool has_kernels;
	uint64_t late_ns; /* when the last one arrived */
};

static uint64_t arrival(const struct nccl_meeting *m, size_t i)
{
	return m->has_kernels ? m->first[i].start_ns : m->first[i].called_ns;
}

COMPARATOR(compare_meetings, struct nccl_meeting,
	   order_of(a->late_ns, b->late_ns) ?: order_of(a->first->id, b->first->id))

static struct nccl_meeting *find_meetings(struct nccl_delays *n, size_t *ret_count)
{
	struct nccl_meeting *all = mem_alloc((n->count + 1) * sizeof(*all));

	*ret_count = 0;
	for (size_t i = 0, next; i < n->count; i = next) {
		struct nccl_meeting m = {&n->items[i], 0, true, 0};

		for (next = i; next < n->count && n->items[next].id == n->items[i].id &&
			       n->items[next].number == n->items[i].number; next++)
			m.has_kernels &= n->items[next].end_ns != 0;
		m.count = next - i;
		for (size_t k = 0; k < m.count; k++)
			m.late_ns = arrival(&m, k) > m.late_ns ? arrival(&m, k) : m.late_ns;
		if (m.count > 1 && m.count == *map_find(&n->sizes, n->items[i].id, 0))
			all[(*ret_count)++] = m;
	}
	qsort(all, *ret_count, sizeof(*all), compare_meetings);
	return all;
}

static void add_meeting(struct delays *d, const struct nccl_meeting *m, uint64_t since_ns)
{
	const struct nccl_collective *late = m->first;

	for (size_t i = 0; i < m->count; i++)
		if (arrival(m, i) == m->late_ns)
			late = &m->first[i];
	for (size_t i = 0; i < m->count; i++) {
		const struct nccl_collective *c = &m->first[i];
		uint64_t start_ns = arrival(m, i), end_ns = m->has_kernels ? c->end_ns : c->returned_ns;
		uint64_t late_ns = m->late_ns < end_ns ? m->late_ns : end_ns;

		if (c == late || late_ns < start_ns + RANK_WAIT_NS)
			continue;
		delays_wait(d, &(struct rank_wait){.start_ns = start_ns,
						   .end_ns = end_ns,
						   .late_ns = late_ns,
						   .since_ns = since_ns < start_ns ? since_ns : start_ns,
						   .called_ns = c->called_ns,
						   .late_called_ns = late->called_ns,
						   .waiting = delays_lane(d, c->image),
						   .late = delays_lane(d, late->image),
						   .group = delays_group(d, c->image, c->function, c->stack),
						   .meeting = d->meetings});
	}
	d->meetings++;
}

void delays_of_nccl(struct delays *d)
{
	const struct model *m = d->context->model;
	struct nccl_delays n = {.delays = d};
	struct map last = {0}; /* communicator -> when the last rank came to the one before */
	SCOPED_MEMORY struct nccl_meeting *all = NULL;
	uint64_t all_ns = 0;
	size_t count, most = 0;

	for (size_t i = 0; i < m->image_count; i++)
		if (*image_rank(&m->images[i]))
			nccl_collectives(m, &m->images[i], &n, take);
	array_sort(n.items, n.count, compare_numbers);
	all = find_meetings(&n, &count);
	for (size_t i = 0; i < count; i++)
		most = all[i].count > most ? all[i].count : most;
	for (size_t i = 0; i < count; i++) {
		uint64_t *before = map_put(&last, all[i].first->id, 0, NULL);

		add_meeting(d, &all[i], *before > all_ns ? *before : all_ns);
		*before = all[i].late_ns;
		all_ns = all[i].count == most ? all[i].late_ns : all_ns;
	}
	d->counts.collectives += count;
	d->counts.ranks = most > d->counts.ranks ? most : d->counts.ranks;
	map_done(&last);
	map_done(&n.sizes);
	free(n.items);
}
