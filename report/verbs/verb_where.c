/* SPDX-License-Identifier: Apache-2.0 */
/* where: what each thread of a live run does and waits for; of a run that has ended, what was recorded before. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/answers/summary/summary_deadlock.h"
#include "report/answers/where_text.h"
#include "report/base/text.h"
#include "report/causes/where/place.h"
#include "report/live/live_runs.h"
#include "report/live/top/top.h"
#include "report/names/attribution.h"
#include "report/verbs/output/where_request.h"
#include "report/verbs/verb.h"
#include "runtime/shared/outside/process_stat.h"

enum { FRAMES = 12, FOLDED = 8 };

struct where_view {
	struct work *work;
	struct where_place at;
	struct buffer *bodies; /* of each item: what is printed of it below its first line */
	bool *is_shown;	       /* of each item */
	uint32_t only;	       /* PID; 0: all */
};

/* The text of a name from the program. */
static void add_safe(struct buffer *b, const char *text)
{
	text_escape(b, text, "");
}

/* The frames from the innermost one of the program on, at most `most`, 0: all. */
static void write_stack(const struct where_stack *s, size_t most, struct buffer *ret)
{
	const struct where_frame *line = where_stack_line(s);
	size_t shown = 0, left = 0;

	array_each(const struct where_frame, f, s->frames, s->count) {
		if (f->is_hidden || (line && f < line))
			continue;
		if (most && shown == most) {
			left++;
			continue;
		}
		buffer_text(ret, shown++ ? "            " : "         at ");
		code_line_text(f->line, ret);
		buffer_text(ret, "\n");
	}
	if (left)
		buffer_print(ret, "            (%zu more; --top=0 shows all)\n", left);
	else if (s->count && !s->is_complete && !s->frames[s->count - 1].is_python)
		buffer_text(ret, "            (the rest of this stack is not known)\n");
}

static void write_bodies(struct where_view *p)
{
	size_t most = p->work->line->top == TOP_DEFAULT ? FRAMES : p->work->line->top;

	p->bodies = mem_alloc((p->at.count + 1) * sizeof(*p->bodies));
	p->is_shown = mem_alloc((p->at.count + 1) * sizeof(*p->is_shown));
	for (size_t i = 0; i < p->at.count; i++)
		write_stack(&p->at.items[i].stack, most, &p->bodies[i]);
}

/* ---- for people ---- */

static void print_line(const struct where_view *p, struct buffer *line)
{
	work_marked(p->work, buffer_string(line), "DEADLOCK", COLOUR_BAD);
	buffer_clear(line);
}

static void print_cycles(const struct where_view *p)
{
	SCOPED(buffer) line = {0};

	for (uint32_t cycle = 1;; cycle++) {
		size_t count = 0;

		list_each(const struct where_item, item, &p->at) {
			if (item->cycle != cycle)
				continue;
			if (!count++)
				buffer_print(&line, "DEADLOCK  in PID %u: ", item->process->head.pid);
			else
				buffer_text(&line, "          ");
			buffer_print(&line, "thread %u ", item->thread->head.tid);
			add_safe(&line, item->wait.text.data);
			where_text_line(item, &line);
			print_line(p, &line);
		}
		if (!count)
			break;
	}
}

/* Two threads that do the same. */
static bool is_alike(const struct where_view *p, size_t at, size_t other)
{
	const struct where_item *a = &p->at.items[at], *b = &p->at.items[other];

	return !p->is_shown[other] && !a->cycle && !b->cycle && a->since == b->since &&
	       !strcmp(a->name ? a->name : "", b->name ? b->name : "") && !strcmp(a->wait.call, b->wait.call) &&
	       !strcmp(a->wait.lock, b->wait.lock) &&
	       !strcmp(buffer_string(&p->bodies[at]), buffer_string(&p->bodies[other]));
}

/* Threads of a process that do the same are one entry. */
static bool is_same(const struct where_view *p, size_t at, size_t other)
{
	return p->at.items[at].process == p->at.items[other].process && p->bodies[at].size &&
	       p->at.items[at].wait.owner == p->at.items[other].wait.owner && is_alike(p, at, other);
}

