/* SPDX-License-Identifier: Apache-2.0 */
/* All that the hook table generates for libc's rows: resolvers, exported wrappers, names. */
#define __NO_INLINE__ 1 /* or libc's own bodies of getc_unlocked and its like were in the way of ours */
#include "preload/hook/hook.h"

#include <string.h>

#include "runtime/record/file.h"
#include "runtime/common/loaded.h"

/* ---- the real functions ---- */

/* A libc without the function: only dlsym or a weak reference can have led here. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* Where the function has not been found by now it may have come since, with a library that older glibcs keep it in (librt). */
#define HOOK_RESOLVE(kind, returns, symbol, parameters, arguments, record)                                             \
	static returns resolve_##symbol parameters                                                                     \
	{                                                                                                              \
		__typeof__(real_##symbol) next_;                                                                       \
                                                                                                                       \
		hook_resolve();                                                                                        \
		next_ = __atomic_load_n(&real_##symbol, __ATOMIC_ACQUIRE);                                             \
		if (next_ == resolve_##symbol)                                                                          \
			next_ = (__typeof__(next_))(void *)missing;                                                      \
		return next_ arguments;                                                                                 \
	}                                                                                                              \
	returns(*real_##symbol) parameters = resolve_##symbol;
HOOK_LIBC(HOOK_RESOLVE)
#undef HOOK_RESOLVE

#define HOOK_WANTED(kind, returns, symbol, ...) {#symbol, (loaded_place *)&real_##symbol, (void *)resolve_##symbol},
static const struct loaded_wanted wanted[] = {HOOK_LIBC(HOOK_WANTED)};
#undef HOOK_WANTED

bool hook_is_resolved;

void hook_resolve(void)
{
	loaded_next_each(wanted, HOOK_LIBC_COUNT);
	__atomic_store_n(&hook_is_resolved, true, __ATOMIC_RELEASE);
}

/* ---- the exported symbols ---- */

#define HOOK_EXPORT_TIMED(returns, symbol, parameters, arguments, record)                                              \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		returns result;                                                                                        \
                                                                                                                       \
		HOOK_TIME(real_##symbol arguments, record);                                                            \
		return result;                                                                                         \
	}
#define HOOK_EXPORT_TIMEDV(returns, symbol, parameters, arguments, record)                                             \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		struct event event_;                                                                                   \
                                                                                                                       \
		if (!event_wanted(TF_GROUP_OSRT) || !event_begin(&event_, HOOK_CURRENT)) {                             \
			real_##symbol arguments;                                                                       \
			return;                                                                                        \
		}                                                                                                      \
		real_##symbol arguments;                                                                               \
		if (event_end(&event_, HOOK_CURRENT, process_osrt_threshold))                                          \
			HOOK_RECORD_##record;                                                                          \
	}
#define HOOK_EXPORT_OWN(returns, symbol, parameters, arguments, record)                                                \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		return wrap_##symbol arguments;                                                                        \
	}
#define HOOK_EXPORT_NAKED(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_RAW(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_REAL(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_ROW(kind, returns, symbol, parameters, arguments, record)                                          \
	HOOK_EXPORT_##kind(returns, symbol, parameters, arguments, record)
HOOK_LIBC(HOOK_EXPORT_ROW)
#undef HOOK_EXPORT_ROW

/* ---- names ---- */

/* Twins are reported under the name that stands in the source: __read_chk is read, __open_2 open, __xstat stat, _IO_getc getc. */
#define HOOK_PLAIN_NAME(group, symbol) {#symbol, group},
#define HOOK_NAME_OSRT(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_OSRT, symbol)
#define HOOK_NAME_CUDART(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_CUDA, symbol)
#define HOOK_NAME_CUDA(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_CUDA_DRIVER, symbol)

#define HOOK_NAME_LIBRARY(kind, group, symbol, name, ...)                                                              \
	LIBRARY_IF_RECORDED(kind, HOOK_PLAIN_NAME(TF_GROUP_##group, name))

_Static_assert(sizeof(struct tf_thread) + HOOK_LIBC_COUNT * sizeof(struct tf_counter) <= PROCESS_MAIN_PAGE, "a page for a thread's counters");

static struct file_function functions[HOOK_COUNT] = {
	HOOK_LIBC(HOOK_NAME_OSRT) HOOK_CUDART(HOOK_NAME_CUDART) HOOK_CUDA(HOOK_NAME_CUDA) HOOK_LIBRARY(HOOK_NAME_LIBRARY)};
const struct file_function *const file_functions = functions;
const uint32_t file_function_count = HOOK_COUNT, file_counter_count = HOOK_LIBC_COUNT;
static char plain_names[1024];

static void name_plainly(struct file_function *f, char **room)
{
	static const char *const tails[] = {"_chk", "_2"};
	char *name = *room, *x;

	if (f->group != TF_GROUP_OSRT || f->name[0] != '_' || (strncmp(f->name, "__", 2) != 0 && strncmp(f->name, "_IO_", 4) != 0))
		return;
	strcpy(name, f->name + (f->name[1] == '_' ? 2 : 4));
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		size_t length = strlen(name), tail = strlen(tails[i]);

		if (length > tail && !strcmp(name + length - tail, tails[i]))
			name[length - tail] = '\0';
	}
	x = strstr(name, "xstat");
	if (x)
		memmove(x, x + 1, strlen(x));
	f->name = name;
	*room += strlen(name) + 1;
}

void hook_init(void)
{
	char *room = plain_names;

	hook_resolve();
	for (int i = 0; i < HOOK_LIBC_COUNT; i++)
		name_plainly(&functions[i], &room);
}
