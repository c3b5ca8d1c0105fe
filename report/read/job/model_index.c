/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a HOST.BOOT.index file into the model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/read/index.h"
#include "report/read/job/command.h"
#include "report/read/job/model.h"

/* The machine of lines without host= and boot=. */
struct index_machine {
	char *host, *boot;
	uint32_t clock;
	/* 1 + the wait status that the launcher recorded for its COMMAND; the next clock line has its time */
	size_t open_child;
};

static char *field_copy(const struct index_line *l, const char *key)
{
	const char *text = index_text(l, key);

	return mem_copy_text(text, strlen(text));
}

static uint32_t clock_number(const char *text)
{
	static const char *const names[] = {
		[TF_CLOCK_MONOTONIC] = "monotonic", [TF_CLOCK_TSC] = "tsc", [TF_CLOCK_CNTVCT] = "cntvct"};

	for (uint32_t i = 1; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(text, names[i]))
			return i;
	return (uint32_t)strtoul(text, NULL, 10);
}

static size_t place_machine(struct model *m, const struct index_machine *place)
{
	return model_machine(m, place->host, place->boot, place->clock);
}

/* The machine that a line names, else that of the file. */
static size_t line_machine(struct model *m, struct index_machine *place, const struct index_line *l)
{
	const struct index_field *host = index_find(l, "host"), *boot = index_find(l, "boot"),
				 *clock = index_find(l, "clock");

	if (host && boot) {
		free(place->host);
		free(place->boot);
		place->host = mem_copy_text(host->value, host->length);
		place->boot = mem_copy_text(boot->value, boot->length);
	}
	if (clock)
		place->clock = clock_number(clock->value);
	return place_machine(m, place);
}

static char *join_field(const struct index_field *f)
{
	return f ? command_join(f->value, f->value + f->length) : mem_copy_text("", 0);
}

static void process_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	size_t machine = line_machine(m, place, l);
	struct machine *where = &m->machines[machine];
	struct image *image = model_image(m, index_hex(l, "nonce"));
	const struct index_field *variables = index_find(l, "vars");
	struct tf_clock_pair rough = {.ticks = index_number(l, "ticks"), .realtime_ns = index_number(l, "realtime_ns")};

	rough.monotonic_ns = rough.realtime_ns;
	mem_append(where->rough, where->rough_count, where->rough_capacity, rough);
	where->clock.hz = where->clock.hz ?: index_number(l, "hz");
	/* Complete here, but truncated in the header of a trace. */
	mem_replace_text(&image->executable, field_copy(l, "exe"));
	mem_replace_text(&image->command, join_field(index_find(l, "args")));
	mem_replace_text(&image->variables,
			 variables ? mem_copy_text(variables->value, variables->length + 1) : mem_copy_text("\0", 1));
	if (image->trace)
		return;
	image->machine = machine;
	image->pid = (uint32_t)index_number(l, "pid");
	image->parent_pid = (uint32_t)index_number(l, "ppid");
	image->process_start = index_number(l, "start");
	image->run = index_hex(l, "run");
	image->parent_nonce = index_hex(l, "parent");
	image->via = !strcmp(index_text(l, "via"), "fork") ? TF_VIA_FORK : TF_VIA_START;
	image->start_ticks = rough.ticks;
}

/* The name of an id in a list ID:NAME,ID:NAME; the caller frees it. */
static char *name_of(const char *list, unsigned long id)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char *end;

		if (strtoul(list, &end, 10) == id && *end == ':' && end < list + length)
			return mem_copy_text(end + 1, (size_t)(list + length - end - 1));
		list += length + (list[length] == ',');
	}
	return mem_copy_text("?", 1);
}

static void short_list(struct image *image, const char *list, const char *names)
{
	size_t capacity = 0;

	if (image->short_count)
		return;
	while (*list) {
		size_t length = strcspn(list, ",");
		unsigned long long calls, ticks;
		unsigned long id;

		if (sscanf(list, "%lu:%llu:%llu", &id, &calls, &ticks) == 3) {
			mem_append(image->shorts, image->short_count, capacity,
				   (struct short_calls){name_of(names, id), calls, ticks});
		}
		list += length + (list[length] == ',');
	}
}

static uint64_t ticks_of(const struct index_line *l)
{
	return index_number(l, "ticks");
}

/* The values in the order of trace_format.h. */
static struct image_usage usage_of_field(const char *text)
{
	struct image_usage u = {.is_known = *text};
	uint64_t *const fields[] = {&u.cpu_ns,  &u.thread_cpu_ns, &u.delay_ns,	  &u.before_us,
				    &u.peak_kb, &u.voluntary,	  &u.involuntary, &u.children_ns,
				    &u.minor_faults, &u.major_faults, &u.block_ms};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		*fields[i] = *text && *text != ':' ? strtoull(text, NULL, 10) : TF_USAGE_UNKNOWN;
		text += strcspn(text, ":");
		text += *text == ':';
	}
	u.is_known &= u.cpu_ns != TF_USAGE_UNKNOWN && u.thread_cpu_ns != TF_USAGE_UNKNOWN &&
		      u.before_us != TF_USAGE_UNKNOWN;
	return u;
}

