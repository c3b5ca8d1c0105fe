/* SPDX-License-Identifier: Apache-2.0 */
/* Converts CUPTI's buffers to device records in the trace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be called when CUPTI's version is known. False: this CUPTI cannot be used, there is no memory. */
bool cupti_buffer_prepare(void);

/* Before the last flush: CUPTI keeps a buffer while an operation in it is in progress, and most end within a moment. */
void cupti_finish_operations(void);

/* The callbacks that are registered with CUPTI. */
void cupti_buffer_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);
/* The same for a subscriber among several. */
void cupti_buffer_request_shared(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit, void *info);
void cupti_buffer_complete_shared(uint8_t *buffer, size_t size, size_t used, void *info);

/* Writes the number of records that CUPTI has dropped so far. */
void cupti_count_dropped(void *context, uint32_t stream);

/* Writes a reading of CUPTI's clock, unless CUPTI uses our clock. */
void cupti_write_clock(void);
