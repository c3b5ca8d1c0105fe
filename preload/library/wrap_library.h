/* SPDX-License-Identifier: Apache-2.0 */
/* How a library's call passes through us: the real function is found for each caller, and nothing is held across it. */
#ifndef PILLION_WRAP_LIBRARY_H
#define PILLION_WRAP_LIBRARY_H

#include "preload/hook/entry.h"
#include "preload/library/library.h"
#include "preload/library/library_mpi.h"
#include "preload/library/library_set.h"
#include "preload/library/library_words.h"

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
 * function in `real`, and has `result`; CALL_REAL calls it. Where `is_wanted` says no, and the real function is known, the call is
 * a jump: these calls have up to 32 arguments, and without a branch the compiler sees that they lie where they have to. */
#define LIBRARY_WAYS(group, symbol, parameters, arguments, is_wanted, body)                                            \
	static struct caller_place place_##symbol;                                                                     \
	static int timed_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_, double caller_)     \
	{                                                                                                              \
		int(*real) ENTRY_APPEND(parameters, arguments, ENTRY_REALS) = entry_real(handed_), result;             \
                                                                                                                       \
		if (__builtin_expect(!real, 0)) {                                                                      \
			real = caller_recall(&place_##symbol, HOOK_PLACE_##symbol, #symbol, (uintptr_t)entry_real(caller_)); \
			if (!real)                                                                                     \
				return LIBRARY_NONE_##group;                                                           \
		}                                                                                                      \
		body                                                                                                   \
		return result;                                                                                         \
	}                                                                                                              \
	static int via_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS, double handed_)                       \
	{                                                                                                              \
		__typeof__(&timed_##symbol) to_ = library_way(entry_real(handed_), (void *)timed_##symbol, is_wanted);  \
                                                                                                                       \
		return to_ ENTRY_APPEND(arguments, arguments, ENTRY_REALS_PASS, handed_, 0);                           \
	}                                                                                                              \
	ENTRY_HANDED(symbol, HOOK_PLACE_##symbol, TF_GROUP_##group)                                                    \
	HOOK_EXPORT int words_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS) __asm__(#symbol);              \
	HOOK_EXPORT int words_##symbol ENTRY_APPEND(parameters, arguments, ENTRY_REALS)                                \
	{                                                                                                              \
		void *caller_ = __builtin_return_address(0);                                                           \
		void *found_ = caller_known(&place_##symbol, HOOK_PLACE_##symbol, caller_);                            \
		__typeof__(&timed_##symbol) to_ = library_way(found_, (void *)timed_##symbol, is_wanted);               \
                                                                                                                       \
		return to_ ENTRY_APPEND(arguments, arguments, ENTRY_REALS_PASS, entry_hand(found_), entry_hand(caller_)); \
	}
#define CALL_REAL(arguments) result = real ENTRY_APPEND(arguments, arguments, ENTRY_REALS_PASS)

/* Where a call goes: to the wrapper's body if it is wanted or the real function not known, else to that. No branch. */
static inline __attribute__((always_inline)) void *library_way(void *real, void *timed, bool is_wanted)
{
	uintptr_t stays = -(uintptr_t)(is_wanted | !real);

	return (void *)(((uintptr_t)timed & stays) | ((uintptr_t)real & ~stays));
}

/* A function that is recorded: `end` ends and writes the call, `note` is done after every one that succeeded. */
#define LIBRARY_TIMED(group, symbol, name, parameters, arguments, is_wanted, end, note)                                \
	LIBRARY_WAYS(group, symbol, parameters, arguments, is_wanted,                                                  \
		struct call event_;                                                                                   \
		                                                                                                       \
		if (!event_enabled(TF_GROUP_##group) || library_is_inside(HOOK_##name) || !call_begin(&event_, HOOK_##name)) { \
			CALL_REAL(arguments);                                                                          \
		} else {                                                                                               \
			CALL_REAL(arguments);                                                                          \
			end;                                                                                           \
		}                                                                                                      \
		if (library_has_done(TF_GROUP_##group, result) && library_selected(TF_GROUP_##group))                  \
			note;)
#define LIBRARY_ENTRY(group, symbol, name, parameters, arguments, end, note)                                           \
	LIBRARY_TIMED(group, symbol, name, parameters, arguments, library_selected(TF_GROUP_##group), end, note)
#define LIBRARY_UNNOTED(group, symbol, name, parameters, arguments, end)                                               \
	LIBRARY_TIMED(group, symbol, name, parameters, arguments, event_enabled(TF_GROUP_##group), end, (void)0)

#define LIBRARY_UNTIMED(group, symbol, parameters, arguments, note)                                                    \
	LIBRARY_WAYS(group, symbol, parameters, arguments, library_selected(TF_GROUP_##group),                         \
		CALL_REAL(arguments);                                                                                  \
		if (library_has_done(TF_GROUP_##group, result) && library_selected(TF_GROUP_##group))                  \
			note;)

#endif
