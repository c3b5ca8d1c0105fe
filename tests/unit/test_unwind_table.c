/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of an unwind table built here, intact, truncated and damaged: nothing outside of it may be read. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef HAVE_UNWIND
#include "runtime/recorder/stack/unwind_table.h"

enum { PAGE = 4096, CODE = 64, CODE_BYTES = 16, MOST = 512 };
enum { ADVANCE = 0x40, OFFSET = 0x80, DEF_CFA = 0x0c, DEF_CFA_REGISTER, DEF_CFA_OFFSET, DEF_CFA_EXPRESSION };
enum { UNDEFINED = 0x07, REMEMBER = 0x0a, RESTORE = 0x0b, EXPRESSION = 0x10 };

/* An object: .eh_frame_hdr, .eh_frame and the address range of one function, without its code. Offsets are from its
 * start. */
static struct {
	uint8_t bytes[MOST];
	unsigned size, code;
} image;

static uint8_t *memory; /* two pages that can be read between two that cannot */

static void put(const void *bytes, unsigned count)
{
	memcpy(image.bytes + image.size, bytes, count);
	image.size += count;
}

static void put_byte(unsigned value)
{
	put(&(uint8_t){(uint8_t)value}, 1);
}

static void put_word(unsigned at, unsigned value)
{
	memcpy(image.bytes + at, &(uint32_t){value}, 4);
}

/* Pads an entry to a multiple of 8 with DW_CFA_nop. */
static void end_entry(unsigned start)
{
	while ((image.size - start) % 8)
		put_byte(0);
	put_word(start, image.size - start - 4);
}

static void make_image(const char *augmentation, const uint8_t *instructions, unsigned count)
{
	static const uint8_t header[] = {1, 0x1b, 0x03, 0x3b}; /* pcrel sdata4, udata4, datarel sdata4 */
	const uint8_t initial[] = {DEF_CFA, UNWIND_SP, 8, OFFSET | UNWIND_RA, 1};
	unsigned cie, fde;

	memset(&image, 0, sizeof(image));
	put(header, sizeof(header));
	image.size = cie = 24;
	put_word(4, cie - 4);
	put_word(8, 1);
	image.size += 8;
	put_byte(1);
	put(augmentation, (unsigned)strlen(augmentation) + 1);
	put_byte(1);
	put_byte(0x78); /* -8 */
	put_byte(UNWIND_RA);
	put_byte(1);
	put_byte(0x1b);
	put(initial, sizeof(initial));
	end_entry(cie);
	fde = image.size;
	put_word(fde + 4, fde + 4 - cie);
	image.size += 16;
	put_byte(0);
	put(instructions, count);
	end_entry(fde);
	put_byte(0);
	end_entry(image.size - 1);
	image.code = image.size;
	image.size += CODE_BYTES;
	put_word(fde + 8, image.code - (fde + 8));
	put_word(fde + 12, CODE_BYTES);
	put_word(12, image.code);
	put_word(16, fde);
}

/* push fp; mov sp, fp; ...: a row from the 1st byte on, from the 2nd and from the 5th. */
static const uint8_t with_pointer[] = {
	ADVANCE | 1, DEF_CFA_OFFSET, 16, OFFSET | UNWIND_FP, 2, ADVANCE | 3, DEF_CFA_REGISTER, UNWIND_FP};

