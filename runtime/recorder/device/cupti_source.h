/* SPDX-License-Identifier: Apache-2.0 */
/* Where device times come from, for the ledger. Under a guard, by the thread that has the claim of cupti_state.h. */
#pragma once

#include <limits.h>

/* The file of CUPTI; "": none. */
extern char cupti_source_library[PATH_MAX];

/* Records the source of the device records that follow, one of TF_SOURCE_*. */
void cupti_source_write(unsigned kind);

/* Notes start, why and the library. `what`: the function that failed with `result`, or NULL. */
void cupti_source_note(const char *start, const char *why, const char *what, int result);
