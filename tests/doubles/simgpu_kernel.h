/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that register kernels by hand: the bodies that the simulated device runs for these kernels.
 * Pass a struct simgpu_image in place of a fat binary. A real driver rejects it. */
#ifndef SIMGPU_KERNEL_H
#define SIMGPU_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#define SIMGPU_IMAGE_MAGIC "simgpu-kernels1"
#define SIMGPU_KERNEL_PARAMS 16

struct simgpu_kernel {
	const char *name;
	void (*run)(const unsigned *grid, const unsigned *block, void **params);
	unsigned param_count, param_bytes[SIMGPU_KERNEL_PARAMS];	/* 16 bytes each at most */
};

struct simgpu_image {
	char magic[16];
	size_t count;
	const struct simgpu_kernel *kernels;
	bool are_timed;	/* they end when they return, in real time */
};

#endif
