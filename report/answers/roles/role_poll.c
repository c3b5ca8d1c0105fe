/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time in which threads poll for others: known from recorded and counted calls, without samples. */

#include "report/answers/roles/role.h"
#include "report/time/own_cost.h"

/* In recorded calls: the time of a call in which its thread was neither blocked nor, perhaps, runnable. */
static uint64_t polls_in_recorded_calls(const struct thread_time *t)
{
	uint64_t ns = array_sum(c, t->blocked.calls, t->blocked.count,
				c->function->kind.does & FUNCTION_POLLS ? rest_of(c->total_ns, c->blocked_ns) : 0);

	return rest_of(ns, t->delay_ns);
}

/* In calls of MPI and NCCL, which poll for their peers; the calls that they make inside are not counted again. Of a
 * sampled thread role_line.c knows it from the stacks. */
static uint64_t polls_in_messages(const struct thread_time *t)
{
	if (t->thread && t->thread->samples)
		return 0;
	return array_sum(c, t->blocked.calls, t->blocked.count,
			 c->kind == BLOCKED_MPI || c->kind == BLOCKED_NCCL ? rest_of(c->total_ns, c->blocked_ns) : 0);
}

uint64_t role_polls(const struct report_context *c, const struct thread_time *t, bool *ret_only)
{
	uint64_t ns = t->thread ? own_cost_polls(c->model, t->image, t->thread) : 0, messages = polls_in_messages(t);

	ns += polls_in_recorded_calls(t);
	*ret_only = t->cpu_ns && ns * 100 >= t->cpu_ns * POLLS_PERCENT;
	ns = *ret_only ? t->cpu_ns : ns > messages ? ns : messages;
	return ns < t->cpu_ns ? ns : t->cpu_ns;
}
