/* SPDX-License-Identifier: Apache-2.0 */
/* From return addresses to function, file and line, by the modules that the trace names. */
#ifndef PILLION_SYMBOL_H
#define PILLION_SYMBOL_H

#include "../read/model.h"

struct symbols;

/* Without opens_files no module is looked into: every frame is module+0xoffset. Paths come from the trace. */
struct symbols *symbols_new(const struct model *m, bool opens_files);
void symbols_free(struct symbols *s);

/* "function (file:line)", "function", "module+0xoffset" or "0xaddress" for a return address of an image. Borrowed. */
const char *symbols_frame(struct symbols *s, const struct image *image, uint64_t address);

struct symbol_frame {
	const char *text;   /* as symbols_frame gives it */
	const char *module; /* path, "" if not known */
	uint64_t address;
	bool is_python;      /* module and address are those of the interpreter's native frame */
	uint32_t first_line; /* of a Python function; 0: not known */
	bool is_interpreter; /* the interpreter's own C code in a stack that has Python frames */
};

/* The frames of a stack, innermost first, those of the recorder left out wherever they stand: a sample may come upon what a wrapper
 * calls. Borrowed. Returns how many, at most `size`. */
size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size);

/* Appends a stack's frames, innermost first, " <- " between them. Frames of the recorder itself are left out, and those of the
 * Python interpreter's C code where Python frames stand for them. */
void symbols_stack(struct symbols *s, const struct image *image, uint32_t stack, struct buffer *ret);

/* Modules that could not be used, and why. */
const struct texts *symbols_problems(const struct symbols *s);

#endif
