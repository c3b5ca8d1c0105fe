/* SPDX-License-Identifier: Apache-2.0 */
/* The floating-point operations of PyTorch's operators, and of functions in PyProf's ranges. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/events/nvtx/operator_marker.h"

/* ---- operator_work ---- */

static bool work_with(const char *name, const char *sizes, const char *arguments, struct operator_work *ret)
{
	struct operator_text t = {.name = {name, strlen(name)}, .sizes = {sizes, strlen(sizes)},
				  .arguments = {arguments, strlen(arguments)}};

	return operator_work(&t, NULL, ret);
}

static bool work_of(const char *name, const char *sizes, const char *result, struct operator_work *ret)
{
	struct operator_text t = {.name = {name, strlen(name)}, .sizes = {sizes, strlen(sizes)}};
	struct operator_field f = {result, result ? strlen(result) : 0};

	return operator_work(&t, result ? &f : NULL, ret);
}

Test(operator_work, counts_the_operations_of_each_form)
{
	static const struct {
		const char *name, *sizes, *result;
		uint64_t flops;
		const char *params;
	} cases[] = {
		{"aten::mm", "[[3, 4], [4, 5]]", NULL, 2 * 3 * 5 * 4, "M=5,N=3,K=4"},
		{"aten::addmm", "[[5], [3, 4], [4, 5], [], []]", NULL, 2 * 3 * 5 * 4, "M=5,N=3,K=4"},
		{"aten::addmm_", "[[3, 5], [3, 4], [4, 5], [], []]", NULL, 2 * 3 * 5 * 4, "M=5,N=3,K=4"},
		{"aten::bmm", "[[7, 3, 4], [7, 4, 5]]", NULL, 2 * 7 * 3 * 5 * 4, "B=7,M=5,N=3,K=4"},
		{"aten::baddbmm", "[[1, 3, 5], [7, 3, 4], [7, 4, 5]]", NULL, 2 * 7 * 3 * 5 * 4, "B=7,M=5,N=3,K=4"},
		{"aten::mv", "[[3, 4], [4]]", NULL, 2 * 3 * 4, "M=1,N=3,K=4"},
		{"aten::dot", "[[4], [4]]", NULL, 2 * 4, "M=1,N=1,K=4"},
		{"aten::matmul", "[[2, 1, 3, 4], [6, 4, 5]]", NULL, 2 * 2 * 6 * 3 * 5 * 4, "B=12,M=5,N=3,K=4"},
		{"aten::linear", "[[2, 3, 4], [5, 4], [5]]", NULL, 2 * 6 * 5 * 4, "M=5,N=6,K=4"},
		{"aten::cudnn_convolution", "[[2, 3, 8, 8], [4, 3, 3, 3]]", "[[2, 4, 6, 6]]", 2 * 2 * 4 * 36 * 27,
		 "N=2,C=3,H=8,W=8,K=4,P=6,Q=6,R=3,S=3,g=1"},
		{"aten::cudnn_convolution", "[[1, 4, 5, 5], [8, 2, 3, 3]]", "[[1, 8, 3, 3]]", 2 * 8 * 9 * 2 * 9,
		 "N=1,C=4,H=5,W=5,K=8,P=3,Q=3,R=3,S=3,g=2"},
		{"aten::cudnn_convolution", "[[2, 4, 9], [6, 4, 3]]", "[[2, 6, 4]]", 2 * 2 * 6 * 4 * 4 * 3,
		 "N=2,C=4,W=9,K=6,Q=4,S=3,g=1"},
		{"aten::cudnn_convolution_transpose", "[[1, 4, 5, 5], [4, 2, 3, 3]]", "[[1, 2, 7, 7]]",
		 2 * 4 * 25 * 2 * 9, "N=1,C=4,H=5,W=5,K=2,P=7,Q=7,R=3,S=3,g=1"},
		{"aten::cudnn_convolution_transpose", "[[1, 4, 5, 5], [4, 4, 2, 2]]", "[[1, 4, 10, 10]]",
		 2 * 4 * 25 * 4 * 4, "N=1,C=4,H=5,W=5,K=4,P=10,Q=10,R=2,S=2,g=1"},
		{"aten::cudnn_convolution", "[[1, 3, 224, 224], [64, 3, 7, 7]]", "[[1, 64, 112, 112]]", /* stride 2 */
		 2 * 64 * 112 * 112 * 3 * 49, "N=1,C=3,H=224,W=224,K=64,P=112,Q=112,R=7,S=7,g=1"},
		{"aten::slow_conv_dilated2d", "[[2, 8, 16, 16], [16, 8, 3, 3]]", "[[2, 16, 16, 16]]",
		 2 * 2 * 16 * 256 * 72, "N=2,C=8,H=16,W=16,K=16,P=16,Q=16,R=3,S=3,g=1"},
		{"aten::_conv_depthwise2d", "[[4, 8, 12, 12], [8, 1, 3, 3]]", "[[4, 8, 12, 12]]", 2 * 4 * 8 * 144 * 9,
		 "N=4,C=8,H=12,W=12,K=8,P=12,Q=12,R=3,S=3,g=8"},
		{"aten::cudnn_convolution", "[[1, 2, 8, 8, 8], [4, 2, 3, 3, 3]]", "[[1, 4, 6, 6, 6]]",
		 2 * 4 * 216 * 54, "N=1,C=2,K=4,g=1"},
		{"aten::cudnn_convolution_transpose", "[[1, 4, 5, 5], [4, 1, 3, 3]]", "[[1, 2, 7, 7]]",
		 2 * 4 * 25 * 9, "N=1,C=4,H=5,W=5,K=2,P=7,Q=7,R=3,S=3,g=2"},
		{"aten::cudnn_convolution_transpose", "[[1, 4, 5, 5], [4, 2, 4, 4]]", "[[1, 2, 12, 12]]", /* stride 2 */
		 2 * 4 * 25 * 2 * 16, "N=1,C=4,H=5,W=5,K=2,P=12,Q=12,R=4,S=4,g=1"},
		{"aten::convolution_backward", "[[1, 4, 3, 3, 3], [1, 2, 5, 5, 5], [4, 2, 3, 3, 3], [], []]", NULL,
		 2 * 4 * 27 * 2 * 27, "N=1,C=2,K=4,g=1"},
		{"aten::convolution_backward", "[[2, 4, 6, 6], [2, 3, 8, 8], [4, 3, 3, 3], [], []]", NULL,
		 2 * 2 * 4 * 36 * 27, "N=2,C=3,H=8,W=8,K=4,P=6,Q=6,R=3,S=3,g=1"},
		{"aten::_scaled_dot_product_flash_attention", "[[2, 3, 5, 8], [2, 3, 7, 8], [2, 3, 7, 8]]", NULL,
		 2 * 2 * 3 * 5 * 7 * (8 + 8), "B=2,H=3,Q=5,K=7,D=8"},
		{"aten::_flash_attention_forward", "[[2, 5, 3, 8], [2, 7, 3, 8], [2, 7, 3, 8]]", NULL,
		 2 * 2 * 3 * 5 * 7 * (8 + 8), "B=2,H=3,Q=5,K=7,D=8"},
		{"aten::_flash_attention_backward", "[[2, 5, 3, 8], [2, 5, 3, 8], [2, 7, 3, 8], [2, 7, 3, 8]]", NULL,
		 2 * 2 * 3 * 5 * 7 * (3 * 8 + 2 * 8), "B=2,H=3,Q=5,K=7,D=8"},
		{"aten::_cudnn_rnn", "[[5, 8, 32], [256, 32], [256, 64], [256], [], [9], [1, 8, 64]]", NULL,
		 2 * 5 * 8 * 256 * (32 + 64), "T=5,B=8,X=32"},
		{"aten::add", "[[3, 4], [3, 4], []]", NULL, 3 * 4, "N=12"},
		{"aten::add_", "[[3, 4], [], []]", NULL, 3 * 4, "N=12"},
		{"aten::mul", "[[7, 1, 4], [3, 1]]", NULL, 7 * 3 * 4, "N=84"},
	};
	struct operator_work work;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert(work_of(cases[i].name, cases[i].sizes, cases[i].result, &work), "%s", cases[i].name);
		cr_expect_eq(work.flops, cases[i].flops, "%s: %" PRIu64, cases[i].name, work.flops);
		cr_expect_str_eq(work.params, cases[i].params, "%s: %s", cases[i].name, work.params);
	}
}

