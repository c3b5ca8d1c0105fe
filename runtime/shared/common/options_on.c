/* SPDX-License-Identifier: Apache-2.0 */
/* --on=oom,signal,exit!=0,hang:60s. */
#include "runtime/shared/base/value.h"
#include "runtime/shared/common/options_set.h"

static bool on_word(struct options *o, const char *word, size_t length)
{
	static const char hang[] = "hang:";
	char time[32] = "";

	if (value_is(word, length, "oom"))
		o->on |= ON_OOM;
	else if (value_is(word, length, "signal"))
		o->on |= ON_SIGNAL;
	else if (value_is(word, length, "exit!=0"))
		o->on |= ON_EXIT;
	else if (length > strlen(hang) && length - strlen(hang) < sizeof(time) && !strncmp(word, hang, strlen(hang)))
		memcpy(time, word + strlen(hang), length - strlen(hang));
	else
		return false;
	if (!time[0])
		return true;
	o->on |= ON_HANG;
	return value_duration(time, &o->on_hang_ns) && o->on_hang_ns;
}

__attribute__((cold)) int options_set_on(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct options *o = settings;

	o->on = 0;
	for (const char *at = value;;) {
		size_t length = strcspn(at, ",");

		if (!on_word(o, at, length))
			return option_refuse(row, value, why);
		at += length;
		if (!*at++)
			return 0;
	}
}
