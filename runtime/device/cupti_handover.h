/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI changes hands: another profiler in the process (torch.profiler) calls CUPTI. The wrappers of its calls call
 * these functions. `caller` is the code that makes the call. */
#ifndef PILLION_CUPTI_HANDOVER_H
#define PILLION_CUPTI_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

/* It is about to use CUPTI: from now on CUPTI is reserved for it, and the ledger says so. */
void cupti_handover(const void *caller);

/* Likewise: it is about to register its buffer callbacks. True: cupti_buffer_request and cupti_buffer_complete must
 * be registered instead. */
bool cupti_handover_buffers(const void *caller, void *request, void *complete);

/* Likewise: it is about to enable a kind of records. */
void cupti_handover_enables(const void *caller, uint32_t kind);

/* It has disabled a kind. When all are disabled, the next recorded call takes CUPTI back. */
void cupti_handover_disabled(uint32_t kind);

/* Likewise: it is about to subscribe by cuptiSubscribe_v2. It has unsubscribed, or could not subscribe. */
void cupti_handover_subscribes(const void *caller);
void cupti_handover_unsubscribed(void);

/* It has finalised CUPTI. A recorded call takes CUPTI back one second later, or, before 12.6, never. */
void cupti_handover_finalized(void);

#endif
