/* SPDX-License-Identifier: Apache-2.0 */
/* Finds symbols of the loaded objects in their ELF tables. dlsym is not used: it takes the lock that dlopen holds while
 * constructors run, may allocate, and is in libdl on older systems, which we must not load.
 *
 * An object is in the list before its relocations and constructors are complete. A function that is found in it may
 * only be called if this thread has opened the library or has returned from a call of it.
 *
 * Any thread. Searches the loader's list (loader.h), so a signal handler must not call it. errno is preserved. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

/* As RTLD_NEXT: the default version of `symbol` in the first object after ours that defines it; NULL: none. What is in
 * the objects that dso_keep_next() has kept is found without the loader's list, so also in a signal handler. */
void *dso_next(const char *symbol) ALIGNS_STACK;
void dso_keep_next(void); /* by the constructor */

/* The same from the loader's list for debuggers, without a lock or a call into libc. It is for calls before our
 * constructor: a sanitizer's runtime interposes strcmp and dl_iterate_phdr and has not found those of libc yet. NULL
 * also if there is no such list. */
void *dso_next_unlocked(const char *symbol);

/* The definition that a reference in the code at `caller` would be bound to without interposers: the first one in the
 * object around `caller` and its dependencies, breadth first; for the main program, or if they have none,
 * dso_next(). Never ours. */
void *dso_from(const void *caller, const char *symbol);

/* The definition of `symbol` in the object around `address`; NULL: none. */
void *dso_beside(const void *address, const char *symbol);

/* The same for many symbols at once. False: there is no such object. */
bool dso_all_beside(const void *address, const char *const *symbols, void **ret, size_t count);

/* Whether an object before ours defines `symbol`. */
bool dso_before(const char *symbol);

/* As dso_from(), but only in the caller's own object and its dependencies; NULL for the main program. */
void *dso_below(const void *caller, const char *symbol);

/* The definition of `symbol` in the object whose load bias and dynamic section these are; NULL: none. Takes no lock. */
void *dso_symbol(uintptr_t base, const void *dynamic, const char *symbol);

/* DT_SONAME of that object, in its memory; NULL: it has none. Takes no lock. */
const char *dso_soname(uintptr_t base, const void *dynamic);

/* The definition in our own object; NULL: none. Takes no lock. */
void *dso_own_symbol(const char *symbol);

/* The start of the object around `address`; `address` itself if there is none (code generated at run time). */
uintptr_t dso_start(const void *address);

/* The path of the object around `address` as the loader knows it ("" for the main program). False: truncated or
 * none. */
bool dso_path(const void *address, char *ret, size_t size);
const char *dso_name(const void *address); /* likewise; the loader's own string, which lives as long as the object */

/* Is there an object whose file name begins with one of these? */
bool dso_has_library(const char *const *prefixes, size_t count);

/* The path of the first object whose file name begins with `prefix` ("libcudart.so"). False: truncated or none. */
bool dso_library(const char *prefix, char *ret, size_t size);

/* The definition of `symbol` in that object; NULL: there is no such object or definition. */
void *dso_library_symbol(const char *prefix, const char *symbol);

/* Calls say() for each object with a reference to a wanted function that is bound to an object after ours, as in
 * libraries opened with RTLD_DEEPBIND. `symbol` is the first such function. Both functions are called with the loader's
 * list lock held. */
void dso_bound_past_us(bool (*is_wanted)(const char *symbol), void (*say)(const char *path, const char *symbol));

/* The loaded segments of our own object. */
void dso_own_range(uintptr_t *ret_start, uintptr_t *ret_end);