/* By PyProf's formulas. */
Test(operator_work, counts_what_is_done_for_each_element)
{
	static const struct {
		const char *name, *sizes;
		uint64_t flops, elements, more_bytes;
	} cases[] = {
		{"aten::relu", "[[256, 64, 56, 56]]", 51380224, 102760448, 0}, /* 205520896 bytes of fp16 */
		{"aten::relu_", "[[3, 4]]", 12, 24, 0},
		{"aten::threshold_backward", "[[3, 4], [3, 4], []]", 12, 36, 0},
		{"aten::sigmoid", "[[3, 4]]", 20 * 12, 24, 0},
		{"aten::exp_", "[[3, 4]]", 20 * 12, 24, 0},
		{"aten::clamp_min", "[[3, 4], []]", 12, 24, 0},
		{"aten::add", "[[3, 4], [3, 4], []]", 12, 36, 0},
		{"aten::add_", "[[3, 4], [], []]", 12, 12 + 1 + 12, 0},
		{"aten::div", "[[7, 1, 4], [3, 1]]", 84, 28 + 3 + 84, 0},
		{"aten::pow", "[[3, 4], []]", 20 * 12, 12 + 1 + 12, 0},
		{"aten::gt", "[[3, 4], [4]]", 12, 12 + 4, 12},
		{"aten::addcmul_", "[[8, 2], [8, 2], [8, 2], []]", 3 * 16, 4 * 16, 0},
		{"aten::addcdiv", "[[2], [8, 2], [2], []]", 3 * 16, 2 + 16 + 2 + 16, 0},
		{"aten::_softmax", "[[4, 10], [], []]", 40 * 40, 3 * 40, 0},
		{"aten::_softmax_backward_data", "[[4, 10], [4, 10], [], []]", 40 * 40, 5 * 40, 0},
		{"aten::_log_softmax", "[[4, 10], [], []]", 21 * 40, 3 * 40, 0},
		{"aten::native_batch_norm", "[[2, 8, 6, 6], [8], [8], [8], [8], [], [], []]", 8 * 576, 4 * 576, 0},
		{"aten::native_layer_norm_backward", "[[2, 10], [2, 10], [], [2, 1], [2, 1], [10], [10], []]", 8 * 20,
		 5 * 20, 0},
		{"aten::native_dropout", "[[2, 10], [], []]", 5 * 20, 2 * 20, 0},
		{"aten::embedding", "[[50, 10], [2, 3], [], [], []]", 0, 2 * 6 * 10, 6 * 8},
		{"aten::embedding_dense_backward", "[[2, 10], [2], [], [], []]", 0, 3 * 20, 0},
		{"aten::mse_loss", "[[4, 10], [4, 10], []]", 4 * 40 + 1, 2 * 40, 0},
		{"aten::mse_loss_backward", "[[], [4, 10], [4, 10], []]", 6 * 40 + 1, 3 * 40, 0},
		{"aten::mean", "[[4, 10], []]", 41, 41, 0},
		{"aten::sum", "[[4, 10], [], [], []]", 40, 40, 0},
		{"aten::linalg_vector_norm", "[[4, 10], [], [], [], []]", 81, 40, 0},
		{"aten::any", "[[4, 10]]", 0, 40, 0},
		{"aten::copy_", "[[4, 10], [4, 10], []]", 0, 80, 0},
		{"aten::cat", "[[2, 10], [3, 10], []]", 0, 100, 0},
		{"aten::zero_", "[[4, 10]]", 0, 40, 0},
		{"aten::masked_scatter_", "[[4, 10], [4, 10], [7]]", 0, 80, 40},
		{"aten::masked_select", "[[4, 10], [10]]", 0, 80, 10},
		{"aten::nonzero", "[[4, 10]]", 0, 40, 40 * 2 * 8},
		{"aten::half", "[[4, 10]]", 0, 40, 40 * 2},
		{"aten::_foreach_sqrt", "[[8, 3], [8]]", 20 * 32, 2 * 32, 0},
		{"aten::_foreach_mul_", "[[8, 3], [8], []]", 32, 2 * 32, 0},
		{"aten::_foreach_lerp_", "[[8, 3], [8], [8, 3], [8], []]", 3 * 32, 3 * 32, 0},
		{"aten::_foreach_addcdiv_", "[[8, 3], [8], [8, 3], [8], [8, 3], [8], []]", 3 * 32, 4 * 32, 0},
		{"aten::_fused_adam_", "[[8, 3], [8], [8, 3], [8], [8, 3], [8], [8, 3], [8], [], []]", 0, 7 * 32, 0},
		{"aten::_fused_adamw_", "[[8], [8], [8], [8], [8], [], []]", 0, 9 * 8, 0},
		{"aten::_fused_sgd_", "[[8, 3], [8], [8, 3], [8], [], []]", 2 * 32, 3 * 32, 0},
		{"aten::_fused_sgd_", "[[8, 3], [8], [8, 3], [8], [8, 3], [8], []]", 4 * 32, 5 * 32, 0},
	};
	struct operator_work work;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert(work_of(cases[i].name, cases[i].sizes, NULL, &work), "%s", cases[i].name);
		cr_expect_eq(work.flops, cases[i].flops, "%s: %" PRIu64, cases[i].name, work.flops);
		cr_expect_eq(work.elements, cases[i].elements, "%s: %" PRIu64, cases[i].name, work.elements);
		cr_expect_eq(work.more_bytes, cases[i].more_bytes, "%s: %" PRIu64, cases[i].name, work.more_bytes);
	}
}

