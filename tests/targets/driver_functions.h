/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that find the driver's functions themselves. FUNCTIONS(X) is the program's list, DRIVER_BASICS and any
 * others that it calls: X(name, suffix of the ABI name, version that introduced it). The pointers are in `d`. */
#ifndef DRIVER_FUNCTIONS_H
#define DRIVER_FUNCTIONS_H

#include <cuda.h>

#define DRIVER_BASICS(X)                                                                                               \
	X(cuInit, , 2000)                                                                                              \
	X(cuDevicePrimaryCtxRetain, , 7000)                                                                            \
	X(cuCtxSetCurrent, , 4000)                                                                                     \
	X(cuModuleLoadData, , 2000)                                                                                    \
	X(cuModuleGetFunction, , 2000)                                                                                 \
	X(cuStreamCreate, , 2000)                                                                                      \
	X(cuStreamSynchronize, , 2000)                                                                                 \
	X(cuMemAlloc, _v2, 3020)                                                                                       \
	X(cuMemFree, _v2, 3020)                                                                                        \
	X(cuMemsetD8Async, , 3020)                                                                                     \
	X(cuLaunchKernel, , 4000)                                                                                      \
	X(cuLaunchKernelEx, , 11060)

/* struct { FUNCTIONS(DRIVER_FIELD) } d; and FUNCTIONS(DRIVER_LINK) where the linker finds them. */
#define DRIVER_FIELD(base, suffix, version) __typeof__(&base) base;
#define DRIVER_LINK(base, suffix, version) d.base = base;

#endif
