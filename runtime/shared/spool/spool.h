/* SPDX-License-Identifier: Apache-2.0 */
/* A spool: the node-local directory that processes write into if files on the capture's file system cannot be mapped
 * (NFS, Lustre, GPFS, FUSE, ...). It has files of the same names as the capture. The launcher moves what was recorded
 * to the capture every --spool-interval and, at the end, everything. If it was killed, launchers of other ranks on the
 * node or `pillion recover` do so. Linked by the launcher and the report. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/shared/format/trace_format.h"

/* The text file in a spool that states whose it is; its name begins with a dot, so no reader takes it for data. */
#define SPOOL_OWNER ".spool"

struct spooled;

/* Of two versions of a page of a file, the capture's and the spool's: is the spool's the later one, or equal? */
typedef bool spool_is_later(const void *captured, const void *spooled, size_t size);

struct spool {
	char path[PATH_MAX];
	char capture[PATH_MAX]; /* absolute */
	char host[TF_HOST], boot[40];
	char pids[64]; /* the PID namespace of its launcher */
	uint64_t run;
	int fd; /* the directory; locked while its files are moved */
	spool_is_later *is_later; /* another process created it, and what it has moved is found by this; NULL: we did */
	struct spooled *files;
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
};

/* Creates BASE/pillion-UID-RUN and locks it; capture, host, boot, run and say are set by the caller. 0 or -errno; then
 * path is "". */
int spool_create(struct spool *s, const char *base);

/* Opens an existing one without a lock, and sets all fields. -ENOENT: it is not there; -EINVAL: it is no spool. */
int spool_open(struct spool *s, const char *path);

/* Whether the capture at the path is the one that its launcher recorded into, not another one of the same name: the
 * launcher moves its range file, which has the number of the run in its name, before COMMAND begins. */
bool spool_is_of(const struct spool *s, const char *capture);

/* -EWOULDBLOCK: its launcher, or another process that moves it, is alive. -ENOENT: it was removed meanwhile. */
int spool_lock(struct spool *s);

/* Whether processes that may write to it are alive, or cannot be seen from here (another PID namespace). */
bool spool_has_writers(const struct spool *s);

/* Moves what was recorded. After success the capture states that it has everything up to `ticks` (0: states nothing),
 * or, if is_last, simply everything. Returns the number of files that could not be moved. */
unsigned spool_move(struct spool *s, bool is_last, uint64_t ticks);

/* Removes the directory and its files. */
void spool_remove(struct spool *s);

/* Gives the lock back and frees the memory. */
void spool_close(struct spool *s);

/* ---- for the report ---- */

/* The writer maps the page of the spool, so that one is later, whatever it contains; unless it is a page of zeros,
 * which was moved, or never used. */
spool_is_later spool_page_is_mapped;

/* After a restart of the machine the spool has what the disk had got of each page. Slots are only added, so the version
 * with more of them is later. */
spool_is_later spool_page_is_fuller;

/* The number of bytes at the start of a spool's index `spooled` that are in the capture's index already. */
size_t spool_lines_moved(const char *spooled, size_t spooled_size, const char *index, size_t index_size);
