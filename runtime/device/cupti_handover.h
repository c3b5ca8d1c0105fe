/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI changes hands: another profiler inside the program (torch.profiler) calls CUPTI. The wrappers of its calls come
 * here. `caller` is the code that makes the call. */
#ifndef PILLION_CUPTI_HANDOVER_H
#define PILLION_CUPTI_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* It is about to use CUPTI: from now on CUPTI is its own, and the ledger says so. */
void cupti_handover(const void *caller);

/* Likewise: it is about to register its buffer callbacks. True: cupti_buffer_request and cupti_buffer_complete are to
 * be registered instead of them. */
bool cupti_handover_buffers(const void *caller, void *request, void *complete);

/* Likewise: it is about to switch on a kind of records. */
void cupti_handover_enables(const void *caller, uint32_t kind);

/* It has switched off a kind. When all are off, CUPTI is ours again from the next recorded call on. */
void cupti_handover_disabled(uint32_t kind);

/* It has ended CUPTI as a whole. */
void cupti_handover_finalized(void);

#endif
