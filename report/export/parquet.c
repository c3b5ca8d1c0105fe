/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet files: numbers as differences (DELTA_BINARY_PACKED), which suits times and ids, each column of a row group as
 * one page. The layout is that of the Parquet format 2.11 (github.com/apache/parquet-format: README.md, Encodings.md,
 * parquet.thrift), its headers are in Thrift's compact protocol. */
#include <stdlib.h>
#include <string.h>

#include "report/base/varint.h"
#include "report/export/columns.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

static const char magic[4] = {'P', 'A', 'R', '1'};

/* enum Type, FieldRepetitionType, Encoding, CompressionCodec of parquet.thrift */
enum { TYPE_INT64 = 2, TYPE_DOUBLE = 5, TYPE_BYTE_ARRAY = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5 };
enum { UNCOMPRESSED = 0, ZSTD = 6 };

struct column_chunk {
	int64_t offset, size, plain_size, rows, nulls;
	int64_t least, most; /* of integers, if there are any */
};

struct row_group {
	struct column_chunk chunks[NSYS_COLUMNS];
	int64_t rows, size;
};

struct parquet {
	int fd, failed;
	const struct nsys_schema *schema;
	int64_t at; /* bytes written */
	struct row_group *groups;
	size_t group_count, group_capacity;
};

static void write_bytes(struct parquet *p, const void *bytes, size_t size)
{
	if (!p->failed)
		p->failed = columns_write(p->fd, bytes, size);
	p->at += (int64_t)size;
}

/* ---- Thrift's compact protocol ---- */

enum { THRIFT_I32 = 5, THRIFT_I64 = 6, THRIFT_BINARY = 8, THRIFT_LIST = 9, THRIFT_STRUCT = 12 };

/* A field begins with its number relative to the field before it, *last, and its type. */
static void field(struct buffer *b, int *last, int number, int type)
{
	unsigned char head = (unsigned char)((number - *last) << 4 | type);

	buffer_add(b, &head, 1);
	*last = number;
}

static void field_number(struct buffer *b, int *last, int number, int type, int64_t value)
{
	field(b, last, number, type);
	buffer_varint(b, zigzag(value));
}

static void binary(struct buffer *b, const void *bytes, size_t size)
{
	buffer_varint(b, size);
	buffer_add(b, bytes, size);
}

static void field_binary(struct buffer *b, int *last, int number, const void *bytes, size_t size)
{
	field(b, last, number, THRIFT_BINARY);
	binary(b, bytes, size);
}

static void field_list(struct buffer *b, int *last, int number, int type, size_t count)
{
	unsigned char head = (unsigned char)((count < 15 ? count : 15) << 4 | (unsigned)type);

	field(b, last, number, THRIFT_LIST);
	buffer_add(b, &head, 1);
	if (count >= 15)
		buffer_varint(b, count);
}

static void end_struct(struct buffer *b)
{
	buffer_add(b, "", 1);
}

/* ---- encodings ---- */

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

static void pack_bits(struct buffer *b, const uint64_t *values, unsigned int width)
{
	uint64_t word = 0;
	unsigned int used = 0;
	unsigned char bytes[MINIBLOCK * 8];
	size_t size = 0;

	for (int i = 0; i < MINIBLOCK; i++) {
		word |= values[i] << used;
		if (used + width >= 64) {
			memcpy(bytes + size, &word, sizeof(word));
			size += sizeof(word);
			word = used ? values[i] >> 1 >> (63 - used) : 0;
			used = used + width - 64;
		} else {
			used += width;
		}
	}
	memcpy(bytes + size, &word, (used + 7) / 8);
	buffer_add(b, bytes, (size_t)MINIBLOCK * width / 8);
}

