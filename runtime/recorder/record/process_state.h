/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the current process image: its identity, what it records, how it began and ended. Data only, and what
 * reads it inline; process.h declares the functions.
 *
 * `process` is in pages that the kernel wipes in a forked child (MADV_WIPEONFORK), also after a raw clone. A child
 * therefore finds generation 0 and begins a new image, however it was created. What must survive a fork (options,
 * names of this run) is in static variables beside it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/intern_table.h"
#include "runtime/shared/common/hot.h"
#include "runtime/shared/common/options.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/format/trace_format.h"
#include "runtime/shared/format/trace_notes.h"

/* PROCESS_TRAFFIC: blobs of counters; TRAFFIC_SLOTS: the slots of one. */
enum { PROCESS_TRAFFIC = 28, TRAFFIC_SLOTS = 1 + TF_TRAFFIC_NUMBERS };
enum { PROCESS_NAME_BYTES = 4096, PROCESS_MAIN_PAGE = 8192, PROCESS_DESCRIPTORS = 65535, PROCESS_SPARE_STACKS = 4 };
enum { PROCESS_DIRECTORIES = 256, PROCESS_STEPS = 16, FIRST_CHUNK_AREAS = 128 };
#if defined(__aarch64__)
#define PROCESS_ALIGN 65536 /* the largest page of the architecture */
#else
#define PROCESS_ALIGN 4096
#endif

/* A part of the trace file that holds first chunks of threads, see first_chunk.h. */
struct first_chunk_area {
	void *at; /* NULL: unused. Changed under process.growing */
	uint64_t offset;
	uint32_t count, live; /* live: chunks that have not been released */
};

/* In an order in which a short image touches the first page only: each page that is touched costs a page fault. */
struct process_state {
	uint64_t generation; /* 0: not started. Else unique among the images that fork from this program */
	uint32_t guarded; /* threads inside a guard */
	uint64_t slow_ticks; /* as of a thread's page: of code that had none, to be added to the next one */
	/* not 0: guards no longer block signals, because sys_is_silent is about to be set, and they could not unblock
	 * them */
	uint32_t closing;
	bool can_populate;      /* Linux 5.14: see file.c */
	bool has_noted_no_room; /* see file.c */
	bool is_unlisted;       /* its first line found no room in the index */
	bool is_listed;         /* has its `process` line */
	bool takes_clocks;      /* a thread writes header->last */
	bool is_touched;        /* see process_touch() */
	bool has_noted_unsampled; /* see sample.c */
	uint32_t starting; /* lock of the start and of the creation of the file */
	uint32_t threads;  /* attached so far */
	bool counts_bytes; /* see usage.c, as for the next four */
	/* What the kernel had counted when the image began, of the process and of its first thread, less our own */
	struct sys_moved bytes_before, bytes_before_thread;
	uint64_t bytes_expected; /* to be written at exit */
	uint64_t read_by_ended;  /* by us, in threads that have ended */
	struct loader_state loader;
	uint64_t nonce;
	uint32_t pid;
	struct tf_image *image;   /* the place in the range file, see image.h; NULL: none */
	/* the trace file, see file.h; header is NULL and path is empty until it is needed */
	struct tf_header *header;
	/* file_end: end of the chunks; file_size: size in the file system; file_made: mapped with the header */
	uint64_t file_end, file_size, file_made, device, inode;
	uint32_t growing;    /* lock of file_end, file_size and the areas */
	struct record_ring *ring;   /* see ring.h; NULL: all is kept */
	struct record_profile *profile; /* see profile.h; NULL: events are recorded */
	uint32_t profile_full, profile_steps[PROCESS_STEPS]; /* see profile_range.c */
	uint32_t ring_writing; /* lock of ring_blob.c */
	/* identifies the set of definitions that ids refer to: the generation, and with --ring the turn above it */
	uint64_t defined_in;
	uint32_t create_failures; /* see file.c, like the next one */
	uint64_t create_retry_ticks;
	uint64_t chunk_next; /* see first_chunk.c, also for the next two and for areas */
	uint32_t area_last, first_chunks; /* area_last: the latest area; first_chunks: chunks of all areas */
	uint32_t threads_lost;            /* until the file exists: threads that could not be recorded */
	/* events lost by threads whose page is not in the file: all, and those that the index has; the difference is in
	 * process_range, too, because its memory survives this process */
	uint64_t lost_apart, lost_listed;
	uint32_t pair;                    /* which of header->last is written next */
	uint32_t end;                     /* enum tf_end; kept, with the status, for a file that is created later */
	int32_t end_status;
	uint64_t end_ticks;
	struct sampler *samplers, *kept_samplers; /* see sample.c */
	uint32_t sampler_count;
	uint32_t sampling;             /* lock of the samplers */
	uint32_t acting;               /* lock of altstack.c */
	uint32_t nvtx_inside;      /* open ranges of -c nvtx */
	uint64_t tracer_checked_ticks; /* see sample.c */
	uint64_t devices_noted, devices_written; /* see facts.c: a bit for each device */
	bool has_noted_frozen, has_noted_silent; /* see recorder.c */
	bool spare_stacks[PROCESS_SPARE_STACKS]; /* spare_stack.c: in use */
	/* modules in the trace; value = start address, until one of them has been unloaded */
	struct intern_table modules;
	uint32_t unloads;             /* how often modules in the trace have been unloaded, at most 65535 */
	uint32_t line_lock;           /* of line[] */
	struct intern_table interned; /* strings, stacks, launches, modules: number = id in the trace */
	/* traffic.h: counters of the first thread, until it has a chunk in the trace file or the image ends */
	uint64_t traffic[PROCESS_TRAFFIC][TRAFFIC_SLOTS];
	uint32_t traffic_count;
	uint32_t descriptor_last;  /* descriptor.c: the highest descriptor that the trace describes */
	uint32_t descriptor_texts; /* descriptor.c: number of descriptions so far, whose ids are serial numbers */
	uint16_t descriptors[PROCESS_DESCRIPTORS]; /* see descriptor.h; low ones are in the first page */
	uint32_t chdirs, directories[PROCESS_DIRECTORIES]; /* see directory.c */
	struct first_chunk_area areas[FIRST_CHUNK_AREAS];
	char line[8192];              /* for the index, as are the next two */
	char line_counts[2048], line_names[2048];
	char path[PROCESS_NAME_BYTES];
	/* The first thread's page, until the file exists, if the image has no place in the range file. */
	uint64_t main_page[PROCESS_MAIN_PAGE / sizeof(uint64_t)];
} __attribute__((aligned(PROCESS_ALIGN)));

