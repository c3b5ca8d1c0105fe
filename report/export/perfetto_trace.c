/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/perfetto_trace.h"

#include <string.h>

#include "report/base/table/protobuf.h"

enum {
	TRACE_PACKET = 1,

	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	FLAG_CLEARED = 1,

	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_BOOTTIME = 6,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,

	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,

	ANNOTATION_NAME = 1,

	INTERNED_ID = 1,
	INTERNED_NAME = 2,
	FRAME_FUNCTION = 2,
	CALLSTACK_FRAME = 2,
};

/* ---- packets ---- */

static void packet_write(struct perfetto_trace *p)
{
	proto_number(&p->packet, PACKET_SEQUENCE, 1);
	buffer_clear(&p->head);
	buffer_varint(&p->head, TRACE_PACKET << 3 | 2);
	buffer_varint(&p->head, p->packet.size);
	sink_add(p->out, p->head.data, p->head.size);
	sink_add(p->out, p->packet.data, p->packet.size);
	buffer_clear(&p->packet);
}

/* A packet that ends with the message in `b`. */
static void packet_of(struct perfetto_trace *p, unsigned int field, const struct buffer *b)
{
	proto_bytes(&p->packet, field, b->data, b->size);
	packet_write(p);
}

/* ---- interned texts ---- */

static void interned_write(struct perfetto_trace *p, unsigned int kind, const struct buffer *message)
{
	SCOPED(buffer) data = {0};

	proto_bytes(&data, kind, message->data, message->size);
	packet_of(p, PACKET_INTERNED, &data);
}

/* The number of a text; *ret_new: it has none in the file yet. */
static uint64_t number_of(struct perfetto_trace *p, enum perfetto_interned kind, const char *text, bool *ret_new)
{
	struct interner *known = &p->texts[kind];
	size_t before = known->count;
	uint64_t number = interner_text_number(known, text) + 1u;

	*ret_new = known->count > before;
	return number;
}

uint64_t perfetto_intern(struct perfetto_trace *p, enum perfetto_interned kind, const char *text)
{
	struct buffer message = {0};
	bool is_new;
	uint64_t number = number_of(p, kind, text, &is_new);

	if (is_new) {
		proto_number(&message, INTERNED_ID, number);
		proto_text(&message, INTERNED_NAME, text);
		interned_write(p, kind, &message);
		buffer_done(&message);
	}
	return number;
}

static uint64_t frame_number(struct perfetto_trace *p, const char *text)
{
	uint64_t function = perfetto_intern(p, PERFETTO_FUNCTION, text), number;
	struct buffer message = {0};
	bool is_new;

	number = number_of(p, PERFETTO_FRAME, text, &is_new);
	if (is_new) {
		proto_number(&message, INTERNED_ID, number);
		proto_number(&message, FRAME_FUNCTION, function);
		interned_write(p, PERFETTO_FRAME, &message);
		buffer_done(&message);
	}
	return number;
}

static void stack_write(struct perfetto_trace *p, uint64_t number, const char *stack)
{
	SCOPED(buffer) message = {0};
	SCOPED(texts) frames = {0};

	for (const char *line = stack; *line; line += *line == '\n') {
		int length = (int)strcspn(line, "\n");

		texts_add(&frames, "%.*s", length, line);
		line += length;
	}
	proto_number(&message, INTERNED_ID, number);
	for (size_t i = frames.count; i-- > 0;) /* Perfetto has the outermost frame first */
		proto_number(&message, CALLSTACK_FRAME, frame_number(p, frames.items[i]));
	interned_write(p, PERFETTO_CALLSTACK, &message);
}

uint64_t perfetto_stack(struct perfetto_trace *p, const char *stack)
{
	bool is_new;
	uint64_t number = number_of(p, PERFETTO_CALLSTACK, stack, &is_new);

	if (is_new)
		stack_write(p, number, stack);
	return number;
}

/* ---- tracks ---- */

/* Completes and frees the descriptor. */
static uint64_t track_write(struct perfetto_trace *p, struct buffer *descriptor, uint64_t parent, const char *name)
{
	proto_number(descriptor, TRACK_UUID, ++p->tracks);
	if (parent)
		proto_number(descriptor, TRACK_PARENT, parent);
	if (name)
		proto_text(descriptor, TRACK_NAME, name);
	packet_of(p, PACKET_TRACK, descriptor);
	buffer_done(descriptor);
	return p->tracks;
}

uint64_t perfetto_process(struct perfetto_trace *p, uint32_t pid, const char *name)
{
	struct buffer descriptor = {0};

	buffer_clear(&p->scratch);
	proto_number(&p->scratch, PROCESS_PID, pid);
	proto_text(&p->scratch, PROCESS_NAME, name);
	proto_bytes(&descriptor, TRACK_PROCESS, p->scratch.data, p->scratch.size);
	return track_write(p, &descriptor, 0, NULL);
}

uint64_t perfetto_thread(struct perfetto_trace *p, uint64_t parent, uint32_t pid, uint32_t tid, const char *name)
{
	struct buffer descriptor = {0};

	buffer_clear(&p->scratch);
	proto_number(&p->scratch, THREAD_PID, pid);
	proto_number(&p->scratch, THREAD_TID, tid);
	proto_text(&p->scratch, THREAD_NAME, name);
	proto_bytes(&descriptor, TRACK_THREAD, p->scratch.data, p->scratch.size);
	return track_write(p, &descriptor, parent, NULL);
}

