/* SPDX-License-Identifier: Apache-2.0 */
/* energy_sum: power and energy of each GPU and CPU package. energy_kern_sum: the energy of each GPU by what it
 * executed, estimated. */
#include <string.h>

#include "report/events/energy/energy_share.h"
#include "report/tables/report.h"

/* Energy in a column of type COLUMN_MB, whose values are shown in millions. */
static double in_millions(double joules)
{
	return joules * 1e6;
}

static void nothing_sampled(const struct model *m, struct table *table)
{
	bool has_files = m->energy_count;

	table_lacks(table, "%s",
		    has_files ? "the captures have no samples of power: ledger has the reason, if one is known"
			      : "power was not sampled: there is no GPU that NVML shows, or --energy=false; "
				"--energy=true states in ledger what is missing");
}

/* ---- energy_sum ---- */

/* Mean over time of a field of the samples, and its maximum. */
struct level {
	double sum, ns, most;
};

static void level_add(struct level *l, double value, bool is_known, double ns)
{
	if (!is_known)
		return;
	l->sum += value * ns;
	l->ns += ns;
	l->most = value > l->most ? value : l->most;
}

/* "power cap 41.0 %, thermal 2.5 %" */
static void reasons_cell(struct table *table, const struct energy_source *s)
{
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < ENERGY_REASONS; i++) {
		uint64_t ns = energy_reason_ns(s, energy_reasons[i].bit);

		if (ns && energy_reasons[i].bit != TF_ENERGY_IDLE)
			buffer_print(&text, "%s%s %.1f %%", text.size ? ", " : "", energy_reasons[i].name,
				     100 * (double)ns / (double)energy_duration_ns(s));
	}
	table_text(table, buffer_string(&text));
}

static void energy_row(const struct report_context *c, const struct energy_source *s, const struct energy_share *share,
		       struct table *table)
{
	struct level watts = {0}, clock = {0}, heat = {0}, memory = {0};
	SCOPED(buffer) name = {0};
	double ns = (double)energy_duration_ns(s);

	for (size_t i = 1; i < s->count; i++) {
		const struct tf_energy_sample *at = &s->points[i].sample;
		double part = (double)(s->points[i].ns - s->points[i - 1].ns);

		level_add(&watts, energy_watts(s, i), part > 0, part);
		level_add(&clock, at->sm_mhz, at->sm_mhz != UINT16_MAX, part);
		level_add(&heat, at->celsius, at->celsius != UINT8_MAX, part);
		level_add(&memory, (double)at->memory_bytes, at->memory_bytes != TF_ENERGY_UNKNOWN, part);
	}
	table_text(table, c->model->machines[s->machine].host);
	energy_source_name(c->model, s, &name);
	table_cells(table, buffer_string(&name), energy_duration_ns(s), in_millions(energy_total(s)),
		    cell_if(share && share->intervals, in_millions(energy_total(s) - share->idle)),
		    round_to_tenth(ns > 0 ? energy_total(s) / (ns / 1e9) : 0), round_to_tenth(watts.most),
		    cell_if(s->limit_watts > 0, round_to_tenth(s->limit_watts)),
		    cell_if(clock.ns > 0, round_to_tenth(clock.sum / clock.ns)),
		    cell_if(heat.ns > 0, round_to_tenth(heat.most)), cell_if(memory.ns > 0, memory.most),
		    cell_if(s->kind == TF_ENERGY_GPU,
			    share_percent((double)energy_reason_ns(s, ENERGY_SLOWDOWNS), ns)), s->count, s->id);
	reasons_cell(table, s);
}

void report_energy_sum(const struct report_context *c, struct table *table)
{
	const struct energies *e = energies_of(c->model);
	size_t count;
	const struct energy_share *shares = energy_shares(c, &count);

	table_has(table, COL_HOST, COL_DEVICE, COL_DURATION_NS, COL_ENERGY_J, COL_BUSY_J, COL_AVG_W, COL_MAX_W,
		  COL_LIMIT_W, COL_SM_CLOCK_MHZ, COL_MAX_C, COL_MAX_MEMORY_MB, COL_SLOWED_PERCENT, COL_SAMPLES, COL_ID,
		  COL_REASONS);
	for (size_t i = 0; i < e->count; i++)
		if (!e->items[i].is_unknown && e->items[i].count >= 2)
			energy_row(c, &e->items[i], shares ? &shares[i] : NULL, table);
	if (!table_rows(table))
		nothing_sampled(c->model, table);
}

