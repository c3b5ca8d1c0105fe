/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways into a wrapper of a library that a process may hold several of.
 *
 * By its name: the exported symbol. The real function is what the name means to the code that calls (caller.h).
 * By a pointer that a look-up handed out (lookup.h): via_<symbol>. The real function is the one that the look-up found, come
 * what may: it travels with the call. A trampoline adds it as the fifth argument of type double: such arguments have registers of
 * their own, so it moves none of the others, on neither architecture, and signals, threads and longjmp cannot mix it up.
 * No row has more than four before it (ENTRY_REALS). The rows of preload/library have trampolines of their own. */
#ifndef PILLION_ENTRY_H
#define PILLION_ENTRY_H

#include <string.h>

#include "preload/hook/caller.h"
#include "preload/hook/hook.h"

static inline double entry_hand(void *real)
{
	double handed;

	_Static_assert(sizeof(handed) == sizeof(real), "a pointer is a double wide");
	memcpy(&handed, &real, sizeof(handed));
	return handed;
}

static inline void *entry_real(double handed)
{
	void *real;

	memcpy(&real, &handed, sizeof(real));
	return real;
}

/* What lookup.c knows of a row: in a section of its own, so there is no second list. */
struct entry_row {
	const char *symbol;
	void *via;	/* NULL: a row of preload/library */
	uint32_t place; /* the row's number: HOOK_<symbol>, or HOOK_PLACE_<symbol> of a library */
	uint32_t group;
};

#define ENTRY_HANDED(symbol, place, group)                                                                             \
	static const struct entry_row handed_##symbol                                                                  \
		__attribute__((used, section("pillion_entries"), aligned(8))) = {#symbol, (void *)via_##symbol, place, \
										 group};

/* The floating arguments that a row may have, and what stands for them in a call that has none. */
#define ENTRY_REALS double real1_, double real2_, double real3_, double real4_
#define ENTRY_REALS_NONE 0, 0, 0, 0

/* (a, b) and more give (a, b, more); () and more give (more). `arguments` tells which: parameters may be (void). */
#define ENTRY_APPEND(list, arguments, ...) ENTRY_JOIN(ENTRY_APPEND_, ENTRY_HAS arguments)(list, __VA_ARGS__)
#define ENTRY_HAS(...) __VA_OPT__(MORE)
#define ENTRY_JOIN(a, b) ENTRY_JOIN_(a, b)
#define ENTRY_JOIN_(a, b) a##b
#define ENTRY_APPEND_(list, ...) (__VA_ARGS__)
#define ENTRY_APPEND_MORE(list, ...) (ENTRY_BARE list, __VA_ARGS__)
#define ENTRY_BARE(...) __VA_ARGS__

/* The real `symbol` for whoever called the exported wrapper that this stands in. */
#define ENTRY_CALLER_REAL(symbol, place)                                                                               \
	({                                                                                                             \
		static struct caller_place place_;                                                                     \
                                                                                                                       \
		caller_real(&place_, place, #symbol, __builtin_return_address(0));                                     \
	})

/* Both ways in. `name` is what the compiler knows the exported function by, `none` what is returned where no library
 * has it. Where `is_off` the call goes straight on, by a jump: what a deselected call costs. Else `body` finds the
 * real function in `real`, the row's id in HOOK_CURRENT. CUDA_LAYER is in scope, the group of the file's rows. */
#define ENTRY_TIMED(name, returns, symbol, parameters, arguments, none, is_off, body)                                  \
	__attribute__((noinline)) static returns timed_##symbol ENTRY_APPEND(parameters, arguments, double handed_)    \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		__typeof__(&name) real = entry_real(handed_);                                                          \
		body                                                                                                   \
	}                                                                                                              \
	static returns via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                   \
	{                                                                                                              \
		if (is_off)                                                                                            \
			return ((__typeof__(&name))entry_real(handed_))arguments;                                      \
		return timed_##symbol ENTRY_APPEND(arguments, arguments, handed_);                                     \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_##symbol, CUDA_LAYER)                                                                \
	HOOK_EXPORT returns name parameters                                                                            \
	{                                                                                                              \
		void *found_ = ENTRY_CALLER_REAL(symbol, HOOK_##symbol);                                               \
                                                                                                                       \
		if (!found_)                                                                                           \
			return none;                                                                                   \
		return via_##symbol ENTRY_APPEND(arguments, arguments, ENTRY_REALS_NONE, entry_hand(found_));          \
	}

/* Under a name of ours for the compiler, which may know another prototype, and the ABI's for the linker. */
#define ENTRY_WORDS(returns, symbol, parameters, arguments, none, is_off, body)                                        \
	HOOK_EXPORT returns words_##symbol parameters __asm__(#symbol);                                                \
	ENTRY_TIMED(words_##symbol, returns, symbol, parameters, arguments, none, is_off, body)

/* What an OWN body is told of its call. */
struct entry {
	void *real; /* NULL: no library has the function */
	void *caller;
};

/* The body is wrap_<symbol>(), with a struct entry after the row's own parameters. */
#define ENTRY_OWN(returns, symbol, parameters, arguments)                                                              \
	static returns via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                   \
	{                                                                                                              \
		struct entry from_ = {entry_real(handed_), __builtin_return_address(0)};                               \
                                                                                                                       \
		return wrap_##symbol ENTRY_APPEND(arguments, arguments, from_);                                        \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_##symbol, CUDA_LAYER)                                                                \
	HOOK_EXPORT returns words_##symbol parameters __asm__(#symbol);                                                \
	HOOK_EXPORT returns words_##symbol parameters                                                                  \
	{                                                                                                              \
		struct entry from_ = {ENTRY_CALLER_REAL(symbol, HOOK_##symbol), __builtin_return_address(0)};          \
                                                                                                                       \
		return wrap_##symbol ENTRY_APPEND(arguments, arguments, from_);                                        \
	}

#endif
