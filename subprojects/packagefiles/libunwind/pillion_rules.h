/* SPDX-License-Identifier: Apache-2.0 */
/* From the unwind tables to rules, and the table that keeps them. A part of pillion_walk.c. */
static inline uint64_t mark_of(uintptr_t address, uint64_t rule, uint64_t seed)
{
	return (address ^ seed) + rule * 0x9e3779b97f4a7c15;
}

static inline struct bucket *bucket_of(uintptr_t address)
{
	return &table[(address * 0x9e3779b97f4a7c15) >> (64 - TABLE_BITS)];
}

static void rule_keep(uintptr_t address, union rule rule, uint64_t seed)
{
	struct bucket *bucket = bucket_of(address);
	struct place *place = NULL;

	for (int i = 0; i < WAYS && !place; i++) {
		if (atomic_load_explicit(&bucket->places[i].rule, memory_order_relaxed) == 0)
			place = &bucket->places[i];
	}
	if (!place)
		place = &bucket->places[atomic_fetch_add_explicit(&victim, 1, memory_order_relaxed) % WAYS];
	atomic_store_explicit(&place->mark, mark_of(address, rule.word, seed), memory_order_relaxed);
	atomic_store_explicit(&place->rule, rule.word, memory_order_relaxed);
}

struct row {
	struct cursor cursor;
	uintptr_t address;
	union rule rule;
};

static bool fits(intptr_t offset)
{
	return offset < 0 && offset % 8 == 0 && offset / 8 >= -(1 << 17);
}

/* 0: the register still holds it; false: it cannot be told that simply. */
static bool saved_at(const dwarf_reg_state_t *state, int column, intptr_t *offset)
{
	*offset = 0;
	switch (state->reg.where[column]) {
	case DWARF_WHERE_SAME:
	case DWARF_WHERE_UNDEF:
		return true;
	case DWARF_WHERE_CFAREL:
		*offset = (intptr_t)state->reg.val[column];
		return fits(*offset);
	default:
		return false;
	}
}

#ifdef __x86_64__
/* The frame of a function that realigned its stack: CFA is *(rbp + n), rbp is at rbp. */
static bool is_realigned(const dwarf_reg_state_t *state, intptr_t *offset)
{
	enum { OP_BREG6 = 0x76, OP_DEREF = 0x06 };
	const uint8_t *cfa = (const uint8_t *)state->reg.val[DWARF_CFA_REG_COLUMN];
	const uint8_t *fp = (const uint8_t *)state->reg.val[DWARF_FP];

	if (state->reg.where[DWARF_CFA_REG_COLUMN] != DWARF_WHERE_EXPR ||
		state->reg.where[DWARF_FP] != DWARF_WHERE_EXPR)
		return false;
	if (fp[0] != 2 || fp[1] != OP_BREG6 || fp[2] != 0)
		return false;
	if (cfa[0] != 3 || cfa[1] != OP_BREG6 || (cfa[2] & 0x80) != 0 || cfa[3] != OP_DEREF)
		return false;
	*offset = (int8_t)(cfa[2] << 1) >> 1;	/* 7 bits and a sign: SLEB128 of one byte */
	return true;
}