/* ---- energy_kern_sum ---- */

struct kernel_energy {
	double joules;
	uint64_t ns, count;
};

struct energy_kernels {
	struct scan *scan;
	struct aggregate keys; /* fields: device, name; with struct kernel_energy */
	struct map known; /* image and operation -> row + 1 */
};

static uint32_t row_of(struct energy_kernels *k, const struct energy_source *source, const char *name)
{
	SCOPED(buffer) key = {0};

	energy_source_name(k->scan->context->model, source, &key);
	buffer_add(&key, "", 1);
	buffer_field(&key, name);
	return aggregate_row(&k->keys, key.data, key.size);
}

static struct kernel_energy *energy_at(struct energy_kernels *k, uint32_t row)
{
	return aggregate_more(&k->keys, row, sizeof(struct kernel_energy));
}

static void kernel_add(struct scan *s, const struct device_record *r)
{
	struct energy_kernels *k = s->more;
	const struct model *m = s->context->model;
	const struct trace *t = s->image->trace;
	bool is_new;
	uint64_t *known = map_put(&k->known, (uint64_t)(s->image - m->images), r->operation, &is_new);
	struct tf_device_operation operation;
	const struct energy_source *source;
	struct kernel_energy *row;

	if (is_new && device_operation(t, r->operation, &operation) &&
	    (source = energy_of_device(m, s->image, operation.device)) && source->count > 1) {
		SCOPED(buffer) name = {0};

		device_operation_name(s->context, t, &operation, &name);
		*known = row_of(k, source, buffer_string(&name)) + 1;
	}
	if (!*known)
		return;
	row = energy_at(k, (uint32_t)*known - 1);
	row->joules += energy_of_record(s->context, s->image, r);
	row->ns += r->duration_ns;
	row->count++;
}

/* What the rows of a device do not have: idle time, and with a filter other operations. */
static void rest_add(struct energy_kernels *k, const struct energy_share *share)
{
	double rest = share->kernels + share->copies;
	SCOPED(buffer) name = {0};
	struct kernel_energy *idle;

	energy_source_name(k->scan->context->model, share->source, &name);
	for (uint32_t i = 0; i < k->keys.count; i++)
		if (!strcmp(aggregate_field(&k->keys.rows[i], 0), buffer_string(&name)))
			rest -= energy_at(k, i)->joules;
	idle = energy_at(k, row_of(k, share->source, "(idle)"));
	idle->joules = share->idle;
	idle->ns = energy_duration_ns(share->source) - share->busy_ns;
	if (rest > 1e-6 * (share->kernels + share->copies))
		energy_at(k, row_of(k, share->source, "(other operations)"))->joules = rest;
}

ROW_COMPARATOR(by_energy, struct kernel_energy, (b->joules > a->joules) - (b->joules < a->joules))

static void kernel_rows(struct energy_kernels *k, struct table *table)
{
	double all = 0;

	for (uint32_t i = 0; i < k->keys.count; i++)
		all += energy_at(k, i)->joules;
	aggregate_sort_by(&k->keys, by_energy);
	array_each(const struct aggregate_row, key, k->keys.rows, k->keys.count) {
		const struct kernel_energy *row = key->more;

		table_cells(table, share_percent(row->joules, all), in_millions(row->joules), cell_if(row->ns, row->ns),
			    cell_if(row->count, row->count),
			    cell_if(row->ns, round_to_tenth(row->joules / ((double)row->ns / 1e9))),
			    aggregate_field(key, 0), aggregate_field(key, 1));
	}
}

void report_energy_kern_sum(const struct report_context *c, struct table *table)
{
	struct energy_kernels k = {0};
	struct scan s = {.context = c, .more = &k};
	size_t count;
	const struct energy_share *shares = energy_shares(c, &count);

	k.scan = &s;
	table_has(table, COL_ENERGY_PERCENT, COL_ENERGY_J, COL_TIME_NS, COL_INSTANCES, COL_POWER_W, COL_DEVICE,
		  COL_NAME);
	if (!shares && energies_of(c->model)->count)
		table_lacks(table, "no device operation of a GPU whose power was sampled was recorded");
	else if (!shares)
		nothing_sampled(c->model, table);
	if (!shares)
		return;
	device_scan(&s, kernel_add, NULL);
	for (size_t i = 0; i < count; i++)
		if (shares[i].intervals)
			rest_add(&k, &shares[i]);
	kernel_rows(&k, table);
	aggregate_done(&k.keys);
	map_done(&k.known);
}
