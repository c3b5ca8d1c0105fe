/* SPDX-License-Identifier: Apache-2.0 */
/* pprof: profile.proto, gzipped. A sample is a stack of one metric: its total has a sample type for each metric that
 * has data. With --metric there are two types, count and total. */
#include <string.h>

#include "report/base/table/protobuf.h"
#include "report/export/export.h"
#include "report/time/profile.h"

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

/* Strings are written when they first occur; they are numbered from 0, for "". */
struct strings {
	struct sink *out;
	struct aggregate known;
};

static uint64_t string_id(struct strings *s, const char *text)
{
	size_t before = s->known.count;
	uint32_t id = aggregate_row(&s->known, text, strlen(text) + 1);
	SCOPED(buffer) message = {0};

	if (s->known.count > before) {
		proto_text(&message, PROFILE_STRING, text);
		sink_add(s->out, message.data, message.size);
	}
	return id;
}

/* Writes a message as a field, and empties it. */
static void pprof_send_message(struct sink *out, unsigned int field, struct buffer *message)
{
	SCOPED(buffer) whole = {0};

	proto_bytes(&whole, field, message->data, message->size);
	sink_add(out, whole.data, whole.size);
	buffer_clear(message);
}

static void pprof_add_type(struct strings *s, const char *name, const char *unit)
{
	SCOPED(buffer) b = {0};

	proto_number(&b, TYPE_NAME, string_id(s, name));
	proto_number(&b, TYPE_UNIT, string_id(s, unit));
	pprof_send_message(s->out, PROFILE_SAMPLE_TYPE, &b);
}

/* A frame is a location with a function of its own, both numbered from 1. */
static void pprof_add_frame(struct strings *s, const struct code_line *of, uint64_t id)
{
	SCOPED(buffer) b = {0}, line = {0};

	proto_number(&b, FUNCTION_ID, id);
	proto_number(&b, FUNCTION_NAME, string_id(s, of->function));
	if (of->file)
		proto_number(&b, FUNCTION_FILE, string_id(s, of->file));
	pprof_send_message(s->out, PROFILE_FUNCTION, &b);
	proto_number(&line, LINE_FUNCTION, id);
	if (of->line)
		proto_number(&line, LINE_NUMBER, of->line);
	proto_number(&b, LOCATION_ID, id);
	proto_bytes(&b, LOCATION_LINE, line.data, line.size);
	pprof_send_message(s->out, PROFILE_LOCATION, &b);
}

/* What is written: the profiles, and whether they have counts. */
struct pprof {
	struct strings strings;
	struct profile profiles[METRIC_COUNT];
	size_t count;
	bool has_counts; /* there is one profile then */
};

static void pprof_add_types(struct pprof *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct metric_words *words = &metrics[p->profiles[i].metric];

		if (p->has_counts)
			pprof_add_type(&p->strings, words->count, "count");
		pprof_add_type(&p->strings, words->value, words->unit);
	}
}

static void pprof_add_sample(struct pprof *p, size_t at, size_t row, size_t first_frame)
{
	const struct profile *profile = &p->profiles[at];
	SCOPED(buffer) b = {0}, numbers = {0};
	size_t count;
	const uint32_t *stack = profile_stack(profile, row, &count);

	while (count > 0)
		buffer_varint(&numbers, first_frame + stack[--count]);
	proto_bytes(&b, SAMPLE_LOCATIONS, numbers.data, numbers.size);
	buffer_clear(&numbers);
	if (p->has_counts)
		buffer_varint(&numbers, profile->aggregate.rows[row].count);
	for (size_t i = 0; i < p->count; i++)
		buffer_varint(&numbers, i == at ? profile->aggregate.rows[row].total : 0);
	proto_bytes(&b, SAMPLE_VALUES, numbers.data, numbers.size);
	pprof_send_message(p->strings.out, PROFILE_SAMPLE, &b);
}

/* All profiles share one list of frames: those of each follow those of the previous ones. */
static void pprof_add_profiles(struct pprof *p)
{
	size_t first = 1;

	for (size_t i = 0; i < p->count; i++) {
		const struct profile *profile = &p->profiles[i];

		for (size_t k = 0; k < profile->name_count; k++)
			pprof_add_frame(&p->strings, profile->names[k].line, first + k);
		for (size_t k = 0; k < profile->aggregate.count; k++)
			pprof_add_sample(p, i, k, first);
		first += profile->name_count;
	}
}

static void pprof_add_times(struct pprof *p, const struct model *m, enum metric shown)
{
	SCOPED(buffer) b = {0};

	proto_number(&b, PROFILE_TIME_NS, m->origin_ns);
	proto_number(&b, PROFILE_DURATION_NS, model_end_ns(m) - m->origin_ns);
	proto_number(&b, PROFILE_DEFAULT_TYPE, string_id(&p->strings, metrics[shown].value));
	sink_add(p->strings.out, b.data, b.size);
}

int export_pprof(struct export *x, struct err *err)
{
	struct pprof p = {.strings = {.out = x->out}, .has_counts = x->is_metric_given};
	const struct model *m = x->context->model;
	int code = export_profiles(x, p.profiles, &p.count, err);

	if (!code) {
		string_id(&p.strings, "");
		pprof_add_types(&p);
		pprof_add_profiles(&p);
		pprof_add_times(&p, m, p.count > 1 ? profile_default(m) : p.profiles[0].metric);
	}
	aggregate_done(&p.strings.known);
	for (size_t i = 0; i < p.count; i++)
		profile_done(&p.profiles[i]);
	return code;
}
