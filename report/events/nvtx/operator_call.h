/* SPDX-License-Identifier: Apache-2.0 */
/* A call of one of PyTorch's operators, and counts out of its sizes that saturate: sizes out of a damaged trace are not
 * taken for small ones. */
#pragma once

#include "report/events/nvtx/operator_work.h"

enum { SHAPES = 1024, RANK = 8, ARGUMENTS = 9 };

struct shape {
	uint64_t sizes[RANK];
	size_t rank; /* 0: no tensor, or one of no dimension */
};

struct shapes {
	struct shape items[SHAPES];
	size_t count; /* SHAPES: there may be more */
};

struct operator_call {
	struct operator_field name;
	struct shapes sizes; /* an argument that is no tensor has none; a list of tensors has one for each */
	struct operator_value {
		const struct operator_type *type; /* of a tensor's elements; NULL: not known */
		struct shape numbers; /* the argument's own; True is 1 */
	} arguments[ARGUMENTS];
	struct shape result; /* of rank 0: not known */
};

/* Reads numbers up to a closing square bracket, which it returns, or the end. */
const char *numbers_parse(const char *at, const char *end, struct shape *ret);

/* As operator_work(). */
bool operator_call_work(const struct operator_call *c, struct operator_work *ret);

/* A product of matrices of m times k and k times n numbers. False: one of the sizes is 0. */
bool operator_product_work(uint64_t batch, uint64_t m, uint64_t n, uint64_t k, struct operator_work *ret);

uint64_t mul_sat(uint64_t a, uint64_t b);
uint64_t add_sat(uint64_t a, uint64_t b);
uint64_t elements_of(const struct shape *s);

/* The name without "aten::" and a final underscore. False: it is none of aten's. */
bool operator_bare_name(const struct operator_field *name, struct operator_field *ret);

/* operator_elements.c: the operators whose work follows from the number of elements. False: it is none of these, or its
 * sizes do not tell. */
bool elements_work(const struct operator_call *c, struct operator_work *ret);
