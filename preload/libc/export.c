/* SPDX-License-Identifier: Apache-2.0 */
/* The exported symbols of libc's rows. */
#define __NO_INLINE__ 1 /* otherwise libc's inline bodies of getc_unlocked and similar functions would replace ours */
#include "preload/hook/hook_record.h"
#include "preload/libc/undeclared.h"

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
		enum { HOOK_CURRENT = HOOK_##symbol, result = 0 };                                                     \
		struct call event_;                                                                                    \
		enum call_length length_;                                                                              \
                                                                                                                       \
		HOOK_BEFORE_##record;                                                                                  \
		if (!event_enabled(TF_GROUP_OSRT) || !call_begin(&event_, HOOK_CURRENT)) {                             \
			real_##symbol arguments;                                                                       \
			return;                                                                                        \
		}                                                                                                      \
		real_##symbol arguments;                                                                               \
		length_ = call_finish(&event_, HOOK_CURRENT, process_osrt_threshold);                                  \
		if (length_ == CALL_LONG)                                                                              \
			HOOK_RECORD_##record;                                                                          \
		if (length_ == CALL_SHORT)                                                                             \
			HOOK_SHORT_##record;                                                                           \
	}
#define HOOK_EXPORT_OWN(returns, symbol, parameters, arguments, record)                                                \
	HOOK_EXPORT returns symbol parameters                                                                          \
	{                                                                                                              \
		return wrap_##symbol arguments;                                                                        \
	}
#define HOOK_EXPORT_NAKED(returns, symbol, parameters, arguments, record)
#define HOOK_EXPORT_RAW(returns, symbol, parameters, arguments, record)
/* Defined elsewhere. Declared here, so that a row that differs from the prototype in libc's header is an error. */
#define HOOK_EXPORT_REAL(returns, symbol, parameters, arguments, record) extern returns symbol parameters;
#define HOOK_EXPORT_TIMED_AS(name) HOOK_EXPORT_TIMED
#define HOOK_EXPORT_OWN_AS(name) HOOK_EXPORT_OWN
#define HOOK_EXPORT_NAKED_AS(name) HOOK_EXPORT_NAKED
#define HOOK_EXPORT_ROW(kind, returns, symbol, parameters, arguments, record)                                          \
	HOOK_EXPORT_##kind(returns, symbol, parameters, arguments, record)
HOOK_LIBC(HOOK_EXPORT_ROW)
#undef HOOK_EXPORT_ROW
