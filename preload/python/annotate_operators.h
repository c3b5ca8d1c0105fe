/* SPDX-License-Identifier: Apache-2.0 */
/* Records PyTorch's operators by a callback of its interface for observers (at::RecordFunction), in place of that of
 * emit_nvtx, which passes a text for each operator. Here names and shapes are interned.
 *
 * No layout of PyTorch is known in advance but those of the callback and of c10::IValue. Where the sequence number and
 * the arguments of an operator are in PyTorch's object is found by running operators of which they are known. All
 * functions require the GIL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Begins the trial on the calling thread, of arguments only if has_shapes. False: this PyTorch does not have what is
 * needed. To be followed by aten::empty of [3] and aten::neg and aten::dropout of it, in turn, with several types. */
bool annotate_operators_try(bool has_shapes);

/* Ends it. True: operators can be recorded, with their shapes and arguments if these were looked for. */
bool annotate_operators_settle(void);

/* Replaces the latest callback of the calling thread, that of emit_nvtx, by ours. PyTorch's threads that execute a part
 * of the thread's work inherit it. Returns its number, 0: not possible. To be removed in the same thread, before
 * emit_nvtx ends. */
uint64_t annotate_operators_replace(bool has_shapes);
void annotate_operators_remove(uint64_t number);
