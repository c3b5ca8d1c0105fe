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

/* A function that was not found before may have been loaded since, with a separate library of older glibcs (librt). */
#define HOOK_RESOLVE(kind, returns, symbol, parameters, arguments, record)                                             \
	__attribute__((used)) static returns resolve_##symbol parameters                                               \
	{                                                                                                              \
		__typeof__(real_##symbol) next_;                                                                       \
                                                                                                                       \
		hook_resolve();                                                                                        \
		next_ = __atomic_load_n(&real_##symbol, __ATOMIC_ACQUIRE);                                             \
		if (next_ == resolve_##symbol)                                                                         \
			next_ = (__typeof__(next_))(void *)missing_function;                                           \
		return next_ arguments;                                                                                \
	}                                                                                                              \
	returns(*real_##symbol) parameters = resolve_##symbol;
HOOK_LIBC(HOOK_RESOLVE)
#undef HOOK_RESOLVE

/* In assembly language, because a distance between two objects is not a constant expression in C. */
#define HOOK_WANTED(kind, returns, symbol, ...)                                                                        \
	".pushsection .rodata.str1.1, \"aMS\", %progbits, 1\n"                                                         \
	"1:	.asciz \"" #symbol "\"\n"                                                                              \
	"	.popsection\n"                                                                                         \
	"	.long 1b - .\n"                                                                                        \
	"	.long real_" #symbol " - .\n"                                                                          \
	"	.long resolve_" #symbol " - .\n"
__asm__("	.pushsection .rodata\n"
	"	.balign 4\n"
	"	.hidden hook_wanted\n"
	"	.globl hook_wanted\n"
	"hook_wanted:\n" HOOK_LIBC(HOOK_WANTED) "	.popsection\n");
#undef HOOK_WANTED
extern const struct dso_wanted hook_wanted[HOOK_LIBC_ROWS] HIDDEN;
_Static_assert((int)HOOK_LIBC_ROWS <= (int)DSO_WANTED_MOST, "they are found in one pass");

bool hook_is_resolved;

void hook_resolve(void)
{
	dso_next_each(hook_wanted, HOOK_LIBC_ROWS);
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
