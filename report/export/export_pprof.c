/* SPDX-License-Identifier: Apache-2.0 */
/* pprof: profile.proto, gzipped. Each stack is a sample with two values: count and total. */
#include "report/derive/stacks/frame.h"
#include "report/export/export.h"
#include "report/export/profile_proto.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	LOCATION_ID = 1,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_FILE = 4,
};

/* Strings are written when they first occur. */
struct strings {
	struct sink *out;
	struct aggregate known;
};

static void pprof_send(struct sink *out, struct buffer *message)
{
	if (message->size)
		sink_add(out, message->data, message->size);
	buffer_clear(message);
}

static uint64_t string_id(struct strings *s, const char *text)
{
	struct buffer message = {0};
	uint32_t id = profile_proto_text(&s->known, text, PROFILE_STRING, &message);

	pprof_send(s->out, &message);
	buffer_done(&message);
	return id;
}

static void pprof_send_message(struct sink *out, unsigned int field, struct buffer *message)
{
	struct buffer whole = {0};

	profile_proto_message(field, message, &whole);
	pprof_send(out, &whole);
	buffer_done(&whole);
}

static void pprof_add_type(struct strings *s, const char *name, const char *unit)
{
	struct buffer b = {0};

	proto_number(&b, TYPE_NAME, string_id(s, name));
	proto_number(&b, TYPE_UNIT, string_id(s, unit));
	pprof_send_message(s->out, PROFILE_SAMPLE_TYPE, &b);
	buffer_done(&b);
}

/* A frame is a location with a function of its own, both numbered from 1. */
static void pprof_add_frame(struct strings *s, const char *text, uint64_t id)
{
	struct buffer b = {0}, line = {0};
	struct frame frame;

	frame_split(text, &frame);
	proto_number(&b, FUNCTION_ID, id);
	proto_number(&b, FUNCTION_NAME, string_id(s, frame.name));
	if (frame.file)
		proto_number(&b, FUNCTION_FILE, string_id(s, frame.file));
	pprof_send_message(s->out, PROFILE_FUNCTION, &b);
	proto_number(&line, LINE_FUNCTION, id);
	if (frame.line)
		proto_number(&line, LINE_NUMBER, frame.line);
	proto_number(&b, LOCATION_ID, id);
	proto_bytes(&b, LOCATION_LINE, line.data, line.size);
	pprof_send_message(s->out, PROFILE_LOCATION, &b);
	buffer_done(&line);
	buffer_done(&b);
	frame_done(&frame);
}

static void pprof_add_sample(struct sink *out, const struct profile *p, size_t row)
{
	struct buffer b = {0}, numbers = {0};

	profile_proto_stack(p, row, &numbers);
	proto_bytes(&b, SAMPLE_LOCATIONS, numbers.data, numbers.size);
	buffer_clear(&numbers);
	buffer_varint(&numbers, p->aggregate.rows[row].count);
	buffer_varint(&numbers, p->aggregate.rows[row].total);
	proto_bytes(&b, SAMPLE_VALUES, numbers.data, numbers.size);
	pprof_send_message(out, PROFILE_SAMPLE, &b);
	buffer_done(&numbers);
	buffer_done(&b);
}

static void pprof_add_times(struct strings *s, const struct model *m, const struct metric_words *words)
{
	struct buffer b = {0};

	proto_number(&b, PROFILE_TIME_NS, m->origin_ns);
	proto_number(&b, PROFILE_DURATION_NS, model_end_ns(m) - m->origin_ns);
	proto_number(&b, PROFILE_DEFAULT_TYPE, string_id(s, words->value));
	sink_add(s->out, b.data, b.size);
	buffer_done(&b);
}

int export_pprof(struct export *x, struct err *err)
{
	const struct metric_words *words = &metrics[x->metric];
	struct profile profile;
	struct strings strings = {.out = x->out};
	int code = profile_make(x->context, x->metric, &profile, err);

	if (!code) {
		string_id(&strings, "");
		pprof_add_type(&strings, words->count, "count");
		pprof_add_type(&strings, words->value, words->unit);
		for (size_t i = 0; i < profile.names.count; i++)
			pprof_add_frame(&strings, profile.names.items[i], i + 1);
		for (size_t i = 0; i < profile.aggregate.count; i++)
			pprof_add_sample(x->out, &profile, i);
		pprof_add_times(&strings, x->context->model, words);
	}
	aggregate_done(&strings.known);
	profile_done(&profile);
	return code;
}
