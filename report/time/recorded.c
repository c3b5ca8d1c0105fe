/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/recorded.h"


/* NULL: the run is recorded as a whole. */
static const struct ranges *ranges_of(const struct model *m, const struct process *p)
{
	return m->images[p->first_image].ranges;
}

/* The time from `from` to `to` that the ranges cover: by the clock, or NULL: in ticks. */
static uint64_t covered(const struct ranges *r, const struct clock_map *clock, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t begin = r->items[i].begin_ticks, end = r->items[i].end_ticks;

		if (r->is_cancelled[i])
			continue;
		begin = clock ? clock_map_ns(clock, begin) : begin;
		end = !end ? to : clock ? clock_map_ns(clock, end) : end;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		sum += end > begin ? end - begin : 0;
	}
	return sum;
}

/* A process that is killed in a call recorded nothing at its end: the launcher knows when that was. */
static uint64_t last_ns(const struct model *m, const struct clock_map *clock, uint64_t run)
{
	uint64_t last = 0;

	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].run == run) {
			uint64_t ns = clock_map_ns(clock, image_last_ticks(&m->images[i]));

			last = ns > last ? ns : last;
		}
	for (size_t i = 0; i < m->process_count; i++)
		if (m->processes[i].run == run && m->processes[i].end_ns > last)
			last = m->processes[i].end_ns;
	return last;
}

struct recorded recorded_find(const struct model *m)
{
	struct recorded ret = {0};

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];
		const struct clock_map *clock = &m->machines[p->machine].clock;
		const struct ranges *r = ranges_of(m, p);
		uint64_t ns;

		if (!r)
			return (struct recorded){0};
		if (i && p->run == m->processes[i - 1].run)
			continue;
		ns = covered(r, clock, 0, last_ns(m, clock, p->run));
		if (!ret.is_part || ns > ret.ns)
			ret = (struct recorded){ns, r->count, true, r->is_ring};
	}
	return ret;
}

uint64_t recorded_wall(const struct model *m, const struct process *p)
{
	const struct ranges *r = ranges_of(m, p);

	if (p->end_ns <= p->start_ns)
		return 0;
	return r ? covered(r, &m->machines[p->machine].clock, p->start_ns, p->end_ns) : p->end_ns - p->start_ns;
}

static void limit_thread(const struct model *m, const struct ranges *r, struct thread_time *t)
{
	const struct clock_map *clock = &m->machines[t->image->machine].clock;
	uint64_t end = t->end_ticks > t->start_ticks ? t->end_ticks : t->start_ticks,
		 covered_ticks = covered(r, NULL, t->start_ticks, end), sampled_ns;

	if (covered_ticks == end - t->start_ticks && covered_ticks)
		return;
	t->lifetime_ns = clock_map_duration(clock, covered_ticks);
	t->is_outside = !covered_ticks;
	sampled_ns = t->thread ? t->thread->sampled_us * 1000 : 0;
	t->cpu_is_known = sampled_ns > 0;
	t->cpu_ns = sampled_ns < t->lifetime_ns ? sampled_ns : t->lifetime_ns;
	t->delay_is_known = false;
	t->delay_ns = t->stopped_ns = 0;
	t->blocked_ns = t->lifetime_ns - t->cpu_ns;
	t->unexplained_ns = blocked_divide(&t->blocked, t->blocked_ns);
}

void recorded_partition(const struct report_context *c, bool has_calls, struct partition *p)
{
	const struct model *m = c->model;

	partition_make(c, has_calls, p);
	for (size_t i = 0; i < p->count; i++) {
		const struct ranges *r = p->threads[i].image->ranges;

		if (r)
			limit_thread(m, r, &p->threads[i]);
	}
	for (size_t i = 0; i < m->process_count; i++)
		if (ranges_of(m, &m->processes[i])) {
			p->processes[i].cpu_ns = TF_USAGE_UNKNOWN;
			p->processes[i].children_ns = p->processes[i].end_ns = 0;
		}
}
