/* SPDX-License-Identifier: Apache-2.0 */
/* The function of libpillion.so that the loader's auditor (audit.c, a separate object) calls. */
#pragma once

#include <stdint.h>

/* The loader has bound `name` to `bound`, in the object at path `in`, for the object at path `from`. Returns our
 * wrapper, or `bound`. name NULL: only announces that an auditor exists.
 *
 * Any thread and any signal handler, whether the loader's locks are held or not: it takes no lock and allocates only
 * entries of intern tables. errno is preserved. */
uintptr_t pillion_bind(const char *name, uintptr_t bound, const char *from, const char *in);
