/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/ranks/pop.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/ranks/rank_build.h"
#include "report/time/clocks/nccl_collective.h"

/* Of a rank: when it communicated. */
struct pop_rank {
	uint32_t lane;
	uint64_t from_ns, to_ns; /* between MPI_Init and MPI_Finalize */
	struct pop_call {
		uint64_t start_ns, end_ns;
	} *calls; /* by start, disjoint once settled */
	size_t count, capacity;
};

struct pop_ranks {
	struct delays delays;
	bool has_mpi, has_nccl;
	struct pop_rank *items;
	size_t count, capacity;
};

static void add_call(struct pop_rank *r, uint64_t start_ns, uint64_t end_ns)
{
	mem_append(r->calls, r->count, r->capacity, (struct pop_call){start_ns, end_ns});
}

static void take_nccl(void *context, const struct nccl_collective *c)
{
	add_call(context, c->end_ns ? c->start_ns : c->called_ns, c->end_ns ? c->end_ns : c->returned_ns);
}

static void read_thread(struct pop_rank *r, const struct image *image, const struct clock_map *clock,
			const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, image->trace, thread);
	while (cursor_next(&cursor, &e)) {
		const struct function *f = event_function(image->trace, &e);
		uint64_t start_ns;

		if (!f || f->group != TF_GROUP_MPI)
			continue;
		start_ns = clock_map_ns(clock, event_start(&e));
		if (f->kind.parallel & PARALLEL_BEGINS)
			r->from_ns = start_ns + clock_map_duration(clock, e.duration);
		else if (f->kind.parallel & PARALLEL_ENDS)
			r->to_ns = start_ns;
		else
			add_call(r, start_ns, start_ns + clock_map_duration(clock, e.duration));
	}
}

COMPARATOR(compare_pop_calls, struct pop_call, order_of(a->start_ns, b->start_ns) ?: order_of(a->end_ns, b->end_ns))

/* Makes the calls disjoint, and sets what is not known of the ends. */
static void settle(struct pop_rank *r)
{
	size_t count = 0;

	sort_unless_sorted(r->calls, r->count, sizeof(*r->calls), compare_pop_calls);
	for (size_t i = 0; i < r->count; i++) {
		struct pop_call *last = count ? &r->calls[count - 1] : NULL;

		if (last && r->calls[i].start_ns <= last->end_ns)
			last->end_ns = r->calls[i].end_ns > last->end_ns ? r->calls[i].end_ns : last->end_ns;
		else
			r->calls[count++] = r->calls[i];
	}
	r->count = count;
	r->from_ns = r->from_ns ? r->from_ns : r->calls[0].start_ns;
	r->to_ns = r->to_ns > r->from_ns ? r->to_ns : r->calls[count - 1].end_ns;
}

static void add_image(struct pop_ranks *all, const struct image *image)
{
	const struct model *m = all->delays.context->model;
	struct pop_rank r = {0};

	for (size_t i = 0; i < image->trace->thread_count; i++)
		if (image->trace->threads[i].groups & 1u << TF_GROUP_MPI)
			read_thread(&r, image, &m->machines[image->machine].clock, &image->trace->threads[i]);
	all->has_mpi |= r.count;
	if (!r.count) {
		nccl_collectives(m, image, &r, take_nccl);
		all->has_nccl |= r.count;
	}
	if (!r.count)
		return;
	settle(&r);
	r.lane = delays_lane(&all->delays, image);
	list_add(all, r);
}

/* How long the rank communicated between two times. */
static uint64_t communicated(const struct pop_rank *r, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (size_t i = first_place(k, 0, r->count, r->calls[k].end_ns <= from_ns);
	     i < r->count && r->calls[i].start_ns < to_ns; i++) {
		uint64_t start = r->calls[i].start_ns > from_ns ? r->calls[i].start_ns : from_ns;
		uint64_t end = r->calls[i].end_ns < to_ns ? r->calls[i].end_ns : to_ns;

		sum += end - start;
	}
	return sum;
}

