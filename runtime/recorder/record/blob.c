/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/blob.h"

void blob_store_apart(uint64_t *at, unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more,
		      size_t second)
{
	blob_store(at, blob, id, bytes, first, more, second);
}
