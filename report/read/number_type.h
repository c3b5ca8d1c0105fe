/* SPDX-License-Identifier: Apache-2.0 */
/* The types of numbers with which kernels compute. */
#pragma once

enum number_type {
	NUMBER_UNKNOWN,
	NUMBER_FP64,
	NUMBER_FP32,
	NUMBER_TF32, /* fp32 in memory, rounded by tensor cores */
	NUMBER_FP16,
	NUMBER_BF16,
	NUMBER_FP8,
	NUMBER_INT8,
	NUMBER_TYPES
};

extern const char *const number_names[NUMBER_TYPES]; /* as PyProf names them */
