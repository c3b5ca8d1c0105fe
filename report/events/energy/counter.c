/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/energy/counter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counters {
	struct counter_series *items;
	size_t count, capacity;
};

static void counters_done(void *state)
{
	struct counters *c = state;

	for (size_t i = 0; i < c->count; i++) {
		free(c->items[i].points);
		free(c->items[i].of);
	}
	free(c->items);
}

static const struct attachment_kind counters_kind = {sizeof(struct counters), counters_done};

/* ---- counters of machines ---- */

static size_t series_define(const struct model *m, struct counters *c, size_t machine, const uint8_t *bytes,
			    size_t size)
{
	const uint8_t *at = bytes + sizeof(struct tf_energy_counter);
	struct tf_energy_counter fixed;
	struct counter_series s = {.machine = machine};

	memcpy(&fixed, bytes, sizeof(fixed));
	s.scale = fixed.scale;
	s.is_rate = fixed.is_total;
	s.name = energy_text_next(&at, bytes + size);
	s.unit = energy_text_next(&at, bytes + size);
	s.set = energy_text_next(&at, bytes + size);
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->items[i].name, s.name) && !strcmp(c->items[i].set, s.set) &&
		    energy_is_same_machine(m, c->items[i].machine, machine))
			return i;
	list_add(c, s);
	return c->count - 1;
}

static void value_add(struct counter_series *s, uint64_t ns, uint64_t value)
{
	if (value == TF_ENERGY_UNKNOWN)
		return;
	mem_append(s->points, s->count, s->capacity, (struct counter_point){ns, (double)value * s->scale});
}

/* The counters of one source of a file, in the order of their definitions. */
struct counter_set_places {
	uint16_t source;
	size_t *items, count, capacity; /* places in struct counters */
};

static struct counter_set_places *places_of(struct counter_set_places **sets, size_t *count, uint16_t source)
{
	for (size_t i = 0; i < *count; i++)
		if ((*sets)[i].source == source)
			return &(*sets)[i];
	*sets = mem_resize(*sets, (*count + 1) * sizeof(**sets));
	(*sets)[*count] = (struct counter_set_places){.source = source};
	return &(*sets)[(*count)++];
}

static void values_add(const struct model *m, struct counters *c, const struct counter_set_places *set, size_t machine,
		       const uint8_t *bytes, size_t size)
{
	struct tf_energy_values head;
	uint64_t value;

	memcpy(&head, bytes, sizeof(head));
	for (size_t i = 0; i < set->count && sizeof(head) + (i + 1) * sizeof(value) <= size; i++) {
		memcpy(&value, bytes + sizeof(head) + i * sizeof(value), sizeof(value));
		value_add(&c->items[set->items[i]], clock_map_ns(&m->machines[machine].clock, head.ticks), value);
	}
}

static void file_read(const struct model *m, const struct energy_file *f, struct counters *c)
{
	struct counter_set_places *sets = NULL, *set;
	size_t count = 0, at = 0;
	struct tf_energy_record r;
	const uint8_t *content;

	while (energy_file_next(f, &at, &r, &content)) {
		if (r.kind == TF_ENERGY_COUNTER && r.size >= sizeof(struct tf_energy_counter)) {
			set = places_of(&sets, &count, r.source);
			list_add(set, series_define(m, c, f->machine, content, r.size));
		}
		if (r.kind == TF_ENERGY_VALUES && r.size >= sizeof(struct tf_energy_values))
			values_add(m, c, places_of(&sets, &count, r.source), f->machine, content, r.size);
	}
	array_free(one, sets, count, free(one->items));
}

COMPARATOR(compare_points, struct counter_point, order_of(a->ns, b->ns))

/* A total as its growth per second until the next point. It shrinks where a device was replaced: that is not known. */
static void rates_compute(struct counter_series *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct counter_point *p = &s->points[i], *next = p + 1;

		p->value = i + 1 < s->count && next->ns > p->ns && next->value >= p->value
				   ? (next->value - p->value) / ((double)(next->ns - p->ns) / 1e9)
				   : NAN;
	}
}

/* ---- all ---- */

static void sources_add(const struct model *m, struct counters *c)
{
	const struct energies *e = energies_of(m);

	for (size_t i = 0; i < e->count * ENERGY_COUNTERS; i++) {
		const struct energy_source *source = &e->items[i / ENERGY_COUNTERS];
		const struct energy_counter *kind = &energy_counters[i % ENERGY_COUNTERS];
		struct buffer of = {0};

		energy_source_name(m, source, &of);
		list_add(c,
			(struct counter_series){.machine = source->machine, .name = kind->name, .unit = kind->unit,
						.set = source->kind == TF_ENERGY_GPU ? "gpu" : "cpu",
						.of = of.data, .count = source->count, .source = source, .kind = kind});
	}
}

static bool is_of_several_machines(const struct counters *c, size_t first)
{
	for (size_t i = first + 1; i < c->count; i++)
		if (c->items[i].machine != c->items[first].machine)
			return true;
	return false;
}

COMPARATOR(compare_series, struct counter_series, order_of(a->machine, b->machine))

const struct counter_series *counters_of(const struct model *m, size_t *ret_count)
{
	struct counters *c = attachment_find(&m->attachments, &counters_kind);
	bool has_several;
	size_t first;

	if (!c) {
		c = attachment_get((struct attachments *)&m->attachments, &counters_kind);
		sources_add(m, c);
		first = c->count;
		for (size_t i = 0; i < m->energy_count; i++)
			file_read(m, &m->energies[i], c);
		has_several = is_of_several_machines(c, first);
		for (size_t i = first; i < c->count; i++) {
			struct counter_series *s = &c->items[i];
			struct buffer of = {0};

			buffer_text(&of, has_several ? m->machines[s->machine].host : "");
			s->of = of.data;
			sort_unless_sorted(s->points, s->count, sizeof(*s->points), compare_points);
			if (s->is_rate)
				rates_compute(s);
		}
		if (c->count > first)
			sort_unless_sorted(c->items + first, c->count - first, sizeof(*c->items), compare_series);
	}
	*ret_count = c->count;
	return c->items;
}

uint64_t counter_ns(const struct counter_series *s, size_t i)
{
	return s->source ? s->source->points[i].ns : s->points[i].ns;
}

bool counter_value(const struct counter_series *s, size_t i, double *ret)
{
	if (s->kind)
		return s->kind->value(s->source, i, ret);
	*ret = s->points[i].value;
	return !isnan(*ret);
}
