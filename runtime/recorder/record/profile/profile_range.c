/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/profile/profile_range.h"

#include <string.h>

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/profile/profile_row.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

/* DEPTH: open pushes of a thread that are known. PLACES: where a started range may be. */
enum { DEPTH = 128, PLACES = 64, NAME = 256 };
#define BUSY (~0ull)
#define ONE (1ull << 8) /* in a slot of numbers */

/* The latest open pushes of one thread, with those of all domains. A handler may interrupt this at any point, and
 * leaves it as it was. */
struct profile_pushes {
	uint64_t generation; /* of the image; a forked child has none of its parent's */
	uint64_t next;
	struct profile_open items[DEPTH];
};
_Static_assert(sizeof(struct profile_pushes) <= PROFILE_PUSHES_BYTES, "");

/* ---- texts ---- */

static size_t operator_length(const char *text, size_t size)
{
	static const char keys[][9] = {", seq = ", ", op_id ", ", sizes "};

	for (size_t i = 1; i + 8 < size; i++)
		for (unsigned k = 0; text[i] == ',' && k < 3; k++)
			if (!memcmp(text + i, keys[k], 8))
				return i;
	return size;
}

static bool begins_with(const char *text, size_t size, const char *word, size_t length)
{
	return size >= length && !memcmp(text, word, length);
}

static bool is_step(const char *text, size_t size, bool is_operator, bool *is_optimizer)
{
	static const char words[][8] = TF_STEP_WORDS;

	*is_optimizer = begins_with(text, size, TF_STEP_OPTIMIZER, sizeof(TF_STEP_OPTIMIZER) - 1);
	if (*is_optimizer || begins_with(text, size, TF_STEP_PYTORCH, sizeof(TF_STEP_PYTORCH) - 1))
		return true;
	for (unsigned i = 0; !is_operator && i < sizeof(words) / sizeof(*words); i++) {
		size_t same = 0;

		while (same < size && words[i][same] && (text[same] | 32) == words[i][same])
			same++;
		if (!words[i][same])
			return true;
	}
	return false;
}

/* An image with ranges has a trace file, and all of them are in rows, if that is possible. */
static bool has_rows(struct thread *t)
{
	if (!process.header && !process.create_failures)
		thread_finish_pending(t);
	return process.profile;
}

static uint32_t text_define(const char *text, size_t size)
{
	return has_rows(&thread_self) ? profile_define(&thread_self, text, size)
				      : event_intern(TF_BLOB_STRING, text, size);
}

/* Beyond PROCESS_STEPS texts, ranges are no steps. */
static void step_add(uint32_t step)
{
	for (uint32_t *place = process.profile_steps; place < process.profile_steps + PROCESS_STEPS; place++) {
		uint32_t none = 0;

		if (*place == step || __atomic_compare_exchange_n(place, &none, step, false, __ATOMIC_RELAXED,
								  __ATOMIC_RELAXED) || none == step)
			break;
	}
}

/* In the text of a step each number becomes an asterisk; in that of an operator a 0 replaces numbers and sizes. */
uint32_t profile_text(const char *text, size_t size)
{
	static const char number[] = ", seq = 0";
	char name[NAME + sizeof(number)];
	size_t length = operator_length(text, size), used = 0;
	bool is_operator = length < size, is_optimizer, is_of_step = is_step(text, length, is_operator, &is_optimizer);
	uint32_t id;

	if (!is_operator && !is_of_step)
		return text_define(text, size);
	for (size_t i = 0; i < length && used < NAME; i++) {
		bool is_digit = is_of_step && text[i] >= '0' && text[i] <= '9';

		if (!is_digit || !used || name[used - 1] != '*')
			name[used++] = is_digit ? '*' : text[i];
	}
	if (is_operator) {
		memcpy(name + used, number, sizeof(number));
		used += sizeof(number) - 1;
	}
	id = text_define(name, used);
	if (id && is_of_step)
		step_add(id << 1 | is_optimizer);
	return id;
}

/* ---- rows ---- */

static void open_begin(struct thread *t, struct profile_open *o, const uint64_t *args, unsigned count)
{
	struct profile_key k = {.head = o->head};
	bool is_shared = !tf_ranges_thread(o->head) || !o->text;

	if (o->text)
		k.args[k.count++] = tf_arg(TF_ARG_VALUE, 0, o->text);
	else
		k.head |= TF_RANGES_IS_OTHER << 16;
	for (unsigned i = 0; o->text && i < count; i++)
		if (tf_arg_kind(args[i]) == TF_ARG_COLOR && tf_arg_value(args[i]) >> 32)
			k.args[k.count++] = tf_arg(TF_ARG_COLOR, 0, tf_arg_value(args[i]) >> 32 << 32);
	o->row = profile_row(t, &k, &is_shared);
	o->is_shared = is_shared;
	if (!o->row)
		thread_lose(t, 1);
	else if (is_shared)
		__atomic_fetch_add(&o->row[TF_SUM_BYTES], ONE, __ATOMIC_RELAXED);
	else
		o->row[TF_SUM_BYTES] += ONE;
}

static __attribute__((noinline)) void row_count(uint64_t *row, bool is_shared, uint64_t ticks)
{
	if (is_shared)
		profile_count_shared(row, ticks, 0);
	else
		profile_count(row, ticks, 0);
}

