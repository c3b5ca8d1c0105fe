/* SPDX-License-Identifier: Apache-2.0 */
/* One step of a stack walk, by call frame information that the assembler writes for functions of this program. */
#include <criterion/criterion.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "report/names/unwind.h"

/* `words` of memory begin at BASE; elsewhere an address below READABLE contains itself and CONTENT. */
enum { SP = 16, BX = 3, R12 = 12, R13, R14, R15, VALUE = 0x77, CONTENT = 0x1000, READABLE = 0x10000, BASE = 1 << 20 };

static struct symbol_file *file;
static uint64_t bias, words[256], asked_function;

static bool read_word(void *context, uint64_t address, uint64_t *ret)
{
	if (address - BASE < sizeof(words))
		*ret = words[(address - BASE) / 8];
	else
		*ret = address + CONTENT;
	return address < READABLE || address - BASE < sizeof(words);
}

static bool is_return(void *context, uint64_t address, uint64_t function)
{
	asked_function = function;
	return address == (uint64_t)context;
}

static int take_bias(struct dl_phdr_info *info, size_t size, void *data)
{
	bias = info->dlpi_addr;
	return 1;
}

static void begin(void)
{
	dl_iterate_phdr(take_bias, NULL);
	if (symbol_file_open("/proc/self/exe", NULL, &file) == -ENOTSUP)
		cr_skip_test("a build without elfutils");
}

static void end(void)
{
	symbol_file_close(file);
}

TestSuite(unwind, .init = begin, .fini = end);

/* Steps from an instruction; `r` has the stack pointer and what else is known. */
static enum unwind_outcome step(const void *code, struct unwind_registers *r, bool *is_call)
{
	struct unwind_memory memory = {read_word, is_return, (void *)0x5ca1ab1e};

	r->value[UNWIND_PC] = (uint64_t)code;
	r->known |= 1u << UNWIND_PC | 1u << UNWIND_SP;
	return unwind_step(file, bias, &memory, r, is_call);
}

/* ---- expressions ---- */

