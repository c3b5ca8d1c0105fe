/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers texts in the order in which they are first seen: 0, 1, 2, ... */
#pragma once

#include "report/base/util.h"

struct interned {
	const char *text; /* terminated by NUL; may contain others, which separate fields */
	size_t size;	  /* without the last NUL */
};

struct interner {
	struct interned *items;
	size_t count, capacity;
	struct map places;  /* hash of a text -> its number + 1; after a collision the next hash */
	char *chunk;	    /* the newest piece of memory for texts; it begins with the address of the one before */
	size_t chunk_used, chunk_size;
};

/* The number of a text of that size, which is copied if it is new. */
uint32_t interner_number(struct interner *n, const char *text, size_t size);

/* Likewise for a text that ends at its first NUL. */
uint32_t interner_text_number(struct interner *n, const char *text);

/* The i-th field of a text, "" past the last one. Valid until interner_done. */
const char *interner_field(const struct interner *n, size_t number, size_t i);

void interner_done(struct interner *n);

/* Shared with `aggregate`, whose keys are interned texts. */
const char *field_of_text(const char *text, size_t size, size_t i);
