/* SPDX-License-Identifier: Apache-2.0 */
/* otlp: profiles of OpenTelemetry, opentelemetry.proto.profiles.v1development.ProfilesData. The same stacks and values
 * as pprof's: for each metric a profile of the values and one of the counts, because a profile there has one type.
 * Experimental, as the format is. */
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/profile_proto.h"
#include "report/names/frame.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

/* Field numbers. */
enum {
	DATA_RESOURCE_PROFILES = 1,
	DATA_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE = 2,
	RESOURCE_ATTRIBUTE = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	VALUE_STRING = 1,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILE = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	PROFILE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_TIME = 3, /* fixed64 */
	PROFILE_DURATION = 4,
	TYPE_NAME = 1,
	TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_VALUES = 4,
	TABLE_MAPPING = 1,
	TABLE_LOCATION = 2,
	TABLE_FUNCTION = 3,
	TABLE_LINK = 4,
	TABLE_STRING = 5,
	TABLE_ATTRIBUTE = 6,
	TABLE_STACK = 7,
	STACK_LOCATIONS = 1,
	LOCATION_LINE = 3,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_NAME = 1,
	FUNCTION_FILE = 3,
};

/* The tables, to whose entries everything refers by number. Entry 0 of each means none. */
struct dictionary {
	struct buffer bytes;
	struct aggregate texts, functions;
};

static uint32_t text_number(struct dictionary *d, const char *text)
{
	return profile_proto_text(&d->texts, text, TABLE_STRING, &d->bytes);
}

static void dictionary_begin(struct dictionary *d)
{
	static const unsigned int tables[] = {TABLE_MAPPING,   TABLE_LOCATION, TABLE_FUNCTION,
					      TABLE_LINK,      TABLE_ATTRIBUTE, TABLE_STACK};

	text_number(d, "");
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		proto_bytes(&d->bytes, tables[i], NULL, 0);
	aggregate_row(&d->functions, "", 1);
}

static void dictionary_done(struct dictionary *d)
{
	buffer_done(&d->bytes);
	aggregate_done(&d->texts);
	aggregate_done(&d->functions);
}

/* Frames of the same function have one entry. */
static uint32_t function_number(struct dictionary *d, const struct frame *f)
{
	size_t before = d->functions.count;
	struct buffer key = {0}, b = {0};
	uint32_t number;

	buffer_print(&key, "%s%c%s", f->name, 0, f->file ? f->file : "");
	number = aggregate_row(&d->functions, key.data, key.size + 1);
	if (d->functions.count > before) {
		proto_number(&b, FUNCTION_NAME, text_number(d, f->name));
		if (f->file)
			proto_number(&b, FUNCTION_FILE, text_number(d, f->file));
		profile_proto_message(TABLE_FUNCTION, &b, &d->bytes);
	}
	buffer_done(&key);
	buffer_done(&b);
	return number;
}

/* A frame is a location. */
static void add_location(struct dictionary *d, const char *text)
{
	struct buffer b = {0}, line = {0};
	struct frame frame;

	frame_split(text, &frame);
	proto_number(&line, LINE_FUNCTION, function_number(d, &frame));
	if (frame.line)
		proto_number(&line, LINE_NUMBER, frame.line);
	profile_proto_message(LOCATION_LINE, &line, &b);
	profile_proto_message(TABLE_LOCATION, &b, &d->bytes);
	buffer_done(&line);
	buffer_done(&b);
	frame_done(&frame);
}

/* Frames of all profiles are in one table: `first` is the place of the profile's first one. */
static void add_stack(struct dictionary *d, const struct profile *p, size_t row, size_t first)
{
	struct buffer b = {0}, numbers = {0};

	profile_proto_stack(p, row, first, &numbers);
	profile_proto_message(STACK_LOCATIONS, &numbers, &b);
	profile_proto_message(TABLE_STACK, &b, &d->bytes);
	buffer_done(&numbers);
	buffer_done(&b);
}

