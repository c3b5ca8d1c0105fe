/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gpu_trace: each device record, ordered by start. */
#include "report/events/cuda/device.h"
#include "report/tables/sorted_rows.h"

struct operation_row {
	struct sorted_row sorted; /* by start in CLOCK_REALTIME */
	uint64_t duration_ns, bytes;
	const struct image *image;
	uint32_t operation;
};

static void operation_add(struct scan *s, const struct device_record *r)
{
	struct operation_row *row = sorted_rows_add(s->more, clock_map_monotonic(s->clock, r->start_ns),
						    (uint64_t)(s->image - s->context->model->images), r->correlation);

	row->duration_ns = r->duration_ns;
	row->bytes = r->bytes;
	row->image = s->image;
	row->operation = r->operation;
}

static void operations_collect(struct sorted_rows *rows)
{
	device_scan(&(struct scan){.context = rows->context, .more = rows}, operation_add, NULL);
}

static void kernel_cells(struct table *table, const struct tf_device_operation *w)
{
	if (w->kind != TF_DEVICE_KERNEL) {
		table_nothings(table, 9);
		return;
	}
	for (int i = 0; i < 3; i++)
		table_number(table, w->grid[i]);
	for (int i = 0; i < 3; i++)
		table_number(table, w->block[i]);
	table_cells(table, w->registers, w->static_shared_bytes, w->dynamic_shared_bytes);
}

static void memory_cells(struct table *table, const struct tf_device_operation *w, const struct operation_row *row)
{
	if (w->kind != TF_DEVICE_COPY && w->kind != TF_DEVICE_SET) {
		table_nothings(table, 4);
		return;
	}
	table_cells(table, row->bytes, cell_if(row->duration_ns, (double)row->bytes / (double)row->duration_ns * 1e9));
	/* nsys shows the target of a memset in the first of the two columns. */
	table_cells(table, device_memory_name(w->kind == TF_DEVICE_COPY ? w->source : w->target),
		    cell_if(w->kind == TF_DEVICE_COPY, device_memory_name(w->target)));
}

static void operation_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct operation_row *row = of;
	const struct trace *t = row->image->trace;
	struct tf_device_operation w;
	SCOPED(buffer) text = {0};

	if (!device_operation(t, row->operation, &w))
		w = (struct tf_device_operation){0};
	table_cells(table, model_since_origin(rows->context->model, row->sorted.key[0]), row->duration_ns,
		    row->sorted.key[2]);
	kernel_cells(table, &w);
	memory_cells(table, &w, row);
	device_name(t, w.device, &text);
	table_cells(table, text.data, w.context, w.stream);
	buffer_clear(&text);
	device_operation_name(rows->context, t, &w, &text);
	table_text(table, text.data);
}

void report_cuda_gpu_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_START_NS, COL_DURATION_NS, COL_CORRID, COL_GRDX, COL_GRDY, COL_GRDZ, COL_BLKX, COL_BLKY,
		 COL_BLKZ, COL_REG_PER_TRD, COL_STCSMEM_MB, COL_DYMSMEM_MB, COL_BYTES_MB, COL_THROUGHPUT_MB_PER_S,
		 COL_SRCMEMKD, COL_DSTMEMKD, COL_DEVICE, COL_CTX, COL_STRM, COL_NAME},
		sizeof(struct operation_row), operations_collect, operation_cells};

	report_rows(c, table, &report, NULL);
	device_none(c->model, table);
}
