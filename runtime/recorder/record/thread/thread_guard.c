/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the calling thread, and how it enters code of ours: below everything that runs within a guard. */
#include <errno.h>
#include <pthread.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

__thread struct thread thread_self __attribute__((tls_model("initial-exec"))) = {.generation = THREAD_NEW};

void thread_guard_enter(struct thread *t, struct thread_guard *g)
{
	g->error = errno;
	/* Not in a nested guard; and before the start the clock is not initialised. */
	g->start_ticks = t->page && t->generation != THREAD_OURS ? clock_now() : 0;
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
}

/* The page of a thread that ends is gone: what its end has cost is added to the page of another thread. */
static void thread_add_slow(struct thread *t, uint64_t ticks)
{
	if (slow_down_is_on)
		return;
	if (!t->page)
		__atomic_fetch_add(&process.slow_ticks, ticks, __ATOMIC_RELAXED);
	else if (__builtin_expect(__atomic_load_n(&process.slow_ticks, __ATOMIC_RELAXED) != 0, 0))
		t->page->slow_ticks += ticks + __atomic_exchange_n(&process.slow_ticks, 0, __ATOMIC_RELAXED);
	else
		t->page->slow_ticks += ticks;
}

void thread_guard_leave(struct thread *t, const struct thread_guard *g)
{
	t->generation = g->generation;
	if (g->has_blocked)
		sys_signals_restore(&g->signals);
	__atomic_fetch_sub(&process.guarded, 1, __ATOMIC_SEQ_CST);
	if (g->start_ticks)
		thread_add_slow(t, clock_now() - g->start_ticks);
	errno = g->error;
	pthread_setcancelstate(g->cancel, NULL);
}
