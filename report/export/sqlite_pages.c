/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/sqlite_pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Types of pages, and where the fields of a page's head are. */
enum {
	PAGE_INDEX = 2,
	PAGE_TABLE = 5,
	PAGE_LEAF = 8, /* added to either */
	HEAD_CELLS = 3,
	HEAD_BEGIN = 5,
	HEAD_RIGHT = 8,
	HEAD_LEAF_BYTES = 8,
	HEAD_BYTES = 12,
	FILE_HEADER = 100 /* of page 1, before the head */
};

/* What follows is as of "B-tree Cell Format": how much of a row is in the leaf, the rest is on overflow pages. */
enum { ROW_MOST = SQLITE_PAGE - 35, ROW_LEAST = (SQLITE_PAGE - 12) * 32 / 255 - 23, OVERFLOW_BYTES = SQLITE_PAGE - 4 };

enum { CELL_BYTES = SQLITE_PAGE };

/* A page that is being filled: pointers to cells after the head, cells from the end of the page to its beginning. */
struct sqlite_page {
	uint8_t bytes[SQLITE_PAGE];
	size_t cells, begin, last_size; /* begin: of the last cell */
};

static size_t put_big_endian(uint8_t *at, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(number >> 8 * (size - 1 - i));
	return size;
}

/* SQLite's varint: big-endian, seven bits per byte, eight in the ninth. */
static size_t put_varint(uint8_t *at, uint64_t number)
{
	size_t size = 1;

	if (number < 0x80) {
		*at = (uint8_t)number;
		return 1;
	}
	if (number >> 56) {
		for (size_t i = 0; i < 8; i++)
			at[i] = (uint8_t)(number >> (57 - 7 * i) | 0x80);
		at[8] = (uint8_t)number;
		return 9;
	}
	while (number >> 7 * size)
		size++;
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)((number >> 7 * (size - 1 - i) & 0x7f) | (i + 1 < size ? 0x80 : 0));
	return size;
}

/* ---- records ---- */

static uint8_t *body_reserve(struct sqlite_record *r, size_t size)
{
	uint8_t *at;

	if (r->capacity - r->body_size < size) {
		r->capacity = 2 * (r->body_size + size) + 1024;
		r->body = mem_resize(r->body, r->capacity);
	}
	at = r->body + r->body_size;
	r->body_size += size;
	return at;
}

void sqlite_record_clear(struct sqlite_record *r)
{
	r->types_size = r->body_size = 0;
}

void sqlite_record_null(struct sqlite_record *r)
{
	r->types[r->types_size++] = 0;
}

void sqlite_record_number(struct sqlite_record *r, int64_t number)
{
	static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 8}; /* by type; 8 and 9 are the numbers 0 and 1 */
	uint64_t bits = (uint64_t)(number < 0 ? ~number : number);
	uint8_t type = 1;

	if (number == 0 || number == 1) {
		r->types[r->types_size++] = (uint8_t)(8 + number);
		return;
	}
	while (type < 6 && bits >> (8 * sizes[type] - 1))
		type++;
	r->types[r->types_size++] = type;
	put_big_endian(body_reserve(r, sizes[type]), (uint64_t)number, sizes[type]);
}

void sqlite_record_real(struct sqlite_record *r, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	r->types[r->types_size++] = 7;
	put_big_endian(body_reserve(r, sizeof(bits)), bits, sizeof(bits));
}

void sqlite_record_text(struct sqlite_record *r, const char *text)
{
	size_t length = strlen(text);

	r->types_size += put_varint(r->types + r->types_size, 13 + 2 * length);
	memcpy(body_reserve(r, length), text, length);
}

/* The size of the record's header, which states its own size. */
static size_t header_size(const struct sqlite_record *r)
{
	return r->types_size + (r->types_size + 1 < 0x80 ? 1 : 2);
}

/* ---- pages ---- */

static void file_append(struct sqlite_file *f, const void *bytes, size_t size)
{
	static const uint8_t zeros[SQLITE_PAGE];

	sink_add(&f->out, bytes, size);
	sink_add(&f->out, zeros, SQLITE_PAGE - size);
	f->pages++;
}

static size_t head_bytes(size_t level)
{
	return level ? HEAD_BYTES : HEAD_LEAF_BYTES;
}

