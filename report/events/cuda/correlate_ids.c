/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "report/events/cuda/correlate.h"

uint64_t correlation_number(const struct model *m, const struct image *image, const struct device_record *r)
{
	uint64_t exec = (uint64_t)(image - &m->images[m->processes[image->process].first_image]);

	return exec << 48 | (uint64_t)r->epoch << 32 | r->correlation;
}

struct id_adder {
	struct correlation_ids *ids;
	const struct model *model;
};

static void ids_add_correlated(void *context, const struct correlated *k)
{
	struct id_adder *a = context;
	struct correlation_ids *ids = a->ids;

	if (!k->thread || !k->record_count)
		return;
	list_add(ids, (struct correlation_id){k->event.args, correlation_number(a->model, k->image, k->records)});
}

COMPARATOR(compare_places, struct correlation_id,
	   order_of((uintptr_t)a->place, (uintptr_t)b->place) ?: order_of(a->number, b->number))

void correlation_ids(const struct report_context *c, const struct image *image, struct correlation_ids *ret)
{
	struct id_adder a = {ret, c->model};

	*ret = (struct correlation_ids){0};
	if (!image->trace)
		return;
	correlate_image(c, image, &a, ids_add_correlated, NULL);
	array_sort(ret->items, ret->count, compare_places);
}

void correlation_ids_done(struct correlation_ids *ids)
{
	free(ids->items);
	*ids = (struct correlation_ids){0};
}

uint64_t correlation_of(const struct correlation_ids *ids, const struct event *e)
{
	size_t at = first_place(i, 0, ids->count, ids->items[i].place < e->args);

	return at < ids->count && ids->items[at].place == e->args ? ids->items[at].number : 0;
}
