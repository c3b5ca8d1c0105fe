/* SPDX-License-Identifier: Apache-2.0 */
/* Which frame of a stack its time is attributed to: the innermost Python frame of user code, which is code that is
 * neither in an interpreter's lib/pythonX.Y nor in site-packages or dist-packages nor in a frozen module nor generated
 * by a library, and what was given to exec() or `python -c` only if there is no other; else the innermost Python
 * frame; else, without Python frames, the innermost native frame, or inlined function, that has a source line and is
 * not in a module of the system, the interpreter or such a directory, one in a header of the system only if there is
 * no other; else, in programs without source lines, the innermost frame in the executable, which is user code unless
 * the program is one of the system; else the innermost frame outside of the system; else the innermost frame. What a
 * CUDA compiler generates to launch a kernel (launch_stub.h) and the frames inside of it are skipped.
 *
 * This reads no symbol table but for the entry point of the executable, and opens only files of the user's own modules,
 * for stacks without Python frames. */
#pragma once

#include "report/names/symbol.h"

struct attribution {
	struct symbols *symbols; /* borrowed */
	bool is_innermost;	 /* attributed to the innermost frame, whether it is user code or not */
	struct symbol_frame *frames;
	struct map users; /* place of a frame -> whether it is user code: enum standing */
};

/* False: the stack is empty, lost, or 0 (not taken). The frame has no line yet (see symbols_name) unless
 * is_innermost. */
bool attribution_stack(struct attribution *c, const struct image *image, uint32_t stack, struct symbol_frame *ret,
		       bool *ret_is_users);
void attribution_done(struct attribution *c);

/* The line of a stack. NULL: where attribution_stack() is false. */
const struct code_line *attribution_line(struct attribution *c, const struct image *image, uint32_t stack);
/* Likewise `exact` in struct symbol_frame. */
const struct code_line *attribution_exact(struct attribution *c, const struct image *image, uint32_t stack);

/* Appends its text; `none` if there is no line. */
void attribution_text(struct attribution *c, const struct image *image, uint32_t stack, const char *none,
		      struct buffer *ret);

/* Appends "Net.Linear": the modules of PyTorch whose forward() is in the stack, the outermost first. */
void attribution_modules(struct attribution *c, const struct image *image, uint32_t stack, struct buffer *ret);

/* All frames of a stack that are user code, the innermost first: those with lines, if there are any; none of a program
 * of the system, but for what it executes. Borrowed until the next call. Returns how many. */
size_t attribution_users(struct attribution *c, const struct image *image, uint32_t stack,
			 const struct symbol_frame **ret);

/* Whether a native module belongs to the system, the interpreter or an installed package. */
bool attribution_is_system(const char *module);

/* Whether the image runs a program of the system's directories for programs. */
bool attribution_is_systems_program(const struct image *image);

/* Whether a module is a library of MPI, of PMIx, or of what they communicate by. */
bool attribution_is_mpi(const char *module);

/* Whether the program is the interpreter, by its name. */
bool attribution_is_python_program(const struct image *image);

/* Whether a stack is in a library of MPI, of PMIx, or of what they communicate by. */
bool attribution_is_of_mpi(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether a module that is in the image's stacks is such a one. */
bool attribution_uses_module(const struct image *image, bool (*is_such)(const char *path));

/* Whether a module is a run-time library of OpenMP. */
bool attribution_is_openmp(const char *module);
/* Of BLAS and LAPACK for the CPU. */
bool attribution_is_algebra(const char *module);
bool attribution_is_sqlite(const char *module);

/* Whether the innermost function of a stack is of the run-time library of OpenMP, which polls for other threads. */
bool attribution_is_of_openmp(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether a stack passes through that library: in what OpenMP calls, or in the library itself. */
bool attribution_is_below_openmp(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether a stack is in code that polls while it waits: libraries of MPI for messages, the run-time library of OpenMP
 * for other threads. */
bool attribution_polls(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether the innermost function of a stack is code of the Python interpreter. */
bool attribution_is_interpreter(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether a stack ends in the interpreter's loop, or in what that does for an operator: not in a function in C that
 * Python code has called, be it built into the interpreter. */
bool attribution_runs_python(struct symbols *s, const struct image *image, uint32_t stack);

/* Whether a Python frame is of the import of a module: such a frame is in the stacks of all import statements. Other
 * functions of the import system also compile files and name them for programs that import nothing. */
bool attribution_is_import(const char *file, const char *function);

/* Whether such a frame is of the function in which a process of multiprocessing begins: where it was forked, the frames
 * outside of it are those of the process that started it. */
bool attribution_begins_process(const char *file, const char *function);

/* Whether any Python frame of the stack is of an import. */
bool attribution_has_import(const struct image *image, uint32_t stack);

/* Whether a Python file or a module was installed, as opposed to written by the user. */
bool attribution_is_library(const char *path);
/* "<string>", "<class 'C'> compilation 3", but not what a person has typed. */
bool attribution_is_generated(const char *file);
/* Whether multiprocessing has started the process, by a text for `python -c`. */
bool attribution_is_worker(const struct image *image);
/* Whether a source file is a header of the system or of a compiler, whose functions are inlined into those of the user
 * or copied by a template, or a library's. */
bool attribution_is_header(const char *file);

/* ---- what a function of a runtime is, by its name ---- */

bool function_ends_program(const char *name);
/* A part of Python's cyclic garbage collector. */
bool function_collects_garbage(const char *name);
/* Of PyTorch's c10d: a rank waits there for others, whatever the backend. */
bool function_awaits_ranks(const char *name);
/* The top level of a file of Python. */
bool function_is_module(const char *name);
/* Of Python's asyncio: it writes what no coroutine has caught. */
bool function_reports_for_loop(const char *file, const char *name);
/* Of Python's multiprocessing: it waits for connections, and reads nothing. */
bool function_awaits_connections(const char *file, const char *name);
/* Of PyTorch: it keeps the stack of its caller as text. */
bool function_keeps_stack(const char *file, const char *name);
/* Of Python: Stream.synchronize, Event.wait ... */
bool function_synchronizes(const char *name);