/* What linkers write for a table's entries: CFA is rsp + 8, and 8 more from the 11th byte of each 16 on. */
static bool is_plt(const dwarf_reg_state_t *state)
{
	static const uint8_t expression[] = {11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

	return state->reg.where[DWARF_CFA_REG_COLUMN] == DWARF_WHERE_EXPR &&
		memcmp((const void *)state->reg.val[DWARF_CFA_REG_COLUMN], expression, sizeof expression) == 0;
}
#endif

static union rule rule_from(const dwarf_reg_state_t *state, bool is_signal)
{
	const union rule other = {.kind = RULE_OTHER};
	intptr_t cfa_offset = (intptr_t)state->reg.val[DWARF_CFA_OFF_COLUMN];
	uintptr_t cfa_register = state->reg.val[DWARF_CFA_REG_COLUMN];
	intptr_t fp_offset, ra_offset;

	if (is_signal)
		return (union rule){.kind = RULE_SIGNAL};
	if (state->ret_addr_column != DWARF_RA)
		return other;
	if (state->reg.where[DWARF_RA] == DWARF_WHERE_UNDEF)
		return (union rule){.kind = RULE_LAST};
	if (!saved_at(state, DWARF_RA, &ra_offset))
		return other;
#ifdef __x86_64__
	if (ra_offset != -8)
		return other;
	if (is_realigned(state, &cfa_offset))
		return (union rule){.kind = RULE_REALIGNED, .cfa_offset = cfa_offset, .ra_offset = -1};
#endif
	if (!saved_at(state, DWARF_FP, &fp_offset))
		return other;
#ifdef __x86_64__
	if (is_plt(state))
		return (union rule){.kind = RULE_PLT};
#endif
	if (state->reg.where[DWARF_CFA_REG_COLUMN] != DWARF_WHERE_REG ||
		(cfa_register != DWARF_SP && cfa_register != DWARF_FP) ||
		cfa_offset < -(1 << 23) || cfa_offset >= 1 << 23)
		return other;
	return (union rule){
		.kind = RULE_FRAME,
		.cfa_from_sp = cfa_register == DWARF_SP,
		.cfa_offset = cfa_offset,
		.fp_offset = fp_offset / 8,
		.ra_offset = ra_offset / 8,
	};
}

/* Called for each stretch of the function's instructions; stops at ours by a negative result. */
static int take_row(void *token, void *state, size_t size, unw_word_t start, unw_word_t end)
{
	struct row *row = token;
	const dwarf_cie_info_t *cie = row->cursor.dwarf.pi.unwind_info;

	if (row->address < start || row->address >= end)
		return 0;
	row->rule = rule_from(state, cie->signal_frame);
	return -1;
}

#ifdef __aarch64__
/* The vDSO's return from a signal handler has no call frame information on many kernels. */
static bool is_sigreturn(uintptr_t pc)
{
	const uint32_t *code = (const uint32_t *)pc;

	return (pc & 3) == 0 && is_readable(pc) && is_readable(pc + 7) &&
		code[0] == 0xd2801168 && code[1] == 0xd4000001;
}
#endif

static __attribute__((noinline)) union rule rule_work_out(uintptr_t address, uint64_t seed,
	bool is_return_address)
{
	struct scratch *outer = unw_pillion_scratch;
	struct scratch memory;
	struct row row;

	memory.states_used = 0;
	memory.is_unsure = false;
	memset(&row.cursor.dwarf, 0, sizeof row.cursor.dwarf);
	row.cursor.dwarf.as = unw_local_addr_space;
	row.cursor.dwarf.ip = address;
	row.address = address;
	row.rule = (union rule){.kind = RULE_GUESS};
#ifdef __aarch64__
	if (is_sigreturn(address + is_return_address)) {
		row.rule = (union rule){.kind = RULE_SIGNAL};
		rule_keep(address, row.rule, seed);
		return row.rule;
	}
#endif
	unw_pillion_scratch = &memory;
	atomic_signal_fence(memory_order_seq_cst);
	dwarf_reg_states_iterate(&row.cursor.dwarf, take_row, &row);
	atomic_signal_fence(memory_order_seq_cst);
	unw_pillion_scratch = outer;
	if (memory.is_unsure)
		return (union rule){.kind = RULE_OTHER};
	rule_keep(address, row.rule, seed);
	return row.rule;
}

static inline union rule rule_find(uintptr_t address, uint64_t seed, bool is_return_address)
{
	struct bucket *bucket = bucket_of(address);

	for (int i = 0; i < WAYS; i++) {
		uint64_t rule = atomic_load_explicit(&bucket->places[i].rule, memory_order_relaxed);
		uint64_t mark = atomic_load_explicit(&bucket->places[i].mark, memory_order_relaxed);

		if (mark == mark_of(address, rule, seed) && rule != 0)
			return (union rule){.word = rule};
	}
	return rule_work_out(address, seed, is_return_address);
}