/* Whether it is a thread of a library of MPI or PMIx, which waits for messages. */
static bool is_of_mpi(const struct where_item *item)
{
	const struct where_frame *line = where_stack_line(&item->stack);

	if (item->thread->head.tid == item->process->head.pid || item->cycle || item->wait.collective ||
	    (line && (line->is_python || line->line->file)))
		return false;
	return array_find(frame, item->stack.frames, item->stack.count, attribution_is_mpi(frame->path)) != NULL;
}

static size_t first_item(const struct where_view *p, const struct look_process *process)
{
	size_t i = 0;

	while (i < p->at.count && p->at.items[i].process != process)
		i++;
	return i;
}

/* The next thread of the process that the program has started. */
static size_t next_item(const struct where_view *p, const struct look_process *process, size_t i)
{
	while (i < p->at.count && (p->at.items[i].process != process || is_of_mpi(&p->at.items[i])))
		i++;
	return i;
}

/* Ranks of one host that do the same are one entry. */
static bool is_same_rank(const struct where_view *p, const struct look_process *a, const struct look_process *b)
{
	size_t i = first_item(p, a), k = first_item(p, b);
	const struct image *left = i < p->at.count ? p->at.items[i].image : NULL;
	const struct image *right = k < p->at.count ? p->at.items[k].image : NULL;

	if (a == b || !left || !right || left->machine != right->machine || !*p->at.items[i].rank ||
	    !*p->at.items[k].rank || strcmp(a->executable, b->executable) || a->head.error || b->head.error)
		return false;
	i = next_item(p, a, i);
	k = next_item(p, b, k);
	while (i < p->at.count && k < p->at.count && is_alike(p, i, k)) {
		i = next_item(p, a, i + 1);
		k = next_item(p, b, k + 1);
	}
	return i == p->at.count && k == p->at.count;
}

/* ", and ranks 1 and 2, which do the same", whose threads count as shown. */
static void fold_ranks(const struct where_view *p, const struct look_process *process, struct buffer *line)
{
	size_t same = 0;

	for (size_t i = 0; i < p->at.count; i++) {
		const struct look_process *other = p->at.items[i].process;

		if (first_item(p, other) != i || p->is_shown[i] || !is_same_rank(p, process, other))
			continue;
		if (same < FOLDED)
			buffer_print(line, "%s %s", same ? "," : "; the same in rank", p->at.items[i].rank);
		same++;
		for (size_t k = i; k < p->at.count; k++)
			p->is_shown[k] |= p->at.items[k].process == other;
	}
	if (same > FOLDED)
		buffer_print(line, " and %zu more", same - FOLDED);
}

static void print_threads_of_mpi(const struct where_view *p, const struct look_process *process)
{
	SCOPED(buffer) line = {0};
	size_t count = 0;

	for (size_t i = 0; i < p->at.count; i++)
		if (p->at.items[i].process == process && !p->is_shown[i] && is_of_mpi(&p->at.items[i])) {
			p->is_shown[i] = true;
			if (count++ < FOLDED)
				buffer_print(&line, " %u", p->at.items[i].thread->head.tid);
		}
	if (count)
		fprintf(p->work->emit.file, "  %zu thread%s of the MPI library wait%s for messages:%s%s\n", count,
			count == 1 ? "" : "s", count == 1 ? "s" : "", line.data, count > FOLDED ? " ..." : "");
}

static void print_thread(const struct where_view *p, size_t at)
{
	const struct where_item *item = &p->at.items[at];
	SCOPED(buffer) line = {0}, others = {0};
	size_t same = 0;

	for (size_t i = at + 1; i < p->at.count; i++) {
		if (!is_same(p, at, i))
			continue;
		p->is_shown[i] = true;
		if (same++ < FOLDED)
			buffer_print(&others, " %u", p->at.items[i].thread->head.tid);
	}
	buffer_print(&line, "  %u ", item->thread->head.tid);
	add_safe(&line, item->thread->name);
	buffer_text(&line, "  ");
	where_text_state(item, &line);
	print_line(p, &line);
	fputs(buffer_string(&p->bodies[at]), p->work->emit.file);
	if (same) {
		buffer_print(&line, "         and %zu threads that do the same:%s%s", same, others.data,
			     same > FOLDED ? " ..." : "");
		print_line(p, &line);
	}
}

