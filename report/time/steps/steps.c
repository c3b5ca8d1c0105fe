/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/steps/steps.h"

#include <stdlib.h>

#include "report/time/startup.h"

const char *const step_sources[STEP_SOURCES] = {"PyTorch",  "NVTX ranges", "optimizer", "collectives",
						"launches", "requests",    "calls"};

/* A loop that is a short part of the run is none of steps, nor is one of which a turn takes no time. */
static const double RUN_COVERED = 0.05;
enum { STEP_LEAST_NS = 20000 };

/* The main thread's loop is that of the process if it covers so much of its lifetime. */
static const double MAIN_COVERED = 0.4;

static bool is_better(const struct step_series *a, const struct step_series *b)
{
	if (!b->count)
		return true;
	if (b->thread->tid == b->image->pid && b->coverage >= MAIN_COVERED)
		return false;
	return (a->thread->tid == a->image->pid && a->coverage >= MAIN_COVERED) || a->coverage > b->coverage;
}

static bool is_of_run(const struct report_context *c, const struct step_series *s)
{
	const struct model *m = c->model;
	uint64_t length_ns = s->items[s->count - 1].end_ns - s->items[0].start_ns, end_ns = model_end_ns(m);
	uint64_t ring_ticks = s->image->trace->header.ring_ticks,
		 begin_ns = ring_ticks ? clock_map_ns(&m->machines[s->image->machine].clock, ring_ticks)
				       : end_ns - model_since_origin(m, end_ns);

	return (double)length_ns >= RUN_COVERED * (double)(end_ns - begin_ns) &&
	       length_ns / s->count >= STEP_LEAST_NS;
}

static void find_by_calls(const struct report_context *c, const struct image *image, struct step_series *ret)
{
	for (size_t i = 0; i < image->trace->thread_count; i++) {
		struct step_series series = {0};

		if (steps_of_calls(c, image, &image->trace->threads[i], &series) &&
		    is_of_run(c, &series) && is_better(&series, ret)) {
			free(ret->items);
			*ret = series;
		} else {
			free(series.items);
		}
	}
}

/* The steps of an image's trace stay with it, because several reports ask for them. */
struct known_steps {
	bool is_known;
	struct step_series series;
};

static void known_steps_done(void *state)
{
	free(((struct known_steps *)state)->series.items);
}

static const struct step_series *steps_of_image(const struct report_context *c, const struct image *image)
{
	static const struct attachment_kind kind = {sizeof(struct known_steps), known_steps_done};
	struct known_steps *known = attachment_get(&image->trace->attachments, &kind);

	if (known->is_known)
		return &known->series;
	known->is_known = true;
	if (!steps_of_ranges(c, image, &known->series))
		find_by_calls(c, image, &known->series);
	if (known->series.count)
		steps_mark(&known->series);
	return &known->series;
}

void steps_find(const struct report_context *c, struct step_list *ret)
{
	SCOPED_MEMORY uint8_t *is_startup = startup_find(c->model);

	*ret = (struct step_list){0};
	array_each(const struct image, image, c->model->images, c->model->image_count) {
		const struct step_series *series =
			image->trace && !is_startup[image->process] ? steps_of_image(c, image) : NULL;

		if (series && series->count)
			list_add(ret, *series);
	}
}

void step_list_done(struct step_list *l)
{
	free(l->items);
	*l = (struct step_list){0};
}