uint64_t perfetto_track(struct perfetto_trace *p, uint64_t parent, const char *name)
{
	struct buffer descriptor = {0};

	return track_write(p, &descriptor, parent, name);
}

uint64_t perfetto_counter(struct perfetto_trace *p, uint64_t parent, const char *name, uint64_t unit)
{
	struct buffer descriptor = {0};

	buffer_clear(&p->scratch);
	if (unit != PERFETTO_UNIT_NONE)
		proto_number(&p->scratch, COUNTER_UNIT, unit);
	proto_bytes(&descriptor, TRACK_COUNTER, p->scratch.data, p->scratch.size);
	return track_write(p, &descriptor, parent, name);
}

/* ---- events ---- */

void perfetto_event_begin(struct perfetto_trace *p, enum perfetto_type type, uint64_t track, uint64_t name,
			  uint64_t category)
{
	buffer_clear(&p->event);
	proto_number(&p->event, EVENT_TYPE, type);
	proto_number(&p->event, EVENT_TRACK, track);
	if (name)
		proto_number(&p->event, EVENT_NAME, name);
	if (category)
		proto_number(&p->event, EVENT_CATEGORY, category);
}

void perfetto_annotate(struct perfetto_trace *p, const char *name, unsigned int field, uint64_t value)
{
	uint64_t number = perfetto_intern(p, PERFETTO_ANNOTATION, name);

	buffer_clear(&p->scratch);
	proto_number(&p->scratch, ANNOTATION_NAME, number);
	proto_number(&p->scratch, field, value);
	proto_bytes(&p->event, EVENT_ANNOTATION, p->scratch.data, p->scratch.size);
}

void perfetto_event_write(struct perfetto_trace *p, uint64_t ns)
{
	proto_number(&p->packet, PACKET_TIMESTAMP, ns > p->origin_ns ? ns - p->origin_ns : 0);
	packet_of(p, PACKET_TRACK_EVENT, &p->event);
}

void perfetto_slice_end(struct perfetto_trace *p, uint64_t track, uint64_t ns)
{
	perfetto_event_begin(p, PERFETTO_END, track, 0, 0);
	perfetto_event_write(p, ns);
}

/* ---- lanes ---- */

/* False: the slice partly overlaps another slice of the lane, or begins at the same time as a slice that was written
 * before and that Perfetto would therefore show as the outer slice. */
static bool lane_takes(struct perfetto_lane *l, uint64_t start, uint64_t end)
{
	size_t outside = l->count; /* the slices before it are not inside this one */

	while (outside && l->slices[outside - 1].start > start)
		outside--;
	if (outside && (l->slices[outside - 1].start == start || l->slices[outside - 1].end > start))
		return false;
	l->count = outside;
	if (l->count == PERFETTO_LANE_SLICES) {
		l->count /= 2;
		memmove(l->slices, l->slices + l->count, l->count * sizeof(*l->slices));
	}
	l->slices[l->count++] = (struct perfetto_slice){start, end};
	return true;
}

uint64_t perfetto_lane(struct perfetto_trace *p, uint64_t start, uint64_t end)
{
	size_t i = 0;

	while (!lane_takes(&p->lanes[i], start, end) && i + 1 < PERFETTO_LANES)
		i++;
	if (!p->lanes[i].uuid)
		p->lanes[i].uuid = perfetto_track(p, p->lanes[0].uuid, "overlapping");
	return p->lanes[i].uuid;
}

void perfetto_lanes_begin(struct perfetto_trace *p, uint64_t uuid)
{
	memset(p->lanes, 0, sizeof(p->lanes));
	p->lanes[0].uuid = uuid;
}

/* ---- the trace ---- */

/* The first packet has the time of day at time 0. */
void perfetto_begin(struct perfetto_trace *p, struct sink *out, uint64_t origin_ns)
{
	const uint64_t clocks[][2] = {{CLOCK_ID_BOOTTIME, 0}, {CLOCK_ID_REALTIME, origin_ns}};
	SCOPED(buffer) snapshot = {0};

	*p = (struct perfetto_trace){.out = out, .origin_ns = origin_ns};
	for (size_t i = 0; i < 2; i++) {
		buffer_clear(&p->scratch);
		proto_number(&p->scratch, CLOCK_ID, clocks[i][0]);
		proto_number(&p->scratch, CLOCK_TIMESTAMP, clocks[i][1]);
		proto_bytes(&snapshot, SNAPSHOT_CLOCK, p->scratch.data, p->scratch.size);
	}
	proto_number(&p->packet, PACKET_FLAGS, FLAG_CLEARED);
	packet_of(p, PACKET_CLOCK_SNAPSHOT, &snapshot);
}

void perfetto_end(struct perfetto_trace *p)
{
	for (size_t i = 0; i < PERFETTO_INTERNED_KINDS; i++)
		interner_done(&p->texts[i]);
	buffer_done(&p->event);
	buffer_done(&p->packet);
	buffer_done(&p->head);
	buffer_done(&p->scratch);
}
