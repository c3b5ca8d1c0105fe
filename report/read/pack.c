/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a packed file. */
#include "report/read/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/pack_block.h"

bool pack_is_one(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	uint64_t magic = 0;
	bool is_one = fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == TF_PACK_MAGIC;

	if (fd >= 0)
		close(fd);
	return is_one;
}

static int read_head(const struct pack *p, struct err *err)
{
	struct pack_head head;

	if (p->bytes.size < sizeof(head))
		return err_set(err, p->bytes.size ? -EPROTO : -ENODATA, "%s: not a packed capture", p->path);
	memcpy(&head, p->bytes.data, sizeof(head));
	if (head.magic != TF_PACK_MAGIC)
		return err_set(err, -EPROTO, "%s: not a packed capture", p->path);
	if (head.byte_order != TF_BYTE_ORDER)
		return err_set(err, -ENOTSUP, "%s: written in another byte order", p->path);
	if (head.version != PACK_VERSION)
		return err_set(err, -ENOTSUP, "%s: packed format %u, this program reads %u", p->path, head.version,
			       PACK_VERSION);
	if (!block_coder_exists())
		return err_set(err, -ENOTSUP, "%s: packed, and this build has no zstd", p->path);
	return 0;
}

/* ---- records ---- */

static bool record_at(const struct pack *p, uint64_t at, struct pack_record *ret)
{
	uint64_t left = p->bytes.size - at, check;

	if (left < sizeof(*ret))
		return false;
	memcpy(ret, p->bytes.data + at, sizeof(*ret));
	if (ret->magic != PACK_RECORD_MAGIC || ret->size_bytes > left - sizeof(*ret))
		return false;
	check = hash_bytes(ret, offsetof(struct pack_record, check));
	if (ret->kind != PACK_BLOCK && ret->kind != PACK_TABLE) {
		if (ret->size_bytes > PACK_NAME_BYTES)
			return false;
		check ^= hash_bytes(p->bytes.data + at + sizeof(*ret), (size_t)ret->size_bytes);
	}
	return check == ret->check;
}

static bool name_is_fine(const char *name, size_t length)
{
	return length && length <= PACK_NAME_BYTES && !memchr(name, '/', length) && !memchr(name, 0, length) &&
	       !(length == 1 && name[0] == '.') && !(length == 2 && name[0] == '.' && name[1] == '.');
}

static bool add_capture(struct pack *p, const char *name, size_t length)
{
	if (!name_is_fine(name, length))
		return false;
	mem_append(p->captures, p->capture_count, p->capture_capacity, mem_copy_text(name, length));
	return true;
}

static bool pack_add_file(struct pack *p, const char *name, size_t length, uint64_t size)
{
	struct pack_file *f;

	if (!p->capture_count || !name_is_fine(name, length))
		return false;
	f = mem_alloc(sizeof(*f));
	*f = (struct pack_file){
		.pack = p, .name = mem_copy_text(name, length), .capture = p->capture_count - 1, .size = size};
	mem_append(p->files, p->file_count, p->file_capacity, f);
	return true;
}

/* Blocks are in order; damaged ones in between remain empty. `room`: how many more the packed file can contain. */
static bool add_block(struct pack *p, uint64_t place, uint64_t at, uint64_t size, uint64_t *room)
{
	struct pack_file *f = p->file_count ? p->files[p->file_count - 1] : NULL;

	if (!f || place < f->block_count || place - f->block_count >= *room ||
	    place >= (f->size + BLOCK_BYTES - 1) / BLOCK_BYTES)
		return false;
	*room -= place - f->block_count + 1;
	for (; f->block_count <= place; f->block_count++) {
		f->blocks = mem_grow(f->blocks, f->block_count, &f->block_capacity, sizeof(*f->blocks));
		f->blocks[f->block_count] = (struct pack_block){0};
	}
	f->blocks[place] = (struct pack_block){at, (size_t)size};
	return true;
}

static const struct pack_table *find_table(const struct pack *p, uint64_t hash, uint64_t size)
{
	return array_find(table, p->tables, p->table_count, table->hash == hash && table->size == size);
}

static bool pack_add_table(struct pack *p, uint64_t hash, const uint8_t *packed, uint64_t packed_size)
{
	uint64_t size;
	uint8_t *bytes;

	if (packed_size < sizeof(size) || (memcpy(&size, packed, sizeof(size)), size > BLOCK_BYTES - SHARED_AT))
		return false;
	bytes = mem_alloc((size_t)size);
	if (!block_decode(p->coder, packed + sizeof(size), (size_t)packed_size - sizeof(size), bytes, (size_t)size) ||
	    hash_bytes(bytes, (size_t)size) != hash) {
		free(bytes);
		return false;
	}
	if (find_table(p, hash, size) || p->table_count == PACK_TABLES)
		free(bytes);
	else
		p->tables[p->table_count++] = (struct pack_table){hash, bytes, (size_t)size};
	return true;
}

