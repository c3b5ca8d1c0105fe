/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/batch.h"

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/thread/thread.h"

enum { RECORD = 10 * 6 }; /* bytes of the longest record */

static void batch_clear(struct device_batch *b)
{
	b->head.count = 0;
	b->used = sizeof(b->head);
	b->correlation = b->thread = 0;
}

void batch_begin(struct device_batch *b, unsigned blob, const struct tf_device_batch *head)
{
	b->head = *head;
	b->blob = (uint8_t)blob;
	b->lost = (struct tf_device_lost){0};
	batch_clear(b);
}

void batch_end(struct device_batch *b)
{
	if (b->head.count && !event_blob(b->blob, 0, b->bytes, b->used))
		thread_lose(&thread_self, b->head.count - 1); /* all records are lost; event_blob() has counted one */
	batch_clear(b);
}

void batch_number(struct device_batch *b, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		b->bytes[b->used++] = (uint8_t)(n | 0x80);
	b->bytes[b->used++] = (uint8_t)n;
}

static void batch_signed_number(struct device_batch *b, int64_t n)
{
	batch_number(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

void batch_next(struct device_batch *b, uint64_t start)
{
	if (b->used + RECORD > BATCH_BYTES)
		batch_end(b);
	if (!b->head.count++)
		b->head.base_ns = b->start = start;
}

void batch_times(struct device_batch *b, uint64_t start, uint64_t end, uint32_t correlation)
{
	batch_signed_number(b, (int64_t)(start - b->start));
	batch_number(b, end - start);
	batch_signed_number(b, (int64_t)correlation - (int64_t)b->correlation);
	b->start = start;
	b->correlation = correlation;
}

void batch_put_known(struct device_batch *b, uint32_t operation, const struct batch_item *item)
{
	batch_next(b, item->start);
	batch_number(b, (uint64_t)operation << 2 | (item->address != 0) << 1 | (item->bytes != 0));
	batch_times(b, item->start, item->end, item->correlation);
	if (item->bytes)
		batch_number(b, item->bytes);
	if (item->address)
		batch_number(b, item->address);
}

void batch_put(struct device_batch *b, const struct batch_item *item)
{
	uint32_t operation;

	if (!item->start || item->end < item->start) {
		b->lost.timeless++;
		return;
	}
	operation = event_intern(TF_BLOB_DEVICE_OPERATION, &item->operation,
				 tf_device_operation_size(&item->operation));
	if (operation)
		batch_put_known(b, operation, item);
	else
		b->lost.unreadable++;
}

void batch_write_lost(const struct tf_device_lost *lost)
{
	if (lost->dropped || lost->timeless || lost->unreadable)
		event_blob(TF_BLOB_DEVICE_LOST, 0, lost, sizeof(*lost));
}