/* A block: its least difference, the widths of the miniblocks, then what each difference exceeds the least by. */
static void delta_block(struct buffer *b, uint64_t *deltas, size_t count)
{
	unsigned char widths[MINIBLOCKS] = {0};
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < count; i++)
		if ((int64_t)deltas[i] < least)
			least = (int64_t)deltas[i];
	for (size_t i = 0; i < BLOCK; i++)
		deltas[i] = i < count ? deltas[i] - (uint64_t)least : 0;
	for (size_t m = 0; m < MINIBLOCKS; m++) {
		uint64_t all = 0;

		for (size_t i = 0; i < MINIBLOCK; i++)
			all |= deltas[m * MINIBLOCK + i];
		widths[m] = all ? (unsigned char)(64 - __builtin_clzll(all)) : 0;
	}
	buffer_varint(b, zigzag(least));
	buffer_add(b, widths, sizeof(widths));
	for (size_t m = 0; m < MINIBLOCKS; m++)
		if (widths[m])
			pack_bits(b, deltas + m * MINIBLOCK, widths[m]);
}

static void encode_integers(struct buffer *b, const int64_t *values, size_t rows, size_t count)
{
	uint64_t deltas[BLOCK];
	int64_t last = 0;
	size_t waiting = 0;
	bool is_first = true;

	buffer_varint(b, BLOCK);
	buffer_varint(b, MINIBLOCKS);
	buffer_varint(b, count);
	if (!count)
		buffer_varint(b, 0);
	for (size_t i = 0; i < rows; i++) {
		if (values[i] == NSYS_NULL)
			continue;
		if (is_first)
			buffer_varint(b, zigzag(values[i]));
		else
			deltas[waiting++] = (uint64_t)values[i] - (uint64_t)last;
		is_first = false;
		last = values[i];
		if (waiting == BLOCK) {
			delta_block(b, deltas, waiting);
			waiting = 0;
		}
	}
	if (waiting)
		delta_block(b, deltas, waiting);
}

static void encode_texts(struct buffer *b, const struct column_values *c, size_t rows)
{
	size_t start = 0;

	for (size_t i = 0; i < rows; i++) {
		uint32_t size = (uint32_t)((size_t)c->values[i] - start);

		if (!c->nulls[i]) {
			buffer_add(b, &size, sizeof(size));
			buffer_add(b, c->bytes.data + start, size);
		}
		start = (size_t)c->values[i];
	}
}

static void encode_reals(struct buffer *b, const int64_t *values, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (values[i] != NSYS_NULL)
			buffer_add(b, &values[i], sizeof(values[i]));
}

static bool is_null(const struct column_values *c, size_t row)
{
	return c->nulls ? c->nulls[row] : c->values[row] == NSYS_NULL;
}

/* Definition levels, 0 for NULL, as runs: (length << 1, level), with the size before them. */
static void encode_levels(struct buffer *b, const struct column_values *c, size_t rows)
{
	SCOPED(buffer) runs = {0};
	uint32_t size;

	for (size_t i = 0, end; i < rows; i = end) {
		unsigned char level = !is_null(c, i);

		for (end = i + 1; end < rows && is_null(c, end) == !level;)
			end++;
		buffer_varint(&runs, (end - i) << 1);
		buffer_add(&runs, &level, 1);
	}
	size = (uint32_t)runs.size;
	buffer_add(b, &size, sizeof(size));
	buffer_add(b, runs.data, runs.size);
}

static int encoding_of(const struct nsys_column *column)
{
	return column->type == NSYS_INTEGER ? DELTA_BINARY_PACKED : PLAIN;
}

/* ---- row groups ---- */

static void page_header(struct buffer *b, size_t plain, size_t size, size_t rows, int encoding)
{
	int last = 0, inner = 0;

	field_number(b, &last, 1, THRIFT_I32, 0); /* a data page */
	field_number(b, &last, 2, THRIFT_I32, (int64_t)plain);
	field_number(b, &last, 3, THRIFT_I32, (int64_t)size);
	field(b, &last, 5, THRIFT_STRUCT);
	field_number(b, &inner, 1, THRIFT_I32, (int64_t)rows);
	field_number(b, &inner, 2, THRIFT_I32, encoding);
	field_number(b, &inner, 3, THRIFT_I32, RLE);
	field_number(b, &inner, 4, THRIFT_I32, RLE);
	end_struct(b);
	end_struct(b);
}

