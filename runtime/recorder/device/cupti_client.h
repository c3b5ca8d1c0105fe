/* SPDX-License-Identifier: Apache-2.0 */
/* How we use CUPTI's activity interface: as the only user in the process, by the functions without _v2, or, from CUPTI
 * 13.3 on, as one of several subscribers beside those of the program, each with its own kinds and buffers. CUPTI
 * refuses to mix the two. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does this CUPTI have what a subscriber beside others needs? */
bool cupti_client_can_share(void);

/* Are we such a subscriber? */
bool cupti_client_is_sharing(void);

/* Becomes one, if it is not yet one; the callbacks get its buffers. `name`: CUPTI gives later subscribers the name of
 * the first one. False: the driver or the program refuses. */
bool cupti_client_subscribe(const char *name, void (*request)(uint8_t **, size_t *, size_t *, void *),
			    void (*complete)(uint8_t *, size_t, size_t, void *));

/* Ceases to be one. `is_gone`: CUPTI has ended the subscription itself. */
void cupti_client_unsubscribe(bool is_gone);

/* Likewise for both ways of using CUPTI; the results are CUPTI's. */
int cupti_client_set_kind(uint32_t kind, bool is_on);
int cupti_client_set_call(bool is_driver, uint32_t function, bool is_on);
/* False: this CUPTI cannot. */
bool cupti_client_name_threads(int how);
int cupti_client_time(uint64_t *ret);

/* For a buffer of a subscriber (is_shared) or of the only user. */
int cupti_client_next_record(bool is_shared, uint8_t *buffer, size_t size, void **record);
int cupti_client_dropped(bool is_shared, void *context, uint32_t stream, size_t *ret);
/* The clock of its records, enum tf_device_time. */
uint8_t cupti_client_clock(bool is_shared);
