/* SPDX-License-Identifier: Apache-2.0 */
/* analyze --sarif: the Static Analysis Results Interchange Format 2.1.0, which code hosts show beside lines. */
#ifndef PILLION_SARIF_H
#define PILLION_SARIF_H

#include "report/answers/answer.h"

/* What to fix as warnings, what saves most first; work that may be needed, and what rules have found beside, as notes.
 * Files below the working directory are named from it. */
void sarif_write(const struct answer *a, struct buffer *ret);

#endif