/* A function whose frame address is an expression of `size` bytes. */
#define FRAME_IS(name, size, bytes)                                                            \
	asm(".pushsection .text\n.type " #name ",@function\n.cfi_sections .eh_frame\n" #name ":\n" \
	    ".cfi_startproc\n.cfi_escape 0x0f," #size "," bytes "\nnop\nnop\nnop\nnop\n.cfi_endproc\n.size " #name \
	    ",.-" #name "\n.popsection\n");                                                    \
	extern const char name[];

#define PLUS_32 ",0x23,32"
/* two values, the operation, and 32 */
#define TWO(name, operation, a, b) FRAME_IS(name, 7, "8," #a ",8," #b "," #operation PLUS_32)
/* the first value is negative */
#define NEGATIVE(name, operation, a, b) FRAME_IS(name, 7, "9," #a ",8," #b "," #operation PLUS_32)

#define TIMES_8(bytes) bytes "," bytes "," bytes "," bytes "," bytes "," bytes "," bytes "," bytes

TWO(plus, 0x22, 0x30, 5)
TWO(minus, 0x1c, 0x30, 5)
TWO(and, 0x1a, 0x36, 0x1c)
TWO(or, 0x21, 0x36, 0x1c)
TWO(xor, 0x27, 0x36, 0x1c)
TWO(mul, 0x1e, 6, 7)
TWO(shl, 0x24, 3, 4)
TWO(shl_63, 0x24, 1, 63)
TWO(shl_64, 0x24, 1, 64)
TWO(shr, 0x25, 0x80, 3)
TWO(shr_64, 0x25, 0x80, 64)
NEGATIVE(shr_63, 0x25, -1, 63)
TWO(eq, 0x29, 5, 5)
TWO(eq_not, 0x29, 5, 6)
TWO(ne, 0x2e, 5, 6)
TWO(ne_not, 0x2e, 5, 5)
TWO(ge, 0x2a, 5, 5)
TWO(ge_not, 0x2a, 4, 5)
NEGATIVE(ge_signed, 0x2a, -1, 1)
TWO(gt, 0x2b, 6, 5)
TWO(gt_not, 0x2b, 5, 5)
NEGATIVE(gt_signed, 0x2b, -1, 1)
TWO(le, 0x2c, 5, 5)
TWO(le_not, 0x2c, 6, 5)
NEGATIVE(le_signed, 0x2c, -1, 1)
TWO(lt, 0x2d, 4, 5)
TWO(lt_not, 0x2d, 5, 5)
NEGATIVE(lt_signed, 0x2d, -1, 1)
FRAME_IS(lit31, 1, "0x4f")
FRAME_IS(const2u, 3, "0x0a,0x34,0x12")
FRAME_IS(consts, 4, "0x11,0xc0,0x00,0x96") /* and nothing done */
FRAME_IS(twice, 4, "8,16,0x12,0x22")
FRAME_IS(content, 3, "8,64,0x06")
FRAME_IS(of_sp, 2, "0x77,8")
FRAME_IS(of_sp_by_number, 3, "0x92,7,8")
FRAME_IS(of_pc, 3, "0x92,16,8")
FRAME_IS(is_r12, 1, "0x5c")
FRAME_IS(is_r12_by_number, 2, "0x90,12")
FRAME_IS(deep_32, 32, TIMES_8("0x41") "," TIMES_8("0x42") "," TIMES_8("0x43") "," TIMES_8("0x44"))

Test(unwind, the_frame_address_may_be_an_expression)
{
	static const struct {
		const char *code;
		uint64_t wanted;
	} cases[] = {
		{plus, 0x55}, {minus, 0x4b}, {and, 0x34}, {or, 0x5e}, {xor, 0x4a}, {mul, 42 + 32}, {shl, 48 + 32},
		{shl_63, (1ull << 63) + 32}, {shl_64, 32}, {shr, 48}, {shr_64, 32}, {shr_63, 33},
		{eq, 33}, {eq_not, 32}, {ne, 33}, {ne_not, 32}, {ge, 33}, {ge_not, 32}, {ge_signed, 32}, {gt, 33},
		{gt_not, 32}, {gt_signed, 32}, {le, 33}, {le_not, 32}, {le_signed, 33}, {lt, 33}, {lt_not, 32},
		{lt_signed, 33},
		{lit31, 31}, {const2u, 0x1234}, {consts, 64}, {twice, 32}, {content, 64 + CONTENT}, {of_sp, SP + 8},
		{of_sp_by_number, SP + 8}, {is_r12, VALUE}, {is_r12_by_number, VALUE}, {deep_32, 0x14},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unwind_registers r = {.value = {[UNWIND_SP] = SP, [R12] = VALUE},
					     .known = 1u << R12};
		bool is_call = false, is_read = cases[i].wanted < READABLE;

		words[0] = 0;
		cr_expect_eq(step(cases[i].code, &r, &is_call), is_read ? UNWIND_GOES_ON : UNWIND_STOPPED, "%zu", i);
		if (!is_read) /* where the return address would be */
			continue;
		cr_expect(is_call);
		cr_expect_eq(r.value[UNWIND_SP], cases[i].wanted, "%zu: 0x%llx", i,
			     (unsigned long long)r.value[UNWIND_SP]);
		cr_expect_eq(r.value[UNWIND_PC], cases[i].wanted - 8 + CONTENT, "%zu", i);
		cr_expect_eq(r.known, 1u << R12 | 1u << UNWIND_SP | 1u << UNWIND_PC, "%zu: 0x%x", i, r.known);
		cr_expect_eq(r.value[R12], VALUE);
	}
}

FRAME_IS(drop, 3, "8,64,0x13")
FRAME_IS(two_of_one, 3, "8,64,0x22")
FRAME_IS(dup_of_none, 1, "0x12")
FRAME_IS(uconst_of_none, 2, "0x23,64")
FRAME_IS(content_of_none, 1, "0x06")
FRAME_IS(unreadable, 6, "0x0c,0,0,2,0,0x06")
FRAME_IS(unknown, 2, "0x7c,8")
FRAME_IS(no_such, 3, "0x92,17,8")
FRAME_IS(deep_33, 33, TIMES_8("0x41") "," TIMES_8("0x42") "," TIMES_8("0x43") "," TIMES_8("0x44") ",0x45")
FRAME_IS(same_as_sp, 2, "8,16")
FRAME_IS(above_sp, 2, "8,17")

Test(unwind, an_expression_that_cannot_be_evaluated_stops_it)
{
	static const char *const cases[] = {drop, two_of_one, dup_of_none, uconst_of_none, content_of_none, unreadable,
					    unknown, no_such, deep_33, same_as_sp};
	struct unwind_registers r;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		r = (struct unwind_registers){.value = {[UNWIND_SP] = SP}};
		cr_expect_eq(step(cases[i], &r, &(bool){false}), UNWIND_STOPPED, "%zu", i);
		cr_expect_eq(r.value[UNWIND_SP], SP, "%zu: it is left as it was", i);
	}
	r = (struct unwind_registers){.value = {[UNWIND_SP] = SP}};
	cr_expect_eq(step(above_sp, &r, &(bool){false}), UNWIND_GOES_ON, "a caller's frame is above");
	r = (struct unwind_registers){.value = {[UNWIND_SP] = SP}};
	cr_expect_eq(step((const char *)take_bias - bias, &r, &(bool){false}), UNWIND_STOPPED, "no function is there");
}

