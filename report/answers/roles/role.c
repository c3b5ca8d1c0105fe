/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns threads to roles. */
#include "report/answers/roles/role.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/interner.h"
#include "report/time/helpers.h"

/* Names of lines are looked up for this many roles and calls of each; more than the least if they take this part of
 * the longest. */
enum { NAMED_ROLES = 8, NAMED_CALLS = 64, NAMED_AT_LEAST = 8, NAMED_PART = 64 };

struct making {
	const struct report_context *context;
	const struct partition *partition;
	struct roles *roles;
	struct helpers helpers;
	struct interner keys; /* of roles, by position */
};

/* ---- roles ---- */

/* Which process started this one, shims aside; SIZE_MAX: none. */
static size_t started_by(const struct making *k, const struct process *p)
{
	const struct model *m = k->context->model;
	size_t process = p->parent;

	while (process != SIZE_MAX && k->helpers.is_shim[process])
		process = m->processes[process].parent;
	return process;
}

/* The job's first program, or the same program that was started beside it, by a script for example. Ranks are apart. */
static bool is_like_root(const struct making *k, const struct process *p, const char *label)
{
	const struct model *m = k->context->model;
	const struct process *root = &m->processes[k->helpers.root];
	char program[sizeof(((struct role *)0)->label)];

	if (p == root)
		return true;
	image_program(process_last_image(m, root), program, sizeof(program));
	return started_by(k, p) == started_by(k, root) && p->machine == root->machine && !helpers_is_forked(m, p) &&
	       !*p->rank && !strcmp(program, label);
}

/* A name without its number and what separates it: "loader" of "loader-3". Returns whether anything is left. */
static bool name_of_all(const struct thread_time *t, char *ret, size_t size)
{
	size_t length = strcspn(t->name, "0123456789");

	length = length < size ? length : size - 1;
	while (length && (t->name[length] & 0xc0) == 0x80) /* within a character */
		length--;
	while (length && strchr(" -_.:#([", t->name[length - 1]))
		length--;
	snprintf(ret, size, "%.*s", (int)length, t->name);
	return length;
}

static struct role *role_of(struct making *k, const struct thread_time *t)
{
	const struct model *m = k->context->model;
	const struct process *p = &m->processes[t->process];
	bool is_program = t->origin == THREAD_MAIN, is_main = t->process == k->helpers.root && is_program;
	SCOPED(buffer) key = {0};
	struct role role = {.is_main = is_main, .is_program = is_program, .process = p};
	char label[sizeof(role.label)], thread[sizeof(role.label)];
	const char *program = image_file_name(process_last_image(m, p));
	const char *unnamed = t->origin == THREAD_UNRECORDED ? "other threads" : "threads";
	bool is_named;
	uint32_t number;

	image_program(process_last_image(m, p), label, sizeof(label));
	/* A thread has the name of its program, which the kernel truncates, unless it was given another. */
	is_named = strcmp(t->name, label) != 0 && strncmp(t->name, program, strlen(t->name)) != 0 &&
		   name_of_all(t, thread, sizeof(thread));
	role.is_workers = !is_main && t->process != k->helpers.root && helpers_is_forked(m, p);
	if (is_like_root(k, p, label))
		buffer_print(&key, "root");
	else
		buffer_print(&key, "%d %s", role.is_workers, label);
	if (!is_program)
		buffer_print(&key, " %s", is_named ? thread : unnamed);
	if (is_program && !is_main && role.is_workers)
		snprintf(role.label, sizeof(role.label), "workers");
	else if (is_program)
		snprintf(role.label, sizeof(role.label), "%s", label);
	else
		snprintf(role.label, sizeof(role.label), "%s", is_named ? thread : unnamed);
	number = interner_number(&k->keys, key.data, key.size);
	if (number == k->roles->count)
		list_add(k->roles, role);
	return &k->roles->items[number];
}

static void role_add_call(struct making *k, struct role *role, const struct image *image, const struct blocked_call *c)
{
	struct symbol_frame frame = {.place = SYMBOL_NO_PLACE};
	bool is_users = false;
	bool has_frame = c->stack && attribution_stack(&k->roles->attribution, image, c->stack, &frame, &is_users);
	size_t place = map_place(&role->known_calls, c->kind, has_frame ? frame.place : SYMBOL_NO_PLACE, role->calls,
				 role->call_count, role->call_capacity,
				 (struct role_call){.kind = c->kind,
						    .frame = frame,
						    .has_frame = has_frame,
						    .is_users = is_users});
	struct role_call *call = &role->calls[place];

	if (c->blocked_ns >= call->function_ns) {
		call->function_ns = c->blocked_ns;
		call->function = c->function->name;
	}
	call->ns += c->blocked_ns;
	if (has_frame && (c->kind == BLOCKED_READ || c->kind == BLOCKED_FILE) &&
	    attribution_has_import(image, c->stack))
		call->import_ns += c->blocked_ns;
	call->count += c->count;
	role->waits_ns += role_call_waits(role, c->kind, c->total_ns, c->count) ? c->blocked_ns : 0;
}

