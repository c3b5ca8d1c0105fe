/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines as reports show them: passwords, tokens and keys in them are masked. */
#pragma once

#include "report/base/util.h"

/* False: command lines are shown as they were. To be set before captures are read. */
extern bool command_masks_secrets;

/* Joins NUL-terminated arguments, up to `end`, to a line; those that a shell would split are quoted. Masked are the
 * values of options and variables whose names tell that they are secret (--password X, --token=X, PGPASSWORD=X), and
 * the password of a URL. The caller frees it. */
char *command_join(const char *arguments, const char *end);

/* The same of one text. The caller frees it. */
char *command_mask(const char *text);
