/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/ring/ring_blob.h"

#include <string.h>

#include "runtime/recorder/record/blob.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

enum { CHUNK = 65536 };

/* The chunks belong to the first thread, and precede its others. They have no events, so that their time is none. */
static bool ring_room(struct ring_chunk *c, unsigned slots)
{
	uint64_t size = file_round(CHUNK);

	if (c->chunk && c->next + slots * TF_SLOT <= (uint64_t)c->chunk + c->chunk->size_bytes)
		return true;
	while (size < slots * TF_SLOT + sizeof(*c->chunk))
		size *= 2;
	if (c->chunk)
		file_release(c->chunk, c->chunk->size_bytes);
	c->chunk = file_chunk(NULL, TF_CHUNK_SLOTS, (uint32_t)size, 0, 0);
	if (!c->chunk)
		return false;
	c->chunk->tid = process.pid;
	c->chunk->base_ticks = UINT64_MAX;
	c->next = (uint64_t)(c->chunk + 1);
	__atomic_store_n(&c->chunk->magic, TF_CHUNK_MAGIC, __ATOMIC_RELEASE);
	return true;
}

static bool ring_put(struct ring_chunk *c, unsigned blob, uint32_t id, const void *bytes, size_t first,
		     const void *more, size_t second)
{
	unsigned slots = blob_slots(first + second);

	if (!ring_room(c, slots))
		return false;
	blob_announce(c->chunk, blob);
	blob_store_apart((uint64_t *)c->next, blob, id, bytes, first, more, second);
	c->next += slots * TF_SLOT;
	return true;
}

bool ring_keep(struct thread *t, unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more,
	       size_t second)
{
	struct thread_guard guard;
	bool is_kept;

	thread_guard_enter(t, &guard);
	sys_lock(&process.ring_writing);
	is_kept = ring_put(&process.ring->kept, blob, id, bytes, first, more, second);
	sys_unlock(&process.ring_writing);
	thread_guard_leave(t, &guard);
	return is_kept;
}

/* Copies what is on a page. False: it has no counts. */
static bool ring_read_page(struct record_ring *r, const struct tf_thread *page, struct tf_counted *head)
{
	const uint16_t *places = (const uint16_t *)&page->counters[page->counter_count];

	*head = (struct tf_counted){.ticks = r->begins[r->turn % RING_TURNS],
				    .lost = page->lost,
				    .slow_ticks = page->slow_ticks,
				    .stacks_lost = page->stacks_lost};
	for (uint32_t i = 0; page->counter_count && i < process_functions->counters; i++) {
		struct tf_counter counter = {0};

		if (places[i])
			counter = page->counters[places[i] - 1];
		if (counter.calls && head->count < RING_COUNTED)
			r->counted_calls[head->count++] = (struct tf_counted_calls){counter.calls, counter.ticks, i, 0};
	}
	return head->count || head->lost || head->slow_ticks || head->stacks_lost;
}

/* A thread that ends meanwhile unmaps its page after it has had the lock. */
static void ring_write_counted(void)
{
	struct record_ring *r = process.ring;
	struct tf_counted head;

	sys_lock(&process.ring_writing);
	for (uint32_t i = 0; i < __atomic_load_n(&r->pages_count, __ATOMIC_RELAXED); i++) {
		uint32_t thread = 0;
		bool has_counts;

		sys_lock(&process.growing);
		has_counts = r->pages[i] && ring_read_page(r, r->pages[i], &head);
		if (has_counts)
			thread = r->pages[i]->chunk.thread;
		sys_unlock(&process.growing);
		if (has_counts)
			ring_put(&r->counted, TF_BLOB_COUNTED, thread, &head, sizeof(head), r->counted_calls,
				 head.count * sizeof(*r->counted_calls));
	}
	sys_unlock(&process.ring_writing);
}

struct tf_chunk *ring_chunk(const struct tf_chunk *mine, uint32_t size, uint32_t thread, uint32_t sequence)
{
	if (process.ring && file_turn())
		ring_write_counted();
	return file_chunk(mine, TF_CHUNK_SLOTS, size, thread, sequence);
}
