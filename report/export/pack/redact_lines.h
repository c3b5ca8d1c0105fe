/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of an index, of `capture`, names.sources and names.symbols, and environment variables. */
#pragma once

#include "report/export/pack/redact_text.h"

void redact_lines(struct redactor *r, char *text, size_t size);

/* NAME=value, separated by NUL. Names stay, and numbers, which are ranks. */
void redact_variables(struct redactor *r, char *text, size_t size, bool is_escaped);