/* ---- rules of registers ---- */

asm(".pushsection .text\n"
    ".type rules,@function\nrules:\n.cfi_startproc\n.cfi_def_cfa 7,32\n.cfi_offset 6,-16\n"
    ".cfi_escape 0x16,3,2,0x23,5\n" /* rbx: 5 above the frame address */
    ".cfi_escape 0x10,12,2,0x23,8\n" /* r12: what is 8 above it */
    ".cfi_undefined 13\n.cfi_register 14,15\nnop\nnop\n.cfi_endproc\n.size rules,.-rules\n"
    ".type outermost,@function\noutermost:\n.cfi_startproc\n.cfi_undefined 16\nnop\nnop\n.cfi_endproc\n"
    ".size outermost,.-outermost\n"
    ".type handler,@function\nhandler:\n.cfi_startproc\n.cfi_signal_frame\n.cfi_def_cfa 7,48\nnop\nnop\n"
    ".cfi_endproc\n.size handler,.-handler\n.popsection\n");
extern const char rules[], outermost[], handler[];

Test(unwind, registers_have_rules)
{
	struct unwind_registers r = {.value = {[UNWIND_SP] = SP, [R13] = 13, [R15] = 15},
				     .known = 1u << R13 | 1u << R15};
	bool is_call = false;

	cr_assert_eq(step(rules, &r, &is_call), UNWIND_GOES_ON);
	cr_expect_eq(r.value[UNWIND_SP], SP + 32);
	cr_expect_eq(r.value[UNWIND_FP], SP + 32 - 16 + CONTENT);
	cr_expect_eq(r.value[BX], SP + 32 + 5, "a value");
	cr_expect_eq(r.value[R12], SP + 32 + 8 + CONTENT, "what is at an address");
	cr_expect_eq(r.value[R14], 15, "that of another register");
	cr_expect_eq(r.value[R15], 15, "its own");
	cr_expect_eq(r.known, 1u << UNWIND_SP | 1u << UNWIND_FP | 1u << BX | 1u << R12 | 1u << R14 | 1u << R15 |
			      1u << UNWIND_PC, "0x%x", r.known);
	r = (struct unwind_registers){.value = {[UNWIND_SP] = SP}};
	cr_expect_eq(step(outermost, &r, &(bool){false}), UNWIND_ENDED);
}

/* A return address may be that of the function behind; where a signal arrived it is not. */
Test(unwind, the_call_is_before_its_return_address)
{
	struct unwind_registers r = {.value = {[UNWIND_SP] = SP}};
	bool is_call = true;

	cr_expect_eq(step(handler, &r, &is_call), UNWIND_ENDED, "the call is in the function before");
	is_call = false;
	cr_expect_eq(step(handler, &r, &is_call), UNWIND_GOES_ON);
	cr_expect_eq(r.value[UNWIND_SP], SP + 48);
	cr_expect_not(is_call);
	r = (struct unwind_registers){.value = {[UNWIND_SP] = SP}};
	is_call = true;
	cr_expect_eq(step(handler + 1, &r, &is_call), UNWIND_GOES_ON);
	r = (struct unwind_registers){.value = {[UNWIND_SP] = BASE}};
	memset(words, 0, sizeof(words));
	is_call = false;
	cr_expect_eq(step(handler, &r, &is_call), UNWIND_ENDED, "the return address is 0");
}

/* ---- frame pointers that nobody saved ---- */

