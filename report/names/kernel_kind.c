/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/kernel_kind.h"

#include <string.h>

#include "report/base/util.h"

enum number_type kernel_type(const char *kernel)
{
	static const struct {
		const char *word;
		enum number_type type;
	} words[] = {
		{"bf16", NUMBER_BF16}, {"bfloat16", NUMBER_BF16}, {"tf32", NUMBER_TF32},
		{"e4m3", NUMBER_FP8}, {"e5m2", NUMBER_FP8}, {"fp8", NUMBER_FP8},
		{"i8816", NUMBER_INT8}, {"i16832", NUMBER_INT8}, {"imma", NUMBER_INT8},
		{"int8", NUMBER_INT8}, {"f16", NUMBER_FP16}, {"fp16", NUMBER_FP16},
		{"half", NUMBER_FP16}, {"hgemm", NUMBER_FP16}, {"h16816", NUMBER_FP16},
		{"884", NUMBER_FP16}, {"s16816", NUMBER_FP16}, {"f64", NUMBER_FP64},
		{"dgemm", NUMBER_FP64}, {"double", NUMBER_FP64}, {"f32", NUMBER_FP32},
		{"fp32", NUMBER_FP32}, {"sgemm", NUMBER_FP32}, {"float", NUMBER_FP32},
	};

	if (strstr(kernel, "d884")) /* tensor cores of fp64 */
		return NUMBER_FP64;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(kernel, words[i].word))
			return words[i].type;
	return NUMBER_UNKNOWN;
}

unsigned number_size(enum number_type type)
{
	static const uint8_t sizes[NUMBER_TYPES] = {
		[NUMBER_FP64] = 8, [NUMBER_FP32] = 4, [NUMBER_TF32] = 4, [NUMBER_FP16] = 2,
		[NUMBER_BF16] = 2, [NUMBER_FP8] = 1,  [NUMBER_INT8] = 1};

	return sizes[type];
}

/* Families that have no other form, the shapes of the instructions in names of cuBLAS and cuDNN, and xmma, which has
 * forms with ordinary instructions, named so. */
bool kernel_uses_tensor_cores(const char *kernel)
{
	return text_any(text_has, kernel, "h884", "s884", "h1688", "s1688", "c1688", "i8816", "16816", "884gemm",
			"1688gemm", "884cudnn", "1688cudnn", "tensorop", "hmma", "imma", "gmma", "tf32", "nvjet",
			"flash_fwd", "flash_bwd") ||
	       (strstr(kernel, "xmma_") && number_size(kernel_type(kernel)) == 2 &&
		!text_any(text_has, kernel, "ffma", "simt", "f64"));
}

unsigned kernel_gradient(const char *kernel)
{
	return strstr(kernel, "dgrad") ? 1 : strstr(kernel, "wgrad") ? 2 : 0;
}

bool kernel_is_product(const char *kernel)
{
	return text_any(text_has, kernel, "gemm", "gemv", "cutlass", "nvjet", "dot_kernel");
}

bool kernel_is_of_nccl(const char *kernel)
{
	return strstr(kernel, "nccl") && strstr(kernel, "Kernel");
}

bool kernel_is_tuned(const char *kernel)
{
	return kernel_is_product(kernel) || kernel_is_of_nccl(kernel) ||
	       text_any(text_has, kernel, "conv", "fprop", "dgrad", "wgrad", "winograd", "flash_", "fmha");
}
