/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of the ranges that PyProf puts around the functions of PyTorch, Python's dictionaries as text:
 *   {'traceMarker': ['train.py:12', ...]}         the lines that called the function
 *   {'mod': 'Linear', 'strRepr': 'in_fea...'}     of a module's forward function
 *   {'mod': 'torch', 'op': 'matmul', 'args': [{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'half'}]} */
#pragma once

#include "report/base/util.h"
#include "report/events/nvtx/operator_work.h"

struct operator_marker {
	struct operator_field mod, op;
	const char *args; /* within the range's text: what follows 'args': */
};

/* Whether the text is that of the third kind. */
bool operator_marker_parse(const char *text, struct operator_marker *ret);

/* Whether it is of the second kind. */
bool operator_marker_is_module(const char *text);

/* Appends "train.py:12,model.py:34", without the lines of PyTorch itself, unless `ret` is NULL. False: the text is not
 * of the first kind. */
bool operator_marker_trace(const char *text, struct buffer *ret);

/* As operator_work(). A cell of a recurrent network consists of several products: the work is that of the nth one, of
 * the layer's input (0) or of its state (1). */
bool operator_marker_work(const struct operator_marker *m, size_t nth, struct operator_work *ret);

/* Whether it is such a cell. */
bool operator_marker_is_cell(const struct operator_marker *m);
