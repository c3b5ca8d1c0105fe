/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the functions in a trace file. Thousands of processes have the same table, so it is stored once and
 * reference-counted. May be called from any thread. */
#pragma once

#include "report/base/util.h"
#include "runtime/shared/base/function_kind.h"

struct function {
	const char *name;
	uint8_t group; /* enum tf_group */
	struct function_kind kind;
};

struct functions {
	struct function *items;
	uint32_t count;
	/* private to functions.c */
	char *names;
	uint8_t *bytes;
	size_t size;
	uint64_t hash;
	uint32_t wanted, users;
	struct classes *classes;
	struct functions *next;
};

/* Parses `bytes` from the file, at most `wanted` entries: ret->count tells how many there are. Release with
 * functions_give. */
struct functions *functions_take(const uint8_t *bytes, size_t size, uint32_t wanted);
void functions_give(struct functions *f);

/* The result of `classify` for each function, so that each name is examined once, however many traces have the table.
 * Borrowed: valid until the table is released. */
typedef uint8_t classify_function(const struct function *f);
const uint8_t *functions_classes(struct functions *f, classify_function *classify);

/* One more reference to a table. */
struct functions *functions_share(struct functions *f);
