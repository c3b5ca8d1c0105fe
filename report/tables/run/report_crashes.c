/* SPDX-License-Identifier: Apache-2.0 */
/* crashes: the processes that a signal ended whose cause was recorded at that moment. */
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "report/base/newer_libc.h"
#include "report/base/text.h"
#include "report/names/attribution.h"
#include "report/names/demangle.h"
#include "report/read/job/command.h"
#include "report/tables/report.h"

enum { REASON_WIDTH = 100 };

/* An end by a signal, an exit, and a fatal error of MPI, whose rank is killed soon. Of a crash the last record counts:
 * the first one was written before the stack was walked. Of an exit the first one that has its status: Python's is made
 * before its interpreter calls exit(). What ends with status 0 had no fatal error. */
enum end_kind { BY_SIGNAL, BY_EXIT, BY_ERROR };

static bool is_of_kind(const struct process *p, const struct tf_crash *what, enum end_kind kind)
{
	if (what->signal)
		return kind == BY_SIGNAL && !p->is_running;
	if (what->code == TF_CRASH_MPI_ERROR)
		return kind == BY_ERROR && (p->is_running || (p->has_status ? p->status : p->exit_status));
	return kind == BY_EXIT && !p->is_running && what->code == p->exit_status;
}

static bool find_end(const struct model *m, const struct process *p, enum end_kind kind, struct crash *ret)
{
	const struct image *image = &m->images[p->first_image + p->image_count - 1];
	const struct trace *t = image->trace;
	struct tf_crash what;

	*ret = (struct crash){0};
	blobs_each(b, t, TF_BLOB_CRASH) {
		if (trace_blob(t, b, &what, sizeof(what)) != sizeof(what) || !is_of_kind(p, &what, kind) ||
		    (kind == BY_EXIT && ret->image))
			continue;
		ret->what = what;
		ret->image = image;
	}
	for (size_t i = 0; ret->image && i < t->thread_count; i++)
		if (t->threads[i].tid == ret->what.tid)
			ret->thread = &t->threads[i];
	return ret->image;
}

bool crash_find(const struct model *m, const struct process *p, struct crash *ret)
{
	return find_end(m, p, BY_SIGNAL, ret) && (ret->image->end == TF_END_NONE || ret->image->end == TF_END_ABORT) &&
	       (!p->has_status || (WIFSIGNALED(p->status) && WTERMSIG(p->status) == ret->what.signal));
}

bool exit_find(const struct model *m, const struct process *p, struct crash *ret)
{
	return (find_end(m, p, BY_EXIT, ret) && ret->image->end == TF_END_EXIT) || find_end(m, p, BY_ERROR, ret);
}

/* What shells and the loader mean by a status; a program may mean something else. */
static const char *words_of_exit(const struct process *p)
{
	int status = p->has_status && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : p->exit_status;

	if (status == 127)
		return " (usually a command or library was not found)";
	return status == 126 ? " (usually a command cannot be executed)" : "";
}

void exit_print(const struct process *p, const struct code_line *line, struct buffer *out)
{
	buffer_print(out, "%s%s", p ? p->ended : "fatal error of MPI", p ? words_of_exit(p) : "");
	if (!line || !line->file)
		return;
	buffer_text(out, " at ");
	code_line_short(line, out);
}

/* An assertion without the program's name and the place, which is the line of the crash; the type of an exception as it
 * is in the source. */
static void crash_reason(const struct crash *crash, struct buffer *ret)
{
	static const char type[] = "_ZTI", of[] = "typeinfo for ";
	const struct blob *b = trace_definition(crash->image->trace, TF_BLOB_STRING, crash->what.reason);
	SCOPED(buffer) text = {0}, name = {0};
	SCOPED_MEMORY char *masked = NULL;
	const char *assertion, *what;

	if (!crash->what.reason || !b)
		return;
	trace_text(crash->image->trace, b, &text);
	masked = command_mask(buffer_string(&text));
	buffer_text(ret, ": ");
	assertion = strstr(masked, "Assertion `");
	if (!text_begins_with(masked, type)) {
		text_fit(ret, assertion ? assertion : masked, REASON_WIDTH);
		return;
	}
	what = strstr(masked, ": ");
	buffer_add(&name, masked, what ? (size_t)(what - masked) : strlen(masked));
	buffer_clear(&text);
	demangle(&text, buffer_string(&name));
	buffer_text(&text, what ? what : "");
	text_fit(ret, text.data + (text_begins_with(text.data, of) ? strlen(of) : 0), REASON_WIDTH);
}

void crash_signal(int signal, const struct crash *crash, struct buffer *ret)
{
	const char *name = signal_name(signal);

	buffer_print(ret, "signal %d (", signal);
	buffer_print(ret, name ? "SIG%s" : "signal %s", name ? name : "without a name");
	if (crash && crash->what.code > 0 && (signal == SIGSEGV || signal == SIGBUS))
		buffer_print(ret, ", address 0x%" PRIx64, crash->what.address);
	else if (crash && crash->what.code <= 0 && crash->what.sender != crash->image->pid)
		buffer_print(ret, ", sent by PID %" PRIu32, crash->what.sender);
	if (crash)
		crash_reason(crash, ret);
	buffer_text(ret, ")");
}

static void crash_row(const struct report_context *c, struct attribution *lines, const struct process *p,
		      const struct crash *crash, struct table *table)
{
	const struct model *m = c->model;
	SCOPED(buffer) text = {0}, stack = {0};

	table_cells(table, p->pid, m->machines[p->machine].host, p->rank, crash->what.tid,
		    crash->thread ? crash->thread->name : "");
	crash_signal(crash->what.signal, crash, &text);
	table_cells(table, text.data,
		    model_since_origin(m, clock_map_ns(&m->machines[p->machine].clock, crash->what.ticks)));
	code_line_cell(attribution_line(lines, crash->image, crash->what.stack), NULL, table);
	if (crash->what.stack)
		symbols_stack(c->symbols, crash->image, crash->what.stack, &stack);
	table_text(table, buffer_string(&stack));
}

void report_crashes(const struct report_context *c, struct table *table)
{
	SCOPED(attribution) lines = {.symbols = c->symbols};
	struct crash crash;

	table_has(table, COL_PID, COL_HOST, COL_RANK, COL_TID, COL_THREAD, COL_SIGNAL, COL_AT_NS, COL_LINE, COL_STACK);
	for (size_t i = 0; i < c->model->process_count; i++)
		if (crash_find(c->model, &c->model->processes[i], &crash))
			crash_row(c, &lines, &c->model->processes[i], &crash, table);
}
