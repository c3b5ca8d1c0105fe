/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "report/read/operation.h"

static struct tf_operation of(unsigned int count, const uint8_t *fields, const int64_t *values)
{
	struct tf_operation op = {.count = (uint8_t)count};

	memcpy(op.fields, fields, count);
	memcpy(op.values, values, count * sizeof(*values));
	return op;
}
#define OPERATION(count, fields, values) of(count, (const uint8_t[])fields, (const int64_t[])values)
#define LIST(...) {__VA_ARGS__}

static void assert_text(const struct tf_operation *op, unsigned int group, const char *wanted)
{
	struct buffer text = {0};

	operation_text(op, group, &text);
	cr_expect_str_eq(text.data ? text.data : "", wanted);
	buffer_done(&text);
}

Test(operation, says_fields_with_their_operand)
{
	struct tf_operation op = OPERATION(5,
					   LIST(TF_FIELD_M, TF_FIELD_TRANSPOSE | TF_ROLE_B, TF_FIELD_TYPE | TF_ROLE_C,
						TF_FIELD_COMPUTE, TF_FIELD_ALGORITHM),
					   LIST(7, 2, 14, 77, -1));

	assert_text(&op, TF_GROUP_CUBLAS, "m=7 transB=C typeC=R_16BF compute=32F_FAST_TF32 algo=-1");
}

Test(operation, joins_what_comes_several_times)
{
	struct tf_operation op = OPERATION(5,
					   LIST(TF_FIELD_DIMENSION, TF_FIELD_DIMENSION, TF_FIELD_DIMENSION | TF_ROLE_A,
						TF_FIELD_KIND, TF_FIELD_KIND),
					   LIST(2, 3, 4, 5, 10));

	assert_text(&op, TF_GROUP_CUDNN, "dim=2x3 dimA=4 kind=plan+conv-fwd");
}

Test(operation, numbers_are_those_of_the_library)
{
	struct tf_operation op = OPERATION(2, LIST(TF_FIELD_TYPE, TF_FIELD_COMMUNICATOR), LIST(7, 0x44000000));

	assert_text(&op, TF_GROUP_NCCL, "type=float32 comm=0x44000000");
	assert_text(&op, TF_GROUP_CUDNN, "type=UINT8x4 comm=0x44000000");
	assert_text(&op, TF_GROUP_CUBLAS, "type=C_8I comm=0x44000000");
	assert_text(&op, TF_GROUP_MPI, "type=C_8I comm=world");
}

Test(operation, steps_over_fields_of_later_versions_and_shows_numbers_it_does_not_know)
{
	struct tf_operation op = OPERATION(3, LIST(31, TF_FIELD_TYPE, 0), LIST(1, 12345, 2));

	assert_text(&op, TF_GROUP_NCCL, "type=12345");
}

#define FUNCTION(group, name)                                                                                          \
	((struct function){#name, TF_GROUP_##group, function_kind_of(#name, TF_GROUP_##group)})

Test(operation, counts_products)
{
	const uint8_t fields[] = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K, TF_FIELD_BATCH};
	struct tf_operation op = of(4, fields, (const int64_t[]){10, 20, 30, 4}),
			    plain = of(3, fields, (const int64_t[]){10, 20, 30});

	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSgemm), &plain), 12000);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasZgemm), &plain), 48000);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasXtCgemm), &plain), 48000);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasDgemmBatched), &op), 48000);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSsyrk), &plain), 20 * 21 * 30);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSaxpy), &plain), 0);
	cr_expect_eq(operation_flops(&FUNCTION(NCCL, ncclAllReduce), &plain), 0);
}

Test(operation, complex_by_its_types)
{
	struct tf_operation op =
		OPERATION(4, LIST(TF_FIELD_M, TF_FIELD_N, TF_FIELD_K, TF_FIELD_TYPE | TF_ROLE_A), LIST(1, 2, 3, 5));

	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasGemmEx), &op), 48);
}

/* A product of 2 by 5 by 3, seven times: 420 multiplications and additions. */
Test(operation, a_product_by_its_layouts)
{
	struct tf_operation plain = OPERATION(5, LIST(TF_FIELD_M | TF_ROLE_A, TF_FIELD_N | TF_ROLE_A,
						      TF_FIELD_M | TF_ROLE_D, TF_FIELD_N | TF_ROLE_D,
						      TF_FIELD_BATCH | TF_ROLE_D),
					      LIST(2, 3, 2, 5, 7)),
			    transposed = OPERATION(6, LIST(TF_FIELD_M | TF_ROLE_A, TF_FIELD_N | TF_ROLE_A,
							   TF_FIELD_TRANSPOSE | TF_ROLE_A, TF_FIELD_M | TF_ROLE_C,
							   TF_FIELD_N | TF_ROLE_C, TF_FIELD_TYPE | TF_ROLE_A),
						   LIST(3, 2, 1, 2, 5, 4));

	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasLtMatmul), &plain), 420);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasLtMatmulAlgoGetHeuristic), &plain), 0);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasLtMatmul), &transposed), 4 * 60,
		     "complex, once, without D");
}

Test(operation, products_of_special_matrices)
{
	const uint8_t fields[] = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K, TF_FIELD_MODE, TF_FIELD_BATCH};
	struct tf_operation op = of(5, fields, (const int64_t[]){3, 5, 7, 0, 2});

	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSgemv), &op), 2 * 3 * 5 * 2);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSsymm), &op), 2 * 3 * 5 * 3,
		     "the left one is a square of M");
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasSsyr2k), &op), 2 * 5 * 5 * 7);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasCherk), &op), 4 * 5 * 6 * 7);
}

Test(operation, a_triangle_counts_by_its_side)
{
	struct tf_operation left = OPERATION(3, LIST(TF_FIELD_MODE, TF_FIELD_M, TF_FIELD_N), LIST(0, 3, 5)),
			    right = OPERATION(3, LIST(TF_FIELD_MODE, TF_FIELD_M, TF_FIELD_N), LIST(1, 3, 5));

	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasStrsm), &left), 45);
	cr_expect_eq(operation_flops(&FUNCTION(CUBLAS, cublasStrsm), &right), 75);
}

Test(operation, bytes_of_messages)
{
	const uint8_t fields[] = {TF_FIELD_COUNT, TF_FIELD_TYPE, TF_FIELD_RANKS};
	struct tf_operation op = of(3, fields, (const int64_t[]){100, 7, 8});
	struct tf_operation mpi = OPERATION(2, LIST(TF_FIELD_COUNT, TF_FIELD_ELEMENT), LIST(100, 24)),
			    bad = of(3, fields, (const int64_t[]){100, INT64_MIN, -8});

	cr_expect_eq(operation_bytes(&FUNCTION(NCCL, ncclAllReduce), &op), 400);
	cr_expect_eq(operation_bytes(&FUNCTION(NCCL, ncclAllGather), &op), 3200);
	cr_expect_eq(operation_bytes(&FUNCTION(NCCL, ncclAllReduceConfig), &op), 400);
	cr_expect_eq(operation_bytes(&FUNCTION(NCCL, ncclAllGatherConfig), &op), 3200);
	cr_expect_eq(operation_bytes(&FUNCTION(MPI, MPI_Send), &mpi), 2400);
	cr_expect_eq(operation_bytes(&FUNCTION(NCCL, ncclAllGather), &bad), 0);
}
