/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader's auditor (audit.c, an object of its own) asks of libpillion.so. */
#ifndef PILLION_AUDIT_H
#define PILLION_AUDIT_H

#include <stdint.h>

/* What the object at path `from` is to have for `name`, which the loader has bound to `bound` in the object at path `in`: our wrapper,
 * or `bound`. A NULL for `name` only says that there is an auditor.
 *
 * Any thread, any signal handler, the loader's locks held or not: takes none, and no memory but a table's. errno is left alone. */
uintptr_t pillion_bind(const char *name, uintptr_t bound, const char *from, const char *in);

#endif
