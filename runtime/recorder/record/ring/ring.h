/* SPDX-License-Identifier: Apache-2.0 */
/* --ring: the chunks of the trace file are used again once all that they have is older than what is to be kept.
 *
 * Time is divided into turns, an eighth of the ring each. With each turn the ids of definitions begin anew: what is
 * used again is defined again, by its first event of the turn, so that nothing which is kept needs a definition from
 * before the turn before it. What has not been used since is gone with its chunk. Eleven turns at most are kept, and an
 * id has the number of its turn, modulo 16. docs/decisions/ring.md has the reasons.
 *
 * Without --ring, process.ring is NULL and nothing of this runs. Under process.growing, unless stated otherwise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/format/trace_format.h"

enum { RING_TURNS = 16, RING_ID_BITS = 20, RING_CLASSES = 8, RING_PLACES = 1 << 16, RING_PAGES = 1 << 14,
       RING_COUNTED = 2048 };

/* A part of the file whose writer has finished with it. */
struct ring_place {
	uint64_t ticks; /* nothing in it is later than this */
	uint64_t offset;
	uint32_t events; /* in it */
	uint32_t next; /* of the same size; 0: none */
};

/* The places of one size, the oldest first, by their position in `places`. */
struct ring_class {
	uint32_t size, first, last;
};

/* A chunk for blobs, see ring_blob.c. */
struct ring_chunk {
	struct tf_chunk *chunk; /* NULL: none yet */
	uint64_t next;		/* address of its next slot */
};

struct record_ring {
	uint32_t current; /* the table of the definitions of this turn; 0 is not used */
	uint32_t turn;    /* number of turns so far */
	uint64_t begins[RING_TURNS];     /* of the latest turns, in ticks, by their number modulo RING_TURNS */
	uint64_t taken, takens[RING_TURNS]; /* bytes of chunks so far, and at these times */
	uint64_t length, kept_ticks;     /* of a turn in ticks; what --ring keeps. 0 if it keeps bytes */
	uint64_t turn_bytes;             /* of a turn, 0 if it keeps time */
	uint64_t reused_before;          /* a place that is older may be used again */
	struct ring_chunk kept, counted; /* under process.ring_writing, as counted_calls */
	struct intern_table tables[RING_TURNS];
	struct ring_class classes[RING_CLASSES];
	uint32_t free, used; /* places: a list of free ones; how many were in use at most */
	uint32_t pages_count;
	struct tf_thread *pages[RING_PAGES]; /* of threads that live; NULL: none */
	struct tf_counted_calls counted_calls[RING_COUNTED];
	struct ring_place places[RING_PLACES];
};

/* When the trace file is created. */
__attribute__((cold)) void ring_begin(struct tf_header *header);

/* Begins the next turn if it is due. True: it has. */
__attribute__((cold)) bool ring_turn(uint64_t now);

/* The offset of a place of that size that is used again; 0: there is none, and the file is to be extended. */
uint64_t ring_take(uint32_t size);
/* The writer of the chunk has finished with it. */
void ring_give(const struct tf_chunk *chunk);

/* A page of a thread, which has counters. */
void ring_add_page(struct tf_thread *page);

/* Has the thread filled its chunk for longer than a turn? Smaller ones then let turns begin in time. */
static inline bool ring_has_slow_chunk(const struct tf_chunk *chunk)
{
	const struct record_ring *r = process.ring;

	return r && r->length && chunk && clock_now() - chunk->base_ticks > r->length;
}

/* ---- definitions: any thread, no lock ---- */

static inline struct intern_table *definition_table(void)
{
	struct record_ring *r = __atomic_load_n(&process.ring, __ATOMIC_ACQUIRE);

	return __builtin_expect(!r, 1) ? &process.interned
				       : &r->tables[__atomic_load_n(&r->current, __ATOMIC_ACQUIRE)];
}

/* The id in the trace of what has this number in the table; 0: the table is full. */
static inline uint32_t definition_id(const struct intern_table *t, uint32_t number)
{
	const struct record_ring *r = process.ring;

	if (__builtin_expect(!r, 1) || !number || t == &process.interned)
		return number;
	return number >> RING_ID_BITS ? 0 : number | (uint32_t)(t - r->tables) << RING_ID_BITS;
}

/* As intern_number, intern_find and intern_add, of the table of the turn. */
static inline uint32_t definition_number(uint64_t key)
{
	const struct intern_table *t = definition_table();

	return definition_id(t, intern_number(t, key));
}

static inline uint32_t definition_find(uint64_t key)
{
	const struct intern_table *t = definition_table();

	return definition_id(t, intern_find(t, key));
}

static inline struct intern_entry *definition_add(uint64_t key, uint32_t *ret_id, bool *ret_is_new)
{
	struct intern_table *t = definition_table();
	struct intern_entry *e = intern_add(t, key, ret_id, ret_is_new);

	*ret_id = e ? definition_id(t, *ret_id) : 0;
	return *ret_id ? e : NULL;
}
