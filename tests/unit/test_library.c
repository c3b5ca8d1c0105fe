/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "preload/library/library.h"
#include "recorder.h"

RECORDER_FUNCTIONS({"alpha", TF_GROUP_CUBLAS});

static void assert_fields(const struct tf_operation *op, unsigned int count, const uint8_t *fields,
			  const int64_t *values)
{
	cr_assert_eq(op->count, count);
	for (unsigned int i = 0; i < count; i++) {
		cr_expect_eq(op->fields[i], fields[i], "field %u is %u", i, op->fields[i]);
		cr_expect_eq(op->values[i], values[i], "value %u is %ld", i, (long)op->values[i]);
	}
}

static void collect(struct tf_operation *op, const struct library_shape *shape, const uintptr_t *words, bool is_wide,
		    int result)
{
	library_collect(op, shape, &(struct library_returned){words, NULL, result, is_wide});
}

Test(library, an_int_has_no_upper_half_but_in_functions_of_64_bits)
{
	static const struct library_shape shape = {
	    2, 0, 0, {{TF_FIELD_M, LIBRARY_INT, 1, 0}, {TF_FIELD_MODE, LIBRARY_ENUM, 2, 0}}};
	const uintptr_t words[] = {0, 0xabcd00000007, 0xabcdffffffff};
	struct tf_operation narrow = {0}, wide = {0};

	collect(&narrow, &shape, words, false, 0);
	assert_fields(&narrow, 2, (const uint8_t[]){TF_FIELD_M, TF_FIELD_MODE}, (const int64_t[]){7, -1});
	collect(&wide, &shape, words, true, 0);
	assert_fields(&wide, 2, (const uint8_t[]){TF_FIELD_M, TF_FIELD_MODE}, (const int64_t[]){0xabcd00000007, -1});
}

Test(library, tells_what_was_noted_of_a_handle_in_the_operands_role)
{
	static const struct library_shape made = {
	    2, LIBRARY_KEY_AT, 1, {{TF_FIELD_M, LIBRARY_WIDE, 2, 0}, {TF_FIELD_N, LIBRARY_WIDE, 3, 0}}};
	static const struct library_shape used = {1, 0, 0, {{TF_ROLE_B, LIBRARY_OF, 1, 0}}};
	const uintptr_t words[] = {0, 0x1000, 5, 6}, again[] = {0, 0x1000, 8, 9};
	struct tf_operation op = {0};

	library_note(&made, &(struct library_returned){.words = words});
	library_note(&made, &(struct library_returned){.words = again});
	library_note_field(0x1000, TF_FIELD_N, 10);
	library_note_field(0x1000, TF_FIELD_BATCH, 3);
	collect(&op, &used, words, false, 0);
	assert_fields(&op, 3,
		      (const uint8_t[]){TF_FIELD_M | TF_ROLE_B, TF_FIELD_N | TF_ROLE_B, TF_FIELD_BATCH | TF_ROLE_B},
		      (const int64_t[]){8, 10, 3});
}

Test(library, an_unknown_handle_tells_nothing_and_null_is_none)
{
	static const struct library_shape used = {2, 0, 0, {{0, LIBRARY_OF, 1, 0}, {0, LIBRARY_OF, 2, 0}}};
	struct tf_operation op = {0};

	library_note_field(0, TF_FIELD_M, 1);
	collect(&op, &used, (const uintptr_t[]){0, 0, 0x2000}, false, 0);
	cr_expect_eq(op.count, 0);
}

Test(library, lists_of_calls_that_failed_are_not_read)
{
	static const struct library_shape shape = {1, 0, 0, {{TF_FIELD_DIMENSION, LIBRARY_LIST, 1, 2}}};
	const int list[] = {4, 5, 6};
	struct tf_operation op = {0};

	collect(&op, &shape, (const uintptr_t[]){0, 3, 1}, false, 1);
	cr_expect_eq(op.count, 0);
	collect(&op, &shape, (const uintptr_t[]){0, 3, (uintptr_t)list}, false, 0);
	assert_fields(&op, 3, (const uint8_t[]){TF_FIELD_DIMENSION, TF_FIELD_DIMENSION, TF_FIELD_DIMENSION},
		      (const int64_t[]){4, 5, 6});
}

Test(library, more_fields_than_there_is_room_for_are_left_out)
{
	struct tf_operation op = {0};

	for (int i = 0; i < 40; i++)
		library_field(&op, TF_FIELD_DIMENSION, i);
	cr_expect_eq(op.count, TF_OPERATION_FIELDS);
	library_note_all(0x3000, &op);
	library_append(&op, 0x3000, TF_ROLE_A);
	cr_expect_eq(op.count, TF_OPERATION_FIELDS);
}

Test(library, operations_are_one_if_all_of_their_values_are)
{
	struct tf_operation op = {.count = 3, .fields = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K}, .values = {1, 2, 3}};
	uint32_t first;

	cr_assert(recording_begin());
	cr_assert(hook_attached());
	first = library_intern(&op);
	cr_expect_neq(first, 0);
	cr_expect_eq(library_intern(&op), first);
	op.values[2] = 4;
	cr_expect_neq(library_intern(&op), first);
	op.values[2] = 3;
	op.values[3] = 5; /* not one of its three */
	cr_expect_eq(library_intern(&op), first);
	cr_expect_eq(library_intern(&(struct tf_operation){0}), 0);
	cr_assert(recording_end());
}
