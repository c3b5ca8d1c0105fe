/* SPDX-License-Identifier: Apache-2.0 */
/* Of a long trace, the chunks that a reader of the latest events needs: those of that time, and earlier ones that
 * define something. What defines most, stacks, may be in every chunk: so no more than a certain size is read of what is
 * earlier. */
#include <stdlib.h>

#include "report/read/clock_map.h"
#include "report/read/reader.h"

/* Takes some 25 ms. A trace that is no larger is read as a whole. */
enum { EARLIER_BYTES = 16 << 20 };
enum { BLOBS_SINCE_MINOR = 18 }; /* struct tf_chunk.blobs */

/* What is no definition; of usage and sampling the last ones count. */
#define RECORDS (TF_BLOBS_OF_TIME | 1ull << TF_BLOB_USAGE | 1ull << TF_BLOB_SAMPLING)
#define STACKS (1ull << TF_BLOB_STACK | 1ull << TF_BLOB_PYTHON_STACK)

uint64_t reader_since_ns;

static uint64_t since_ticks(const struct trace *t)
{
	const struct tf_header *h = &t->header;
	SCOPED(clock_map) clock = {.source = h->clock, .hz = h->clock_hz};
	uint64_t ticks;

	clock_map_add(&clock, &h->first);
	clock_map_add(&clock, &h->last[h->last[1].ticks > h->last[0].ticks]);
	clock_map_build(&clock);
	ticks = clock_map_tick_at(&clock, reader_since_ns);
	return ticks;
}

/* Leaves out the chunks that a cursor skips which reads from that tick on. */
static void leave_out_earlier(struct trace *t, uint64_t ticks)
{
	for (size_t k = 0; k < t->thread_count; k++) {
		struct cursor c;

		cursor_init(&c, t, &t->threads[k]);
		cursor_skip_to(&c, ticks);
		for (size_t i = t->threads[k].first_chunk; i < c.chunk; i++)
			t->chunks[i].is_left_out = true;
	}
}

COMPARATOR(compare_offsets, struct chunk *const, order_of((*a)->offset, (*b)->offset))

/* Takes of `count` chunks those with such blobs, in turn from both ends: what is defined for long is defined at the
 * beginning, or was recently. Returns how many bytes may still be taken. */
static uint64_t take_chunks(struct trace *t, struct chunk **chunks, size_t count, uint64_t kinds, uint64_t left)
{
	bool is_last = false;

	for (size_t first = 0, last = count; first < last;) {
		struct chunk *w = is_last ? chunks[--last] : chunks[first++];

		if (!w->is_left_out || !(w->blobs & kinds))
			continue;
		is_last = !is_last;
		if (w->size > left) {
			t->unread_bytes += w->size;
			continue;
		}
		w->is_left_out = false;
		left -= w->size;
	}
	return left;
}

static void take_definitions(struct trace *t)
{
	SCOPED_MEMORY struct chunk **chunks = mem_alloc(t->chunk_count * sizeof(*chunks));
	size_t count = 0;
	uint64_t left;

	array_each(struct chunk, w, t->chunks, t->chunk_count) {
		if (w->has_page || t->header.version_minor < BLOBS_SINCE_MINOR)
			w->blobs = UINT64_MAX;
		if (w->is_left_out && w->blobs & ~RECORDS)
			chunks[count++] = w;
	}
	array_sort(chunks, count, compare_offsets);
	left = take_chunks(t, chunks, count, ~(RECORDS | STACKS), EARLIER_BYTES);
	take_chunks(t, chunks, count, STACKS, left);
}

void trace_leave_out_earlier(struct trace *t)
{
	if (!reader_since_ns || t->bytes.size <= EARLIER_BYTES)
		return;
	leave_out_earlier(t, since_ticks(t));
	take_definitions(t);
}
