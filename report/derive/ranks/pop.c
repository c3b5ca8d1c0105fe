/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/ranks/pop.h"

#include <stdlib.h>
#include <string.h>

#include "report/derive/clocks/nccl_collective.h"
#include "report/derive/ranks/rank_build.h"

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
	struct pop *pop;
	struct pop_rank *items;
	size_t count, capacity;
};

static void add_call(struct pop_rank *r, uint64_t start_ns, uint64_t end_ns)
{
	r->calls = mem_grow(r->calls, r->count, &r->capacity, sizeof(*r->calls));
	r->calls[r->count++] = (struct pop_call){start_ns, end_ns};
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
		const struct function *f = e.kind == TF_CALL ? trace_function(image->trace, e.id) : NULL;
		uint64_t start_ns;

		if (!f || f->group != TF_GROUP_MPI)
			continue;
		start_ns = clock_map_ns(clock, event_start(&e));
		if (!strncmp(f->name, "MPI_Init", 8))
			r->from_ns = start_ns + clock_map_duration(clock, e.duration);
		else if (!strcmp(f->name, "MPI_Finalize"))
			r->to_ns = start_ns;
		else
			add_call(r, start_ns, start_ns + clock_map_duration(clock, e.duration));
	}
}

static int compare_pop_calls(const void *left, const void *right)
{
	const struct pop_call *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of(a->end_ns, b->end_ns);
}

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
	all->pop->has_mpi |= r.count;
	if (!r.count) {
		nccl_collectives(m, image, &r, take_nccl);
		all->pop->has_nccl |= r.count;
	}
	if (!r.count)
		return;
	settle(&r);
	r.lane = delays_lane(&all->delays, image);
	all->items = mem_grow(all->items, all->count, &all->capacity, sizeof(*all->items));
	all->items[all->count++] = r;
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

/* Communication on the critical path from the end of the last rank back to that time. */
static uint64_t transfer_of(struct pop_ranks *all, const struct pop_rank *last, uint64_t from_ns)
{
	struct delays *d = &all->delays;
	uint64_t sum = 0;

	delays_of_mpi(d);
	delays_of_nccl(d);
	delays_path(d, last->lane, last->to_ns, from_ns);
	for (size_t i = 0; i < d->span_count; i++)
		for (size_t k = 0; k < all->count; k++)
			if (all->items[k].lane == d->spans[i].lane)
				sum += communicated(&all->items[k], d->spans[i].from_ns, d->spans[i].to_ns);
	return sum;
}

static void find_efficiencies(struct pop_ranks *all)
{
	struct pop *p = all->pop;
	const struct pop_rank *last = all->items;
	uint64_t from_ns = 0, most = 0, transfer;
	double sum = 0, run, ideal;

	for (size_t i = 0; i < all->count; i++) {
		from_ns = all->items[i].from_ns > from_ns ? all->items[i].from_ns : from_ns;
		last = all->items[i].to_ns > last->to_ns ? &all->items[i] : last;
	}
	if (last->to_ns <= from_ns)
		return;
	for (size_t i = 0; i < all->count; i++) {
		const struct pop_rank *r = &all->items[i];
		uint64_t whole = r->to_ns > from_ns ? r->to_ns - from_ns : 0;
		uint64_t useful = whole - communicated(r, from_ns, from_ns + whole);

		sum += (double)useful;
		most = useful > most ? useful : most;
	}
	p->ranks = all->count;
	p->run_ns = last->to_ns - from_ns;
	transfer = transfer_of(all, last, from_ns);
	run = (double)p->run_ns;
	ideal = run - (double)transfer > (double)most ? run - (double)transfer : (double)most;
	p->parallel = sum / (double)all->count / run;
	p->balance = most ? sum / (double)all->count / (double)most : 0;
	p->communication = (double)most / run;
	p->serialisation = ideal > 0 ? (double)most / ideal : 0;
	p->transfer = ideal / run;
}

bool pop_find(const struct report_context *c, struct pop *ret)
{
	const struct model *m = c->model;
	struct pop_ranks all = {.delays = {.context = c, .attribution = {.symbols = c->symbols}}, .pop = ret};

	*ret = (struct pop){0};
	interner_text_number(&all.delays.texts, "");
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace && *image_rank(&m->images[i]))
			add_image(&all, &m->images[i]);
	if (all.count > 1)
		find_efficiencies(&all);
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].calls);
	free(all.items);
	interner_done(&all.delays.texts);
	delays_done(&all.delays);
	return ret->ranks;
}
