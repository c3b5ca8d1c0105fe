/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_dims: matrix products whose sizes prevent tensor cores from being used, or slow them down. The sizes must
 * be multiples of 16 bytes of the data type (NVIDIA, Matrix Multiplication Background User's Guide). */
#include <inttypes.h>
#include <stdlib.h>

#include "report/answers/rule.h"
#include "report/read/operation.h"

enum { ROWS = 50 };

struct products {
	struct rules *rules;
	struct aggregate aggregate;
	uint64_t seen, odd, total_ns;
	double flops;
};

static bool is_misaligned(const int64_t *sizes, unsigned int multiple)
{
	for (int i = 0; i < 3; i++)
		if (sizes[i] % multiple)
			return true;
	return false;
}

static int64_t rounded_up(int64_t size, int64_t multiple)
{
	return size > INT64_MAX - multiple ? size : (size + multiple - 1) / multiple * multiple;
}

static uint32_t products_make_row(struct products *p, const struct scan *s, const struct event *e, const char *function,
				  const int64_t *sizes, unsigned int multiple)
{
	const struct code_line *line = rule_line(p->rules, s->image, event_stack(e));
	SCOPED(buffer) key = {0};
	uint32_t row;

	buffer_print(&key, "%u%c%s%c%u%c", s->image->pid, 0, function, 0, multiple, 0);
	for (int i = 0; i < 3; i++)
		buffer_print(&key, "%s%c=%" PRId64, i ? " " : "", "mnk"[i], sizes[i]);
	buffer_add(&key, "", 1);
	for (int i = 0; i < 3; i++)
		if (sizes[i] % multiple)
			buffer_print(&key, "%s%c=%" PRId64, key.data[key.size - 1] ? " " : "", "mnk"[i],
				     rounded_up(sizes[i], multiple));
	buffer_add(&key, "", 1);
	code_line_text(line, &key);
	buffer_add(&key, "", 1);
	row = aggregate_row(&p->aggregate, key.data, key.size);
	p->aggregate.rows[row].of = line;
	return row;
}

static void products_visit_call(struct scan *s, const struct event *e)
{
	struct products *p = s->more;
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint64_t arg = f && f->group == TF_GROUP_CUBLAS && e->args_count ? event_arg(e, TF_ARG_OPERATION) : 0, a, b;
	unsigned int multiple;
	int64_t sizes[3];
	struct tf_operation op;
	const uint64_t *known;
	uint32_t row;

	if (!arg || !operation_of(s->image->trace, e, &op) || !operation_product(f->name, &op, sizes, &multiple))
		return;
	p->seen++;
	if (!multiple || !is_misaligned(sizes, multiple))
		return;
	p->odd++;
	p->total_ns += clock_map_duration(s->clock, e->duration);
	p->flops += operation_flops(f->name, &op);
	a = (uint64_t)(s->image - p->rules->context->model->images) << 16 | e->id;
	b = tf_arg_value(arg) << 32 | event_stack(e);
	known = aggregate_recall(&p->aggregate, a, b);
	row = known ? (uint32_t)*known : products_make_row(p, s, e, f->name, sizes, multiple);
	if (!known)
		aggregate_remember(&p->aggregate, a, b, row);
	aggregate_add(&p->aggregate, row, clock_map_duration(s->clock, e->duration));
}

static void products_add_rows(struct products *p, struct finding *f)
{
	aggregate_sort(&p->aggregate);
	for (size_t i = 0; i < p->aggregate.count && i < ROWS; i++) {
		const struct aggregate_row *r = &p->aggregate.rows[i];

		rule_row(f);
		table_number(&f->table, strtoull(aggregate_field(r, 0), NULL, 10));
		table_number(&f->table, r->count);
		table_text(&f->table, aggregate_field(r, 3));
		table_number(&f->table, strtoull(aggregate_field(r, 2), NULL, 10));
		table_text(&f->table, aggregate_field(r, 4));
		table_text(&f->table, aggregate_field(r, 1));
		rule_line_cell(f, r->of);
		f->line = f->line ? f->line : r->of;
	}
}

void rule_tensor_dims(struct rules *r, struct finding *f)
{
	struct products p = {.rules = r};

	rule_has(f, COL_PID, COL_NUM_CALLS, COL_SIZES, COL_MULTIPLE, COL_PAD_TO, COL_NAME, COL_LINE);
	scan_events(&(struct scan){.context = r->context, .args = 1u << TF_ARG_OPERATION, .more = &p},
		    products_visit_call);
	products_add_rows(&p, f);
	if (!p.seen)
		rule_unchecked(f, "no cuBLAS matrix product was recorded with its sizes");
	if (p.odd) {
		f->cost_ns = p.total_ns;
		buffer_print(&f->text,
			     "%llu of %llu products have sizes that are not a multiple of 16 bytes, %.3f GFLOP",
			     (unsigned long long)p.odd, (unsigned long long)p.seen, p.flops / 1e9);
	}
	aggregate_done(&p.aggregate);
}
