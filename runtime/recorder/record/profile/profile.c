/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/profile/profile.h"

#include <string.h>

#include "runtime/recorder/record/blob.h"
#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/profile/profile_row.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

/* RESERVE: room of the last chunk that only rows "other" take. */
enum { CHUNK = 65536, RESERVE = 16384 };

/* ---- keys ---- */

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static void key_add(struct profile_key *k, unsigned kind, uint64_t value)
{
	if (k->count < PROFILE_ARGS)
		k->args[k->count++] = tf_arg(kind, 0, value);
}

/* The descriptor that a call has used or made, and its error or its bytes. */
static void key_add_descriptor(struct profile_key *k, uint64_t value, bool is_closed)
{
	int32_t result = (int32_t)(value >> 16);
	uint32_t fd = value & TF_NO_DESCRIPTOR, file;

	if (result < 0)
		key_add(k, TF_ARG_RESULT, (uint32_t)-result);
	else if (fd == TF_NO_DESCRIPTOR)
		fd = (uint32_t)result;
	else
		k->bytes = (uint32_t)result;
	if (is_closed)
		return;
	if (result >= 0 && __builtin_expect(!descriptor_is_known((int)fd), 0))
		descriptor_describe((int)fd, process.profile->begin_ticks);
	file = profile_file_now(fd);
	if (file)
		key_add(k, TF_ARG_FILE, file);
}

/* What distinguishes rows: not the address of a lock, a stream, a timeout or the number of a device operation. */
static void key_add_args(struct profile_key *k, const uint64_t *args, unsigned count)
{
	bool is_closed = count > 1 && tf_arg_kind(args[1]) == TF_ARG_FILE;

	for (unsigned i = 0; i < count; i++) {
		uint64_t value = tf_arg_value(args[i]);

		switch (tf_arg_kind(args[i])) {
		case TF_ARG_FD:
			key_add_descriptor(k, value, is_closed);
			break;
		case TF_ARG_OPERATION: /* calls with other requests are alike */
			key_add(k, TF_ARG_OPERATION, tf_operation_id(args[i]));
			break;
		case TF_ARG_RESULT:
		case TF_ARG_DIRECTORY:
		case TF_ARG_FILE:
			if (value || tf_arg_kind(args[i]) != TF_ARG_FILE)
				key_add(k, tf_arg_kind(args[i]), value);
			break;
		case TF_ARG_BYTES:
		case TF_ARG_COPY:
			k->bytes = value;
			break;
		}
	}
}

static uint64_t key_hash(const struct profile_key *k, uint64_t owner)
{
	uint64_t hash = intern_fold(k->head, owner);

	for (unsigned i = 0; i < k->count; i++)
		hash = intern_fold(hash, k->args[i]);
	return hash ? hash : 1;
}

/* ---- rows ---- */

/* NULL: there is no room. Under the lock `writing`. */
static __attribute__((cold)) uint64_t *row_room(struct profile_space *space, unsigned slots, bool is_other)
{
	uint64_t size = file_round(CHUNK), end;
	uint64_t needed = slots * TF_SLOT + (is_other || space->left >= size ? 0 : RESERVE);

	if (!space->chunk || space->next + needed > (uint64_t)space->chunk + space->chunk->size_bytes) {
		struct tf_chunk *chunk = NULL;

		if (space->left >= size) {
			space->left -= size;
			chunk = file_chunk(NULL, TF_CHUNK_SLOTS, (uint32_t)size, 0, 0);
		}
		if (chunk) {
			chunk->tid = process.pid;
			chunk->base_ticks = UINT64_MAX;
			space->chunk = chunk;
			space->next = (uint64_t)(chunk + 1);
			__atomic_store_n(&chunk->magic, TF_CHUNK_MAGIC, __ATOMIC_RELEASE);
		}
		end = space->chunk ? (uint64_t)space->chunk + space->chunk->size_bytes : 0;
		if (!chunk && (!is_other || space->next + slots * TF_SLOT > end)) {
			space->is_full |= !is_other;
			return NULL;
		}
	}
	space->next += slots * TF_SLOT;
	return (uint64_t *)space->next - slots;
}

