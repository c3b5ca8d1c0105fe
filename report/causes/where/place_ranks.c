/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that wait for each other, or for one that does not arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/interner.h"
#include "report/causes/where/place.h"
#include "report/causes/where/rank_calls.h"

/* A rank: of its processes, the one that is in a call of MPI or NCCL, else the first one. */
struct where_rank {
	const char *name;
	struct where_item *main, *in; /* NULL: none */
	bool is_needed;		      /* another one is known to wait for it */
};

struct where_rank_list {
	struct where_rank *items;
	size_t count, capacity;
	struct interner names; /* their numbers are positions */
};

static struct where_rank *rank_of(struct where_rank_list *all, const char *name)
{
	uint32_t number = interner_text_number(&all->names, name);

	if (number == all->count)
		list_add(all, (struct where_rank){.name = name});
	return &all->items[number];
}

/* A shell, or another program that has started the rank. */
static bool waits_for_child(const struct where_item *item)
{
	const char *call = item->name ? item->name : item->wait.call;

	return function_kind_of(call, TF_GROUP_OSRT).waits == BLOCKED_CHILD;
}

/* All processes that a rank starts have its number in their environments. */
static void ranks_gather(const struct where_place *p, struct where_rank_list *all)
{
	list_each(struct where_item, item, p) {
		bool is_main = item->thread->head.tid == item->process->head.pid;
		struct where_rank *rank;

		if (!*item->rank || (!is_main && !item->wait.collective) || item->image->end == TF_END_EXIT)
			continue;
		rank = rank_of(all, item->rank);
		if (is_main && (!rank->main || waits_for_child(rank->main)))
			rank->main = item;
		if (item->wait.collective && (!rank->in || item->age_ns > rank->in->age_ns))
			rank->in = item;
	}
}

/* Those that wait for the GPU may wait for other ranks there. */
static void ranks_add_nccl(const struct where_place *p, struct where_rank_list *all)
{
	SCOPED_MEMORY struct where_item **mains = mem_alloc((all->count + 1) * sizeof(*mains));

	for (size_t i = 0; i < all->count; i++)
		mains[i] = all->items[i].in ? NULL : all->items[i].main;
	where_nccl_find(p, mains, all->count);
	for (size_t i = 0; i < all->count; i++)
		if (mains[i] && mains[i]->on_gpu)
			all->items[i].in = mains[i];
}

COMPARATOR(rank_order, struct where_rank,
	   order_of(rank_number(a->name, NULL), rank_number(b->name, NULL)) ?: strcmp(a->name, b->name))

/* What MPI's function does: PARALLEL_*. NCCL's have none of it. */
static unsigned parallel_of(const char *name)
{
	return function_kind_of(name, TF_GROUP_MPI).parallel;
}

static bool is_finalizing(const struct where_rank *r)
{
	return r->in && parallel_of(r->in->wait.collective) & PARALLEL_ENDS;
}

/* Of ranks that are all in calls. */
static enum where_stall stall_of_all(const struct where_rank_list *all, size_t finalizing)
{
	size_t receiving = 0, sending = 0, together = 0;
	bool differs = false;

	for (size_t i = 0; i < all->count; i++) {
		const char *name = all->items[i].in->wait.collective;

		receiving += (parallel_of(name) & PARALLEL_RECEIVES) != 0;
		sending += (parallel_of(name) & PARALLEL_SENDS) != 0;
		together += (parallel_of(name) & PARALLEL_OF_ALL) != 0;
		differs |= strcmp(name, all->items[0].in->wait.collective) != 0;
	}
	if (finalizing && finalizing < all->count) /* these come to nothing that the others wait in */
		return WHERE_MISSING;
	return receiving == all->count		     ? WHERE_NOBODY_SENDS
	       : sending == all->count		     ? WHERE_NOBODY_RECEIVES
	       : together == all->count && differs   ? WHERE_MISMATCH
	       : together && receiving && together + receiving == all->count ? WHERE_MISMATCH
									     : WHERE_IN_CALLS;
}

static bool is_named(const struct where_ranks *r, const struct where_rank *rank)
{
	return r->stall == WHERE_LATE	   ? !rank->in && (rank->is_needed || !r->knows_needed)
	       : r->stall == WHERE_MISSING ? is_finalizing(rank)
					   : true;
}

/* Counts the ranks that wait in a call for others. Returns the number of those in MPI_Finalize. */
static size_t count_waiting(const struct where_rank_list *all, struct where_ranks *ret)
{
	size_t finalizing = 0;

	ret->least_ns = UINT64_MAX;
	ret->name = NULL;
	for (size_t i = 0; i < all->count; i++) {
		const struct where_item *in = all->items[i].in;

		if (!in)
			continue;
		ret->in++;
		finalizing += is_finalizing(&all->items[i]);
		if (!in->has_age || in->age_ns < ret->least_ns)
			ret->least_ns = in->has_age ? in->age_ns : 0;
	}
	for (size_t i = 0; i < all->count; i++) {
		const struct where_item *in = all->items[i].in;

		if (!in || (is_finalizing(&all->items[i]) && finalizing < ret->in))
			continue;
		if (!ret->name)
			ret->name = in->wait.collective;
		else if (strcmp(ret->name, in->wait.collective) != 0)
			ret->name = "calls of MPI";
	}
	ret->least_ns = ret->in ? ret->least_ns : 0;
	return finalizing;
}

