/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols of the objects that are loaded, found in their ELF tables. Not by dlsym: that takes the lock that dlopen
 * holds while constructors run, may allocate, and lies in libdl on older systems, which we must not pull in.
 *
 * An object is in the list before its relocations and constructors are through: what is found may not be called but
 * where this thread has come back from the library, or has opened it.
 *
 * Any thread; takes the loader's list lock (dl_iterate_phdr), so not from a signal handler. errno is left alone. */
#ifndef PILLION_DSO_H
#define PILLION_DSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What RTLD_NEXT means: the default version of `symbol` in the first object after ours that defines it; NULL: none. */
void *dso_next(const char *symbol);

/* The same from the loader's list for debuggers, without a lock or a call into libc: for our first moments, when a
 * sanitizer's runtime has put its strcmp and dl_iterate_phdr before libc's and does not know those yet. NULL also where
 * there is no such list. */
void *dso_next_unlocked(const char *symbol);

/* dso_next() for many at once: each *place that still holds `initial` is given the definition, where there is one. */
typedef void *dso_place __attribute__((may_alias));
struct dso_wanted {
	const char *symbol;
	dso_place *place;
	void *initial;
};
void dso_next_each(const struct dso_wanted *wanted, size_t count);

/* What a reference in the code at `caller` means without interposers: the first definition in the object around
 * `caller` and its dependencies, breadth first; for the main program, or where those have none, dso_next(). Never
 * ours. */
void *dso_from(const void *caller, const char *symbol);

/* `symbol` as the object around `address` defines it; NULL: it does not. */
void *dso_beside(const void *address, const char *symbol);

/* Many of them at once. False: there is no such object. */
bool dso_all_beside(const void *address, const char *const *symbols, void **ret, size_t count);

/* Is there a definition of `symbol` in an object before ours? */
bool dso_before(const char *symbol);

/* As dso_from(), but in the caller's own object and its dependencies alone: NULL for the main program. */
void *dso_below(const void *caller, const char *symbol);

/* The definition of `symbol` in the object whose load bias and dynamic section these are; NULL: none. Takes no lock. */
void *dso_symbol(uintptr_t base, const void *dynamic, const char *symbol);

/* The definition in our own object; NULL: none. Takes no lock. */
void *dso_own_symbol(const char *symbol);

/* Where the object around `address` begins; `address` itself: there is none (code made at run time). */
uintptr_t dso_start(const void *address);

/* The path of the object around `address` as the loader knows it ("" for the main program). False: cut or none. */
bool dso_path(const void *address, char *ret, size_t size);

/* The path of the first object whose file's name begins with `prefix` ("libcudart.so"). False: cut or none. */
bool dso_library(const char *prefix, char *ret, size_t size);

/* `symbol` as that object defines it; NULL: there is no such object, or it does not. */
void *dso_library_symbol(const char *prefix, const char *symbol);

/* For each object that has a reference to a wanted function bound to an object after ours: past us, as those do that
 * are opened with RTLD_DEEPBIND. `symbol`: the first of them. Both are called with the loader's list lock held. */
void dso_bound_past_us(bool (*is_wanted)(const char *symbol), void (*say)(const char *path, const char *symbol));

/* The loaded segments of our own object. */
void dso_own_range(uintptr_t *ret_start, uintptr_t *ret_end);

#endif
