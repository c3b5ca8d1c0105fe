/* SPDX-License-Identifier: Apache-2.0 */
/* memory_growth: the resident memory of a process grows steadily after its start. It is known about once per second,
 * from the launcher's samples. memory_leak: the lines that allocate what grows, with --memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary_parts.h"
#include "report/events/stacks/heap.h"

/* The first 1/START of the time is start-up. The rest is divided into PARTS; in each of them the memory must grow at
 * least 1/EVEN of the mean, by PERCENT of what it was in all, for a finding also by MB. With fewer than MANY_SAMPLES a
 * finding needs TIMES as much, because the start of a framework grows steadily, too: JAX on a GPU by 580 MB in 3 s. */
enum { SAMPLES = 6, MANY_SAMPLES = 8, TIMES = 4, START = 4, PARTS = 3, EVEN = 3, MB = 256, PERCENT = 50 };

/* Between two samples the memory is assumed to change evenly. */
static uint64_t kb_at(const struct resident_point *points, size_t count, uint64_t ns)
{
	size_t at = first_place(i, 0, count, points[i].ns <= ns);
	const struct resident_point *a = &points[at ? at - 1 : 0], *b = &points[at < count ? at : count - 1];
	double share = b->ns > a->ns ? (double)(ns - a->ns) / (double)(b->ns - a->ns) : 0;

	return (uint64_t)((double)a->kb + share * ((double)b->kb - (double)a->kb));
}

/* Without the samples after the peak, if it is in the last third: there the process frees what it kept, and ends. */
static size_t until_peak(const struct resident_point *points, size_t count)
{
	size_t peak = 0;

	for (size_t i = 1; i < count; i++)
		peak = points[i].kb > points[peak].kb ? i : peak;
	return (points[peak].ns - points[0].ns) * 3 >= (points[count - 1].ns - points[0].ns) * 2 ? peak + 1 : count;
}

/* The role of the process's main thread; NULL: it is in none. */
static const struct role *role_of_process(struct rules *r, uint32_t pid, size_t machine)
{
	const struct job_time *t = rules_time(r);
	const struct model *m = r->context->model;

	for (size_t i = 0; i < t->partition.count; i++) {
		const struct thread_time *thread = &t->partition.threads[i];
		const struct process *p = &m->processes[thread->process];

		if (thread->origin == THREAD_MAIN && p->pid == pid && p->machine == machine && t->roles.role_of[i])
			return &t->roles.items[t->roles.role_of[i] - 1];
	}
	return NULL;
}

/* Importing is no steady state: what it keeps is the program. */
static bool is_importing(struct rules *r, const struct resident_point *p)
{
	const struct role *role = role_of_process(r, p->pid, p->machine);
	struct role_cpu cpu = role ? role_cpu(role) : (struct role_cpu){0};

	return cpu.import_ns > cpu.work_ns;
}

bool memory_grows(struct rules *r, const struct resident_point *points, size_t count, struct memory_growth *ret)
{
	uint64_t start, end, kb[PARTS + 1], grown;

	if (count < SAMPLES || is_importing(r, points))
		return false;
	count = until_peak(points, count);
	start = points[0].ns;
	end = points[count - 1].ns;
	start += (end - start) / START;
	for (size_t i = 0; i <= PARTS; i++)
		kb[i] = kb_at(points, count, start + (end - start) * i / PARTS);
	if (kb[PARTS] <= kb[0])
		return false;
	grown = kb[PARTS] - kb[0];
	for (size_t i = 0; i < PARTS; i++)
		if (kb[i + 1] < kb[i] || (kb[i + 1] - kb[i]) * PARTS * EVEN < grown)
			return false;
	*ret = (struct memory_growth){kb[0], kb[PARTS], end - start, count};
	return grown * 100 >= kb[0] * PERCENT;
}

static bool is_worth_a_finding(const struct memory_growth *g)
{
	uint64_t grown = g->to_kb - g->from_kb, least = g->samples < MANY_SAMPLES ? TIMES : 1;

	return grown >= MB * 1024 * least && grown * 100 >= g->from_kb * PERCENT * least;
}

