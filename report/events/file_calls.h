/* SPDX-License-Identifier: Apache-2.0 */
/* The OS calls on files of all processes: each recorded one, and the sums of those below the threshold. */
#pragma once

#include "report/events/scan.h"
#include "report/events/traffic.h"

/* What a call asks of a server for metadata. CHANGE: creates, renames, removes. */
enum file_metadata { METADATA_NONE, METADATA_OPEN, METADATA_STAT, METADATA_CHANGE, METADATA_KINDS };

struct file_call {
	const struct image *image;
	const struct trace_thread *thread;
	enum traffic_role role;
	enum file_metadata metadata;
	uint32_t file;	      /* row of file_calls.paths, of calls on paths the directory, with a slash; FILE_UNKNOWN */
	bool is_sum;	      /* several calls below the threshold, of which start_ticks is not that of each */
	uint64_t failed;      /* of the calls that open, ask or change */
	uint64_t start_ticks; /* 0: not known */
	uint64_t calls, ns, bytes;
	uint64_t transfers; /* reads or writes of the kernel */
	uint64_t locks;	    /* calls that may lock the file: fcntl, flock, lockf */
	uint32_t stack;	    /* of one call; 0: not taken */
};

enum { FILE_UNKNOWN = UINT32_MAX };
#define FILE_NOT_KNOWN "(not known)"

/* What a function does with files. */
struct file_function {
	uint8_t role, kind, metadata; /* enum traffic_role, traffic_kind, file_metadata */
	bool locks;
};

struct file_calls {
	struct aggregate paths; /* its keys are the paths */
	void (*visit)(struct file_calls *f, const struct file_call *call);
	void *more; /* private to the caller */
	/* private */
	const struct image *image;
	struct descriptor_search descriptors;
	struct scan scan;
};

/* Calls visit for each call that passes the filter, and, without a filter, for each sum. Sockets are left out. */
void file_calls_read(struct file_calls *f, const struct report_context *c);
void file_calls_done(struct file_calls *f);

static inline const char *file_path(const struct file_calls *f, uint32_t file)
{
	return file == FILE_UNKNOWN ? FILE_NOT_KNOWN : aggregate_field(&f->paths.rows[file], 0);
}
