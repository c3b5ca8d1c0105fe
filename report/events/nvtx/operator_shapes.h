/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the arguments of PyTorch's operators, and counts out of them that saturate: sizes out of a damaged trace are
 * not taken for small ones. Private to operator_work. */
#pragma once

#include "report/events/nvtx/operator_work.h"

enum { SHAPES = 1024, RANK = 8 };

struct shape {
	uint64_t sizes[RANK];
	size_t rank; /* 0: no tensor, or one of no dimension */
};

struct shapes {
	struct shape items[SHAPES];
	size_t count; /* SHAPES: there may be more */
};

/* "[[3, 4], [], [4, 5]]": an argument that is no tensor has none; a list of tensors has one for each. */
void shapes_parse(const struct operator_field *f, struct shapes *ret);

uint64_t mul_sat(uint64_t a, uint64_t b);
uint64_t add_sat(uint64_t a, uint64_t b);
uint64_t elements_of(const struct shape *s);

/* The name without "aten::" and a final underscore. False: it is none of aten's. */
bool operator_bare_name(const struct operator_field *name, struct operator_field *ret);

/* Whether it is one of the names, which spaces separate. */
bool operator_is_one_of(const struct operator_field *bare, const char *names);

/* operator_elements.c: the operators whose work follows from the number of elements. False: it is none of these, or its
 * sizes do not tell. */
bool elements_work(const struct operator_text *operator, const struct shapes *s, struct operator_work *ret);
