/* SPDX-License-Identifier: Apache-2.0 */
/* A process of another machine: what its launcher has sampled, about once per second, into the capture. */
#include "report/live/top/top.h"

static uint64_t round_ns(const struct model *m, const struct usage_samples *u, uint64_t ticks)
{
	return clock_map_ns(&m->machines[u->machine].clock, ticks);
}

static void reading_set(struct top_reading *r, uint64_t at_ns, const struct tf_usage_sample *sample)
{
	top_reading_done(r);
	if (!at_ns || !sample)
		return;
	*r = (struct top_reading){.at_ns = at_ns,
				  .cpu_ns = sample->cpu_ns,
				  .resident_bytes = (uint64_t)sample->resident_kb << 10,
				  .read_bytes = TOP_UNKNOWN,
				  .written_bytes = TOP_UNKNOWN};
}

/* A sample holds until the next one, because those that have not changed are not written. */
void top_remote_read(const struct model *m, struct top_process *p)
{
	const struct tf_usage_sample *last = NULL, *previous = NULL;
	uint64_t last_ns = 0, previous_ns = 0;

	array_each(const struct usage_samples, u, m->usages, m->usage_count) {
		for (size_t k = 0; u->run == p->run && k < u->count; k++) {
			const struct tf_usage_sample *s = &u->items[k];

			if (s->kind == TF_USAGE_ROUND) {
				previous = last;
				previous_ns = last_ns;
				last_ns = round_ns(m, u, s->ticks);
			} else if (s->kind == TF_USAGE_PROCESS && s->pid == p->pid && s->process_start == p->start) {
				last = s;
			}
		}
	}
	reading_set(&p->before, previous_ns, previous);
	reading_set(&p->now, last_ns, last);
}
