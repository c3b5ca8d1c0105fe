/* SPDX-License-Identifier: Apache-2.0 */
/* Records PyTorch's operators by a callback of its interface for observers (at::RecordFunction), in place of that of
 * emit_nvtx, which passes a text for each operator. Here names and shapes are interned.
 *
 * No layout of PyTorch is known in advance but those of the callback and of c10::IValue. Where the sequence number and
 * the arguments of an operator are in PyTorch's object is found by running operators of which they are known. */
#pragma once

/* Adds to the namespace of annotate.py:
 *	record_try() -> bool: begins the trial on the calling thread, of arguments only if shapes are wanted. False:
 *		this PyTorch does not have what is needed. To be followed by aten::empty of [3] and aten::neg and
 *		aten::dropout of it, in turn, with several types
 *	record_settle() -> bool: ends it. True: operators can be recorded, with all that is wanted of them
 *	record_begin() -> number: replaces the latest callback of the calling thread, that of emit_nvtx, by ours; 0: not
 *		possible. PyTorch's threads that execute a part of the thread's work inherit it
 *	record_end(number): removes it, in the same thread, before emit_nvtx ends
 *	operators_end() -> number, operators_begin(number): around an interval in which the thread has no ranges of
 *		operators, because the program profiles */
void annotate_operators_offer(void *space);
