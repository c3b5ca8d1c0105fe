/* SPDX-License-Identifier: Apache-2.0 */
/* Slots into the thread's window. Space is taken by one add, a record counts once its first slot is stored: a handler
 * may interrupt between any two instructions and write records of its own. */
#include "event.h"

#include <string.h>

#include "file.h"
#include "stack.h"

#define BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

static void store(uint64_t *slot, uint64_t value)
{
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

/* One instruction, so whole for a handler in this thread. No other thread adds: the bus lock would only make us wait until
 * all earlier stores have reached the cache, fresh lines of the window among them. */
static inline uint64_t add_to(uint64_t *number, uint64_t more)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*number) : : "memory", "cc");
	return more;
#else
	return __atomic_fetch_add(number, more, __ATOMIC_RELAXED);
#endif
}

/* A handler has changed the window between our add and our look: what we took of the old one is given up, and said to be no
 * loss. That window is still mapped, for we are a writer. */
static void give_up(const struct thread *t, uint64_t at, unsigned count)
{
	uint64_t start = (uint64_t)t->retired + sizeof(struct tf_window), end = (uint64_t)t->retired + t->retired_bytes;

	for (; t->retired && at >= start && count && at + TF_SLOT <= end; at += TF_SLOT, count--)
		store((uint64_t *)at, TF_NOTHING);
}

/* Takes `count` slots, NULL where there is no room. A handler may have changed the window between the add and the two
 * loads after it; it then left the old one mapped (t->writing) and our address outside the new one: limit first, or
 * an address of the old window could pass for one of the new. */
static uint64_t *take(struct thread *t, unsigned count)
{
	for (;;) {
		uint64_t at, limit, base;

		t->writing++;
		BARRIER();
		at = add_to(&t->next, count * TF_SLOT);
		BARRIER();
		limit = *(volatile uint64_t *)&t->limit;
		base = *(volatile uint64_t *)&t->base;
		if (__builtin_expect(at >= base && at + count * TF_SLOT <= limit, 1))
			return (uint64_t *)at;
		give_up(t, at, count);
		t->writing--;
		if (!thread_grow(t, count))
			return NULL;
	}
}

static void taken(struct thread *t)
{
	BARRIER();
	t->writing--;
}

static bool is_far(uint64_t last, uint64_t time)
{
	return time - last + TF_TIME_BEHIND > TF_TIME_MASK;
}

/* Writes one event of `count` slots, with a TIME slot before it where the reader could not tell its time. */
static void put(struct thread *t, uint64_t time, const uint64_t *slots, unsigned count)
{
	for (;;) {
		uint64_t last = *(volatile uint64_t *)&t->last_ticks;
		unsigned far = is_far(last, time);
		uint64_t *at = take(t, count + far);

		if (__builtin_expect(!at, 0)) {
			t->page->lost++;
			return;
		}
		/* A handler's records, or a new window, came between: the reader's time is another than we thought. */
		if (__builtin_expect(!far && is_far(*(volatile uint64_t *)&t->last_ticks, time), 0)) {
			for (unsigned i = 0; i < count; i++)
				store(&at[i], TF_NOTHING);
			taken(t);
			continue;
		}
		for (unsigned i = count - 1; i > 0; i--)
			at[far + i] = slots[i];
		if (far)
			at[0] = tf_time_slot(time);
		store(&at[far], slots[0]);
		t->last_ticks = time;
		taken(t);
		return;
	}
}

/* put() for nearly every event: two arguments at most, no TIME, room in the window. False: nothing done, put() is to do it.
 * After a system call the processor has forgotten much of our branches, so they are few and all fall through. */
static inline __attribute__((always_inline)) bool put_quickly(struct thread *t, uint64_t time, uint64_t first,
							      const uint64_t *args, unsigned count)
{
	uint64_t size = TF_SLOT + count * TF_SLOT, limit, *at;

	if (__builtin_expect(count > 2 || is_far(*(volatile uint64_t *)&t->last_ticks, time), 0))
		return false;
	t->writing++;
	BARRIER();
	at = (uint64_t *)add_to(&t->next, size);
	BARRIER();
	limit = *(volatile uint64_t *)&t->limit;
	if (__builtin_expect((uint64_t)at < *(volatile uint64_t *)&t->base || (uint64_t)at + size > limit, 0)) {
		give_up(t, (uint64_t)at, 1 + count);
		t->writing--;
		return false;
	}
	if (__builtin_expect(is_far(*(volatile uint64_t *)&t->last_ticks, time), 0)) {
		for (unsigned i = 0; i <= count; i++)
			at[i] = TF_NOTHING;
		taken(t);
		return false;
	}
	if (count > 1)
		at[2] = args[1];
	if (count)
		at[1] = args[0];
	store(at, first);
	t->last_ticks = time;
	taken(t);
	return true;
}

