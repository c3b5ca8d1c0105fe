/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/recorded.h"

#include "report/events/stacks/samples.h"

/* NULL: the run is recorded as a whole. */
static const struct ranges *ranges_of(const struct model *m, const struct process *p)
{
	return m->images[p->first_image].ranges;
}

/* The time from `from` to `to` that the ranges cover. */
static uint64_t covered_ticks(const struct ranges *r, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t begin = r->items[i].begin_ticks, end = r->items[i].end_ticks ? r->items[i].end_ticks : to;

		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		sum += end > begin && !r->is_cancelled[i] ? end - begin : 0;
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

/* The time that the ranges of a run cover until its last moment. */
static uint64_t covered_ns(const struct ranges *r, const struct clock_map *clock, uint64_t last)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < r->count; i++) {
		uint64_t begin = clock_map_ns(clock, r->items[i].begin_ticks);
		uint64_t end = r->items[i].end_ticks ? clock_map_ns(clock, r->items[i].end_ticks) : last;

		end = end < last ? end : last;
		sum += end > begin && !r->is_cancelled[i] ? end - begin : 0;
	}
	return sum;
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
		ns = covered_ns(r, clock, last_ns(m, clock, p->run));
		if (!ret.is_part || ns > ret.ns)
			ret = (struct recorded){ns, r->count, true, r->is_ring};
	}
	return ret;
}

uint64_t recorded_wall(const struct model *m, const struct process *p)
{
	const struct clock_map *clock = &m->machines[p->machine].clock;
	const struct ranges *r = ranges_of(m, p);
	uint64_t wall = 0;

	if (p->end_ns <= p->start_ns || !r)
		return p->end_ns > p->start_ns ? p->end_ns - p->start_ns : 0;
	for (size_t i = 0; i < r->count; i++) {
		uint64_t begin = clock_map_ns(clock, r->items[i].begin_ticks),
			 end = r->items[i].end_ticks ? clock_map_ns(clock, r->items[i].end_ticks) : p->end_ns;

		begin = begin > p->start_ns ? begin : p->start_ns;
		end = end < p->end_ns ? end : p->end_ns;
		wall += end > begin ? end - begin : 0;
	}
	return wall;
}

static void limit_thread(const struct model *m, const struct ranges *r, struct thread_time *t)
{
	const struct clock_map *clock = &m->machines[t->image->machine].clock;
	uint64_t end = t->end_ticks > t->start_ticks ? t->end_ticks : t->start_ticks,
		 covered = covered_ticks(r, t->start_ticks, end), sampled_ns;

	if (covered == end - t->start_ticks && covered)
		return;
	t->lifetime_ns = clock_map_duration(clock, covered);
	t->is_outside = !covered;
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
