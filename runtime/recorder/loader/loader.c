/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/loader/loader.h"

#include "runtime/shared/common/sys.h"

static struct loader_state own_state, *state = &own_state;
static bool is_search_lost; /* this process was forked during a search: the lock may never be released */

struct loader_thread {
	uint32_t depth; /* searches and forks that this thread is in: it must not wait for itself */
	bool is_in_vain; /* its fork has waited in vain */
};
static __thread struct loader_thread self __attribute__((tls_model("initial-exec")));

enum { MOST_ROUNDS = 10000 }; /* of sys_wait, which sleeps for 50 us */

void loader_keep_state(struct loader_state *at)
{
	__atomic_store_n(&state, at, __ATOMIC_SEQ_CST);
}

/* False: a fork goes on. */
static bool search_begin(void)
{
	__atomic_fetch_add(&state->searches, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&state->forks, __ATOMIC_SEQ_CST))
		return true;
	__atomic_fetch_sub(&state->searches, 1, __ATOMIC_SEQ_CST);
	return false;
}

static void search_wait(void)
{
	for (int round = 0; round < MOST_ROUNDS; round++) {
		if (search_begin())
			return;
		sys_wait(round);
	}
	__atomic_fetch_add(&state->searches, 1, __ATOMIC_SEQ_CST);
}

static int search(loader_visit *visit, void *data)
{
	int result;

	self.depth++;
	result = dl_iterate_phdr(visit, data);
	self.depth--;
	__atomic_fetch_sub(&state->searches, 1, __ATOMIC_SEQ_CST);
	return result;
}

int loader_each(loader_visit *visit, void *data)
{
	uint64_t signals;
	int result;

	if (__atomic_load_n(&is_search_lost, __ATOMIC_SEQ_CST))
		return 0;
	sys_signals_block(&signals);
	if (self.depth)
		__atomic_fetch_add(&state->searches, 1, __ATOMIC_SEQ_CST);
	else
		search_wait();
	result = search(visit, data);
	sys_signals_restore(&signals);
	return result;
}

bool loader_try_each(loader_visit *visit, void *data)
{
	bool is_begun = false;
	uint64_t signals;

	if (sys_is_silent || __atomic_load_n(&is_search_lost, __ATOMIC_SEQ_CST))
		return false;
	sys_signals_block(&signals);
	is_begun = search_begin();
	if (is_begun)
		search(visit, data);
	sys_signals_restore(&signals);
	return is_begun;
}

void loader_fork_begin(void)
{
	int round = 0;

	__atomic_fetch_add(&state->forks, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&state->searches, __ATOMIC_SEQ_CST) && !self.depth && round < MOST_ROUNDS)
		sys_wait(round++);
	self.is_in_vain = __atomic_load_n(&state->searches, __ATOMIC_SEQ_CST);
	self.depth++;
}

void loader_fork_end(bool is_child)
{
	self.depth--;
	if (!is_child) {
		__atomic_fetch_sub(&state->forks, 1, __ATOMIC_SEQ_CST);
		return;
	}
	if (self.is_in_vain)
		__atomic_store_n(&is_search_lost, true, __ATOMIC_SEQ_CST);
	if (state->searches || state->forks)
		*state = (struct loader_state){0};
}
