/* SPDX-License-Identifier: Apache-2.0 */
/* The operation that a library call performs (TF_ARG_OPERATION): decoded, as text, and derived values. */
#pragma once

#include "report/read/number_type.h"
#include "report/read/reader.h"

/* False: the call has none, or it was lost. */
bool operation_of(const struct trace *t, const struct event *e, struct tf_operation *ret);

/* The first value of a field (enum tf_field | enum tf_role). False: there is none. */
bool operation_field(const struct tf_operation *op, unsigned int field, int64_t *ret);

/* Appends all fields: "transA=N m=64 ...". group: enum tf_group, which defines the values. */
void operation_text(const struct tf_operation *op, unsigned int group, struct buffer *ret);

/* Appends the first value of a field. False: there is none. */
bool operation_value(const struct tf_operation *op, unsigned int group, unsigned int field, struct buffer *ret);

/* Appends the names of the file and of the object in it, which a call of HDF5 used. False: they are not known. */
bool operation_object(const struct trace *t, const struct tf_operation *op, struct buffer *ret_file,
		      struct buffer *ret_path);

/* All values of a field, at most `room`, such as the dimensions of a tensor. Returns how many there are. */
size_t operation_fields(const struct tf_operation *op, unsigned int field, int64_t *ret, size_t room);

/* Whether the call computes a convolution or a gradient of one: A is its input, B the weight, C the result. */
bool operation_is_convolution(const struct function *f, const struct tf_operation *op);

/* Bytes of an element of A, 0: not known. */
unsigned int operation_element(const struct function *f, const struct tf_operation *op);

/* The type of A, which a product or a convolution multiplies. */
enum number_type operation_type(const struct function *f, const struct tf_operation *op);

/* Number of floating-point operations of a product or of solving linear equations, by definition; 0: not known. */
double operation_flops(const struct function *f, const struct tf_operation *op);

/* The sizes of a matrix product, and of what they should be multiples for tensor cores (16 bytes of the type);
 * multiple 0: it would not use them, or the type is not known. False: it is not a product, or the sizes were not
 * recorded. */
bool operation_product(const struct function *f, const struct tf_operation *op, int64_t ret_sizes[3],
		       unsigned int *ret_multiple);

/* Message size as benchmarks define it: for a collective the largest buffer of a rank, in bytes. */
double operation_bytes(const struct function *f, const struct tf_operation *op);