extern struct process_state process HIDDEN;

#define PROCESS_TURN (1ull << 16) /* what a turn adds to process.defined_in */

/* A mapped block of the range file, see image.c. */
struct image_block {
	char *at; /* NULL: none */
	uint64_t number;
};

/* State that a forked child inherits. The fields that a child changes are in one page. */
struct process_inherited {
	bool is_configured;
	bool is_touched; /* see process_touch() */
	bool has_block_delays; /* the kernel accounts waits for block devices */
	uint32_t latest_index; /* of the next field, see image.c */
	struct image_block latest[2], own, parents;
	uint64_t generations, nonce, parent_nonce, run;
	struct tf_clock_pair loaded;
	struct identity identity; /* of the image that read the configuration; a forked child updates its pids */
	char directory[PROCESS_NAME_BYTES];
} __attribute__((aligned(512)));
extern struct process_inherited process_inherited;

/* At the start of an image: a page whose first access is a read costs two page faults. */
static inline void process_touch(void)
{
	*(volatile bool *)&process.is_touched = true;
	*(volatile bool *)&process_inherited.is_touched = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* otherwise the compiler moves later reads before them */
}

/* Hooks read this first: the groups that this process records (bits of enum tf_group; 0: recording is off), and the
 * word of the run's range page, all ones or 0. All groups are set before the start, so that the first call starts
 * the recorder. */
struct process_gate {
	uint32_t groups;
	const uint32_t *recording;
};
extern struct process_gate process_gate HIDDEN;
#define PROCESS_SAMPLES (1u << 31) /* in `groups`: set if samples are recorded, even if no group is */
#define PROCESS_MEMORY (1u << 30)  /* likewise allocations of host memory */
#define PROCESS_LINES (1u << 29)   /* likewise lines of Python */

/* Thresholds in ticks. */
extern uint64_t process_osrt_threshold HIDDEN, process_osrt_backtrace HIDDEN;
extern uint64_t process_cuda_backtrace[CUDA_THRESHOLDS] HIDDEN;
extern struct options process_options;
/* With --mode=profile those above are 0, so that each call is recorded out of line, and these are the thresholds. */
extern uint64_t process_profile_backtrace[2] HIDDEN; /* of OS calls; of others */
/* Not 0: the view of the file system has changed, or is about to; this image and its forked children open no files.
 * Counts the calls that change it, and those in progress that may do so. */
extern uint32_t process_is_frozen;
/* The functions that events refer to, by id; passed to recorder_attach(). The names are referred to by their position:
 * a pointer for each would have to be relocated at the start of every process. */
struct function_name {
	uint16_t text; /* where in function_table.texts it begins */
	uint8_t group; /* enum tf_group */
};
struct function_table {
	const char *texts;
	const struct function_name *list;
	uint32_t count, counters; /* only the first `counters` functions have a threshold, hence a counter */
};
extern const struct function_table *process_functions;

/* Does not write in a forked child, which would cost it a copy of the page. */
static inline void process_use_functions(const struct function_table *functions)
{
	if (!process_inherited.is_configured)
		process_functions = functions;
}

static inline const char *function_text(const struct function_table *functions, uint32_t id)
{
	return functions->texts + functions->list[id].text;
}

extern struct tf_range_page *process_range; /* NULL: no capture range, recording is always on */
extern struct tf_images *process_images;    /* the part of its file for images; NULL: none */
