/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol lookup: dlsym(), the driver's own lookup functions, and the loader's bindings that an auditor reports. The
 * functions that they find are replaced by our wrappers.
 *
 * The pointer that the program receives is a trampoline. Each pair of a wrapper and a real function has its own, so a
 * call through it always reaches the function that the lookup found: two libraries may define functions of one name,
 * and the driver may return several functions for one name.
 *
 * A call is recorded at one layer only: a shared libcudart receives the driver's functions unchanged, because calls to
 * libcudart itself are recorded. The driver's tools receive them unchanged as well. The return address identifies the
 * caller.
 *
 * Any thread, any time, also before our constructor. Like dlsym(), not from a signal handler that has interrupted the
 * loader. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

struct entry_row;

/* The row of this symbol, or NULL. */
const struct entry_row *lookup_row(const char *symbol);

/* What the program receives instead of `real`: a trampoline of the row's wrapper. Returns `real` itself if no function
 * of the row's group is recorded, or if no trampoline is left, which the ledger then states. */
void *lookup_trampoline(const struct entry_row *row, void *real);

/* The owner of the code at `caller`. RUNTIME: a shared libcudart. TOOL: the driver, its tools, or our own object. */
enum lookup_caller { LOOKUP_BY_PROGRAM = 1, LOOKUP_BY_RUNTIME, LOOKUP_BY_TOOL };
enum lookup_caller lookup_caller_of(const void *caller);

/* Whether the address is within libpillion.so. The linker fills in the bounds, so it also works before our constructor
 * has run. */
static inline bool lookup_is_ours(const void *address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))),
		_end[] __attribute__((visibility("hidden")));

	return (const char *)address >= __ehdr_start && (const char *)address < _end;
}

/* lookup_driver.c: like lookup_trampoline(), for the function that the driver's function `lookup` (NULL: unknown) has
 * found for `name`. `version`: of CUDA; 0: unknown, in which case `real` is replaced only if the driver exports it
 * under a row's name. */
void *lookup_driver_trampoline(const char *name, int version, uint64_t flags, void *real, const void *lookup,
			       const void *caller);

/* What dlsym() does next: jump to `jump` with the caller's arguments, or, if that is NULL, return `value`. */
struct lookup_result {
	void *value, *jump;
};
struct lookup_result lookup_dlsym(void *handle, const char *name, const void *caller) ALIGNS_STACK;

/* weak.c: sets the weak references of the library with this handle that are bound to us to NULL if no other library
 * defines them. */
void lookup_clear_weak(void *handle);

/* Called at the end of an image: adds to the ledger the libraries whose calls cannot be recorded. Does nothing in a
 * forked child. */
void lookup_note_unseen(void);
