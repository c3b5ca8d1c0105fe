/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/unwind.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

/* Arguments of a call may be on the stack: up to PUSHED_BYTES with their alignment. */
enum { DEPTH = 32, PROLOGUE_BYTES = 192, PUSHED_BYTES = 256, ALIGNMENT = 16 };
/* Of a function whose frame has any size: the code that is searched for the reason, and how large the frame may be. */
enum { CODE_BYTES = 4096, ANY_BYTES = 1 << 20 };

/* What an expression is evaluated with. */
struct evaluation {
	const struct unwind_memory *memory;
	const struct unwind_registers *registers;
	uint64_t cfa;
	uint64_t stack[DEPTH];
	unsigned depth;
	bool is_value; /* the result is a value, not the address of one */
};

static bool push(struct evaluation *e, uint64_t value)
{
	if (e->depth == DEPTH)
		return false;
	e->stack[e->depth++] = value;
	return true;
}

static bool push_register(struct evaluation *e, uint64_t number, uint64_t offset)
{
	return number < UNWIND_REGISTERS && e->registers->known & 1u << number &&
	       push(e, e->registers->value[number] + offset);
}

static bool push_memory(struct evaluation *e)
{
	return e->depth && e->memory->read(e->memory->context, e->stack[e->depth - 1], &e->stack[e->depth - 1]);
}

/* Operations on the two topmost values. */
static bool apply_two(struct evaluation *e, uint8_t atom)
{
	uint64_t a, b, *ret;

	if (e->depth < 2)
		return false;
	b = e->stack[--e->depth];
	ret = &e->stack[e->depth - 1];
	a = *ret;
	switch (atom) {
	case DW_OP_plus:
		*ret = a + b;
		return true;
	case DW_OP_minus:
		*ret = a - b;
		return true;
	case DW_OP_and:
		*ret = a & b;
		return true;
	case DW_OP_or:
		*ret = a | b;
		return true;
	case DW_OP_xor:
		*ret = a ^ b;
		return true;
	case DW_OP_mul:
		*ret = a * b;
		return true;
	case DW_OP_shl:
		*ret = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*ret = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_eq:
		*ret = a == b;
		return true;
	case DW_OP_ne:
		*ret = a != b;
		return true;
	case DW_OP_ge:
		*ret = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_gt:
		*ret = (int64_t)a > (int64_t)b;
		return true;
	case DW_OP_le:
		*ret = (int64_t)a <= (int64_t)b;
		return true;
	case DW_OP_lt:
		*ret = (int64_t)a < (int64_t)b;
		return true;
	default:
		return false;
	}
}

static bool apply(struct evaluation *e, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(e, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(e, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		e->is_value = true;
		return push_register(e, op->atom - DW_OP_reg0, 0);
	}
	switch (op->atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_bregx:
		return push_register(e, op->number, op->number2);
	case DW_OP_regx:
		e->is_value = true;
		return push_register(e, op->number, 0);
	case DW_OP_call_frame_cfa:
		return push(e, e->cfa);
	case DW_OP_const1u ... DW_OP_consts:
		return push(e, op->number);
	case DW_OP_plus_uconst:
		if (e->depth)
			e->stack[e->depth - 1] += op->number;
		return e->depth;
	case DW_OP_dup:
		return e->depth && push(e, e->stack[e->depth - 1]);
	case DW_OP_deref:
		return push_memory(e);
	case DW_OP_stack_value:
		e->is_value = true;
		return true;
	default:
		return apply_two(e, op->atom);
	}
}

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t count, uint64_t *ret)
{
	e->depth = 0;
	e->is_value = false;
	for (size_t i = 0; i < count; i++)
		if (!apply(e, &ops[i]))
			return false;
	if (!e->depth)
		return false;
	*ret = e->stack[e->depth - 1];
	return true;
}

/* ---- frames ---- */

static Dwarf_Frame *frame_in(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;

	return cfi && !dwarf_cfi_addrframe(cfi, address, &frame) ? frame : NULL;
}

/* Debug information is read only for what .eh_frame does not have: that of a distribution is to be decompressed. */
static Dwarf_Frame *find_frame(struct symbol_file *f, uint64_t address)
{
	Dwarf_CFI *(*const find[])(Dwfl_Module *, Dwarf_Addr *) = {dwfl_module_eh_cfi, dwfl_module_dwarf_cfi};
	bool has_table = symbol_file_frames(f);
	Dwarf_Frame *frame = frame_in(symbol_file_frames(f), address);

	for (size_t i = has_table; i < sizeof(find) / sizeof(*find) && !frame; i++) {
		Dwarf_Addr bias;
		Dwarf_CFI *cfi = find[i](symbol_file_module(f), &bias);

		frame = frame_in(cfi, address - bias);
	}
	return frame;
}

