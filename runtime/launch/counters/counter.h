/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the machine (--counters=host,net), which the sampler of energy.h reads from /proc and /sys: a set is what
 * one launcher of a machine samples at once. counter_find.c finds them; counter_read.c reads them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS = 192, COUNTER_FILES = 96, COUNTER_NAME_BYTES = 64, COUNTER_MISSING_BYTES = 384 };

/* A number of a file of text. */
struct node_counter_row {
	const char *file;
	const char *key;  /* how its line begins; "": the first line; NULL: with the name of the device */
	uint32_t columns; /* bits: the words after the key whose numbers are added; "total=5" is 5 */
	const char *less; /* the line whose first number is subtracted; NULL: none */
	const char *name, *unit;
	double scale;  /* from the number to the unit */
	bool is_total; /* the number only grows: the unit is one of its growth per second */
	bool is_ratio; /* the number is a thousand times that of the first word over that of the second one */
};

struct node_counter {
	const struct node_counter_row *row;
	char name[COUNTER_NAME_BYTES], key[COUNTER_NAME_BYTES];
	double scale;
	uint16_t file; /* place in the set's files */
};

struct node_counter_set {
	const char *name; /* host, net */
	struct node_counter items[COUNTERS];
	size_t count;
	int files[COUNTER_FILES]; /* descriptors */
	size_t file_count;
	char missing[COUNTER_MISSING_BYTES]; /* files that this machine does not have, separated by commas */
	uint16_t number;
	bool is_mine; /* no other sampler of the capture reads it */
	bool is_found, is_defined;
};

/* `root` is "" but in tests. */
void counter_find_host(const char *root, struct node_counter_set *set);
void counter_find_net(const char *root, struct node_counter_set *set);

/* One value for each counter of the set, TF_ENERGY_UNKNOWN: it could not be read. */
void counter_read(const struct node_counter_set *set, uint64_t *ret);
/* Of a file's text; false: it does not have the number. */
bool counter_parse(const struct node_counter *counter, const char *text, uint64_t *ret);