/* Sets *ret_only_polls. */
static void role_add(struct making *k, struct role *role, const struct thread_time *t, bool *ret_only_polls)
{
	const struct process *p = &k->context->model->processes[t->process];

	uint64_t polling_ns = role_polls(k->context, t, ret_only_polls);
	uint64_t work_ns = t->cpu_ns > polling_ns ? t->cpu_ns - polling_ns : 0;

	role->least_ns = !role->threads || work_ns < role->least_ns ? work_ns : role->least_ns;
	role->most_ns = work_ns > role->most_ns ? work_ns : role->most_ns;
	role->threads++;
	role->processes += t->origin == THREAD_MAIN;
	role->lifetime_ns += t->lifetime_ns;
	role->cpu_ns += t->cpu_ns;
	role->polling_ns += polling_ns;
	role->delay_ns += t->delay_ns;
	role->stopped_ns += t->stopped_ns;
	if (role->threads == 1 || t->delay_ns > role->longest_delay_ns) {
		role->longest_delay_ns = t->delay_ns;
		role->mask = t->limit.mask;
	}
	*(!t->cpu_is_known ? &role->unknown_ns : t->delay_is_known ? &role->unexplained_ns : &role->unsure_ns) +=
		t->unexplained_ns;
	for (size_t i = 0; i < t->blocked.count; i++)
		role_add_call(k, role, t->image, &t->blocked.calls[i]);
	if (!role->first_ns || p->start_ns < role->first_ns)
		role->first_ns = p->start_ns;
	if (p->end_ns > role->last_ns)
		role->last_ns = p->end_ns;
}

static int compare_calls(const void *left, const void *right)
{
	const struct role_call *a = left, *b = right;

	/* A library's lines of computing tell less than those of the user. */
	if (a->kind == BLOCKED_KINDS && a->is_users != b->is_users)
		return b->is_users - a->is_users;
	return order_of(b->ns, a->ns) ?: order_of(a->kind, b->kind);
}

/* Joins the calls of one line among the first `named` ones: several instructions are different places, and so is the
 * same one in each process. */
static void sort_calls(const struct report_context *c, struct role_call *calls, size_t count, size_t named)
{
	struct buffer names[NAMED_CALLS] = {0};

	if (!count)
		return;
	qsort(calls, count, sizeof(*calls), compare_calls);
	named = named < count ? named : count;
	while (named > NAMED_AT_LEAST && calls[named - 1].ns < calls->ns / NAMED_PART)
		named--;
	for (size_t i = 0; i < named; i++) {
		role_place(c, &calls[i], &names[i]);
		for (size_t k = 0; k < i && names[i].size; k++) {
			if (calls[k].kind != calls[i].kind || !names[k].size || strcmp(names[k].data, names[i].data))
				continue;
			calls[k].ns += calls[i].ns;
			calls[k].import_ns += calls[i].import_ns;
			calls[k].count += calls[i].count;
			if (calls[i].end.ns > calls[k].end.ns)
				calls[k].end = calls[i].end;
			calls[i].ns = calls[i].import_ns = calls[i].count = 0;
			break;
		}
	}
	for (size_t i = 0; i < named; i++)
		buffer_done(&names[i]);
	qsort(calls, count, sizeof(*calls), compare_calls);
}

PLACE_COMPARATOR(roles_by_own, struct role, order_of(role_own_ns(b), role_own_ns(a)))

static bool is_mains(const struct making *k, const struct process *p)
{
	const struct model *m = k->context->model;
	size_t process = (size_t)(p - m->processes);

	while (process != SIZE_MAX && process != k->helpers.root)
		process = m->processes[process].parent;
	return process == k->helpers.root;
}

/* The role of the program that started the process, those aside that only wait for a child, as a compiler's driver;
 * 0: none. `programs` has the role + 1 of each main thread. */
static size_t starter_of(const struct making *k, const struct process *p, const size_t *programs)
{
	size_t process = started_by(k, p);

	while (process != SIZE_MAX && !programs[process])
		process = started_by(k, &k->context->model->processes[process]);
	return process != SIZE_MAX ? programs[process] : 0;
}

static void find_parents(struct making *k)
{
	struct roles *roles = k->roles;
	SCOPED_MEMORY size_t *programs = mem_alloc((k->context->model->process_count + 1) * sizeof(*programs));

	for (size_t i = 0; i < k->partition->count; i++)
		if (k->partition->threads[i].origin == THREAD_MAIN && roles->role_of[i])
			programs[k->partition->threads[i].process] = roles->role_of[i];
	for (size_t i = 0; i < roles->count; i++) {
		struct role *r = &roles->items[i];

		r->is_mains = !r->is_main && is_mains(k, r->process);
		if (r->is_program && !r->is_main)
			r->parent = starter_of(k, r->process, programs);
		if (r->parent == i + 1)
			r->parent = 0;
	}
}