asm(".pushsection .text\n"
    ".type framed,@function\nframed:\n.cfi_startproc\npushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n"
    "movq %rsp,%rbp\n.cfi_def_cfa_register 6\nsubq $32,%rsp\ncall framed\nframed_return:\nleave\n"
    ".cfi_def_cfa 7,8\nret\n.cfi_endproc\n.size framed,.-framed\n"
    ".type sized,@function\nsized:\n.cfi_startproc\npushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n"
    "movq %rsp,%rbp\n.cfi_def_cfa_register 6\nsubq $32,%rsp\nsubq %rax,%rsp\ncall sized\nsized_return:\nleave\n"
    ".cfi_def_cfa 7,8\nret\n.cfi_endproc\n.size sized,.-sized\n.fill 256,1,0x90\n.popsection\n");
extern const char framed[], framed_return[], sized[], sized_return[];

/* Steps from the function, whose saved frame pointer and return address are `at` bytes above its stack pointer. */
static enum unwind_outcome step_framed(const void *code, size_t at, struct unwind_registers *r)
{
	bool is_call = true;

	memset(words, 0, sizeof(words));
	words[at / 8] = BASE + 4096;
	words[at / 8 + 1] = 0x5ca1ab1e;
	*r = (struct unwind_registers){.value = {[UNWIND_SP] = BASE}};
	return step(code, r, &is_call);
}

Test(unwind, a_frame_pointer_is_found_by_the_prologue)
{
	struct unwind_registers r;

	cr_assert_eq(step_framed(framed_return, 32, &r), UNWIND_GOES_ON, "nothing was pushed for the call");
	cr_expect_eq(r.value[UNWIND_SP], BASE + 32 + 16);
	cr_expect_eq(r.value[UNWIND_PC], 0x5ca1ab1e);
	cr_expect_eq(r.value[UNWIND_FP], BASE + 4096);
	cr_expect_eq(asked_function, 0, "of any function");
	cr_expect_eq(step_framed(framed_return, 32 + 240, &r), UNWIND_GOES_ON, "as much as is looked through");
	cr_expect_eq(r.value[UNWIND_SP], BASE + 32 + 240 + 16);
	cr_expect_eq(step_framed(framed_return, 32 + 256, &r), UNWIND_STOPPED, "more");
	cr_expect_eq(step_framed(framed_return, 32 + 8, &r), UNWIND_STOPPED, "it is not aligned");
	cr_expect_eq(step_framed(framed_return, 16, &r), UNWIND_STOPPED, "it is in the frame");
	cr_assert_eq(step_framed(sized_return, 32 + 1024, &r), UNWIND_GOES_ON, "a frame of any size");
	cr_expect_eq(r.value[UNWIND_SP], BASE + 32 + 1024 + 16);
	cr_expect_eq(asked_function, (uint64_t)sized, "the call must be that of the function");
	words[(32 + 1024) / 8 + 1] = 0;
	r = (struct unwind_registers){.value = {[UNWIND_SP] = BASE}};
	cr_expect_eq(step(sized_return, &r, &(bool){true}), UNWIND_STOPPED, "the memory ends");
}

Test(unwind, a_known_frame_pointer_is_taken)
{
	struct unwind_registers r;
	bool is_call = true;

	step_framed(framed_return, 64, &r);
	r = (struct unwind_registers){.value = {[UNWIND_SP] = BASE, [UNWIND_FP] = BASE + 512},
				      .known = 1u << UNWIND_FP};
	words[512 / 8] = 1;
	words[512 / 8 + 1] = 2;
	cr_assert_eq(step(framed_return, &r, &is_call), UNWIND_GOES_ON);
	cr_expect_eq(r.value[UNWIND_SP], BASE + 512 + 16);
	cr_expect_eq(r.value[UNWIND_FP], 1);
	cr_expect_eq(r.value[UNWIND_PC], 2);
}

/* ---- code ---- */

Test(unwind, code_is_that_of_the_file)
{
	uint8_t code[4];
	uint64_t start;

	cr_assert(symbol_file_code(file, (uint64_t)plus - bias, code, sizeof(code)));
	cr_expect_arr_eq(code, "\x90\x90\x90\x90", 4);
	cr_assert(symbol_file_function(file, (uint64_t)framed_return - bias, &start));
	cr_expect_eq(start, (uint64_t)framed - bias);
	cr_expect_not(symbol_file_code(file, 1ull << 40, code, sizeof(code)));
	cr_expect_not(symbol_file_code(file, 0, code, 1ull << 40), "more than a segment has");
}
