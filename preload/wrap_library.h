/* SPDX-License-Identifier: Apache-2.0 */
/* How a library's call passes through us: the real function is found for each caller, and nothing is held across it. */
#ifndef PILLION_WRAP_LIBRARY_H
#define PILLION_WRAP_LIBRARY_H

#include "entry.h"
#include "library.h"
#include "library_mpi.h"
#include "library_set.h"
#include "library_words.h"

/* Does the user want this library at all? What its handles are is noted also while a capture range is closed. */
static inline bool library_selected(unsigned group)
{
	return process_gate.groups & 1u << group;
}

/* A communicator that is being made in the background is there already: ncclInProgress. */
static inline bool library_has_done(unsigned group, int result)
{
	return !result || (group == TF_GROUP_NCCL && result == 7);
}

/* Both ways in (entry.h). The floating arguments of a call are passed on, whether it has any or not. `body` finds the real
 * function in `real`, and has `result`; CALL_REAL calls it. */
#define LIBRARY_WAYS(group, symbol, parameters, arguments, body)                                                       \
	static int via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                       \
	{                                                                                                              \
		int(*real) ENTRY_APPEND(parameters, arguments, ENTRY_REALS) = entry_real(handed_), result;             \
                                                                                                                       \
		body                                                                                                   \
		return result;                                                                                         \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_PLACE_##symbol, TF_GROUP_##group)                                                    \
	HOOK_EXPORT int words_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS) __asm__(#symbol);              \
	HOOK_EXPORT int words_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS)                                \
	{                                                                                                              \
		void *found_ = ENTRY_CALLER_REAL(symbol, HOOK_PLACE_##symbol);                                         \
                                                                                                                       \
		if (!found_)                                                                                           \
			return LIBRARY_NONE_##group;                                                                   \
		return via_##symbol ENTRY_APPEND(arguments, arguments, ENTRY_REALS_PASS, entry_hand(found_));          \
	}
#define CALL_REAL(arguments) result = real ENTRY_APPEND(arguments, arguments, ENTRY_REALS_PASS)

/* A recorded function: `end` ends and writes the call, `note` is done after every one that succeeded. */
#define LIBRARY_ENTRY(group, symbol, name, parameters, arguments, end, note)                                           \
	LIBRARY_WAYS(group, symbol, parameters, arguments,                                                             \
		struct event event_;                                                                                   \
		                                                                                                       \
		if (!event_wanted(TF_GROUP_##group) || library_is_inside(HOOK_##name) || !event_begin(&event_, HOOK_##name)) { \
			CALL_REAL(arguments);                                                                          \
		} else {                                                                                               \
			CALL_REAL(arguments);                                                                          \
			end;                                                                                           \
		}                                                                                                      \
		if (library_has_done(TF_GROUP_##group, result) && library_selected(TF_GROUP_##group))                  \
			note;)

#define LIBRARY_UNTIMED(group, symbol, parameters, arguments, note)                                                    \
	LIBRARY_WAYS(group, symbol, parameters, arguments,                                                             \
		CALL_REAL(arguments);                                                                                  \
		if (library_has_done(TF_GROUP_##group, result) && library_selected(TF_GROUP_##group))                  \
			note;)

#endif
