/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of one thread in the order in which they were written. */
#include <string.h>

#include "report/read/reader.h"

void (*reader_progress)(uint64_t bytes);

void cursor_init(struct cursor *c, const struct trace *t, const struct trace_thread *thread)
{
	*c = (struct cursor){
		.trace = t,
		.thread = thread,
		.chunk = thread->first_chunk,
		.chunk_end = thread->first_chunk + thread->chunk_count,
	};
}

void cursor_restrict(struct cursor *c, size_t first, size_t count)
{
	c->chunk += first;
	c->chunk_end = c->chunk + count;
}

/* The events of a chunk ended before the next chunk began, except those of signal handlers: so one chunk more is
 * kept. */
void cursor_skip_to(struct cursor *c, uint64_t ticks)
{
	const struct chunk *chunks = c->trace->chunks;
	size_t last = c->thread->first_chunk + c->thread->chunk_count - 1;

	while (c->chunk + 2 <= last && chunks[c->chunk + 2].base_ticks < ticks)
		c->chunk++;
}

static bool next_chunk(struct cursor *c)
{
	const struct chunk *last = c->at ? &c->trace->chunks[c->chunk - 1] : NULL;

	if (last)
		mapping_drop(&c->trace->bytes, last->offset, last->size);
	while (c->chunk < c->chunk_end) {
		const struct chunk *w = &c->trace->chunks[c->chunk++];
		const uint8_t *data = c->trace->bytes.data + w->offset;
		struct tf_chunk head;
		uint32_t first;

		if (w->size < sizeof(head) || w->is_left_out || (c->wanted && !c->wanted[c->chunk - 1]))
			continue;
		memcpy(&head, data, sizeof(head));
		first = tf_slots_offset(&head);
		if (first < sizeof(head) || first % TF_SLOT || first >= w->size)
			continue;
		c->at = (const uint64_t *)(data + first);
		c->end = c->at + (w->size - first) / TF_SLOT;
		c->now = w->base_ticks;
		c->is_old = w->base_ticks < c->trace->header.ring_ticks;
		if (reader_progress)
			reader_progress(w->size);
		return true;
	}
	return false;
}

static const uint64_t *skip_kind(const uint64_t *at, const uint64_t *end, unsigned int kind)
{
	while (at < end && tf_kind(*at) == kind)
		at++;
	return at;
}

/* At a slot of kind 0: skips it and what belonged to it, or to the end of the chunk if nothing was written after it. */
static void skip_torn(struct cursor *c)
{
	const uint64_t *next = c->at + 1;

	while (next < c->end && !*next)
		next++;
	if (next == c->end) {
		/* A recorder never writes such a word with other bits set; in any case it is not an event. */
		c->torn += *c->at != 0;
		c->at = c->end;
		return;
	}
	c->torn += (uint64_t)(next - c->at);
	c->at = skip_kind(skip_kind(next, c->end, TF_ARG), c->end, TF_DATA);
}

/* False if the blob is incomplete: of it, too, what exists is skipped. */
static bool skip_blob(struct cursor *c, uint64_t slot)
{
	const uint64_t *data = c->at + 1;
	size_t pieces = (tf_blob_length(slot) + TF_DATA_BYTES - 1u) / TF_DATA_BYTES;

	c->at = skip_kind(data, c->end, TF_DATA);
	if ((size_t)(c->at - data) >= pieces)
		return true;
	c->broken++;
	return false;
}

/* Skips definitions in succession by their lengths: where nothing is unreadable, each has all of its pieces, because
 * they are stored before its own slot. */
static void skip_definitions(struct cursor *c)
{
	const uint64_t *at = c->at;
	size_t left = (size_t)(c->end - at);

	while (left) {
		uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		size_t slots = 1 + (tf_blob_length(slot) + TF_DATA_BYTES - 1u) / TF_DATA_BYTES;

		if (tf_kind(slot) != TF_BLOB || tf_blob_kind(slot) == TF_BLOB_PAYLOAD || slots > left)
			break;
		at += slots;
		left -= slots;
	}
	c->at = at;
}

static bool take_blob(struct cursor *c, uint64_t slot, struct event *e)
{
	const uint64_t *data = c->at + 1;

	if (!skip_blob(c, slot))
		return false;
	*e = (struct event){
		.kind = TF_BLOB,
		.blob = (uint8_t)tf_blob_kind(slot),
		.length = (uint16_t)tf_blob_length(slot),
		.id = tf_blob_id(slot),
		.ticks = c->now,
		.args = data,
	};
	return true;
}

static void remember_payload(struct cursor *c, const uint64_t *slot)
{
	memmove(c->payloads + 1, c->payloads, sizeof(c->payloads) - sizeof(*c->payloads));
	c->payloads[0] = slot;
}

static const uint64_t *find_payload(const struct cursor *c, const struct event *e)
{
	uint64_t arg = event_arg(e, TF_ARG_EXTENDED);

	for (size_t i = 0; arg && i < sizeof(c->payloads) / sizeof(*c->payloads) && c->payloads[i]; i++)
		if (tf_blob_id(*c->payloads[i]) == tf_arg_value(arg))
			return c->payloads[i];
	return NULL;
}

