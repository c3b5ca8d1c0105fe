/* SPDX-License-Identifier: Apache-2.0 */
/* Provides our NVTX to a PyTorch that was built without CUDA, and therefore without NVTX. */
#pragma once

/* Adds to the namespace of annotate.py:
 *	torch_offer() -> bool: replaces PyTorch's object by ours for a trial. False: this version is not supported
 *	torch_settle() -> bool: after one operator has run under emit_nvtx. True: our object stays. False: PyTorch's own
 *		was restored
 *	torch_open(is_open): opens or closes emit_nvtx on the calling thread */
void annotate_torch_offer(void *space);
