/* SPDX-License-Identifier: Apache-2.0 */
/* Arrow IPC files (arrow.apache.org/docs/format/Columnar.html): messages, each a FlatBuffer with the bytes of the
 * columns behind it, then a footer that lists them. The FlatBuffers are those of Schema.fbs, Message.fbs and File.fbs
 * of the format's version 5. */
#include <stdlib.h>
#include <string.h>

#include "report/export/columns.h"

/* ---- FlatBuffers ----
 * A buffer is written from its end to its start, so that what an offset points to exists before the offset. A position
 * is the distance from the end. */

enum { FIELDS = 8 };

struct flat {
	unsigned char *bytes;
	size_t capacity, used;
	size_t fields[FIELDS]; /* of the table being written: positions; 0: the field is absent */
	size_t table_end;
};

static void flat_reserve(struct flat *f, size_t size)
{
	while (f->used + size > f->capacity) {
		size_t capacity = f->capacity ? 2 * f->capacity : 1024;
		unsigned char *bytes = mem_alloc(capacity);

		if (f->used)
			memcpy(bytes + capacity - f->used, f->bytes + f->capacity - f->used, f->used);
		free(f->bytes);
		f->bytes = bytes;
		f->capacity = capacity;
	}
}

static void flat_put(struct flat *f, const void *bytes, size_t size)
{
	if (size == 0)
		return; /* the bytes of an empty vector may be at NULL */
	flat_reserve(f, size);
	f->used += size;
	memcpy(f->bytes + f->capacity - f->used, bytes, size);
}

/* Pads so that the position is a multiple of `align` once `size` more bytes are written. */
static void flat_align(struct flat *f, size_t size, size_t align)
{
	static const unsigned char zeros[8];
	size_t rest = (f->used + size) % align;

	if (rest)
		flat_put(f, zeros, align - rest);
}

static void flat_number(struct flat *f, int64_t value, size_t size)
{
	flat_align(f, size, size);
	flat_put(f, &value, size); /* of a little-endian number the first bytes */
}

/* An offset to what begins at a position. */
static void flat_offset(struct flat *f, size_t position)
{
	flat_align(f, 4, 4);
	flat_number(f, (int64_t)(f->used + 4 - position), 4);
}

static size_t flat_text(struct flat *f, const char *text)
{
	size_t size = strlen(text);

	flat_align(f, size + 1, 4);
	flat_put(f, "", 1);
	flat_put(f, text, size);
	flat_number(f, (int64_t)size, 4);
	return f->used;
}

/* A vector of offsets. */
static size_t flat_offsets(struct flat *f, const size_t *positions, size_t count)
{
	flat_align(f, 4 * count, 4);
	for (size_t i = count; i-- > 0;)
		flat_offset(f, positions[i]);
	flat_number(f, (int64_t)count, 4);
	return f->used;
}

/* A vector of structs that consist of 8-byte numbers. */
static size_t flat_structs(struct flat *f, const int64_t *numbers, size_t count, size_t numbers_each)
{
	flat_align(f, 8 * count * numbers_each, 8);
	flat_put(f, numbers, 8 * count * numbers_each);
	flat_number(f, (int64_t)count, 4);
	return f->used;
}

static void table_begin(struct flat *f)
{
	memset(f->fields, 0, sizeof(f->fields));
	f->table_end = f->used;
}

static void table_number(struct flat *f, int field, int64_t value, size_t size)
{
	flat_number(f, value, size);
	f->fields[field] = f->used;
}

static void table_offset(struct flat *f, int field, size_t position)
{
	flat_offset(f, position);
	f->fields[field] = f->used;
}

/* Ends a table of `count` fields; its position. The list of its fields is in front of it. */
static size_t table_end(struct flat *f, int count)
{
	size_t position;
	int32_t distance = 4 + 2 * count;

	flat_align(f, 4, 4);
	flat_put(f, &distance, 4); /* from the list to the table */
	position = f->used;
	for (int i = count; i-- > 0;) {
		uint16_t offset = (uint16_t)(f->fields[i] ? position - f->fields[i] : 0);

		flat_put(f, &offset, 2);
	}
	flat_put(f, &(uint16_t){(uint16_t)(position - f->table_end)}, 2);
	flat_put(f, &(uint16_t){(uint16_t)(4 + 2 * count)}, 2);
	return position;
}

static void flat_finish(struct flat *f, size_t root)
{
	flat_align(f, 4, 8);
	flat_offset(f, root);
}