Test(operator_work, counts_by_the_values_of_arguments)
{
	static const struct {
		const char *name, *sizes, *arguments;
		uint64_t flops, bytes;
	} cases[] = {
		{"aten::index_select", "[[4, 10], [], [3]]", "[t6, 1, t4]", 0, 2 * 4 * 3 * 4 + 3 * 8},
		{"aten::index_select", "[[4, 10], [], [3]]", "[t6, -2, t4]", 0, 2 * 3 * 10 * 4 + 3 * 8},
		{"aten::randperm", "[[], [], [], [], []]", "[100, , , , ]", 300, 800},
		{"aten::copy_", "[[4, 10], [4, 10], []]", "[t5, t7, False]", 0, 40 * 2 + 40 * 8},
	};
	struct operator_work work;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert(work_with(cases[i].name, cases[i].sizes, cases[i].arguments, &work), "%s", cases[i].name);
		cr_expect_eq(work.flops, cases[i].flops, "%s: %" PRIu64, cases[i].name, work.flops);
		cr_expect_eq(work.elements * work.element + work.more_bytes, cases[i].bytes, "%s", cases[i].name);
	}
	cr_expect_not(work_with("aten::index_select", "[[4, 10], [], [3]]", "[t6, 2, t4]", &work));
	cr_expect_not(work_with("aten::index_select", "[[4, 10], [], [3]]", "", &work));
	cr_expect_not(work_with("aten::randperm", "[[]]", "[", &work));
}