/* Why the launcher could not read the threads of a process. */
static void write_error(int error, struct buffer *ret)
{
	buffer_print(ret, ": cannot be read by its launcher: %s", strerror(-error));
	if (error == -EPERM || error == -EACCES)
		buffer_text(ret, " (it has changed its user, protects its memory, or is no descendant of the launcher "
				 "any more while kernel.yama.ptrace_scope is not 0)");
	else if (error == -ENOENT || error == -ENOSYS)
		buffer_text(ret, " (this kernel has no /proc/PID/syscall)");
}

static void print_process(const struct where_view *p, const struct look_process *process)
{
	size_t first = first_item(p, process);
	const char *rank = first < p->at.count ? p->at.items[first].rank : "";
	SCOPED(buffer) line = {0};

	if (first < p->at.count && p->is_shown[first])
		return; /* with a rank that does the same */
	buffer_print(&line, "PID %u  ", process->head.pid);
	add_safe(&line, *process->executable ? process->executable : "(unknown program)");
	if (*rank)
		buffer_print(&line, ", rank %s", rank);
	buffer_print(&line, ", %zu thread%s", process->thread_count, process->thread_count == 1 ? "" : "s");
	if (process->head.error)
		write_error(process->head.error, &line);
	else if (*rank)
		fold_ranks(p, process, &line);
	print_line(p, &line);
	if (process->python_note) {
		buffer_print(&line, "  ");
		add_safe(&line, process->python_note);
		print_line(p, &line);
	}
	for (size_t i = 0; i < p->at.count; i++)
		if (p->at.items[i].process == process && !p->is_shown[i] && !is_of_mpi(&p->at.items[i]))
			print_thread(p, i);
	print_threads_of_mpi(p, process);
}

static void print_ranks(const struct where_view *p)
{
	SCOPED(buffer) text = {0};
	enum where_stall stall;

	if (summary_stall(&p->work->model, &p->at, STALLED_NS, &stall, &text))
		work_marked(p->work, text.data, where_text_word(stall), COLOUR_BAD);
}

/* Launchers of ranks that looked in the same second are one line. */
static void print_heads(const struct where_view *p)
{
	for (size_t i = 0, count = 0; i < p->at.look_count; i++) {
		const struct look *l = &p->at.looks[i], *next = i + 1 < p->at.look_count ? l + 1 : NULL;
		time_t seconds = (time_t)(l->begin.realtime_ns / 1000000000u);
		SCOPED(buffer) line = {0};
		struct tm tm;
		char when[32];

		count += l->count;
		if (next && next->begin.realtime_ns / 1000000000u == (uint64_t)seconds &&
		    next->begin.signal == l->begin.signal)
			continue;
		localtime_r(&seconds, &tm);
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		buffer_print(&line, "%zu process%s at %s", count, count == 1 ? "" : "es", when);
		count = 0;
		if (l->begin.signal)
			buffer_print(&line, ", when its launcher received signal %u (%s)", l->begin.signal,
				     strsignal((int)l->begin.signal));
		print_line(p, &line);
	}
}

static void print_all(struct where_view *p)
{
	const struct model *m = &p->work->model;
	bool has = false;

	for (size_t i = 0; i < p->at.look_count; i++)
		for (size_t k = 0; k < p->at.looks[i].count; k++)
			has |= p->at.looks[i].processes[k].head.pid == p->only;
	if (p->only && !has && !array_find(run, m->runs, m->run_count, run->pid == p->only))
		say("PID %u is not recorded, or has ended: these are the processes of its run", p->only);
	if (!has)
		p->only = 0;
	print_heads(p);
	print_cycles(p);
	print_ranks(p);
	for (size_t i = 0; i < p->at.look_count; i++)
		for (size_t k = 0; k < p->at.looks[i].count; k++)
			if (!p->only || p->at.looks[i].processes[k].head.pid == p->only)
				print_process(p, &p->at.looks[i].processes[k]);
}

