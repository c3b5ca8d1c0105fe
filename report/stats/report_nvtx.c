/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum: ranges by their text. */
#include "report/derive/nvtx/nvtx.h"
#include "report/stats/report.h"

enum style { STYLE_PUSHPOP = 1, STYLE_STARTEND = 2, STYLE_BOTH = 3 };

struct visitor {
	struct scan scan;
	enum style style;
};

static bool range_key(struct scan *s, const void *range, struct buffer *fields)
{
	const struct visitor *v = s->more;
	const struct nvtx_range *r = range;

	if (v->style == STYLE_BOTH) {
		buffer_text(fields, r->is_pushpop ? "PushPop" : "StartEnd");
		buffer_add(fields, "", 1);
	}
	nvtx_sum_name(s->image->trace, r->domain, r->text, fields);
	return true;
}

static void nvtx_visit_range(void *context, const struct nvtx_range *r)
{
	struct visitor *v = context;
	struct scan *s = &v->scan;
	uint64_t what = (uint64_t)r->is_pushpop << 63 | (uint64_t)r->domain << 32 | r->text;

	if (!(v->style & (r->is_pushpop ? STYLE_PUSHPOP : STYLE_STARTEND)))
		return;
	s->thread = r->thread;
	aggregate_add(s->aggregate, scan_row_of(s, r->start, what, range_key, r),
		      clock_map_duration(s->clock, r->end - r->start));
}

static int nvtx_report_ranges(const struct report_context *c, struct table *table, enum style style)
{
	struct aggregate aggregate = {.totals_only = c->totals_only};
	struct visitor v = {.scan = {.context = c, .aggregate = &aggregate}, .style = style};
	struct aggregate_shape shape = {.total = COL_TOTAL_TIME_NS,
				   .count = COL_INSTANCES,
				   .names = {COL_RANGE},
				   .has_percent = true};

	v.scan.more = &v;
	if (style == STYLE_BOTH) {
		shape.names[0] = COL_STYLE;
		shape.names[1] = COL_RANGE;
	}
	do {
		for (size_t i = 0; i < c->model->image_count; i++) {
			v.scan.image = &c->model->images[i];
			if (!scan_is_mine(c, v.scan.image))
				continue;
			v.scan.clock = &c->model->machines[v.scan.image->machine].clock;
			nvtx_ranges(v.scan.image, NULL, &v, nvtx_visit_range);
		}
	} while (scan_next_pass(c, &aggregate));
	aggregate_table(c, &aggregate, &shape, table);
	aggregate_done(&aggregate);
	return 0;
}

int report_nvtx_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return nvtx_report_ranges(c, table, STYLE_BOTH);
}

int report_nvtx_pushpop_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return nvtx_report_ranges(c, table, STYLE_PUSHPOP);
}

int report_nvtx_startend_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return nvtx_report_ranges(c, table, STYLE_STARTEND);
}
