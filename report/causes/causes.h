/* SPDX-License-Identifier: Apache-2.0 */
/* The graph of a whole capture: actors, the cause of the end of each wait, and the attributes of their time. */
#pragma once

#include "report/causes/editable.h"
#include "report/causes/graph.h"
#include "report/events/scan.h"

/* A thread of an image, or a stream of a device. Times are since the start of the capture. */
struct actor {
	const struct image *image;
	const struct trace_thread *thread; /* NULL: it recorded nothing, or it is a stream */
	uint64_t start_ns, end_ns;
	uint32_t device, stream;
	bool is_stream, is_main; /* is_main: the first thread of its image */
	bool ended;		 /* a thread that ended before its image */
};

struct causality {
	const struct report_context *context;
	struct graph graph;
	struct editables editables;
	struct actor *actors; /* as in the graph; those of an image in succession, the main thread first */
	size_t actor_count, actor_capacity;
	uint32_t *first_of_image; /* by image: its main thread; NODE_NONE: none */
	/* By process: the call by which its starter waited for it, at the line that started it; NODE_NONE: none. What
	 * is started and awaited by one line is a part of it. */
	uint32_t *awaited_by;
	uint64_t run_ns;	  /* the end of the run, since the start of the capture */
	double delay_ns; /* how long threads waited for a CPU on the critical path; below 0: not asked for yet */
	double unseen_ns; /* what the run without waits without a source is shorter by; below 0: not asked for yet */
	struct map priced; /* by the hash of an edit's text: its place in savings. By price_find() */
	struct saving *savings;
	size_t saving_count, saving_capacity;
};

/* NULL: nothing was recorded. */
struct causality *causes_find(const struct report_context *c);
void causes_free(struct causality *s);

/* The actor of a thread; NODE_NONE: there is none. */
uint32_t causes_actor(const struct causality *s, const struct image *image, const struct trace_thread *thread);

/* How many processes the line has started and awaited. */
size_t causes_started_at(struct causality *s, const struct code_line *line);

/* Appends "worker [1234]", with its tid, or "device 0 stream 7". */
void actor_words(const struct actor *a, struct buffer *ret);

/* The ns since the start of the capture of a tick of the image. */
uint64_t causes_ns(const struct causality *s, const struct image *image, uint64_t ticks);

/* So many so short sleeps are those of a loop that looks whether something has happened. */
enum { CAUSES_POLLS = 10, CAUSES_POLL_NS = 50000000 };
