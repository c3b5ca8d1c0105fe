/* SPDX-License-Identifier: Apache-2.0 */
/* The lines at which the threads of each role computed, from CPU samples. Import statements are apart, because what
 * they cost is of the start, and so is polling for messages, which is waiting. */
#include <stdlib.h>
#include <string.h>

#include "report/analyze/role.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/samples.h"

/* What is known of a stack of an image. */
struct role_key {
	struct symbol_frame frame;
	bool has_frame, is_users, is_import, polls;
};

struct role_line_finder {
	struct roles *roles;
	struct map roles_of; /* (process, tid) -> (role + 1) << 1 | whether it only polls */
	struct map stacks;   /* (stack, image) -> place + 1 */
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
		p->is_import = symbols_has_python(s->image, stack, attribution_is_import);
		*known = ++f->place_count;
	}
	return &f->places[*known - 1];
}

static void line_add(struct role_lines *lines, const struct role_key *p, uint64_t ns)
{
	uint64_t *known = map_put(&lines->known, p->frame.place, 0, NULL);

	if (!*known) {
		lines->items = mem_grow(lines->items, lines->count, &lines->capacity, sizeof(*lines->items));
		lines->items[lines->count] = (struct role_call){.kind = BLOCKED_KINDS,
								.frame = p->frame,
								.has_frame = p->has_frame,
								.is_users = p->is_users};
		*known = ++lines->count;
	}
	lines->items[*known - 1].ns += ns;
	lines->items[*known - 1].count++;
}

static void line_visit(struct scan *s, const struct event *e)
{
	struct role_line_finder *f = s->more;
	const uint64_t *of = e->kind == TF_SAMPLE ? map_find(&f->roles_of, s->image->process, s->thread->tid) : NULL;
	const struct role_key *p;
	struct role *role;

	if (!of)
		return;
	role = &f->roles->items[(*of >> 1) - 1];
	p = place_of(f, s, e->args_count ? (uint32_t)tf_arg_value(event_arg(e, TF_ARG_STACK)) : 0);
	if (p->is_import && !(*of & 1))
		role->import_ns += samples_ns(e);
	else if (p->polls && !(*of & 1))
		role->polling_ns += samples_ns(e);
	else if (p->has_frame)
		line_add(*of & 1 ? &role->polls : &role->lines, p, samples_ns(e));
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
	scan_events(&(struct scan){.context = c, .kinds = 1u << TF_SAMPLE, .more = &f}, line_visit);
	map_done(&f.roles_of);
	map_done(&f.stacks);
	free(f.places);
}

void role_hot_line(const struct report_context *c, const struct role *r, struct buffer *ret)
{
	struct buffer place = {0};

	if (r->lines.count && r->lines.items[0].is_users)
		role_place(c, &r->lines.items[0], &place);
	/* A program without names of functions, as "[job]", says nothing. */
	if (place.size && *place.data != '[')
		buffer_add(ret, place.data, place.size);
	buffer_done(&place);
}

void role_hot_frame(const struct report_context *c, const struct role *r, struct buffer *ret)
{
	struct symbol_frame frame;

	if (!r->lines.count || !r->lines.items[0].is_users)
		return;
	frame = r->lines.items[0].frame;
	symbols_name(c->symbols, &frame);
	buffer_text(ret, frame.text);
}

/* Where a role waits longest for others. */
static const struct role_call *longest_wait(const struct role *r)
{
	for (size_t i = 0; i < r->call_count; i++)
		if (role_call_waits(r, r->calls[i].kind, r->calls[i].ns, r->calls[i].count) && r->calls[i].is_users)
			return &r->calls[i];
	return NULL;
}

/* The differences of a process's lifetime from the wait for it, in percent of it: what starting and ending it takes. */
enum { LIFETIME_PERCENT = 10 };

static bool waits_as_long(const struct role_call *call, const struct role *r)
{
	uint64_t difference = call->ns > r->lifetime_ns ? call->ns - r->lifetime_ns : r->lifetime_ns - call->ns;

	return difference * 100 <= r->lifetime_ns * LIFETIME_PERCENT;
}

const struct role_call *role_parent_wait(const struct roles *all, const struct role *r, const struct role **ret_parent)
{
	const struct role *parent = r->parent && !r->is_workers ? &all->items[r->parent - 1] : NULL;
	const struct role_call *found = NULL;

	for (size_t i = 0; parent && i < parent->call_count; i++) {
		const struct role_call *call = &parent->calls[i];

		if ((call->kind != BLOCKED_CHILD && call->kind != BLOCKED_PIPE && call->kind != BLOCKED_POLL) ||
		    !waits_as_long(call, r))
			continue;
		if (found)
			return NULL;
		found = call;
	}
	if (found && ret_parent)
		*ret_parent = parent;
	return found;
}

void role_work_line(const struct report_context *c, const struct roles *all, const struct role *r, struct buffer *ret)
{
	const struct role_call *wait;
	const struct role *parent;
	struct buffer line = {0};

	role_hot_line(c, r, &line);
	if (line.size)
		buffer_print(ret, ": %s", line.data);
	wait = line.size ? NULL : role_parent_wait(all, r, &parent);
	if (wait) {
		role_place(c, wait, &line);
		buffer_print(ret, " for %s: %s", parent->is_workers ? "the workers" : parent->label, line.data);
	}
	for (size_t i = 0; i < all->count && !r->is_program && !line.size; i++) {
		const struct role *program = &all->items[i];

		if (!program->is_program || program->process != r->process)
			continue;
		wait = longest_wait(program);
		if (!wait || (program->lines.count && program->lines.items[0].ns > wait->ns))
			role_hot_line(c, program, &line);
		if (!line.size && wait)
			role_place(c, wait, &line);
		if (line.size)
			buffer_print(ret, " for %s: %s", program->is_workers ? "them" : program->label, line.data);
	}
	buffer_done(&line);
}
