/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of PyTorch's flight recorder and of NCCL's inspector plugin: what they have, for reports. */
#pragma once

#include "report/base/table/emit.h"

enum dump_kind { DUMP_FLIGHT, DUMP_INSPECTOR, DUMP_KINDS };

struct dumps;

/* Whether the file is such a dump and not a capture, by its first bytes; also one that cannot be read: a pickle, other
 * JSON, an empty file whose name ends in .json or .log. */
bool dump_recognise(const char *path);

/* NULL with the reason in err: this build has no sqlite, or one that does not read JSON. */
struct dumps *dumps_new(struct err *err);

/* Reads a file. What cannot be read is described in `problems`; the rest is kept. */
void dumps_read(struct dumps *d, const char *path, struct texts *problems);

/* Whether anything of that kind was read; d may be NULL. */
bool dumps_have(const struct dumps *d, enum dump_kind kind);

/* Adds the rows of a SELECT whose columns are those of the table. */
int dumps_select(const struct dumps *d, const char *sql, struct table *table, struct err *err);
