/* SPDX-License-Identifier: Apache-2.0 */
/* From return addresses to function, file and line, by the modules that the trace names. */
#ifndef PILLION_SYMBOL_H
#define PILLION_SYMBOL_H

#include "report/read/model.h"

struct symbols;

/* Without opens_files no module is looked into: every frame is module+0xoffset. Paths come from the trace; a file is opened when a
 * name in it is first asked for. */
struct symbols *symbols_new(const struct model *m, bool opens_files);
void symbols_free(struct symbols *s);

/* "function (file:line)", "function", "module+0xoffset" or "0xaddress" for a return address of an image. Borrowed. */
const char *symbols_frame(struct symbols *s, const struct image *image, uint64_t address);

struct symbol_frame {
	const char *text;   /* as symbols_frame gives it; NULL: not asked for, see symbols_name */
	const char *module; /* path, "" if not known */
	uint64_t address;
	bool is_python;      /* module and address are those of the interpreter's native frame */
	uint32_t first_line; /* of a Python function; 0: not known */
	bool is_interpreter; /* the interpreter's own C code in a stack that has Python frames */
	uint32_t place;	     /* a number for where it stands: equal for the same address of a file, or instruction of Python code */
};

/* A place that is none: the line is a remark about those after it, and has its text. */
#define SYMBOL_NO_PLACE UINT32_MAX

/* The frames of a stack, innermost first, those of the recorder left out wherever they stand: a sample may come upon what a wrapper
 * calls. Borrowed. Returns how many, at most `size`. */
size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size);

/* ---- frames that nobody may look at: reading them opens no file ---- */

/* The native frames of a stack alone, those of the recorder left out, innermost first and without text or first_line. Returns how
 * many, at most `size`. */
size_t symbols_native(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret, size_t size);

/* Likewise one of the Python frames alone: the innermost whose file `is_wanted` is true of, which *ret_is_wanted tells, or the
 * innermost. False: there are none. Of each code is_wanted is asked once: it is always the same one. */
bool symbols_python(struct symbols *s, const struct image *image, uint32_t stack, bool (*is_wanted)(const char *file),
		    struct symbol_frame *ret, bool *ret_is_wanted);

/* Gives such a frame the rest. */
void symbols_name(struct symbols *s, struct symbol_frame *f);

/* The file of a native frame's source, NULL: not known; borrowed. No symbol table is read for it, which is most of a name's cost. */
const char *symbols_source(struct symbols *s, const struct symbol_frame *f, uint32_t *ret_line);

/* Whether the innermost frame of a stack that has Python frames is the interpreter's own. */
bool symbols_ends_in_interpreter(struct symbols *s, const struct image *image, uint32_t stack);

/* For tests: files opened, and addresses looked for in their symbol tables. */
struct symbols_cost {
	size_t files, names;
};
struct symbols_cost symbols_cost(const struct symbols *s);

/* ---- whole stacks as text ---- */

/* Appends a stack's frames, innermost first, " <- " between them. Frames of the recorder itself are left out, and those of the
 * Python interpreter's C code where Python frames stand for them. */
void symbols_stack(struct symbols *s, const struct image *image, uint32_t stack, struct buffer *ret);

/* Modules that could not be used, and why. */
const struct texts *symbols_problems(const struct symbols *s);

#endif
