/* SPDX-License-Identifier: Apache-2.0 */
/* All that the hook table generates for libc's rows: resolvers, exported wrappers, names. */
#include "hook.h"

#include <string.h>

#include "../runtime/file.h"
#include "../runtime/loaded.h"

/* ---- the real functions ---- */

/* A libc without the function: only dlsym or a weak reference can have led here. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

#define HOOK_RESOLVE(kind, returns, symbol, parameters, arguments, record)                                             \
	static returns resolve_##symbol parameters                                                                     \
	{                                                                                                              \
		hook_resolve();                                                                                        \
		return real_##symbol arguments;                                                                        \
	}                                                                                                              \
	returns(*real_##symbol) parameters = resolve_##symbol;
HOOK_LIBC(HOOK_RESOLVE)
#undef HOOK_RESOLVE

bool hook_is_resolved;

void hook_resolve(void)
{
	void *found;

#define HOOK_FIND(kind, returns, symbol, ...)                                                                          \
	if (__atomic_load_n(&real_##symbol, __ATOMIC_RELAXED) == resolve_##symbol) {                                   \
		found = loaded_next(#symbol);                                                                          \
		__atomic_store_n(&real_##symbol, (__typeof__(real_##symbol))(found ? found : (void *)missing), __ATOMIC_RELEASE); \
	}
	HOOK_LIBC(HOOK_FIND)
#undef HOOK_FIND
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
#define HOOK_EXPORT_OWN(returns, symbol, parameters, arguments, record)                                                \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		return wrap_##symbol arguments;                                                                        \
	}
#define HOOK_EXPORT_NAKED(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_REAL(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_ROW(kind, returns, symbol, parameters, arguments, record)                                          \
	HOOK_EXPORT_##kind(returns, symbol, parameters, arguments, record)
HOOK_LIBC(HOOK_EXPORT_ROW)
#undef HOOK_EXPORT_ROW

/* ---- names ---- */

/* Fortified twins are reported under the name that stands in the source: __read_chk is read, __open_2 open. */
#define HOOK_PLAIN_NAME(group, symbol) {#symbol, group},
#define HOOK_NAME_OSRT(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_OSRT, symbol)
#define HOOK_NAME_CUDART(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_CUDA, symbol)
#define HOOK_NAME_CUDA(kind, returns, symbol, ...) HOOK_PLAIN_NAME(TF_GROUP_CUDA_DRIVER, symbol)

#define HOOK_NAME_LIBRARY(kind, group, symbol, name, ...)                                                              \
	LIBRARY_IF_RECORDED(kind, HOOK_PLAIN_NAME(TF_GROUP_##group, name))

static struct file_function functions[HOOK_COUNT] = {
	HOOK_LIBC(HOOK_NAME_OSRT) HOOK_CUDART(HOOK_NAME_CUDART) HOOK_CUDA(HOOK_NAME_CUDA) HOOK_LIBRARY(HOOK_NAME_LIBRARY)};
const struct file_function *const file_functions = functions;
const uint32_t file_function_count = HOOK_COUNT, file_counter_count = HOOK_LIBC_COUNT;
static char plain_names[512];

static void name_plainly(struct file_function *f, char **room)
{
	size_t length = strlen(f->name);
	size_t tail = length > 6 && !strcmp(f->name + length - 4, "_chk") ? 4 : length > 4 && !strcmp(f->name + length - 2, "_2") ? 2 : 0;

	if (f->group != TF_GROUP_OSRT || strncmp(f->name, "__", 2) != 0 || !tail)
		return;
	length -= 2 + tail;
	memcpy(*room, f->name + 2, length);
	f->name = *room;
	*room += length + 1;
}

void hook_init(void)
{
	char *room = plain_names;

	hook_resolve();
	for (int i = 0; i < HOOK_LIBC_COUNT; i++)
		name_plainly(&functions[i], &room);
}
