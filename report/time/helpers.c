/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/helpers.h"

#include <stdlib.h>

#include "report/names/attribution.h"
#include "report/time/startup.h"

/* An idle helper uses less than IDLE_CPU percent of a CPU and waits IDLE_WAIT percent of its blocked time, which is at
 * least IDLE_BLOCKED percent of its life. A shim uses less than SHIM_CPU percent. */
enum { IDLE_CPU = 5, IDLE_WAIT = 90, IDLE_BLOCKED = 50, SHIM_CPU = 10 };

struct helpers_pass {
	const struct report_context *context;
	const struct partition *partition;
	struct helpers *helpers;
	struct attribution attribution;
	size_t *forks; /* by process: of its children, those that run its own program */
};

static bool is_shell(const struct image *image)
{
	return text_any(text_is, image_file_name(image), "sh", "bash", "dash", "zsh", "ksh", "busybox", "env", "time",
			"timeout", "setsid", "nohup", "nice");
}

/* ---- idle helpers ---- */

static bool is_wait_for_work(enum blocked_kind kind, bool ended)
{
	return blocked_waits_for_others(kind) || kind == BLOCKED_READ || kind == BLOCKED_SOCKET ||
	       (kind == BLOCKED_SLEEP && !ended);
}

/* Whether the program's end found the thread in a sleep. */
static bool sleeps_at_end(const struct thread_time *t)
{
	const struct function *f = NULL;
	uint64_t start;
	uint32_t id;

	if (!t->thread->page)
		return true; /* not known */
	if (thread_current(t->thread, &id, &start))
		f = trace_function(t->image->trace, id);
	return f && f->kind.waits == BLOCKED_SLEEP;
}

/* A watchdog that sleeps lives as long as its program, which ends in one of its sleeps; what ends by itself, or is
 * terminated while it waits for the next piece of work, as a worker of a pool, had something to do. The end of a thread
 * for which its program does not wait may come after the program's last record. */
static bool has_ended(const struct thread_time *t)
{
	bool is_awake = t->thread && !sleeps_at_end(t);

	if (t->origin == THREAD_MAIN)
		return t->image->end == TF_END_EXIT || is_awake;
	return t->ended || (t->image->end == TF_END_EXIT && is_awake);
}

static bool is_idle_thread(const struct thread_time *t)
{
	uint64_t waits;
	bool ended = has_ended(t);

	if (!t->cpu_is_known || t->cpu_ns * 100 >= t->lifetime_ns * IDLE_CPU ||
	    t->blocked_ns * 100 < t->lifetime_ns * IDLE_BLOCKED)
		return false;
	waits = t->unexplained_ns + array_sum(call, t->blocked.calls, t->blocked.count,
					      is_wait_for_work(call->kind, ended) ? call->blocked_ns : 0);
	return waits * 100 >= t->blocked_ns * IDLE_WAIT;
}

/* A daemon of an MPI library, or a thread of one: a helper, whatever it does. */
static bool is_infrastructure(struct helpers_pass *k, const struct thread_time *t)
{
	struct attribution *a = &k->attribution;
	struct symbol_frame frame;
	uint32_t stack = t->blocked.count ? t->blocked.calls[0].stack : 0;
	bool is_users;

	if (text_any(text_is, image_file_name(t->image), "orted", "prted", "hydra_pmi_proxy", "hydra_bstrap_proxy"))
		return true;
	return t->origin != THREAD_MAIN && attribution_is_of_mpi(a->symbols, t->image, stack) &&
	       !(attribution_stack(a, t->image, stack, &frame, &is_users) && is_users);
}

/* Threads of a process that wait longest in the same place are equal: one of them that had less to do than the others
 * is no idle helper. */
static uint64_t *threads_like(struct map *busy, const struct thread_time *t)
{
	const struct blocked_call *longest = t->blocked.count ? t->blocked.calls : NULL;
	uint64_t place = !longest ? 0 : longest->stack ? longest->stack : (uintptr_t)longest->function;

	return map_put(busy, (uint64_t)(t->origin == THREAD_MAIN) << 32 | t->process, place, NULL);
}

