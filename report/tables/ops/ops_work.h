/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges around a kernel, and the floating-point operations that are attributed to it. Private to tables/ops. */
#pragma once

#include "report/events/nvtx/operator_marker.h"
#include "report/tables/ops/ops.h"

/* Whether the range is an operator of PyTorch. `text` gets its text, into which `ret` points. */
bool ops_parse(const struct ops *o, size_t range, struct buffer *text, struct operator_text *ret);

/* Likewise a range of PyProf with arguments. */
bool ops_parse_marker(const struct ops *o, size_t range, struct buffer *text, struct operator_marker *ret);

/* Which kernel of each operator has its work: sets has_flops, sub and nth. */
void ops_choose_kernels(struct ops *o);

/* The work of the operator, a part of it, or the library call that launched the kernel. False: not known. */
bool ops_work_of(const struct ops *o, const struct op *op, struct operator_work *ret);

/* What the kernel did. `work`: NULL: not known. */
struct ops_rate ops_rate_of(struct ops *o, const struct op *op, const char *kernel, const struct operator_work *work);
