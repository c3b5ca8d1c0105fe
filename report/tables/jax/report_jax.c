/* SPDX-License-Identifier: Apache-2.0 */
/* jax_sum: the functions that jax.jit compiled: their compilation against their runs. jax_cache_sum: what JAX's
 * persistent cache had of them. */
#include "report/events/jax/jax_functions.h"
#include "report/names/attribution.h"
#include "report/tables/report.h"

void report_jax_sum(const struct report_context *c, struct table *table)
{
	SCOPED(attribution) attribution = {.symbols = c->symbols};
	SCOPED(jax_functions) functions = {0};
	uint64_t all;

	by_column(c, table);
	table_has(table, COL_COMPILE_PERCENT, COL_COMPILE_TOTAL_NS, COL_TRACE_NS, COL_LOWER_NS, COL_XLA_NS,
		  COL_COMPILATIONS, COL_RUNS, COL_RUN_HOST_NS, COL_RUN_AVG_NS, COL_GPU_NS, COL_KERNELS, COL_FUNCTION,
		  COL_LINE, COL_CHANGED);
	jax_functions_make(c, &functions);
	jax_functions_sort(&functions);
	all = array_sum(one, functions.keys.rows, functions.keys.count, jax_compile_ns(one->more));
	array_each(const struct aggregate_row, row, functions.keys.rows, functions.keys.count) {
		const struct jax_function *f = row->more;
		size_t field = by_key_cell(c, table, row);

		table_cells(table, share_percent((double)jax_compile_ns(f), (double)all), jax_compile_ns(f),
			    f->ns[JAX_TRACE], f->ns[JAX_LOWER], f->ns[JAX_COMPILE], f->counts[JAX_COMPILE], f->runs,
			    f->run_ns, cell_if(f->runs, (double)f->run_ns / (double)f->runs), f->device_ns, f->kernels,
			    aggregate_field(row, field));
		code_line_cell(attribution_exact(&attribution, f->image, f->stack), NULL, table);
		table_text(table, f->change ? f->change : "");
	}
	table->hides_zeros = true;
	if (!table_rows(table))
		table_lacks(table, "no ranges of JAX: record with --jax");
}

/* An executable that is not written was compiled too fast to be worth it, is too small, or is another process's. */
void report_jax_cache_sum(const struct report_context *c, struct table *table)
{
	SCOPED(jax_functions) functions = {0};

	by_column(c, table);
	table_has(table, COL_CACHE_HITS, COL_CACHE_MISSES, COL_CACHE_WRITES, COL_COMPILATIONS, COL_XLA_NS,
		  COL_FUNCTION);
	jax_functions_make(c, &functions);
	jax_functions_sort(&functions);
	array_each(const struct aggregate_row, row, functions.keys.rows, functions.keys.count) {
		const struct jax_function *f = row->more;
		uint64_t requests = f->counts[JAX_REQUEST], hits = f->counts[JAX_HIT];
		size_t field;

		if (!requests && !hits && !f->counts[JAX_WRITE])
			continue;
		field = by_key_cell(c, table, row);
		table_cells(table, hits, rest_of(requests, hits), f->counts[JAX_WRITE], f->counts[JAX_COMPILE],
			    f->ns[JAX_COMPILE], aggregate_field(row, field));
	}
	if (!table_rows(table))
		table_lacks(table, "no compilation asked JAX's persistent cache: record with --jax, and set "
				   "JAX_COMPILATION_CACHE_DIR");
}