__attribute__((noinline)) static void record_slowly(const struct event *e, unsigned function, uint64_t backtrace, const uint64_t *args, unsigned count)
{
	struct thread *t = &thread_self;
	uint64_t slots[3 + EVENT_ARGS], duration = e->end - e->start;
	unsigned n = 1;

	if ((int64_t)duration < 0)
		duration = 0; /* the counters of two processors may differ by a few ticks */
	if (__builtin_expect(duration >= TF_DURATION_LONG, 0))
		slots[n++] = tf_arg(TF_ARG_LONG, 0, duration);
	if (__builtin_expect(duration >= backtrace, 0)) {
		uint32_t stack = stack_take(t, e->frame);

		if (stack)
			slots[n++] = tf_arg(TF_ARG_STACK, 0, stack);
	}
	for (unsigned i = 0; i < count; i++)
		slots[n++] = args[i];
	slots[0] = tf_event(TF_CALL, function, e->end, duration < TF_DURATION_LONG ? duration : TF_DURATION_LONG);
	put(t, e->end, slots, n);
}

void event_record(const struct event *e, unsigned function, uint64_t backtrace, const uint64_t *args, unsigned count)
{
	uint64_t duration = e->end - e->start; /* one below 0 is a huge one here */
	uint64_t words[2];

	if (__builtin_expect(duration >= TF_DURATION_LONG || count > 1, 0)) {
		record_slowly(e, function, backtrace, args, count);
		return;
	}
	if (__builtin_expect(duration >= backtrace, 0)) {
		uint32_t stack = stack_take(&thread_self, e->frame);

		if (count)
			words[1] = args[0];
		if (stack) {
			words[0] = tf_arg(TF_ARG_STACK, 0, stack);
			args = words;
			count++;
		}
		backtrace = UINT64_MAX; /* taken */
	}
	if (!put_quickly(&thread_self, e->end, tf_event(TF_CALL, function, e->end, duration), args, count))
		record_slowly(e, function, backtrace, args, count);
}

void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count)
{
	uint64_t slots[1 + EVENT_ARGS], now = clock_now();

	if (__builtin_expect(put_quickly(&thread_self, now, tf_event(kind, id, now, last), args, count), 1))
		return;
	slots[0] = tf_event(kind, id, now, last);
	for (unsigned i = 0; i < count; i++)
		slots[1 + i] = args[i];
	put(&thread_self, now, slots, 1 + count);
}

bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size)
{
	return event_blob_of_two(blob, id, bytes, size, NULL, 0);
}

/* Bytes of the first part, then of the second. */
static void copy_parts(void *to, const unsigned char *p, size_t size, const unsigned char *more, size_t at, size_t count)
{
	size_t here = at >= size ? 0 : size - at < count ? size - at : count;

	if (here)
		memcpy(to, p + at, here);
	if (count > here)
		memcpy((char *)to + here, more + (at + here - size), count - here);
}

bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second)
{
	struct thread *t = &thread_self;
	const size_t size = first + second;
	unsigned data = (unsigned)((size + TF_DATA_BYTES - 1) / TF_DATA_BYTES);
	uint64_t *at = take(t, 1 + data);

	if (!at) {
		t->page->lost++;
		return false;
	}
	for (unsigned i = 1; i <= data; i++) {
		size_t left = size - (size_t)(i - 1) * TF_DATA_BYTES;
		uint64_t seven = 0;

		copy_parts(&seven, bytes, first, more, size - left, left < TF_DATA_BYTES ? left : TF_DATA_BYTES);
		at[i] = TF_DATA | seven << 8;
	}
	store(at, tf_blob(blob, (unsigned)size, id));
	taken(t);
	return true;
}

uint32_t event_intern(unsigned blob, const void *bytes, size_t size)
{
	uint32_t id;
	bool is_new;

	if (!table_add(&process.interned, table_hash(blob, bytes, size), &id, &is_new))
		return 0;
	if (is_new)
		event_blob(blob, id, bytes, size);
	return id;
}

void event_many_short(void)
{
	struct thread *t = &thread_self;
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	thread_settle(t);
	thread_guard_leave(t, &guard);
}