/* The duration of a call with these ARG slots, if its own slot has no room for it. */
static uint64_t long_duration(const uint64_t *args, const uint64_t *end)
{
	uint64_t duration = TF_DURATION_LONG;

	for (; args < end; args++)
		if (tf_arg_kind(*args) == TF_ARG_LONG)
			duration = tf_arg_value(*args);
	return duration;
}

static void take_operator(const struct cursor *c, struct event *e)
{
	uint64_t place = (uint64_t)((const uint8_t *)e->args - c->trace->bytes.data) / TF_SLOT;

	if (tf_arg_kind(*e->args) == TF_ARG_VALUE && place < UINT32_MAX - OPERATOR_STRINGS)
		e->text = OPERATOR_STRINGS + (uint32_t)place;
}

static inline __attribute__((always_inline)) void take_event(struct cursor *c, uint64_t slot, struct event *e)
{
	const uint64_t *args = c->at + 1;

	c->now = tf_time_after(c->now, tf_event_time(slot));
	c->at = skip_kind(args, c->end, TF_ARG);
	*e = (struct event){
		.kind = (uint8_t)tf_kind(slot),
		.id = tf_event_id(slot),
		.text = (uint32_t)tf_event_last(slot),
		.args_count = (uint32_t)(c->at - args),
		.ticks = c->now,
		.args = args,
	};
	if (e->kind != TF_CALL && e->kind != TF_CONSTRUCT) {
		if (e->args_count)
			e->payload = find_payload(c, e);
		if (e->args_count && e->kind == TF_PUSH)
			take_operator(c, e);
		return;
	}
	e->duration = e->text;
	if (e->duration == TF_DURATION_LONG)
		e->duration = long_duration(args, c->at);
}

/* Sums have no time: a cursor that shows some times only skips them. */
static bool take_sum(struct cursor *c, uint64_t slot, struct event *e)
{
	const uint64_t *args = c->at + 1, *numbers = skip_kind(args, c->end, TF_ARG);

	c->at = skip_kind(numbers, c->end, TF_DATA);
	*e = (struct event){
		.kind = (uint8_t)tf_kind(slot),
		.id = tf_event_id(slot),
		.text = tf_sum_flags(slot),
		.args_count = (uint32_t)(numbers - args),
		.args = args,
		.sum = numbers,
	};
	c->broken += c->at - numbers < tf_sum_numbers(slot);
	return c->at - numbers >= tf_sum_numbers(slot);
}

struct event_sum event_sum(const struct event *e)
{
	uint64_t numbers[TF_SUM_NUMBERS], bits;
	struct event_sum sum = {0};

	for (int i = 0; i < TF_SUM_NUMBERS; i++)
		numbers[i] = __atomic_load_n(&e->sum[i], __ATOMIC_RELAXED);
	sum.count = numbers[TF_SUM_CALLS] >> 8;
	sum.total = numbers[TF_SUM_TOTAL] >> 8;
	sum.bytes = numbers[TF_SUM_BYTES] >> 8;
	sum.least = numbers[TF_SUM_LEAST] >> 8;
	sum.most = numbers[TF_SUM_MOST] >> 8;
	bits = numbers[TF_SUM_SQUARES] & ~(uint64_t)0xff;
	memcpy(&sum.squares, &bits, sizeof(bits));
	return sum;
}

bool tick_spans_overlap(const struct tick_spans *s, uint64_t from, uint64_t to)
{
	size_t first = first_place(i, 0, s->count, s->items[i].to < from);

	return first < s->count && s->items[first].from <= to;
}

/* With --ring: is what was read of a time that is not kept whole? The time of a blob is known to some milliseconds;
 * definitions are kept for longer. */
static bool cursor_is_old(struct cursor *c, const struct event *e)
{
	enum { BLOB_TICKS = 1 << 25 };
	uint64_t kept = c->trace->header.ring_ticks;

	if (e->kind == TF_BLOB)
		return e->blob < 64 && TF_RING_PASSES(e->blob) && c->now < kept && kept - c->now > BLOB_TICKS;
	c->is_old = e->ticks < kept;
	return c->is_old;
}

static bool cursor_passes(const struct cursor *c, const struct event *e)
{
	const uint32_t kinds = 1u << TF_CALL | 1u << TF_CONSTRUCT | 1u << TF_MARK | 1u << TF_SAMPLE |
			       1u << TF_ALLOCATION;

	if (!c->shown || !(kinds & 1u << e->kind))
		return true;
	return tick_spans_overlap(c->shown, event_start(e), e->ticks);
}

/* False: the call has one of the arguments that are wanted. */
static bool skip_call(struct cursor *c, uint64_t slot)
{
	const uint64_t *at = c->at + 1;
	uint32_t args = 0;

	for (; at < c->end && tf_kind(*at) == TF_ARG; at++)
		args |= 1u << tf_arg_kind(*at);
	if (args & c->call_args)
		return false;
	c->now = tf_time_after(c->now, tf_event_time(slot));
	c->at = at;
	return true;
}

