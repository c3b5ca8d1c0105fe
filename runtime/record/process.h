/* SPDX-License-Identifier: Apache-2.0 */
/* The process image that we are in: who it is, what it records, how it began and ended.
 *
 * `process` lies in pages that the kernel wipes in a forked child (MADV_WIPEONFORK; raw clone included), so a child
 * finds generation 0 and begins anew as an image of its own, whichever way it was made. What must outlive a fork
 * (options, names of this run) is static beside it. */
#ifndef PILLION_PROCESS_H
#define PILLION_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/common/hot.h"
#include "runtime/common/options.h"
#include "runtime/common/range.h"
#include "runtime/record/identity.h"
#include "runtime/record/intern_table.h"
#include "runtime/format/trace_format.h"
#include "runtime/record/first_chunk.h"

enum { PROCESS_NAME_BYTES = 4096, PROCESS_MAIN_PAGE = 16384, PROCESS_DESCRIPTORS = 65535 };
#if defined(__aarch64__)
#define PROCESS_ALIGN 65536 /* the largest page of the architecture */
#else
#define PROCESS_ALIGN 4096
#endif

struct process {
	uint64_t generation; /* 0: not started. Else a number that no other image of this program's forks has */
	uint16_t descriptors[PROCESS_DESCRIPTORS]; /* descriptor.h; here, for the low ones lie beside the generation */
	uint32_t guarded;    /* threads that have blocked their signals for a stretch of our own code */
	bool is_closing;     /* no more of these: sys_is_silent is about to be set, and they could not take it back */
	uint32_t starting;   /* lock of the start and of making the file */
	uint32_t threads;    /* attached so far */
	uint64_t nonce;
	uint32_t pid;
	/* the trace file, see file.h; header is NULL until the first record */
	struct tf_header *header;
	uint64_t file_end, file_size, device, inode; /* file_end: of the chunks; file_size: as the file system has it */
	uint32_t growing;			     /* lock of the two, and of the areas */
	uint64_t chunk_next;			     /* see first_chunk.c, as the three after it */
	struct first_chunk_area areas[FIRST_CHUNK_AREAS];
	uint32_t area_last, first_chunks; /* the area made last; chunks of all areas */
	bool can_populate;			     /* Linux 5.14: see file.c */
	uint32_t pair; /* which of header->last is written next */
	bool takes_clocks; /* somebody writes it */
	uint32_t end;  /* enum tf_end, with its status; kept for a file that is made later */
	int32_t end_status;
	uint64_t end_ticks;
	struct sampler *samplers, *kept_samplers; /* see sample.c */
	uint32_t kept_sampler_count;
	uint32_t sampling; /* lock of these */
	uint32_t acting;   /* lock of altstack.c */
	uint64_t tracer_asked_ticks;
	bool said_unsampled;
	struct intern_table modules; /* that the trace has; value = where it starts, until one of them has gone */
	uint32_t unloads;     /* times that one of them had gone, 65535 at most */
	struct intern_table interned; /* strings, stacks, launches, modules: number = id in the trace */
	uint32_t line_lock; /* of line[] */
	char line[8192];    /* for the index, as the two after it */
	char line_counts[2048], line_names[2048];
	char path[PROCESS_NAME_BYTES];
	uint32_t nvtx_inside; /* ranges of -c nvtx that are open */
	uint32_t descriptor_last;  /* descriptor.c: the highest descriptor that the trace describes */
	uint32_t descriptor_texts; /* descriptor.c: ids of descriptions given out */
	/* The first thread's page, until there is a file. */
	uint64_t main_page[PROCESS_MAIN_PAGE / sizeof(uint64_t)];
} __attribute__((aligned(PROCESS_ALIGN)));

extern struct process process HIDDEN;

/* What a forked child inherits. */
struct process_inherited {
	bool is_configured;
	uint64_t generations, nonce, parent_nonce, run;
	struct identity identity; /* of the image that configured itself; pids are taken anew */
	struct tf_clock_pair loaded;
	char directory[PROCESS_NAME_BYTES];
};
extern struct process_inherited process_inherited;

/* What hooks look at first: groups that this process records (bits of enum tf_group, 0: recording is off), and the
 * run's range page, all ones or 0. All ones before the start, so that the first call leads to it. */
struct process_gate {
	uint32_t groups;
	const uint32_t *recording;
};
extern struct process_gate process_gate HIDDEN;
#define PROCESS_SAMPLES (1u << 31) /* in `groups`: samples may be all that is wanted */

/* Thresholds in ticks. */
extern uint64_t process_osrt_threshold HIDDEN, process_osrt_backtrace HIDDEN, process_cuda_backtrace[CUDA_KINDS] HIDDEN;
extern struct options process_options;
/* Paths no longer lead where they did: this image and its forked children open nothing any more. */
extern bool process_is_frozen;
/* The functions that events may name, by id; given to recorder_attach(). */
struct function_name {
	const char *name;
	uint8_t group; /* enum tf_group */
};
struct function_table {
	const struct function_name *list;
	uint32_t count, counters; /* the first `counters` functions have a threshold, so a counter */
};
extern const struct function_table *process_functions;

extern struct tf_range_page *process_range; /* NULL: none, recording goes on all the time */

/* Fills in a new file's head: who we are. */
void process_describe(struct tf_header *header);

/* Writes a pair of clocks into the head, where there is one. */
void process_take_clocks(void);

/* Something of ours failed for good: recording goes off, the capture's index says why, the target goes on. */
void process_fail(const char *why);

/* A fact for the ledger. */
void process_note(const char *text);

/* A range that was not the one of -c nvtx: RANGE or RANGE@DOMAIN. Under a guard. */
void process_seen(const char *range);

/* Appends a `bare` line: a program that is started without the recorder, and why. */
void process_bare(const char *executable, const char *reason);

/* The NAME=value strings of ours that a child needs, NULL-ended, valid for the life of the process: LD_PRELOAD
 * excepted. */
char *const *process_environment(void);
const char *process_library(void); /* path of the preloaded object, as LD_PRELOAD names it */

/* True in the child of a vfork, which borrows this image's memory. One system call. */
bool process_is_borrowed(void);

#endif