static void end_line(struct model *m, const struct index_line *l)
{
	static const char *const kinds[] = {[TF_END_EXIT] = "exit", [TF_END_EXEC] = "exec", [TF_END_ABORT] = "abort"};
	const uint64_t *place = map_find(&m->by_nonce, index_hex(l, "nonce"), 0);
	struct image *image = place ? &m->images[*place] : NULL;
	const char *kind = index_text(l, "kind");

	if (!image || image->trace)
		return;
	for (uint32_t i = TF_END_EXIT; i <= TF_END_ABORT; i++)
		if (!strcmp(kind, kinds[i]))
			image->end = i;
	image->end_status = (int32_t)index_number(l, "status");
	image->end_ticks = ticks_of(l);
	image->end_realtime_ns = index_number(l, "realtime_ns");
	image->recorded = index_number(l, "recorded");
	image->lost = index_number(l, "lost");
	image->threads_lost = index_number(l, "threads_lost");
	image->usage = usage_of_field(index_text(l, "usage"));
	short_list(image, index_text(l, "short"), index_text(l, "functions"));
}

static void child_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	const uint64_t *run = index_number(l, "launcher") ? map_find(&m->run_by_id, index_hex(l, "run"), 0) : NULL;

	if (run && *run)
		m->runs[*run - 1].has_ended = true;
	place->open_child = index_number(l, "launcher") ? m->wait_status_count + 1 : 0;
	mem_append(m->wait_statuses, m->wait_status_count, m->wait_status_capacity, (struct wait_status){
		.machine = place_machine(m, place),
		.run = index_number(l, "launcher") ? index_hex(l, "run") : 0,
		.pid = (uint32_t)index_number(l, "pid"),
		.parent_pid = (uint32_t)index_number(l, "ppid"),
		.status = (int32_t)index_number(l, "status"),
		.ticks = ticks_of(l),
		.realtime_ns = index_number(l, "realtime_ns"),
		.cpu_ns = index_number(l, "cpu_ns"),
	});
}

/* Without a reason: the program of an earlier line was not started in the end. */
static bool bare_withdraw(struct model *m, const struct bare_program *of)
{
	for (size_t i = m->bare_count; !*of->reason && i-- > 0;) {
		struct bare_program *b = &m->bare[i];

		if (b->machine != of->machine || b->pid != of->pid || strcmp(b->executable, of->executable) != 0)
			continue;
		free(b->executable);
		free(b->reason);
		memmove(b, b + 1, (--m->bare_count - i) * sizeof(*b));
		return true;
	}
	return false;
}

static void bare_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	struct bare_program of = {.machine = place_machine(m, place),
				  .pid = (uint32_t)index_number(l, "pid"),
				  .executable = field_copy(l, "exe"),
				  .reason = field_copy(l, "reason")};

	if (!bare_withdraw(m, &of)) {
		mem_append(m->bare, m->bare_count, m->bare_capacity, of);
		return;
	}
	free(of.executable);
	free(of.reason);
}

static void run_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	*map_put(&m->run_by_id, index_hex(l, "run"), 0, NULL) = m->run_count + 1;
	mem_append(m->runs, m->run_count, m->run_capacity, (struct run_record){
					 .machine = line_machine(m, place, l),
					 .id = index_hex(l, "run"),
					 .realtime_ns = index_number(l, "realtime_ns"),
					 .pid = (uint32_t)index_number(l, "pid"),
					 .command = join_field(index_find(l, "command")),
					 .options = join_field(index_find(l, "options")),
					 .version = field_copy(l, "version"),
					 .key = field_copy(l, "key"),
					 .spool = field_copy(l, "spool"),
					 .scheduler = field_copy(l, "scheduler"),
					 .job = field_copy(l, "job"),
					 .task = field_copy(l, "task"),
					 .restart = field_copy(l, "restart"),
					 .step = field_copy(l, "step"),
					 .node = field_copy(l, "node"),
				 });
}

static void clock_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	size_t number = line_machine(m, place, l); /* may move the machines */
	struct machine *machine = &m->machines[number];
	struct tf_clock_pair pair = {
		.ticks = index_number(l, "ticks"),
		.monotonic_ns = index_number(l, "monotonic_ns"),
		.realtime_ns = index_number(l, "realtime_ns"),
		.error_ticks = index_number(l, "error_ticks"),
	};
	uint64_t hz = index_number(l, "hz");

	clock_map_add(&machine->clock, &pair);
	if (hz)
		machine->clock.hz = hz;
	if (place->open_child && !m->wait_statuses[place->open_child - 1].ticks)
		m->wait_statuses[place->open_child - 1].ticks = pair.ticks;
	place->open_child = 0;
}

