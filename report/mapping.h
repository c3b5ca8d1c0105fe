/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes, read-only. The file may grow meanwhile: its size is taken once. If it shrinks, what went away reads
 * as zeros and was_cut becomes true: no SIGBUS reaches the reader. */
#ifndef PILLION_MAPPING_H
#define PILLION_MAPPING_H

#include "util.h"

struct mapping {
	const uint8_t *data;
	size_t size;
	bool is_mapped; /* else allocated */
};

/* 0 or -errno. A file of no bytes gives size 0. */
int mapping_open(const char *path, struct mapping *ret, struct err *err);

/* Takes a copy of bytes in memory. */
void mapping_from_bytes(const void *data, size_t size, struct mapping *ret);
void mapping_close(struct mapping *m);

/* Bytes that are not needed soon leave our memory; they are read again if they are. */
void mapping_forget(const struct mapping *m, uint64_t offset, size_t size);

/* True once any mapped file turned out shorter than it was. */
bool mapping_was_cut(void);

#endif
