/* SPDX-License-Identifier: Apache-2.0 */
/* --ring: what is kept of a run is a capture range, from the time since when the trace of every process is whole. */
#include <stdlib.h>

#include "report/read/job/model.h"

static uint64_t kept_since(const struct model *m, uint64_t run)
{
	uint64_t since = 0;

	array_each(const struct image, image, m->images, m->image_count)
		if (image->trace && image->run == run && image->trace->header.ring_ticks > since)
			since = image->trace->header.ring_ticks;
	return since;
}

static void keep_since(struct ranges *r, uint64_t since)
{
	r->is_ring = true;
	if (!r->count) {
		free(r->items);
		free(r->is_cancelled);
		r->count = 1;
		r->items = mem_alloc(sizeof(*r->items));
		r->is_cancelled = mem_alloc(sizeof(*r->is_cancelled));
	}
	list_each(struct tf_range, range, r) {
		range->begin_ticks = range->begin_ticks > since ? range->begin_ticks : since;
		if (range->end_ticks && range->end_ticks < since)
			range->end_ticks = since;
	}
}

void model_ring(struct model *m)
{
	for (size_t i = 0; i < m->ranges_count; i++) {
		uint64_t since = kept_since(m, m->ranges[i].run);

		if (since)
			keep_since(&m->ranges[i], since);
	}
}
