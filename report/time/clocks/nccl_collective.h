/* SPDX-License-Identifier: Apache-2.0 */
/* The collectives of NCCL of one rank, with their kernels: see align_nccl.c. */
#pragma once

#include "report/read/job/model.h"

struct nccl_collective {
	const struct image *image;
	uint64_t id, number;		 /* of the communicator, and of the collective on it: the same in all ranks */
	uint64_t called_ns, returned_ns; /* of the call that launches the kernel */
	uint64_t start_ns, end_ns;	 /* of the kernel; end 0: it is not known */
	uint32_t function, stack;	 /* stack 0: not taken */
};

/* Calls visit for each collective to which all ranks contribute. Nothing is visited of an image that was not recorded
 * without loss. */
typedef void nccl_visit(void *context, const struct nccl_collective *c);
void nccl_collectives(const struct model *m, const struct image *image, void *context, nccl_visit *visit);
