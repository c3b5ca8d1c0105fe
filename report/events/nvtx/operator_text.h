/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a range that PyTorch's emit_nvtx writes for an operator:
 * "aten::mm, seq = 4, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0), (6,0)]". Each field may be absent.
 * Ours has arguments = [t6, t6] in place of the last one, and "group = 0" if it is a collective: see
 * preload/python/annotate_operators.c. */
#pragma once

#include "report/base/util.h"
#include "report/read/number_type.h"

struct operator_field {
	const char *text; /* within the range's text, NULL: absent */
	size_t length;
};

struct operator_text {
	struct operator_field name, seq, op_id, sizes, inputs; /* inputs: the list after input_op_ids */
	struct operator_field arguments;
	struct operator_field group; /* the name of a process group */
};

/* Whether the text has such a field. If it has none, `name` is the whole text. */
bool operator_text_parse(const char *text, struct operator_text *ret);

/* The sequence number of autograd. */
#define OPERATOR_NO_SEQ UINT64_MAX
uint64_t operator_seq(const struct operator_text *t);

/* The next argument of an operator, from { .of = t } on. False: there is no further one. */
struct operator_argument {
	const struct operator_text *of;
	struct operator_field sizes, ids; /* as lists that begin with it */
	uint64_t made_by;	     /* the op_id of the operator whose first result it is; 0: of none */
};
bool operator_argument_next(struct operator_argument *a);

/* The n-th value of a list such as "[t6, [1, 1], , 1]"; without text: there is none. */
struct operator_field operator_list_at(const struct operator_field *list, size_t n);

/* The type of a tensor's elements. */
struct operator_type {
	const char *name; /* in C++, as PyTorch's profiler has it */
	const char *names; /* in Python, with spaces between them; NULL: none */
	unsigned size;
	enum number_type number;
};
/* NULL: not known. Of an argument that is a tensor, by its number in PyTorch; and by a name in Python. */
const struct operator_type *operator_type_of(const struct operator_field *argument);
const struct operator_type *operator_type_named(const struct operator_field *name);

/* Whether it is one of the names, which spaces separate. */
bool operator_is_one_of(const struct operator_field *name, const char *names);

/* Adds "[1, 1]", "True" or "0.25"; nothing of tensors. Returns PyTorch's word for what it is: "float", "Scalar". */
const char *operator_argument_text(const struct operator_field *argument, struct buffer *ret);

/* Adds "[float, float, , [1, 1], 0.25]". */
void operator_arguments_text(const struct operator_field *arguments, struct buffer *ret);

/* "gloo:all_reduce" */
bool operator_is_collective(const char *text);

/* "AddmmBackward0": a node of the graph of autograd. */
bool operator_is_backward(const struct operator_field *name);

/* "CheckpointFunctionBackward": such a node that executes a part of the forward pass again. */
bool operator_is_checkpoint(const struct operator_field *name);

/* What a range is for, in a program that trains a model. */
enum operator_phase { OPERATOR_NO_PHASE, OPERATOR_FORWARD, OPERATOR_BACKWARD, OPERATOR_UPDATE, OPERATOR_DATA,
		      OPERATOR_PHASES };
extern const char *const operator_phases[OPERATOR_PHASES];

/* By the text of a range in one of the phase `outer`; OPERATOR_NO_PHASE: that of the range around it. */
enum operator_phase operator_phase(const char *text, enum operator_phase outer);

/* Sequence numbers: that of an operator within a node of autograd stands for the node's, which may be within another
 * one; `aliases` has the outer number + 1. Follows them until `known` has the number. */
uint64_t operator_first_seq(const struct map *known, const struct map *aliases, uint64_t seq);
