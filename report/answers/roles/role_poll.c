/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time in which threads poll for others: known from recorded and counted calls, without samples. */

#include "report/answers/roles/role.h"
#include "report/tables/run/own_cost.h"

/* If calls that poll take this part of a thread's CPU time, the rest is the loop around them. */
enum { ONLY_POLLS_PERCENT = 80 };

/* In short calls, with what counting them took. */
static uint64_t polls_in_short_calls(const struct report_context *c, const struct thread_time *t)
{
	const struct trace *trace = t->image->trace;
	uint64_t ns = 0;

	for (size_t i = 0; t->thread && i < t->thread->counter_count; i++) {
		const struct trace_counter *counter = &trace->counters[t->thread->first_counter + i];
		const struct function *f = trace_function(trace, counter->function);

		if (f && f->kind.does & FUNCTION_POLLS)
			ns += own_cost_with_calls(c->model, t->image, &counter->sum);
	}
	return ns;
}

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
	uint64_t ns = polls_in_short_calls(c, t) + polls_in_recorded_calls(t), messages = polls_in_messages(t);

	*ret_only = t->cpu_ns && ns * 100 >= t->cpu_ns * ONLY_POLLS_PERCENT;
	ns = *ret_only ? t->cpu_ns : ns > messages ? ns : messages;
	return ns < t->cpu_ns ? ns : t->cpu_ns;
}
