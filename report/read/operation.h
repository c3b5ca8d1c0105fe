/* SPDX-License-Identifier: Apache-2.0 */
/* What a library was asked for, as a call's TF_ARG_OPERATION tells: read, in words, and what follows from it. */
#ifndef PILLION_OPERATION_H
#define PILLION_OPERATION_H

#include "report/read/reader.h"

/* False: the call tells nothing, or it is lost. */
bool operation_of(const struct trace *t, const struct event *e, struct tf_operation *ret);

/* The first value of a field (enum tf_field | enum tf_role); false: it is not there. */
bool operation_field(const struct tf_operation *op, unsigned int field, int64_t *ret);

/* Appends all of it: "transA=N m=64 ...". group: whose numbers these are, enum tf_group. */
void operation_text(const struct tf_operation *op, unsigned int group, struct buffer *ret);

/* Appends the first value of a field; false: it is not there. */
bool operation_value(const struct tf_operation *op, unsigned int group, unsigned int field, struct buffer *ret);

/* Floating point operations of a product or a solution of linear equations by its definition; 0: not known. */
double operation_flops(const char *function, const struct tf_operation *op);

/* A product of matrices: its sizes, and the multiple that they should be of for tensor cores (16 bytes of its type); multiple 0:
 * it would not run on them, or its type is not known. False: no product, or its sizes are not told. */
bool operation_product(const char *function, const struct tf_operation *op, int64_t ret_sizes[3], unsigned int *ret_multiple);

/* Bytes of a message as its size is told in benchmarks: of a collective, what the largest buffer of a rank holds. */
double operation_bytes(const char *function, unsigned int group, const struct tf_operation *op);

#endif
