/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of a thread of a look, native and Python, with names. */
#pragma once

#include "report/causes/where/look.h"
#include "report/names/code_line.h"

struct where_files; /* the opened files, shared by all stacks */

struct where_files *where_files_new(void);
/* As symbols_skip_c_library. */
void where_files_skip_c_library(struct where_files *f);
void where_files_free(struct where_files *f);

/* Files that could not be used, with the reasons. */
const struct texts *where_files_problems(const struct where_files *f);

struct where_frame {
	const struct code_line *line; /* "module+0xoffset" without a name; of the files or the symbols */
	const char *path; /* of the native frame's file, "" if not known; borrowed */
	bool is_python, is_named;
	bool is_library; /* its source is a header of the system or of the compiler, or a module of Python's */
	bool is_hidden; /* C code of the interpreter in a stack with Python frames */
};

struct where_stack {
	struct where_frame *frames; /* innermost first, without those of the recorder */
	size_t count, capacity;
	struct code_lines *lines; /* those that it adds */
	bool is_complete; /* it reaches the outermost frame */
};

/* The caller frees it by where_stack_done(). */
void where_stack_read(struct where_files *files, const struct look *l, const struct look_process *p,
		      const struct look_thread *t, struct where_stack *ret);
/* Likewise of a task, with the lines of another stack. */
void where_stack_of_task(const struct where_stack *other, const struct look_process *p, const struct look_task *task,
			 struct where_stack *ret);
void where_stack_done(struct where_stack *s);

/* The innermost frame of the program itself: Python, or native with a source line outside of libc. NULL: none. */
const struct where_frame *where_stack_line(const struct where_stack *s);
