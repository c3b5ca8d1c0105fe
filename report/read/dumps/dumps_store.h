/* SPDX-License-Identifier: Apache-2.0 */
/* The database that dumps are read into.
 *
 * dump(rank, file, version, first): a flight recorder's dump; first: the number of its oldest record
 * call(grp, members, p2p, seq, pair, rank, op, sizes, place, state): the last record of a rank with that number. grp is
 *   the name of the process group, members a JSON array of its ranks or ''; pair: the operation of a point-to-point
 *   call, of which each pair of ranks has its own numbers; state: 0 scheduled, 1 started, 2 completed
 * position(grp, members, rank, last, done): the last collective that the rank has entered and completed; -1: none
 * perf(comm, name, rank, ranks, op, size, us, bus): an operation of the inspector */
#pragma once

#include "report/base/table/emit.h"

struct store_facts {
	bool is_json;
	bool is_flight, is_inspector; /* has the fields of one */
	char version[32];
};

struct dumps_store;

struct dumps_store *dumps_store_new(struct err *err);

/* What a text is. The following two take the same text. */
void dumps_store_look(struct dumps_store *s, const char *text, size_t size, struct store_facts *ret);

/* Adds a flight recorder's dump; *ret_damaged: how many of its entries are not understood. */
int dumps_store_flight(struct dumps_store *s, const char *text, size_t size, const char *file, uint64_t rank,
		       uint64_t *ret_damaged, struct err *err);

/* Adds an operation of the inspector. False: it lacks fields. */
bool dumps_store_inspector(struct dumps_store *s, const char *text, size_t size);

/* The file and the version of the dump of that rank; of any rank: NULL. False: there is none. */
bool dumps_store_find(struct dumps_store *s, const uint64_t *rank, struct buffer *file, struct buffer *version);

int dumps_store_select(struct dumps_store *s, const char *sql, struct table *table, struct err *err);
