/* SPDX-License-Identifier: Apache-2.0 */
/* From CUPTI's buffers into the trace. */
#ifndef PILLION_CUPTI_RECORD_H
#define PILLION_CUPTI_RECORD_H

#include <stddef.h>
#include <stdint.h>

/* The callbacks that are registered with CUPTI. */
void cupti_buffer_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

/* Records how many records CUPTI has dropped so far. */
void cupti_count_dropped(void *context, uint32_t stream);

/* Records what CUPTI's clock shows, if it is not ours. */
void cupti_write_clock(void);

#endif
