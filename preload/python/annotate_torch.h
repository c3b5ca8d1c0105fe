/* SPDX-License-Identifier: Apache-2.0 */
/* Provides our NVTX to a PyTorch that was built without CUDA, and therefore without NVTX. All functions require the
 * GIL. */
#pragma once

#include <stdbool.h>

/* Replaces PyTorch's object by ours for a trial. False: this version of PyTorch is not supported. */
bool annotate_torch_offer(void);

/* To be called after one operator has run under emit_nvtx. True: our object stays. False: PyTorch's own was
 * restored. */
bool annotate_torch_settle(void);

/* Opens or closes emit_nvtx on the calling thread. */
void annotate_torch_open(bool is_open);
