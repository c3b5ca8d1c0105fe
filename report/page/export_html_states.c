/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page, third part: when threads were on a CPU, runnable and blocked. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/page/export_html.h"
#include "report/time/partition.h"

/* Maximum number of the launcher's samples of a thread: it takes one each second. */
enum { STATES_SAMPLES = 300 };

struct states {
	struct html *html;
	const struct tf_usage_sample **samples; /* of threads, by thread, then by time */
	size_t count, capacity;
	/* what the previous images of the process had used */
	size_t process;
	uint64_t base_cpu_ns, base_delay_ns;
};

static int compare_thread(const struct tf_usage_sample *a, const struct tf_usage_sample *b)
{
	return order_of(a->pid, b->pid) ?: order_of(a->process_start, b->process_start) ?: order_of(a->tid, b->tid);
}

COMPARATOR(compare_samples, struct tf_usage_sample *const,
	   compare_thread(*a, *b) ?: order_of((*a)->ticks, (*b)->ticks))

static void sort_samples(struct states *s, const struct model *m)
{
	for (size_t i = 0; i < m->usage_count; i++)
		list_each(const struct tf_usage_sample, sample, &m->usages[i]) {
			if (sample->kind != TF_USAGE_THREAD || sample->cpu_ns == TF_USAGE_UNKNOWN)
				continue;
			mem_append(s->samples, s->count, s->capacity, sample);
		}
	array_sort(s->samples, s->count, compare_samples);
}

/* A thread without records is named by the launcher's samples. */
static struct html_track *states_track(struct html *h, const struct thread_time *t)
{
	bool is_main = t->tid == t->image->pid, is_new;
	uint64_t image = (uint64_t)(t->image - h->model->images);
	struct html_track *track;
	struct buffer name = {0};

	if (t->thread)
		return html_thread_track(h, HTML_STATES, t->thread);
	track = html_track(h, HTML_STATES, is_main ? t->process << 1 : image << 1 | 1,
			   is_main ? 0 : (uint64_t)t->tid << 32, &is_new);
	if (is_new) {
		buffer_print(&name, "%s [%" PRIu32 "]", *t->name ? t->name : "thread", t->tid);
		track->label = html_string(h, name.data);
		track->tid = t->tid;
		buffer_done(&name);
	}
	return track;
}

/* Adds what the thread has used up to an instant; the sum is never more than the partition has. */
static void add_state(struct html *h, struct html_track *track, uint64_t ns, uint64_t cpu_ns, uint64_t delay_ns,
		      struct html_event *last)
{
	struct html_event now = {.start = (int64_t)(ns - h->model->origin_ns)};

	now.duration = cpu_ns > last->duration ? cpu_ns - last->duration : 0;
	now.value = (int64_t)delay_ns > last->value ? (int64_t)delay_ns - last->value : 0;
	html_add(h, track, &now);
	last->duration += now.duration;
	last->value += now.value;
}

static void add_thread(struct states *s, const struct thread_time *t)
{
	struct html *h = s->html;
	struct html_track *track = states_track(h, t);
	struct html_event last = {0};
	const struct tf_usage_sample wanted = {
		.pid = t->image->pid, .process_start = t->image->process_start, .tid = t->tid};
	uint64_t end = clock_map_ns(h->clock, t->end_ticks), start = end - t->lifetime_ns, before = start;
	size_t at = first_place(i, 0, s->count, compare_thread(s->samples[i], &wanted) < 0);

	add_state(h, track, start, 0, 0, &last);
	for (; at < s->count && !compare_thread(s->samples[at], &wanted); at++) {
		const struct tf_usage_sample *sample = s->samples[at];
		uint64_t ns = clock_map_ns(h->clock, sample->ticks), cpu_ns = sample->cpu_ns, delay_ns = 0;

		if (ns <= before || ns >= end || ns - before < t->lifetime_ns / STATES_SAMPLES)
			continue;
		if (sample->delay_ns != TF_USAGE_UNKNOWN && t->delay_is_known)
			delay_ns = sample->delay_ns > s->base_delay_ns ? sample->delay_ns - s->base_delay_ns : 0;
		cpu_ns = cpu_ns > s->base_cpu_ns ? cpu_ns - s->base_cpu_ns : 0;
		add_state(h, track, ns, smaller_of(cpu_ns, t->cpu_ns), smaller_of(delay_ns, t->delay_ns), &last);
		before = ns;
	}
	add_state(h, track, end, t->cpu_ns, t->delay_ns, &last);
}

/* The accounts of a main thread continue over exec. */
static void set_base(struct states *s, const struct thread_time *t, bool is_main)
{
	if (t->process != s->process)
		s->base_cpu_ns = s->base_delay_ns = 0;
	s->process = t->process;
	if (is_main) {
		s->base_cpu_ns += t->cpu_ns;
		s->base_delay_ns += t->delay_ns;
	}
}

void html_states(struct html *h)
{
	struct states s = {.html = h, .process = SIZE_MAX};
	SCOPED(partition) p = {0};

	partition_make(h->x->context, false, &p);
	sort_samples(&s, h->model);
	array_each(const struct thread_time, t, p.threads, p.count) {
		bool is_main = t->origin == THREAD_MAIN;
		struct states none = {.html = h, .samples = s.samples, .count = s.count};

		h->image = t->image;
		h->clock = &h->model->machines[t->image->machine].clock;
		if (is_main && t->process != s.process)
			set_base(&s, t, false);
		if (t->cpu_is_known && t->lifetime_ns && t->origin != THREAD_UNRECORDED)
			add_thread(is_main ? &s : &none, t);
		set_base(&s, t, is_main);
	}
	html_flush(h);
	free(s.samples);
}
