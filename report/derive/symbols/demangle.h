/* SPDX-License-Identifier: Apache-2.0 */
/* Names as compilers write them, made readable. */
#ifndef PILLION_DEMANGLE_H
#define PILLION_DEMANGLE_H

#include "report/base/util.h"

/* Appends "void ns::add<float>(float*, int)" for C++'s mangled name, "core::fmt::write::h0123456789abcdef" for Rust's older kind; any other as it is. */
void demangle(struct buffer *ret, const char *name);

/* Appends "add" of the same: the function's own name, neither where it is nor what it takes. */
void demangle_base(struct buffer *ret, const char *name);

#endif
