/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from the hook table: the real functions of libc's rows, and the names of all rows. */
#include "preload/hook/hook.h"

#include <string.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/recorder.h"

/* ---- the real functions ---- */

/* Called for a function that this libc does not have; it was found by dlsym or a weak reference. */
static long missing_function(void)
{
	errno = ENOSYS;
	return -1;
}

/* At the first call, because a process calls few of the functions. One that was not found before may have been loaded
 * since, with a separate library of older glibcs (librt). */
#define HOOK_RESOLVE(kind, returns, symbol, parameters, arguments, record)                                             \
	static returns resolve_##symbol parameters                                                                     \
	{                                                                                                              \
		__typeof__(real_##symbol) next_ = (__typeof__(next_))dso_next(#symbol);                                \
                                                                                                                       \
		if (next_)                                                                                             \
			__atomic_store_n(&real_##symbol, next_, __ATOMIC_RELEASE);                                     \
		else                                                                                                   \
			next_ = (__typeof__(next_))(void *)missing_function;                                           \
		return next_ arguments;                                                                                \
	}                                                                                                              \
	returns(*real_##symbol) parameters = resolve_##symbol;
HOOK_LIBC(HOOK_RESOLVE)
#undef HOOK_RESOLVE

bool hook_is_resolved;

void hook_resolve(void)
{
	void *found = dso_next("syscall");

	if (found)
		__atomic_store_n(&real_syscall, (__typeof__(real_syscall))found, __ATOMIC_RELEASE);
	__atomic_store_n(&hook_is_resolved, true, __ATOMIC_RELEASE);
}

#include "preload/hook/hook_names.h"

_Static_assert(sizeof(struct tf_thread) + HOOK_LIBC_COUNT * (sizeof(struct tf_counter) + sizeof(uint16_t)) + TF_SLOT <=
		       PROCESS_MAIN_PAGE,
	       "a page holds a thread's counters");

const struct function_table hook_functions = HOOK_FUNCTION_TABLE;

bool hook_attach(struct thread *t)
{
	return recorder_attach(t, hook_function_table());
}
