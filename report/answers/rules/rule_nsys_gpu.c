/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_gaps, gpu_time_util: nsys's rules on idle devices, with its thresholds and columns (Nsight Systems 2022.4). Other
 * than there, a graph that was recorded as a whole is work, too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/events/cuda/device_timeline.h"

enum { ROWS = 50, CHUNKS = 30, LOW_PERCENT = 50 };
#define GAP_NS 500000000ull

struct gpu_row {
	uint64_t duration, start;
	double percent;
	uint32_t pid, device, context;
};

/* One device of one process. */
struct device {
	uint32_t device, context;
	uint64_t first, last; /* last: the latest end so far */
	uint32_t last_context;
	double busy[CHUNKS];
};

struct device_check {
	struct rules *rules;
	uint32_t pid;
	struct device *devices; /* at most GAP_DEVICES: rules_gaps reports the others */
	size_t device_count, device_capacity;
	struct gpu_row *lines;
	size_t count, capacity;
	uint64_t total_ns;
};

static struct device *device_check_device(struct device_check *l, const struct timeline_entry *b)
{
	struct device *known = array_find(one, l->devices, l->device_count, one->device == b->device);

	if (known || l->device_count == GAP_DEVICES)
		return known;
	return mem_new(l->devices, l->device_count, l->device_capacity,
		       (struct device){.device = b->device, .context = b->context, .first = b->start, .last = b->start,
				       .last_context = b->context});
}

COMPARATOR(by_duration, struct gpu_row, order_of(b->duration, a->duration) ?: order_of(a->start, b->start))

/* Gaps above the threshold: at 500 ms each there are few. */
static void visit_gap(void *context, const struct timeline_entry *b)
{
	struct device_check *l = context;
	struct device *d = device_check_device(l, b);

	if (!d)
		return;
	if (b->start > d->last && b->start - d->last > GAP_NS) {
		mem_append(l->lines, l->count, l->capacity,
			   (struct gpu_row){.duration = b->start - d->last,
					    .start = model_since_origin(l->rules->context->model, d->last),
					    .pid = l->pid,
					    .device = d->device,
					    .context = d->last_context});
		l->total_ns += b->start - d->last;
	}
	if (b->end >= d->last) {
		d->last = b->end;
		d->last_context = b->context;
	}
}

static void device_check_conclude(const struct device_check *l, struct finding *f, const char *what)
{
	if (!l->count)
		return;
	f->cost_ns = l->total_ns;
	buffer_print(&f->text, "%zu %s, ", l->count, what);
	rule_time(&f->text, l->total_ns);
	buffer_text(&f->text, " idle in total");
}

static void add_device_cells(struct finding *f, const struct gpu_row *line)
{
	table_cells(&f->table, line->duration, line->start, line->pid, line->device, line->context);
}

/* The first rows in that order; sets the verdict. */
static void device_check_show_rows(struct device_check *l, struct finding *f,
				   int (*compare)(const void *, const void *), bool has_percent, const char *what)
{
	array_sort(l->lines, l->count, compare);
	if (!l->count)
		rule_missed_devices(l->rules, f);
	for (size_t i = 0; i < l->count && i < ROWS; i++) {
		rule_row(f);
		table_number(&f->table, i + 1);
		if (has_percent)
			table_real(&f->table, l->lines[i].percent);
		add_device_cells(f, &l->lines[i]);
	}
	device_check_conclude(l, f, what);
	free(l->lines);
	free(l->devices);
}

void rule_gpu_gaps(struct rules *r, struct finding *f)
{
	struct device_check l = {.rules = r};
	const struct model *m = r->context->model;

	rule_has(f, COL_ROW_NUMBER, COL_DURATION_NS, COL_START_NS, COL_PID, COL_DEVICE_ID, COL_CONTEXT_ID);
	if (!rule_has_work(r, f))
		return;
	for (size_t i = 0; i < m->process_count; i++) {
		l.pid = m->processes[i].pid;
		l.device_count = 0;
		device_timeline(r->context, i, false, &l, visit_gap);
	}
	device_check_show_rows(&l, f, by_duration, false, "gaps of more than 500 ms");
}

/* ---- utilisation ---- */

static void widen_device_life(void *context, const struct timeline_entry *b)
{
	struct device *d = device_check_device(context, b);

	if (d && b->start < d->first)
		d->first = b->start;
	if (d && b->end > d->last)
		d->last = b->end;
}

static uint64_t chunk_ns(const struct device *d)
{
	return (uint64_t)ceil((double)(d->last - d->first) / CHUNKS);
}

/* Operations that overlap in time add up. */
static void add_chunk_use(void *context, const struct timeline_entry *b)
{
	struct device *d = device_check_device(context, b);
	uint64_t size = d ? chunk_ns(d) : 0;

	for (uint64_t i = size ? (b->start - d->first) / size : CHUNKS; i < CHUNKS; i++) {
		uint64_t from = d->first + i * size, to = smaller_of(from + size, d->last);

		if (from >= b->end)
			break;
		if (b->start < to)
			d->busy[i] += (double)(smaller_of(b->end, to) - (b->start > from ? b->start : from));
	}
}

/* Adjacent chunks below the threshold become one row. */
static void low_lines(struct device_check *l, const struct device *d)
{
	uint64_t size = chunk_ns(d), begin = 0, end = 0;
	double busy = 0;

	for (uint64_t i = 0; size && i <= CHUNKS; i++) {
		uint64_t from = d->first + i * size, to = smaller_of(from + size, d->last);
		bool is_low = i < CHUNKS && from < to && d->busy[i] / (double)(to - from) * 100 < LOW_PERCENT;

		if (is_low) {
			begin = end ? begin : from;
			end = to;
			busy += d->busy[i];
		} else if (end) {
			mem_append(l->lines, l->count, l->capacity,
				   (struct gpu_row){.duration = end - begin,
						    .start = model_since_origin(l->rules->context->model, begin),
						    .percent = round_to_tenth(busy / (double)(end - begin) * 100),
						    .pid = l->pid,
						    .device = d->device,
						    .context = d->context});
			l->total_ns += end - begin - smaller_of((uint64_t)busy, end - begin);
			end = 0;
			busy = 0;
		}
	}
}

COMPARATOR(by_percent, struct gpu_row,
	   (a->percent > b->percent) - (a->percent < b->percent) ?: order_of(a->duration, b->duration))

void rule_gpu_time_util(struct rules *r, struct finding *f)
{
	struct device_check l = {.rules = r};
	const struct model *m = r->context->model;

	rule_has(f, COL_ROW_NUMBER, COL_IN_USE_PERCENT, COL_DURATION_NS, COL_START_NS, COL_PID, COL_DEVICE_ID,
		 COL_CONTEXT_ID);
	if (!rule_has_work(r, f))
		return;
	for (size_t i = 0; i < m->process_count; i++) {
		l.pid = m->processes[i].pid;
		l.device_count = 0;
		if (!device_timeline(r->context, i, false, &l, widen_device_life))
			continue;
		device_timeline(r->context, i, false, &l, add_chunk_use);
		for (size_t k = 0; k < l.device_count; k++)
			low_lines(&l, &l.devices[k]);
	}
	device_check_show_rows(&l, f, by_percent, true, "periods with the device in use for less than 50 %");
}
