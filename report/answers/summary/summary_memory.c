/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <stdlib.h>

#include "report/answers/summary/summary_time.h"
#include "report/events/cuda/memory.h"
#include "report/events/stacks/heap.h"

/* A peak, and the part of it that one line holds. */
struct memory_peak {
	const struct image *image;
	uint64_t bytes, owned;
	const struct code_line *owner; /* NULL: not known */
};

/* "GPU peak 267 MB in train.py (4711), 200 MB of it by train.py:12 load" */
static void add_peak(const struct model *m, const char *what, struct memory_peak *p, struct buffer *out)
{
	if (p->bytes) {
		buffer_print(out, "%-*s %s peak %.3g MB in ", SUMMARY_LABEL, "memory", what, (double)p->bytes / 1e6);
		summary_process(m, &m->processes[p->image->process], out);
		if (p->owner) {
			buffer_print(out, ", %.3g MB of it by ", (double)p->owned / 1e6);
			code_line_short(p->owner, out);
		}
		buffer_text(out, "\n");
	}
}

/* ---- devices ---- */

static const struct memory_use *largest_use(const struct memory *m)
{
	const struct memory_use *ret = NULL;

	for (size_t i = 0; i < m->use_count; i++)
		if (!m->uses[i].kind && (!ret || m->uses[i].peak > ret->peak))
			ret = &m->uses[i];
	return ret;
}

static void find_owner(struct rules *r, struct memory_peak *peak)
{
	const struct memory_site *most = NULL;
	const struct memory_use *use;
	SCOPED(memory) memory = {0};

	memory_replay_peaks(r->context->model, peak->image, &memory);
	use = largest_use(&memory);
	for (size_t i = 0; use && i < memory.site_count; i++)
		if (memory.sites[i].device == use->device && (!most || memory.sites[i].peak_in_use > most->peak_in_use))
			most = &memory.sites[i];
	if (most && most->stack) {
		peak->owned = most->peak_in_use;
		peak->owner = rule_line(r, peak->image, most->stack);
	}
}

static void find_device_peak(struct rules *r, struct memory_peak *ret)
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		const struct memory_use *use;
		SCOPED(memory) memory = {0};

		memory_replay(m, &m->images[i], &memory, NULL, NULL);
		use = largest_use(&memory);
		if (use && use->peak > ret->bytes) {
			ret->bytes = use->peak;
			ret->image = &m->images[i];
		}
	}
	if (ret->image)
		find_owner(r, ret);
}

/* ---- host ---- */

static void find_host_peak(struct rules *r, struct memory_peak *ret)
{
	const struct model *m = r->context->model;

	r->attribution.symbols = r->context->symbols;
	for (size_t i = 0; i < m->image_count; i++) {
		const struct heap_line *most = NULL;
		SCOPED(heap) heap = {0};

		if (!heap_is_recorded(&m->images[i]))
			continue;
		heap_replay(m, &m->images[i], &r->attribution, &heap);
		for (size_t k = 0; k < heap.line_count; k++)
			if (heap.lines[k].line->file && (!most || heap.lines[k].values.peak > most->values.peak))
				most = &heap.lines[k];
		if (most && heap.peak > ret->bytes)
			*ret = (struct memory_peak){&m->images[i], heap.peak, most->values.peak, most->line};
	}
}

void summary_memory(struct rules *r, struct buffer *ret)
{
	struct memory_peak device = {0}, host = {0};

	find_device_peak(r, &device);
	find_host_peak(r, &host);
	add_peak(r->context->model, "GPU", &device, ret);
	add_peak(r->context->model, "host", &host, ret);
}

/* ---- resident memory ---- */

/* Less is not worth a word. Of fewer samples, the first quarter of which is start-up, too few are of a steady state. */
enum { GROWTH_KB = 32 << 10, GROWTH_SAMPLES = 7 };

static void add_growth(struct rules *r, const struct process *p, struct buffer *out)
{
	size_t count;
	SCOPED_MEMORY struct resident_point *points = resident_points(r->context->model, &count);

	for (size_t from = 0, to; from < count; from = to) {
		struct memory_growth g;

		to = resident_end(points, count, from);
		if (points[from].pid != p->pid || points[from].machine != p->machine ||
		    !memory_grows(r, points + from, to - from, &g) || g.samples < GROWTH_SAMPLES ||
		    g.to_kb - g.from_kb < GROWTH_KB)
			continue;
		buffer_print(out, ", grows steadily, by %.3g MB per second",
			     (double)(g.to_kb - g.from_kb) * 1024 * 1e3 / (double)g.ns);
		break;
	}
}

void summary_resident(struct rules *r, size_t before, struct buffer *ret)
{
	const struct partition *p = &rules_time(r)->partition;
	const struct model *m = r->context->model;
	bool has_peak = ret->size > before;
	size_t most = 0;
	double mb;

	for (size_t i = 1; i < m->process_count; i++)
		most = p->processes[i].peak_kb > p->processes[most].peak_kb ? i : most;
	if (!m->process_count || !p->processes[most].peak_kb)
		return;
	mb = (double)p->processes[most].peak_kb * 1024 / 1e6;
	if (has_peak) {
		ret->data[--ret->size] = '\0'; /* the end of the line */
		buffer_print(ret, "; resident peak %.3g MB", mb);
	} else {
		buffer_print(ret, "%-*s peak %.3g MB in ", SUMMARY_LABEL, "memory", mb);
		summary_process(m, &m->processes[most], ret);
	}
	add_growth(r, &m->processes[most], ret);
	buffer_text(ret, "\n");
}
