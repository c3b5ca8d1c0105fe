/* SPDX-License-Identifier: Apache-2.0 */
/* Which CUPTI may be asked for device times by the hardware event system (-t cuda-hw): the recorder refuses older ones,
 * and `pillion doctor` says so. */
#pragma once

/* Results of cuptiGetVersion(). By NVIDIA's release notes, releases before CUDA 13.4 Update 1 harm the program. */
enum { CUPTI_HAS_HARDWARE = 26 /* CUDA 12.8 */, CUPTI_HARDWARE_IS_SAFE = 130401 };

#define CUPTI_HARDWARE_HARM                                                                                            \
	"hardware events before CUDA 13.4 Update 1 corrupt the program's heap, crash in cudaGraphInstantiate "         \
	"and leak memory (NVIDIA's release notes)"
