/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON by SQLite's functions for it. Paths are those of SQLite: "$.params.name". */
#pragma once

#include "report/base/util.h"

struct json_reader; /* one text at a time */

/* NULL with the reason in err: this build has no sqlite, or one without these functions. */
struct json_reader *json_reader_new(struct err *err);
void json_reader_free(struct json_reader *r);

/* False: it is not JSON. The text is borrowed. */
bool json_read(struct json_reader *r, const char *text);

/* "object", "array", "text", "integer", "real", "true", "false", "null"; "": there is nothing at that path. Borrowed
 * until the next call. */
const char *json_type(struct json_reader *r, const char *path);

/* The text or the number at that path; "": there is none. Likewise borrowed. */
const char *json_text(struct json_reader *r, const char *path);

/* The texts of an array. -EINVAL: it is none, or has others. */
int json_texts(struct json_reader *r, const char *path, struct texts *ret);