/* Returns the address of the numbers of a new row; NULL: there is no room. */
static __attribute__((cold)) uint64_t *row_make(struct profile_space *space, const struct profile_key *k, bool is_other)
{
	unsigned count = tf_sum_numbers(k->head);
	uint64_t *at = row_room(space, 1 + k->count + count, is_other), *numbers;

	if (!at)
		return NULL;
	numbers = at + 1 + k->count;
	for (unsigned i = 0; i < k->count; i++)
		at[1 + i] = k->args[i];
	for (unsigned i = 0; i < count; i++)
		numbers[i] = TF_DATA;
	if (tf_kind(k->head) == TF_RANGES || !(tf_sum_flags(k->head) & TF_SUM_IS_SHORT))
		numbers[TF_SUM_LEAST] = TF_DATA | ~0ull << 8;
	__atomic_store_n(at, k->head, __ATOMIC_RELEASE);
	return numbers;
}

static uint64_t *row_find(const struct record_profile *p, uint64_t hash)
{
	size_t place = intern_near(&p->rows, hash);

	if (__builtin_expect(place != SIZE_MAX, 1))
		return (uint64_t *)__atomic_load_n(&p->rows.level[0][place].value, __ATOMIC_ACQUIRE);
	return (uint64_t *)intern_get(&p->rows, hash);
}

/* Finds the row again, because another thread may have made it, or makes it. Signals are deferred. */
static __attribute__((noinline, cold)) uint64_t *row_add(struct thread *t, const struct profile_key *k, uint64_t hash,
							 bool is_other)
{
	struct record_profile *p = process.profile;
	struct profile_space *space = tf_kind(k->head) == TF_RANGES ? &p->ranges : &p->calls;
	struct thread_guard guard;
	uint64_t *row;

	if ((sys_is_silent && !space->chunk) || (!is_other && __atomic_load_n(&space->is_full, __ATOMIC_RELAXED)))
		return NULL;
	thread_guard_enter(t, &guard);
	sys_lock(&p->writing);
	row = (uint64_t *)intern_get(&p->rows, hash);
	if (!row) {
		row = row_make(space, k, is_other);
		if (row)
			intern_set(&p->rows, hash, (uint64_t)row);
	}
	sys_unlock(&p->writing);
	thread_guard_leave(t, &guard);
	return row;
}

uint32_t profile_define(struct thread *t, const char *text, size_t size)
{
	struct record_profile *p = process.profile;
	uint64_t key = intern_hash(TF_BLOB_STRING, text, size), *at = NULL;
	uint32_t id = intern_find(&process.interned, key);
	struct thread_guard guard;
	bool is_new;

	if (id || sys_is_silent || __atomic_load_n(&p->ranges.is_full, __ATOMIC_RELAXED))
		return id;
	thread_guard_enter(t, &guard);
	sys_lock(&p->writing);
	id = intern_find(&process.interned, key);
	if (!id)
		at = row_room(&p->ranges, blob_slots(size), false);
	if (at && intern_add(&process.interned, key, &id, &is_new))
		blob_store_apart(at, TF_BLOB_STRING, id, text, size, NULL, 0);
	sys_unlock(&p->writing);
	thread_guard_leave(t, &guard);
	return id;
}

