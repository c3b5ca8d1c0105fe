/* SPDX-License-Identifier: Apache-2.0 */
/* Writes slots into the thread's chunk: the cases that event.h does not handle inline. */
#include "runtime/recorder/record/event.h"

#include "runtime/recorder/record/blob.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/ring/ring_blob.h"
#include "runtime/recorder/record/thread/thread.h"

HOT int event_args_most = 2;
bool (*event_instead)(uint64_t now, uint64_t first, const uint64_t *args, unsigned count);

/* Allocates `count` slots. *far: one more slot precedes them, for a TIME slot, because the reader could not derive
 * `time` from the event before (time NULL: never). Returns NULL if there is no room; else the caller must call
 * event_taken(). */
static uint64_t *event_allocate_slots(struct thread *t, unsigned count, const uint64_t *time, bool *far)
{
	for (;;) {
		uint64_t at = event_next(t), size;
		bool has_room;

		*far = time && event_is_far(t, *time);
		size = (count + *far) * TF_SLOT;
		has_room = event_has_room(t, at, size);
		if (has_room && event_take(t, at, size))
			return (uint64_t *)at;
		event_taken(t);
		if (!has_room && !thread_grow(t, count + *far))
			return NULL;
	}
}

void event_put_slowly(struct thread *t, uint64_t time, const uint64_t *slots, unsigned count)
{
	bool far;
	uint64_t *at = event_allocate_slots(t, count, &time, &far);

	if (__builtin_expect(!at, 0)) {
		thread_lose(t, 1);
		return;
	}
	for (unsigned i = count - 1; i > 0; i--)
		at[far + i] = slots[i];
	if (far)
		at[0] = tf_time_slot(time);
	event_store(&at[far], slots[0]);
	t->last_ticks = time;
	event_taken(t);
}

__attribute__((noinline, cold)) void event_instant_slowly(uint64_t now, uint64_t first, const uint64_t *args,
							  unsigned count)
{
	uint64_t slots[1 + EVENT_ARGS];

	if (event_instead && event_instead(now, first, args, count))
		return;
	slots[0] = first;
	for (unsigned i = 0; i < count; i++)
		slots[1 + i] = args[i];
	event_put_slowly(&thread_self, now, slots, 1 + count);
}

void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count)
{
	event_instant_here(kind, id, last, args, count);
}

bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size)
{
	return event_blob_of_two(blob, id, bytes, size, NULL, 0);
}

/* With --ring, the reader must know when a blob was written: a TIME slot precedes it if it is far from the event
 * before. NULL: no room; else as event_allocate_slots(). */
static __attribute__((noinline, cold)) uint64_t *event_allocate_timed(struct thread *t, unsigned slots)
{
	uint64_t now = clock_now(), *at;
	bool far;

	at = event_allocate_slots(t, slots, &now, &far);
	if (at && far) {
		at[0] = tf_time_slot(now);
		t->last_ticks = now;
	}
	return at ? at + far : NULL;
}

static __attribute__((noinline, cold)) bool event_blob_in_ring(unsigned blob, uint32_t id, const void *bytes,
							       size_t first, const void *more, size_t second)
{
	struct thread *t = &thread_self;
	uint64_t *at;

	if (ring_keeps(blob) && ring_keep(t, blob, id, bytes, first, more, second))
		return true;
	at = event_allocate_timed(t, blob_slots(first + second));
	if (!at) {
		thread_lose(t, 1);
		return false;
	}
	blob_announce(t->chunk, blob);
	blob_store_apart(at, blob, id, bytes, first, more, second);
	event_taken(t);
	return true;
}

/* What --ring needs is apart, because this may run on the caller's stack. */
bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second)
{
	struct thread *t = &thread_self;
	uint64_t *at;
	bool far;

	if (__builtin_expect(process.ring != NULL, 0))
		return event_blob_in_ring(blob, id, bytes, first, more, second);
	at = event_allocate_slots(t, blob_slots(first + second), NULL, &far);
	if (!at) {
		thread_lose(t, 1);
		return false;
	}
	blob_announce(t->chunk, blob);
	blob_store(at, blob, id, bytes, first, more, second);
	event_taken(t);
	return true;
}

void event_blob_in_place(unsigned blob, uint32_t id, const uint64_t *data, unsigned count, uint64_t **place)
{
	struct thread *t = &thread_self;
	bool far;
	uint64_t *at = process.ring ? event_allocate_timed(t, 1 + count)
				    : event_allocate_slots(t, 1 + count, NULL, &far);
	const struct tf_chunk *chunk = t->chunk;

	if (!at)
		return;
	blob_announce(t->chunk, blob);
	for (unsigned i = 0; i < count; i++)
		at[1 + i] = data[i];
	event_store(at, tf_blob(blob, count * TF_DATA_BYTES, id));
	if ((uint64_t)at - (uint64_t)chunk < chunk->size_bytes)
		*(uint64_t *volatile *)place = at;
	EVENT_BARRIER();
	if (t->chunk != chunk)
		*(uint64_t *volatile *)place = NULL; /* a handler has replaced the chunk */
	event_taken(t);
}

uint32_t event_intern(unsigned blob, const void *bytes, size_t size)
{
	uint64_t key = intern_hash(blob, bytes, size);
	uint32_t id;
	bool is_new;

	if (profile_is_full())
		return intern_find(&process.interned, key);
	if (!(ring_keeps(blob) ? intern_add(&process.interned, key, &id, &is_new)
			       : definition_add(key, &id, &is_new)))
		return 0;
	if (is_new)
		event_blob(blob, id, bytes, size);
	return id;
}