/* One profile: a value for each stack. `first` is the place of the first one. */
static void add_profile(struct dictionary *d, const struct model *m, const struct profile *p, size_t first,
			bool is_count, struct buffer *out)
{
	const struct metric_words *words = &metrics[p->metric];
	struct buffer profile = {0}, b = {0}, value = {0};

	proto_number(&b, TYPE_NAME, text_number(d, is_count ? words->count : words->value));
	proto_number(&b, TYPE_UNIT, text_number(d, is_count ? "count" : words->unit));
	profile_proto_message(PROFILE_TYPE, &b, &profile);
	for (size_t i = 0; i < p->aggregate.count; i++) {
		const struct aggregate_row *row = &p->aggregate.rows[i];

		proto_number(&b, SAMPLE_STACK, first + i);
		buffer_varint(&value, is_count ? row->count : row->total);
		profile_proto_message(SAMPLE_VALUES, &value, &b);
		profile_proto_message(PROFILE_SAMPLE, &b, &profile);
	}
	proto_fixed64(&profile, PROFILE_TIME, m->origin_ns);
	proto_number(&profile, PROFILE_DURATION, model_end_ns(m) - m->origin_ns);
	profile_proto_message(SCOPE_PROFILES_PROFILE, &profile, out);
	buffer_done(&profile);
	buffer_done(&b);
	buffer_done(&value);
}

static void add_attribute(const char *key, const char *text, struct buffer *resource)
{
	struct buffer b = {0}, value = {0};

	proto_text(&value, VALUE_STRING, text);
	proto_text(&b, ATTRIBUTE_KEY, key);
	profile_proto_message(ATTRIBUTE_VALUE, &value, &b);
	profile_proto_message(RESOURCE_ATTRIBUTE, &b, resource);
	buffer_done(&value);
	buffer_done(&b);
}

/* The first process's program, command and host; frames have each process's command. */
static void add_resource(const struct model *m, struct buffer *out)
{
	const struct process *p = m->process_count ? &m->processes[0] : NULL;
	const char *command = p && p->command ? p->command : "";
	char *program = mem_copy_text(command, strcspn(command, " "));
	const char *slash = strrchr(program, '/');
	struct buffer resource = {0};

	if (*program)
		add_attribute("service.name", slash ? slash + 1 : program, &resource);
	if (*command)
		add_attribute("process.command_line", command, &resource);
	if (p)
		add_attribute("host.name", m->machines[p->machine].host, &resource);
	profile_proto_message(RESOURCE_PROFILES_RESOURCE, &resource, out);
	buffer_done(&resource);
	free(program);
}

static void add_profiles(struct dictionary *d, const struct model *m, const struct profile *all, size_t count,
			 struct buffer *out)
{
	struct buffer scope = {0}, profiles = {0};
	size_t first_frame = 1, first_stack = 1;

	proto_text(&scope, SCOPE_NAME, "pillion");
	proto_text(&scope, SCOPE_VERSION, PILLION_VERSION);
	profile_proto_message(SCOPE_PROFILES_SCOPE, &scope, &profiles);
	for (size_t n = 0; n < count; n++) {
		const struct profile *p = &all[n];

		for (size_t i = 0; i < p->names.count; i++)
			add_location(d, p->names.items[i]);
		for (size_t i = 0; i < p->aggregate.count; i++)
			add_stack(d, p, i, first_frame);
		add_profile(d, m, p, first_stack, false, &profiles);
		add_profile(d, m, p, first_stack, true, &profiles);
		first_frame += p->names.count;
		first_stack += p->aggregate.count;
	}
	add_resource(m, out);
	profile_proto_message(RESOURCE_PROFILES_SCOPE, &profiles, out);
	buffer_done(&scope);
	buffer_done(&profiles);
}

int export_otlp(struct export *x, struct err *err)
{
	struct profile profiles[METRIC_COUNT];
	struct dictionary d = {0};
	struct buffer resource = {0}, data = {0};
	size_t count;
	int code = export_profiles(x, profiles, &count, err);

	if (!code) {
		dictionary_begin(&d);
		add_profiles(&d, x->context->model, profiles, count, &resource);
		profile_proto_message(DATA_RESOURCE_PROFILES, &resource, &data);
		profile_proto_message(DATA_DICTIONARY, &d.bytes, &data);
		sink_add(x->out, data.data, data.size);
	}
	buffer_done(&resource);
	buffer_done(&data);
	dictionary_done(&d);
	for (size_t i = 0; i < count; i++)
		profile_done(&profiles[i]);
	return code;
}