void profile_count_shared(uint64_t *row, uint64_t value, uint64_t bytes)
{
	uint64_t shifted = value << 8 | TF_DATA, old = row[TF_SUM_SQUARES];

	__atomic_fetch_add(&row[TF_SUM_CALLS], 1 << 8, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row[TF_SUM_TOTAL], value << 8, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row[TF_SUM_BYTES], bytes << 8, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&row[TF_SUM_SQUARES], &old, profile_add_square(old, value), false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	old = row[TF_SUM_LEAST];
	while (shifted < old && !__atomic_compare_exchange_n(&row[TF_SUM_LEAST], &old, shifted, false, __ATOMIC_RELAXED,
							     __ATOMIC_RELAXED))
		;
	old = row[TF_SUM_MOST];
	while (shifted > old && !__atomic_compare_exchange_n(&row[TF_SUM_MOST], &old, shifted, false, __ATOMIC_RELAXED,
							     __ATOMIC_RELAXED))
		;
}

/* What has no row of its own: such rows are shared, also by domains. NULL: there is no room for that either. */
static __attribute__((noinline, cold)) uint64_t *row_other(struct thread *t, const struct profile_key *k)
{
	uint64_t same = tf_kind(k->head) == TF_RANGES ? 0xff001f : 0xffffff;
	const struct profile_key other = {.head = (k->head & same) | TF_SUM_IS_OTHER << 16};
	uint64_t hash = key_hash(&other, PROFILE_OWNERS), *row = row_find(process.profile, hash);

	return row ? row : row_add(t, &other, hash, true);
}

__attribute__((noinline)) uint64_t *profile_row(struct thread *t, const struct profile_key *k, bool *is_shared)
{
	unsigned owner = t->number < PROFILE_OWNERS && !*is_shared ? t->number : PROFILE_OWNERS;
	uint64_t hash = key_hash(k, owner), *row = row_find(process.profile, hash);

	if (__builtin_expect(!row, 0))
		row = row_add(t, k, hash, false);
	*is_shared = !row || owner == PROFILE_OWNERS;
	return row ? row : row_other(t, k);
}

static inline __attribute__((always_inline)) void profile_add(struct thread *t, const struct profile_key *k,
							       uint64_t value)
{
	bool is_shared = false;
	uint64_t *row = profile_row(t, k, &is_shared);

	if (__builtin_expect(!is_shared, 1))
		profile_count(row, value, k->bytes);
	else if (row)
		profile_count_shared(row, value, k->bytes);
	else
		thread_lose(t, 1);
}

void profile_call(struct thread *t, unsigned function, uint64_t duration, uint32_t stack, const uint64_t *args,
		  unsigned count)
{
	struct profile_key k = {.count = 0};

	if (stack)
		key_add(&k, TF_ARG_STACK, stack);
	key_add_args(&k, args, count);
	k.head = tf_sum(function, 0, size_class(k.bytes));
	profile_add(t, &k, (int64_t)duration < 0 ? 0 : duration);
}

void profile_sample(struct thread *t, uint64_t us, uint64_t stack)
{
	const struct profile_key k = {.head = tf_sum(0, TF_SUM_IS_SAMPLE, 0), .args = {stack}, .count = stack != 0};

	profile_add(t, &k, us);
}

/* ---- calls below the threshold ---- */

static __attribute__((cold)) void short_count_shared(uint64_t *row, const uint64_t *numbers)
{
	for (unsigned i = TF_TRAFFIC_CALLS; i <= TF_TRAFFIC_BYTES; i++)
		__atomic_fetch_add(&row[i], numbers[i] & ~(uint64_t)0xff, __ATOMIC_RELAXED);
}

void profile_short(struct thread *t, unsigned function, int fd, uint16_t state, const uint64_t *numbers,
		   uint64_t **entry)
{
	struct record_profile *p = process.profile;
	struct profile_key k = {.head = tf_sum(function, TF_SUM_IS_SHORT, 0)};
	uint32_t file = profile_file((unsigned)fd, state);
	bool is_own = t->number < PROFILE_OWNERS;
	/* A descriptor has a row of its own, because the key in the row is that of one. */
	uint64_t owner = is_own ? t->number | (uint64_t)(unsigned)(fd + 1) << 32 : PROFILE_OWNERS, hash, *row;

	if (file)
		key_add(&k, TF_ARG_FILE, file);
	hash = key_hash(&k, owner);
	row = row_find(p, hash);
	if (!row)
		row = row_add(t, &k, hash, false);
	if (row && is_own) {
		for (unsigned i = TF_TRAFFIC_CALLS; i <= TF_TRAFFIC_BYTES; i++)
			row[i] += numbers[i] & ~(uint64_t)0xff;
		row[TF_TRAFFIC_KEY] = numbers[TF_TRAFFIC_KEY];
		*entry = row - 1;
		return;
	}
	*entry = NULL;
	row = row ? row : row_other(t, &k);
	if (row)
		short_count_shared(row, numbers);
}
