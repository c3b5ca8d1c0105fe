/* SPDX-License-Identifier: Apache-2.0 */
/* The time of one role. */
#include "report/answers/roles/role.h"

#define SHORT_SLEEP_NS 200000000ull

const uint64_t *role_find_call(struct roles *all, size_t role, const struct image *image, const struct blocked_call *c)
{
	struct symbol_frame frame = {.place = SYMBOL_NO_PLACE};
	bool is_users;
	bool has_frame = c->stack && attribution_stack(&all->attribution, image, c->stack, &frame, &is_users);

	return map_find(&all->items[role].known_calls, c->kind, has_frame ? frame.place : SYMBOL_NO_PLACE);
}

const struct role *roles_starter(const struct roles *roles, const struct role *role)
{
	return list_find(r, roles,
			 !role->is_program && !role->is_workers && r->is_program && r->process == role->process);
}

bool role_call_waits(const struct role *r, enum blocked_kind kind, uint64_t ns, uint64_t count)
{
	return blocked_waits_for_others(kind) || (kind == BLOCKED_SOCKET && !r->is_main) ||
	       (kind == BLOCKED_SLEEP && count > 1 && ns / count < SHORT_SLEEP_NS);
}

struct role_cpu role_cpu(const struct role *r)
{
	struct role_cpu cpu = {.polling_ns = r->polling_ns < r->cpu_ns ? r->polling_ns : r->cpu_ns};

	/* Samples stand for a little more or less than the CPU time that the kernel accounts. */
	cpu.work_ns = r->cpu_ns - cpu.polling_ns;
	cpu.import_ns = r->import_ns < cpu.work_ns ? r->import_ns : cpu.work_ns;
	cpu.work_ns -= cpu.import_ns;
	return cpu;
}

uint64_t role_own_ns(const struct role *r)
{
	uint64_t waits_ns = r->waits_ns + role_cpu(r).polling_ns;

	return r->lifetime_ns > waits_ns ? r->lifetime_ns - waits_ns : 0;
}

/* The average number of its threads that existed at a time, at least 1. */
static double width_of(const struct role *r)
{
	double span = r->last_ns > r->first_ns ? (double)(r->last_ns - r->first_ns) : 1,
	       width = (double)r->lifetime_ns / span;

	return width < 1 ? 1 : width;
}

uint64_t role_wall_ns(const struct role *r, uint64_t ns)
{
	return (uint64_t)((double)ns / width_of(r));
}
