/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gpu_trace: each device record, ordered by start. */
#include <stdlib.h>

#include "report/derive/device/device.h"
#include "report/stats/report.h"

struct line {
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint64_t duration_ns, bytes;
	const struct image *image;
	uint32_t operation, correlation;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

static void gpu_trace_collect(struct scan *s, const struct device_record *r)
{
	struct lines *l = s->more;

	l->items = mem_grow(l->items, l->count, &l->capacity, sizeof(*l->items));
	l->items[l->count++] = (struct line){
		.start_ns = clock_map_monotonic(s->clock, r->start_ns),
		.duration_ns = r->duration_ns,
		.bytes = r->bytes,
		.image = s->image,
		.operation = r->operation,
		.correlation = r->correlation,
	};
}

static int compare_trace_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of((uintptr_t)a->image, (uintptr_t)b->image) ?:
	       order_of(a->correlation, b->correlation);
}

static const char *memory_name(uint8_t kind)
{
	static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
					    "Array",   "Managed",  "Device Static", "Managed Static"};

	return names[kind < sizeof(names) / sizeof(*names) ? kind : 0];
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
	table_number(table, w->registers);
	table_number(table, w->static_shared_bytes);
	table_number(table, w->dynamic_shared_bytes);
}

static void memory_cells(struct table *table, const struct tf_device_operation *w, const struct line *l)
{
	if (w->kind != TF_DEVICE_COPY && w->kind != TF_DEVICE_SET) {
		table_nothings(table, 4);
		return;
	}
	table_number(table, l->bytes);
	if (l->duration_ns)
		table_real(table, (double)l->bytes / (double)l->duration_ns * 1e9);
	else
		table_nothing(table);
	/* nsys shows the target of a memset in the first of the two columns. */
	table_text(table, memory_name(w->kind == TF_DEVICE_COPY ? w->source : w->target));
	if (w->kind == TF_DEVICE_COPY)
		table_text(table, memory_name(w->target));
	else
		table_nothing(table);
}

static void gpu_trace_add_row(const struct report_context *c, struct table *table, const struct line *l)
{
	const struct trace *t = l->image->trace;
	struct tf_device_operation w;
	struct buffer text = {0};

	if (!device_operation(t, l->operation, &w))
		w = (struct tf_device_operation){0};
	table_number(table, model_since_origin(c->model, l->start_ns));
	table_number(table, l->duration_ns);
	table_number(table, l->correlation);
	kernel_cells(table, &w);
	memory_cells(table, &w, l);
	device_name(t, w.device, &text);
	table_text(table, text.data);
	table_number(table, w.context);
	table_number(table, w.stream);
	buffer_clear(&text);
	device_operation_name(c, t, &w, &text);
	table_text(table, text.data);
	buffer_done(&text);
}

int report_cuda_gpu_trace(const struct report_context *c, struct table *table, struct err *err)
{
	struct lines l = {0};
	struct scan s = {.context = c, .more = &l};

	table_has(table, COL_START_NS, COL_DURATION_NS, COL_CORRID, COL_GRDX, COL_GRDY, COL_GRDZ, COL_BLKX, COL_BLKY,
		  COL_BLKZ, COL_REG_PER_TRD, COL_STCSMEM_MB, COL_DYMSMEM_MB, COL_BYTES_MB, COL_THROUGHPUT_MB_PER_S,
		  COL_SRCMEMKD, COL_DSTMEMKD, COL_DEVICE, COL_CTX, COL_STRM, COL_NAME);
	device_scan(&s, gpu_trace_collect, NULL);
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), compare_trace_lines);
	for (size_t i = 0; i < l.count; i++)
		gpu_trace_add_row(c, table, &l.items[i]);
	free(l.items);
	return table_rows(table) ? 0 : device_none(c->model, err);
}
