/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from the hook table: the names of all rows, and HOOK_FUNCTION_TABLE, the initialiser of a table of them.
 * Included once, by a file that may have defined HOOK_MORE_NAMES, the rows of functions that only its object has:
 * HOOK_ROW_TEXT(id, text, group) of each. */
#pragma once

#include "preload/hook/hook.h"

#ifndef HOOK_MORE_NAMES
#define HOOK_MORE_NAMES
#endif

#define HOOK_TEXT(symbol) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_OSRT)
#define HOOK_NAME_OSRT(kind, returns, symbol, ...) HOOK_UNLESS_VARIANT(kind, HOOK_TEXT)(symbol)
#define HOOK_NAME_CUDART(kind, returns, symbol, ...) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_CUDA)
#define HOOK_NAME_CUDA(kind, returns, symbol, ...) HOOK_ROW_TEXT(symbol, #symbol, TF_GROUP_CUDA_DRIVER)
#define HOOK_NAME_LIBRARY(kind, group, symbol, name, ...)                                                              \
	LIBRARY_IF_RECORDED(kind, HOOK_ROW_TEXT(name, #name, TF_GROUP_##group))
#define HOOK_NAMES                                                                                                     \
	HOOK_LIBC(HOOK_NAME_OSRT)                                                                                      \
	HOOK_CUDART(HOOK_NAME_CUDART) HOOK_CUDA(HOOK_NAME_CUDA) HOOK_LIBRARY(HOOK_NAME_LIBRARY)                        \
	HOOK_MORE_NAMES

/* HOOK_ROW_TEXT(id, text, group) of each row, three times: the room for its name, the name, where that is. */
#define HOOK_ROW_TEXT(id, text, group) char HOOK_##id[sizeof(text)];
struct hook_texts {
	HOOK_NAMES
};
#undef HOOK_ROW_TEXT
#define HOOK_ROW_TEXT(id, text, group) text,
static const struct hook_texts texts = {HOOK_NAMES};
#undef HOOK_ROW_TEXT
#define HOOK_ROW_TEXT(id, text, group) {offsetof(struct hook_texts, HOOK_##id), group},
static const struct function_name names[] = {HOOK_NAMES};
#undef HOOK_ROW_TEXT

_Static_assert(sizeof(struct hook_texts) <= UINT16_MAX, "a name's position has 16 bits");

#define HOOK_FUNCTION_TABLE                                                                                            \
	{(const char *)&texts, names, sizeof(names) / sizeof(names[0]), HOOK_LIBC_COUNT}