static inline __attribute__((always_inline)) bool step(struct cursor *c, bool has_definitions, struct event *e)
{
	for (;;) {
		uint64_t slot;

		if (c->at == c->end) {
			if (!next_chunk(c))
				return false;
			continue;
		}
		/* The writer may be running: what follows a slot was stored before it. */
		slot = __atomic_load_n(c->at, __ATOMIC_ACQUIRE);
		switch (tf_kind(slot)) {
		case TF_TORN:
			skip_torn(c);
			break;
		case TF_CALL:
			if (c->call_args && skip_call(c, slot))
				break;
			__attribute__((fallthrough));
		case TF_PUSH:
		case TF_POP:
		case TF_RANGE_START:
		case TF_RANGE_END:
		case TF_MARK:
		case TF_SAMPLE:
		case TF_ALLOCATION:
		case TF_RELEASE:
		case TF_CONSTRUCT:
		case TF_TENSOR:
			take_event(c, slot, e);
			if (c->is_old && cursor_is_old(c, e))
				c->old++;
			else if (cursor_passes(c, e))
				return true;
			break;
		case TF_SUM:
		case TF_RANGES:
			if (take_sum(c, slot, e) && !c->shown)
				return true;
			break;
		case TF_TIME:
			c->now = tf_time_ticks(slot, c->now);
			c->at++;
			break;
		case TF_BLOB:
		{
			const uint64_t *at = c->at;

			if (!has_definitions && c->trace->is_sound)
				skip_definitions(c);
			if (c->at != at)
				break;
			if (!has_definitions && tf_blob_kind(slot) != TF_BLOB_PAYLOAD) {
				skip_blob(c, slot);
				break;
			}
			if (!take_blob(c, slot, e) || (c->is_old && cursor_is_old(c, e)))
				break;
			if (e->blob != TF_BLOB_PAYLOAD)
				return true;
			remember_payload(c, at);
			break;
		}
		case TF_ARG:
		case TF_DATA:
			c->orphans++;
			c->at++;
			break;
		default: /* from a later minor version */
			c->at = skip_kind(skip_kind(c->at + 1, c->end, TF_ARG), c->end, TF_DATA);
		}
	}
}

bool cursor_step(struct cursor *c, struct event *e)
{
	return step(c, true, e);
}

/* Most events are calls, and most readers skip none of them. */
static bool next_is_plain_call(struct cursor *c, struct event *e)
{
	uint64_t slot;

	if (c->at >= c->end || c->call_args || c->shown || c->is_old)
		return false;
	slot = __atomic_load_n(c->at, __ATOMIC_ACQUIRE);
	if (tf_kind(slot) != TF_CALL)
		return false;
	take_event(c, slot, e);
	return true;
}

bool cursor_next(struct cursor *c, struct event *e)
{
	if (next_is_plain_call(c, e))
		return true;
	return step(c, false, e);
}

void cursor_pass_calls(struct cursor *c, struct passed_calls *sums)
{
	const uint64_t *at = c->at, *const end = c->end;
	uint64_t now = c->now;

	while (at < end && !c->is_old) {
		const uint64_t slot = __atomic_load_n(at, __ATOMIC_ACQUIRE), *args = at + 1;
		uint64_t duration = tf_event_last(slot);

		if (tf_kind(slot) == TF_TIME) {
			now = tf_time_ticks(slot, now);
			at++;
			continue;
		}
		if (tf_kind(slot) != TF_CALL)
			break;
		now = tf_time_after(now, tf_event_time(slot));
		for (at = args; at < end && tf_kind(*at) == TF_ARG; at++)
			sums->args |= 1u << tf_arg_kind(*at);
		if (duration == TF_DURATION_LONG)
			duration = long_duration(args, at);
		if (!sums->count++)
			sums->first_ticks = now > duration ? now - duration : 0;
		sums->slots += (uint64_t)(at - args) + 1;
		sums->last_ticks = larger_of(sums->last_ticks, now);
		if (duration > sums->longest_ticks)
			sums->longest_ticks = duration;
		sums->functions[tf_event_id(slot) / 64] |= (uint64_t)1 << tf_event_id(slot) % 64;
	}
	c->at = at;
	c->now = now;
}

/* Likewise with times, in a chunk of which a part is not kept. */
static bool next_call_slowly(struct cursor *c, struct plain_call *ret)
{
	struct event e;

	while (cursor_step(c, &e))
		if (e.kind == TF_CALL) {
			*ret = (struct plain_call){e.id, e.duration};
			return true;
		}
	return false;
}

bool cursor_next_call(struct cursor *c, struct plain_call *ret)
{
	do
		while (c->at < c->end) {
			uint64_t slot;

			if (c->is_old)
				return next_call_slowly(c, ret);
			slot = __atomic_load_n(c->at++, __ATOMIC_ACQUIRE);
			if (tf_kind(slot) != TF_CALL)
				continue;
			ret->function = tf_event_id(slot);
			ret->duration = tf_event_last(slot);
			if (ret->duration == TF_DURATION_LONG)
				ret->duration = long_duration(c->at, skip_kind(c->at, c->end, TF_ARG));
			return true;
		}
	while (next_chunk(c));
	return false;
}
