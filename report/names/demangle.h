/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles the names that compilers generate. */
#pragma once

#include "report/base/util.h"

/* Appends "void ns::add<float>(float*, int)" for a mangled C++ name, "core::fmt::write::h0123456789abcdef" for a
 * name in Rust's legacy scheme, "work::compute" for a procedure in a module of Fortran; any other name unchanged. */
void demangle(struct buffer *ret, const char *name);

/* demangle_rust.c: a name in Rust's scheme v0, "hash::map::HashMap::entry". False: it is none, and nothing is
 * appended. */
bool demangle_rust_v0(struct buffer *ret, const char *name);

/* The same of a name from a symbol table, whose version, as in name@@GLIBC_2.34, is no part of it. */
void demangle_symbol(struct buffer *ret, const char *name);

/* The name by which programs call a function of libc, of the one that it has there: __write, __libc_write. */
const char *demangle_libc(const char *name);

/* Appends the base name, "add": without namespaces and classes, and without parameters. */
void demangle_base(struct buffer *ret, const char *name);
