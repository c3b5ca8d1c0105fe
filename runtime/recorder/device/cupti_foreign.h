/* SPDX-License-Identifier: Apache-2.0 */
/* Another profiler in the process: whether it uses CUPTI, and its buffers. See cupti_handover.h for how it takes
 * CUPTI. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In `uses`, in addition to a bit for each kind of records: its buffers are registered, but no kind is enabled yet. */
#define CUPTI_FOREIGN_REGISTERED (1ull << 63)
/* The same for a subscription by cuptiSubscribe_v2, which CUPTI refuses while kinds are enabled without one. */
#define CUPTI_FOREIGN_SUBSCRIBED (1ull << 62)
/* It is setting an attribute, which CUPTI accepts only while nobody has enabled a kind. */
#define CUPTI_FOREIGN_SETS (1ull << 61)
/* Its attribute changes the layout of records. */
#define CUPTI_FOREIGN_DEFINES_RECORDS (1ull << 60)
/* It is finalising CUPTI. */
#define CUPTI_FOREIGN_FINALIZES (1ull << 59)

#define CUPTI_DETACH_NS 1000000000ull /* for how long CUPTI detaches itself is not documented */

/* Written by the thread that has the claim, read by all threads. */
struct cupti_foreign {
	uint64_t generation; /* of the image in which it uses CUPTI; 0: it does not */
	uint64_t uses;	     /* kinds that it has enabled */
	uint64_t detached_ns; /* when CUPTI will have detached itself after cuptiFinalize; 0: it has not been called */
	const void *detaching_thread; /* its thread_self; cuptiFinalize was called within a CUDA call of it; or NULL */
	void (*request)(uint8_t **, size_t *, size_t *);
	void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
};
extern struct cupti_foreign cupti_foreign;

bool cupti_foreign_has_it(void);

/* Its subscriptions that allow others beside them. False: there is no room for another one. */
bool cupti_foreign_add_subscriber(void *subscriber);
/* False: it is not among them. */
bool cupti_foreign_remove_subscriber(void *subscriber);
void cupti_foreign_forget_subscribers(void);
bool cupti_foreign_has_subscribers(void);

/* For the ledger: the interval in which it uses CUPTI, and we have no records, begins or ends. `caller` is an
 * address in its library, or NULL. */
void cupti_foreign_write_gap(bool is_end, const void *caller);

/* Takes CUPTI back. False: it still uses CUPTI. */
bool cupti_foreign_gives_back(void);

/* Does CUPTI still detach itself, so that calls of it may crash? */
bool cupti_foreign_is_detaching(void);

/* Pass a request and a buffer to its callbacks. False: it has no buffer. */
bool cupti_foreign_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_foreign_copy(void *context, uint32_t stream, const uint8_t *buffer, size_t used);
void cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);
