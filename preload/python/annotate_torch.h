/* SPDX-License-Identifier: Apache-2.0 */
/* A PyTorch that was built without CUDA, and so without NVTX: it is given ours. All with the GIL. */
#ifndef PILLION_ANNOTATE_TORCH_H
#define PILLION_ANNOTATE_TORCH_H

#include <stdbool.h>

/* Gives PyTorch our NVTX on trial. False: it has no place for it that we know. */
bool annotate_torch_offer(void);

/* After one operator has run under emit_nvtx: keeps it. False: PyTorch is as it was before. */
bool annotate_torch_settle(void);

/* emit_nvtx works on this thread while it is open. */
void annotate_torch_open(bool is_open);

#endif
