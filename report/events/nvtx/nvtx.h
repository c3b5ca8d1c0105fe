/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges: a push and its pop, or a start and its end. */
#pragma once

#include "report/read/job/model.h"

struct nvtx_range {
	uint64_t start, end; /* ticks */
	uint32_t domain, text;
	bool is_pushpop;
	bool is_unfinished; /* open at the end of the process */
	const struct trace_thread *thread, *end_thread; /* end_thread NULL: the range did not end */
	const uint64_t *args;				/* ARG slots of its push or start */
	uint32_t args_count;
	const uint64_t *payload, *end_payload; /* slots as in struct event, of its start and of its end */
};

struct nvtx_counts {
	uint64_t unmatched_starts, unmatched_ends;
};

/* Calls visit for all ranges of one image, in no particular order. `counts` may be NULL. */
void nvtx_ranges(const struct image *image, struct nvtx_counts *counts, void *context,
		 void (*visit)(void *context, const struct nvtx_range *range));

/* Appends the name that ranges are summed by: "domain:text", without the numbers and sizes that PyTorch appends to an
 * operator's name. */
void nvtx_sum_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret);

/* Whether there is a range with these numbers or sizes. */
bool nvtx_has_operators(const struct model *m);

/* Appends "domain:text", or only the text in the default domain, like nsys. */
void nvtx_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret);