/* ---- Schema.fbs, Message.fbs, File.fbs ---- */

enum { VERSION_5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { ARROW_INT = 2, ARROW_FLOATING_POINT = 3, ARROW_UTF8 = 5 };
enum { CODEC_ZSTD = 1 };

struct arrow_block {
	int64_t offset, size; /* of the message without its body; the format has 4 bytes and padding */
	int64_t body;
};

struct arrow {
	int fd, failed;
	const struct nsys_schema *schema;
	int64_t at;
	struct arrow_block *blocks;
	size_t block_count, block_capacity;
};

static size_t arrow_type(struct flat *f, const struct nsys_column *column)
{
	table_begin(f);
	if (column->type == NSYS_TEXT)
		return table_end(f, 0);
	if (column->type == NSYS_REAL) {
		table_number(f, 0, 2, 2); /* double precision */
		return table_end(f, 1);
	}
	table_number(f, 0, 64, 4);
	table_number(f, 1, 1, 1); /* signed */
	return table_end(f, 2);
}

static size_t arrow_field(struct flat *f, const struct nsys_column *column)
{
	static const int types[] = {[NSYS_INTEGER] = ARROW_INT,
				    [NSYS_REAL] = ARROW_FLOATING_POINT,
				    [NSYS_TEXT] = ARROW_UTF8};
	size_t name = flat_text(f, column->name), type = arrow_type(f, column), children = flat_offsets(f, NULL, 0);

	table_begin(f);
	table_offset(f, 0, name);
	table_offset(f, 3, type);
	table_offset(f, 5, children);
	table_number(f, 1, !column->is_required, 1);
	table_number(f, 2, types[column->type], 1);
	return table_end(f, 6);
}

static size_t arrow_schema(struct flat *f, const struct nsys_schema *schema)
{
	size_t fields[NSYS_COLUMNS], list;

	for (size_t i = 0; i < schema->count; i++)
		fields[i] = arrow_field(f, &schema->columns[i]);
	list = flat_offsets(f, fields, schema->count);
	table_begin(f);
	table_offset(f, 1, list);
	table_number(f, 0, 0, 2); /* little-endian */
	return table_end(f, 2);
}

static void write_bytes(struct arrow *a, const void *bytes, size_t size)
{
	if (!a->failed)
		a->failed = columns_write(a->fd, bytes, size);
	a->at += (int64_t)size;
}

static void write_padding(struct arrow *a)
{
	static const unsigned char zeros[8];

	write_bytes(a, zeros, (size_t)(-a->at & 7));
}

/* Writes a message with its body; a batch is noted for the footer. */
static void write_message(struct arrow *a, struct flat *f, int type, size_t header, const struct buffer *body)
{
	struct arrow_block block = {.offset = a->at, .body = (int64_t)body->size};
	uint32_t head[2] = {UINT32_MAX};

	table_begin(f);
	table_number(f, 3, (int64_t)body->size, 8);
	table_offset(f, 2, header);
	table_number(f, 0, VERSION_5, 2);
	table_number(f, 1, type, 1);
	flat_finish(f, table_end(f, 4));
	head[1] = (uint32_t)(f->used + 7) & ~7u;
	write_bytes(a, head, sizeof(head));
	write_bytes(a, f->bytes + f->capacity - f->used, f->used);
	write_padding(a);
	block.size = a->at - block.offset;
	write_bytes(a, body->data, body->size);
	if (type != HEADER_BATCH)
		return;
	mem_append(a->blocks, a->block_count, a->block_capacity, block);
}

/* ---- batches ---- */

enum { BUFFERS = 3 * NSYS_COLUMNS };

struct arrow_batch {
	struct buffer body;
	int64_t buffers[2 * BUFFERS]; /* offset and size of each */
	size_t count;
};

/* Adds a buffer: its uncompressed size, then its bytes. It may also be stored as it is, with the size -1. */
static void add_buffer(struct arrow_batch *b, const void *bytes, size_t size)
{
	static const unsigned char zeros[8];
	struct buffer plain = {.data = (char *)(uintptr_t)bytes, .size = size};
	size_t start = b->body.size;

	if (size && columns_can_compress()) {
		buffer_add(&b->body, &(int64_t){(int64_t)size}, 8);
		columns_compress(&plain, &b->body);
	} else if (size) {
		buffer_add(&b->body, bytes, size);
	}
	b->buffers[2 * b->count] = (int64_t)start;
	b->buffers[2 * b->count++ + 1] = (int64_t)(b->body.size - start);
	buffer_add(&b->body, zeros, -b->body.size & 7);
}

static void add_validity(struct arrow_batch *b, const struct column_values *c, size_t rows)
{
	SCOPED_MEMORY unsigned char *bits = NULL;

	if (!c->null_count) {
		add_buffer(b, NULL, 0);
		return;
	}
	bits = mem_alloc((rows + 7) / 8);
	for (size_t i = 0; i < rows; i++)
		if (!(c->nulls ? c->nulls[i] : c->values[i] == NSYS_NULL))
			bits[i / 8] |= (unsigned char)(1 << i % 8);
	add_buffer(b, bits, (rows + 7) / 8);
}

static void add_column(struct arrow_batch *b, const struct nsys_column *column, const struct column_values *c,
		       size_t rows)
{
	SCOPED_MEMORY int32_t *offsets = NULL;

	add_validity(b, c, rows);
	if (column->type != NSYS_TEXT) {
		add_buffer(b, c->values, rows * sizeof(*c->values));
		return;
	}
	offsets = mem_alloc((rows + 1) * sizeof(*offsets));
	for (size_t i = 0; i < rows; i++)
		offsets[i + 1] = (int32_t)c->values[i];
	add_buffer(b, offsets, (rows + 1) * sizeof(*offsets));
	add_buffer(b, c->bytes.data, c->bytes.size);
}

static int arrow_add(void *file, const struct columns *c)
{
	struct arrow *a = file;
	struct arrow_batch b = {0};
	struct flat f = {0};
	int64_t nodes[2 * NSYS_COLUMNS];
	size_t buffers, node_list, compression = 0;

	for (size_t i = 0; i < a->schema->count; i++) {
		add_column(&b, &a->schema->columns[i], &c->columns[i], c->rows);
		nodes[2 * i] = (int64_t)c->rows;
		nodes[2 * i + 1] = (int64_t)c->columns[i].null_count;
	}
	if (columns_can_compress()) {
		table_begin(&f);
		table_number(&f, 0, CODEC_ZSTD, 1);
		table_number(&f, 1, 0, 1); /* each buffer by itself */
		compression = table_end(&f, 2);
	}
	buffers = flat_structs(&f, b.buffers, b.count, 2);
	node_list = flat_structs(&f, nodes, a->schema->count, 2);
	table_begin(&f);
	table_number(&f, 0, (int64_t)c->rows, 8);
	table_offset(&f, 1, node_list);
	table_offset(&f, 2, buffers);
	if (compression)
		table_offset(&f, 3, compression);
	write_message(a, &f, HEADER_BATCH, table_end(&f, 4), &b.body);
	buffer_done(&b.body);
	free(f.bytes);
	return a->failed;
}

/* ---- the file ---- */

static const char magic[8] = "ARROW1";

static void *arrow_open(int fd, const struct nsys_schema *schema)
{
	struct arrow *a = mem_alloc(sizeof(*a));
	struct flat f = {0};

	a->fd = fd;
	a->schema = schema;
	write_bytes(a, magic, sizeof(magic));
	write_message(a, &f, HEADER_SCHEMA, arrow_schema(&f, schema), &(struct buffer){0});
	free(f.bytes);
	return a;
}

static void write_footer(struct arrow *a)
{
	struct flat f = {0};
	size_t schema = arrow_schema(&f, a->schema), dictionaries = flat_structs(&f, NULL, 0, 3),
	       batches = flat_structs(&f, (const int64_t *)a->blocks, a->block_count, 3);
	uint32_t size;

	table_begin(&f);
	table_offset(&f, 1, schema);
	table_offset(&f, 2, dictionaries);
	table_offset(&f, 3, batches);
	table_number(&f, 0, VERSION_5, 2);
	flat_finish(&f, table_end(&f, 4));
	size = (uint32_t)f.used;
	write_bytes(a, f.bytes + f.capacity - f.used, f.used);
	write_bytes(a, &size, sizeof(size));
	write_bytes(a, magic, 6);
	free(f.bytes);
}

static int arrow_close(void *file)
{
	SCOPED_MEMORY struct arrow *a = file;
	uint32_t end[2] = {UINT32_MAX, 0};
	int failed;

	write_bytes(a, end, sizeof(end));
	write_footer(a);
	failed = a->failed;
	free(a->blocks);
	return failed;
}

const struct column_format arrow_format = {".arrow", arrow_open, arrow_add, arrow_close};
