/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes, read-only. The file may grow meanwhile: its size is taken once. If it shrinks, what went away reads
 * as zeros and was_cut becomes true: no SIGBUS reaches the reader. */
#ifndef PILLION_MAPPING_H
#define PILLION_MAPPING_H

#include "report/base/util.h"

struct mapping {
	const uint8_t *data;
	size_t size;
	bool is_mapped;		/* else allocated */
	struct lazy *lazy;	/* NULL: a file, or allocated */
};

/* 0 or -errno. A file of no bytes gives size 0. */
int mapping_open(const char *path, struct mapping *ret, struct err *err);

/* Bytes that are made when somebody looks at them, block by block, and given up again for others. Whoever reads them need
 * not know. */
struct mapping_source {
	/* Fills `ret`, which is zeros, with the block's bytes. Runs where the reader stood, in a signal handler: no
	 * allocation, no lock, no stdio. One at a time. */
	void (*fill)(void *source, size_t block, uint8_t *ret, size_t size);
	void *source;	    /* borrowed */
	size_t block_bytes; /* a power of two, 64 KiB or more */
};

int mapping_open_source(const struct mapping_source *source, size_t size, struct mapping *ret, struct err *err);

/* So many places of a mapping are looked at in turn, by so many cursors: that many blocks are kept in memory, for one such
 * mapping at a time. Of files nothing is to be kept. */
void mapping_keep(const struct mapping *m, size_t places);

/* Takes a copy of bytes in memory. */
void mapping_from_bytes(const void *data, size_t size, struct mapping *ret);
void mapping_close(struct mapping *m);

/* Bytes that are not needed soon leave our memory; they are read again if they are. Of small files, while there are few,
 * nothing leaves: reading again costs more than they take. */
void mapping_forget(const struct mapping *m, uint64_t offset, size_t size);

/* True once any mapped file turned out shorter than it was. */
bool mapping_was_cut(void);

#endif
