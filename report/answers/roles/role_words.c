/* SPDX-License-Identifier: Apache-2.0 */
/* Roles, and lines of their calls, in words. */
#include <stdio.h>
#include <string.h>

#include "report/answers/roles/role.h"
#include "report/read/job/process_tree.h"

const struct code_line *role_call_line(const struct report_context *c, const struct role_call *call)
{
	struct symbol_frame frame = call->frame;

	if (call->has_frame)
		symbols_name(c->symbols, &frame);
	return call->has_frame ? frame.line : NULL;
}

void role_place(const struct report_context *c, const struct role_call *call, struct buffer *ret)
{
	code_line_short(role_call_line(c, call), ret);
}

/* Whether its threads have a name of their own. */
static bool is_named(const struct role *r)
{
	return !r->is_program && strcmp(r->label, "threads") && !text_ends_with(r->label, " threads");
}

void role_words(const struct role *r, struct buffer *ret)
{
	if (r->is_workers)
		buffer_print(ret, r->threads == 1 ? "the worker" : "the %zu workers", r->threads);
	else if (r->threads > 1 && r->is_program && !r->is_ranks)
		buffer_print(ret, "the %zu processes of %s", r->threads, r->label);
	else if (r->threads > 1)
		buffer_print(ret, "the %zu %s%s", r->threads, r->label, is_named(r) ? " threads" : "");
	else if (is_named(r))
		buffer_print(ret, "thread %s", r->label);
	else if (!r->is_program)
		buffer_text(ret, "a thread");
	else
		buffer_text(ret, r->label);
}

bool roles_name_ranks(struct roles *roles, struct role *main)
{
	struct role *others = NULL;

	list_each(struct role, r, roles)
		if (r != main && r->is_program && !r->is_workers && !strcmp(r->label, main->label))
			others = r;
	if (!others || !*main->process->rank)
		return false;
	snprintf(main->label, sizeof(main->label), "rank %.24s", main->process->rank);
	if (others->processes == 1)
		snprintf(others->label, sizeof(others->label), "rank %.24s", others->process->rank);
	others->is_ranks = others->processes > 1 && *others->process->rank;
	if (others->is_ranks)
		snprintf(others->label, sizeof(others->label), "other ranks");
	return true;
}

/* What a thread did there: a call, or computing at its role's hottest line. */
static void add_activity(const struct report_context *c, const struct role *r, const struct role_end *end,
			 struct buffer *ret)
{
	struct role_call call = {.frame = end->frame, .has_frame = end->has_frame};
	SCOPED(buffer) line = {0};

	buffer_text(ret, end->function ? end->function
			 : end->computes ? "CPU"
					 : "other waits");
	if (end->function)
		role_place(c, &call, &line);
	else if (r && end->computes)
		role_hot_line(c, r, &line);
	if (line.size)
		buffer_print(ret, " %s", line.data);
}

void role_end_words(const struct report_context *c, const struct roles *all, const struct role *self,
		    const struct role_call *wait, struct buffer *ret)
{
	const struct role_end *end = &wait->end;
	size_t role = end->ns ? all->role_of[end->thread] : 0;

	if (!end->ns)
		return;
	if (role && &all->items[role - 1] == self && self->threads > 1)
		buffer_text(ret, "each other");
	else if (role)
		role_words(&all->items[role - 1], ret);
	else
		buffer_print(ret, *end->name ? "thread %s" : "a thread", end->name);
	buffer_text(ret, " (");
	add_activity(c, role ? &all->items[role - 1] : NULL, end, ret);
	buffer_text(ret, ")");
}

/* Whether the program was started by the role's, or by one that this has started. */
static bool is_descendant(const struct roles *all, const struct role *r, size_t ancestor)
{
	size_t parent = r->parent;

	for (size_t steps = 0; parent && parent != ancestor && steps < all->count; steps++)
		parent = all->items[parent - 1].parent;
	return parent && parent == ancestor;
}