static void note_extremes(struct column_chunk *ret, const int64_t *values, size_t rows)
{
	ret->least = INT64_MAX;
	ret->most = INT64_MIN;
	for (size_t i = 0; i < rows; i++) {
		if (values[i] == NSYS_NULL)
			continue;
		if (values[i] < ret->least)
			ret->least = values[i];
		if (values[i] > ret->most)
			ret->most = values[i];
	}
}

static void write_chunk(struct parquet *p, const struct nsys_column *column, const struct column_values *c, size_t rows,
			struct column_chunk *ret)
{
	SCOPED(buffer) plain = {0}, head = {0}, packed = {0};
	const struct buffer *body = &plain;

	if (!column->is_required)
		encode_levels(&plain, c, rows);
	if (column->type == NSYS_INTEGER) {
		encode_integers(&plain, c->values, rows, rows - c->null_count);
		note_extremes(ret, c->values, rows);
	} else if (column->type == NSYS_REAL) {
		encode_reals(&plain, c->values, rows);
	} else {
		encode_texts(&plain, c, rows);
	}
	if (columns_can_compress()) {
		columns_compress(&plain, &packed);
		body = &packed;
	}
	page_header(&head, plain.size, body->size, rows, encoding_of(column));
	ret->offset = p->at;
	ret->rows = (int64_t)rows;
	ret->nulls = (int64_t)c->null_count;
	ret->size = (int64_t)(head.size + body->size);
	ret->plain_size = (int64_t)(head.size + plain.size);
	write_bytes(p, head.data, head.size);
	write_bytes(p, body->data, body->size);
}

static int parquet_add(void *file, const struct columns *c)
{
	struct parquet *p = file;
	struct row_group *group = mem_new(p->groups, p->group_count, p->group_capacity,
					  (struct row_group){.rows = (int64_t)c->rows});

	for (size_t i = 0; i < p->schema->count; i++) {
		write_chunk(p, &p->schema->columns[i], &c->columns[i], c->rows, &group->chunks[i]);
		group->size += group->chunks[i].plain_size;
	}
	return p->failed;
}

/* ---- the footer ---- */

static int type_of(const struct nsys_column *column)
{
	static const int types[] = {[NSYS_INTEGER] = TYPE_INT64,
				    [NSYS_REAL] = TYPE_DOUBLE,
				    [NSYS_TEXT] = TYPE_BYTE_ARRAY};

	return types[column->type];
}

static void add_schema(struct buffer *b, const struct nsys_schema *schema)
{
	int last = 0;

	field_binary(b, &last, 4, schema->name, strlen(schema->name));
	field_number(b, &last, 5, THRIFT_I32, (int64_t)schema->count);
	end_struct(b);
	array_each(const struct nsys_column, column, schema->columns, schema->count) {
		last = 0;
		field_number(b, &last, 1, THRIFT_I32, type_of(column));
		field_number(b, &last, 3, THRIFT_I32, column->is_required ? REQUIRED : OPTIONAL);
		field_binary(b, &last, 4, column->name, strlen(column->name));
		if (column->type == NSYS_TEXT) {
			int inner = 0;

			field_number(b, &last, 6, THRIFT_I32, 0); /* UTF8 */
			field(b, &last, 10, THRIFT_STRUCT);
			field(b, &inner, 1, THRIFT_STRUCT); /* a string */
			end_struct(b);
			end_struct(b);
		}
		end_struct(b);
	}
}