bool symbol_file_code(struct symbol_file *f, uint64_t address, uint8_t *ret, size_t size)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(symbol_file_module(f), &bias);
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr p;
		Elf_Data *data;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || address < p.p_vaddr ||
		    address - p.p_vaddr >= p.p_filesz || size > p.p_filesz - (address - p.p_vaddr))
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(p.p_offset + (address - p.p_vaddr)), size, ELF_T_BYTE);
		if (!data || !data->d_buf || data->d_size < size)
			return false;
		memcpy(ret, data->d_buf, size);
		return true;
	}
	return false;
}

/* Whether the code from the function's start up to the address makes its frame larger by a number that it computes. */
static bool is_of_any_size(struct symbol_file *f, uint64_t start, uint64_t address)
{
	uint8_t code[CODE_BYTES];
	size_t size = address - start < sizeof(code) ? address - start : sizeof(code);

	return symbol_file_code(f, start, code, size) && prologue_is_of_any_size(code, size);
}

/* Finds the frame pointer of a function whose prologue is complete: above it is the return address. Of a frame of any
 * size that is far away, beyond what earlier calls have left there, so that the call must be known to be the
 * function's. */
static bool find_frame_pointer(struct symbol_file *f, uint64_t bias, uint64_t address,
			       const struct unwind_memory *memory, struct unwind_registers *r)
{
	uint8_t code[PROLOGUE_BYTES];
	uint64_t start, distance, at, end, word;
	bool is_any;

	if (r->known & 1u << UNWIND_FP || !symbol_file_function(f, address, &start) ||
	    !symbol_file_code(f, start, code, sizeof(code)) || !prologue_distance(code, sizeof(code), &distance))
		return false;
	is_any = is_of_any_size(f, start, address);
	at = (r->value[UNWIND_SP] + distance + ALIGNMENT - 1) & -(uint64_t)ALIGNMENT;
	for (end = at + (is_any ? ANY_BYTES : PUSHED_BYTES); at < end; at += ALIGNMENT) {
		if (!memory->read(memory->context, at + 8, &word))
			return false;
		if (!memory->is_return(memory->context, word, is_any ? bias + start : 0))
			continue;
		r->value[UNWIND_FP] = at;
		r->known |= 1u << UNWIND_FP;
		return true;
	}
	return false;
}

static bool find_cfa(Dwarf_Frame *frame, struct evaluation *e)
{
	Dwarf_Op *ops;
	size_t count;

	return !dwarf_frame_cfa(frame, &ops, &count) && count && evaluate(e, ops, count, &e->cfa);
}

/* The caller's value of a register. False: it is not known; *ret_is_undefined: and no such value exists. */
static bool find_register(Dwarf_Frame *frame, struct evaluation *e, int number, uint64_t *ret, bool *ret_is_undefined)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	*ret_is_undefined = false;
	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return false;
	if (!count) {
		*ret_is_undefined = ops;
		*ret = e->registers->value[number];
		return !ops && e->registers->known & 1u << number;
	}
	return evaluate(e, ops, count, ret) && (e->is_value || e->memory->read(e->memory->context, *ret, ret));
}

static enum unwind_outcome step_frame(Dwarf_Frame *frame, struct evaluation *e, struct unwind_registers *ret)
{
	struct unwind_registers next = {.known = 0};
	bool is_undefined = false;

	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (find_register(frame, e, i, &next.value[i], &is_undefined))
			next.known |= 1u << i;
		else if (i == UNWIND_PC && is_undefined)
			return UNWIND_ENDED;
	if (!(next.known & 1u << UNWIND_SP)) {
		next.value[UNWIND_SP] = e->cfa;
		next.known |= 1u << UNWIND_SP;
	}
	if (!(next.known & 1u << UNWIND_PC))
		return UNWIND_STOPPED;
	if (next.value[UNWIND_SP] <= ret->value[UNWIND_SP] || !next.value[UNWIND_PC])
		return next.value[UNWIND_PC] ? UNWIND_STOPPED : UNWIND_ENDED;
	*ret = next;
	return UNWIND_GOES_ON;
}

enum unwind_outcome unwind_step(struct symbol_file *f, uint64_t bias, const struct unwind_memory *memory,
				struct unwind_registers *r, bool *is_call)
{
	uint64_t address = r->value[UNWIND_PC] - bias - (*is_call ? 1 : 0);
	SCOPED_MEMORY Dwarf_Frame *frame = find_frame(f, address);
	struct unwind_registers now = *r;
	struct evaluation e = {.memory = memory, .registers = &now};
	enum unwind_outcome outcome = UNWIND_STOPPED;
	bool is_signal = false;

	if (!frame)
		return UNWIND_STOPPED;
	if (find_cfa(frame, &e) || (find_frame_pointer(f, bias, address, memory, &now) && find_cfa(frame, &e))) {
		dwarf_frame_info(frame, NULL, NULL, &is_signal);
		outcome = step_frame(frame, &e, r);
	}
	*is_call = !is_signal;
	return outcome;
}