/* Communication on the critical path between two times. */
static uint64_t transfer_of(const struct pop_ranks *all, uint64_t from_ns, uint64_t to_ns)
{
	const struct delays *d = &all->delays;
	uint64_t sum = 0;

	for (size_t i = 0; i < d->span_count; i++) {
		uint64_t start = d->spans[i].from_ns > from_ns ? d->spans[i].from_ns : from_ns;
		uint64_t end = d->spans[i].to_ns < to_ns ? d->spans[i].to_ns : to_ns;

		for (size_t k = 0; start < end && k < all->count; k++)
			if (all->items[k].lane == d->spans[i].lane)
				sum += communicated(&all->items[k], start, end);
	}
	return sum;
}

static void find_efficiencies(const struct pop_ranks *all, uint64_t from_ns, uint64_t to_ns, struct pop *ret)
{
	double sum = 0, run = (double)(to_ns - from_ns), ideal;
	uint64_t most = 0, transfer = transfer_of(all, from_ns, to_ns);

	list_each(const struct pop_rank, r, all) {
		uint64_t end_ns = r->to_ns < to_ns ? r->to_ns : to_ns;
		uint64_t whole = end_ns > from_ns ? end_ns - from_ns : 0;
		uint64_t useful = whole - communicated(r, from_ns, from_ns + whole);

		sum += (double)useful;
		most = useful > most ? useful : most;
	}
	ret->ranks = all->count;
	ret->from_ns = from_ns;
	ret->run_ns = to_ns - from_ns;
	ideal = run - (double)transfer > (double)most ? run - (double)transfer : (double)most;
	ret->parallel = sum / (double)all->count / run;
	ret->balance = most ? sum / (double)all->count / (double)most : 0;
	ret->communication = (double)most / run;
	ret->serialisation = ideal > 0 ? (double)most / ideal : 0;
	ret->transfer = ideal / run;
}

/* The time in which all ranks take part, up to the end of the last one, and its critical path. False: there is none. */
static bool find_run(struct pop_ranks *all, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	const struct pop_rank *last = all->items;

	*ret_from_ns = 0;
	for (size_t i = 0; i < all->count; i++) {
		*ret_from_ns = all->items[i].from_ns > *ret_from_ns ? all->items[i].from_ns : *ret_from_ns;
		last = all->items[i].to_ns > last->to_ns ? &all->items[i] : last;
	}
	if (all->count < 2 || last->to_ns <= *ret_from_ns)
		return false;
	*ret_to_ns = last->to_ns;
	delays_of_mpi(&all->delays);
	delays_of_nccl(&all->delays);
	delays_path(&all->delays, last->lane, last->to_ns, *ret_from_ns);
	return true;
}

bool pop_find_parts(const struct report_context *c, const uint64_t *borders, size_t count, struct pop *ret)
{
	const struct model *m = c->model;
	struct pop_ranks all = {.delays = {.context = c, .attribution = {.symbols = c->symbols}}};
	uint64_t from_ns, to_ns;
	bool has;

	memset(ret, 0, count * sizeof(*ret));
	interner_text_number(&all.delays.texts, "");
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace && *image_rank(&m->images[i]))
			add_image(&all, &m->images[i]);
	has = find_run(&all, &from_ns, &to_ns);
	for (size_t i = 0; has && i < count; i++) {
		uint64_t from = borders[i] > from_ns ? borders[i] : from_ns;
		uint64_t to = borders[i + 1] < to_ns ? borders[i + 1] : to_ns;

		ret[i].has_mpi = all.has_mpi;
		ret[i].has_nccl = all.has_nccl;
		if (to > from)
			find_efficiencies(&all, from, to, &ret[i]);
	}
	array_free(item, all.items, all.count, free(item->calls));
	interner_done(&all.delays.texts);
	delays_done(&all.delays);
	return has;
}

bool pop_find(const struct report_context *c, struct pop *ret)
{
	return pop_find_parts(c, (const uint64_t[]){0, UINT64_MAX}, 1, ret);
}