Test(operator_work, two_m_n_k_of_200_products)
{
	uint64_t seed = 1;

	for (int i = 0; i < 200; i++) {
		uint64_t of[4];
		struct operator_work work;
		char sizes[200];

		for (int k = 0; k < 4; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			of[k] = 1 + (seed >> 33) % 5000;
		}
		snprintf(sizes, sizeof(sizes), "[[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "], [%" PRIu64 ", %" PRIu64
			 ", %" PRIu64 "]]", of[0], of[1], of[3], of[0], of[3], of[2]);
		cr_assert(work_of("aten::bmm", sizes, NULL, &work));
		cr_assert_eq(work.flops, 2 * of[0] * of[1] * of[2] * of[3], "%s", sizes);
		cr_assert_eq(work.elements, of[0] * (of[1] * of[2] + of[1] * of[3] + of[2] * of[3]), "%s", sizes);
	}
}

Test(operator_work, does_not_guess)
{
	static const char *const cases[][3] = {
		{"aten::lerp", "[[3, 4], [3, 4], []]", NULL},
		{"aten::relu", "[[]]", NULL},
		{"aten::addcmul", "[[3, 4], [3, 4]]", NULL},
		{"aten::embedding", "[[50], [2]]", NULL},
		{"aten::_foreach_mul_", "[[8], [8], []]", NULL}, /* two tensors and a number, or two lists */
		{"aten::_foreach_addcdiv_", "[[8, 3], [8], [8, 3], [8], []]", NULL},
		{"aten::_fused_adam_", "[[8, 3], [8], [8, 3], [8], [8, 3], [8], [], []]", NULL},
		{"aten::max_pool2d_with_indices", "[[2, 8, 6, 6], [], [], [], [], []]", NULL},
		{"aten::mm", "", NULL},
		{"aten::mm", "[[3, 4]]", NULL},
		{"aten::mm", "[[3, 4], []]", NULL},
		{"aten::mm", "[[3, 4], [5, 6]]", NULL},
		{"aten::mm", "[[3, 0], [0, 6]]", NULL},
		{"aten::bmm", "[[2, 3, 4], [5, 4, 6]]", NULL},
		{"aten::cudnn_convolution", "[[2, 3, 8, 8], [4, 3, 3, 3]]", NULL},
		{"aten::cudnn_convolution", "[[2, 3, 8, 8], [4, 3, 3, 3]]", "[[2, 5, 6, 6]]"},
		{"aten::cudnn_convolution", "[[2, 3, 8, 8], [4, 0, 3, 3]]", "[[2, 4, 6, 6]]"},
		{"aten::_flash_attention_forward", "[[5, 3, 8], [7, 3, 8], [7, 3, 8]]", NULL},
		{"mm", "[[3, 4], [4, 5]]", NULL},
		{"aten::add", "[[], []]", NULL},
		{"aten::mul", "[[3, 4], [4, 5]]", NULL},
		{"aten::_cudnn_rnn", "[[5, 8, 32], [256]]", NULL},
		{"aten::", "[[3, 4], [4, 5]]", NULL},
		{"aten::mm", "[[[[[", NULL},
	};
	struct operator_work work;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_not(work_of(cases[i][0], cases[i][1], cases[i][2], &work), "%s %s", cases[i][0],
			      cases[i][1]);
	cr_assert(work_of("aten::mm", "[[99999999999, 99999999999], [99999999999, 5]]", NULL, &work));
	cr_assert_eq(work.flops, UINT64_MAX, "it does not wrap");
}

