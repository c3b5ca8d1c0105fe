/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program can carry libpillion.so, by its ELF header and, for a script, that of its interpreter. Used by the
 * launcher and by the exec hooks in the target, also in a vfork child: no allocation, raw system calls by descriptor,
 * at most 8 KiB of stack. */
#pragma once

#include <stdbool.h>

/* libpillion.so, the one that also has lines of Python (--lines-of), the one that has OpenMP as well (-t openmp), the
 * one that has malloc as well (--memory), and the loader's auditor, all in one directory. */
#define PRELOADABLE_LIBRARY "libpillion.so"
#define PRELOADABLE_OPENMP "libpillion-openmp.so"
#define PRELOADABLE_MEMORY "libpillion-memory.so"
#define PRELOADABLE_LINES "libpillion-lines.so"
#define PRELOADABLE_LIBRARIES PRELOADABLE_LIBRARY, PRELOADABLE_LINES, PRELOADABLE_OPENMP, PRELOADABLE_MEMORY
#define PRELOADABLE_AUDITOR "libpillion-audit.so"

enum preloadable_kind {
	PRELOADABLE,	  /* or unknown */
	PRELOADABLE_BARE, /* ignores LD_PRELOAD, which is kept for its children */
	PRELOADABLE_HARM, /* LD_PRELOAD would break it or make its loader print an error: our library is removed */
};

struct preloadable {
	enum preloadable_kind kind;
	const char *reason;  /* static storage: "static", "setuid", "musl", "machine", "libc", "listing"; NULL for
			PRELOADABLE */
	bool is_loader;	     /* ld.so itself, whose first arguments are its own */
	char runtime[64];    /* a sanitizer's library that must precede ours in LD_PRELOAD, or "" */
};

/* `path`: as for execve. */
void preloadable_check(const char *path, struct preloadable *ret);
void preloadable_check_fd(int fd, struct preloadable *ret);

/* After these: whether the loader is only to list the program's libraries (ldd, ld.so --list). No code of the program
 * runs then, and a library of ours would be in the list, and in the images and packages that are built from it. */
void preloadable_check_listing(char *const *arguments, char *const *environment, struct preloadable *ret);
