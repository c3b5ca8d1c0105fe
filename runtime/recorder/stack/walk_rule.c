/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/walk_rule.h"

#include <string.h>
#include <sys/resource.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/unwind_table.h"
#include "runtime/recorder/stack/walk.h"
#include "runtime/shared/common/sys.h"

enum { RULES_BYTES = sizeof(struct walk_bucket) << WALK_RULE_BITS };
#define DATA_LEAST (16u << 20) /* bytes */

enum { SHIFT = 64 - WALK_RULE_BITS, SHIFT_FEW = 64 - WALK_RULE_FEW_BITS };

struct walk_bucket *walk_rules;
unsigned walk_rule_shift = SHIFT_FEW;
uint64_t walk_rule_generation;
static bool has_failed;
static unsigned victim, stored;

/* Stacks need some 2 MiB of private memory. Under a low RLIMIT_DATA an allocation of the program would fail for it. */
static bool data_is_limited(void)
{
	uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};

	sys_call(SYS_prlimit64, 0, RLIMIT_DATA, NULL, limit);
	return limit[0] < DATA_LEAST;
}

bool walk_prepare(void)
{
	struct walk_bucket *fresh, *other = NULL;

	if (__atomic_load_n(&walk_rules, __ATOMIC_ACQUIRE))
		return true;
	if (has_failed || sys_is_silent)
		return false;
	fresh = data_is_limited() ? NULL
				  : sys_mmap_own(RULES_BYTES);
	if (!fresh)
		has_failed = true;
	else if (!__atomic_compare_exchange_n(&walk_rules, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sys_munmap(fresh, RULES_BYTES);
	return fresh;
}

static void walk_rule_store(uintptr_t address, union walk_rule rule, uint64_t seed)
{
	unsigned shift = __atomic_load_n(&walk_rule_shift, __ATOMIC_RELAXED);
	struct walk_bucket *bucket = walk_rule_bucket(address, shift);
	struct walk_place *place = NULL;

	/* The rules so far are derived again. */
	if (__atomic_fetch_add(&stored, 1, __ATOMIC_RELAXED) == (WALK_RULE_WAYS / 2u) << (64 - shift))
		__atomic_store_n(&walk_rule_shift, shift - 2 < SHIFT ? SHIFT : shift - 2, __ATOMIC_RELAXED);
	for (int i = 0; i < WALK_RULE_WAYS && !place; i++)
		if (__atomic_load_n(&bucket->places[i].rule, __ATOMIC_RELAXED) == 0)
			place = &bucket->places[i];
	if (!place)
		place = &bucket->places[__atomic_fetch_add(&victim, 1, __ATOMIC_RELAXED) % WALK_RULE_WAYS];
	__atomic_store_n(&place->mark, walk_rule_mark(address, rule.word, seed), __ATOMIC_RELAXED);
	__atomic_store_n(&place->rule, rule.word, __ATOMIC_RELAXED);
}

static bool walk_rule_fits(int64_t offset)
{
	return offset < 0 && offset % 8 == 0 && offset / 8 >= -(1 << 17);
}

/* *ret_offset 0: the register still has the value. False: a rule cannot express how it is saved. */
static bool unwind_cell_saved(const struct unwind_cell *cell, int64_t *ret_offset)
{
	*ret_offset = 0;
	if (cell->how == UNWIND_SAME || cell->how == UNWIND_UNDEFINED)
		return true;
	*ret_offset = cell->offset;
	return cell->how == UNWIND_SAVED && walk_rule_fits(cell->offset);
}

#ifdef __x86_64__
/* The frame of a function that realigned its stack: the CFA is *(rbp + n), rbp is saved at rbp. */
static bool is_realigned_row(const struct unwind_row *row, int64_t *ret_offset)
{
	enum { OP_BREG6 = 0x76, OP_DEREF = 0x06 };
	const uint8_t *cfa = row->cfa.expression, *fp = row->fp.expression;

	if (row->cfa.how != UNWIND_EXPRESSION || row->fp.how != UNWIND_EXPRESSION)
		return false;
	if (fp[0] != 2 || fp[1] != OP_BREG6 || fp[2] != 0)
		return false;
	if (cfa[0] != 3 || cfa[1] != OP_BREG6 || (cfa[2] & 0x80) != 0 || cfa[3] != OP_DEREF)
		return false;
	*ret_offset = (int8_t)(cfa[2] << 1) >> 1; /* 7 bits with sign: SLEB128 of one byte */
	return true;
}

/* The expression that linkers write for a procedure linkage table: the CFA is rsp + 8, and 8 more from byte 11 of
 * each 16 on. */
static bool is_plt_row(const struct unwind_row *row)
{
	static const uint8_t expression[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

	_Static_assert(sizeof(expression) <= UNWIND_EXPRESSION_BYTES, "the cell holds all of it");
	return row->cfa.how == UNWIND_EXPRESSION && memcmp(row->cfa.expression, expression, sizeof(expression)) == 0;
}
#endif

static union walk_rule walk_rule_from_row(const struct unwind_row *row)
{
	const union walk_rule other = {.kind = WALK_RULE_OTHER};
	const struct unwind_cell *cfa = &row->cfa;
	int64_t fp_offset, ra_offset;

	if (row->is_signal_frame)
		return (union walk_rule){.kind = WALK_RULE_SIGNAL};
	if (row->ra_column != UNWIND_RA)
		return other;
	if (row->ra.how == UNWIND_UNDEFINED)
		return (union walk_rule){.kind = WALK_RULE_LAST};
	if (!unwind_cell_saved(&row->ra, &ra_offset))
		return other;
#ifdef __x86_64__
	int64_t cfa_at;

	if (ra_offset != -8)
		return other;
	if (is_realigned_row(row, &cfa_at))
		return (union walk_rule){.kind = WALK_RULE_REALIGNED, .cfa_offset = cfa_at, .ra_offset = -1};
#endif
	if (!unwind_cell_saved(&row->fp, &fp_offset))
		return other;
#ifdef __x86_64__
	if (is_plt_row(row))
		return (union walk_rule){.kind = WALK_RULE_PLT};
#endif
	if (cfa->how != UNWIND_REGISTER || (cfa->number != UNWIND_SP && cfa->number != UNWIND_FP) ||
	    cfa->offset < -(1 << 23) || cfa->offset >= 1 << 23)
		return other;
	return (union walk_rule){
		.kind = WALK_RULE_FRAME,
		.cfa_from_sp = cfa->number == UNWIND_SP,
		.cfa_offset = cfa->offset,
		.fp_offset = fp_offset / 8,
		.ra_offset = ra_offset / 8,
	};
}

#ifdef __aarch64__
/* On many kernels, the vDSO's return from a signal handler has no unwind table. */
static bool is_sigreturn_code(uintptr_t pc)
{
	const uint32_t *code = (const uint32_t *)pc;

	return (pc & 3) == 0 && readable_address(pc) && readable_address(pc + 7) && code[0] == 0xd2801168 &&
	       code[1] == 0xd4000001;
}
#else
static bool is_sigreturn_code(uintptr_t pc)
{
	(void)pc; /* libc's has an unwind table */
	return false;
}
#endif

__attribute__((noinline)) union walk_rule walk_rule_read(uintptr_t address, uint64_t seed, bool is_return_address)
{
	union walk_rule rule = walk_rule_find_in(walk_rule_bucket(address, SHIFT_FEW), address, seed);
	struct object found;
	struct unwind_row row;

	if (rule.kind != WALK_RULE_EMPTY) { /* from before the whole table was used */
		walk_rule_store(address, rule, seed);
		return rule;
	}
	rule.kind = WALK_RULE_GUESS;
	if (is_sigreturn_code(address + is_return_address)) {
		rule.kind = WALK_RULE_SIGNAL;
	} else {
		enum object_answer answer = object_find(address, &found);

		if (answer == OBJECT_UNKNOWN)
			return (union walk_rule){.kind = WALK_RULE_OTHER};
		if (answer == OBJECT_FOUND &&
		    unwind_table_row(&(struct unwind_object){(uintptr_t)found.map_start, (uintptr_t)found.map_end,
							     (uintptr_t)found.eh_frame_hdr},
				     address, &row))
			rule = walk_rule_from_row(&row);
	}
	walk_rule_store(address, rule, seed);
	return rule;
}

void walk_invalidate(void)
{
	__atomic_fetch_add(&walk_rule_generation, 1, __ATOMIC_ACQ_REL);
}
