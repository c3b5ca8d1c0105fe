/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT: plans, and their executions with the plan's sizes. See hook_library.h. A plan is an int. */
#pragma once

#define CUFFT(X, name, words, shape) X(CALL, CUFFT, name, name, words, shape)
#define CUFFT_PLAN(X, name, words, shape) X(CREATES_HANDLE, CUFFT, name, name, words, shape)

#define HOOK_CUFFT(X)                                                                                                  \
	CUFFT_PLAN(X, cufftPlan1d, 4, FFT_PLAN_1)                                                                      \
	CUFFT_PLAN(X, cufftPlan2d, 4, FFT_PLAN_2)                                                                      \
	CUFFT_PLAN(X, cufftPlan3d, 5, FFT_PLAN_3)                                                                      \
	CUFFT_PLAN(X, cufftPlanMany, 11, FFT_PLAN_MANY)                                                                \
	CUFFT_PLAN(X, cufftMakePlan1d, 5, FFT_MAKE_1)                                                                  \
	CUFFT_PLAN(X, cufftMakePlan2d, 5, FFT_MAKE_2)                                                                  \
	CUFFT_PLAN(X, cufftMakePlan3d, 6, FFT_MAKE_3)                                                                  \
	CUFFT_PLAN(X, cufftMakePlanMany, 12, FFT_MAKE_MANY)                                                            \
	CUFFT_PLAN(X, cufftMakePlanMany64, 12, FFT_MAKE_MANY_64)                                                       \
	CUFFT_PLAN(X, cufftXtMakePlanMany, 14, FFT_XT_MAKE_MANY)                                                       \
	CUFFT(X, cufftDestroy, 1, FFT_PLAN)                                                                            \
	CUFFT(X, cufftExecC2C, 4, FFT_DIRECTED)                                                                        \
	CUFFT(X, cufftExecZ2Z, 4, FFT_DIRECTED)                                                                        \
	CUFFT(X, cufftExecR2C, 3, FFT_PLAN)                                                                            \
	CUFFT(X, cufftExecC2R, 3, FFT_PLAN)                                                                            \
	CUFFT(X, cufftExecD2Z, 3, FFT_PLAN)                                                                            \
	CUFFT(X, cufftExecZ2D, 3, FFT_PLAN)                                                                            \
	CUFFT(X, cufftXtExec, 4, FFT_DIRECTED)                                                                         \
	CUFFT(X, cufftXtExecDescriptor, 4, FFT_DIRECTED)                                                               \
	CUFFT(X, cufftXtExecDescriptorC2C, 4, FFT_DIRECTED)                                                            \
	CUFFT(X, cufftXtExecDescriptorZ2Z, 4, FFT_DIRECTED)                                                            \
	CUFFT(X, cufftXtExecDescriptorR2C, 3, FFT_PLAN)                                                                \
	CUFFT(X, cufftXtExecDescriptorC2R, 3, FFT_PLAN)                                                                \
	CUFFT(X, cufftXtExecDescriptorD2Z, 3, FFT_PLAN)                                                                \
	CUFFT(X, cufftXtExecDescriptorZ2D, 3, FFT_PLAN)                                                                \
	CUFFT(X, cufftXtMalloc, 3, FFT_PLAN)                                                                           \
	CUFFT(X, cufftXtMemcpy, 4, FFT_PLAN)                                                                           \
	CUFFT(X, cufftXtFree, 1, NOTHING)

#define SHAPES_CUFFT(S)                                                                                                \
	S(FFT_PLAN_1, KEY_INT_OUT(1), ENUM(DIMENSION, 2), ENUM(TYPE, 3), ENUM(BATCH, 4))                               \
	S(FFT_PLAN_2, KEY_INT_OUT(1), ENUM(DIMENSION, 2), ENUM(DIMENSION, 3), ENUM(TYPE, 4))                           \
	S(FFT_PLAN_3, KEY_INT_OUT(1), ENUM(DIMENSION, 2), ENUM(DIMENSION, 3), ENUM(DIMENSION, 4), ENUM(TYPE, 5))       \
	S(FFT_PLAN_MANY, KEY_INT_OUT(1), LIST(DIMENSION, 2, 3), ENUM(TYPE, 10), ENUM(BATCH, 11))                       \
	S(FFT_MAKE_1, KEY_INT(1), ENUM(DIMENSION, 2), ENUM(TYPE, 3), ENUM(BATCH, 4))                                   \
	S(FFT_MAKE_2, KEY_INT(1), ENUM(DIMENSION, 2), ENUM(DIMENSION, 3), ENUM(TYPE, 4))                               \
	S(FFT_MAKE_3, KEY_INT(1), ENUM(DIMENSION, 2), ENUM(DIMENSION, 3), ENUM(DIMENSION, 4), ENUM(TYPE, 5))           \
	S(FFT_MAKE_MANY, KEY_INT(1), LIST(DIMENSION, 2, 3), ENUM(TYPE, 10), ENUM(BATCH, 11))                           \
	S(FFT_MAKE_MANY_64, KEY_INT(1), LIST_WIDE(DIMENSION, 2, 3), ENUM(TYPE, 10), WIDE(BATCH, 11))                   \
	S(FFT_XT_MAKE_MANY, KEY_INT(1), LIST_WIDE(DIMENSION, 2, 3), ENUM_A(TYPE, 7), ENUM_C(TYPE, 11),                 \
	  WIDE(BATCH, 12), ENUM(COMPUTE, 14))                                                                          \
	S(FFT_PLAN, KEY_NONE, OF_INT(NONE, 1))                                                                         \
	S(FFT_DIRECTED, KEY_NONE, OF_INT(NONE, 1), ENUM(DIRECTION, 4))
