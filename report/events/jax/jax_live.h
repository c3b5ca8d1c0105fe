/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that were alive in JAX when --jax looked, and the memory that executables need. What was alive
 * between two looks is not known. */
#pragma once

#include "report/events/scan.h"
#include "report/names/attribution.h"

struct jax_look {
	const struct image *image;
	uint32_t number;
	uint64_t ns, buffers, bytes;
	bool is_peak; /* the first one of its image that has the most bytes */
};

/* Arrays of one image that have type, shape, devices and line in common. */
struct jax_buffers {
	const struct image *image;
	const char *array, *devices, *line; /* line "": not known; borrowed from `keys` */
	uint64_t buffers, bytes;	    /* at the peak of the image */
	uint64_t first, last, most;	    /* bytes at the first and the last look, and the most at any of them */
};

struct jax_live {
	struct jax_look *looks; /* by image, then by time */
	struct jax_buffers *items;
	size_t look_count, look_capacity, count, capacity;
	struct interner keys;
};

/* Reads all images. `attribution` NULL: without items. The caller frees *ret with jax_live_done. */
void jax_live_make(const struct model *m, struct attribution *attribution, struct jax_live *ret);
void jax_live_done(struct jax_live *l);

struct jax_executable {
	const char *name; /* of its module; borrowed from the list's `keys` */
	struct tf_jax_executable sizes;
	uint64_t count; /* equal ones, in all processes */
};

struct jax_executables {
	struct jax_executable *items; /* those that need most memory first */
	size_t count, capacity;
	struct interner keys;
};

/* Bytes on each device: an output that takes the place of an argument counts once. */
uint64_t jax_executable_bytes(const struct jax_executable *e);

void jax_executables_make(const struct model *m, struct jax_executables *ret);
void jax_executables_done(struct jax_executables *e);