static void add_statistics(struct buffer *b, int *last, const struct nsys_column *column, const struct column_chunk *c)
{
	int inner = 0;

	field(b, last, 12, THRIFT_STRUCT);
	field_number(b, &inner, 3, THRIFT_I64, c->nulls);
	if (column->type == NSYS_INTEGER && c->nulls < c->rows) {
		field_binary(b, &inner, 5, &c->most, sizeof(c->most));
		field_binary(b, &inner, 6, &c->least, sizeof(c->least));
	}
	end_struct(b);
}

static void add_chunk(struct buffer *b, const struct nsys_column *column, const struct column_chunk *c)
{
	int last = 0, inner = 0;

	field_number(b, &last, 2, THRIFT_I64, 0);
	field(b, &last, 3, THRIFT_STRUCT);
	field_number(b, &inner, 1, THRIFT_I32, type_of(column));
	field_list(b, &inner, 2, THRIFT_I32, 2);
	buffer_varint(b, zigzag(encoding_of(column)));
	buffer_varint(b, zigzag(RLE));
	field_list(b, &inner, 3, THRIFT_BINARY, 1);
	binary(b, column->name, strlen(column->name));
	field_number(b, &inner, 4, THRIFT_I32, columns_can_compress() ? ZSTD : UNCOMPRESSED);
	field_number(b, &inner, 5, THRIFT_I64, c->rows);
	field_number(b, &inner, 6, THRIFT_I64, c->plain_size);
	field_number(b, &inner, 7, THRIFT_I64, c->size);
	field_number(b, &inner, 9, THRIFT_I64, c->offset);
	add_statistics(b, &inner, column, c);
	end_struct(b);
	end_struct(b);
}

static void add_group(struct buffer *b, const struct nsys_schema *schema, const struct row_group *group)
{
	int last = 0;

	field_list(b, &last, 1, THRIFT_STRUCT, schema->count);
	for (size_t i = 0; i < schema->count; i++)
		add_chunk(b, &schema->columns[i], &group->chunks[i]);
	field_number(b, &last, 2, THRIFT_I64, group->size);
	field_number(b, &last, 3, THRIFT_I64, group->rows);
	end_struct(b);
}

static void write_footer(struct parquet *p)
{
	static const char made_by[] = "pillion version " PILLION_VERSION;
	SCOPED(buffer) b = {0};
	int64_t rows = (int64_t)array_sum(group, p->groups, p->group_count, (uint64_t)group->rows);
	uint32_t size;
	int last = 0;

	field_number(&b, &last, 1, THRIFT_I32, 2);
	field_list(&b, &last, 2, THRIFT_STRUCT, p->schema->count + 1);
	add_schema(&b, p->schema);
	field_number(&b, &last, 3, THRIFT_I64, rows);
	field_list(&b, &last, 4, THRIFT_STRUCT, p->group_count);
	for (size_t i = 0; i < p->group_count; i++)
		add_group(&b, p->schema, &p->groups[i]);
	field_binary(&b, &last, 6, made_by, sizeof(made_by) - 1);
	field_list(&b, &last, 7, THRIFT_STRUCT, p->schema->count);
	for (size_t i = 0; i < p->schema->count; i++) {
		int inner = 0;

		field(&b, &inner, 1, THRIFT_STRUCT); /* the extremes are in the order of the type */
		end_struct(&b);
		end_struct(&b);
	}
	end_struct(&b);
	size = (uint32_t)b.size;
	write_bytes(p, b.data, b.size);
	write_bytes(p, &size, sizeof(size));
	write_bytes(p, magic, sizeof(magic));
}

static void *parquet_open(int fd, const struct nsys_schema *schema)
{
	struct parquet *p = mem_alloc(sizeof(*p));

	p->fd = fd;
	p->schema = schema;
	write_bytes(p, magic, sizeof(magic));
	return p;
}

static int parquet_close(void *file)
{
	SCOPED_MEMORY struct parquet *p = file;
	int failed;

	write_footer(p);
	failed = p->failed;
	free(p->groups);
	return failed;
}

const struct column_format parquet_format = {".parquet", parquet_open, parquet_add, parquet_close};
