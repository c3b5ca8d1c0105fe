/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/energy/energy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/events/cuda/properties.h"

const struct energy_reason energy_reasons[ENERGY_REASONS] = {
	{TF_ENERGY_POWER_CAP, "power cap", true},
	{TF_ENERGY_THERMAL, "thermal", true},
	{TF_ENERGY_HARDWARE_THERMAL, "thermal, by the hardware", true},
	{TF_ENERGY_POWER_BRAKE, "power brake", true},
	{TF_ENERGY_HARDWARE, "hardware slowdown", true},
	{TF_ENERGY_SYNC_BOOST, "sync boost", false},
	{TF_ENERGY_SETTING, "clocks set by a user", false},
	{TF_ENERGY_DISPLAY, "display clocks", false},
	{TF_ENERGY_IDLE, "idle", false},
};

static void energies_done(void *state)
{
	struct energies *e = state;

	array_free(item, e->items, e->count, free(item->points));
}

static const struct attachment_kind energies_kind = {sizeof(struct energies), energies_done};

/* ---- reading ---- */

bool energy_is_same_machine(const struct model *m, size_t a, size_t b)
{
	return a == b || (*m->machines[a].boot && !strcmp(m->machines[a].boot, m->machines[b].boot));
}

const char *energy_text_next(const uint8_t **at, const uint8_t *end)
{
	const char *text = (const char *)*at;
	const uint8_t *zero = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;

	if (!zero)
		return "";
	*at = zero + 1;
	return text;
}

static size_t source_define(const struct model *m, struct energies *e, size_t machine, enum tf_energy_kind kind,
			    const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes + sizeof(struct tf_energy_source);
	struct tf_energy_source fixed;
	struct energy_source s = {.machine = machine, .kind = kind};

	memcpy(&fixed, bytes, sizeof(fixed));
	s.counter_range_uj = fixed.counter_range_uj;
	s.limit_watts = fixed.limit_mw / 1e3;
	s.name = energy_text_next(&at, bytes + size);
	s.id = energy_text_next(&at, bytes + size);
	s.bus = energy_text_next(&at, bytes + size);
	for (size_t i = 0; i < e->count; i++)
		if (e->items[i].kind == kind && !strcmp(e->items[i].id, s.id) &&
		    energy_is_same_machine(m, e->items[i].machine, machine))
			return i;
	e->items = mem_resize(e->items, (e->count + 1) * sizeof(*e->items));
	e->items[e->count] = s;
	return e->count++;
}

static void sample_add(const struct model *m, struct energy_source *s, size_t machine, const uint8_t *bytes)
{
	struct energy_point *p = mem_new(s->points, s->count, s->capacity, (struct energy_point){0});

	memcpy(&p->sample, bytes, sizeof(p->sample));
	p->ns = clock_map_ns(&m->machines[machine].clock, p->sample.ticks);
}

bool energy_file_next(const struct energy_file *f, size_t *at, struct tf_energy_record *ret,
		      const uint8_t **ret_content)
{
	if (*at + sizeof(*ret) > f->size)
		return false;
	memcpy(ret, f->bytes + *at, sizeof(*ret));
	*at += sizeof(*ret);
	if (ret->size > f->size - *at)
		return false;
	*ret_content = f->bytes + *at;
	*at += ret->size;
	return true;
}

static void file_read(const struct model *m, const struct energy_file *f, struct energies *e)
{
	SCOPED(map) numbers = {0}; /* of the file -> place in e->items + 1 */
	struct tf_energy_record r;
	const uint8_t *content;
	size_t at = 0;

	while (energy_file_next(f, &at, &r, &content)) {
		uint64_t *place;

		if ((r.kind == TF_ENERGY_GPU || r.kind == TF_ENERGY_CPU) && r.size >= sizeof(struct tf_energy_source))
			*map_put(&numbers, r.source, 0, NULL) =
				source_define(m, e, f->machine, r.kind, content, r.size) + 1;
		place = map_find(&numbers, r.source, 0);
		if (r.kind == TF_ENERGY_SAMPLE && place && r.size >= sizeof(struct tf_energy_sample))
			sample_add(m, &e->items[*place - 1], f->machine, content);
	}
}

