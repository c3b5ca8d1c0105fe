/* SPDX-License-Identifier: Apache-2.0 */
/* For targets that check what they are given. */
#ifndef PILLION_TARGET_CHECK_H
#define PILLION_TARGET_CHECK_H

#include <stdio.h>

static int failed; /* 1: a condition did not hold; stderr has it */

#define CHECK(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                        \
			failed = 1;                                                                                    \
		}                                                                                                      \
	} while (0)

#endif
