/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_oversubscribed: more runnable threads than cores, derived from CPU samples: intervals in which all cores were
 * busy and more threads than cores were sampled. */
#include <stdlib.h>
#include <unistd.h>

#include "report/derive/stacks/samples.h"
#include "report/analyze/rule.h"

enum { WINDOWS = 4096, BUSY_PERCENT = 90, FOUND_PERCENT = 10 };
#define WINDOW_NS 100000000ull

struct slice {
	uint64_t ns;
	uint32_t threads;
};

struct load {
	size_t machine;
	uint64_t from, to, size;
	struct slice windows[WINDOWS];
	const struct trace_thread *thread; /* thread of the previous sample, and the interval it was in */
	size_t last;
};

static void cpu_measure_thread(struct scan *s, const struct event *e)
{
	struct load *l = s->more;
	uint64_t ns = clock_map_ns(s->clock, e->ticks);

	if (e->kind != TF_SAMPLE)
		return;
	if (!l->from || ns < l->from)
		l->from = ns;
	if (ns > l->to)
		l->to = ns;
}

static void cpu_add_sample(struct scan *s, const struct event *e)
{
	struct load *l = s->more;
	size_t at = e->kind == TF_SAMPLE ? (clock_map_ns(s->clock, e->ticks) - l->from) / l->size : WINDOWS;

	if (at >= WINDOWS)
		return;
	l->windows[at].ns += samples_ns(e);
	l->windows[at].threads += l->thread != s->thread || l->last != at;
	l->thread = s->thread;
	l->last = at;
}

static void scan_machine(const struct rules *r, struct load *l, void (*visit)(struct scan *, const struct event *))
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].machine == l->machine)
			scan_image(&(struct scan){.context = r->context, .image = &m->images[i], .more = l}, visit);
}

static void cpu_judge_load(const struct rules *r, struct finding *f, const struct load *l, uint64_t cores)
{
	uint64_t used = 0, over = 0, waiting_ns = 0;
	uint32_t most = 0;

	for (size_t i = 0; i < WINDOWS; i++) {
		const struct slice *w = &l->windows[i];

		used += w->ns > 0;
		if (w->threads <= cores || w->ns * 100 < cores * l->size * BUSY_PERCENT)
			continue;
		over++;
		waiting_ns += (w->threads - cores) * l->size / w->threads;
		most = w->threads > most ? w->threads : most;
	}
	if (!used || over * 100 < used * FOUND_PERCENT || !over)
		return;
	rule_row(f);
	table_text(&f->table, r->context->model->machines[l->machine].host);
	table_number(&f->table, cores);
	table_number(&f->table, most);
	table_number(&f->table, over * l->size);
	table_real(&f->table, 100 * (double)over / (double)used);
	if (waiting_ns > f->cost_ns) {
		f->cost_ns = waiting_ns;
		buffer_clear(&f->text);
		buffer_print(&f->text, "up to %u runnable threads on %llu cores, for ", most,
			     (unsigned long long)cores);
		rule_time(&f->text, over * l->size);
	}
}

void rule_cpu_oversubscribed(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	size_t others = 0;

	rule_has(f, {"Host", COLUMN_TEXT}, {"Cores", COLUMN_COUNT}, {"Threads", COLUMN_COUNT},
		 {"Time (ns)", COLUMN_NS}, {"Share (%)", COLUMN_PERCENT});
	if (!samples_any(m)) {
		rule_unchecked(f, "no CPU samples: record with --sample=cpu");
		return;
	}
	for (size_t i = 0; i < m->machine_count; i++) {
		struct load *l = mem_alloc(sizeof(*l));

		l->machine = i;
		scan_machine(r, l, cpu_measure_thread);
		others += l->from && !(m->machines[i].is_this && cores > 0);
		if (l->from && m->machines[i].is_this && cores > 0) {
			l->size = (l->to - l->from) / WINDOWS + 1;
			l->size = l->size < WINDOW_NS ? WINDOW_NS : l->size;
			scan_machine(r, l, cpu_add_sample);
			cpu_judge_load(r, f, l, (uint64_t)cores);
		}
		free(l);
	}
	if (others)
		rule_unchecked(f, "the number of cores of another machine was not recorded");
}