/* ---- energy ---- */

COMPARATOR(compare_points, struct energy_point, order_of(a->ns, b->ns))

/* By how much a counter has grown. One that has a range starts again at 0 behind it; another one does so when the
 * driver is loaded. Of two launchers that read a counter at once, the later reading may be in front: 0. */
static uint64_t counter_growth(const struct energy_source *s, uint64_t before, uint64_t now)
{
	uint64_t back = before - now, range = s->counter_range_uj;

	if (now >= before)
		return now - before;
	if (range)
		return back > range / 2 && back <= range ? range - back : 0;
	return now < before / 2 ? now : 0;
}

static void joules_add_up(struct energy_source *s)
{
	uint64_t counter = TF_ENERGY_UNKNOWN;
	double at_counter = 0; /* the energy when the counter was read last */

	s->is_unknown = s->count > 0;
	for (size_t i = 0; i < s->count; i++) {
		struct energy_point *p = &s->points[i], *before = i ? p - 1 : p;
		uint64_t now = p->sample.energy_uj, growth = 0;
		bool is_counted = now != TF_ENERGY_UNKNOWN && counter != TF_ENERGY_UNKNOWN;

		p->joules = before->joules;
		if (is_counted) {
			growth = counter_growth(s, counter, now);
			/* what was computed since is part of it */
			if (at_counter + (double)growth / 1e6 > p->joules)
				p->joules = at_counter + (double)growth / 1e6;
		} else if (i && p->sample.power_mw != UINT32_MAX && before->sample.power_mw != UINT32_MAX) {
			p->joules += ((double)p->sample.power_mw + before->sample.power_mw) / 2e3 *
				     ((double)(p->ns - before->ns) / 1e9);
		}
		if (growth || (now != TF_ENERGY_UNKNOWN && counter == TF_ENERGY_UNKNOWN)) {
			counter = now;
			at_counter = p->joules;
		}
		s->is_unknown &= now == TF_ENERGY_UNKNOWN && p->sample.power_mw == UINT32_MAX;
	}
}

COMPARATOR(compare_sources, struct energy_source,
	   order_of(a->machine, b->machine) ?: order_of(a->kind, b->kind) ?: strcmp(a->bus, b->bus)
	   ?: strcmp(a->id, b->id))

const struct energies *energies_of(const struct model *m)
{
	struct energies *e = attachment_find(&m->attachments, &energies_kind);

	if (e)
		return e;
	e = attachment_get((struct attachments *)&m->attachments, &energies_kind);
	for (size_t i = 0; i < m->energy_count; i++)
		file_read(m, &m->energies[i], e);
	for (size_t i = 0; i < e->count; i++) {
		if (e->items[i].count)
			sort_unless_sorted(e->items[i].points, e->items[i].count, sizeof(struct energy_point),
					   compare_points);
		joules_add_up(&e->items[i]);
	}
	array_sort(e->items, e->count, compare_sources);
	for (size_t i = 1; i < e->count; i++)
		if (e->items[i].machine == e->items[i - 1].machine)
			e->items[i].number = e->items[i - 1].number + 1;
	return e;
}

double energy_total(const struct energy_source *s)
{
	return s->count ? s->points[s->count - 1].joules : 0;
}

uint64_t energy_duration_ns(const struct energy_source *s)
{
	return s->count ? s->points[s->count - 1].ns - s->points[0].ns : 0;
}

double energy_watts(const struct energy_source *s, size_t i)
{
	uint64_t ns = s->points[i].ns - s->points[i - 1].ns;

	return ns ? (s->points[i].joules - s->points[i - 1].joules) / ((double)ns / 1e9) : 0;
}

