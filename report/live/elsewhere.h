/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of a capture on other hosts, as far as its indexes tell: they have begun and not recorded their end. One
 * that was killed is among them. */
#pragma once

#include "report/base/util.h"

struct elsewhere_launcher {
	uint64_t run;
	uint32_t pid;
	char *host;
	bool has_ended;
};

struct elsewhere {
	struct elsewhere_launcher *items; /* has_ended is false for all of them */
	size_t count, capacity;
};

void elsewhere_read(const char *capture, struct elsewhere *ret);
void elsewhere_done(struct elsewhere *e);
