/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader's auditor (audit.c, a separate object) calls in libpillion.so. */
#ifndef PILLION_AUDIT_H
#define PILLION_AUDIT_H

#include <stdint.h>

/* The loader has bound `name` to `bound`, in the object at path `in`, for the object at path `from`. Returns our
 * wrapper, or `bound`. name NULL only announces that there is an auditor.
 *
 * Any thread, any signal handler, whether the loader's locks are held or not: it takes no lock, and its only memory
 * is that of tables. errno is kept. */
uintptr_t pillion_bind(const char *name, uintptr_t bound, const char *from, const char *in);

#endif
