/* SPDX-License-Identifier: Apache-2.0 */
/* folded: a line for each stack: frames separated by semicolons, the outermost first, then the value. */
#include "report/export/export.h"
#include "report/base/text.h"

/* Characters that would end a frame or a line are replaced. */
static void folded_add_frame(struct sink *out, const char *text)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, *text ? text : "?", "");
	for (size_t i = 0; i < safe.size; i++)
		if (safe.data[i] == ';')
			safe.data[i] = ':';
	sink_add(out, safe.data, safe.size);
}

/* What --metric would select instead. */
static void folded_remark(struct export *x, enum metric shown)
{
	SCOPED(buffer) others = {0};

	for (enum metric i = 0; i < METRIC_COUNT; i++)
		if (i != shown && profile_has(x->context->model, i))
			buffer_print(&others, "%s%s", others.size ? ", " : "", metrics[i].name);
	if (others.size)
		texts_add(&x->remarks, "folded: %s; --metric takes also %s", metrics[shown].title, others.data);
}

int export_folded(struct export *x, struct err *err)
{
	SCOPED(profile) profile = {0};
	enum metric metric = x->is_metric_given ? x->metric : profile_default(x->context->model);
	SCOPED(buffer) text = {0};
	int code = profile_make(x->context, metric, &profile, err);

	for (size_t i = 0; i < profile.aggregate.count; i++) {
		size_t count;
		const uint32_t *stack = profile_stack(&profile, i, &count);

		for (size_t k = 0; k < count; k++) {
			if (k)
				sink_text(x->out, ";");
			buffer_clear(&text);
			code_line_text(profile.names[stack[k]].line, &text);
			folded_add_frame(x->out, buffer_string(&text));
		}
		sink_text(x->out, " ");
		sink_number(x->out, profile.aggregate.rows[i].total);
		sink_text(x->out, "\n");
	}
	if (!x->is_metric_given)
		folded_remark(x, metric);
	return code;
}