/* Ranges with an id may end in other threads; then LAST and OVERLAPS are what one of them has stored. */
static void step_end(struct thread *t, const struct profile_open *o, uint64_t now, uint64_t ticks, bool is_optimizer)
{
	struct profile_key k = {.head = o->head | TF_RANGES_IS_STEPS << 16 | (uint64_t)o->tid << 32,
				.args = {tf_arg(TF_ARG_VALUE, 0, o->text)}, .count = 1};
	bool is_shared = tf_sum_flags(o->head) & TF_RANGES_IS_STARTEND;
	uint64_t *row = profile_row(t, &k, &is_shared), last;

	if (!row) {
		thread_lose(t, 1);
		return;
	}
	last = row[TF_STEPS_LAST];
	row[TF_STEPS_LAST] = now << 8 | TF_DATA;
	if (o->start << 8 < last >> 8 << 8)
		row[TF_STEPS_OVERLAPS] += ONE;
	if (is_optimizer && last < ONE)
		return;
	ticks = is_optimizer ? ((now << 8 | TF_DATA) - last) >> 8 : ticks;
	row_count(row, is_shared, ticks);
	__atomic_fetch_add(&row[TF_STEPS_CLASSES + tf_steps_class(ticks)], ONE, __ATOMIC_RELAXED);
}

static void open_end(struct thread *t, const struct profile_open *o, uint64_t now)
{
	uint64_t ticks = now > o->start ? now - o->start : 0;

	if (!o->row)
		return; /* it was counted as lost when it began */
	row_count(o->row, o->is_shared, ticks);
	for (unsigned i = 0; i < PROCESS_STEPS && process.profile_steps[i]; i++)
		if (process.profile_steps[i] >> 1 == o->text)
			step_end(t, o, now, ticks, process.profile_steps[i] & 1);
}

/* ---- ranges ---- */

static struct profile_pushes *pushes_of(struct thread *t)
{
	if (!t->pushes)
		t->pushes = sys_mmap(NULL, PROFILE_PUSHES_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0);
	if (t->pushes && t->pushes->generation != process.generation) {
		memset(t->pushes, 0, sizeof(*t->pushes));
		t->pushes->generation = process.generation;
	}
	return t->pushes;
}

/* Beyond DEPTH, the outermost one stays open for ever. */
static void sum_push(struct thread *t, struct profile_open *o, const uint64_t *args, unsigned count)
{
	struct profile_pushes *p = pushes_of(t);
	struct profile_open *place;

	if (!p) {
		thread_lose(t, 1);
		return;
	}
	place = &p->items[p->next++ % DEPTH];
	open_begin(t, o, args, count);
	o->is_open = false;
	*place = *o;
	EVENT_BARRIER();
	place->is_open = true;
}

static bool sum_pop(struct thread *t, unsigned domain, uint64_t now)
{
	struct profile_pushes *p = pushes_of(t);

	for (unsigned i = 1; p && i <= DEPTH && i <= p->next; i++) {
		struct profile_open *place = &p->items[(p->next - i) % DEPTH], o = *place;

		if (!o.is_open || tf_event_id(o.head) != domain)
			continue;
		place->is_open = false;
		for (unsigned k = 0; k < DEPTH && p->next && !p->items[(p->next - 1) % DEPTH].is_open; k++)
			p->next--;
		open_end(t, &o, now);
		return true;
	}
	return false;
}

static void sum_start(struct thread *t, uint64_t id, struct profile_open *o, const uint64_t *args, unsigned count)
{
	for (unsigned i = 0; i < PLACES; i++) {
		struct profile_started *s = &process.profile->started[(intern_mix(id) + i) % PROFILE_STARTED];
		uint64_t none = 0;

		if (!__atomic_compare_exchange_n(&s->id, &none, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		open_begin(t, o, args, count);
		s->open = *o;
		__atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
		return;
	}
	thread_lose(t, 1);
}

static bool sum_end(struct thread *t, uint64_t id, uint64_t now)
{
	for (unsigned i = 0; i < PLACES; i++) {
		struct profile_started *s = &process.profile->started[(intern_mix(id) + i) % PROFILE_STARTED];
		uint64_t known = id;

		if (!__atomic_compare_exchange_n(&s->id, &known, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		open_end(t, &s->open, now);
		__atomic_store_n(&s->id, 0, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

bool profile_instant(uint64_t now, uint64_t first, const uint64_t *args, unsigned count)
{
	struct thread *t = &thread_self;
	unsigned kind = tf_kind(first), domain = tf_event_id(first);
	bool is_push = kind == TF_PUSH, is_ended;
	struct profile_open o = {.start = now, .text = (uint32_t)tf_event_last(first), .tid = t->page->chunk.tid};

	if (kind == TF_MARK)
		return true;
	if (!has_rows(t))
		return false;
	o.head = tf_ranges(domain, is_push ? 0 : TF_RANGES_IS_STARTEND,
			   is_push && t->number < PROFILE_OWNERS ? o.tid : 0);
	if (is_push) {
		sum_push(t, &o, args, count);
		return true;
	}
	if (kind == TF_RANGE_START) {
		sum_start(t, tf_arg_value(args[0]), &o, args, count);
		return true;
	}
	is_ended = kind == TF_POP ? sum_pop(t, domain, now) : sum_end(t, tf_arg_value(args[0]), now);
	/* what has no begin is an event, but not without end */
	return is_ended || __atomic_fetch_add(&process.profile->unmatched, 1, __ATOMIC_RELAXED) >= PROFILE_UNMATCHED;
}
