/* SPDX-License-Identifier: Apache-2.0 */
/* The image's lines in the index of its host. */
#include "runtime/recorder/record/process_line.h"

#include <errno.h>

#include "runtime/recorder/record/process.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/index.h"
#include "runtime/shared/common/sys.h"

/* One line at a time, because the buffer is shared. A missing line is better than a delay of the target, so the wait
 * for the lock is bounded. The lock is in `process`, so it is free in a forked child. */
static bool process_line_begin(struct index_writer *line, const char *name)
{
	for (int i = 0; __atomic_exchange_n(&process.line_lock, 1, __ATOMIC_ACQUIRE); i++) {
		if (i > 1000)
			return false;
		sys_wait(i);
	}
	index_begin(line, process.line, sizeof(process.line), name);
	return true;
}

static int process_line_finish(struct index_writer *line)
{
	char name[INDEX_NAME_BYTES];
	int error = -EPERM;

	index_name(name, sizeof(name), process_inherited.identity.host, process_inherited.identity.boot);
	if (!process_is_frozen)
		error = index_append(line, process_inherited.directory, name);
	/* This page was allocated and mapped when the run began: it can be written where the capture cannot. */
	if (error && error != -EPERM && process_range)
		__atomic_fetch_add(&process_range->lost_lines, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&process.line_lock, 0, __ATOMIC_RELEASE);
	return error;
}

static void process_line_add_clocks(struct index_writer *line, const struct tf_clock_pair *pair)
{
	index_number(line, "realtime_ns", pair->realtime_ns);
	index_number(line, "ticks", pair->ticks);
	index_number(line, "clock", clock_kind);
}

int process_line_start(bool is_fork)
{
	const struct identity *id = &process_inherited.identity;
	struct index_writer line;
	struct tf_clock_pair now;
	int error;

	clock_pair(&now);
	if (!process_line_begin(&line, "process"))
		return -EBUSY;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_number(&line, "ppid", id->parent_pid);
	index_number(&line, "start", id->start);
	index_hex(&line, "run", process_inherited.run);
	index_text(&line, "via", is_fork ? "fork" : "start");
	index_hex(&line, "parent", process_inherited.parent_nonce);
	process_line_add_clocks(&line, &now);
	index_number(&line, "hz", clock_hz());
	index_text(&line, "host", id->host);
	index_text(&line, "boot", id->boot);
	index_text(&line, "exe", id->executable);
	index_field(&line, "args", id->arguments, id->arguments_size);
	index_field(&line, "vars", id->variables, id->variables_size);
	error = process_line_finish(&line);
	process.is_listed = true;
	process.is_unlisted = sys_is_no_room(error);
	return process.is_unlisted ? 0 : error;
}

static void process_line_text(const char *kind, const char *text)
{
	struct index_writer line;

	if (process_is_frozen || !process_line_begin(&line, kind))
		return;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_text(&line, "text", text);
	process_line_finish(&line);
}

void process_note(const char *text)
{
	process_line_text("note", text);
}

void process_fail(const char *why)
{
	if (__atomic_exchange_n(&process_gate.groups, 0, __ATOMIC_RELAXED))
		process_note(why);
}

void process_seen(const char *range)
{
	process_line_text("seen", range);
}

void process_bare(const char *executable, const char *reason)
{
	struct index_writer line;

	if (process_is_frozen || !process_inherited.is_configured || !process_line_begin(&line, "bare"))
		return;
	index_number(&line, "pid", process.pid);
	index_text(&line, "exe", executable);
	index_text(&line, "reason", reason);
	process_line_finish(&line);
}

static void process_line_add_counts(struct index_writer *line)
{
	const struct tf_thread *page = (const struct tf_thread *)process.main_page;

	char *bytes = process.line_counts, *names = process.line_names;
	struct text counts = text_init(bytes, sizeof(process.line_counts)),
		    functions = text_init(names, sizeof(process.line_names));

	for (uint32_t i = 0; i < page->counter_count; i++) {
		const struct tf_counter *c = &page->counters[i];

		if (!c->calls)
			continue;
		if (text_length(&counts)) {
			text_char(&counts, ',');
			text_char(&functions, ',');
		}
		text_number(&counts, i);
		text_char(&counts, ':');
		text_number(&counts, c->calls);
		text_char(&counts, ':');
		text_number(&counts, c->ticks);
		text_number(&functions, i);
		text_char(&functions, ':');
		text_add(&functions, function_text(process_functions, i));
	}
	index_text(line, "short", bytes);
	index_text(line, "functions", names);
}

static void process_line_add_usage(struct index_writer *line, const struct usage *u)
{
	const struct tf_thread *page = (const struct tf_thread *)process.main_page;
	const uint64_t values[] = {u->process.cpu_ns,	      u->thread.cpu_ns,	  u->thread.delay_ns,
				   page->chunk.cpu_before_us, u->process.peak_kb, u->process.voluntary,
				   u->process.involuntary,    u->process.delay_ns,
				   u->process.minor_faults,   u->process.major_faults,
				   u->process.block_ms == UINT32_MAX ? TF_USAGE_UNKNOWN : u->process.block_ms};
	char bytes[240];
	struct text t = text_init(bytes, sizeof(bytes));

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		if (i)
			text_char(&t, ':');
		if (values[i] != TF_USAGE_UNKNOWN)
			text_number(&t, values[i]);
	}
	index_text(line, "usage", bytes);
}

__attribute__((cold)) void process_line_end(const struct usage *usage)
{
	static const char *const kinds[] = {"none", "exit", "exec", "abort"};
	uint64_t lost = __atomic_load_n(&process.lost_apart, __ATOMIC_RELAXED);
	struct index_writer line;
	struct tf_clock_pair now;
	int error;

	clock_pair(&now);
	if (process_is_frozen || !process_line_begin(&line, "end"))
		return;
	index_hex(&line, "nonce", process.nonce);
	index_number(&line, "pid", process.pid);
	index_text(&line, "kind", kinds[process.end]);
	index_signed(&line, "status", process.end_status);
	process_line_add_clocks(&line, &now);
	index_number(&line, "recorded", 0);
	index_number(&line, "lost", lost);
	index_number(&line, "threads_lost", process.threads_lost);
	process_line_add_counts(&line);
	if (usage && usage->process.ticks)
		process_line_add_usage(&line, usage);
	error = process_line_finish(&line);
	/* Without its first line, the report does not know to which process the last one belongs. */
	if (error || process.is_unlisted || !process_range)
		return;
	__atomic_fetch_sub(&process_range->lost_events, lost - process.lost_listed, __ATOMIC_RELAXED);
	process.lost_listed = lost;
}

void process_line_child(int pid, int status)
{
	struct index_writer line;

	if (process_is_frozen || !process_line_begin(&line, "child"))
		return;
	index_number(&line, "pid", (uint64_t)pid);
	index_signed(&line, "status", status);
	process_line_finish(&line);
}
