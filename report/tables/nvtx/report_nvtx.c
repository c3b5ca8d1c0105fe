/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_sum, nvtx_pushpop_sum, nvtx_startend_sum: ranges by their text, or the sums of --mode=profile. */
#include "report/events/nvtx/nvtx.h"
#include "report/tables/report.h"

enum style { STYLE_PUSHPOP = 1, STYLE_STARTEND = 2, STYLE_BOTH = 3 };

static bool range_key(struct scan *s, const void *range, struct buffer *fields)
{
	const struct nvtx_range *r = range;

	if (*(const enum style *)s->more == STYLE_BOTH) {
		buffer_field(fields, r->is_pushpop ? "PushPop" : "StartEnd");
	}
	nvtx_sum_name(s->image->trace, r->domain, r->text, fields);
	return true;
}

static void nvtx_visit_range(void *context, const struct nvtx_range *r)
{
	struct scan *s = context;
	uint64_t what = (uint64_t)r->is_pushpop << 63 | (uint64_t)r->domain << 32 | r->text;

	if (!(*(const enum style *)s->more & (r->is_pushpop ? STYLE_PUSHPOP : STYLE_STARTEND)))
		return;
	s->thread = r->thread;
	aggregate_add(s->aggregate, scan_row_of(s, r->start, what, range_key, r),
		      clock_map_duration(s->clock, r->end - r->start));
}

static bool sum_key(struct scan *s, const void *event, struct buffer *fields)
{
	const struct event *e = event;

	if (*(const enum style *)s->more == STYLE_BOTH) {
		buffer_field(fields, e->text & TF_RANGES_IS_STARTEND ? "StartEnd" : "PushPop");
	}
	if (e->text & TF_RANGES_IS_OTHER)
		buffer_text(fields, "(other)");
	else
		nvtx_sum_name(s->image->trace, e->id, (uint32_t)tf_arg_value(event_arg(e, TF_ARG_VALUE)), fields);
	return true;
}

static void nvtx_visit_sum(struct scan *s, const struct event *e)
{
	enum style style = e->text & TF_RANGES_IS_STARTEND ? STYLE_STARTEND : STYLE_PUSHPOP;
	uint64_t what = 1ull << 62 | (uint64_t)(e->text & 0xff) << 48 | (uint64_t)e->id << 32 |
			tf_arg_value(event_arg(e, TF_ARG_VALUE));

	if (e->kind == TF_RANGES && !(e->text & TF_RANGES_IS_STEPS) && *(const enum style *)s->more & style)
		scan_add_call(s, e, what, sum_key, e);
}

static void nvtx_pass(struct scan *s)
{
	const struct model *m = s->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		s->image = &m->images[i];
		if (!scan_is_mine(s->context, s->image))
			continue;
		s->clock = &m->machines[s->image->machine].clock;
		nvtx_ranges(s->image, NULL, s, nvtx_visit_range);
		s->kinds = 1u << TF_RANGES;
		scan_image(s, nvtx_visit_sum);
	}
}

#define RANGES .total = COL_TOTAL_TIME_NS, .count = COL_INSTANCES, .has_percent = true

void report_nvtx_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {{RANGES, .names = {COL_STYLE, COL_RANGE}}, .pass = nvtx_pass};

	report_sums(c, table, &report, &(enum style){STYLE_BOTH});
}

static void nvtx_sum_of(const struct report_context *c, struct table *table, enum style style)
{
	static const struct sum_report report = {{RANGES, .names = {COL_RANGE}}, .pass = nvtx_pass};

	report_sums(c, table, &report, &style);
}

void report_nvtx_pushpop_sum(const struct report_context *c, struct table *table)
{
	nvtx_sum_of(c, table, STYLE_PUSHPOP);
}

void report_nvtx_startend_sum(const struct report_context *c, struct table *table)
{
	nvtx_sum_of(c, table, STYLE_STARTEND);
}
