/* SPDX-License-Identifier: Apache-2.0 */
/* --jax: ranges of the domain "JAX" for JAX's phases of compilation, with the stack that caused them, and for each call
 * of a function that jax.jit returned: "trace f", "lower jit(f)", "compile jit(f)", "run f (train.py:17)".
 *
 * Such a call does not pass through Python: it is counted in the function object itself, whose pointer for the
 * vectorcall protocol (PEP 590) is replaced. The object, its type and its attributes remain. */
#pragma once

/* Adds to the namespace of annotate.py:
 *	wants_jax: the option
 *	jax_begin(text), jax_end(): around a phase
 *	jax_mark(text): an instant within a phase: "cache hit"
 *	jax_count(function, text, basic size and flags of its type) -> bool: from now on its calls are recorded
 *	jax_module(text) -> bool: it is a text, and is recorded; see annotate_jax_module.h
 * and what annotate_jax_live.h has */
void annotate_jax_offer(void *space);
