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

bool hook_is_resolved;

void hook_resolve(void)
{
	dso_next_each(hook_wanted, HOOK_LIBC_ROWS);
	__atomic_store_n(&hook_is_resolved, true, __ATOMIC_RELEASE);
}

/* ---- names ---- */

#define HOOK_TEXT_TIMED(symbol) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_OSRT)
#define HOOK_TEXT_TIMEDV HOOK_TEXT_TIMED
#define HOOK_TEXT_OWN HOOK_TEXT_TIMED
#define HOOK_TEXT_NAKED HOOK_TEXT_TIMED
#define HOOK_TEXT_RAW HOOK_TEXT_TIMED
#define HOOK_TEXT_REAL HOOK_TEXT_TIMED
#define HOOK_TEXT_TIMED_AS(name) HOOK_NOT
#define HOOK_TEXT_OWN_AS(name) HOOK_NOT
#define HOOK_TEXT_NAKED_AS(name) HOOK_NOT
#define HOOK_NAME_OSRT(kind, returns, symbol, ...) HOOK_TEXT_##kind(symbol)
#define HOOK_NAME_CUDART(kind, returns, symbol, ...) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_CUDA)
#define HOOK_NAME_CUDA(kind, returns, symbol, ...) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_CUDA_DRIVER)
#define HOOK_NAME_LIBRARY(kind, group, symbol, name, ...)                                                              \
	LIBRARY_IF_RECORDED(kind, HOOK_ROW_TEXT(name, #name, TF_GROUP_##group))
#define HOOK_NAMES                                                                                                     \
	HOOK_LIBC(HOOK_NAME_OSRT)                                                                                      \
	HOOK_CUDART(HOOK_NAME_CUDART) HOOK_CUDA(HOOK_NAME_CUDA) HOOK_LIBRARY(HOOK_NAME_LIBRARY)

/* HOOK_ROW_TEXT(id, text, group) of each row, three times: the room for its name, the name, where that is. */
#define HOOK_ROW_TEXT(id, text, group) char HOOK_##id[sizeof(text)];
struct hook_texts {
	HOOK_NAMES
};
#undef HOOK_ROW_TEXT
#define HOOK_ROW_TEXT(id, text, group) text,
static const struct hook_texts texts = {HOOK_NAMES};
#undef HOOK_ROW_TEXT
#define HOOK_ROW_TEXT(id, text, group) {offsetof(struct hook_texts, HOOK_##id), group},
static const struct function_name names[HOOK_COUNT] = {HOOK_NAMES};
#undef HOOK_ROW_TEXT

_Static_assert(sizeof(struct hook_texts) <= UINT16_MAX, "a name's position has 16 bits");
_Static_assert(sizeof(struct tf_thread) + HOOK_LIBC_COUNT * (sizeof(struct tf_counter) + sizeof(uint16_t)) + TF_SLOT <=
		       PROCESS_MAIN_PAGE,
	       "a page holds a thread's counters");

const struct function_table hook_functions = {(const char *)&texts, names, HOOK_COUNT, HOOK_LIBC_COUNT};

bool hook_attach(struct thread *t)
{
	return recorder_attach(t, &hook_functions);
}
