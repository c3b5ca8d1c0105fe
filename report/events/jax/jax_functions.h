/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of JAX: how often each was compiled, how long that took, and what its calls took. */
#pragma once

#include "report/events/jax/jax_ranges.h"
#include "report/events/scan.h"

struct jax_function {
	/* By enum jax_kind; BUILD counts as COMPILE, a RUN is without what it compiled. The phases of another function
	 * within a phase are that function's. */
	uint64_t ns[JAX_KINDS], counts[JAX_KINDS];
	uint64_t longest_ns; /* of COMPILE */
	uint64_t runs, run_ns; /* RUN; without --jax MODULE */
	const char *change; /* why it was traced again the last time, as JAX explains it; NULL: not known */
	uint64_t kernels, device_ns; /* device_ns: of copies and memsets as well */
	/* The stack that caused most of its compilation; 0: none was taken. Without one, `image` is one that has it. */
	const struct image *image;
	uint32_t stack;
	uint64_t stack_ns;
};

struct jax_functions {
	struct aggregate keys; /* the field of --by if there is one, then the function; with struct jax_function */
	struct texts changes;
	bool has_calls;
};

static inline uint64_t jax_compile_ns(const struct jax_function *f)
{
	return f->ns[JAX_TRACE] + f->ns[JAX_LOWER] + f->ns[JAX_COMPILE];
}

/* Reads all images. The caller frees *ret with jax_functions_done. */
void jax_functions_make(const struct report_context *c, struct jax_functions *ret);
void jax_functions_done(struct jax_functions *f);

/* The longest compilation first. */
void jax_functions_sort(struct jax_functions *f);
