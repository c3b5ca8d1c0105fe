/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges around a kernel, and the floating-point operations that are attributed to it. Private to report/ops. */
#ifndef PILLION_OPS_WORK_H
#define PILLION_OPS_WORK_H

#include "report/derive/nvtx/operator_marker.h"
#include "report/ops/ops.h"

/* The range and those around it, but no more than a program nests that ends its ranges. */
#define RANGES_AROUND(o, i, from)                                                                   \
	for (size_t i = (from), left_ = NVTX_TREE_LEVELS; i != NVTX_NO_PARENT && left_; left_--, \
		    i = (o)->ranges[i].parent)

/* Whether the range is an operator of PyTorch. `text` gets its text, into which `ret` points. */
bool ops_parse(const struct ops *o, size_t range, struct buffer *text, struct operator_text *ret);

/* Likewise a range of PyProf with arguments. */
bool ops_parse_marker(const struct ops *o, size_t range, struct buffer *text, struct operator_marker *ret);

uint64_t ops_seq(const struct operator_text *t);

/* Which kernel of each operator has its work: sets has_flops, sub and nth. */
void ops_choose_kernels(struct ops *o);

/* The work of the operator, a part of it, or the library call that launched the kernel. False: not known. */
bool ops_work_of(const struct ops *o, const struct op *op, struct operator_work *ret);

/* Whether a kernel that does such work uses tensor cores, by its family and types. */
bool ops_uses_tensor_cores(const char *kernel);

/* The size of an element, if the kernel's name has the type. 0: it does not tell. */
unsigned ops_element_size(const char *kernel);

#endif
