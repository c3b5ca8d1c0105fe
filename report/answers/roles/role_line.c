/* SPDX-License-Identifier: Apache-2.0 */
/* The lines at which the threads of each role computed, from CPU samples. Import statements are apart, because what
 * they cost is of the start, and so is polling for messages, which is waiting. A call that waits for what a device
 * executes waits, whatever its thread does on the CPU meanwhile: samples in it are time of the call. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/roles/role.h"
#include "report/events/stacks/samples.h"

/* What is known of a stack of an image. */
struct role_key {
	struct symbol_frame frame;
	bool has_frame, is_users, is_import, polls;
};

/* A sample that may be inside of a call, which is recorded when it ends. */
struct open_sample {
	uint64_t ticks, ns;
	uint32_t stack;
};

struct role_line_finder {
	const struct report_context *context;
	struct roles *roles;
	struct editables *editables; /* NULL: what waits for a device is not known */
	const struct image *image;
	const struct trace_thread *thread;
	struct { /* of the thread, so far */
		struct open_sample *items;
		size_t count, capacity;
	} open;
	struct map threads_of; /* (process, tid) -> thread of the partition + 1; of threads that are in a role */
	struct map stacks;   /* (stack, image) -> place + 1 */
	struct map of_threads; /* (stack and thread, image) -> its place in the role's stacks */
	struct role_key *places;
	size_t place_count, place_capacity;
};

static struct role *role_of_thread(const struct role_line_finder *f, size_t thread)
{
	return &f->roles->items[f->roles->role_of[thread] - 1];
}

static const struct role_key *place_of(struct role_line_finder *f, uint32_t stack)
{
	size_t image = (size_t)(f->image - f->context->model->images);
	uint64_t *known = map_put(&f->stacks, stack, image, NULL);
	struct role_key *p;

	if (!*known) {
		f->places = mem_grow(f->places, f->place_count, &f->place_capacity, sizeof(*f->places));
		p = &f->places[f->place_count];
		*p = (struct role_key){.frame.place = SYMBOL_NO_PLACE};
		p->has_frame = attribution_stack(&f->roles->attribution, f->image, stack, &p->frame, &p->is_users);
		p->polls = attribution_polls(f->roles->attribution.symbols, f->image, stack);
		p->is_import = attribution_has_import(f->image, stack);
		*known = ++f->place_count;
	}
	return &f->places[*known - 1];
}

static void line_add(struct role_lines *lines, const struct role_key *p, uint64_t ns)
{
	size_t place = map_place(&lines->known, p->frame.place, 0, lines->items, lines->count, lines->capacity,
				 (struct role_call){.kind = BLOCKED_KINDS,
						    .frame = p->frame,
						    .has_frame = p->has_frame,
						    .is_users = p->is_users});

	lines->items[place].ns += ns;
	lines->items[place].count++;
}

static void stack_add(struct role_line_finder *f, struct role *r, size_t thread, uint32_t stack, uint64_t ns)
{
	size_t place = map_place(&f->of_threads, (uint64_t)thread << 32 | stack,
				 (uint64_t)(f->image - f->context->model->images), r->stacks, r->stack_count,
				 r->stack_capacity, (struct role_stack){f->image, stack, thread, 0});

	r->stacks[place].ns += ns;
}

static void sample_add(struct role_line_finder *f, size_t thread, const struct open_sample *sample)
{
	bool only_polls = f->roles->only_polls[thread];
	struct role *role = role_of_thread(f, thread);
	const struct role_key *p = place_of(f, sample->stack);

	if (p->is_import && !only_polls)
		role->import_ns += sample->ns;
	else if (p->polls && !only_polls)
		role->polling_ns += sample->ns;
	else if (p->has_frame)
		line_add(only_polls ? &role->polls : &role->lines, p, sample->ns);
	if (p->has_frame && !p->polls && !only_polls)
		stack_add(f, role, thread, sample->stack, sample->ns);
}

static void thread_end(struct role_line_finder *f)
{
	const uint64_t *of = f->thread ? map_find(&f->threads_of, f->image->process, f->thread->tid) : NULL;

	list_each(const struct open_sample, sample, &f->open)
		if (of)
			sample_add(f, (size_t)*of - 1, sample);
	f->open.count = 0;
}

/* Samples in a call that waits for a device. */
static void samples_wait(struct role_line_finder *f, const struct event *e, const struct function *function)
{
	const struct blocked_call call = {.function = function, .kind = function->kind.waits,
					  .stack = event_stack(e)};
	const uint64_t *of = map_find(&f->threads_of, f->image->process, f->thread->tid), *at;
	struct role *role = of ? role_of_thread(f, (size_t)*of - 1) : NULL;
	uint64_t ns = 0;

	while (f->open.count && f->open.items[f->open.count - 1].ticks >= event_start(e))
		ns += f->open.items[--f->open.count].ns;
	at = role ? role_find_call(f->roles, (size_t)(role - f->roles->items), f->image, &call) : NULL;
	if (!at)
		return;
	ns = smaller_of(ns, role->cpu_ns);
	role->cpu_ns -= ns;
	role->calls[*at].ns += ns;
}

static void line_visit(struct scan *s, const struct event *e)
{
	struct role_line_finder *f = s->more;
	const struct function *function = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;

	if (f->thread != s->thread)
		thread_end(f);
	f->image = s->image;
	f->thread = s->thread;
	if (e->kind == TF_SAMPLE)
		list_add(&f->open, ((struct open_sample){e->ticks, samples_ns(e), event_stack(e)}));
	if (function && function->kind.cuda & CUDA_SYNCHRONIZE && f->open.count && f->editables &&
	    f->open.items[f->open.count - 1].ticks >= event_start(e) &&
	    editable_awaits_device(f->editables, s->image, function->name, event_stack(e)))
		samples_wait(f, e, function);
}

void roles_find_lines(const struct report_context *c, const struct partition *p, struct causality *causes,
		      struct roles *roles)
{
	struct role_line_finder f = {.context = c, .roles = roles, .editables = causes ? &causes->editables : NULL};

	if (!samples_any(c->model))
		return;
	for (size_t i = 0; i < p->count; i++)
		if (roles->role_of[i])
			*map_put(&f.threads_of, p->threads[i].process, p->threads[i].tid, NULL) = i + 1;
	scan_events(&(struct scan){.context = c, .kinds = 1u << TF_SAMPLE,
				   .call_args = 1u << TF_ARG_STACK, .more = &f}, line_visit);
	thread_end(&f);
	free(f.open.items);
	map_done(&f.threads_of);
	map_done(&f.stacks);
	map_done(&f.of_threads);
	free(f.places);
}
