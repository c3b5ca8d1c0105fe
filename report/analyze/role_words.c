/* SPDX-License-Identifier: Apache-2.0 */
/* Roles, and lines of their calls, in words. */
#include <string.h>

#include "report/analyze/role.h"
#include "report/derive/stacks/frame.h"

void role_frame(const struct report_context *c, const struct role_call *call, struct buffer *ret)
{
	struct symbol_frame frame = call->frame;

	if (!call->has_frame)
		return;
	symbols_name(c->symbols, &frame);
	frame_function(&frame, frame.text, ret);
}

void role_place(const struct report_context *c, const struct role_call *call, struct buffer *ret)
{
	struct symbol_frame frame = call->frame;
	const char *slash;
	struct frame parts;

	if (!call->has_frame)
		return;
	symbols_name(c->symbols, &frame);
	frame_split(frame.text, &parts);
	if (parts.file) {
		slash = strrchr(parts.file, '/');
		buffer_print(ret, "%s:%u ", slash ? slash + 1 : parts.file, parts.line);
	}
	frame_function(&frame, parts.name, ret);
	frame_done(&parts);
}

void role_words(const struct role *r, struct buffer *ret)
{
	if (r->is_workers)
		buffer_print(ret, r->threads == 1 ? "the worker" : "the %zu workers", r->threads);
	else if (r->threads > 1)
		buffer_print(ret, r->is_program ? "the %zu processes of %s" : "the %zu %s", r->threads, r->label);
	else if (!r->is_program && strcmp(r->label, "threads"))
		buffer_print(ret, "thread %s", r->label);
	else if (!r->is_program)
		buffer_text(ret, "a thread");
	else
		buffer_text(ret, r->label);
}

/* What a thread did there: a call, or computing at its role's hottest line. */
static void add_activity(const struct report_context *c, const struct role *r, const struct role_end *end,
			 struct buffer *ret)
{
	struct role_call call = {.frame = end->frame, .has_frame = end->has_frame};
	struct buffer line = {0};

	buffer_text(ret, end->function ? end->function
			 : end->computes ? "CPU"
					 : "blocked outside of recorded calls");
	if (end->function)
		role_place(c, &call, &line);
	else if (r && end->computes)
		role_hot_line(c, r, &line);
	if (line.size)
		buffer_print(ret, " %s", line.data);
	buffer_done(&line);
}

void role_end_words(const struct report_context *c, const struct roles *all, const struct role_call *wait,
		    struct buffer *ret)
{
	const struct role_end *end = &wait->end;
	size_t role = end->ns ? all->role_of[end->thread] : 0;

	if (!end->ns)
		return;
	if (role)
		role_words(&all->items[role - 1], ret);
	else
		buffer_print(ret, *end->name ? "thread %s" : "a thread", end->name);
	buffer_text(ret, " (");
	add_activity(c, role ? &all->items[role - 1] : NULL, end, ret);
	buffer_text(ret, ")");
}
