/* SPDX-License-Identifier: Apache-2.0 */
/* counter_sum: what the launchers sampled of machines, GPUs and CPU packages. */
#include <math.h>

#include "report/events/energy/counter.h"
#include "report/events/filter.h"
#include "report/tables/report.h"

/* A counter within some intervals: `sum` is the value times the seconds in which it is known. */
struct counter_level {
	double sum, seconds, least, most;
	uint64_t samples;
};

static void counter_level_add(struct counter_level *l, double value, double seconds)
{
	l->least = l->samples && l->least < value ? l->least : value;
	l->most = l->samples && l->most > value ? l->most : value;
	l->sum += value * seconds;
	l->seconds += seconds;
	l->samples++;
}

/* A value holds until the next point; the last one counts by itself. */
static void counter_measure(const struct counter_series *s, const struct time_interval *t, struct counter_level *l)
{
	double value;

	for (size_t i = 0; i < s->count; i++) {
		uint64_t from = counter_ns(s, i), to = i + 1 < s->count ? counter_ns(s, i + 1) : from;

		from = from > t->from_ns ? from : t->from_ns;
		to = to < t->to_ns ? to : t->to_ns;
		if (from <= to && counter_value(s, i, &value))
			counter_level_add(l, value, (double)(to - from) / 1e9);
	}
}

static void counter_cell(struct table *table, double value)
{
	table_real(table, round(value * 1e3) / 1e3);
}

static void counter_row(const struct report_context *c, const struct counter_series *s, const char *range,
			const struct time_interval *intervals, size_t count, struct table *table)
{
	struct counter_level l = {0};

	for (size_t i = 0; i < count; i++)
		counter_measure(s, &intervals[i], &l);
	if (!l.samples)
		return;
	by_cell(c, table, range);
	if (c->by != BY_HOST)
		table_text(table, c->model->machines[s->machine].host);
	table_cells(table, s->source ? s->of : s->set, s->name, s->unit);
	counter_cell(table, l.least);
	counter_cell(table, l.seconds > 0 ? l.sum / l.seconds : l.least);
	counter_cell(table, l.most);
	if (s->is_rate && text_ends_with(s->unit, "/s"))
		counter_cell(table, l.sum);
	else
		table_nothing(table);
	table_number(table, l.samples);
}

/* A capture range is the same for all processes of a run. */
static const struct ranges *ranges_of_machine(const struct model *m, size_t machine)
{
	const struct image *found = array_find(image, m->images, m->image_count,
					       image->machine == machine && image->ranges);

	return found ? found->ranges : NULL;
}

static void range_rows(const struct report_context *c, const struct counter_series *s, struct table *table)
{
	const struct ranges *r = ranges_of_machine(c->model, s->machine);
	const struct clock_map *clock = &c->model->machines[s->machine].clock;

	for (size_t i = 0; r && i < r->count; i++) {
		uint64_t end = r->items[i].end_ticks;
		struct time_interval t = {clock_map_ns(clock, r->items[i].begin_ticks),
					  end ? clock_map_ns(clock, end) : UINT64_MAX};
		char number[24];

		snprintf(number, sizeof(number), "%zu", i + 1);
		if (!r->is_cancelled[i])
			counter_row(c, s, number, &t, 1, table);
	}
}

static void rows_add(const struct report_context *c, const struct counter_series *s, const struct filter *f,
		     struct table *table)
{
	static const struct time_interval all = {0, UINT64_MAX};

	if (c->by == BY_RANGE)
		range_rows(c, s, table);
	else if (f->is_set)
		counter_row(c, s, c->model->machines[s->machine].host, f->intervals, f->count, table);
	else
		counter_row(c, s, c->model->machines[s->machine].host, &all, 1, table);
}

void report_counter_sum(const struct report_context *c, struct table *table)
{
	SCOPED(filter) f = filter_copy(c->model);
	size_t count;
	const struct counter_series *series = counters_of(c->model, &count);

	if (c->by != BY_NOTHING && c->by != BY_RANGE && c->by != BY_HOST) {
		table_lacks(table, "counters are those of a machine: --by range and --by host apply");
		return;
	}
	by_column(c, table);
	table_has(table, c->by == BY_HOST ? COL_NONE : COL_HOST, COL_SOURCE, COL_NAME, COL_UNIT, COL_MIN, COL_AVG,
		  COL_MAX, COL_TOTAL, COL_SAMPLES);
	for (size_t i = 0; i < count; i++)
		rows_add(c, &series[i], &f, table);
	if (!table_rows(table))
		table_lacks(table, "no counter was sampled; see --counters of pillion --help");
}
