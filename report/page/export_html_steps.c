/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a page, fourth part: the steps of the main loops, and what the ranges of PyTorch are for. */
#include <inttypes.h>
#include <stdlib.h>

#include "report/events/nvtx/nvtx_tree.h"
#include "report/page/export_html.h"
#include "report/time/steps/steps.h"

/* ---- steps ---- */

struct step_kind {
	const struct run_step *step;
	enum step_source source;
};

static void make_step_detail(struct html *h, const void *from, struct buffer *json)
{
	const struct step_kind *kind = from;

	(void)h;
	if (kind->step->is_slow || kind->step->is_warmup)
		html_member_text(json, "state", kind->step->is_slow ? "slow" : "warm-up");
	html_member_text(json, "found by", step_sources[kind->source]);
	html_member_text(json, "value", "usual duration");
}

/* The number is that of `stats -r steps`. */
static void html_add_step(struct html *h, const struct step_series *s, size_t number)
{
	const struct step_kind kind = {&s->items[number], s->source};
	bool is_slow = kind.step->is_slow && !kind.step->is_warmup;
	uint64_t key = (uint64_t)1 << 59 | (uint64_t)s->source << 2 | kind.step->is_warmup << 1 | kind.step->is_slow;
	SCOPED(buffer) name = {0};

	buffer_print(&name, "step %zu", number);
	html_add(h, html_thread_track(h, HTML_STEPS, s->thread),
		 &(struct html_event){.start = html_since_origin(h, kind.step->start_ns),
				      .duration = kind.step->end_ns - kind.step->start_ns,
				      .name = html_name(h, is_slow ? HTML_SLOW_STEP : HTML_STEP, name.data),
				      .detail = html_detail(h, key, make_step_detail, &kind),
				      .value = (int64_t)kind.step->usual_ns});
}

/* ---- phases ---- */

/* A phase may be within another one: an optimizer's closure. */
enum { NESTED = 8, GAP_NS = 5000000 };

struct phase_bar {
	enum operator_phase phase;
	const struct trace_thread *thread;
	uint64_t start, end; /* ns */
};

struct phases {
	struct html *html;
	const struct nvtx_tree *tree;
	const struct step_series *steps; /* NULL: none */
	struct phase_bar first;		 /* of all threads, the first one that is not forward */
	struct phase_bar open[NESTED];
	struct phase_node {
		enum operator_phase phase;
		unsigned int depth; /* of phases, with its own */
		bool is_bar;
	} *nodes;
};

static bool follows(const struct phase_bar *bar, uint64_t start)
{
	return start <= bar->end + (bar->end - bar->start) + GAP_NS;
}

/* Before a program trains, operators set its model up; the model may be evaluated right before the first backward. */
static bool is_set_up(const struct phases *p, const struct phase_bar *bar)
{
	return bar->phase == OPERATOR_FORWARD && bar->end <= p->first.start &&
	       (p->first.phase == OPERATOR_DATA || !follows(bar, p->first.start));
}

static void phases_close(struct phases *p, unsigned int depth)
{
	for (; depth < NESTED; depth++) {
		struct phase_bar *bar = &p->open[depth];
		struct html *h = p->html;

		if (bar->phase && !is_set_up(p, bar))
			html_add(h, html_thread_track(h, HTML_PHASES, bar->thread),
				 &(struct html_event){.start = html_since_origin(h, bar->start),
						      .duration = bar->end - bar->start,
						      .name = html_name(h, HTML_PHASE + bar->phase - 1,
									operator_phases[bar->phase])});
		bar->phase = OPERATOR_NO_PHASE;
	}
}

static bool step_begins(const struct step_series *s, uint64_t after, uint64_t until)
{
	size_t next = s ? first_place(i, 0, s->count, s->items[i].start_ns <= after) : 0;

	return s && next < s->count && s->items[next].start_ns <= until;
}

static struct phase_bar phases_bar(const struct phases *p, size_t node)
{
	const struct nvtx_node *n = &p->tree->nodes[node];

	return (struct phase_bar){p->nodes[node].phase, n->thread, clock_map_ns(p->html->clock, n->start),
				  clock_map_ns(p->html->clock, n->end)};
}

/* Ranges of one phase that follow each other within a step are one bar; not what is before and after a longer pause. */
static void phases_add(struct phases *p, size_t node)
{
	unsigned int depth = p->nodes[node].depth - 1;
	struct phase_bar now = phases_bar(p, node), *open = &p->open[depth];

	phases_close(p, depth + 1);
	if (open->phase == now.phase && open->thread == now.thread && !step_begins(p->steps, open->end, now.start) &&
	    follows(open, now.start)) {
		open->end = now.end > open->end ? now.end : open->end;
		return;
	}
	phases_close(p, depth);
	*open = now;
}

/* What is in no phase is of none, unless it is an operator: then the model is evaluated. */
static void phases_find(struct phases *p)
{
	struct operator_text operator;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < p->tree->count; i++) {
		const struct nvtx_node *n = &p->tree->nodes[i];
		struct phase_node outer = {0}, *own = &p->nodes[i];

		if (n->parent != NVTX_NO_PARENT)
			outer = p->nodes[n->parent];
		buffer_clear(&text);
		nvtx_name(p->tree->image->trace, n->domain, n->text, &text);
		own->phase = operator_phase(buffer_string(&text), outer.phase);
		if (!own->phase)
			own->phase = outer.phase ?: operator_text_parse(buffer_string(&text), &operator)
							? OPERATOR_FORWARD : OPERATOR_NO_PHASE;
		own->is_bar = own->phase && own->phase != outer.phase && outer.depth < NESTED;
		own->depth = outer.depth + own->is_bar;
		if (own->is_bar && own->phase != OPERATOR_FORWARD && phases_bar(p, i).start < p->first.start)
			p->first = phases_bar(p, i);
	}
}

static void html_phases(struct html *h, const struct step_series *steps)
{
	SCOPED(nvtx_tree) tree = {0};
	struct phases p = {.html = h, .tree = &tree, .steps = steps, .first.start = UINT64_MAX};

	nvtx_tree_make(&tree, h->image, true);
	p.nodes = mem_alloc((tree.count + 1) * sizeof(*p.nodes));
	phases_find(&p);
	for (size_t i = 0; i < tree.count; i++)
		if (p.nodes[i].is_bar)
			phases_add(&p, i);
	phases_close(&p, 0);
	free(p.nodes);
}

void html_steps(struct html *h)
{
	SCOPED(step_list) list = {0};
	size_t next = 0;

	steps_find(h->x->context, &list);
	for (size_t i = 0; i < h->model->image_count; i++) {
		const struct step_series *steps = NULL;

		h->image = &h->model->images[i];
		h->clock = &h->model->machines[h->image->machine].clock;
		if (next < list.count && list.items[next].image == h->image)
			steps = &list.items[next++];
		for (size_t k = 0; steps && k < steps->count; k++)
			html_add_step(h, steps, k);
		if (h->image->trace)
			html_phases(h, steps);
	}
	html_flush(h);
}