/* ---- proofs ---- */

static enum where_stall stall_of_set(const struct rank_call *calls, const struct where_rank_list *all, uint32_t set)
{
	size_t count = 0, together = 0, receiving = 0, sending = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (calls[i].set != set)
			continue;
		count++;
		together += calls[i].is_collective;
		receiving += (parallel_of(calls[i].item->wait.collective) & PARALLEL_RECEIVES) != 0;
		sending += (parallel_of(calls[i].item->wait.collective) & PARALLEL_SENDS) != 0;
	}
	return together == count	? WHERE_MISMATCH
	       : count < all->count	? WHERE_EACH_OTHER
	       : receiving == count	? WHERE_NOBODY_SENDS
	       : sending == count	? WHERE_NOBODY_RECEIVES
	       : together && together + receiving == count ? WHERE_MISMATCH
							   : WHERE_EACH_OTHER;
}

/* Ranks that wait for each other, or else for one in MPI_Finalize. */
static void take_proof(const struct rank_call *calls, uint32_t sets, const struct where_rank_list *all,
		       struct where_ranks *ret)
{
	size_t chosen = SIZE_MAX;
	bool is_cycle = false;

	for (size_t i = 0; i < all->count; i++)
		if (calls[i].set && !is_cycle && (calls[i].is_needed || !is_finalizing(&all->items[i]))) {
			chosen = i;
			is_cycle = !is_finalizing(&all->items[i]);
		}
	if (!sets || chosen == SIZE_MAX)
		return;
	ret->stall = is_cycle ? stall_of_set(calls, all, calls[chosen].set) : WHERE_MISSING;
	ret->in = 0;
	ret->least_ns = UINT64_MAX;
	ret->name = NULL;
	for (size_t i = 0; i < all->count; i++) {
		struct where_item *in = all->items[i].in;
		bool is_in = is_cycle ? calls[i].set == calls[chosen].set : calls[i].is_stuck && !calls[i].set;

		if (is_cycle ? is_in : is_finalizing(&all->items[i]) && calls[i].is_needed)
			ret->items[ret->item_count++] = in;
		if (!is_in)
			continue;
		snprintf(in->waits_for, sizeof(in->waits_for), "%s", calls[i].waits_for);
		ret->in++;
		ret->least_ns = !in->has_age ? 0 : in->age_ns < ret->least_ns ? in->age_ns : ret->least_ns;
		ret->name = !ret->name || !strcmp(ret->name, in->wait.collective) ? in->wait.collective
										  : "calls of MPI";
	}
}

/* Sets what is proved. Returns whether it is known for all ranks what they wait for. */
static bool find_proof(struct where_rank_list *all, struct where_ranks *ret)
{
	SCOPED_MEMORY struct rank_call *calls = mem_alloc((all->count + 1) * sizeof(*calls));
	bool is_known = true;

	for (size_t i = 0; i < all->count; i++) {
		const struct where_rank *rank = &all->items[i];

		calls[i] = (struct rank_call){
			.item = rank->in, .image = (rank->in ? rank->in : rank->main)->image, .name = rank->name};
	}
	take_proof(calls, rank_calls_find(calls, all->count), all, ret);
	for (size_t i = 0; i < all->count; i++) {
		all->items[i].is_needed = calls[i].is_needed;
		ret->knows_needed |= calls[i].is_needed && !all->items[i].in;
		is_known &= calls[i].is_known;
	}
	return is_known;
}

void where_ranks_find(const struct where_place *p, struct where_ranks *ret)
{
	struct where_rank_list all = {0};
	size_t finalizing;
	bool is_known;

	*ret = (struct where_ranks){0};
	ranks_gather(p, &all);
	ranks_add_nccl(p, &all);
	array_sort(all.items, all.count, rank_order);
	ret->items = mem_alloc((all.count + 1) * sizeof(*ret->items));
	ret->count = all.count;
	finalizing = count_waiting(&all, ret);
	is_known = find_proof(&all, ret);
	if (!ret->stall) {
		if (ret->in && ret->in < ret->count)
			ret->stall = WHERE_LATE;
		else if (ret->count > 1 && ret->in)
			ret->stall = is_known ? WHERE_IN_CALLS : stall_of_all(&all, finalizing);
		if (ret->stall == WHERE_MISSING)
			ret->in -= finalizing;
		for (size_t i = 0; i < all.count && ret->stall; i++) {
			struct where_item *item = all.items[i].in ? all.items[i].in : all.items[i].main;

			if (item && is_named(ret, &all.items[i]))
				ret->items[ret->item_count++] = item;
		}
	}
	free(all.items);
	interner_done(&all.names);
}

void where_ranks_done(struct where_ranks *r)
{
	free(r->items);
	*r = (struct where_ranks){0};
}