/* ---- PyProf's ranges ---- */

#define TENSOR(shape) "{'name': '', 'type': 'tensor', 'shape': (" shape "), 'dtype': 'float16'}"
#define NUMBER(name, value) "{'name': '" name "', 'type': 'int', 'value': " value "}"
#define CALL(op, args) "{'mod': 'torch', 'op': '" op "', 'args': [" args "]}"

static bool marker_work(const char *text, size_t nth, struct operator_work *ret)
{
	struct operator_marker m;

	return operator_marker_parse(text, &m) && operator_marker_work(&m, nth, ret);
}

/* Computed by hand. */
Test(operator_marker, counts_the_operations_of_functions)
{
	static const struct {
		const char *text;
		uint64_t flops;
		const char *params;
	} cases[] = {
		{CALL("linear", TENSOR("2, 3, 4") ", " TENSOR("5, 4")), 2 * 6 * 5 * 4, "M=5,N=6,K=4,fp16"},
		{CALL("__matmul__", TENSOR("3, 4") ", " TENSOR("4, 5")), 2 * 3 * 4 * 5, "M=5,N=3,K=4,fp16"},
		{CALL("addmm", TENSOR("5,") ", " TENSOR("3, 4") ", " TENSOR("4, 5")), 2 * 3 * 4 * 5,
		 "M=5,N=3,K=4,fp16"},
		{CALL("conv1d", TENSOR("2, 4, 9") ", " TENSOR("6, 4, 3") ", " NUMBER("stride", "2")),
		 2 * 2 * 6 * 4 * 4 * 3, "N=2,C=4,W=9,K=6,Q=4,S=3,g=1,fp16"},
		{CALL("conv2d", TENSOR("2, 4, 9, 8") ", " TENSOR("6, 2, 3, 3") ", {'name': '', 'type': 'NoneType', "
		      "'value': None}, {'name': '', 'type': 'tuple', 'value': (2, 1)}, " NUMBER("padding", "1") ", "
		      NUMBER("groups", "2") ", {'name': 'dilation', 'type': 'list', 'value': [1, 2]}"),
		 2 * 2 * 6 * (5 * 6) * 2 * 9,
		 "N=2,C=4,H=9,W=8,K=6,P=5,Q=6,R=3,S=3,ph=1,pw=1,U=2,V=1,dh=1,dw=2,g=2,fp16"},
		{CALL("conv3d", TENSOR("1, 2, 4, 4, 4") ", " TENSOR("3, 2, 2, 2, 2")), 2 * 3 * 27 * 2 * 8,
		 "N=1,C=2,K=3,g=1,fp16"},
		{CALL("conv_transpose2d", TENSOR("1, 4, 5, 5") ", " TENSOR("4, 2, 3, 3") ", " NUMBER("stride", "2") ", "
		      NUMBER("output_padding", "1")),
		 2 * 4 * 25 * 2 * 9, "N=1,C=4,H=5,W=5,K=2,P=12,Q=12,R=3,S=3,ph=0,pw=0,U=2,V=2,dh=1,dw=1,g=1,fp16"},
		{CALL("scaled_dot_product_attention",
		      TENSOR("2, 3, 5, 8") ", " TENSOR("2, 3, 7, 8") ", " TENSOR("2, 3, 7, 8")),
		 2 * 2 * 3 * 5 * 7 * 16, "B=2,H=3,Q=5,K=7,D=8,fp16"},
		{CALL("relu", TENSOR("3, 4")), 12, "N=12,fp16"},
		{CALL("__iadd__", TENSOR("3, 4") ", " NUMBER("", "2")), 12, "N=12,fp16"},
		{CALL("__rtruediv__", TENSOR("3, 4") ", " TENSOR("4,")), 12, "N=12,fp16"},
		{CALL("softmax", TENSOR("3, 4") ", " NUMBER("dim", "1")), 480, "N=12,fp16"},
		{CALL("embedding", "{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'int64'}, "
				   TENSOR("50, 10")), 0, "N=60,fp16"},
		{CALL("index_select", TENSOR("4, 10") ", " NUMBER("", "1") ", {'name': '', 'type': 'tensor', "
				      "'shape': (3,), 'dtype': 'int64'}"), 0, "N=12,fp16"},
	};
	static const char cell[] = "{'mod': 'GRUCell', 'op': 'forward', 'args': [" TENSOR("8, 32") ", "
				   TENSOR("8, 64") "]}";
	struct operator_work work;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert(marker_work(cases[i].text, 0, &work), "%s", cases[i].text);
		cr_expect_eq(work.flops, cases[i].flops, "%s: %" PRIu64, cases[i].text, work.flops);
		cr_expect_str_eq(work.params, cases[i].params, "%s: %s", cases[i].text, work.params);
		cr_expect_eq(work.element, 2);
	}
	cr_assert(marker_work(cell, 0, &work));
	cr_expect_eq(work.flops, 2 * 8 * 32 * 3 * 64);
	cr_assert(marker_work(cell, 1, &work));
	cr_expect_eq(work.flops, 2 * 8 * 64 * 3 * 64);
	cr_expect_not(marker_work(cell, 2, &work));
	cr_expect_not(marker_work(cell, SIZE_MAX, &work));
}

