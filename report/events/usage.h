/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel accounted to threads and processes: TF_BLOB_USAGE of the traces, "usage" of index lines, and the
 * launcher's samples, which are used for what recorded no end. */
#pragma once

#include "report/read/job/model.h"

/* Values are cumulative since the creation of the thread or process. TF_USAGE_UNKNOWN: not known. */
struct usage_of {
	uint64_t ticks; /* when they were read; 0: there are none */
	uint64_t cpu_ns, delay_ns; /* delay_ns of a process: CPU time of the children that it waited for */
	uint64_t peak_kb; /* of a process; 0: not known */
	uint64_t voluntary, involuntary;
	/* of a process: see struct tf_usage */
	uint64_t minor_faults, major_faults, block_ms, read_bytes, written_bytes;
	bool is_of_living;
};

/* What the launcher sampled of one thread, or with tid 0 of one process. */
struct usage_sampled {
	uint32_t pid, tid;
	uint64_t process_start;
	struct tf_usage_sample first, last;
	uint64_t stopped_ticks; /* in which it was stopped, as far as samples tell */
	uint64_t seen_ticks;	/* the launcher's last look that found it; 0: not known */
	uint64_t peak_kb;
	bool is_gone;
	char name[16];
};

struct usages;
struct usages *usages_new(const struct model *m);
void usages_free(struct usages *u);
const struct model *usages_model(const struct usages *u);

/* The last values recorded of a thread of the image between two ticks; the process for tid 0. */
struct usage_of usages_recorded(const struct usages *u, const struct image *image, uint32_t tid, uint64_t from,
				uint64_t to);

/* NULL: the launcher has not seen it. */
const struct usage_sampled *usages_sampled(const struct usages *u, const struct image *image, uint32_t tid);

/* What the launcher saw completes what the thread recorded: all of it if the thread recorded no end, else its run
 * delay. */
void usage_complete(struct usage_of *of, const struct usage_sampled *s);

/* The sampled threads of the image's process, one after the other; *at is 0 at first. NULL: no more. */
const struct usage_sampled *usages_next(const struct usages *u, const struct image *image, size_t *at);
