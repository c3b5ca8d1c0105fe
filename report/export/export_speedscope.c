/* SPDX-License-Identifier: Apache-2.0 */
/* speedscope: its file format with one sampled profile for each metric that has data; a sample is a stack and its
 * weight. */
#include "report/export/export.h"

/* All profiles share one list of frames: those of profile i follow those of the previous ones. */
static void add_frames(struct sink *out, const struct profile *profiles, size_t count)
{
	const char *separator = "";

	sink_text(out, "\"shared\":{\"frames\":[");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < profiles[i].name_count; k++) {
			const struct code_line *line = profiles[i].names[k].line;

			sink_text(out, separator);
			sink_text(out, "\n{\"name\":");
			sink_json(out, line->function);
			if (line->file) {
				sink_text(out, ",\"file\":");
				sink_json(out, line->file);
				sink_text(out, ",\"line\":");
				sink_number(out, line->line);
			}
			sink_text(out, "}");
			separator = ",";
		}
	sink_text(out, "]}");
}

static void speedscope_add_profile(struct sink *out, const struct profile *p, size_t first_frame)
{
	sink_text(out, "\n{\"type\":\"sampled\",\"name\":");
	sink_json(out, metrics[p->metric].title);
	sink_text(out, ",\"unit\":");
	sink_json(out, metrics[p->metric].unit);
	sink_text(out, ",\"startValue\":0,\"endValue\":");
	sink_number(out, p->total);
	sink_text(out, ",\"samples\":[");
	for (size_t i = 0; i < p->aggregate.count; i++) {
		size_t count;
		const uint32_t *stack = profile_stack(p, i, &count);

		sink_text(out, i ? ",\n[" : "\n[");
		for (size_t k = 0; k < count; k++) {
			if (k)
				sink_text(out, ",");
			sink_number(out, first_frame + stack[k]);
		}
		sink_text(out, "]");
	}
	sink_text(out, "],\"weights\":[");
	for (size_t i = 0; i < p->aggregate.count; i++) {
		if (i)
			sink_text(out, ",");
		sink_number(out, p->aggregate.rows[i].total);
	}
	sink_text(out, "]}");
}

static void speedscope_add_file(struct export *x, const struct profile *profiles, size_t count)
{
	size_t first = 0, active = 0;

	for (size_t i = 0; i < count; i++)
		if (profiles[i].metric == profile_default(x->context->model))
			active = i;
	sink_text(x->out,
		  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"pillion\","
		  "\"name\":");
	sink_json(x->out, x->context->model->process_count ? x->context->model->processes[0].command : "");
	sink_text(x->out, ",\"activeProfileIndex\":");
	sink_number(x->out, active);
	sink_text(x->out, ",");
	add_frames(x->out, profiles, count);
	sink_text(x->out, ",\"profiles\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			sink_text(x->out, ",");
		speedscope_add_profile(x->out, &profiles[i], first);
		first += profiles[i].name_count;
	}
	sink_text(x->out, "]}\n");
}

int export_speedscope(struct export *x, struct err *err)
{
	struct profile profiles[METRIC_COUNT];
	size_t count;
	int code = export_profiles(x, profiles, &count, err);

	if (!code)
		speedscope_add_file(x, profiles, count);
	for (size_t i = 0; i < count; i++)
		profile_done(&profiles[i]);
	return code;
}