/* The line where the process computes, if samples tell: what grows is written there. */
static void add_line(struct rules *r, const struct resident_point *p, struct finding *f)
{
	const struct role *role = role_of_process(r, p->pid, p->machine);

	f->line = role ? role_hot_code_line(r->context, role) : NULL;
}

static bool add_growth(struct finding *f, const struct resident_point *p, uint64_t from, uint64_t to, uint64_t ns,
		       bool is_part, uint64_t *most)
{
	double seconds = (double)ns / 1e9, rate = (double)(to - from) * 1024 / seconds;

	rule_row(f);
	table_cells(&f->table, p->pid, (double)from * 1024, (double)to * 1024, ns);
	if (to - from <= *most)
		return false;
	*most = to - from;
	buffer_set(&f->text, "the memory of process %u grows steadily by %.0f MB per second, from %.0f to %.0f MB",
		   p->pid, rate / 1e6, (double)from * 1024 / 1e6, (double)to * 1024 / 1e6);
	/* the launcher samples it inside and outside of capture ranges */
	if (is_part)
		buffer_text(&f->text, " (of the whole run)");
	return true;
}

void rule_memory_growth(struct rules *r, struct finding *f)
{
	size_t count, checked = 0;
	SCOPED_MEMORY struct resident_point *points = resident_points(r->context->model, &count);
	uint64_t most = 0;

	rule_has(f, COL_PID, COL_FROM_MB, COL_TO_MB, COL_TIME_NS);
	for (size_t from = 0, to; from < count; from = to) {
		struct memory_growth g;

		to = resident_end(points, count, from);
		checked += to - from >= SAMPLES;
		if (memory_grows(r, points + from, to - from, &g) && is_worth_a_finding(&g) &&
		    add_growth(f, &points[from], g.from_kb, g.to_kb, g.ns, recorded_find(r->context->model).is_part,
			       &most))
			add_line(r, &points[from], f);
	}
	if (!checked)
		rule_unchecked(f, "no process lived for %d samples of its memory, one per second", SAMPLES);
}

/* ---- memory_leak ---- */

/* Less growth, or from fewer allocations that were recorded, is not worth a finding. */
enum { LEAK_BYTES = 1 << 20, LEAK_SAMPLES = 8 };

static void add_leak(struct finding *f, const struct heap *h, const struct heap_line *l, uint64_t *most)
{
	uint64_t growth = heap_growth(&l->values);
	SCOPED(buffer) place = {0};

	code_line_place(l->line, &place);
	rule_row(f);
	table_cells(&f->table, h->image->pid, growth, h->instances, place.data);
	if (growth <= *most)
		return;
	*most = growth;
	buffer_set(&f->text, "the memory that one line allocates in process %u grows steadily by %.1f MB over ",
		   h->image->pid, (double)growth / 1e6);
	buffer_print(&f->text, "%" PRIu64, h->instances);
	if (h->step_name)
		buffer_print(&f->text, " ranges \"%s\"", h->step_name);
	else
		buffer_text(&f->text, " equal parts of the run");
	f->line = l->line;
}

void rule_memory_leak(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	uint64_t most = 0;
	bool is_recorded = false;

	rule_has(f, COL_PID, COL_GROWTH_MB, COL_STEPS, COL_LINE);
	r->attribution.symbols = r->context->symbols;
	for (size_t i = 0; i < m->image_count; i++) {
		SCOPED(heap) h = {0};

		if (!heap_is_recorded(&m->images[i]))
			continue;
		is_recorded = true;
		heap_replay(m, &m->images[i], &r->attribution, &h);
		for (size_t k = 0; k < h.line_count; k++)
			if (heap_line_grows(&h, &h.lines[k]) && h.lines[k].line->file &&
			    heap_growth(&h.lines[k].values) >= LEAK_BYTES &&
			    h.lines[k].values.samples >= LEAK_SAMPLES)
				add_leak(f, &h, &h.lines[k], &most);
	}
	if (!is_recorded)
		rule_unchecked(f, "no allocations were recorded: record with --memory=all");
}
