/* SPDX-License-Identifier: Apache-2.0 */
/* um_sum, um_total_sum, um_cpu_page_faults_sum: migrations of managed memory, and the page faults that caused them. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/events/cuda/device.h"
#include "report/tables/report.h"

enum { TO_DEVICE = 1, TO_HOST = 2, CPU_FAULT = 3, GPU_FAULT = 4 };

struct page {
	uint64_t address, to_device, to_host, cpu_faults, gpu_faults, moving_ns;
};

struct pages {
	struct page *items;
	size_t count, capacity;
	struct map by_address;
	bool by_instruction; /* group faults by cause instead of address */
	bool any;
};

static struct page *find_page(struct pages *p, uint64_t address)
{
	size_t place = map_place(&p->by_address, address, 0, p->items, p->count, p->capacity,
				 (struct page){.address = address});

	return &p->items[place];
}

static void managed_visit_record(struct scan *s, const struct device_record *r)
{
	struct pages *p = s->more;
	struct tf_device_operation operation;
	struct page *page;

	if (!device_operation(s->image->trace, r->operation, &operation) || operation.kind != TF_DEVICE_MANAGED)
		return;
	p->any = true;
	if (p->by_instruction) {
		if (operation.copy == CPU_FAULT)
			find_page(p, r->bytes)->cpu_faults++;
		return;
	}
	page = find_page(p, r->address);
	switch (operation.copy) {
	case TO_DEVICE:
		page->to_device += r->bytes;
		page->moving_ns += r->duration_ns;
		break;
	case TO_HOST:
		page->to_host += r->bytes;
		page->moving_ns += r->duration_ns;
		break;
	case CPU_FAULT:
		page->cpu_faults++;
		break;
	case GPU_FAULT:
		page->gpu_faults += r->bytes;
		break;
	}
}

COMPARATOR(compare_pages, struct page,
	   order_of(b->to_device + b->to_host, a->to_device + a->to_host) ?: order_of(b->cpu_faults, a->cpu_faults)
	   ?: order_of(a->address, b->address))

static void managed_collect(const struct report_context *c, struct pages *p)
{
	struct scan s = {.context = c, .more = p};

	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		device_scan_more(&s, managed_visit_record, NULL);
	}
	array_sort(p->items, p->count, compare_pages);
}

/* There was no migration, or it was not recorded. */
static void managed_finish(struct pages *p, struct table *table)
{
	free(p->items);
	map_done(&p->by_address);
	if (!p->any)
		table_lacks(table, "managed memory was not traced or not used: --cuda-um-cpu-page-faults=true, "
				   "--cuda-um-gpu-page-faults=true");
}

static void address_cell(struct table *table, uint64_t address)
{
	SCOPED(buffer) text = {0};

	buffer_print(&text, "0x%" PRIx64, address);
	table_text(table, text.data);
}

void report_um_sum(const struct report_context *c, struct table *table)
{
	struct pages p = {0};

	table_has(table, COL_VIRTUAL_ADDRESS, COL_HTOD_MIGRATION_SIZE_MB, COL_DTOH_MIGRATION_SIZE_MB,
		  COL_CPU_PAGE_FAULTS, COL_GPU_PAGE_FAULTS, COL_MIGRATION_THROUGHPUT_MB_PER_S);
	managed_collect(c, &p);
	list_each(const struct page, page, &p) {
		address_cell(table, page->address);
		table_cells(table, page->to_device, page->to_host, page->cpu_faults, page->gpu_faults,
			    cell_if(page->moving_ns,
				    (double)(page->to_device + page->to_host) / (double)page->moving_ns * 1e9));
	}
	managed_finish(&p, table);
}

void report_um_total_sum(const struct report_context *c, struct table *table)
{
	struct pages p = {0};
	struct page total = {0};
	uint64_t lowest = UINT64_MAX, highest = 0;

	table_has(table, COL_TOTAL_HTOD_MIGRATION_SIZE_MB, COL_TOTAL_DTOH_MIGRATION_SIZE_MB, COL_TOTAL_CPU_PAGE_FAULTS,
		  COL_TOTAL_GPU_PAGE_FAULTS, COL_MINIMUM_VIRTUAL_ADDRESS, COL_MAXIMUM_VIRTUAL_ADDRESS);
	managed_collect(c, &p);
	for (size_t i = 0; i < p.count; i++) {
		total.to_device += p.items[i].to_device;
		total.to_host += p.items[i].to_host;
		total.cpu_faults += p.items[i].cpu_faults;
		total.gpu_faults += p.items[i].gpu_faults;
		lowest = p.items[i].address < lowest ? p.items[i].address : lowest;
		highest = p.items[i].address > highest ? p.items[i].address : highest;
	}
	if (p.count) {
		table_cells(table, total.to_device, total.to_host, total.cpu_faults, total.gpu_faults);
		address_cell(table, lowest);
		address_cell(table, highest);
	}
	managed_finish(&p, table);
}

void report_um_cpu_page_faults_sum(const struct report_context *c, struct table *table)
{
	struct pages p = {.by_instruction = true};

	table_has(table, COL_CPU_PAGE_FAULTS, COL_CPU_INSTRUCTION_ADDRESS);
	managed_collect(c, &p);
	for (size_t i = 0; i < p.count; i++) {
		table_number(table, p.items[i].cpu_faults);
		address_cell(table, p.items[i].address);
	}
	managed_finish(&p, table);
}