static void sort_roles(struct roles *r, size_t threads)
{
	SCOPED_MEMORY size_t *order = places_in_order(r->count, roles_by_own, r->items);
	size_t *place = mem_alloc((r->count + 1) * sizeof(*place)); /* as the values of role_of, by the old ones */
	struct role *sorted = mem_alloc((r->count + 1) * sizeof(*sorted));

	for (size_t i = 0; i < r->count; i++) {
		sorted[i] = r->items[order[i]];
		place[order[i] + 1] = i + 1;
	}
	for (size_t i = 0; i < r->count; i++)
		sorted[i].parent = place[sorted[i].parent];
	for (size_t i = 0; i < threads; i++)
		r->role_of[i] = place[r->role_of[i]];
	free(r->items);
	free(place);
	r->items = sorted;
}

/* Whether the main thread's program has other threads or processes in a role; in a pipeline it has none. */
static bool has_others(const struct roles *roles)
{
	return list_find(role, roles, role->is_mains) != NULL;
}

/* Roles of one name are told apart by their programs: "threads" of several programs, or "workers". */
static void tell_apart(const struct model *m, struct roles *roles)
{
	SCOPED_MEMORY bool *is_double = mem_alloc((roles->count + 1) * sizeof(*is_double));

	for (size_t i = 0; i < roles->count; i++)
		for (size_t k = 0; k < roles->count; k++)
			is_double[i] |= k != i && !strcmp(roles->items[i].label, roles->items[k].label);
	for (size_t i = 0; i < roles->count; i++) {
		struct role *r = &roles->items[i];
		char program[sizeof(r->label)], label[sizeof(r->label)];

		if (!is_double[i] || (r->is_program && !r->is_workers))
			continue;
		image_program(process_last_image(m, r->process), program, sizeof(program));
		snprintf(label, sizeof(label), "%.15s %.15s", program, r->label);
		memcpy(r->label, label, sizeof(label));
	}
}

void roles_make(const struct report_context *c, const struct partition *p, struct causality *causes, bool has_lines,
		struct roles *ret)
{
	const struct model *m = c->model;
	struct making k = {.context = c, .partition = p, .roles = ret};

	*ret = (struct roles){.attribution.symbols = c->symbols,
			      .role_of = mem_alloc((p->count + 1) * sizeof(*ret->role_of)),
			      .only_polls = mem_alloc((p->count + 1) * sizeof(*ret->only_polls))};
	for (size_t i = 0; i < m->process_count; i++)
		ret->run_ns = larger_of(ret->run_ns, m->processes[i].end_ns - m->origin_ns);
	ret->recorded = recorded_find(m);
	ret->wall_ns = ret->recorded.is_part ? ret->recorded.ns : ret->run_ns;
	helpers_find(c, p, &k.helpers);
	ret->shims += array_sum(one, k.helpers.is_shim, m->process_count, *one != 0);
	for (size_t i = 0; i < p->count; i++) {
		const struct thread_time *t = &p->threads[i];
		struct role *role;

		if (t->is_outside)
			continue;
		if (helpers_have(&k.helpers, p, i)) {
			ret->idle_threads += !k.helpers.is_shim[t->process] && t->image->end != TF_END_EXEC;
			continue;
		}
		role = role_of(&k, t);
		role_add(&k, role, t, &ret->only_polls[i]);
		ret->role_of[i] = (size_t)(role - ret->items) + 1;
	}
	find_parents(&k);
	if (has_lines)
		roles_find_lines(c, p, causes, ret);
	if (causes)
		roles_find_ends(causes, p, ret);
	list_each(struct role, role, ret) {
		if (ret->recorded.is_part && role->last_ns - role->first_ns > ret->wall_ns)
			role->last_ns = role->first_ns + ret->wall_ns;
		if (role->is_main && !roles_name_ranks(ret, role) && has_others(ret))
			strcpy(role->label, "main");
	}
	tell_apart(m, ret);
	sort_roles(ret, p->count);
	for (size_t i = 0; i < ret->count; i++) {
		size_t named = has_lines && i < NAMED_ROLES ? NAMED_CALLS : 0;

		sort_calls(c, ret->items[i].calls, ret->items[i].call_count, named);
		sort_calls(c, ret->items[i].lines.items, ret->items[i].lines.count, named);
		sort_calls(c, ret->items[i].polls.items, ret->items[i].polls.count, named);
	}
	ret->is_shim = k.helpers.is_shim;
	k.helpers.is_shim = NULL;
	helpers_done(&k.helpers);
	interner_done(&k.keys);
}

void roles_done(struct roles *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->items[i].calls);
		free(r->items[i].lines.items);
		free(r->items[i].polls.items);
		free(r->items[i].stacks);
		map_done(&r->items[i].known_calls);
		map_done(&r->items[i].lines.known);
		map_done(&r->items[i].polls.known);
	}
	free(r->items);
	free(r->role_of);
	free(r->only_polls);
	free(r->is_shim);
	attribution_done(&r->attribution);
	*r = (struct roles){0};
}
