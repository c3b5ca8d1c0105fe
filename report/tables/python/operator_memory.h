/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of PyTorch's allocators on the CPU and on devices, as far as --memory=torch has recorded them. */
#pragma once

#include "report/read/job/model.h"

enum tensor_place { TENSOR_CPU, TENSOR_DEVICE, TENSOR_PLACES }; /* DEVICE: all devices of the process */

struct tensor_change {
	const struct trace_thread *thread;
	uint64_t ticks;
	int64_t bytes; /* negative: freed */
	enum tensor_place place;
	bool is_shown; /* the filter leaves it */
};

bool tensors_are_recorded(const struct image *image);

/* They were to be recorded, but PyTorch has reported none. */
bool tensors_are_missing(const struct image *image);

/* Calls owner for each change in the order of time; it returns a number for the owner of a new block. Then calls peak
 * for each owner that had blocks when most bytes were in use: these sums are the peak of that place. Blocks that were
 * allocated before the recording began are not known, and their frees on the CPU are left out, as torch.profiler leaves
 * them out. */
struct tensor_visitor {
	void *context;
	uint32_t (*owner)(void *context, const struct tensor_change *change);
	void (*peak)(void *context, uint32_t owner, enum tensor_place place, uint64_t bytes);
};
void tensors_replay(const struct model *m, const struct image *image, const struct tensor_visitor *v);
