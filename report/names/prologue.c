/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prologue of a function that has a frame pointer: push %rbp, mov %rsp,%rbp, pushes, sub $N,%rsp, mixed
 * with moves. It ends at the first instruction that is not known here: a jump, a call. A compiler may put a short path
 * before it, so that it does not begin at the function's first instruction. */
#include "report/names/unwind.h"

#include <string.h>

enum { PREFIX_OPERAND = 0x66, REX_W = 8, REX_B = 1, MODRM_RSP = 4, PUSH = 0x50, PUSH_RBP = 0x55 };

struct instruction {
	const uint8_t *code; /* the opcode, after prefixes */
	unsigned length;     /* from the opcode on; 0: not known */
	unsigned prefixes, rex;
};

/* The bytes of ModRM, SIB and displacement. */
static unsigned modrm_length(const uint8_t *at)
{
	unsigned mode = at[0] >> 6, register_memory = at[0] & 7, length = 1;

	if (mode == 3)
		return 1;
	if (register_memory == 4) {
		length++;
		if (!mode && (at[1] & 7) == 5)
			length += 4;
	}
	if (!mode && register_memory == 5)
		length += 4;
	return length + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* Of the instructions after 0x0f those with ModRM only: moves of SSE registers, conditional moves, extensions, nop. */
static bool is_known_two_byte(uint8_t opcode)
{
	return opcode == 0x1e || opcode == 0x1f || (opcode >= 0x10 && opcode <= 0x17) || opcode == 0x28 ||
	       opcode == 0x29 || (opcode >= 0x40 && opcode <= 0x4f) || opcode == 0x57 || opcode == 0x6e ||
	       opcode == 0x6f || opcode == 0x7e || opcode == 0x7f || (opcode >= 0x90 && opcode <= 0x9f) ||
	       opcode == 0xb6 || opcode == 0xb7 || opcode == 0xbe || opcode == 0xbf || opcode == 0xd6 || opcode == 0xef;
}

static unsigned opcode_length(const uint8_t *at, bool is_wide, bool is_short)
{
	unsigned immediate = is_short ? 2 : 4, opcode = at[0];

	if (opcode == 0x0f)
		return is_known_two_byte(at[1]) ? 2 + modrm_length(at + 2) : 0;
	if ((opcode & 0xf0) == PUSH || opcode == 0x90)
		return 1;
	if (opcode < 0x40 && (opcode & 7) < 4) /* add, or, and, sub, xor, cmp of a register */
		return 1 + modrm_length(at + 1);
	if (opcode == 0x63 || (opcode >= 0x84 && opcode <= 0x8b) || opcode == 0x8d)
		return 1 + modrm_length(at + 1);
	if (opcode == 0x83 || opcode == 0xc0 || opcode == 0xc1 || opcode == 0xc6 || opcode == 0x6b || opcode == 0x80)
		return 2 + modrm_length(at + 1);
	if (opcode == 0x81 || opcode == 0xc7 || opcode == 0x69)
		return 1 + immediate + modrm_length(at + 1);
	if (opcode >= 0xb8 && opcode <= 0xbf)
		return 1 + (is_wide ? 8 : immediate);
	return 0;
}

/* At least 16 bytes must be readable. */
static struct instruction decode(const uint8_t *at)
{
	struct instruction i = {.code = at};
	bool is_short = false;

	for (; i.prefixes < 3; i.prefixes++, i.code++) {
		is_short |= *i.code == PREFIX_OPERAND;
		if (*i.code != PREFIX_OPERAND && *i.code != 0xf2 && *i.code != 0xf3 && *i.code != 0x64 &&
		    *i.code != 0x65)
			break;
	}
	if ((*i.code & 0xf0) == 0x40) {
		i.rex = *i.code & 15;
		i.prefixes++;
		i.code++;
	}
	i.length = opcode_length(i.code, i.rex & REX_W, is_short);
	return i;
}

static bool is_set_frame_pointer(const struct instruction *i)
{
	return i->rex == REX_W &&
	       ((i->code[0] == 0x89 && i->code[1] == 0xe5) || (i->code[0] == 0x8b && i->code[1] == 0xec));
}

/* sub $N,%rsp; negative: the instruction changes the stack pointer in another way. */
static int64_t stack_growth(const struct instruction *i)
{
	bool is_byte = i->code[0] == 0x83, is_arithmetic = is_byte || i->code[0] == 0x81;

	if (!is_arithmetic || i->rex != REX_W || (i->code[1] >> 6) != 3 || (i->code[1] & 7) != MODRM_RSP)
		return 0;
	if (is_byte && (i->code[1] >> 3 & 7) == 4 && (int8_t)i->code[2] == -16)
		return 0; /* and $-16: no more than the padding below the frame pointer, which is aligned itself */
	if ((i->code[1] >> 3 & 7) != 5)
		return (i->code[1] >> 3 & 7) == 7 ? 0 : -1; /* cmp does not change it */
	return is_byte ? (int8_t)i->code[2]
		       : (int64_t)(int32_t)((uint32_t)i->code[2] | (uint32_t)i->code[3] << 8 |
					    (uint32_t)i->code[4] << 16 | (uint32_t)i->code[5] << 24);
}

/* call rel32; call *register or *memory: 0xff with 2 in the middle of ModRM, which may be preceded by a REX prefix. */
bool prologue_is_call(const uint8_t code[CALL_BYTES])
{
	if (code[CALL_BYTES - 5] == 0xe8)
		return true;
	for (unsigned length = 2; length < CALL_BYTES + 1; length++) {
		const uint8_t *at = code + CALL_BYTES - length;

		if (at[0] == 0xff && (at[1] >> 3 & 7) == 2 && modrm_length(at + 1) == length - 1)
			return true;
	}
	return false;
}

bool prologue_calls(const uint8_t code[CALL_BYTES], int64_t distance)
{
	int32_t relative;

	memcpy(&relative, code + CALL_BYTES - sizeof(relative), sizeof(relative));
	return code[CALL_BYTES - 5] == 0xe8 && relative == distance;
}

/* sub %REGISTER,%rsp, by gcc; mov %REGISTER,%rsp, by clang. From %rbp it is moved by epilogues. */
bool prologue_is_of_any_size(const uint8_t *code, size_t size)
{
	for (size_t at = 0; at + 3 <= size; at++)
		if ((code[at] == 0x48 || code[at] == 0x4c) && (code[at + 1] == 0x29 || code[at + 1] == 0x89) &&
		    (code[at + 2] & 0xc7) == 0xc4 && memcmp(code + at, "\x48\x89\xec", 3))
			return true;
	return false;
}

/* Where push %rbp is directly followed by mov %rsp,%rbp; 0: nowhere. With a REX prefix it is push %r13. */
static size_t find_pair(const uint8_t *code, size_t size)
{
	for (size_t at = 0; at + 4 <= size; at++)
		if ((!memcmp(code + at, "\x55\x48\x89\xe5", 4) || !memcmp(code + at, "\x55\x48\x8b\xec", 4)) &&
		    !(at && (code[at - 1] & (0xf0 | REX_B)) == (0x40 | REX_B)))
			return at;
	return 0;
}

bool prologue_distance(const uint8_t *code, size_t size, uint64_t *ret)
{
	bool has_saved = false, has_set = false;
	size_t at = find_pair(code, size);
	uint64_t distance = 0;

	while (at + 16 <= size) {
		struct instruction i = decode(code + at);
		int64_t growth;

		if (!i.length)
			break;
		at += i.prefixes + i.length;
		growth = stack_growth(&i);
		if ((i.code[0] & 0xf8) == PUSH + 8)
			break; /* a pop: the function has returned before its call */
		if (!has_saved)
			has_saved = i.code[0] == PUSH_RBP && !(i.rex & REX_B);
		else if (!has_set)
			has_set = is_set_frame_pointer(&i);
		else if ((i.code[0] & 0xf8) == PUSH)
			distance += 8;
		else if (growth < 0)
			return false;
		else
			distance += (uint64_t)growth;
		/* A function with variable arguments makes room for them before it aligns the stack. */
		if (growth > 0 && has_set && memcmp(code + at, "\x48\x83\xe4\xf0", 4) != 0)
			break;
	}
	*ret = distance;
	return has_set;
}
