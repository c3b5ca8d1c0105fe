/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analyze/summary_profile.h"

#include <inttypes.h>

#include "report/analyze/rule.h"
#include "report/analyze/summary_time.h"
#include "report/derive/steps/steps.h"
#include "report/stats/report.h"

static void summary_steps(const struct report_context *c, struct buffer *ret)
{
	struct step_sums sums;
	uint64_t count = 0, total_ns = 0, least_ns = UINT64_MAX, most_ns = 0;

	steps_sum(c, &sums);
	for (size_t i = 0; i < sums.count; i++) {
		const struct step_sum *s = &sums.items[i];

		count += s->count;
		total_ns += s->total_ns;
		least_ns = s->least_ns < least_ns ? s->least_ns : least_ns;
		most_ns = s->most_ns > most_ns ? s->most_ns : most_ns;
	}
	if (count) {
		buffer_print(ret, "%-*s %" PRIu64 " of ", SUMMARY_LABEL, "steps", count);
		rule_time(ret, total_ns / count);
		buffer_text(ret, " on average, from ");
		rule_time(ret, least_ns);
		buffer_text(ret, " to ");
		rule_time(ret, most_ns);
		if (sums.count > 1)
			buffer_print(ret, ", in %zu processes", sums.count);
		buffer_text(ret, "\n");
	}
	step_sums_done(&sums);
}

void summary_profile(const struct report_context *c, struct buffer *ret)
{
	const char *separator = "";

	buffer_print(ret, "%-*s sums, no events; stats -r ", SUMMARY_LABEL, "profile");
	for (size_t i = 0; i < report_count; i++)
		if (report_list[i].flags & REPORT_SUMS && !(report_list[i].flags & REPORT_HIDDEN)) {
			buffer_print(ret, "%s%s", separator, report_list[i].name);
			separator = ", ";
		}
	buffer_text(ret, "\n");
	summary_steps(c, ret);
}
