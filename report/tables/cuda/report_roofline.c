/* SPDX-License-Identifier: Apache-2.0 */
/* roofline, roofline_line_sum: kernels whose operations are known, by name or by line: what they reach of the rate that
 * the device allows for their arithmetic intensity. */
#include <stdio.h>
#include <string.h>

#include "report/events/cuda/device.h"
#include "report/names/attribution.h"
#include "report/tables/ops/ops.h"
#include "report/tables/report.h"

struct roof {
	uint64_t ns, count;
	double flops, bytes;
	bool has_bytes; /* of all of its kernels */
	enum number_type type;
	bool on_tensor_cores;
	double peak, bandwidth;
};

struct roofline {
	const struct report_context *context;
	struct attribution attribution;
	bool by_line;
	struct aggregate keys; /* fields: name, type and device, which are not shown; with struct roof */
	uint64_t other_ns, other_count; /* kernels whose operations are not known */
};

static void name_of_kernel(struct roofline *r, const struct image *image, const struct op *op, struct buffer *ret)
{
	struct report_context context = *r->context;
	struct tf_device_operation operation;

	context.kernel_name = KERNEL_BASE;
	if (device_operation(image->trace, op->name, &operation))
		device_operation_name(&context, image->trace, &operation, ret);
}

static void name_of_line(struct roofline *r, const struct image *image, uint32_t stack, struct buffer *ret)
{
	attribution_text(&r->attribution, image, stack, "(not attributed)", ret);
}

static struct roof *roof_of(struct roofline *r, struct buffer *key, const struct ops_rate *rate, uint32_t device)
{
	struct roof *roof;

	buffer_add(key, "", 1);
	buffer_print(key, "%d %d %u %.0f%c", (int)rate->type, rate->on_tensor_cores, device, rate->peak, 0);
	roof = aggregate_more(&r->keys, aggregate_row(&r->keys, key->data, key->size), sizeof(*roof));
	if (!roof->count)
		*roof = (struct roof){.has_bytes = true,
				      .type = rate->type,
				      .on_tensor_cores = rate->on_tensor_cores,
				      .peak = rate->peak,
				      .bandwidth = rate->bandwidth};
	return roof;
}

static void add_kernel(void *context, const struct image *image, const struct op *op, const struct ops_rate *rate,
		       uint32_t stack)
{
	struct roofline *r = context;
	SCOPED(buffer) key = {0};
	struct roof *roof;

	if (!rate->is_known) {
		r->other_ns += op->duration_ns;
		r->other_count++;
		return;
	}
	if (r->by_line)
		name_of_line(r, image, stack, &key);
	else
		name_of_kernel(r, image, op, &key);
	roof = roof_of(r, &key, rate, op->device);
	roof->ns += op->duration_ns;
	roof->count++;
	roof->flops += (double)rate->flops;
	roof->bytes += (double)rate->bytes;
	roof->has_bytes = roof->has_bytes && rate->bytes;
}

/* With three decimals: the bytes are an estimate. */
static struct cell_value rate_if(bool is_known, double value)
{
	return cell_if(is_known, value < 1e15 ? (double)(uint64_t)(value * 1000 + 0.5) / 1000 : value);
}

/* The rates in FLOP/ns, which are GFLOP/s. */
static void roof_cells(const struct roof *roof, struct table *table)
{
	double intensity = roof->has_bytes && roof->bytes > 0 ? roof->flops / roof->bytes : 0;
	double reached = roof->ns ? roof->flops / (double)roof->ns : 0;
	double of_memory = intensity * roof->bandwidth / 1e9, of_cores = roof->peak / 1e9;
	bool is_bound_known = of_memory > 0 && of_cores > 0;
	double attainable = of_memory < of_cores ? of_memory : of_cores;
	char type[32];

	snprintf(type, sizeof(type), "%s%s", number_names[roof->type], roof->on_tensor_cores ? " tensor" : "");
	table_cells(table, cell_if(roof->flops < 1.8e19, (uint64_t)roof->flops), cell_if(roof->has_bytes, roof->bytes),
		    rate_if(intensity > 0, intensity), rate_if(reached > 0, reached), cell_if(roof->type, type),
		    rate_if(of_cores > 0, of_cores), rate_if(of_cores > 0, 100 * reached / of_cores),
		    cell_if(is_bound_known, of_memory < of_cores ? "memory" : "compute"),
		    rate_if(is_bound_known, attainable), rate_if(is_bound_known, 100 * reached / attainable));
}

ROW_COMPARATOR(roofs_in_order, struct roof, order_of(b->ns, a->ns) ?: strcmp(row_a->key, row_b->key))

static void roofline_fill(struct roofline *r, struct table *table)
{
	uint64_t all = r->other_ns + array_sum(one, r->keys.rows, r->keys.count, ((const struct roof *)one->more)->ns);

	aggregate_sort_by(&r->keys, roofs_in_order);
	array_each(const struct aggregate_row, row, r->keys.rows, r->keys.count) {
		const struct roof *roof = row->more;

		table_cells(table, share_percent((double)roof->ns, (double)all), roof->ns, roof->count);
		roof_cells(roof, table);
		table_text(table, aggregate_field(row, 0));
	}
	if (r->other_count) {
		table_cells(table, share_percent((double)r->other_ns, (double)all), r->other_ns, r->other_count);
		table_nothings(table, 10);
		table_text(table, "(kernels whose FLOPs are not known)");
	}
}

static void run_roofline(const struct report_context *c, bool by_line, struct table *table)
{
	struct roofline r = {.context = c, .attribution = {.symbols = c->symbols}, .by_line = by_line};

	table_has(table, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_INSTANCES, COL_FLOPS, COL_ESTIMATED_MB,
		  COL_FLOP_PER_BYTE, COL_GFLOP_PER_S, COL_TYPE, COL_PEAK_GFLOP_PER_S, COL_PEAK_PERCENT, COL_BOUND,
		  COL_ATTAINABLE_GFLOP_PER_S, COL_ATTAINABLE_PERCENT, by_line ? COL_LINE : COL_NAME);
	if (ops_may_know_work(c->model))
		ops_visit(c, &r, add_kernel);
	if (r.keys.count)
		roofline_fill(&r, table);
	else
		table_lacks(table, "no kernel whose FLOPs are known: record with -t cublas,cudnn or "
				   "--pytorch=autograd-shapes-nvtx");
	attribution_done(&r.attribution);
	aggregate_done(&r.keys);
}

void report_roofline(const struct report_context *c, struct table *table)
{
	run_roofline(c, false, table);
}

void report_roofline_line_sum(const struct report_context *c, struct table *table)
{
	run_roofline(c, true, table);
}