/* ---- for programs ---- */

static void fill_table(const struct where_view *p, struct table *t)
{
	table_has(t, COL_PID, COL_TID, COL_THREAD, COL_RANK, COL_CALL, COL_SYSTEM_CALL, COL_AGE_NS, COL_WAITS_FOR,
		  COL_OWNER, COL_DEADLOCK, COL_STACK);
	list_each(const struct where_item, item, &p->at) {
		SCOPED(buffer) stack = {0};
		size_t shown = 0;

		for (size_t k = 0; k < item->stack.count; k++)
			if (!item->stack.frames[k].is_hidden) {
				buffer_text(&stack, shown++ ? " <- " : "");
				code_line_text(item->stack.frames[k].line, &stack);
			}
		table_cells(t, item->process->head.pid, item->thread->head.tid, item->thread->name, item->rank,
			    item->name ? item->name : "", item->wait.call, cell_if(item->has_age, item->age_ns),
			    buffer_string(&item->wait.text), cell_if(item->wait.owner, item->wait.owner),
			    cell_if(item->cycle, item->cycle), buffer_string(&stack));
	}
}

static void write_table(const struct where_view *p)
{
	SCOPED(table) t = {0};

	fill_table(p, &t);
	emit_begin(&p->work->emit);
	work_table(p->work, "where", "Where Threads Are", &t);
	emit_end(&p->work->emit);
}

/* ---- the verb ---- */

/* There is no look: the calls in progress are all that is known. */
static int show_calls_in_progress(struct work *w, bool has_ended)
{
	const struct report *r = report_find("calls_in_progress");
	SCOPED(table) t = {0};

	r->run(&w->context, &t);
	say(!has_ended	   ? "only calls in progress are known"
	    : t.cell_count ? "the run has ended, and nobody asked before: only calls in progress at its end are known"
			   : "the run has ended, and no call was in progress at its end");
	emit_begin(&w->emit);
	work_table(w, r->name, r->title, &t);
	emit_end(&w->emit);
	return EXIT_INCOMPLETE;
}

static void show_looks(struct where_view *p)
{
	if (format_is_human(p->work->emit.format))
		print_all(p);
	else
		write_table(p);
	if (!p->work->line->quiet)
		say_all(where_files_problems(p->at.files));
}

static int show(const struct command_line *l, const struct where_answers *answers, uint32_t only)
{
	static struct work w;
	static struct where_view p;
	int status = work_begin(&w, l), worst = say_all(&answers->missing);

	if (status)
		return status;
	p.work = &w;
	p.only = only;
	where_place_read(&p.at, &w.model, w.context.symbols, answers->request);
	if (!p.at.look_count && answers->request) {
		say("no launcher answered");
		where_place_done(&p.at);
		where_place_read(&p.at, &w.model, w.context.symbols, 0);
		if (p.at.look_count)
			say("this is the last look into the run, of an earlier time");
	} else if (p.at.look_count && p.at.is_recorded && !answers->asked) {
		say("the run has ended, and nobody asked before: this is what its processes recorded");
		worst = EXIT_INCOMPLETE;
	} else if (p.at.look_count && !answers->asked && !l->quiet) {
		say(p.at.count ? "the run has ended; this is the last look into it"
			       : "the run has ended; no process was left at the last look into it");
	}
	write_bodies(&p);
	if (!p.at.look_count)
		worst = show_calls_in_progress(&w, !answers->asked);
	else
		show_looks(&p);
	status = work_end(&w);
	return status > worst ? status : worst;
}

