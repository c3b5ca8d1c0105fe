/* SPDX-License-Identifier: Apache-2.0 */
/* The floating-point operations of PyTorch's operators, by the sizes of their arguments. A multiplication and an
 * addition are two; a transcendental function is 20, as in PyProf. */
#pragma once

#include <stdint.h>

#include "report/events/nvtx/operator_text.h"
#include "report/read/number_type.h"

enum operator_class {
	OPERATOR_GEMM,
	OPERATOR_CONVOLUTION,
	OPERATOR_CONVOLUTION_BACKWARD,
	OPERATOR_ATTENTION,
	OPERATOR_RECURRENT,
	OPERATOR_ELEMENTWISE, /* may be a part of any of the others */
};

struct operator_work {
	enum operator_class class;
	uint64_t flops;	   /* of CONVOLUTION_BACKWARD: those of one gradient, of the input or of the weight */
	uint64_t elements; /* of inputs and output; likewise */
	uint64_t more_bytes; /* of what has elements of another size: indices, results of comparisons */
	unsigned element;  /* bytes of one element; 0: not known */
	enum number_type type; /* of an element */
	char params[192];  /* sizes under the names that PyProf gives them */
};

/* `result`: sizes of which the first are those of the operator's result; NULL: not known. False: not an operator of
 * these classes, or its sizes do not tell. */
bool operator_work(const struct operator_text *operator, const struct operator_field *result,
		   struct operator_work *ret);

/* What an operator, or a node of autograd, of this name computes. The first argument of CONVOLUTION_BACKWARD has the
 * sizes of its result. ELEMENTWISE: none of the others. */
enum operator_class operator_class_of(const struct operator_field *name);
