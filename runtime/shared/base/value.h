/* SPDX-License-Identifier: Apache-2.0 */
/* Words and numbers as users type them. No allocation, no I/O, no libc beyond <string.h>. */
#pragma once

#include "runtime/shared/base/text.h"

/* All of [s, s + length) as a decimal number; false: it is not one, or it is too large. */
bool value_number(const char *s, size_t length, uint64_t *ret);
/* Decimal seconds, with or without a fraction. */
bool value_seconds(const char *s, double *ret);
/* Appends seconds as value_seconds takes them. */
void value_seconds_print(double seconds, struct text *t);
/* A whole number with a unit: 2ms; ns, us, ms or s. At most an hour. */
bool value_duration(const char *s, uint64_t *ret_ns);
/* true, on, yes, or their opposites; True and False, as Python writes them. */
bool value_bool(const char *s, bool *ret);
/* Whether the `length` bytes at `s` are `word`. */
bool value_is(const char *s, size_t length, const char *word);
/* Whether they are a word of `list`, in which each word is between two commas: ",a,b,". */
bool value_is_listed(const char *list, const char *s, size_t length);