const struct role *role_waited_for(const struct roles *all, const struct role *self, const struct role_call *wait)
{
	const struct role *found = NULL;
	size_t number = (size_t)(self - all->items) + 1;

	if (wait->kind != BLOCKED_CHILD && wait->kind != BLOCKED_PIPE && wait->kind != BLOCKED_POLL)
		return NULL;
	list_each(const struct role, r, all) {
		/* without a parent: of a shell that only starts them, which is no role */
		bool is_beside = wait->kind == BLOCKED_PIPE &&
				 (!self->parent || is_descendant(all, r, self->parent));

		if (r == self || !r->is_program || r->process == self->process ||
		    (!is_descendant(all, r, number) && !is_beside))
			continue;
		if (!found || r->cpu_ns > found->cpu_ns)
			found = r;
	}
	return found;
}

void role_awaited_words(const struct report_context *c, const struct roles *all, const struct role *self,
			const struct role_call *wait, struct buffer *ret)
{
	const struct role *awaited = wait->end.ns ? NULL : role_waited_for(all, self, wait);

	role_end_words(c, all, self, wait, ret);
	if (!awaited)
		return;
	role_words(awaited, ret);
	buffer_print(ret, " (%s %.0f %%)", awaited->threads > 1 ? "compute" : "computes",
		     100 * (double)awaited->cpu_ns / (double)(awaited->lifetime_ns + 1));
}

void role_hot_line(const struct report_context *c, const struct role *r, struct buffer *ret)
{
	SCOPED(buffer) place = {0};

	if (r->lines.count && r->lines.items[0].is_users)
		role_place(c, &r->lines.items[0], &place);
	/* A program without names of functions, as "[job]", says nothing. */
	if (place.size && *place.data != '[')
		buffer_add(ret, place.data, place.size);
}

const struct code_line *role_hot_code_line(const struct report_context *c, const struct role *r)
{
	struct symbol_frame frame;

	if (!r->lines.count || !r->lines.items[0].is_users)
		return NULL;
	frame = r->lines.items[0].frame;
	symbols_name(c->symbols, &frame);
	return strcmp(frame.line->function, CODE_LINE_UNKNOWN) ? frame.exact : NULL;
}

/* The differences of a process's lifetime from the wait for it, in percent of it: what starting and ending it takes. */
enum { LIFETIME_PERCENT = 10 };

/* Where a role waits longest for others. */
static const struct role_call *longest_wait(const struct role *r)
{
	return array_find(call, r->calls, r->call_count,
			  role_call_waits(r, call->kind, call->ns, call->count) && call->is_users);
}

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

/* Of code that a library has made, as of a named tuple. */
static bool is_text(const struct report_context *c, const struct role *r)
{
	const struct code_line *line = r->is_main ? NULL : role_hot_code_line(c, r);

	return line && line->file && attribution_is_generated(line->file);
}

void role_work_line(const struct report_context *c, const struct roles *all, const struct role *r, struct buffer *ret)
{
	const struct role_call *wait;
	const struct role *parent;
	/* of a thread its program, of workers the one that has forked them */
	const struct process *for_whom = !r->is_program  ? r->process
					 : r->is_workers ? process_parent(c->model, r->process)
							 : NULL;
	SCOPED(buffer) line = {0};

	if (!r->is_workers && !is_text(c, r))
		role_hot_line(c, r, &line);
	if (line.size)
		buffer_print(ret, ": %s", line.data);
	wait = line.size ? NULL : role_parent_wait(all, r, &parent);
	if (wait) {
		role_place(c, wait, &line);
		buffer_print(ret, " for %s: %s", parent->is_workers ? "the workers" : parent->label, line.data);
	}
	for (size_t i = 0; i < all->count && for_whom && !line.size; i++) {
		const struct role *program = &all->items[i];

		if (!program->is_program || program->process != for_whom)
			continue;
		wait = longest_wait(program);
		if (!wait || (program->lines.count && program->lines.items[0].ns > wait->ns))
			role_hot_line(c, program, &line);
		if (!line.size && wait)
			role_place(c, wait, &line);
		if (line.size)
			buffer_print(ret, " for %s: %s", program->is_workers ? "them" : program->label, line.data);
	}
}
