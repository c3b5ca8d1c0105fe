/* SPDX-License-Identifier: Apache-2.0 */
/* An export in several files, NAME.001.json and so on: --split-time, --split-size. */
#pragma once

#include "report/export/export.h"

/* Limits for each part; 0: none. */
struct split {
	uint64_t time_ns, bytes;
};

bool split_is_requested(const struct split *s);

/* From the command line. 0 or -EINVAL. */
int split_size(const char *text, uint64_t *ret_bytes);
int split_time(const char *text, uint64_t *ret_ns);

/* As export_write, for each part of the time where that is asked for; x->written has the names. A part of a
 * microsecond may be larger than asked. The model is filtered meanwhile, and afterwards as it was. */
int export_split(struct export *x, struct model *m, const struct export_type *type, const char *path, bool is_forced,
		 const struct split *split, struct err *err);
