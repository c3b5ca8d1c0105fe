/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/wake.h"

#include <sys/mman.h>

#include "runtime/recorder/record/thread/thread_state.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum { PLACES = 4 };

/* `who` has the kind, the bits of the address that do not follow from the bucket, and the TID; 0: no note. */
struct wake_note {
	uint64_t ticks, who;
};

#define KIND_BITS 2
#define TID_SHIFT 38
#define KIND(who) ((who) & 3)
#define SUBJECT(who) ((who) & ((1ull << TID_SHIFT) - 1) & ~3ull)

/* The notes of a barrier: threads that arrived, and the last of a round, which is decided. */
enum { ARRIVED = WAKE_RELEASE, DECIDED = WAKE_READER };

HOT bool wake_is_on;
uint32_t *wake_waiting;

/* A bucket is a cache line. */
static struct wake_note (*notes)[PLACES];

void wake_start(void)
{
	const size_t size = WAKE_BUCKETS * (sizeof(*notes) + sizeof(*wake_waiting));
	void *memory = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!memory)
		return;
	notes = memory;
	wake_waiting = (uint32_t *)(notes + WAKE_BUCKETS);
	wake_is_on = true;
}

/* Locks are aligned to 4 bytes, and addresses have 48 bits. Bits 2 to 5 and those from 16 on identify the address in
 * its bucket; the others follow from them and the bucket. */
static struct wake_note *bucket_of(const void *address, uint64_t *ret_subject)
{
	uint64_t at = (uintptr_t)address;

	*ret_subject = (at >> 2 & 15) << KIND_BITS | (at >> 16 & 0xffffffff) << 6;
	return notes[wake_bucket(address)];
}

static void write_note(struct wake_note *n, uint64_t who, uint64_t ticks)
{
	__atomic_store_n(&n->who, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&n->ticks, ticks, __ATOMIC_RELEASE);
	__atomic_store_n(&n->who, who, __ATOMIC_RELEASE);
}

/* Reads a note whole. False: it has another subject, or is being written. */
static bool read_note(const struct wake_note *n, uint64_t subject, struct wake_note *ret)
{
	ret->who = __atomic_load_n(&n->who, __ATOMIC_ACQUIRE);
	ret->ticks = __atomic_load_n(&n->ticks, __ATOMIC_ACQUIRE);
	return ret->who && SUBJECT(ret->who) == subject && ret->who == __atomic_load_n(&n->who, __ATOMIC_RELAXED);
}

/* An empty place, or that of the oldest note. */
static struct wake_note *oldest_place(struct wake_note *bucket)
{
	struct wake_note *oldest = bucket;
	uint64_t least = ~0ull;

	for (int i = 0; i < PLACES; i++) {
		uint64_t ticks = __atomic_load_n(&bucket[i].who, __ATOMIC_RELAXED)
					 ? __atomic_load_n(&bucket[i].ticks, __ATOMIC_RELAXED)
					 : 0;

		if (ticks < least) {
			least = ticks;
			oldest = &bucket[i];
		}
	}
	return oldest;
}

/* Only the latest note of this kind matters: it replaces the one before. */
static void replace_note(const void *address, unsigned kind, uint32_t tid, uint64_t ticks)
{
	uint64_t subject;
	struct wake_note *bucket = bucket_of(address, &subject), *place = NULL;

	for (int i = 0; i < PLACES && !place; i++) {
		uint64_t who = __atomic_load_n(&bucket[i].who, __ATOMIC_RELAXED);

		if (who && (who & ((1ull << TID_SHIFT) - 1)) == (subject | kind))
			place = &bucket[i];
	}
	write_note(place ? place : oldest_place(bucket), kind | subject | (uint64_t)tid << TID_SHIFT, ticks);
}

void wake_note(const void *address, enum wake_kind kind)
{
	const uint32_t tid = thread_self.page->chunk.tid;
	uint64_t subject;
	struct wake_note *bucket;

	if (kind == WAKE_RELEASE || kind == WAKE_READER) {
		replace_note(address, kind, tid, clock_now());
		return;
	}
	bucket = bucket_of(address, &subject);
	write_note(oldest_place(bucket), kind | subject | (uint64_t)tid << TID_SHIFT, clock_now());
}

static struct wake wake_of(const struct wake_note *n)
{
	return (struct wake){n->ticks, (uint32_t)(n->who >> TID_SHIFT)};
}

/* The latest note of this kind since `start`. */
static struct wake latest(const void *address, unsigned kind, uint64_t start)
{
	uint64_t subject;
	const struct wake_note *bucket = bucket_of(address, &subject);
	struct wake found = {0};
	struct wake_note n;

	for (int i = 0; i < PLACES; i++)
		if (read_note(&bucket[i], subject, &n) && KIND(n.who) == kind && n.ticks >= start &&
		    n.ticks >= found.ticks)
			found = wake_of(&n);
	return found;
}

struct wake wake_released(const void *address, uint64_t start, bool by_writer)
{
	struct wake writer = latest(address, WAKE_RELEASE, start), reader = {0};

	if (!writer.tid || !by_writer)
		reader = latest(address, WAKE_READER, start);
	return reader.ticks > writer.ticks ? reader : writer;
}

struct wake wake_take(const void *address, uint64_t start)
{
	uint64_t subject;
	struct wake_note *bucket = bucket_of(address, &subject), n;

	for (int tries = 0; tries < PLACES; tries++) {
		struct wake_note found = {0};
		int place = 0;

		for (int i = 0; i < PLACES; i++)
			if (read_note(&bucket[i], subject, &n) && KIND(n.who) >= WAKE_ONE && n.ticks >= start &&
			    (!found.who || n.ticks < found.ticks)) {
				found = n;
				place = i;
			}
		if (!found.who || KIND(found.who) == WAKE_ALL ||
		    __atomic_compare_exchange_n(&bucket[place].who, &found.who, 0, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return wake_of(&found);
	}
	return (struct wake){0};
}

uint64_t wake_arrived(const void *address)
{
	uint64_t now = clock_now();

	replace_note(address, ARRIVED, thread_self.page->chunk.tid, now);
	return now;
}

struct wake wake_left(const void *address, uint64_t arrived)
{
	/* In this order: who sees that a thread has arrived again sees what it decided before. */
	struct wake last = latest(address, ARRIVED, arrived), decided = latest(address, DECIDED, arrived);

	if (decided.tid)
		return decided;
	if (last.tid)
		replace_note(address, DECIDED, last.tid, last.ticks);
	return last;
}

uint64_t wake_arg(struct wake w, uint64_t end)
{
	return w.tid ? tf_arg(TF_ARG_WAKER, 0, tf_waker(w.tid, end > w.ticks ? end - w.ticks : 0)) : 0;
}