/* A process that pillion did not start: this program looks into it itself. */
static int show_foreign(const struct command_line *l, uint32_t pid)
{
	struct top_process process = {.pid = pid, .is_here = true};
	SCOPED(texts) errors = {0};
	struct process_stat stat;
	static struct work w;
	static struct where_view p;
	int status = work_begin_output(&w, l), worst;
	uint64_t request;

	if (status)
		return status;
	p.work = &w;
	p.only = pid;
	process.start = process_stat_read(pid, &stat) ? stat.start : 0;
	request = top_look(&w.model, &process, 1, 0, &errors);
	where_place_read(&p.at, &w.model, NULL, request);
	worst = errors.count ? EXIT_UNUSABLE : EXIT_DONE;
	say_all(&errors);
	if (!errors.count && !p.at.count) {
		say("PID %u: it has ended", pid);
		worst = EXIT_UNUSABLE;
	}
	write_bodies(&p);
	if (!worst)
		show_looks(&p);
	status = work_end(&w);
	return status > worst ? status : worst;
}

/* Only what is proved, from the looks and the traces that there are. The launcher starts this, while the program writes
 * to the same terminal: each line says whose it is. */
static int show_hung(const struct command_line *l)
{
	SCOPED(buffer) text = {0};
	static struct where_place place;
	static struct work w;
	int status = work_begin(&w, l);
	enum where_stall stall;
	size_t found;

	if (status)
		return status;
	where_place_read_briefly(&place, &w.model, w.context.symbols);
	found = summary_deadlock(&w.model, &place, &text);
	found += summary_stall(&w.model, &place, (uint64_t)(l->hung_s * 1e9), &stall, &text);
	for (const char *line = buffer_string(&text), *end; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		fprintf(w.emit.file, "pillion: %.*s\n", (int)(end - line), line);
	}
	status = work_end(&w);
	return found ? EXIT_FOUND : status;
}

static bool is_number(const char *word)
{
	return *word && word[strspn(word, "0123456789")] == 0;
}

/* The capture that is read, and `pid` if only that process of it is. */
static int capture_find(const char *operand, struct buffer *capture, uint32_t *pid, struct err *err)
{
	unsigned long number;

	if (!model_find(operand, false, capture, err))
		return 0;
	if (!is_number(operand))
		return -ENOENT;
	number = strtoul(operand, NULL, 10);
	*pid = number > INT32_MAX ? INT32_MAX : (uint32_t)number; /* no process has such a PID */
	buffer_clear(capture);
	return where_capture_of(*pid, capture, err);
}

static int run_where(const struct command_line *l)
{
	struct command_line line = *l;
	static struct where_answers answers;
	static struct live_runs runs;
	SCOPED(buffer) capture = {0};
	struct err err;
	uint32_t pid = 0;
	int code = 0, status = EXIT_UNUSABLE;

	if (l->capture_count > 1) {
		say("give one CAPTURE or PID");
		return EXIT_UNUSABLE;
	}
	if (!l->capture_count)
		code = live_find_one(NULL, &runs, &err);
	if (!code)
		code = capture_find(l->capture_count ? l->captures[0] : runs.items[0].capture, &capture, &pid, &err);
	if (code == -ENODATA && pid && l->hung_s <= 0)
		return show_foreign(l, pid);
	if (!code) {
		char *captures[] = {capture.data};

		line.captures = captures;
		line.capture_count = 1;
		code = pack_is_one(capture.data) || l->hung_s > 0 ? 0 : where_request(capture.data, &answers, &err);
		if (!code)
			status = l->hung_s > 0 ? show_hung(&line) : show(&line, &answers, pid);
	}
	if (code)
		say("%s", err.text);
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret,
		 "\nEach thread of a live run is shown with its stack, the call that it is in, and\n"
		 "what it waits for: a lock and its holder, a descriptor with its path or peer, a\n"
		 "child, a collective. Threads that wait for each other are named a deadlock. No\n"
		 "thread is stopped: the launcher reads from outside, and adds what it has read to\n"
		 "the capture: `pillion where CAPTURE` shows it again when the run has ended.\n"
		 "Without an operand, the only live run of this user is looked at.\n"
		 "A process that pillion did not start is read by this command itself, if it is one\n"
		 "of this user and kernel.yama.ptrace_scope permits it.\n");
}

const struct verb verb_where = {
	"where", "[OPTION]... [CAPTURE|PID]", "what each thread of a live run does and waits for: locates a hang",
	VERB_WHERE, run_where, more_help,
};
