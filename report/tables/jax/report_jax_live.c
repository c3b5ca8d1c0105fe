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
	return array_find(look, l->looks, l->look_count, look->image == image && look->is_peak);
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

/* Executables with the same sizes and name, in all processes. */
struct executables {
	struct tf_jax_executable sizes;
	uint64_t bytes, count; /* bytes on each device: an output that takes the place of an argument counts once */
};

static void add_executable(struct aggregate *rows, const struct trace *t, const struct blob *blob)
{
	char bytes[TF_BLOB_BYTES];
	size_t size = trace_blob(t, blob, bytes, sizeof(bytes));
	struct executables *e;

	if (size < sizeof(e->sizes))
		return;
	e = aggregate_more(rows, aggregate_row(rows, bytes, size), sizeof(*e));
	memcpy(&e->sizes, bytes, sizeof(e->sizes));
	e->bytes = rest_of(e->sizes.arguments + e->sizes.outputs + e->sizes.temporary + e->sizes.code,
			   e->sizes.aliased);
	e->count++;
}

ROW_COMPARATOR(executables_in_order, struct executables,
	       order_of(b->bytes, a->bytes) ?: order_of(b->count, a->count) ?:
	       strcmp(row_a->key + sizeof(a->sizes), row_b->key + sizeof(b->sizes)))

void report_jax_exec_sum(const struct report_context *c, struct table *table)
{
	SCOPED(aggregate) rows = {0};

	table_has(table, COL_TOTAL_MB, COL_ARGUMENTS_MB, COL_OUTPUTS_MB, COL_ALIASED_MB, COL_TEMPORARY_MB, COL_CODE_MB,
		  COL_DEVICES, COL_EXECUTABLES, COL_HLO_MODULE);
	array_each(const struct image, image, c->model->images, c->model->image_count) {
		blobs_each(b, image->trace, TF_BLOB_JAX_EXECUTABLE)
			add_executable(&rows, image->trace, b);
	}
	aggregate_sort_by(&rows, executables_in_order);
	array_each(const struct aggregate_row, row, rows.rows, rows.count) {
		const struct executables *e = row->more;

		table_cells(table, e->bytes, e->sizes.arguments, e->sizes.outputs, e->sizes.aliased,
			    e->sizes.temporary, e->sizes.code, e->sizes.devices, e->count,
			    row->key + sizeof(e->sizes));
	}
	table->hides_zeros = true;
	if (!rows.count)
		table_lacks(table, "no executables of JAX whose memory is known: record with --jax");
}
