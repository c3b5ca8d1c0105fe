/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/openmp/openmp_places.h"

#include <stdlib.h>
#include <string.h>

#include "report/names/attribution.h"

/* What one thread did at a place. */
struct openmp_share {
	size_t place;
	const struct trace_thread *thread;
	uint64_t count, work_ns, wait_ns;
};

enum event_class { CLASS_NONE, CLASS_REGION, CLASS_PART, CLASS_BARRIER };

struct openmp_finder {
	struct openmp_places *places;
	struct attribution attribution;
	const struct image *image;
	const uint8_t *classes; /* of the functions of `image` */
	struct map by_stack;	/* (image and class, stack) -> number of the line + 1 */
	struct map by_line;	/* (image and kind, line) -> place */
	struct map by_thread;	/* (place, thread) -> share */
	struct openmp_share *shares;
	size_t share_count, share_capacity;
};

static uint8_t class_of(const struct function *f)
{
	return f->kind.parallel & PARALLEL_REGION    ? CLASS_REGION
	       : f->kind.parallel & PARALLEL_PART    ? CLASS_PART
	       : f->kind.parallel & PARALLEL_BARRIER ? CLASS_BARRIER
						     : CLASS_NONE;
}

static size_t place_of(struct openmp_finder *f, const struct scan *s, const struct event *e, bool is_barrier)
{
	uint64_t image = (uint64_t)(s->image - s->context->model->images);
	uint32_t stack = event_stack(e);
	uint64_t *by_stack = map_put(&f->by_stack, image << 1 | is_barrier, stack, NULL);
	const struct code_line *line;
	struct openmp_places *p = f->places;

	if (*by_stack)
		return *by_stack - 1;
	line = attribution_line(&f->attribution, s->image, stack);
	*by_stack = 1 + map_place(&f->by_line, image << 1 | is_barrier, code_line_number(line), p->items, p->count,
				  p->capacity,
				  (struct openmp_place){.image = s->image, .is_barrier = is_barrier, .line = line});
	return *by_stack - 1;
}

static struct openmp_share *share_of(struct openmp_finder *f, const struct scan *s, size_t place)
{
	size_t at = map_place(&f->by_thread, place, s->thread->number, f->shares, f->share_count, f->share_capacity,
			      (struct openmp_share){.place = place, .thread = s->thread});

	return &f->shares[at];
}

static void add_region(struct openmp_place *p, const struct scan *s, const struct event *e, uint64_t ns)
{
	uint64_t threads = tf_arg_value(event_arg(e, TF_ARG_TEAM)),
		 wait_ns = clock_map_duration(s->clock, tf_arg_value(event_arg(e, TF_ARG_VALUE)));

	p->count++;
	p->total_ns += ns;
	p->wait_ns += wait_ns;
	p->lost_ns += threads ? wait_ns / threads : 0;
	p->threads = larger_of(p->threads, threads);
}

static void visit(struct scan *s, const struct event *e)
{
	struct openmp_finder *f = s->more;
	uint64_t ns = clock_map_duration(s->clock, e->duration);
	enum event_class class;
	struct openmp_share *share;
	size_t place;

	if ((e->kind != TF_CALL && e->kind != TF_CONSTRUCT) || e->id >= s->image->trace->functions->count)
		return;
	if (f->image != s->image) {
		f->image = s->image;
		f->classes = functions_classes(s->image->trace->functions, class_of);
	}
	class = (enum event_class)f->classes[e->id];
	if (class == CLASS_NONE)
		return;
	place = place_of(f, s, e, class == CLASS_BARRIER);
	if (class == CLASS_REGION) {
		add_region(&f->places->items[place], s, e, ns);
		return;
	}
	share = share_of(f, s, place);
	share->count++;
	if (class == CLASS_PART) {
		share->work_ns += ns;
		f->places->items[place].work_ns += ns;
	} else {
		share->wait_ns += ns;
		f->places->items[place].wait_ns += ns;
	}
}

/* Of a barrier, what its threads did tells how often it was executed. */
static void settle_barriers(struct openmp_finder *f)
{
	for (size_t i = 0; i < f->share_count; i++) {
		struct openmp_place *p = &f->places->items[f->shares[i].place];

		p->threads += p->is_barrier;
		if (p->is_barrier && f->shares[i].count > p->count)
			p->count = f->shares[i].count;
	}
	for (size_t i = 0; i < f->places->count; i++)
		if (f->places->items[i].is_barrier)
			f->places->items[i].lost_ns =
				f->places->items[i].wait_ns / f->places->items[i].threads;
}

/* A thread that works a tenth longer than the mean, or waits less than half of it. */
static bool is_late(const struct openmp_place *p, const struct openmp_share *s)
{
	uint64_t mean;

	if (p->threads < 2)
		return false;
	if (p->is_barrier)
		return s->wait_ns < p->wait_ns / p->threads / 2;
	mean = p->work_ns / p->threads;
	return s->work_ns > mean + mean / 10;
}

static void find_late(struct openmp_finder *f)
{
	SCOPED_MEMORY uint64_t *best = mem_alloc((f->places->count + 1) * sizeof(*best)); /* share + 1 */

	memset(best, 0, (f->places->count + 1) * sizeof(*best));
	for (size_t i = 0; i < f->share_count; i++) {
		const struct openmp_share *s = &f->shares[i],
					  *b = best[s->place] ? &f->shares[best[s->place] - 1] : NULL;
		bool is_barrier = f->places->items[s->place].is_barrier;

		if (!b || (is_barrier ? s->wait_ns < b->wait_ns : s->work_ns > b->work_ns))
			best[s->place] = i + 1;
	}
	for (size_t i = 0; i < f->places->count; i++)
		if (best[i] && is_late(&f->places->items[i], &f->shares[best[i] - 1]))
			f->places->items[i].late = f->shares[best[i] - 1].thread;
}

COMPARATOR(compare_places, struct openmp_place,
	   order_of(b->lost_ns, a->lost_ns) ?: order_of(a->image->pid, b->image->pid)
	   ?: order_of(code_line_number(a->line), code_line_number(b->line)))

void openmp_places_find(const struct report_context *c, struct openmp_places *ret)
{
	struct openmp_finder f = {.places = ret, .attribution = {.symbols = c->symbols}};

	*ret = (struct openmp_places){0};
	scan_events(&(struct scan){.context = c, .groups = 1u << TF_GROUP_OPENMP, .more = &f}, visit);
	settle_barriers(&f);
	find_late(&f);
	array_sort(ret->items, ret->count, compare_places);
	attribution_done(&f.attribution);
	map_done(&f.by_stack);
	map_done(&f.by_line);
	map_done(&f.by_thread);
	free(f.shares);
}

void openmp_places_done(struct openmp_places *p)
{
	free(p->items);
}

bool openmp_is_in(const struct image *image)
{
	return trace_bits(image->trace).groups & 1u << TF_GROUP_OPENMP;
}
