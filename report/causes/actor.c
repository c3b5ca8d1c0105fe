/* SPDX-License-Identifier: Apache-2.0 */
/* The actors of a capture. */

#include "report/causes/causes_build.h"

static struct actor *actor_add(struct causality *s, const struct image *image, const struct trace_thread *thread)
{
	mem_append(s->actors, s->actor_count, s->actor_capacity, (struct actor){.image = image, .thread = thread});
	return &s->actors[s->actor_count - 1];
}

uint64_t causes_ns(const struct causality *s, const struct image *image, uint64_t ticks)
{
	const struct model *m = s->context->model;

	return model_since_origin(m, clock_map_ns(&m->machines[image->machine].clock, ticks));
}

uint32_t causes_actor(const struct causality *s, const struct image *image, const struct trace_thread *thread)
{
	for (uint32_t i = s->first_of_image[image - s->context->model->images]; i < s->actor_count; i++)
		if (s->actors[i].image == image && s->actors[i].thread == thread)
			return i;
	return NODE_NONE;
}

static void add_thread(struct causality *s, const struct image *image, const struct trace_thread *thread,
		       uint64_t end_ns)
{
	struct actor *a = actor_add(s, image, thread);
	const struct tf_thread *page = thread->page;
	uint64_t start = page ? page->start_ticks : thread->first_ticks;

	if (page && page->created_ticks && page->created_ticks <= start)
		start = page->created_ticks;
	a->start_ns = causes_ns(s, image, start);
	a->end_ns = page && page->end_ticks ? causes_ns(s, image, page->end_ticks) : end_ns;
	a->ended = a->end_ns < end_ns;
	a->end_ns = smaller_of(a->end_ns, end_ns);
	if (a->start_ns > a->end_ns)
		a->start_ns = a->end_ns;
}

static void add_image(struct causality *s, const struct image *image, uint64_t end_ns)
{
	const struct trace *t = image->trace;
	const struct trace_thread *first = image_main_thread(image);
	struct actor *a;

	s->first_of_image[image - s->context->model->images] = (uint32_t)s->actor_count;
	a = actor_add(s, image, first);
	a->is_main = true;
	a->start_ns = causes_ns(s, image, image->start_ticks);
	end_ns = larger_of(end_ns, a->start_ns);
	a->end_ns = end_ns;
	for (size_t i = 0; t && i < t->thread_count; i++)
		if (&t->threads[i] != first && !thread_is_tool(&t->threads[i]))
			add_thread(s, image, &t->threads[i], end_ns); /* moves the actors */
}

/* An image that the launcher observed repeats the time of those that the process recorded. */
static bool is_repeated(const struct model *m, const struct process *p, const struct image *image)
{
	return image->via == TF_VIA_OBSERVED &&
	       m->images[p->first_image + p->image_count - 1].via != TF_VIA_OBSERVED;
}

void actors_find(struct causality *s)
{
	const struct model *m = s->context->model;

	s->first_of_image = mem_alloc((m->image_count + 1) * sizeof(*s->first_of_image));
	array_each(const struct process, p, m->processes, m->process_count) {
		for (size_t k = p->first_image; k < p->first_image + p->image_count; k++) {
			const struct image *image = &m->images[k], *next = image + 1;
			uint64_t end_ns = image->end_ticks ? causes_ns(s, image, image->end_ticks)
							   : model_since_origin(m, p->end_ns);

			s->first_of_image[k] = NODE_NONE;
			if (is_repeated(m, p, image))
				continue;
			if (k + 1 < p->first_image + p->image_count && causes_ns(s, next, next->start_ticks) < end_ns)
				end_ns = causes_ns(s, next, next->start_ticks);
			add_image(s, image, end_ns);
		}
	}
}

void actor_words(const struct actor *a, struct buffer *ret)
{
	if (a->is_stream)
		buffer_print(ret, "device %u stream %u", a->device, a->stream);
	else
		buffer_print(ret, "%s [%u]", a->thread ? a->thread->name : "",
			     a->thread ? a->thread->tid : a->image->pid);
}
