/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace of TrackEvents in Perfetto's format. Field numbers are those of protos/perfetto/trace in
 * github.com/google/perfetto. All packets are of one sequence, so that each text is written once and has a number from
 * then on. Times are nanoseconds of CLOCK_REALTIME here and since the start of the run in the file.
 *
 * A slice is written as its begin and its end. Perfetto sorts packets by time and pairs an end with the last open begin
 * of its track, so slices of one track must be nested. Slices are written in the order of their ends; one that is not
 * nested goes to another track, the next lane. */
#pragma once

#include "report/base/interner.h"
#include "report/base/table/sink.h"

/* Fields of InternedData, which also name the kinds of texts. */
enum perfetto_interned {
	PERFETTO_CATEGORY = 1,
	PERFETTO_EVENT = 2,
	PERFETTO_ANNOTATION = 3,
	PERFETTO_FUNCTION = 5,
	PERFETTO_FRAME = 6,
	PERFETTO_CALLSTACK = 7,
	PERFETTO_TEXT = 29,
	PERFETTO_INTERNED_KINDS
};

/* Fields of TrackEvent that the caller adds. */
enum { PERFETTO_FLOW = 47, PERFETTO_FLOW_END = 48, PERFETTO_COUNTER = 30, PERFETTO_COUNTER_DOUBLE = 44,
       PERFETTO_STACK = 56 };

enum perfetto_type { PERFETTO_BEGIN = 1, PERFETTO_END = 2, PERFETTO_INSTANT = 3, PERFETTO_VALUE = 4 };

/* The values of annotations: fields of DebugAnnotation. */
enum { PERFETTO_UINT = 3, PERFETTO_INT = 4, PERFETTO_INTERNED = 17 };

enum { PERFETTO_UNIT_NONE = 0, PERFETTO_UNIT_BYTES = 3 };
enum { PERFETTO_LANES = 8, PERFETTO_LANE_SLICES = 64 };

/* A track for slices that are nested, and the last outermost ones of them. */
struct perfetto_lane {
	uint64_t uuid; /* 0: not written yet */
	struct perfetto_slice {
		uint64_t start, end;
	} slices[PERFETTO_LANE_SLICES];
	size_t count;
};

struct perfetto_trace {
	struct sink *out; /* borrowed */
	uint64_t origin_ns;
	struct interner texts[PERFETTO_INTERNED_KINDS]; /* the number of a text in the file is one more */
	struct buffer event; /* the TrackEvent that is being made */
	struct buffer packet, head, scratch;
	uint64_t tracks; /* the last uuid */
	struct perfetto_lane lanes[PERFETTO_LANES];
};

void perfetto_begin(struct perfetto_trace *p, struct sink *out, uint64_t origin_ns);
void perfetto_end(struct perfetto_trace *p);

/* The number of a text. A trace may have an event in the making meanwhile. */
uint64_t perfetto_intern(struct perfetto_trace *p, enum perfetto_interned kind, const char *text);
/* The number of a stack: its frames in lines, the innermost first. */
uint64_t perfetto_stack(struct perfetto_trace *p, const char *stack);

/* Tracks; each returns a uuid. parent 0: none. */
uint64_t perfetto_process(struct perfetto_trace *p, uint32_t pid, const char *name);
uint64_t perfetto_thread(struct perfetto_trace *p, uint64_t parent, uint32_t pid, uint32_t tid, const char *name);
uint64_t perfetto_track(struct perfetto_trace *p, uint64_t parent, const char *name);
uint64_t perfetto_counter(struct perfetto_trace *p, uint64_t parent, const char *name, uint64_t unit);

/* Makes an event: begin, then fields and annotations, then write. `name` and `category` are numbers; 0: none. */
void perfetto_event_begin(struct perfetto_trace *p, enum perfetto_type type, uint64_t track, uint64_t name,
			  uint64_t category);
void perfetto_annotate(struct perfetto_trace *p, const char *name, unsigned int field, uint64_t value);
void perfetto_event_write(struct perfetto_trace *p, uint64_t ns);
void perfetto_slice_end(struct perfetto_trace *p, uint64_t track, uint64_t ns);

/* From now on slices are on the track `uuid`, or on tracks below it. */
void perfetto_lanes_begin(struct perfetto_trace *p, uint64_t uuid);
/* The track for the next slice. If there is no room, it is on the last one. */
uint64_t perfetto_lane(struct perfetto_trace *p, uint64_t start, uint64_t end);
