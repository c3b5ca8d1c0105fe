/* SPDX-License-Identifier: Apache-2.0 */
/* jax_live_sum, jax_live_trace: the buffers that were alive in JAX, as far as --jax asked; jax_exec_sum: the
 * memory that its executables need. */
#include <stdlib.h>
#include <string.h>

#include "report/events/jax/jax_live.h"
#include "report/tables/report.h"

#define NO_LOOKS                                                                                                       \
	"JAX was not asked for its live buffers: record with --jax; it is asked when a function of jax.jit returns"

static const struct jax_look *peak_of(const struct jax_live *l, const struct image *image)
{
	for (size_t i = 0; i < l->look_count; i++)
		if (l->looks[i].image == image && l->looks[i].is_peak)
			return &l->looks[i];
	return NULL;
}

PLACE_COMPARATOR(by_bytes, struct jax_buffers,
		 order_of(b->bytes, a->bytes) ?: order_of(b->most, a->most) ?: strcmp(a->array, b->array) ?:
		 strcmp(a->line, b->line) ?: order_of(a->image->pid, b->image->pid))

void report_jax_live_sum(const struct report_context *c, struct table *table)
{
	SCOPED(attribution) attribution = {.symbols = c->symbols, .is_innermost = c->lines_all};
	SCOPED(jax_live) live = {0};
	SCOPED_MEMORY size_t *order = NULL;

	table_has(table, COL_PID, COL_SHARE_OF_PEAK_PERCENT, COL_IN_USE_AT_PEAK_MB, COL_BUFFERS, COL_PEAK_AT_NS,
		  COL_FIRST_MB, COL_LAST_MB, COL_GROWTH_MB, COL_MAX_MB, COL_ARRAY, COL_DEVICE, COL_LINE);
	jax_live_make(c->model, &attribution, &live);
	order = places_in_order(live.count, by_bytes, live.items);
	for (size_t i = 0; i < live.count; i++) {
		const struct jax_buffers *b = &live.items[order[i]];
		const struct jax_look *peak = peak_of(&live, b->image);

		table_cells(table, b->image->pid, share_percent((double)b->bytes, peak ? (double)peak->bytes : 0),
			    b->bytes, b->buffers, peak ? model_since_origin(c->model, peak->ns) : 0, b->first, b->last,
			    (double)b->last - (double)b->first, b->most, b->array, b->devices,
			    *b->line ? b->line : "?");
	}
	if (!live.look_count)
		table_lacks(table, NO_LOOKS);
}

void report_jax_live_trace(const struct report_context *c, struct table *table)
{
	SCOPED(jax_live) live = {0};

	table_has(table, COL_TIME_NS, COL_PID, COL_HOST, COL_RANK, COL_BUFFERS, COL_LIVE_MB);
	jax_live_make(c->model, NULL, &live);
	array_each(const struct jax_look, l, live.looks, live.look_count)
		table_cells(table, model_since_origin(c->model, l->ns), l->image->pid,
			    c->model->machines[l->image->machine].host, image_rank(l->image), l->buffers, l->bytes);
	if (!live.look_count)
		table_lacks(table, NO_LOOKS);
}

void report_jax_exec_sum(const struct report_context *c, struct table *table)
{
	SCOPED(jax_executables) list = {0};

	table_has(table, COL_TOTAL_MB, COL_ARGUMENTS_MB, COL_OUTPUTS_MB, COL_ALIASED_MB, COL_TEMPORARY_MB, COL_CODE_MB,
		  COL_DEVICES, COL_EXECUTABLES, COL_HLO_MODULE);
	jax_executables_make(c->model, &list);
	list_each(const struct jax_executable, e, &list)
		table_cells(table, jax_executable_bytes(e), e->sizes.arguments, e->sizes.outputs, e->sizes.aliased,
			    e->sizes.temporary, e->sizes.code, e->sizes.devices, e->count, e->name);
	table->hides_zeros = true;
	if (!list.count)
		table_lacks(table, "no executables of JAX whose memory is known: record with --jax");
}
