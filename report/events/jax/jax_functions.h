/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of JAX: how often each was compiled, how long that took, and what its calls took. */
#pragma once

#include "report/events/jax/jax_ranges.h"
#include "report/events/scan.h"

struct jax_function {
	/* ns; the phases of another function within a phase are that function's */
	uint64_t trace_ns, lower_ns, compile_ns;
	uint64_t compilations, longest_ns; /* longest_ns: of compile_ns */
	/* of JAX's persistent cache: what it was asked for, had, and was given */
	uint64_t cache_requests, cache_hits, cache_writes;
	uint64_t runs, run_ns; /* calls, without what they compiled; without --jax the modules that XLA executed */
	uint64_t calls, modules, call_ns, module_ns; /* of both kinds */
	const char *change; /* why it was traced again the last time, as JAX explains it; NULL: not known */
	uint64_t kernels, device_ns; /* device_ns: of copies and memsets as well */
	/* The stack that caused most of its compilation; 0: none was taken. Without one, `image` is one that has it. */
	const struct image *image;
	uint32_t stack;
	uint64_t stack_ns;
};

struct jax_functions {
	struct aggregate keys; /* the field of --by if there is one, then the function */
	struct jax_function *items; /* by row of keys */
	size_t count, capacity;
	struct texts changes;
	bool has_calls;
};

static inline uint64_t jax_compile_ns(const struct jax_function *f)
{
	return f->trace_ns + f->lower_ns + f->compile_ns;
}

/* Reads all images. The caller frees *ret with jax_functions_done. */
void jax_functions_make(const struct report_context *c, struct jax_functions *ret);
void jax_functions_done(struct jax_functions *f);

/* Positions, the longest compilation first. The caller frees them. */
size_t *jax_functions_order(const struct jax_functions *f);
