/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <inttypes.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary_time.h"
#include "report/tables/report.h"
#include "report/time/steps/steps.h"

static void summary_steps(const struct report_context *c, struct buffer *ret)
{
	SCOPED(step_sums) sums = {0};
	uint64_t count = 0, total_ns = 0, least_ns = UINT64_MAX, most_ns = 0;

	steps_sum(c, &sums);
	list_each(const struct step_sum, s, &sums) {
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
}

/* Calls and samples in sums. The nameless ones have a sum without a line and a file: there were too many others. */
struct named {
	uint64_t calls, nameless_calls, samples, nameless_samples, sampled_us;
};

static void add_named(const struct model *m, const struct process *p, struct named *n)
{
	for (size_t i = p->first_image; i < p->first_image + p->image_count; i++) {
		const struct trace *t = m->images[i].trace;

		for (size_t k = 0; t && k < t->thread_count; k++) {
			const struct trace_thread *thread = &t->threads[k];

			n->calls += thread->summed;
			n->nameless_calls += thread->summed_other;
			n->samples += thread->samples;
			n->nameless_samples += thread->stackless_samples;
			n->sampled_us += thread->sampled_us;
		}
	}
}

static void nameless_share(struct buffer *ret, uint64_t nameless, uint64_t all)
{
	if (nameless * 100 >= all && nameless)
		buffer_print(ret, "; %" PRIu64 " %% without a name, for want of room", nameless * 100 / all);
}

/* CPU time by samples, of the processes that have any: short ones of start-up scripts have none. */
static void summary_named(const struct report_context *c, struct buffer *ret)
{
	const struct model *m = c->model;
	struct named all = {0};
	size_t processes = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		uint64_t before = all.sampled_us;

		add_named(m, &m->processes[i], &all);
		processes += all.sampled_us != before;
	}
	if (all.nameless_calls * 100 >= all.calls && all.nameless_calls) {
		buffer_print(ret, "%-*s %" PRIu64, SUMMARY_LABEL, "calls", all.calls);
		nameless_share(ret, all.nameless_calls, all.calls);
		buffer_text(ret, "\n");
	}
	if (!all.sampled_us)
		return;
	buffer_print(ret, "%-*s ", SUMMARY_LABEL, "CPU");
	rule_time(ret, all.sampled_us * 1000);
	buffer_print(ret, " by samples, of %zu process%s", processes, processes == 1 ? "" : "es");
	nameless_share(ret, all.nameless_samples, all.samples);
	buffer_text(ret, "\n");
}

void summary_profile(const struct report_context *c, struct buffer *ret)
{
	buffer_print(ret, "%-*s sums, no events: pillion stats prints them\n", SUMMARY_LABEL, "profile");
	summary_named(c, ret);
	summary_steps(c, ret);
}
