/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts in C add to the namespace of annotate.py. */
#pragma once

#include <stdbool.h>

/* --python-calls: a range for each call of a Python function, and of a C function that one calls, as cProfile counts
 * them. From 3.12 on the events are those of sys.monitoring, before that those of a profile function.
 *	python_calls: the option's value, or None
 *	calls_open(describe_c, disable, missing, head, setprofile, wants_c) -> bool: before the others; head: how many
 *		bytes an object has more than with a GIL; setprofile: that of sys; wants_c: record functions in C
 *	calls_hide(code): calls of this function are not recorded
 *	calls_here(): record the calling thread, before 3.12
 *	calls_enter, calls_leave, calls_throw, calls_unwind, calls_c_enter, calls_c_leave: for sys.monitoring */
void annotate_calls_offer(void *space);
/* "name (file:line)", with the path of the file if another file has a function of this text. NULL: no memory. */
struct nvtx_string *annotate_function_text(const char *name, const char *file, unsigned line);

/* --jax: ranges of the domain "JAX" for JAX's phases of compilation, with the stack that caused them, and for each call
 * of a function that jax.jit returned: "trace f", "lower jit(f)", "compile jit(f)", "run f (train.py:17)". Such a call
 * does not pass through Python: it is counted in the function object itself, whose pointer for the vectorcall protocol
 * (PEP 590) is replaced. The object, its type and its attributes remain.
 *	wants_jax: the option
 *	jax_begin(text), jax_end(): around a phase
 *	jax_mark(text): an instant within a phase: "cache hit"
 *	jax_count(function, name, file or None, line, basic size and flags of its type) -> bool: from now on its calls
 *		are recorded
 *	jax_module(text, is_whole): lines that tell where the operations of a module come from, which XLA compiled */
void annotate_jax_offer(void *space);

/* --jax: the buffers that are alive in JAX, when a jitted function returns and the last look is long enough ago, which
 * --jax-live sets; and what its executables need. annotate_jax.py asks JAX, and what it says is recorded here.
 *	jax_live_by(function): it is called for each look. It returns None, or (type, value, traceback) of an exception
 *		that a signal's handler of the program raised meanwhile
 *	jax_live(rows): tuples (array, devices, count, bytes, frames): arrays that were made in one place, whose frames
 *		(code, offset) begin with the innermost one
 *	jax_executable(name, bytes of arguments, of outputs, of those aliased, of temporaries, of code, devices) */
struct nvtx_domain;
void annotate_jax_live_offer(void *space, const struct nvtx_domain *domain);
extern bool annotate_jax_live_is_on;
/* To be called with the GIL and no exception. False: an exception is to be passed on. */
bool annotate_jax_live_look(void);

/* Records PyTorch's operators by a callback of its interface for observers (at::RecordFunction), in place of that of
 * emit_nvtx, which passes a text for each operator. Here names and shapes are interned. No layout of PyTorch is known
 * in advance but those of the callback and of c10::IValue. Where the sequence number and the arguments of an operator
 * are in PyTorch's object is found by running operators of which they are known.
 *	record_try() -> bool: begins the trial on the calling thread, of arguments only if shapes are wanted. False:
 *		this PyTorch does not have what is needed. To be followed by aten::empty of [3] and aten::neg and
 *		aten::dropout of it, in turn, with several types
 *	record_settle() -> bool: ends it. True: operators can be recorded, with all that is wanted of them
 *	record_begin() -> number: adds our callback to those of the calling thread, before emit_nvtx begins. A thread
 *		destroys in reverse order: emit_nvtx then removes its callback from the list, which is to exist still
 *	record_replace(number) -> number: disables the latest callback of the calling thread, that of emit_nvtx; 0: not
 *		possible, and ours is removed. PyTorch's threads that execute a part of the thread's work inherit it
 *	record_end(number): removes it, in the same thread, before emit_nvtx ends
 *	operators_gap(0) -> number, operators_gap(number): around an interval in which the thread has no ranges of
 *		operators, because the program profiles */
void annotate_operators_offer(void *space);

/* Provides our NVTX to a PyTorch that was built without CUDA, and therefore without NVTX.
 *	torch_offer() -> bool: replaces PyTorch's object by ours for a trial. False: this version is not supported
 *	torch_settle() -> bool: after one operator has run under emit_nvtx. True: our object stays. False: PyTorch's own
 *		was restored
 *	torch_open(is_open): opens or closes emit_nvtx on the calling thread */
void annotate_torch_offer(void *space);
