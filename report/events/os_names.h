/* SPDX-License-Identifier: Apache-2.0 */
/* Errors and flags of OS calls, by the names that Linux gives them. */
#pragma once

#include <stdint.h>

#include "report/base/util.h"
#include "runtime/shared/format/trace_flags.h"
#include "runtime/shared/format/trace_format.h"

/* The errno in an argument of an OS call that failed; 0: the argument has none, or the call succeeded. */
static inline uint32_t os_error_of(uint64_t arg)
{
	uint64_t value = tf_arg_value(arg);
	int64_t result = 0;

	switch (tf_arg_kind(arg)) {
	case TF_ARG_RESULT:
		return (uint32_t)value;
	case TF_ARG_DIRECTORY:
		return (uint32_t)(value >> 16);
	case TF_ARG_FD:
		result = (int32_t)(value >> 16);
		break;
	case TF_ARG_TIMEOUT:
		result = (int16_t)value;
		break;
	default:
		break;
	}
	return result < 0 ? (uint32_t)-result : 0;
}

/* Appends ENOENT; the number, if it has no name. */
void os_error_name(uint32_t error, struct buffer *ret);

/* Appends TFD_CLOEXEC|TFD_NONBLOCK, bits without a name in hexadecimal; 0: none. `set`: enum tf_flags. */
void os_flags_text(unsigned int set, uint32_t flags, struct buffer *ret);
