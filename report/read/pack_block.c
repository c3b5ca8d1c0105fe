/* SPDX-License-Identifier: Apache-2.0 */
/* Converts slots to columns and compresses them by zstd, and back.
 *
 * A block is a zstd frame of uint32_t count[COLUMNS], then the columns, then the rest that is no whole slot. Column
 * HEADS has one byte for each slot up to the last nonzero one: the index of its low 16 bits in a dictionary that
 * both sides build, or NEW_HEAD and these bits at their first use. The other columns have one entry for each slot of
 * their class: byte 0 of all entries, then byte 1 of all, and so on. */
#include "report/read/pack_block.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/shared/format/trace_format.h"
#include "report/base/util.h"

#ifdef HAVE_ZSTD
#include <zstd.h>

enum { LEVEL = 3, NEW_HEAD = 255, SLOTS = BLOCK_BYTES / TF_SLOT };
enum slot_column { HEADS, PAUSES, DURATIONS, TIMES, LASTS, VALUES, TICKS, DATA, COLUMNS };
static const uint8_t widths[COLUMNS] = {1, 3, 3, 3, 3, 6, 8, TF_DATA_BYTES};

/* A slot takes at most 3 bytes of HEADS and 8 more. */
enum { COLUMNS_BYTES = COLUMNS * 4 + SLOTS * 11 + TF_SLOT };

struct block_coder {
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *decompressor;
	uint32_t count[COLUMNS];
	uint16_t heads[NEW_HEAD]; /* the dictionary */
	uint64_t last[NEW_HEAD + 1]; /* value of the previous slot with this head */
	unsigned int head_count;
	uint64_t now, ticks; /* the last time read, 24 bits; the previous TIME slot */
	uint64_t entries[COLUMNS][SLOTS]; /* except HEADS */
	uint8_t head_bytes[SLOTS * 3];
	uint8_t columns[COLUMNS_BYTES];
	uint8_t packed[ZSTD_COMPRESSBOUND(COLUMNS_BYTES) + 4096];
};

bool block_coder_exists(void)
{
	return true;
}

struct block_coder *block_coder_new(void)
{
	struct block_coder *c = mem_alloc(sizeof(*c));

	c->compressor = ZSTD_createCCtx();
	c->decompressor = ZSTD_createDCtx();
	if (!c->compressor || !c->decompressor)
		mem_failed();
	ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(c->compressor, ZSTD_c_checksumFlag, 1);
	return c;
}

void block_coder_free(struct block_coder *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->compressor);
	ZSTD_freeDCtx(c->decompressor);
	free(c);
}

static void coder_reset(struct block_coder *c)
{
	memset(c->count, 0, sizeof(c->count));
	memset(c->last, 0, sizeof(c->last));
	c->head_count = 0;
	c->now = c->ticks = 0;
}

/* How the bits of a slot are interpreted, by its low 16 bits. Heads of class TICKS or DATA consist of the kind only. */
static enum slot_column class_of(unsigned int head)
{
	unsigned int kind = head & 31;

	if (kind == TF_CALL)
		return PAUSES;
	if ((kind >= TF_PUSH && kind <= TF_MARK) || kind == TF_SAMPLE)
		return TIMES;
	if (kind == TF_TIME)
		return TICKS;
	return (head & 0xff) == TF_DATA ? DATA : VALUES;
}

/* Zigzag encoding of signed differences of `bits` bits: 0, -1, 1, -2 ... */
static uint64_t zigzag_fold(uint64_t distance, unsigned int bits)
{
	uint64_t mask = ~0ull >> (64 - bits);

	distance &= mask;
	return (distance << 1 ^ (distance >> (bits - 1) ? mask : 0)) & mask;
}

static uint64_t zigzag_unfold(uint64_t folded, unsigned int bits)
{
	return (folded >> 1 ^ (folded & 1 ? ~0ull : 0)) & ~0ull >> (64 - bits);
}

/* ---- encoding ---- */

static unsigned int put_head(struct block_coder *c, unsigned int head)
{
	uint8_t *at = c->head_bytes + c->count[HEADS];

	for (unsigned int i = 0; i < c->head_count; i++)
		if (c->heads[i] == head) {
			*at = (uint8_t)i;
			c->count[HEADS]++;
			return i;
		}
	at[0] = NEW_HEAD;
	at[1] = (uint8_t)head;
	at[2] = (uint8_t)(head >> 8);
	c->count[HEADS] += 3;
	if (c->head_count == NEW_HEAD)
		return NEW_HEAD;
	c->heads[c->head_count] = (uint16_t)head;
	return c->head_count++;
}

static void column_put(struct block_coder *c, enum slot_column column, uint64_t entry)
{
	c->entries[column][c->count[column]++] = entry;
}

/* The time between the end of one call and the start of the next. */
static uint64_t call_length(uint64_t duration)
{
	return duration == TF_DURATION_LONG ? 0 : duration;
}

