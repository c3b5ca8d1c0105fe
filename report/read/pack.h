/* SPDX-License-Identifier: Apache-2.0 */
/* A packed file: one or more captures in one file that scp and rsync take, 2 to 40 times smaller, every byte kept.
 *
 * On disk: struct pack_head, then records, each a struct pack_record on a multiple of 8 bytes, followed by size_bytes of
 * its own:
 *   CAPTURE  its name; the files after it are of this capture
 *   FILE     its name; value = its size in bytes; the blocks after it are of this file
 *   TABLE    pack_block.h, behind a uint64_t: its bytes. Names of functions, which thousands of traces have alike behind their head;
 *            value = their hash. Stands before its first use and again at the end: one damaged place must not cost all names
 *   SHARED   a uint64_t: the bytes of that hash that the file before has at SHARED_AT; in its blocks they are zeros
 *   BLOCK    pack_block.h; value = its place in the file, in blocks of BLOCK_BYTES; the last one may be shorter
 *   END      value = how many records stand before it. A file without it is not whole
 * A damaged record costs what it holds: the next one is looked for from there. */
#ifndef PILLION_PACK_H
#define PILLION_PACK_H

#include "runtime/format/trace_format.h"
#include "report/read/mapping.h"

#define PACK_RECORD_MAGIC 0x524c4950u	 /* "PILR" */
enum { PACK_VERSION = 1, PACK_ALIGN = 8, PACK_NAME_BYTES = 255, PACK_TABLES = 16, SHARED_AT = TF_PAGE };

struct pack_head {
	uint64_t magic; /* TF_PACK_MAGIC */
	uint32_t byte_order; /* TF_BYTE_ORDER */
	uint32_t version;
};

enum pack_kind { PACK_CAPTURE = 1, PACK_FILE = 2, PACK_BLOCK = 3, PACK_END = 4, PACK_TABLE = 5, PACK_SHARED = 6 };

struct pack_record {
	uint32_t magic, kind;
	uint64_t size_bytes, value;
	uint64_t check; /* hash_bytes of all before it, and of the bytes that follow unless they are packed: then they have their own */
};

struct pack_table {
	uint64_t hash;
	uint8_t *bytes;
	size_t size;
};

struct pack_file {
	struct pack *pack;
	char *name;	/* without a directory */
	size_t capture; /* in pack.captures */
	uint64_t size;	/* no more than there are blocks for */
	struct pack_block {
		uint64_t at; /* in the packed file; 0: not there */
		size_t size;
	} *blocks;
	size_t block_count, block_capacity;
	uint64_t shared_hash, shared_bytes; /* 0 bytes: it has no TABLE */
	const struct pack_table *shared;    /* NULL: none, or lost */
	uint64_t lost_bytes; /* missing, or found damaged so far */
};

struct pack {
	char *path;
	struct mapping bytes;
	struct block_coder *coder;
	char **captures;
	size_t capture_count, capture_capacity;
	struct pack_file **files;
	size_t file_count, file_capacity;
	struct pack_table tables[PACK_TABLES];
	size_t table_count;
	uint64_t damaged_bytes;
	bool is_whole; /* has its end */
};

/* Does it look like one? */
bool pack_is_one(const char *path);

/* -errno and why, if nothing of it can be read; damage further in is counted. */
int pack_open(const char *path, struct pack **ret, struct err *err);

/* After all mappings of its files. */
void pack_close(struct pack *p);

/* One file's bytes, as they were. Damaged blocks read as zeros, see lost_bytes. */
int pack_map(struct pack_file *f, struct mapping *ret, struct err *err);

/* Packs captures into a file. is_replacing: of one capture, takes its directory's place once it is whole and was read
 * back. Without zstd -ENOTSUP. */
struct pack_wish {
	char *const *captures;
	size_t count;
	const char *output; /* NULL: named after the first capture */
	bool is_forced, is_replacing;
	struct texts *left_out; /* gets a line for each file that cannot be packed; NULL: then nothing is */
};
int pack_write(const struct pack_wish *wish, struct buffer *ret_path, struct err *err);

/* Makes directories of what is in it: `output`, or as the capture was called, beside the packed file; of several
 * captures one each within. */
int pack_extract(const char *path, const char *output, struct buffer *ret_path, struct err *err);

#endif
