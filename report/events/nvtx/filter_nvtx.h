/* SPDX-License-Identifier: Apache-2.0 */
/* --filter-nvtx: restricts the filter to NVTX ranges. */
#pragma once

#include "report/events/filter.h"

/* "RANGE[@DOMAIN][/INDEX]": the NVTX ranges of that text, all of them or the INDEX-th by its start, counted from 0, or
 * backwards from -1, the last one. Domain '*' is any domain; '\' escapes '@', '/' and '\'. 0, -EINVAL, or -ENODATA if
 * there is no such range; err then names some that exist. */
int filter_nvtx(struct model *m, const char *spec, struct err *err);

/* One of these ranges, in the common time. */
struct nvtx_instance {
	const struct image *image;
	const struct trace_thread *thread; /* that began it */
	uint64_t from_ns, to_ns;
};

/* The ranges themselves by their start; the caller frees *ret, also on failure. `option` is named in messages. */
int nvtx_instances(const struct model *m, const char *option, const char *spec, struct nvtx_instance **ret,
		   size_t *ret_count, struct err *err);