static void put_slot(struct block_coder *c, uint64_t slot)
{
	unsigned int head = slot & 0xffff, number;
	enum slot_column class = class_of(head);

	if (class == TICKS || class == DATA)
		head &= class == TICKS ? 31 : 0xff;
	number = put_head(c, head);
	switch (class) {
	case PAUSES:
		column_put(c, PAUSES, zigzag_fold(tf_event_time(slot) - c->now - call_length(tf_event_last(slot)), 24));
		column_put(c, DURATIONS, tf_event_last(slot));
		c->now = tf_event_time(slot);
		break;
	case TIMES:
		column_put(c, TIMES, zigzag_fold(tf_event_time(slot) - c->now, 24));
		column_put(c, LASTS, tf_event_last(slot));
		c->now = tf_event_time(slot);
		break;
	case TICKS:
		column_put(c, TICKS, zigzag_fold((slot >> 5) - c->ticks, 59));
		c->ticks = slot >> 5;
		c->now = c->ticks & TF_TIME_MASK;
		break;
	case DATA:
		column_put(c, DATA, slot >> 8);
		break;
	default:
		column_put(c, VALUES, zigzag_fold((slot >> 16) - c->last[number], 48));
		c->last[number] = slot >> 16;
	}
}

/* Byte 0 of all entries, then byte 1; text and packed records are copied. */
static uint8_t *block_spread(const struct block_coder *c, enum slot_column column, uint8_t *to)
{
	const uint64_t *entries = c->entries[column];
	uint32_t count = c->count[column];

	if (column == DATA) {
		for (uint32_t i = 0; i < count; i++, to += TF_DATA_BYTES)
			for (unsigned int byte = 0; byte < TF_DATA_BYTES; byte++)
				to[byte] = (uint8_t)(entries[i] >> 8 * byte);
		return to;
	}
	for (unsigned int byte = 0; byte < widths[column]; byte++)
		for (uint32_t i = 0; i < count; i++)
			*to++ = (uint8_t)(entries[i] >> 8 * byte);
	return to;
}

/* A block of the frame for each column, because each has its own symbol frequencies. */
static void block_compress(struct block_coder *c, ZSTD_outBuffer *out, const uint8_t *from, const uint8_t *to,
			   bool is_last)
{
	ZSTD_inBuffer in = {from, (size_t)(to - from), 0};

	ZSTD_compressStream2(c->compressor, out, &in, is_last ? ZSTD_e_end : ZSTD_e_flush);
}

const uint8_t *block_encode(struct block_coder *c, const uint8_t *bytes, size_t size, size_t *ret_size)
{
	ZSTD_outBuffer out = {c->packed, sizeof(c->packed), 0};
	size_t slots = size / TF_SLOT, used = slots;
	uint8_t *at = c->columns;

	coder_reset(c);
	for (uint64_t slot; used; used--)
		if (memcpy(&slot, bytes + (used - 1) * TF_SLOT, TF_SLOT), slot)
			break;
	for (size_t i = 0; i < used; i++) {
		uint64_t slot;

		memcpy(&slot, bytes + i * TF_SLOT, TF_SLOT);
		put_slot(c, slot);
	}
	memcpy(at, c->count, sizeof(c->count));
	at += sizeof(c->count);
	memcpy(at, c->head_bytes, c->count[HEADS]);
	at += c->count[HEADS];
	ZSTD_CCtx_reset(c->compressor, ZSTD_reset_session_only);
	block_compress(c, &out, c->columns, at, false);
	for (enum slot_column column = PAUSES; column < COLUMNS; column++) {
		uint8_t *end = block_spread(c, column, at);

		/* The low byte is noise, unlike the others. */
		if (column != DATA && c->count[column]) {
			block_compress(c, &out, at, at + c->count[column], false);
			at += c->count[column];
		}
		if (end > at)
			block_compress(c, &out, at, end, false);
		at = end;
	}
	memcpy(at, bytes + slots * TF_SLOT, size % TF_SLOT);
	block_compress(c, &out, at, at + size % TF_SLOT, true);
	*ret_size = out.pos;
	return c->packed;
}

/* ---- decoding ---- */

struct slot_columns {
	const uint8_t *at[COLUMNS]; /* the next entry; for HEADS the next byte */
	const uint8_t *heads_end, *tail;
	uint32_t left[COLUMNS];
};

static bool find_columns(struct block_coder *c, size_t have, size_t tail, struct slot_columns *ret)
{
	size_t at = sizeof(c->count);

	if (have < at + tail)
		return false;
	memcpy(c->count, c->columns, sizeof(c->count));
	for (enum slot_column column = HEADS; column < COLUMNS; column++) {
		size_t size = (size_t)c->count[column] * widths[column];

		if (size > have - tail - at)
			return false;
		ret->at[column] = c->columns + at;
		ret->left[column] = c->count[column];
		at += size;
	}
	ret->heads_end = ret->at[PAUSES];
	ret->tail = c->columns + at;
	return at + tail == have;
}

