/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the program's own through which a stack passes: the time of libraries, of C code below Python and of
 * the standard library is that of the nearest of them. What is the program's own, attribution.h tells. A stack without
 * such a frame has the innermost function with a name that is not of libc, as symbol tables know it, in the program by
 * its name: "sqlite3VdbeExec" in "sqlite3". A comprehension is a part of the function in which it is written, as it is
 * since Python 3.12. */
#pragma once

#include "report/names/attribution.h"

struct own_function {
	char *name;
	char *file;   /* "": not known */
};

void own_function_done(struct own_function *f);

struct own_frame {
	uint32_t function, line; /* line 0: not known */
};

struct own_stack {
	size_t first;	 /* of the frames, the innermost first */
	uint32_t count;
	uint32_t callee; /* what its innermost frame calls of a library: in texts; 0: nothing */
	bool is_foreign; /* it has no frame of the program's own, but those that are known instead; callee: the
			  * library of the innermost one */
	bool is_import;	 /* an import statement is being executed */
	bool is_end;	 /* the program ends, and frees what its functions have made: in code of others only */
	bool is_model;	 /* its innermost frame has called a neural network, an optimizer, a compiled function */
	bool is_algebra; /* of no such model: it computes in a library of linear algebra, as fast as that can */
};

struct own_stacks {
	struct attribution attribution;
	struct own_function *functions;
	size_t function_count, function_capacity;
	struct own_frame *frames;
	size_t frame_count, frame_capacity;
	struct own_stack *stacks;
	size_t stack_count, stack_capacity;
	struct texts texts;  /* callees; the first one is "" */
	struct map by_name;  /* hashes of name and file -> function */
	struct map by_place; /* -> function << 32 | line */
	struct map by_stack; /* (stack, image) -> stack */
	struct map by_text;  /* hash -> text */
	struct symbol_frame *read;
};

void own_stacks_init(struct own_stacks *o, struct symbols *symbols);
void own_stacks_done(struct own_stacks *o);

/* The number of a stack, in stacks. */
uint32_t own_stack_of(struct own_stacks *o, const struct image *image, uint32_t stack);

static inline const struct own_frame *own_frames(const struct own_stacks *o, uint32_t stack)
{
	return o->frames + o->stacks[stack].first;
}

/* Whether it is the top level of a file. */
bool own_is_top(const struct own_stacks *o, uint32_t function);
