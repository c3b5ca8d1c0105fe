/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_dims: matrix products whose sizes prevent tensor cores from being used, or slow them down. The sizes must
 * be multiples of 16 bytes of the data type (NVIDIA, Matrix Multiplication Background User's Guide). */
#include <inttypes.h>

#include "report/answers/rule.h"
#include "report/read/operation.h"

enum { ROWS = 50 };

/* The key of a row. */
struct product {
	uint32_t image, function;
	int64_t sizes[3];
	uint64_t multiple, line;
};

struct products {
	struct rules *rules;
	struct aggregate aggregate;
	uint64_t seen, odd, total_ns;
	double flops;
};

static bool is_misaligned(const int64_t *sizes, unsigned int multiple)
{
	return array_find(size, sizes, 3, *size % multiple) != NULL;
}

static int64_t rounded_up(int64_t size, int64_t multiple)
{
	return size > INT64_MAX - multiple ? size : (size + multiple - 1) / multiple * multiple;
}

static uint32_t products_make_row(struct products *p, const struct scan *s, const struct event *e, struct product *of)
{
	const struct code_line *line = rule_line(p->rules, s->image, event_stack(e));
	uint32_t row;

	of->line = code_line_number(line);
	row = aggregate_row(&p->aggregate, (const char *)of, sizeof(*of));
	p->aggregate.rows[row].of = line;
	return row;
}

static void products_visit_call(struct scan *s, const struct event *e)
{
	struct products *p = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint32_t image = (uint32_t)(s->image - p->rules->context->model->images);
	struct product of = {.image = image, .function = e->id};
	uint64_t arg = f && f->group == TF_GROUP_CUBLAS && e->args_count ? event_arg(e, TF_ARG_OPERATION) : 0, a, b;
	unsigned int multiple;
	struct tf_operation op;
	const uint64_t *known;
	uint32_t row;

	if (!arg || !operation_of(s->image->trace, e, &op) || !operation_product(f, &op, of.sizes, &multiple))
		return;
	p->seen++;
	if (!multiple || !is_misaligned(of.sizes, multiple))
		return;
	p->odd++;
	p->total_ns += clock_map_duration(s->clock, e->duration);
	p->flops += operation_flops(f, &op);
	of.multiple = multiple;
	a = (uint64_t)image << 16 | e->id;
	b = tf_arg_value(arg) << 32 | event_stack(e);
	known = aggregate_recall(&p->aggregate, a, b);
	row = known ? (uint32_t)*known : products_make_row(p, s, e, &of);
	if (!known)
		aggregate_remember(&p->aggregate, a, b, row);
	aggregate_add(&p->aggregate, row, clock_map_duration(s->clock, e->duration));
}

/* The sizes, or to what those that are no multiples are padded. */
static void sizes_cell(struct table *table, const struct product *of, bool is_padded)
{
	SCOPED(buffer) text = {0};
	int64_t multiple = (int64_t)of->multiple;

	for (int i = 0; i < 3; i++)
		if (!is_padded || of->sizes[i] % multiple)
			buffer_print(&text, "%s%c=%" PRId64, text.size ? " " : "", "mnk"[i],
				     rounded_up(of->sizes[i], is_padded ? multiple : 1));
	table_text(table, buffer_string(&text));
}

static void products_add_rows(struct products *p, struct finding *f)
{
	aggregate_sort(&p->aggregate);
	for (size_t i = 0; i < p->aggregate.count && i < ROWS; i++) {
		const struct aggregate_row *r = &p->aggregate.rows[i];
		const struct product *of = (const void *)r->key;
		const struct image *image = &p->rules->context->model->images[of->image];

		rule_row(f);
		table_cells(&f->table, image->pid, r->count);
		sizes_cell(&f->table, of, false);
		table_number(&f->table, of->multiple);
		sizes_cell(&f->table, of, true);
		table_text(&f->table, trace_function(image->trace, of->function)->name);
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
