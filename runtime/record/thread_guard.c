/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the calling thread, and how it enters code of ours: below everything that runs within a guard. */
#include <errno.h>
#include <pthread.h>

#include "runtime/common/clock.h"
#include "runtime/common/sys.h"
#include "runtime/record/process.h"
#include "runtime/record/thread.h"

__thread struct thread thread_self __attribute__((tls_model("initial-exec"))) = {.generation = THREAD_NEW};

void thread_guard_enter(struct thread *t, struct thread_guard *g)
{
	g->error = errno;
	/* Code of other libraries may reach a cancellation point inside a guard, where glibc would wait for its
	 * signal, which is blocked. */
	g->cancel = PTHREAD_CANCEL_ENABLE;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel);
	__atomic_fetch_add(&process.guarded, 1, __ATOMIC_SEQ_CST);
	g->has_blocked = !__atomic_load_n(&process.closing, __ATOMIC_SEQ_CST);
	if (g->has_blocked)
		sys_signals_block(&g->signals);
	g->generation = t->generation;
	t->generation = THREAD_OURS;
	/* Not in a nested guard; and before the start the clock is not initialised. */
	g->start_ticks = t->page && g->generation != THREAD_OURS ? clock_now() : 0;
}

void thread_guard_leave(struct thread *t, const struct thread_guard *g)
{
	if (g->start_ticks && t->page)
		t->page->slow_ticks += clock_now() - g->start_ticks;
	t->generation = g->generation;
	if (g->has_blocked)
		sys_signals_restore(&g->signals);
	__atomic_fetch_sub(&process.guarded, 1, __ATOMIC_SEQ_CST);
	errno = g->error;
	pthread_setcancelstate(g->cancel, NULL);
}
