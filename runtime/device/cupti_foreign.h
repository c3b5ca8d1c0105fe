/* SPDX-License-Identifier: Apache-2.0 */
/* Another profiler inside the program: whether it has CUPTI, and its buffers. cupti_handover.h is how it gets CUPTI. */
#ifndef PILLION_CUPTI_FOREIGN_H
#define PILLION_CUPTI_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In `uses`, beside a bit for each kind of records: its buffers are registered, and no kind has been switched on
 * yet. */
#define CUPTI_FOREIGN_REGISTERED (1ull << 63)

/* Written by the thread that has the claim, read by all. */
struct cupti_foreign {
	uint64_t generation; /* of the image in which it has CUPTI; 0: it does not */
	uint64_t uses;	     /* kinds that it has switched on */
	void (*request)(uint8_t **, size_t *, size_t *);
	void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
};
extern struct cupti_foreign cupti_foreign;

bool cupti_foreign_has_it(void);

/* For the ledger: the time in which it has CUPTI, and we have no records, begins or ends. `caller` lies in
 * its library, or is NULL. */
void cupti_foreign_write_gap(bool is_end, const void *caller);

/* False: it still uses CUPTI. */
bool cupti_foreign_gives_back(void);

/* False: it has no buffer to give. */
bool cupti_foreign_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit);
void cupti_foreign_copy(void *context, uint32_t stream, const uint8_t *buffer, size_t used);
void cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used);

#endif
