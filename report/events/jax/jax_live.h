/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers that were alive in JAX when --jax looked. What was alive between two looks is not known. */
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
