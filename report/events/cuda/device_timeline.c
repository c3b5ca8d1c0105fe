/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/device_timeline.h"

#include "report/base/external_sort.h"

struct timeline_state {
	const struct report_context *report;
	const struct image *image;
	struct external_sort sort; /* of struct timeline_entry */
	uint64_t count;
	struct map operations; /* image and id -> kind << 56 | device << 32 | context */
};

static void set_device(struct timeline_state *s, uint32_t id, struct timeline_entry *b)
{
	bool is_new;
	uint64_t *known = map_put(&s->operations, (uint64_t)(s->image - s->report->model->images), id, &is_new);
	struct tf_device_operation operation;

	if (is_new)
		*known = device_operation(s->image->trace, id, &operation)
				 ? (uint64_t)operation.kind << 56 | (uint64_t)(operation.device & 0xffffff) << 32 |
					   operation.context
				 : 0;
	b->kind = (uint8_t)(*known >> 56);
	b->device = (uint32_t)(*known >> 32) & 0xffffff;
	b->context = (uint32_t)*known;
}

static struct timeline_entry *keep_entry(struct timeline_state *s, const struct device_record *r)
{
	uint64_t start = clock_map_monotonic(&s->report->model->machines[s->image->machine].clock, r->start_ns);
	struct timeline_entry *b = external_sort_add(&s->sort);

	s->count++;
	*b = (struct timeline_entry){
		.start = start, .end = start + r->duration_ns, .image = s->image, .operation = r->operation};
	b->end = larger_of(b->end, b->start);
	set_device(s, r->operation, b);
	return b;
}

static void keep_scanned_record(struct scan *scan, const struct device_record *r)
{
	keep_entry(scan->more, r);
}

static void keep_correlated(void *context, const struct correlated *k)
{
	struct timeline_state *s = context;
	const struct clock_map *clock = &s->report->model->machines[s->image->machine].clock;

	for (size_t i = 0; i < k->record_count; i++) {
		struct timeline_entry *b = keep_entry(s, &k->records[i]);

		if (!k->thread)
			continue;
		b->thread = k->thread;
		b->call_end = clock_map_ns(clock, k->event.ticks);
		b->call_start = b->call_end - clock_map_duration(clock, k->event.duration);
		b->function = k->event.id;
		b->stack = event_stack(&k->event);
	}
}

COMPARATOR(entries_by_start, struct timeline_entry, order_of(a->start, b->start) ?: order_of(a->end, b->end))

uint64_t device_timeline(const struct report_context *c, size_t process, bool with_calls, void *context,
			 void (*visit)(void *context, const struct timeline_entry *))
{
	const struct process *p = &c->model->processes[process];
	struct timeline_state s = {.report = c};
	const struct timeline_entry *b;

	external_sort_init(&s.sort, sizeof(struct timeline_entry), scan_records_held(c), entries_by_start);
	for (size_t i = 0; i < p->image_count; i++) {
		struct scan scan = {.context = c, .image = &c->model->images[p->first_image + i], .more = &s};

		s.image = scan.image;
		if (!scan.image->trace)
			continue;
		if (with_calls)
			correlate_image(c, s.image, &s, keep_correlated, NULL);
		else
			device_scan_image(&scan, keep_scanned_record, NULL);
	}
	while ((b = external_sort_next(&s.sort)) != NULL)
		visit(context, b);
	external_sort_done(&s.sort);
	map_done(&s.operations);
	return s.count;
}
