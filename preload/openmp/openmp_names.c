/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions of an object that records OpenMP: the rows of all objects, and those of OpenMP. */
#include "preload/openmp/hook_openmp.h"

#define OPENMP_NAME(name) HOOK_ROW_TEXT(name, #name, TF_GROUP_OPENMP)
#define HOOK_MORE_NAMES HOOK_OPENMP(OPENMP_NAME)
#include "preload/hook/hook_names.h"

const struct function_table hook_functions_openmp = HOOK_FUNCTION_TABLE;
