/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_profile.h"

#include <inttypes.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary_time.h"
#include "report/tables/report.h"
#include "report/time/steps/steps.h"

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

static uint64_t sampled_us(const struct model *m, const struct process *p)
{
	uint64_t us = 0;

	for (size_t i = p->first_image; i < p->first_image + p->image_count; i++)
		for (size_t k = 0; m->images[i].trace && k < m->images[i].trace->thread_count; k++)
			us += m->images[i].trace->threads[k].sampled_us;
	return us;
}

/* CPU time by samples, of the processes that have any: short ones of start-up scripts have none. */
static void summary_cpu(const struct report_context *c, struct buffer *ret)
{
	const struct model *m = c->model;
	uint64_t us = 0;
	size_t processes = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t of_process = sampled_us(m, &m->processes[i]);

		us += of_process;
		processes += of_process != 0;
	}
	if (!us)
		return;
	buffer_print(ret, "%-*s ", SUMMARY_LABEL, "CPU");
	rule_time(ret, us * 1000);
	buffer_print(ret, " by samples, of %zu process%s\n", processes, processes == 1 ? "" : "es");
}

void summary_profile(const struct report_context *c, struct buffer *ret)
{
	buffer_print(ret, "%-*s sums, no events: pillion stats prints them\n", SUMMARY_LABEL, "profile");
	summary_cpu(c, ret);
	summary_steps(c, ret);
}
