/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/profile.h"

#include <string.h>

#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/profile_state.h"
#include "runtime/shared/common/sys.h"

/* OWNERS: threads with rows of their own. RESERVE: room of the last chunk that only rows "other" take. */
enum { CHUNK = 65536, RESERVE = 16384, OWNERS = 64, KEPT_ARGS = 4 };

struct key {
	uint64_t head; /* the row's first slot */
	uint64_t args[KEPT_ARGS];
	unsigned count;
	uint64_t bytes; /* of this call */
};

/* ---- keys ---- */

static unsigned size_class(uint64_t bytes)
{
	return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static void key_add(struct key *k, unsigned kind, uint64_t value)
{
	if (k->count < KEPT_ARGS)
		k->args[k->count++] = tf_arg(kind, 0, value);
}

/* The descriptor that a call has used or made, and its error or its bytes. */
static void key_add_descriptor(struct key *k, uint64_t value, bool is_closed)
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
static void key_add_args(struct key *k, const uint64_t *args, unsigned count)
{
	bool is_closed = count > 1 && tf_arg_kind(args[1]) == TF_ARG_FILE;

	for (unsigned i = 0; i < count; i++) {
		uint64_t value = tf_arg_value(args[i]);

		switch (tf_arg_kind(args[i])) {
		case TF_ARG_FD:
			key_add_descriptor(k, value, is_closed);
			break;
		case TF_ARG_OPERATION:
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

static uint64_t key_hash(const struct key *k, uint64_t owner)
{
	uint64_t hash = intern_fold(k->head, owner);

	for (unsigned i = 0; i < k->count; i++)
		hash = intern_fold(hash, k->args[i]);
	return hash ? hash : 1;
}

/* ---- rows ---- */

/* NULL: there is no room. Under p->writing. */
static __attribute__((cold)) uint64_t *row_room(struct record_profile *p, unsigned slots, bool is_other)
{
	uint64_t needed = slots * TF_SLOT + (is_other ? 0 : RESERVE), size = file_round(CHUNK);
	uint64_t *at = (uint64_t *)p->next;

	if (!p->chunk || p->next + needed > (uint64_t)p->chunk + p->chunk->size_bytes) {
		struct tf_chunk *chunk = NULL;

		if (p->left >= size) {
			p->left -= size;
			chunk = file_chunk(NULL, TF_CHUNK_SLOTS, (uint32_t)size, 0, 0);
		}
		if (chunk) {
			chunk->tid = process.pid;
			chunk->base_ticks = UINT64_MAX;
			p->chunk = chunk;
			p->next = (uint64_t)(chunk + 1);
			__atomic_store_n(&chunk->magic, TF_CHUNK_MAGIC, __ATOMIC_RELEASE);
		} else if (!is_other || !p->chunk ||
			   p->next + slots * TF_SLOT > (uint64_t)p->chunk + p->chunk->size_bytes) {
			return NULL;
		}
		at = (uint64_t *)p->next;
	}
	p->next += slots * TF_SLOT;
	return at;
}

/* Returns the address of the numbers of a new row; NULL: there is no room. */
static __attribute__((cold)) uint64_t *row_make(struct record_profile *p, const struct key *k, bool is_other)
{
	uint64_t *at = row_room(p, 1 + k->count + TF_SUM_NUMBERS, is_other), *numbers;

	if (!at)
		return NULL;
	numbers = at + 1 + k->count;
	for (unsigned i = 0; i < k->count; i++)
		at[1 + i] = k->args[i];
	for (unsigned i = 0; i < TF_SUM_NUMBERS; i++)
		numbers[i] = TF_DATA;
	if (!(tf_sum_flags(k->head) & TF_SUM_IS_SHORT))
		numbers[TF_SUM_LEAST] = TF_DATA | ~0ull << 8;
	__atomic_store_n(at, k->head, __ATOMIC_RELEASE);
	return numbers;
}

static uint64_t *row_find(const struct record_profile *p, uint64_t hash)
{
	const struct intern_entry *first = __atomic_load_n(&p->rows.level[0], __ATOMIC_ACQUIRE);
	uint64_t place = intern_mix(hash) & (INTERN_FIRST_LEVEL - 1);

	if (__builtin_expect(first && __atomic_load_n(&first[place].key, __ATOMIC_ACQUIRE) == hash, 1))
		return (uint64_t *)__atomic_load_n(&first[place].value, __ATOMIC_ACQUIRE);
	return (uint64_t *)intern_get(&p->rows, hash);
}

/* Finds the row again, because another thread may have made it, or makes it. Signals are deferred. */
static __attribute__((noinline, cold)) uint64_t *row_add(struct thread *t, const struct key *k, uint64_t hash,
							 bool is_other)
{
	struct record_profile *p = process.profile;
	struct thread_guard guard;
	uint64_t *row;

	if ((sys_is_silent && !p->chunk) || (!is_other && __atomic_load_n(&p->is_full, __ATOMIC_RELAXED)))
		return NULL;
	thread_guard_enter(t, &guard);
	sys_lock(&p->writing);
	row = (uint64_t *)intern_get(&p->rows, hash);
	if (!row && (is_other || !p->is_full)) {
		row = row_make(p, k, is_other);
		if (row)
			intern_set(&p->rows, hash, (uint64_t)row);
		else
			__atomic_store_n(&p->is_full, true, __ATOMIC_RELAXED);
	}
	sys_unlock(&p->writing);
	thread_guard_leave(t, &guard);
	return row;
}

static uint64_t double_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return (bits & ~(uint64_t)0xff) | TF_DATA;
}

static double bits_double(uint64_t bits)
{
	double number;

	bits &= ~(uint64_t)0xff;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* The numbers have their tag in their lowest byte, so comparisons and sums of shifted values are
 * those of the values. */
static inline __attribute__((always_inline)) void row_count(uint64_t *row, uint64_t value, uint64_t bytes)
{
	uint64_t shifted = value << 8 | TF_DATA;

	row[TF_SUM_CALLS] += 1 << 8;
	row[TF_SUM_TOTAL] += value << 8;
	row[TF_SUM_BYTES] += bytes << 8;
	row[TF_SUM_SQUARES] = double_bits(bits_double(row[TF_SUM_SQUARES]) + (double)value * (double)value);
	if (shifted < row[TF_SUM_LEAST])
		row[TF_SUM_LEAST] = shifted;
	if (shifted > row[TF_SUM_MOST])
		row[TF_SUM_MOST] = shifted;
}

static __attribute__((noinline, cold)) void row_count_shared(uint64_t *row, uint64_t value, uint64_t bytes)
{
	uint64_t shifted = value << 8 | TF_DATA, old = row[TF_SUM_SQUARES];

	__atomic_fetch_add(&row[TF_SUM_CALLS], 1 << 8, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row[TF_SUM_TOTAL], value << 8, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row[TF_SUM_BYTES], bytes << 8, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&row[TF_SUM_SQUARES], &old,
					    double_bits(bits_double(old) + (double)value * (double)value), false,
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

/* What has no row of its own: such rows are shared. NULL: there is no room for that of the function. */
static __attribute__((noinline, cold)) uint64_t *row_other(struct thread *t, const struct key *k)
{
	const struct key other = {.head = tf_sum(tf_event_id(k->head), TF_SUM_IS_OTHER | tf_sum_flags(k->head), 0)};
	uint64_t hash = key_hash(&other, OWNERS), *row = row_find(process.profile, hash);

	return row ? row : row_add(t, &other, hash, true);
}

static __attribute__((noinline)) void profile_add(struct thread *t, const struct key *k, uint64_t value)
{
	unsigned owner = t->number < OWNERS ? t->number : OWNERS;
	uint64_t hash = key_hash(k, owner), *row = row_find(process.profile, hash);

	if (__builtin_expect(!row, 0))
		row = row_add(t, k, hash, false);
	if (__builtin_expect(row && owner < OWNERS, 1)) {
		row_count(row, value, k->bytes);
		return;
	}
	row = row ? row : row_other(t, k);
	if (row)
		row_count_shared(row, value, k->bytes);
	else
		thread_lose(t, 1);
}

void profile_call(struct thread *t, unsigned function, uint64_t duration, uint32_t stack, const uint64_t *args,
		  unsigned count)
{
	struct key k = {.count = 0};

	if (stack)
		key_add(&k, TF_ARG_STACK, stack);
	key_add_args(&k, args, count);
	k.head = tf_sum(function, 0, size_class(k.bytes));
	profile_add(t, &k, (int64_t)duration < 0 ? 0 : duration);
}

void profile_sample(struct thread *t, uint64_t us, uint64_t stack)
{
	const struct key k = {.head = tf_sum(0, TF_SUM_IS_SAMPLE, 0), .args = {stack}, .count = stack != 0};

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
	struct key k = {.head = tf_sum(function, TF_SUM_IS_SHORT, 0)};
	uint32_t file = profile_file((unsigned)fd, state);
	bool is_own = t->number < OWNERS;
	/* A descriptor has a row of its own, because the key in the row is that of one. */
	uint64_t owner = is_own ? t->number | (uint64_t)(unsigned)(fd + 1) << 32 : OWNERS, hash, *row;

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
