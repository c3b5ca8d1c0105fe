/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of ranges about JAX.
 *
 * Domain "JAX" is ours (preload/python/annotate_parts.h): "run f (train.py:17)", "trace f", "lower jit(f)", "compile
 * jit(f)", and within the latter "cache request", "cache hit", "cache write" of JAX's persistent cache; "miss f: x, now
 * f32[4] and before f32[3]", JAX's explanation why f is traced again. Domain "TSL" is
 * XLA's, where it is built for NVIDIA's devices: "XlaModule:#hlo_module=jit_f,program_id=7#",
 * "Thunk:#hlo_op=fusion.1#" or "Thunk:#name=fusion.1#", "XlaCompile:#module=jit_f,program_id=7#" and further ones that
 * begin with XlaCompile, as consumers of these texts read them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define JAX_DOMAIN "JAX"
#define JAX_XLA_DOMAIN "TSL"

/* RUN: a call of a jitted function. TRACE, LOWER, COMPILE: of Python to a jaxpr, to StableHLO, to machine code.
 * MODULE: XLA executes a module, OP: one of its operations, BUILD: XLA compiles a module, PART: a part of that, in any
 * thread, or a module of its own by which XLA compares kernels. REQUEST, HIT, WRITE: of the
 * cache. MISS: of the cache of traced functions. */
enum jax_kind {
	JAX_NONE,
	JAX_RUN,
	JAX_TRACE,
	JAX_LOWER,
	JAX_COMPILE,
	JAX_MODULE,
	JAX_OP,
	JAX_BUILD,
	JAX_PART,
	JAX_REQUEST,
	JAX_HIT,
	JAX_WRITE,
	JAX_MISS,
	JAX_KINDS
};

struct jax_text {
	enum jax_kind kind;
	const char *name; /* within the text: the function "f", or the operation */
	size_t length;
	/* of a RUN: the function with its place; MODULE, BUILD: the module; MISS: what differs; else `name` */
	const char *full;
	size_t full_length;
};

/* False: the range is of another kind. `domain` "" is the default one. */
bool jax_text_parse(const char *domain, const char *text, struct jax_text *ret);

/* The value of a field in "...#key=value,key=value#". False: there is none. */
bool jax_text_field(const char *text, const char *key, const char **ret, size_t *ret_length);

/* The path of an operation within the function that was compiled: "jit(f)/a/sin" -> "a/sin". Within `path`. */
const char *jax_text_within(const char *path);

static inline bool jax_is_of_cache(enum jax_kind kind)
{
	return kind == JAX_REQUEST || kind == JAX_HIT || kind == JAX_WRITE;
}

static inline bool jax_is_phase(enum jax_kind kind)
{
	return kind == JAX_TRACE || kind == JAX_LOWER || kind == JAX_COMPILE;
}
