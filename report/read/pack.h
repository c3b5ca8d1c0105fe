/* SPDX-License-Identifier: Apache-2.0 */
/* A packed file: one or more captures in a single file for scp or rsync, 2 to 40 times smaller, lossless.
 *
 * On disk: struct pack_head, then records. Each is a struct pack_record at a multiple of 8 bytes, followed by its
 * size_bytes:
 *   CAPTURE  its name; the following files belong to this capture
 *   FILE     its name; value = size in bytes; the following blocks belong to this file
 *   TABLE    pack_block.h, after a uint64_t with the number of bytes: a function table, which thousands of traces
 * share; value = its hash. Stored before its first use and again at the end, so that damage to one copy does not lose
 * all names SHARED   a uint64_t: the hash of the bytes that the preceding file has at SHARED_AT; they are zeros in its
 * blocks BLOCK    pack_block.h; value = index in the file, in units of BLOCK_BYTES; the last one may be shorter END
 * value = number of records before it. Without it the file is truncated Damage to a record loses only that record: the
 * reader searches for the next one. */
#pragma once

#include "report/read/mapping.h"
#include "runtime/shared/format/trace_format.h"

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
	/* hash_bytes of the members above, and of the content that follows unless it is packed; packed content has
	 * its own checksum */
	uint64_t check;
};

struct pack_table {
	uint64_t hash;
	uint8_t *bytes;
	size_t size;
};

struct pack_file {
	struct pack *pack;
	char *name;	/* without directories */
	size_t capture; /* in pack.captures */
	uint64_t size;	/* at most the number of blocks */
	struct pack_block {
		uint64_t at; /* offset in the packed file; 0: missing */
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
	bool is_whole; /* END was found */
};

/* Whether the file has the magic number of a packed file. */
bool pack_is_one(const char *path);

/* -errno with err if nothing of it can be read; further damage is only counted. */
int pack_open(const char *path, struct pack **ret, struct err *err);

/* To be called after all mappings of its files were closed. */
void pack_close(struct pack *p);

/* Maps one file. Damaged blocks read as zeros, see lost_bytes. */
int pack_map(struct pack_file *f, struct mapping *ret, struct err *err);

/* Packs captures into a file. is_replacing: for a single capture, replaces its directory after the file was written
 * completely and read back. -ENOTSUP without zstd. */
struct pack_wish {
	char *const *captures;
	size_t count;
	const char *output; /* NULL: the default name, from the first capture */
	bool is_forced, is_replacing;
	struct texts *left_out; /* receives a line for each file that cannot be packed; NULL: then it is an error */
	struct redactor *redactor; /* NULL: files are packed as they are. Else with left_out: export/pack/redact.h */
};
int pack_write(const struct pack_wish *wish, struct buffer *ret_path, struct err *err);

/* Unpacks to directories: `output`, or the name of the capture beside the packed file; several captures become one
 * directory each within it. */
int pack_extract(const char *path, const char *output, struct buffer *ret_path, struct err *err);
