/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on memory: usage by kind, owners at the peak, memory never freed, and owners at failed allocations. */
#include <stdlib.h>

#include "report/events/cuda/device.h"
#include "report/events/cuda/memory.h"
#include "report/tables/report.h"

struct memory_view {
	const struct report_context *context;
	struct table *table;
	const struct memory *memory;
};

static void process_cells(const struct memory_view *v, uint32_t device)
{
	SCOPED(buffer) text = {0};

	table_number(v->table, v->memory->image->pid);
	if (device == MEMORY_HOST)
		buffer_text(&text, "host");
	else
		device_name(v->memory->image->trace, device, &text);
	table_text(v->table, text.data);
}

static void site_cells(const struct memory_view *v, uint32_t function, uint32_t stack)
{
	const struct function *f = trace_function(v->memory->image->trace, function);
	SCOPED(buffer) text = {0};

	table_text(v->table, f ? f->name : "?");
	if (stack)
		symbols_stack(v->context->symbols, v->memory->image, stack, &text);
	table_cells(v->table, cell_if(text.size, text.data));
}

static void fill_by_image(const struct report_context *c, struct table *table, void (*rows)(const struct memory_view *))
{
	for (size_t i = 0; i < c->model->image_count; i++) {
		SCOPED(memory) m = {0};
		struct memory_view v = {.context = c, .table = table, .memory = &m};

		memory_replay_peaks(c->model, &c->model->images[i], &m);
		rows(&v);
	}
}

/* ---- cuda_mem_usage ---- */

COMPARATOR(compare_uses, struct memory_use, order_of(a->device, b->device) ?: order_of(a->kind, b->kind))

static void usage_rows(const struct memory_view *v)
{
	const struct memory *m = v->memory;

	array_sort(m->uses, m->use_count, compare_uses);
	array_each(const struct memory_use, u, m->uses, m->use_count) {
		process_cells(v, u->device);
		table_cells(v->table, u->kind ? memory_kind(u->kind) : "All", u->allocations, u->frees, u->bytes,
			    u->peak, model_since_origin(v->context->model, u->peak_ns), u->blocks, u->in_use);
	}
}

void report_cuda_mem_usage(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PID, COL_DEVICE, COL_MEMORY, COL_ALLOCATIONS, COL_FREES, COL_TOTAL_MB, COL_PEAK_MB,
		  COL_PEAK_AT_NS, COL_NOT_FREED, COL_IN_USE_AT_END_MB);
	fill_by_image(c, table, usage_rows);
}

/* ---- cuda_mem_peak ---- */

PLACE_COMPARATOR(by_peak, struct memory_site,
		 order_of(a->device, b->device) ?: order_of(b->peak_in_use, a->peak_in_use))

PLACE_COMPARATOR(by_rest, struct memory_site, order_of(b->in_use, a->in_use))

static const struct memory_use *all_of(const struct memory *m, uint32_t device)
{
	return array_find(use, m->uses, m->use_count, use->device == device && !use->kind);
}

static void peak_rows(const struct memory_view *v)
{
	SCOPED_MEMORY size_t *order = places_in_order(v->memory->site_count, by_peak, v->memory->sites);

	for (size_t i = 0; i < v->memory->site_count; i++) {
		const struct memory_site *s = &v->memory->sites[order[i]];
		const struct memory_use *all = all_of(v->memory, s->device);

		if (!s->peak_in_use || !all)
			continue;
		process_cells(v, s->device);
		table_cells(v->table, model_since_origin(v->context->model, all->peak_ns),
			    100.0 * (double)s->peak_in_use / (double)all->peak, s->peak_in_use, s->peak_blocks,
			    memory_kind(s->kind));
		site_cells(v, s->function, s->stack);
	}
}

void report_cuda_mem_peak(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PID, COL_DEVICE, COL_PEAK_AT_NS, COL_SHARE_PERCENT, COL_IN_USE_MB, COL_BLOCKS, COL_MEMORY,
		  COL_NAME, COL_STACK);
	fill_by_image(c, table, peak_rows);
}

/* ---- cuda_mem_leaks ---- */

static void leak_rows(const struct memory_view *v)
{
	SCOPED_MEMORY size_t *order = places_in_order(v->memory->site_count, by_rest, v->memory->sites);

	for (size_t i = 0; i < v->memory->site_count; i++) {
		const struct memory_site *s = &v->memory->sites[order[i]];

		if (!s->blocks)
			continue;
		process_cells(v, s->device);
		table_cells(v->table, s->in_use, s->blocks, model_since_origin(v->context->model, s->first_ns),
			    memory_kind(s->kind));
		site_cells(v, s->function, s->stack);
	}
}

void report_cuda_mem_leaks(const struct report_context *c, struct table *table)
{
	table_has(table, COL_PID, COL_DEVICE, COL_NOT_FREED_MB, COL_BLOCKS, COL_OLDEST_AT_NS, COL_MEMORY, COL_NAME,
		  COL_STACK);
	fill_by_image(c, table, leak_rows);
}

/* ---- cuda_mem_failures: a row for the call, then one for each of the largest owners ---- */

static void owner_rows(const struct memory_view *v, const struct memory_failure *f)
{
	for (size_t i = 0; i < f->owner_count; i++) {
		const struct memory_site *s = &v->memory->sites[f->owners[i].site];

		table_number(v->table, model_since_origin(v->context->model, f->ns));
		process_cells(v, f->device);
		table_cells(v->table, "had", f->owners[i].in_use, f->owners[i].blocks, NO_CELL, NO_CELL, NO_CELL,
			    memory_kind(s->kind));
		site_cells(v, s->function, s->stack);
	}
}

static void failure_rows(const struct memory_view *v)
{
	array_each(const struct memory_failure, f, v->memory->failures, v->memory->failure_count) {
		table_number(v->table, model_since_origin(v->context->model, f->ns));
		process_cells(v, f->device);
		table_cells(v->table, "asked", cell_if(f->kind != 0, f->requested), NO_CELL, f->in_use,
			    cell_if(f->total != 0, f->left), cell_if(f->total != 0, f->total),
			    f->kind ? memory_kind(f->kind) : "");
		site_cells(v, f->function, f->stack);
		owner_rows(v, f);
	}
}

void report_cuda_mem_failures(const struct report_context *c, struct table *table)
{
	table_has(table, COL_AT_NS, COL_PID, COL_DEVICE, COL_WHO, COL_BYTES_MB, COL_BLOCKS, COL_IN_USE_THEN_MB,
		  COL_FREE_WHEN_LAST_TOLD_MB, COL_OF_MB, COL_MEMORY, COL_NAME, COL_STACK);
	fill_by_image(c, table, failure_rows);
}
