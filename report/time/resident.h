/* SPDX-License-Identifier: Apache-2.0 */
/* The resident memory of processes over time, from the launcher's samples. */
#pragma once

#include "report/read/job/model.h"

struct resident_point {
	uint32_t pid;
	uint64_t process_start, ns;
	uint64_t kb;
	size_t machine;
	char name[17];
};

/* All samples, by machine and process, then by time. The caller frees them. */
struct resident_point *resident_points(const struct model *m, size_t *ret_count);

/* The position after the samples of the same process. */
size_t resident_end(const struct resident_point *points, size_t count, size_t from);

/* Calls visit for the samples of the image's process, in order of time. */
void resident_of(const struct model *m, const struct image *image, void *context,
		 void (*visit)(void *context, uint64_t bytes, uint64_t ns));