uint64_t energy_reason_ns(const struct energy_source *s, uint64_t bits)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < s->count; i++) {
		uint64_t reasons = s->points[i - 1].sample.reasons;

		if (reasons != TF_ENERGY_UNKNOWN && reasons & bits)
			sum += s->points[i].ns - s->points[i - 1].ns;
	}
	return sum;
}

void energy_source_name(const struct model *m, const struct energy_source *s, struct buffer *ret)
{
	const struct energies *e = energies_of(m);

	if (e->items[0].machine != e->items[e->count - 1].machine)
		buffer_print(ret, "%s: ", m->machines[s->machine].host);
	buffer_text(ret, *s->name ? s->name : "?");
	if (s->kind == TF_ENERGY_GPU)
		buffer_print(ret, " (%u)", s->number);
}

/* ---- the GPUs of a process ---- */

static const struct energy_source *gpu_by_id(const struct model *m, size_t machine, const char *id, size_t length)
{
	const struct energies *e = energies_of(m);

	return list_find(source, e,
			 source->kind == TF_ENERGY_GPU && energy_is_same_machine(m, source->machine, machine) &&
			 !strncmp(source->id, id, length));
}

static const struct energy_source *gpu_by_number(const struct model *m, size_t machine, uint64_t number)
{
	const struct energies *e = energies_of(m);

	return list_find(source, e,
			 source->kind == TF_ENERGY_GPU && energy_is_same_machine(m, source->machine, machine) &&
			 !number--);
}

/* NVML prints "00000000:3B:00.0", where the driver has "0000:3b:00.0". */
static const struct energy_source *gpu_by_bus(const struct model *m, size_t machine, const struct buffer *bus)
{
	const struct energies *e = energies_of(m);

	for (size_t i = 0; bus->size && i < e->count; i++) {
		size_t length = strlen(e->items[i].bus);

		if (energy_is_same_machine(m, e->items[i].machine, machine) && length >= bus->size &&
		    !strcasecmp(e->items[i].bus + length - bus->size, bus->data))
			return &e->items[i];
	}
	return NULL;
}

/* The driver and NVML agree on the UUID of a GPU; of a part of one (MIG) only on the address. */
static const struct energy_source *gpu_by_properties(const struct model *m, size_t machine,
						     const struct device_properties *p)
{
	const struct energy_source *s = NULL;
	SCOPED(buffer) text = {0};
	size_t prefix;

	buffer_text(&text, "GPU-");
	prefix = text.size;
	device_uuid(p, &text);
	if (text.size > prefix)
		s = gpu_by_id(m, machine, text.data, text.size);
	buffer_clear(&text);
	device_bus(p, &text);
	if (!s)
		s = gpu_by_bus(m, machine, &text);
	return s;
}

/* Where the recorder could not ask the driver: it numbers the devices that the variable names, in its order; otherwise
 * all of them. */
static const struct energy_source *gpu_by_variable(const struct model *m, const struct image *image, uint32_t device)
{
	const char *visible = image_variable(image, "CUDA_VISIBLE_DEVICES");
	char *end;

	if (!visible || !*visible)
		return gpu_by_number(m, image->machine, device);
	for (; device; device--) {
		visible = strchr(visible, ',');
		if (!visible++)
			return NULL;
	}
	visible += strspn(visible, " ");
	if (text_begins_with(visible, "GPU-"))
		return gpu_by_id(m, image->machine, visible, strcspn(visible, ", "));
	device = (uint32_t)strtoul(visible, &end, 10);
	return end == visible ? NULL : gpu_by_number(m, image->machine, device);
}

const struct energy_source *energy_of_device(const struct model *m, const struct image *image, uint32_t device)
{
	struct device_properties p = {0};

	if (image->trace)
		p = device_properties(image->trace, device);
	return p.is_known ? gpu_by_properties(m, image->machine, &p) : gpu_by_variable(m, image, device);
}
