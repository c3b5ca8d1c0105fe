/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the functions that a trace file's events are of. Thousands of processes have the same ones: they are kept once.
 * Any thread, at any time. */
#ifndef PILLION_FUNCTIONS_H
#define PILLION_FUNCTIONS_H

#include "report/base/util.h"

struct function {
	const char *name;
	uint8_t group; /* enum tf_group */
};

struct functions {
	struct function *items;
	uint32_t count;
	/* functions.c's own */
	char *names;
	uint8_t *bytes;
	size_t size;
	uint64_t hash;
	uint32_t wanted, users;
	struct functions *next;
};

/* `bytes` as they stand in the file, of which as many of the `wanted` ones are taken as there are: ret->count tells. To be given
 * back. */
struct functions *functions_take(const uint8_t *bytes, size_t size, uint32_t wanted);
void functions_give(struct functions *f);

#endif
