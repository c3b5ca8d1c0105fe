/* SPDX-License-Identifier: Apache-2.0 */
/* The rule to get from a frame to its caller, derived from the unwind tables once per return address and cached in
 * one table for the whole process. The table has no lock and no owner: see struct walk_bucket. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

enum walk_rule_kind {
	WALK_RULE_EMPTY,     /* an empty place in the table */
	WALK_RULE_FRAME,     /* CFA is fp or sp + an offset */
	WALK_RULE_REALIGNED, /* x86-64: CFA is stored at an offset from fp; fp at fp */
	WALK_RULE_SIGNAL,    /* the frame that the kernel builds for a signal handler */
	WALK_RULE_GUESS,     /* no unwind table: try the chain of frame pointers */
	WALK_RULE_LAST,	     /* the outermost frame */
	WALK_RULE_OTHER,     /* a form that is not supported */
	WALK_RULE_PLT,	     /* x86-64: an entry of a procedure linkage table, before or after its push */
};

/* One word, so that it can be stored atomically. */
union walk_rule {
	struct {
		uint64_t kind : 3;
		uint64_t cfa_from_sp : 1;
		int64_t cfa_offset : 24; /* bytes */
		int64_t fp_offset : 18;	 /* from the CFA in units of 8 bytes; 0: not saved */
		int64_t ra_offset : 18;	 /* as fp_offset */
	};
	uint64_t word;
};
_Static_assert(sizeof(union walk_rule) == sizeof(uint64_t), "a rule is one word");

enum { WALK_RULE_BITS = 14, WALK_RULE_FEW_BITS = 7, WALK_RULE_WAYS = 4 };

/* One cache line. A place is valid if its mark matches both its rule and the address. A mixture of two writers'
 * stores does not match, so any thread or handler may store both words in any order. */
struct walk_bucket {
	struct walk_place {
		uint64_t mark, rule;
	} places[WALK_RULE_WAYS];
} __attribute__((aligned(64)));

/* 1 MiB, mapped before the first walk, because most processes of a command walk no stack. walk_rule_shift: only the
 * first 8 KiB are used until these are half full, then four times as many and so on, because each page that is touched
 * costs a page fault. */
extern struct walk_bucket *walk_rules HIDDEN;
extern unsigned walk_rule_shift HIDDEN;
extern uint64_t walk_rule_generation HIDDEN;

/* Derives the rule from the unwind tables, and caches it unless the loaded objects could not be searched. */
union walk_rule walk_rule_read(uintptr_t address, uint64_t seed, bool is_return_address);

/* Part of every mark, so that rules of an older generation are not found. */
static inline uint64_t walk_rule_seed(void)
{
	return __atomic_load_n(&walk_rule_generation, __ATOMIC_ACQUIRE) * 0xd6e8feb86659fd93;
}

static inline uint64_t walk_rule_mark(uintptr_t address, uint64_t rule, uint64_t seed)
{
	return (address ^ seed) + rule * 0x9e3779b97f4a7c15;
}

static inline struct walk_bucket *walk_rule_bucket(uintptr_t address, unsigned shift)
{
	return &walk_rules[(address * 0x9e3779b97f4a7c15) >> shift];
}

/* `address`: the last byte of a call, or an interrupted instruction. WALK_RULE_EMPTY: not cached. */
static inline union walk_rule walk_rule_find_in(const struct walk_bucket *bucket, uintptr_t address, uint64_t seed)
{
	for (int i = 0; i < WALK_RULE_WAYS; i++) {
		uint64_t rule = __atomic_load_n(&bucket->places[i].rule, __ATOMIC_RELAXED);
		uint64_t mark = __atomic_load_n(&bucket->places[i].mark, __ATOMIC_RELAXED);

		if (mark == walk_rule_mark(address, rule, seed) && rule != 0)
			return (union walk_rule){.word = rule};
	}
	return (union walk_rule){.kind = WALK_RULE_EMPTY};
}

static inline union walk_rule walk_rule_find(uintptr_t address, uint64_t seed)
{
	unsigned shift = __atomic_load_n(&walk_rule_shift, __ATOMIC_RELAXED);

	return walk_rule_find_in(walk_rule_bucket(address, shift), address, seed);
}