static void seen_line(struct model *m, const struct index_line *l)
{
	enum { SEEN = 8 };
	const char *text = index_text(l, "text");

	for (size_t i = 0; i < m->seen.count; i++)
		if (!strcmp(m->seen.items[i], text))
			return;
	if (m->seen.count < SEEN)
		texts_add(&m->seen, "%s", text);
}

static void note_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	const char *rest;

	mem_append(m->notes, m->note_count, m->note_capacity, (struct note){
					  .machine = place_machine(m, place),
					  .pid = (uint32_t)index_number(l, "pid"),
					  .code = note_decode(index_text(l, "text"), &rest),
					  .text = field_copy(l, "text"),
				  });
}

static void oom_line(struct model *m, const struct index_line *l)
{
	const uint64_t *place = map_find(&m->run_by_id, index_hex(l, "run"), 0);
	struct run_record *r = place && *place ? &m->runs[*place - 1] : NULL;

	if (!r)
		return;
	/* the last line has all kills */
	free(r->oom_group);
	r->oom_kills = index_number(l, "kills");
	r->oom_limit = index_number(l, "limit");
	r->oom_group = field_copy(l, "cgroup");
}

static void cost_line(struct model *m, const struct index_line *l)
{
	const uint64_t *place = map_find(&m->run_by_id, index_hex(l, "run"), 0);
	struct run_record *r = place && *place ? &m->runs[*place - 1] : NULL;

	if (!r)
		return;
	if (index_find(l, "launcher_ns"))
		r->cost.launcher_ns = index_number(l, "launcher_ns");
	if (!index_find(l, "short_ps"))
		return;
	r->cost.is_known = true;
	r->cost.short_ps = index_number(l, "short_ps");
	r->cost.short_error_ps = index_number(l, "short_error_ps");
	r->cost.recorded_ps = index_number(l, "recorded_ps");
	r->cost.recorded_error_ps = index_number(l, "recorded_error_ps");
	r->cost.path_ps = index_number(l, "path_ps");
	r->cost.empty_ps = index_number(l, "empty_ps");
	r->cost.page_ps = index_number(l, "page_ps");
}

/* False if the line is not valid. Unknown words are from a later minor version, or from damage. */
static bool apply_line(struct model *m, struct index_machine *place, const struct index_line *l)
{
	if (!strcmp(l->name, "process"))
		process_line(m, place, l);
	else if (!strcmp(l->name, "end"))
		end_line(m, l);
	else if (!strcmp(l->name, "child"))
		child_line(m, place, l);
	else if (!strcmp(l->name, "bare"))
		bare_line(m, place, l);
	else if (!strcmp(l->name, "launch"))
		run_line(m, place, l);
	else if (!strcmp(l->name, "clock"))
		clock_line(m, place, l);
	else if (!strcmp(l->name, "seen"))
		seen_line(m, l);
	else if (!strcmp(l->name, "note"))
		note_line(m, place, l);
	else if (!strcmp(l->name, "oom"))
		oom_line(m, l);
	else if (!strcmp(l->name, "cost"))
		cost_line(m, l);
	else
		return l->count > 0;
	return true;
}

/* HOST.BOOT.index; the name of a host may contain dots. */
static void place_from_name(struct index_machine *place, const char *name)
{
	size_t length = strlen(name) - strlen(".index");
	const char *dot = memrchr(name, '.', length);

	place->host = mem_copy_text(name, dot ? (size_t)(dot - name) : length);
	place->boot = dot ? mem_copy_text(dot + 1, length - (size_t)(dot - name) - 1) : mem_copy_text("", 0);
}

/* The file's name has a truncated boot id; lines with the complete one may come after those that need it. */
static void place_from_lines(struct model *m, struct index_machine *place, const char *at, const char *end)
{
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);
		SCOPED(index_line) line = {0};
		bool found = length > 8 && (!memcmp(at, "process\t", 8) || !memcmp(at, "launch\t", 7));

		if (found) {
			index_parse(at, length, &line);
			line_machine(m, place, &line);
			return;
		}
		at += length + 1;
	}
}

void model_index(struct model *m, const char *path, const char *name, const struct mapping *file)
{
	struct index_machine place = {.clock = TF_CLOCK_MONOTONIC};
	/* an empty file has no bytes */
	const char *at = file->size ? (const char *)file->data : "", *end = at + file->size;
	size_t foreign = 0;

	place_from_name(&place, name);
	place_from_lines(m, &place, at, end);
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		SCOPED(index_line) line = {0};

		if (!newline) { /* its writer was killed in write(2), or the disk was full */
			texts_add(&m->problems, "%s: the last line is truncated", path);
			break;
		}
		index_parse(at, (size_t)(newline - at), &line);
		foreign += !apply_line(m, &place, &line);
		at = newline + 1;
	}
	if (foreign)
		texts_add(&m->problems, "%s: damaged, %zu lines cannot be read", path, foreign);
	free(place.host);
	free(place.boot);
}