/* The next entry; 0 if there is none, which shows in `left` below 0. */
static inline uint64_t column_take(const struct block_coder *c, struct slot_columns *k, enum slot_column column)
{
	uint32_t stride = c->count[column];
	const uint8_t *at = k->at[column];
	uint64_t entry = 0;

	if (!k->left[column]) {
		k->left[HEADS] = 1;
		return 0;
	}
	k->left[column]--;
	if (column == DATA) {
		for (unsigned int byte = 0; byte < TF_DATA_BYTES; byte++)
			entry |= (uint64_t)at[byte] << 8 * byte;
		k->at[column] += TF_DATA_BYTES;
		return entry;
	}
	for (unsigned int byte = 0; byte < widths[column]; byte++)
		entry |= (uint64_t)at[(size_t)byte * stride] << 8 * byte;
	k->at[column]++;
	return entry;
}

static bool take_head(struct block_coder *c, struct slot_columns *k, unsigned int *ret_number, unsigned int *ret_head)
{
	unsigned int number = *k->at[HEADS]++;

	*ret_number = number;
	if (number < c->head_count) {
		*ret_head = c->heads[number];
		return true;
	}
	if (number != NEW_HEAD || k->heads_end - k->at[HEADS] < 2)
		return false;
	*ret_head = k->at[HEADS][0] | k->at[HEADS][1] << 8;
	k->at[HEADS] += 2;
	if (c->head_count < NEW_HEAD) {
		*ret_number = c->head_count;
		c->heads[c->head_count++] = (uint16_t)*ret_head;
	}
	return true;
}

static uint64_t take_slot(struct block_coder *c, struct slot_columns *k, unsigned int number, unsigned int head)
{
	uint64_t entry, last;

	switch (class_of(head)) {
	case PAUSES:
		entry = column_take(c, k, PAUSES);
		last = column_take(c, k, DURATIONS);
		c->now = (c->now + zigzag_unfold(entry, 24) + call_length(last)) & TF_TIME_MASK;
		return head | c->now << 16 | last << 40;
	case TIMES:
		entry = column_take(c, k, TIMES);
		last = column_take(c, k, LASTS);
		c->now = (c->now + zigzag_unfold(entry, 24)) & TF_TIME_MASK;
		return head | c->now << 16 | last << 40;
	case TICKS:
		c->ticks = (c->ticks + zigzag_unfold(column_take(c, k, TICKS), 59)) & ~0ull >> 5;
		c->now = c->ticks & TF_TIME_MASK;
		return TF_TIME | c->ticks << 5;
	case DATA:
		return TF_DATA | column_take(c, k, DATA) << 8;
	default:
		c->last[number] = (c->last[number] + zigzag_unfold(column_take(c, k, VALUES), 48)) & ~0ull >> 16;
		return head | c->last[number] << 16;
	}
}

bool block_decode(struct block_coder *c, const uint8_t *packed, size_t packed_size, uint8_t *ret, size_t size)
{
	size_t slots = size / TF_SLOT, have, done;
	struct slot_columns k;

	have = ZSTD_decompressDCtx(c->decompressor, c->columns, sizeof(c->columns), packed, packed_size);
	coder_reset(c);
	if (size > BLOCK_BYTES || ZSTD_isError(have) || !find_columns(c, have, size % TF_SLOT, &k))
		return false;
	k.left[HEADS] = 0;
	for (done = 0; done < slots && k.at[HEADS] < k.heads_end; done++) {
		unsigned int number, head;
		uint64_t slot;

		if (!take_head(c, &k, &number, &head))
			return false;
		slot = take_slot(c, &k, number, head);
		memcpy(ret + done * TF_SLOT, &slot, TF_SLOT);
	}
	if (k.left[HEADS] || k.at[HEADS] < k.heads_end)
		return false;
	memset(ret + done * TF_SLOT, 0, (slots - done) * TF_SLOT);
	memcpy(ret + slots * TF_SLOT, k.tail, size % TF_SLOT);
	return true;
}

#else

bool block_coder_exists(void)
{
	return false;
}

struct block_coder *block_coder_new(void)
{
	return NULL;
}

void block_coder_free(struct block_coder *c)
{
	(void)c;
}

const uint8_t *block_encode(struct block_coder *c, const uint8_t *bytes, size_t size, size_t *ret_size)
{
	(void)c;
	*ret_size = size;
	return bytes;
}

bool block_decode(struct block_coder *c, const uint8_t *packed, size_t packed_size, uint8_t *ret, size_t size)
{
	(void)c;
	(void)packed;
	(void)packed_size;
	(void)ret;
	(void)size;
	return false;
}

#endif
