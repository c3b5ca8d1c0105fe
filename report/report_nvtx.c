/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum: ranges by their text. */
#include "report.h"

enum style { STYLE_PUSHPOP = 1, STYLE_STARTEND = 2, STYLE_BOTH = 3 };

struct visitor {
	struct scan scan;
	enum style style;
};

static void visit_range(void *context, const struct nvtx_range *r)
{
	struct visitor *v = context;
	struct scan *s = &v->scan;
	uint32_t range, row;
	struct buffer key = {0};
	const uint64_t *known;
	uint64_t a, b;

	if (!(v->style & (r->is_pushpop ? STYLE_PUSHPOP : STYLE_STARTEND)))
		return;
	s->thread = r->thread;
	range = scan_range(s, r->start);
	a = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	b = (uint64_t)r->is_pushpop << 63 | (uint64_t)r->domain << 32 | r->text;
	known = sums_recall(s->sums, a, b);
	if (known) {
		row = (uint32_t)*known;
	} else {
		scan_group(s, range, &key);
		if (v->style == STYLE_BOTH) {
			buffer_text(&key, r->is_pushpop ? "PushPop" : "StartEnd");
			buffer_add(&key, "", 1);
		}
		nvtx_name(s->image->trace, r->domain, r->text, &key);
		row = scan_row(s, &key);
		sums_remember(s->sums, a, b, row);
		buffer_done(&key);
	}
	sums_add(s->sums, row, axis_duration(s->axis, r->end - r->start));
}

static int ranges(const struct report_context *c, struct table *table, enum style style)
{
	struct sums sums = {.totals_only = c->totals_only};
	struct visitor v = {.scan = {.context = c, .sums = &sums}, .style = style};
	struct sums_shape shape = {.total = "Total Time (ns)",
				   .count = "Instances",
				   .type = COLUMN_NS,
				   .names = {"Range"},
				   .has_percent = true};

	if (style == STYLE_BOTH) {
		shape.names[0] = "Style";
		shape.names[1] = "Range";
	}
	do {
		for (size_t i = 0; i < c->model->image_count; i++) {
			v.scan.image = &c->model->images[i];
			v.scan.axis = &c->model->machines[v.scan.image->machine].axis;
			nvtx_ranges(v.scan.image, NULL, &v, visit_range);
		}
	} while (sums_next_pass(&sums));
	sums_table(c, &sums, &shape, table);
	sums_done(&sums);
	return 0;
}

int report_nvtx_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return ranges(c, table, STYLE_BOTH);
}

int report_nvtx_pushpop_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return ranges(c, table, STYLE_PUSHPOP);
}

int report_nvtx_startend_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return ranges(c, table, STYLE_STARTEND);
}
