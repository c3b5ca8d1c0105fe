/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges of one image that are about JAX: what each is, and the function that it belongs to.
 *
 * A phase has the name of its function without file and line, and XLA names a module after the function. A phase or a
 * module belongs to the call that encloses it if the call has the same name, else to the only called function with this
 * name. If no function or several functions have the name, the phase or module has a row of its own. */
#pragma once

#include "report/base/interner.h"
#include "report/events/jax/jax_text.h"
#include "report/events/nvtx/nvtx_tree.h"

struct jax_place {
	enum jax_kind kind;
	/* Numbers of texts: of an OP the operation; else the function, with its place in the program if known */
	uint32_t name;
	uint32_t full; /* of a MODULE: its own name; of a MISS: what differs */
	/* A call while another function is traced: it becomes a part of that one, nothing is executed. */
	bool is_staged;
	uint64_t self;	/* ticks, without the phases within it */
	size_t module;	/* the innermost range around it, itself included, that is a MODULE. NVTX_NO_PARENT: none */
};

struct jax_ranges {
	struct nvtx_tree tree;
	struct jax_place *places; /* of the tree's nodes */
	struct interner names;
	bool has_any;	    /* of any kind */
	bool has_calls;	    /* of --jax */
};

/* Whether the image may have such ranges: it has their domains. The others cost nothing. */
bool jax_is_in(const struct image *image);

/* Whether it has those of --jax. */
bool jax_has_phases(const struct image *image);

/* The caller frees *r with jax_ranges_done. */
void jax_ranges_make(struct jax_ranges *r, const struct image *image);
void jax_ranges_done(struct jax_ranges *r);