static struct sqlite_page *page_of(struct sqlite_tree *t, size_t level)
{
	if (!t->levels[level]) {
		t->levels[level] = mem_alloc(sizeof(*t->levels[level]));
		t->levels[level]->begin = SQLITE_PAGE;
	}
	return t->levels[level];
}

static bool page_has_room(const struct sqlite_tree *t, const struct sqlite_page *p, size_t level, size_t size)
{
	return head_bytes(level) + 2 * (p->cells + 1) + size + t->reserve <= p->begin;
}

static void page_put(struct sqlite_page *p, size_t level, const uint8_t *cell, size_t size)
{
	p->begin -= size;
	p->last_size = size;
	memcpy(p->bytes + p->begin, cell, size);
	put_big_endian(p->bytes + head_bytes(level) + 2 * p->cells++, p->begin, 2);
}

/* Completes a page. right: the child after the last cell; 0: it is a leaf. */
static void page_finish(const struct sqlite_tree *t, struct sqlite_page *p, uint32_t right)
{
	p->bytes[0] = (uint8_t)((t->is_index ? PAGE_INDEX : PAGE_TABLE) + (right ? 0 : PAGE_LEAF));
	put_big_endian(p->bytes + HEAD_CELLS, p->cells, 2);
	put_big_endian(p->bytes + HEAD_BEGIN, p->begin, 2);
	if (right)
		put_big_endian(p->bytes + HEAD_RIGHT, right, 4);
}

static uint32_t page_append(struct sqlite_tree *t, struct sqlite_page *p)
{
	file_append(t->file, p->bytes, SQLITE_PAGE);
	memset(p->bytes, 0, HEAD_BYTES);
	p->cells = 0;
	p->begin = SQLITE_PAGE;
	return t->file->pages;
}

/* ---- trees ---- */

static void level_add(struct sqlite_tree *t, size_t level, const uint8_t *cell, size_t size);

/* The page is full. The rows of a table are all in its leaves, and the level above gets the last rowid of each leaf. In
 * all other cases the last cell moves up, so that a page never remains without a cell. */
static void level_flush(struct sqlite_tree *t, size_t level)
{
	struct sqlite_page *p = t->levels[level];
	uint8_t up[CELL_BYTES];
	const uint8_t *last = p->bytes + p->begin;
	size_t size = 4;
	uint32_t right = 0;

	if (!level && !t->is_index) {
		size += put_varint(up + size, (uint64_t)t->last_rowid);
	} else {
		size_t child = level ? 4 : 0; /* a cell of a page above the leaves begins with its child */

		for (size_t i = 0; i < child; i++)
			right = right << 8 | last[i];
		memcpy(up + size, last + child, p->last_size - child);
		size += p->last_size - child;
		p->cells--;
		p->begin += p->last_size;
	}
	page_finish(t, p, right);
	put_big_endian(up, page_append(t, p), 4);
	level_add(t, level + 1, up, size);
}

static void level_add(struct sqlite_tree *t, size_t level, const uint8_t *cell, size_t size)
{
	struct sqlite_page *p = page_of(t, level);

	if (!page_has_room(t, p, level, size))
		level_flush(t, level);
	page_put(p, level, cell, size);
}

void sqlite_tree_begin(struct sqlite_tree *t, struct sqlite_file *file, bool is_index)
{
	*t = (struct sqlite_tree){.file = file, .is_index = is_index};
}

static size_t put_header(uint8_t *at, const struct sqlite_record *r)
{
	size_t size = put_varint(at, header_size(r));

	memcpy(at + size, r->types, r->types_size);
	return size + r->types_size;
}

/* Writes what has no room in the leaf to consecutive pages. Returns the number of the first one. */
static uint32_t add_overflow(struct sqlite_file *f, const uint8_t *data, size_t size)
{
	uint32_t first = f->pages + 1;

	while (size) {
		size_t piece = size < OVERFLOW_BYTES ? size : OVERFLOW_BYTES;
		uint8_t page[SQLITE_PAGE];

		put_big_endian(page, piece < size ? f->pages + 2 : 0, 4);
		memcpy(page + 4, data, piece);
		file_append(f, page, piece + 4);
		data += piece;
		size -= piece;
	}
	return first;
}

