/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that wait for each other in kernels of NCCL: the calls only enqueue them, and the host waits for the GPU. The
 * last collective that a rank has called on a communicator cannot end before all others have called it. */
#include <stdlib.h>

#include "report/causes/where/place.h"
#include "report/time/clocks/nccl_collective.h"

/* The last collective of a rank on a communicator. */
struct nccl_last {
	size_t item;
	uint64_t id, number;
	uint32_t function;
};

struct nccl_lasts {
	struct nccl_last *items;
	size_t count, capacity;
	size_t item; /* whose image is read */
};

static void take(void *context, const struct nccl_collective *c)
{
	struct nccl_lasts *all = context;
	struct nccl_last *last = NULL;

	list_each(struct nccl_last, one, all)
		if (one->item == all->item && one->id == c->id)
			last = one;
	if (!last)
		list_add(all, ((struct nccl_last){all->item, c->id, c->number, c->function}));
	else if (last->number < c->number)
		*last = (struct nccl_last){all->item, c->id, c->number, c->function};
}

static bool waits_for_gpu(const struct where_item *item)
{
	return item && item->image && item->name &&
	       function_kind_of(item->name, TF_GROUP_CUDA).cuda & CUDA_SYNCHRONIZE;
}

/* Whether another rank of the communicator has not called the collective, or has called another one instead. */
static bool is_alone(const struct nccl_lasts *all, const struct nccl_last *last, struct where_item **items)
{
	list_each(const struct nccl_last, other, all) {
		const struct trace *mine = items[last->item]->image->trace, *its = items[other->item]->image->trace;

		if (other->id == last->id && other->item != last->item &&
		    (other->number < last->number ||
		     (other->number == last->number && trace_function(its, other->function)->kind.match !=
							       trace_function(mine, last->function)->kind.match)))
			return true;
	}
	return false;
}

void where_nccl_find(const struct where_place *p, struct where_item **items, size_t count)
{
	struct nccl_lasts all = {0};
	size_t waiting = array_sum(one, items, count, waits_for_gpu(*one));

	for (size_t i = 0; i < count && waiting; i++) {
		all.item = i;
		if (items[i] && items[i]->image)
			nccl_collectives(p->model, items[i]->image, &all, take);
	}
	list_each(const struct nccl_last, last, &all) {
		struct where_item *item = items[last->item];

		if (waits_for_gpu(item) && is_alone(&all, last, items))
			where_item_on_gpu(item, trace_function(item->image->trace, last->function)->name);
	}
	free(all.items);
}
