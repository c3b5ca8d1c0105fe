/* SPDX-License-Identifier: Apache-2.0 */
/* Converts return addresses to function, file and line, by the modules recorded in the trace. */
#pragma once

#include "report/names/code_line.h"
#include "report/read/job/model.h"

struct symbols;

/* Without opens_files no module is opened: every frame is module+0xoffset. The paths come from the trace; a file is
 * opened when a name in it is first requested. */
struct symbols *symbols_new(const struct model *m, bool opens_files);
void symbols_free(struct symbols *s);

/* From now on frames of the C library and of CPython's interpreter have only their functions: nobody asks for their
 * lines, and to read their debug information, tens of MB, takes longer than to find why a job died. */
void symbols_skip_c_library(struct symbols *s);
bool symbols_skips_c_library(const struct symbols *s);

/* The line of a return address of an image: `exact` in struct symbol_frame. */
const struct code_line *symbols_frame(struct symbols *s, const struct image *image, uint64_t address);

/* A line with these parts, for what has no frame in a stack: see code_lines_of(). */
const struct code_line *symbols_line(struct symbols *s, const char *function, const char *file, uint32_t line);

struct symbol_frame {
	const struct code_line *line;  /* NULL: not looked up yet, see symbols_name */
	const struct code_line *exact; /* but with "module+0xoffset" or "0xaddress" where there is no name */
	const char *module; /* path, "" if not known */
	uint64_t address;
	bool is_python;      /* module and address are those of the native frame of the interpreter */
	uint32_t first_line; /* of a Python function; 0: not known */
	bool is_interpreter; /* C code of the interpreter in a stack that has Python frames */
	uint32_t place; /* identifies the place: equal for the same address of a file, or instruction of Python code */
};

/* Not a place: the line is a remark about the frames after it. */
#define SYMBOL_NO_PLACE UINT32_MAX

/* The frames of a stack, innermost first, with those of inlined functions. The recorder's own frames, native and
 * Python, are omitted wherever they are, because a sample may be taken in code that a wrapper calls. Borrowed. Returns
 * how many, at most `size`. */
size_t symbols_frames(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size);

/* ---- frames without names: reading them opens no file ---- */

/* Only the native frames of a stack, without the recorder's own, innermost first and without line or first_line.
 * Functions that were inlined at an address are not apart: a frame has the innermost one, see symbols_inlined_in.
 * Returns how many, at most `size`. */
size_t symbols_native(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		      size_t size);

/* How much a Python function is wanted, in ascending order; BEGINS: frames outside of it are none of the process's. */
enum python_rank { PYTHON_BEGINS, PYTHON_UNWANTED, PYTHON_FALLBACK, PYTHON_WANTED };
typedef enum python_rank python_ranking(const char *file, const char *function);

/* Likewise one Python frame: of those that have the highest rank, which *ret_rank is, the innermost one. False:
 * there are none. rank_of is called once for each code object and must always be the same function; NULL: the innermost
 * frame. */
bool symbols_python(struct symbols *s, const struct image *image, uint32_t stack, python_ranking *rank_of,
		    struct symbol_frame *ret, enum python_rank *ret_rank);

/* All Python frames of a stack, the innermost first. Returns how many, at most `size`. */
size_t symbols_pythons(struct symbols *s, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		       size_t size);

/* Looks up the lines and first_line of such a frame. */
void symbols_name(struct symbols *s, struct symbol_frame *f);

/* The source file of a native frame, NULL: not known; borrowed. Reads no symbol table, which is most of the cost of
 * a name. */
const char *symbols_source(struct symbols *s, const struct symbol_frame *f, uint32_t *ret_line);

/* What compiled it, with its options, as "GNU C17 12.2.0 -g -O2"; NULL: not known. Borrowed. */
const char *symbols_compiler(struct symbols *s, const struct symbol_frame *f);

/* The name of a native frame's function, NULL: not known; borrowed. Mangled, or plain if the debug information has only
 * that. Reads the symbol table only where there is no debug information. */
const char *symbols_function(struct symbols *s, const struct symbol_frame *f);

/* Likewise of what the symbol table alone knows, which takes less time: not of inlined functions. */
const char *symbols_symbol(struct symbols *s, const struct symbol_frame *f);

/* Replaces a native frame by that of the function into which it was inlined, at the line of the call. False: it was
 * not inlined. Opens the file, and reads no symbol table. */
bool symbols_inlined_in(struct symbols *s, struct symbol_frame *f);

/* Whether the innermost frame of a stack with Python frames is the interpreter's own code. */
bool symbols_ends_in_interpreter(struct symbols *s, const struct image *image, uint32_t stack);

/* For tests: number of opened files, and of addresses looked up in their symbol tables. */
struct symbols_cost {
	size_t files, names;
};
struct symbols_cost symbols_cost(const struct symbols *s);

/* Appends the names of all functions in stacks, for a file of the capture (symbol_kept.h). To be called before anything
 * else was requested. */
void symbols_keep(struct symbols *s, struct buffer *ret);

/* ---- whole stacks as text ---- */

/* Appends a stack's frames, innermost first, separated by " <- ". Omits frames of the recorder, and C frames of the
 * Python interpreter that are represented by Python frames. */
void symbols_stack(struct symbols *s, const struct image *image, uint32_t stack, struct buffer *ret);

/* Modules that could not be used, with the reasons: of those whose names were requested so far. */
const struct texts *symbols_problems(const struct symbols *s);

/* Appends a line for each recorded module that cannot be used: files of another build than the recorded one, and files
 * that cannot be opened here. */
void symbols_unusable(struct symbols *s, struct texts *ret_changed, struct texts *ret_missing);