/* A record with a long text. */
static size_t put_long_record(struct sqlite_tree *t, uint8_t *cell, size_t size, const struct sqlite_record *r)
{
	size_t payload = header_size(r) + r->body_size;
	size_t local = ROW_LEAST + (payload - ROW_LEAST) % OVERFLOW_BYTES, head;

	local = local <= ROW_MOST ? local : ROW_LEAST;
	head = put_header(cell + size, r);
	memcpy(cell + size + head, r->body, local - head);
	size += local;
	return size + put_big_endian(cell + size,
				     add_overflow(t->file, r->body + (local - head), payload - local), 4);
}

void sqlite_tree_add_row(struct sqlite_tree *t, int64_t rowid, const struct sqlite_record *r)
{
	uint8_t cell[CELL_BYTES + 32];
	size_t payload = header_size(r) + r->body_size, size = put_varint(cell, payload);

	size += put_varint(cell + size, (uint64_t)rowid);
	if (payload <= ROW_MOST) {
		size += put_header(cell + size, r);
		if (r->body_size)
			memcpy(cell + size, r->body, r->body_size);
		size += r->body_size;
	} else {
		size = put_long_record(t, cell, size, r);
	}
	level_add(t, 0, cell, size);
	t->last_rowid = rowid;
}

void sqlite_tree_add_key(struct sqlite_tree *t, const struct sqlite_record *r)
{
	uint8_t cell[SQLITE_VALUES * 16];
	size_t size = put_varint(cell, header_size(r) + r->body_size);

	size += put_header(cell + size, r);
	if (r->body_size)
		memcpy(cell + size, r->body, r->body_size);
	level_add(t, 0, cell, size + r->body_size);
}

/* Appends the pages that are not full, but for the last one, which is the root. Returns its level. */
static size_t finish_levels(struct sqlite_tree *t)
{
	uint32_t right = 0;
	size_t level = 0;

	page_of(t, 0);
	for (;; level++) {
		page_finish(t, t->levels[level], right);
		if (level + 1 == SQLITE_LEVELS || !t->levels[level + 1])
			return level;
		right = page_append(t, t->levels[level]);
	}
}

static void free_levels(struct sqlite_tree *t)
{
	for (size_t i = 0; i < SQLITE_LEVELS; i++)
		free(t->levels[i]);
}

uint32_t sqlite_tree_end(struct sqlite_tree *t)
{
	uint32_t root = page_append(t, t->levels[finish_levels(t)]);

	free_levels(t);
	return root;
}

/* ---- the file ---- */

int sqlite_file_open(struct sqlite_file *f, int fd, struct err *err)
{
	*f = (struct sqlite_file){0};
	if (sink_open(&f->out, fd, false, err))
		return -ENOMEM;
	file_append(f, "", 0);
	return 0;
}

void sqlite_schema_begin(struct sqlite_tree *schema, struct sqlite_file *f)
{
	sqlite_tree_begin(schema, f, false);
	schema->reserve = FILE_HEADER;
}

static void put_file_header(uint8_t *at, uint32_t pages)
{
	enum { VERSION_OF_FORMAT = 3040001 }; /* the SQLite with which these files were compared */

	memcpy(at, "SQLite format 3", 16);
	put_big_endian(at + 16, SQLITE_PAGE, 2);
	memcpy(at + 18, "\1\1\0\100\40\40", 6); /* no WAL, no reserved bytes, fixed fractions */
	put_big_endian(at + 24, 1, 4);	       /* number of changes */
	put_big_endian(at + 28, pages, 4);
	put_big_endian(at + 40, 1, 4); /* number of changes of the schema */
	put_big_endian(at + 44, 4, 4); /* format of the schema: with types 8 and 9 */
	put_big_endian(at + 56, 1, 4); /* UTF-8 */
	put_big_endian(at + 92, 1, 4);
	put_big_endian(at + 96, VERSION_OF_FORMAT, 4);
}

int sqlite_file_close(struct sqlite_file *f, struct sqlite_tree *schema)
{
	size_t level = finish_levels(schema);
	uint8_t *root = schema->levels[level]->bytes;
	int fd = f->out.fd, code;

	code = sink_close(&f->out);
	memmove(root + FILE_HEADER, root, head_bytes(level) + 2 * schema->levels[level]->cells);
	memset(root, 0, FILE_HEADER);
	put_file_header(root, f->pages);
	if (!code && pwrite(fd, root, SQLITE_PAGE, 0) != SQLITE_PAGE)
		code = -(errno ? errno : EIO);
	free_levels(schema);
	return code;
}
