/* SPDX-License-Identifier: Apache-2.0 */
/* The two entry points of a wrapper of a library of which a process may contain several copies.
 *
 * By name: the exported symbol. The real function is the one to which the name resolves for the caller (caller.h). By a
 * pointer that a symbol lookup returned (lookup.h): via_<symbol>. The real function is always the one that the lookup
 * found, because a trampoline passes it with each call, as the fifth argument of type double. Floating-point arguments
 * have registers of their own on both architectures, so none of the other arguments moves, and signals, threads and
 * longjmp do not interfere. No row has more than four arguments of type double (ENTRY_REALS).
 * The rows of preload/library have trampolines of their own. */
#pragma once

#include <string.h>

#include "preload/hook/caller.h"
#include "preload/hook/hook.h"

static inline double entry_hand(void *real)
{
	double handed;

	_Static_assert(sizeof(handed) == sizeof(real), "a pointer has the size of a double");
	memcpy(&handed, &real, sizeof(handed));
	return handed;
}

static inline void *entry_real(double handed)
{
	void *real;

	memcpy(&real, &handed, sizeof(real));
	return real;
}

/* A row for lookup.c. The rows are in a section of their own, so that no second list is needed. The symbol is the name
 * of the place (an address of it would have to be relocated in each process). */
struct entry_row {
	void *via;	/* NULL: a row of preload/library */
	uint32_t place; /* the row's number: HOOK_<symbol>, or HOOK_PLACE_<symbol> of a library */
	uint32_t group;
};

#define ENTRY_HANDED(symbol, place, group)                                                                             \
	static const struct entry_row handed_##symbol                                                                  \
		__attribute__((used, section("pillion_entries"), aligned(8))) = {(void *)via_##symbol, place, group};

/* The floating-point arguments that a row may have, and the values for a call without any. */
#define ENTRY_REALS double real1_, double real2_, double real3_, double real4_
#define ENTRY_REALS_NONE 0, 0, 0, 0

/* Appends to an argument list: (a, b) and more give (a, b, more); () and more give (more). Whether the list is empty is
 * determined by `arguments`, because the parameters may be (void). */
#define ENTRY_APPEND(list, arguments, ...) ENTRY_JOIN(ENTRY_APPEND_, ENTRY_HAS arguments)(list, __VA_ARGS__)
#define ENTRY_HAS(...) __VA_OPT__(MORE)
#define ENTRY_JOIN(a, b) ENTRY_JOIN_(a, b)
#define ENTRY_JOIN_(a, b) a##b
#define ENTRY_APPEND_(list, ...) (__VA_ARGS__)
#define ENTRY_APPEND_MORE(list, ...) (ENTRY_BARE list, __VA_ARGS__)
#define ENTRY_BARE(...) __VA_ARGS__

/* The real `symbol` for the caller of the exported wrapper that contains this expression. */
#define ENTRY_CALLER_REAL(symbol, place)                                                                               \
	({                                                                                                             \
		static struct caller_place place_;                                                                     \
                                                                                                                       \
		caller_real(&place_, place, #symbol, __builtin_return_address(0));                                     \
	})

/* Defines both entry points. `none`: the result if no library defines the function. If `is_off`, the call is forwarded
 * by a jump, which is the whole cost of a deselected call; else `body` is executed with the real function in `real` and
 * the row's id in HOOK_CURRENT. CUDA_LAYER, the group of the file's rows, must be in scope. */
#define ENTRY_TIMED(returns, symbol, parameters, arguments, none, is_off, body)                                        \
	HOOK_EXPORT returns symbol parameters;                                                                         \
	__attribute__((noinline)) static returns timed_##symbol ENTRY_APPEND(parameters, arguments, double handed_)    \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		__typeof__(&symbol) real = entry_real(handed_);                                                        \
		body                                                                                                   \
	}                                                                                                              \
	static returns via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                   \
	{                                                                                                              \
		if (is_off)                                                                                            \
			return ((__typeof__(&symbol))entry_real(handed_))arguments;                                    \
		return timed_##symbol ENTRY_APPEND(arguments, arguments, handed_);                                     \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_##symbol, CUDA_LAYER)                                                                \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		void *found_ = ENTRY_CALLER_REAL(symbol, HOOK_##symbol);                                               \
                                                                                                                       \
		if (!found_)                                                                                           \
			return none;                                                                                   \
		return via_##symbol ENTRY_APPEND(arguments, arguments, ENTRY_REALS_NONE, entry_hand(found_));          \
	}

/* Passed to the body of an OWN row. */
struct hook_entry {
	void *real; /* NULL: no library has the function */
	void *caller;
};

/* The body is wrap_<symbol>(), with a struct hook_entry after the row's own parameters. */
#define ENTRY_OWN(returns, symbol, parameters, arguments)                                                              \
	static returns via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                   \
	{                                                                                                              \
		struct hook_entry from_ = {entry_real(handed_), __builtin_return_address(0)};                          \
                                                                                                                       \
		return wrap_##symbol ENTRY_APPEND(arguments, arguments, from_);                                        \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_##symbol, CUDA_LAYER)                                                                \
	HOOK_EXPORT returns symbol parameters;                                                                         \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		struct hook_entry from_ = {ENTRY_CALLER_REAL(symbol, HOOK_##symbol), __builtin_return_address(0)};     \
                                                                                                                       \
		return wrap_##symbol ENTRY_APPEND(arguments, arguments, from_);                                        \
	}