static bool add_shared(struct pack *p, uint64_t hash, const void *bytes, uint64_t size)
{
	struct pack_file *f = p->file_count ? p->files[p->file_count - 1] : NULL;

	if (!f || f->block_count || f->shared_bytes || size != sizeof(f->shared_bytes))
		return false;
	memcpy(&f->shared_bytes, bytes, sizeof(f->shared_bytes));
	f->shared_hash = hash;
	return true;
}

static bool add_record(struct pack *p, const struct pack_record *r, uint64_t at, uint64_t before, uint64_t *room)
{
	const char *name = (const char *)p->bytes.data + at;

	switch (r->kind) {
	case PACK_CAPTURE:
		return add_capture(p, name, (size_t)r->size_bytes);
	case PACK_FILE:
		return pack_add_file(p, name, (size_t)r->size_bytes, r->value);
	case PACK_BLOCK:
		return add_block(p, r->value, at, r->size_bytes, room);
	case PACK_TABLE:
		return pack_add_table(p, r->value, p->bytes.data + at, r->size_bytes);
	case PACK_SHARED:
		return add_shared(p, r->value, name, r->size_bytes);
	case PACK_END:
		p->is_whole = r->value == before;
		return p->is_whole;
	default:
		return false;
	}
}

static void pack_read_records(struct pack *p)
{
	uint64_t at = sizeof(struct pack_head), count = 0, room = p->bytes.size / sizeof(struct pack_record);
	struct pack_record r;

	while (at < p->bytes.size && !p->is_whole) {
		if (!record_at(p, at, &r)) {
			p->damaged_bytes += p->bytes.size - at < PACK_ALIGN ? p->bytes.size - at : PACK_ALIGN;
			at += PACK_ALIGN;
			continue;
		}
		at += sizeof(r);
		if (!add_record(p, &r, at, count++, &room))
			p->damaged_bytes += sizeof(r) + r.size_bytes;
		at += (r.size_bytes + PACK_ALIGN - 1) / PACK_ALIGN * PACK_ALIGN;
	}
}

/* Counts blocks and tables that a file should have but that do not exist. */
static void count_lost(struct pack_file *f)
{
	uint64_t size = (uint64_t)f->block_count * BLOCK_BYTES;

	f->shared = f->shared_bytes ? find_table(f->pack, f->shared_hash, f->shared_bytes) : NULL;
	if (f->shared_bytes && !f->shared)
		f->lost_bytes += f->shared_bytes < f->size ? f->shared_bytes : f->size;
	if (f->size > size) {
		f->lost_bytes += f->size - size;
		f->size = size;
	}
	for (size_t i = 0; i < f->block_count; i++)
		if (!f->blocks[i].at)
			f->lost_bytes +=
				f->size - i * BLOCK_BYTES < BLOCK_BYTES ? f->size - i * BLOCK_BYTES : BLOCK_BYTES;
}

int pack_open(const char *path, struct pack **ret, struct err *err)
{
	struct pack *p = mem_alloc(sizeof(*p));
	int code;

	*ret = NULL;
	p->path = mem_copy_text(path, strlen(path));
	code = mapping_open(path, &p->bytes, err);
	if (!code)
		code = read_head(p, err);
	if (code) {
		pack_close(p);
		return code;
	}
	p->coder = block_coder_new();
	pack_read_records(p);
	for (size_t i = 0; i < p->file_count; i++)
		count_lost(p->files[i]);
	*ret = p;
	return 0;
}

void pack_close(struct pack *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->file_count; i++) {
		free(p->files[i]->name);
		free(p->files[i]->blocks);
		free(p->files[i]);
	}
	array_free(one, p->captures, p->capture_count, free(*one));
	for (size_t i = 0; i < p->table_count; i++)
		free(p->tables[i].bytes);
	free(p->files);
	mapping_close(&p->bytes);
	block_coder_free(p->coder);
	free(p->path);
	free(p);
}

/* ---- the bytes of a file ---- */

static void unpack_block(void *source, size_t place, uint8_t *ret, size_t size)
{
	struct pack_file *f = source;
	struct pack_block *b = &f->blocks[place];

	if (!b->at)
		return;
	if (block_decode(f->pack->coder, f->pack->bytes.data + b->at, b->size, ret, size)) {
		mapping_drop(&f->pack->bytes, b->at, b->size);
		if (!place && f->shared && size >= SHARED_AT && size - SHARED_AT >= f->shared->size)
			memcpy(ret + SHARED_AT, f->shared->bytes, f->shared->size);
		return;
	}
	memset(ret, 0, size);
	b->at = 0;
	f->lost_bytes += size;
}

int pack_map(struct pack_file *f, struct mapping *ret, struct err *err)
{
	struct mapping_source source = {unpack_block, f, BLOCK_BYTES};

	return mapping_open_source(&source, f->size, ret, err);
}
