/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, read-only. The file may grow: its size is read once. If it is truncated, or has a
 * hole on a tmpfs that is full, the missing part reads as zeros and mapping_was_cut() becomes true: no SIGBUS reaches
 * the reader. */
#pragma once

#include "report/base/util.h"

struct mapping {
	const uint8_t *data;
	size_t size;
	bool is_mapped;		/* else allocated, unless is_borrowed */
	bool is_changed;	/* not what the file has: nothing is dropped */
	bool is_borrowed;	/* a part of another mapping, which is kept longer */
	struct lazy *lazy;	/* NULL: a file, or allocated */
};

/* 0 or -errno. An empty file has size 0. */
int mapping_open(const char *path, struct mapping *ret, struct err *err);

/* The bytes of a file with those of another version of it: each page that has data in `over` and is at least as late as
 * that of the file. */
int mapping_open_over(const char *path, const char *over, bool (*is_later)(const void *a, const void *b, size_t size),
		      struct mapping *ret, struct err *err);

/* Bytes that are created on access, block by block, and dropped again in favour of others. Readers need not know
 * about it. */
struct mapping_source {
	/* Fills `ret`, which is zeroed, with the bytes of the block. Runs in a signal handler that interrupted the
	 * reader: no allocation, no lock, no stdio. Calls do not overlap. */
	void (*fill)(void *source, size_t block, uint8_t *ret, size_t size);
	void *source;	    /* borrowed */
	size_t block_bytes; /* a power of two, 64 KiB or more */
};

int mapping_open_source(const struct mapping_source *source, size_t size, struct mapping *ret, struct err *err);

/* That many cursors read a mapping alternately: as many blocks are kept in memory, for one such mapping at a time.
 * No effect for files. */
void mapping_keep(const struct mapping *m, size_t places);

/* Copies bytes in memory. */
void mapping_from_bytes(const void *data, size_t size, struct mapping *ret);
void mapping_close(struct mapping *m);

/* Drops bytes that are not needed soon; they are mapped again on the next access. Files of at most 512 MB in all are
 * kept: the kernel takes their pages back where memory is short, and to map them again for each pass costs more. */
void mapping_drop(const struct mapping *m, uint64_t offset, size_t size);

/* Whether any mapped file became shorter. */
bool mapping_was_cut(void);
