/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI changes hands: another profiler in the process (torch.profiler) calls CUPTI. The wrappers of its calls call
 * these functions. `caller` is the code that makes the call. */
#pragma once

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

/* Likewise: it is about to subscribe by cuptiSubscribe_v2 as `name`, which may be NULL. True: we have subscribed beside
 * it. */
bool cupti_handover_subscribes(const void *caller, const char *name, bool allows_several);
/* It has subscribed; it has unsubscribed, or (NULL) could not subscribe. */
void cupti_handover_subscribed(void *subscriber, bool allows_several);
void cupti_handover_unsubscribed(void *subscriber);

/* It is about to use CUPTI in a way for which no other may: CUPTI_FOREIGN_SETS, _DEFINES_RECORDS, _FINALIZES. */
void cupti_handover_begins(const void *caller, uint64_t use);
/* It no longer does, or could not. */
void cupti_handover_ends(uint64_t use);

/* It has finalised CUPTI, or not been able to. A recorded call takes CUPTI back one second after the end of the CUDA
 * call in which this happened, or, before 12.6, never. */
void cupti_handover_finalized(bool is_done);