static void find_idle_threads(struct helpers_pass *k)
{
	const struct partition *p = k->partition;
	uint8_t *is_idle = k->helpers->is_idle, *is_busy = mem_alloc(k->context->model->process_count + 1);
	SCOPED(map) busy = {0};

	for (size_t i = 0; i < p->count; i++) {
		is_idle[i] = is_idle_thread(&p->threads[i]);
		if (!is_idle[i])
			*threads_like(&busy, &p->threads[i]) = 1;
	}
	for (size_t i = 0; i < p->count; i++) {
		is_idle[i] = is_infrastructure(k, &p->threads[i]) ||
			     (is_idle[i] && !*threads_like(&busy, &p->threads[i]));
		is_busy[p->threads[i].process] |= !is_idle[i];
	}
	for (size_t i = 0; i < p->count; i++) /* a program is idle if all of its threads are */
		is_idle[i] &= p->threads[i].origin != THREAD_MAIN ||
			      (!is_busy[p->threads[i].process] && p->threads[i].process != k->helpers->root);
	free(is_busy);
}

/* ---- shims ---- */

/* Of a wrapper such as timeout or torchrun: a line of the user's that waits for a program is a part of the work. */
static bool waits_for_children(struct helpers_pass *k, const struct thread_time *t)
{
	uint64_t waits = 0;

	array_each(const struct blocked_call, call, t->blocked.calls, t->blocked.count) {
		struct symbol_frame frame;
		bool is_users = false;

		if (call->kind == BLOCKED_CHILD &&
		    !(attribution_stack(&k->attribution, t->image, call->stack, &frame, &is_users) && is_users))
			waits += call->blocked_ns;
	}
	return waits * 100 >= t->lifetime_ns * IDLE_WAIT;
}

/* A shell that does not compute itself, or a program that only waits for its only child, which is another program: a
 * worker that it forked is a part of the job as its parent is. */
static void find_shims(struct helpers_pass *k)
{
	const struct model *m = k->context->model;

	array_each(const struct thread_time, t, k->partition->threads, k->partition->count) {
		const struct process *p = &m->processes[t->process];

		if (t->origin != THREAD_MAIN || t->image != process_last_image(m, p) || !p->children)
			continue;
		if (t->cpu_is_known && t->cpu_ns * 100 >= t->lifetime_ns * SHIM_CPU)
			continue;
		k->helpers->is_shim[t->process] = is_shell(t->image) || (p->children == 1 && !k->forks[t->process] &&
								 waits_for_children(k, t));
	}
}

bool helpers_is_forked(const struct model *m, const struct process *p)
{
	return m->images[p->first_image].via == TF_VIA_FORK && p->image_count == 1 && p->parent != SIZE_MAX;
}

static void find_processes(struct helpers_pass *k)
{
	const struct model *m = k->context->model;
	struct helpers *h = k->helpers;
	SCOPED_MEMORY uint8_t *startup = startup_find(m);

	k->forks = mem_alloc((m->process_count + 1) * sizeof(*k->forks));
	for (size_t i = 0; i < m->process_count; i++)
		if (helpers_is_forked(m, &m->processes[i]))
			k->forks[m->processes[i].parent]++;
	find_shims(k);
	while (h->root + 1 < m->process_count && h->is_shim[h->root])
		h->root++;
	for (size_t i = 0; i < m->process_count; i++)
		h->is_shim[i] |= startup[i] && i != h->root;
	free(k->forks);
}

void helpers_find(const struct report_context *c, const struct partition *p, struct helpers *ret)
{
	struct helpers_pass k = {c, p, ret, .attribution.symbols = c->symbols};

	*ret = (struct helpers){.is_shim = mem_alloc(c->model->process_count + 1),
				.is_idle = mem_alloc(p->count + 1)};
	find_processes(&k);
	find_idle_threads(&k);
	attribution_done(&k.attribution);
}

bool helpers_have(const struct helpers *h, const struct partition *p, size_t thread)
{
	const struct thread_time *t = &p->threads[thread];

	return h->is_idle[thread] || h->is_shim[t->process] || t->image->end == TF_END_EXEC;
}

void helpers_done(struct helpers *h)
{
	free(h->is_shim);
	free(h->is_idle);
	*h = (struct helpers){0};
}
