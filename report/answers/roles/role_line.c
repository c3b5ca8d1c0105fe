/* SPDX-License-Identifier: Apache-2.0 */
/* The lines at which the threads of each role computed, from CPU samples. Import statements are apart, because what
 * they cost is of the start, and so is polling for messages, which is waiting. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/roles/role.h"
#include "report/events/stacks/samples.h"

/* What is known of a stack of an image. */
struct role_key {
	struct symbol_frame frame;
	bool has_frame, is_users, is_import, polls;
};

struct role_line_finder {
	struct roles *roles;
	struct map roles_of; /* (process, tid) -> (role + 1) << 1 | whether it only polls */
	struct map stacks;   /* (stack, image) -> place + 1 */
	struct map of_roles; /* (stack and role, image) -> its place in the role's stacks + 1 */
	struct role_key *places;
	size_t place_count, place_capacity;
};

static const struct role_key *place_of(struct role_line_finder *f, const struct scan *s, uint32_t stack)
{
	size_t image = (size_t)(s->image - s->context->model->images);
	uint64_t *known = map_put(&f->stacks, stack, image, NULL);
	struct role_key *p;

	if (!*known) {
		f->places = mem_grow(f->places, f->place_count, &f->place_capacity, sizeof(*f->places));
		p = &f->places[f->place_count];
		*p = (struct role_key){.frame.place = SYMBOL_NO_PLACE};
		p->has_frame = attribution_stack(&f->roles->attribution, s->image, stack, &p->frame, &p->is_users);
		p->polls = attribution_polls(f->roles->attribution.symbols, s->image, stack);
		p->is_import = attribution_has_import(s->image, stack);
		*known = ++f->place_count;
	}
	return &f->places[*known - 1];
}

static void line_add(struct role_lines *lines, const struct role_key *p, uint64_t ns)
{
	uint64_t *known = map_put(&lines->known, p->frame.place, 0, NULL);

	if (!*known) {
		list_add(lines, (struct role_call){.kind = BLOCKED_KINDS,
						   .frame = p->frame,
						   .has_frame = p->has_frame,
						   .is_users = p->is_users});
		*known = lines->count;
	}
	lines->items[*known - 1].ns += ns;
	lines->items[*known - 1].count++;
}

static void stack_add(struct role_line_finder *f, const struct scan *s, struct role *r, uint32_t stack, uint64_t ns)
{
	uint64_t *known = map_put(&f->of_roles, (uint64_t)(r - f->roles->items) << 32 | stack,
				  (uint64_t)(s->image - s->context->model->images), NULL);

	if (!*known) {
		mem_append(r->stacks, r->stack_count, r->stack_capacity, (struct role_stack){s->image, stack, 0});
		*known = r->stack_count;
	}
	r->stacks[*known - 1].ns += ns;
}

static void line_visit(struct scan *s, const struct event *e)
{
	struct role_line_finder *f = s->more;
	const uint64_t *of = e->kind == TF_SAMPLE ? map_find(&f->roles_of, s->image->process, s->thread->tid) : NULL;
	uint32_t stack = event_stack(e);
	const struct role_key *p;
	struct role *role;

	if (!of)
		return;
	role = &f->roles->items[(*of >> 1) - 1];
	p = place_of(f, s, stack);
	if (p->is_import && !(*of & 1))
		role->import_ns += samples_ns(e);
	else if (p->polls && !(*of & 1))
		role->polling_ns += samples_ns(e);
	else if (p->has_frame)
		line_add(*of & 1 ? &role->polls : &role->lines, p, samples_ns(e));
	if (p->has_frame && !p->polls && !(*of & 1))
		stack_add(f, s, role, stack, samples_ns(e));
}

void roles_find_lines(const struct report_context *c, const struct partition *p, struct roles *roles)
{
	struct role_line_finder f = {.roles = roles};

	if (!samples_any(c->model))
		return;
	for (size_t i = 0; i < p->count; i++)
		if (roles->role_of[i])
			*map_put(&f.roles_of, p->threads[i].process, p->threads[i].tid, NULL) =
				roles->role_of[i] << 1 | roles->only_polls[i];
	scan_events(&(struct scan){.context = c, .kinds = 1u << TF_SAMPLE,
				   .call_args = 1u << TF_ARG_STACK, .more = &f}, line_visit);
	map_done(&f.roles_of);
	map_done(&f.stacks);
	map_done(&f.of_roles);
	free(f.places);
}
