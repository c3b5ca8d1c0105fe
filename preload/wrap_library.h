/* SPDX-License-Identifier: Apache-2.0 */
/* How a library's call passes through us: the real function is found for each caller, and nothing is held across it. */
#ifndef PILLION_WRAP_LIBRARY_H
#define PILLION_WRAP_LIBRARY_H

#include "caller.h"
#include "hook.h"
#include "library.h"
#include "library_mpi.h"
#include "library_set.h"
#include "library_words.h"

/* Does the user want this library at all? What its handles are is noted also while a capture range is closed. */
static inline bool library_selected(unsigned group)
{
	return process_gate.groups & 1u << group;
}

/* The real `symbol` for whoever called the wrapper that this stands in. */
#define LIBRARY_REAL(symbol)                                                                                           \
	({                                                                                                             \
		static struct caller_place place_;                                                                     \
                                                                                                                       \
		caller_real(&place_, HOOK_PLACE_##symbol, #symbol, __builtin_return_address(0));                       \
	})

/* A recorded function: `end` ends and writes the call, `note` is done after every one that succeeded. */
#define LIBRARY_ENTRY(group, symbol, name, parameters, arguments, end, note)                                           \
	HOOK_EXPORT int words_##symbol parameters __asm__(#symbol);                                                    \
	HOOK_EXPORT int words_##symbol parameters                                                                      \
	{                                                                                                              \
		int(*real) parameters = LIBRARY_REAL(symbol), result;                                                  \
		struct event event_;                                                                                   \
                                                                                                                       \
		if (!real)                                                                                             \
			return LIBRARY_NONE_##group;                                                                   \
		if (!event_wanted(TF_GROUP_##group) || library_is_inside(HOOK_##name) || !event_begin(&event_, HOOK_##name)) { \
			result = real arguments;                                                                       \
			if (!result && library_selected(TF_GROUP_##group))                                             \
				note;                                                                                  \
			return result;                                                                                 \
		}                                                                                                      \
		result = real arguments;                                                                               \
		end;                                                                                                   \
		if (!result)                                                                                           \
			note;                                                                                          \
		return result;                                                                                         \
	}

#define LIBRARY_UNTIMED(group, symbol, parameters, arguments, note)                                                    \
	HOOK_EXPORT int words_##symbol parameters __asm__(#symbol);                                                    \
	HOOK_EXPORT int words_##symbol parameters                                                                      \
	{                                                                                                              \
		int(*real) parameters = LIBRARY_REAL(symbol), result;                                                  \
                                                                                                                       \
		if (!real)                                                                                             \
			return LIBRARY_NONE_##group;                                                                   \
		result = real arguments;                                                                               \
		if (!result && library_selected(TF_GROUP_##group))                                                     \
			note;                                                                                          \
		return result;                                                                                         \
	}

#endif