Test(operator_marker, does_not_guess)
{
	static const char *const cases[] = {
		"aten::mm",
		"{",
		"{'mod': 'torch', 'op': 'mm'}",
		"{'mod': 'Linear', 'strRepr': 'in_features=4'}",
		CALL("mm", ""),
		CALL("mm", TENSOR("3, 4")),
		CALL("mm", TENSOR("3, 4") ", " NUMBER("", "7")),
		CALL("max_pool2d", TENSOR("2, 4, 9, 8") ", " NUMBER("", "2")),
		CALL("__iter__", TENSOR("3, 4")),
		CALL("conv2d", TENSOR("2, 4, 9, 8") ", " TENSOR("6, 4, 3, 3") ", {'name': 'padding', 'type': 'str', "
		     "'value': 'same'}"),
		CALL("conv2d", TENSOR("2, 4, 2, 2") ", " TENSOR("6, 4, 3, 3")),
		CALL("conv2d", TENSOR("2, 4, 9, 8") ", " TENSOR("6, 4, 3, 3") ", " NUMBER("stride", "0")),
		CALL("conv2d", TENSOR("2, 4, 9, 8") ", " TENSOR("6, 4, 3, 3") ", " NUMBER("padding", "-1")),
		"{'mod': 'torch', 'op': 'mm', 'args': [{'name': '",
		"{'mod': 'torch', 'op': 'mm', 'args': [{'shape': (3",
	};
	struct operator_work work;
	struct buffer text = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_not(marker_work(cases[i], 0, &work), "%s", cases[i]);
	cr_expect(operator_marker_is_module(cases[3]));
	cr_expect_not(operator_marker_is_module(cases[4]));
	cr_expect(operator_marker_trace("{'traceMarker': ['/opt/torch/nn/modules/a.py:7', 'a.py:1', \"b's.py:2\"]}",
					&text));
	cr_expect_str_eq(buffer_string(&text), "a.py:1,b's.py:2");
	cr_expect_not(operator_marker_trace("a.py:1", &text));
	buffer_done(&text);
}
