/* SPDX-License-Identifier: Apache-2.0 */
/* --on=slow-step:1.5x,oom,signal,exit!=0,hang:60s. */
#include "runtime/shared/base/value.h"
#include "runtime/shared/common/options_set.h"

#define SLOW_STEP 1.5

/* What follows the word and a colon, without the `unit` at its end; false: it is not this word, or too long. */
static bool on_value(const char *given, size_t length, const char *word, const char *unit, char ret[32])
{
	size_t begin = strlen(word) + 1, end = strlen(unit);

	if (length <= begin + end || length - begin >= 32 || strncmp(given, word, begin - 1) != 0 ||
	    given[begin - 1] != ':' || strncmp(given + length - end, unit, end) != 0)
		return false;
	memcpy(ret, given + begin, length - begin - end);
	ret[length - begin - end] = '\0';
	return true;
}

static bool on_word(struct options *o, const char *word, size_t length)
{
	char value[32];

	if (value_is(word, length, "oom"))
		o->on |= ON_OOM;
	else if (value_is(word, length, "signal"))
		o->on |= ON_SIGNAL;
	else if (value_is(word, length, "exit!=0"))
		o->on |= ON_EXIT;
	else if (value_is(word, length, "slow-step"))
		o->on |= ON_SLOW_STEP;
	else if (on_value(word, length, "slow-step", "x", value) && value_seconds(value, &o->on_slow_step) &&
		 o->on_slow_step > 1)
		o->on |= ON_SLOW_STEP;
	else if (on_value(word, length, "hang", "", value) && value_duration(value, &o->on_hang_ns) && o->on_hang_ns)
		o->on |= ON_HANG;
	else
		return false;
	return true;
}

__attribute__((cold)) int options_set_on(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;

	o->on = 0;
	o->on_slow_step = SLOW_STEP;
	for (const char *at = value;;) {
		size_t length = strcspn(at, ",");

		if (!on_word(o, at, length))
			return option_refuse(row, value, why);
		at += length;
		if (!*at++)
			return 0;
	}
}
