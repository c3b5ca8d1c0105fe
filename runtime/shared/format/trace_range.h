/* SPDX-License-Identifier: Apache-2.0 */
/* HOST.RUN.range: the capture range of one launcher, and the images that have no trace file. Included by
 * trace_format.h after what it needs of that. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* ---- the capture range of one launcher ---- */

enum { TF_RANGE_FILE_BYTES = 1 << 20, TF_RANGE_MEMBERS = 1016 };

struct tf_range {
	uint64_t begin_ticks, end_ticks; /* end 0: open, or lost because its processes died */
};

/* In `ended`, from 1.11 on: with --ring, trace files and images of processes that have ended are removed. */
#define TF_RANGE_RING 8u
/* Likewise, from 1.13 on: --mode=profile. */
#define TF_RANGE_PROFILE 16u

/* In end_ticks: the range was cancelled. What was recorded from its begin to that of the next range does not count. */
#define TF_RANGE_CANCELLED (1ull << 63)

struct tf_range_page {
	uint64_t magic;
	uint64_t run;
	uint32_t recording; /* all ones: record; 0: forward only. Every hook reads this word */
	uint32_t inside;    /* processes that have called Start and not yet Stop */
	uint32_t begun;	    /* ranges begun so far = entries of ranges[] in use */
	uint32_t limit;	    /* maximum number of ranges; 0: no limit */
	uint32_t mode;	    /* enum tf_range_mode */
	/* 1: the launcher applies --kill when the last allowed range has ended; 2: Stop is ignored */
	uint32_t shutdown;
	/* bit 0: no further range begins; TF_RANGE_RING, TF_RANGE_PROFILE; others are private to writers (range.h) */
	uint32_t ended;
	uint32_t clock;	    /* enum tf_clock of ranges[] */
	uint32_t launcher;  /* PID of the launcher, which receives SIGCHLD when it has to apply --kill; 0: none */
	uint32_t lost_lines; /* lines of the index that could not be stored: no room, or the capture is hidden */
	uint32_t members[TF_RANGE_MEMBERS]; /* PIDs inside; the launcher removes those of dead processes */
	/* While COMMAND is about to be ended: processes whose device records may not all be in their traces; the
	 * number of the launcher's request for them; and how many of these processes have followed it. */
	uint32_t device_open, device_asked, device_answers;
	uint32_t uses_cuda; /* 1: a process of the run has begun to record CUDA */
	/* In a capture whose processes write into a spool: what was recorded before this time has been moved to the
	 * capture; TF_SPOOL_MOVED: everything was. 0: there is no spool. */
	uint64_t spool_ticks;
	uint64_t lost_events; /* of threads without space in a trace file whose image wrote no end into the index */
	struct tf_range ranges[]; /* up to the end of the file */
};

#define TF_SPOOL_MOVED (~0ull)

/* ON_REQUEST: of `pillion launch`, and of a run that was to be recorded as a whole from the first request on. */
enum tf_range_mode {
	TF_RANGE_WHOLE_RUN = 0,
	TF_RANGE_PROFILER_API = 1,
	TF_RANGE_NVTX = 2,
	TF_RANGE_ON_REQUEST = 3,
};

/* ---- images in the range file ----
 *
 * struct tf_images lies at TF_IMAGES_OFFSET. The function names of these images follow it (function_bytes, as in a
 * trace file). The places of the images begin at TF_IMAGES_FIRST, TF_IMAGE_BYTES each. The file is extended by
 * TF_IMAGE_BLOCK_BYTES at a time. A file of a version before 1.3 ends at TF_IMAGES_OFFSET.
 *
 * Each image takes the next place when it begins, and writes its first thread's chunk there. If the chunk is full, or
 * a second thread begins, the image creates a trace file and copies the chunk into it, as the first chunk of thread 0.
 * That copy replaces the place, whose chunk has the magic 0 from then on. A trace file without such a chunk belongs
 * together with the place of its nonce: its writer was killed before the copy, or a signal handler created the file in
 * the middle of a store.
 *
 * A forked image has no `process` line unless it has a trace file; its command is that of its parent. */

enum { TF_IMAGES_OFFSET = TF_RANGE_FILE_BYTES, TF_IMAGES_FIRST = TF_IMAGES_OFFSET + (128 << 10) };
enum { TF_IMAGE_BYTES = 2048, TF_IMAGE_BLOCK_BYTES = 64 << 10 };

struct tf_images {
	uint64_t magic;
	uint64_t next; /* places taken so far, even if there was no room for the last ones */
	uint64_t end;  /* size of the file as far as its blocks are allocated; 0: there is none yet */
	uint32_t is_closed; /* 1: no further block could be allocated */
	uint32_t function_count, function_bytes;
	uint32_t functions;  /* identifies the function names; stored after them; 0: there are none yet */
	char host[TF_HOST], boot[40]; /* of the process that created the file */
	struct tf_clock_pair created;
};

struct tf_image {
	uint64_t nonce; /* stored last; 0: the place is unused, or its process was killed before */
	uint64_t parent_nonce;
	/* If via is TF_VIA_START, as in struct tf_header. Of a forked image: the time at which it took its place, in
	 * the same unit; the process cannot have started later. */
	uint64_t process_start;
	uint32_t pid, parent_pid;
	uint64_t start_ticks, start_realtime_ns;
	uint64_t end_ticks;
	int32_t end_status;
	uint32_t end; /* enum tf_end; stored after the two fields before it */
	uint32_t via; /* enum tf_via */
	uint32_t threads_lost;
	uint64_t osrt_threshold_ns;
	/* A TF_CHUNK_FIRST of TF_IMAGE_CHUNK_BYTES follows. */
};

#define TF_IMAGE_CHUNK_BYTES (TF_IMAGE_BYTES - (uint32_t)sizeof(struct tf_image))
