/* SPDX-License-Identifier: Apache-2.0 */
/* Where the operations of XLA come from, as the texts of its modules say (preload/python/annotate_jax.py). */
#pragma once

#include "report/base/interner.h"
#include "report/read/reader.h"

struct jax_origin {
	/* "attention/dot_general": the path of jax.named_scope and transformations, and the primitive. "(several)":
	 * modules of this name differ in it. "": not known */
	const char *scope;
	const char *line; /* "/home/a/train.py:17"; "": not known, or modules differ in it */
};

struct jax_modules {
	struct jax_origin *items;
	size_t count, capacity;
	struct interner texts;
	struct map by_name; /* hashes of the module's name and of the operation's -> position + 1 */
};

/* Those of one image. `t` may be NULL. The caller frees *m with jax_modules_done. */
void jax_modules_make(struct jax_modules *m, const struct trace *t);
void jax_modules_done(struct jax_modules *m);

/* `name`: of an operation, or of the kernel that executes it, in which '_' replaces '.' and '-'. Operations within a
 * fusion are not found, because they are not executed as such. NULL: not known. Borrowed. */
const struct jax_origin *jax_modules_find(const struct jax_modules *m, const char *module, const char *name);