static void map_memory(void)
{
	memory = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	memory += PAGE;
	cr_assert_eq(mprotect(memory, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
}

TestSuite(unwind_table, .init = map_memory);

/* Places the image at one end of the readable pages: at the upper end if `size` is less than the whole image. The
 * code's addresses are outside of them. */
static bool row_of(unsigned size, unsigned offset, struct unwind_row *ret)
{
	uint8_t *at = size < image.size ? memory + 2 * PAGE - (size + 7) / 8 * 8 : memory;

	memcpy(at, image.bytes, size);
	return unwind_table_row(&(struct unwind_object){(uintptr_t)at, (uintptr_t)at + size, (uintptr_t)at},
				(uintptr_t)at + image.code + offset, ret);
}

static void is_cfa(const struct unwind_row *row, unsigned number, int64_t offset)
{
	cr_assert_eq(row->cfa.how, UNWIND_REGISTER);
	cr_assert_eq(row->cfa.number, number);
	cr_assert_eq(row->cfa.offset, offset);
	cr_assert_eq(row->ra.how, UNWIND_SAVED);
	cr_assert_eq(row->ra.offset, -8);
	cr_assert_eq(row->ra_column, UNWIND_RA);
}

Test(unwind_table, gives_the_row_of_each_instruction)
{
	struct unwind_row row;

	make_image("zR", with_pointer, sizeof(with_pointer));
	for (unsigned i = 0; i < CODE_BYTES; i++) {
		cr_assert(row_of(image.size, i, &row));
		is_cfa(&row, i < 4 ? UNWIND_SP : UNWIND_FP, i < 1 ? 8 : 16);
		cr_assert_eq(row.fp.how, i < 1 ? UNWIND_SAME : UNWIND_SAVED);
		cr_assert(i < 1 || row.fp.offset == -16);
		cr_assert_not(row.is_signal_frame);
	}
}

Test(unwind_table, gives_no_row_beside_the_function)
{
	struct unwind_row row;

	make_image("zR", with_pointer, sizeof(with_pointer));
	cr_assert_not(row_of(image.size, (unsigned)-1, &row));
	cr_assert_not(row_of(image.size, CODE_BYTES, &row));
	cr_assert_not(row_of(image.size, CODE_BYTES + 1000000, &row));
}

Test(unwind_table, tells_a_signal_frame)
{
	struct unwind_row row;

	make_image("zRS", with_pointer, sizeof(with_pointer));
	cr_assert(row_of(image.size, 0, &row));
	cr_assert(row.is_signal_frame);
}

Test(unwind_table, tells_the_outermost_frame)
{
	const uint8_t outermost[] = {UNDEFINED, UNWIND_RA};
	struct unwind_row row;

	make_image("zR", outermost, sizeof(outermost));
	cr_assert(row_of(image.size, 0, &row));
	cr_assert_eq(row.ra.how, UNWIND_UNDEFINED);
}

Test(unwind_table, copies_the_expressions_of_a_realigned_frame)
{
	const uint8_t realigned[] = {DEF_CFA_EXPRESSION, 3, 0x76, 0x78, 0x06, EXPRESSION, UNWIND_FP, 2, 0x76, 0};
	struct unwind_row row;

	make_image("zR", realigned, sizeof(realigned));
	cr_assert(row_of(image.size, 3, &row));
	cr_assert_eq(row.cfa.how, UNWIND_EXPRESSION);
	cr_assert_arr_eq(row.cfa.expression, &realigned[1], 4);
	cr_assert_eq(row.fp.how, UNWIND_EXPRESSION);
	cr_assert_arr_eq(row.fp.expression, &realigned[7], 3);
}

Test(unwind_table, follows_four_remembered_states_and_no_more)
{
	uint8_t nested[11];
	struct unwind_row row;

	for (unsigned depth = 1; depth <= 5; depth++) {
		memset(nested, REMEMBER, depth);
		memset(nested + depth, RESTORE, depth);
		make_image("zR", nested, 2 * depth);
		cr_assert_eq(row_of(image.size, 0, &row), depth <= 4, "%u states", depth);
	}
}

Test(unwind_table, takes_no_table_that_cannot_be_searched)
{
	static const uint8_t damage[][2] = {{0, 2}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {3, 0x1b}};
	struct unwind_row row;
	struct unwind_object none = {(uintptr_t)memory, (uintptr_t)memory + PAGE, 0};

	cr_assert_not(unwind_table_row(&none, (uintptr_t)memory + 8, &row));
	for (unsigned i = 0; i < sizeof(damage) / sizeof(*damage); i++) {
		make_image("zR", with_pointer, sizeof(with_pointer));
		image.bytes[damage[i][0]] = damage[i][1];
		cr_assert_not(row_of(image.size, 0, &row), "byte %u is %#x", damage[i][0], damage[i][1]);
	}
}

Test(unwind_table, takes_no_more_entries_than_the_object_has_room_for)
{
	struct unwind_row row;

	make_image("zR", with_pointer, sizeof(with_pointer));
	put_word(8, (image.size - 12) / 8 + 1);
	cr_assert_not(row_of(image.size, 0, &row));
	put_word(8, UINT32_MAX);
	cr_assert_not(row_of(image.size, 0, &row));
	put_word(8, 0);
	cr_assert_not(row_of(image.size, 0, &row));
}

Test(unwind_table, reads_nothing_beyond_a_truncated_object)
{
	struct unwind_row whole, row;
	unsigned found = 0;

	make_image("zR", with_pointer, sizeof(with_pointer));
	cr_assert(row_of(image.size, 5, &whole));
	for (unsigned size = 0; size < image.size; size++) {
		/* The missing bytes may be padding: the result is the same row, or none. */
		if (row_of(size, 5, &row)) {
			found++;
			is_cfa(&row, UNWIND_FP, 16);
		}
	}
	cr_assert_leq(found, image.size - image.code + 16);
	cr_assert_gt(found, 0);
}

Test(unwind_table, reads_nothing_outside_for_any_damaged_byte)
{
	struct unwind_row row;
	uint8_t kept;

	make_image("zRS", with_pointer, sizeof(with_pointer));
	for (unsigned i = 0; i < image.code; i++) {
		kept = image.bytes[i];
		for (unsigned value = 0; value < 256; value++) {
			image.bytes[i] = (uint8_t)value;
			row_of(image.size, 5, &row);
			row_of(image.code, 5, &row);
		}
		image.bytes[i] = kept;
	}
	cr_assert(row_of(image.size, 5, &row));
}

Test(unwind_table, reads_nothing_outside_for_any_instructions)
{
	uint8_t instructions[64];
	struct unwind_row row;
	unsigned found = 0;

	srandom(1);
	for (unsigned i = 0; i < 100000; i++) {
		for (unsigned j = 0; j < sizeof(instructions); j++)
			instructions[j] = (uint8_t)(random() % 4 ? random() % 32 : random());
		make_image("zR", instructions, sizeof(instructions));
		found += row_of(image.size, 5, &row);
	}
	cr_assert_gt(found, 0);
	cr_assert_lt(found, 100000);
}

/* A length that leads back to its own instruction. */
Test(unwind_table, ends_a_program_that_goes_round)
{
	const uint8_t round[] = {DEF_CFA_EXPRESSION, 0xf5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	struct unwind_row row;

	make_image("zR", round, sizeof(round));
	cr_assert_not(row_of(image.size, 5, &row));
}
#else
Test(unwind_table, is_not_built_without_libunwind)
{
	cr_skip_test("built without libunwind's reader");
}
#endif
