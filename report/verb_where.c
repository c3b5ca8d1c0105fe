/* SPDX-License-Identifier: Apache-2.0 */
/* where: what each thread of a live run does and waits for; of a run that has ended, what was recorded before. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/analyze/rule.h"
#include "report/base/text.h"
#include "report/derive/where/wait.h"
#include "report/verb.h"
#include "report/where_request.h"

enum { FRAMES = 12, FOLDED = 8 };

/* One thread, with what is known of it. */
struct item {
	const struct look *look;
	const struct look_process *process;
	const struct look_thread *thread;
	const char *rank;
	const char *name;   /* of the recorded call in progress, NULL: none; borrowed */
	bool has_age;
	uint64_t age_ns; /* of that call */
	struct where_stack stack;
	struct where_wait wait;
	uint32_t cycle; /* from 1; 0: none */
	struct buffer body; /* what is printed of it below its first line */
	bool is_shown;
};

struct place {
	struct work *work;
	struct look *looks;
	size_t look_count;
	struct item *items;
	size_t count, capacity;
	struct where_files *files;
	uint32_t only; /* PID; 0: all */
	struct texts problems;
};

/* ---- what is known of a thread ---- */

/* Of an image that has only a bound of its start time, the PID may have been another process's before. */
static bool is_image_of(const struct image *i, const struct look *l, const struct look_process *p)
{
	return i->run == l->run && i->pid == p->head.pid && i->start_ticks <= l->begin.ticks &&
	       (i->start_is_bound ? i->process_start >= p->head.start : i->process_start == p->head.start);
}

/* The last image of the process that the look has found. */
static const struct image *image_of(const struct model *m, const struct look *l, const struct look_process *p)
{
	const struct image *last = NULL;

	for (size_t i = 0; i < m->image_count; i++)
		if (is_image_of(&m->images[i], l, p))
			last = &m->images[i];
	return last;
}

static void find_call(const struct model *m, const struct image *image, struct item *item)
{
	uint64_t start;
	uint32_t id;

	for (size_t i = 0; image && image->trace && i < image->trace->thread_count; i++) {
		const struct trace_thread *t = &image->trace->threads[i];
		const struct function *f;

		if (t->tid != item->thread->head.tid || !thread_current(t, &id, &start))
			continue;
		f = trace_function(image->trace, id);
		item->name = f ? f->name : NULL;
		item->has_age = item->look->begin.ticks > start;
		if (item->has_age)
			item->age_ns = clock_map_duration(&m->machines[image->machine].clock,
							  item->look->begin.ticks - start);
	}
}

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

	for (size_t i = 0; i < s->count; i++) {
		const struct where_frame *f = &s->frames[i];

		if (f->is_hidden || (line && f < line))
			continue;
		if (most && shown == most) {
			left++;
			continue;
		}
		buffer_text(ret, shown++ ? "            " : "         at ");
		add_safe(ret, f->text);
		buffer_text(ret, "\n");
	}
	if (left)
		buffer_print(ret, "            (%zu more; --top=0 shows all)\n", left);
	else if (s->count && !s->is_complete && !s->frames[s->count - 1].is_python)
		buffer_text(ret, "            (the rest of this stack is not known)\n");
}

static void write_body(const struct work *w, struct item *item)
{
	bool is_default = w->line->top == TOP_DEFAULT;

	write_stack(&item->stack, is_default ? FRAMES : w->line->top, &item->body);
}

static void add_item(struct place *p, const struct look *l, const struct look_process *process,
		     const struct look_thread *thread)
{
	const struct model *m = &p->work->model;
	const struct image *image = image_of(m, l, process);
	struct item *item;

	p->items = mem_grow(p->items, p->count, &p->capacity, sizeof(*p->items));
	item = &p->items[p->count++];
	*item = (struct item){.look = l, .process = process, .thread = thread, .rank = image ? image_rank(image) : ""};
	find_call(m, image, item);
	where_stack_read(p->files, l, process, thread, &item->stack);
	where_wait_find(l, process, thread, &item->stack, item->name, &item->wait);
	write_body(p->work, item);
}

static size_t find_item(const struct place *p, const struct look_process *process, uint32_t tid)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && p->items[i].thread->head.tid == tid)
			return i;
	return SIZE_MAX;
}

static void find_cycles(struct place *p)
{
	size_t *owners = mem_alloc((p->count + 1) * sizeof(*owners));
	uint32_t *cycles = mem_alloc((p->count + 1) * sizeof(*cycles));

	for (size_t i = 0; i < p->count; i++)
		owners[i] = p->items[i].wait.owner
				    ? find_item(p, p->items[i].process, p->items[i].wait.owner)
				    : SIZE_MAX;
	where_cycles(owners, p->count, cycles);
	for (size_t i = 0; i < p->count; i++)
		p->items[i].cycle = cycles[i];
	free(owners);
	free(cycles);
}

/* ---- for people ---- */

static void print_line(const struct place *p, struct buffer *line)
{
	work_marked(p->work, buffer_string(line), "DEADLOCK", COLOUR_BAD);
	buffer_clear(line);
}

/* "futex for 12.3 s: waits for ...". The recorded call is what the program has called. */
static void write_state(const struct item *item, struct buffer *ret)
{
	const char *call = item->name ? item->name : item->wait.call;

	add_safe(ret, call);
	if (item->has_age) {
		buffer_text(ret, " for ");
		rule_time(ret, item->age_ns);
	}
	if (item->wait.text.size) {
		buffer_text(ret, *call ? ": " : "");
		add_safe(ret, item->wait.text.data);
	}
	if (!*call && !item->wait.text.size)
		buffer_text(ret, "blocked in the kernel");
}

static void write_place(const struct item *item, struct buffer *ret)
{
	const struct where_frame *line = where_stack_line(&item->stack);

	if (!line)
		return;
	buffer_text(ret, " at ");
	add_safe(ret, line->text);
}

static void print_cycles(const struct place *p)
{
	struct buffer line = {0};

	for (uint32_t cycle = 1;; cycle++) {
		size_t count = 0;

		for (size_t i = 0; i < p->count; i++) {
			const struct item *item = &p->items[i];

			if (item->cycle != cycle)
				continue;
			if (!count++)
				buffer_print(&line, "DEADLOCK  in PID %u: ", item->process->head.pid);
			else
				buffer_text(&line, "          ");
			buffer_print(&line, "thread %u ", item->thread->head.tid);
			add_safe(&line, item->wait.text.data);
			write_place(item, &line);
			print_line(p, &line);
		}
		if (!count)
			break;
	}
	buffer_done(&line);
}

/* Threads of a process that do the same are one entry. */
static bool is_same(const struct item *a, const struct item *b)
{
	return a->process == b->process && !b->is_shown && !a->cycle && !b->cycle &&
	       !strcmp(a->name ? a->name : "", b->name ? b->name : "") && !strcmp(a->wait.call, b->wait.call) &&
	       !strcmp(a->wait.lock, b->wait.lock) && a->wait.owner == b->wait.owner && a->body.size &&
	       !strcmp(a->body.data, buffer_string(&b->body));
}

static void print_thread(const struct place *p, size_t at)
{
	struct item *item = &p->items[at];
	struct buffer line = {0}, others = {0};
	size_t same = 0;

	for (size_t i = at + 1; i < p->count; i++) {
		if (!is_same(item, &p->items[i]))
			continue;
		p->items[i].is_shown = true;
		if (same++ < FOLDED)
			buffer_print(&others, " %u", p->items[i].thread->head.tid);
	}
	buffer_print(&line, "  %u ", item->thread->head.tid);
	add_safe(&line, item->thread->name);
	buffer_text(&line, "  ");
	write_state(item, &line);
	print_line(p, &line);
	fputs(buffer_string(&item->body), p->work->emit.file);
	if (same) {
		buffer_print(&line, "         and %zu threads that do the same:%s%s", same, others.data,
			     same > FOLDED ? " ..." : "");
		print_line(p, &line);
	}
	buffer_done(&line);
	buffer_done(&others);
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

static void print_process(const struct place *p, const struct look_process *process)
{
	struct buffer line = {0};
	const char *rank = "";

	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process)
			rank = p->items[i].rank;
	buffer_print(&line, "PID %u  ", process->head.pid);
	add_safe(&line, *process->executable ? process->executable : "(unknown program)");
	if (*rank)
		buffer_print(&line, ", rank %s", rank);
	buffer_print(&line, ", %zu thread%s", process->thread_count, process->thread_count == 1 ? "" : "s");
	if (process->head.error)
		write_error(process->head.error, &line);
	print_line(p, &line);
	if (process->python_note) {
		buffer_print(&line, "  ");
		add_safe(&line, process->python_note);
		print_line(p, &line);
	}
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && !p->items[i].is_shown)
			print_thread(p, i);
	buffer_done(&line);
}

/* The main thread stands for a rank that is in no collective. */
static const struct item *main_item(const struct place *p, const struct look_process *process)
{
	size_t at = find_item(p, process, process->head.pid);

	return at == SIZE_MAX ? NULL : &p->items[at];
}

static const char *collective_of(const struct place *p, const struct look_process *process)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].process == process && p->items[i].wait.collective)
			return p->items[i].wait.collective;
	return NULL;
}

/* Whether the process is a rank. A rank's number in the environment is not sufficient: a shell that starts the rank
 * has the same environment. */
static bool is_rank(const struct place *p, const struct look_process *process)
{
	const struct item *item = main_item(p, process);

	return item && *item->rank;
}

/* Where some ranks are in a collective and others are not, the others are what they wait for. */
static void print_ranks(const struct place *p)
{
	struct buffer line = {0};
	const char *name = NULL;
	size_t in = 0, ranks = 0;

	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++) {
			const struct look_process *process = &p->looks[i].processes[k];
			const char *collective = collective_of(p, process);

			ranks += is_rank(p, process) || collective;
			in += collective != NULL;
			name = collective ? collective : name;
		}
	for (size_t i = 0; in && in < ranks && i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++) {
			const struct look_process *process = &p->looks[i].processes[k];
			const struct item *item = main_item(p, process);

			if (collective_of(p, process) || !is_rank(p, process))
				continue;
			if (!item->stack.is_complete) { /* it may be in the collective as well */
				buffer_print(&line,
					     "COLLECTIVE  %zu of %zu ranks are in %s; the stack of rank %s, PID %u, is "
					     "not known: ask again",
					     in, ranks, name, item->rank, process->head.pid);
				print_line(p, &line);
				continue;
			}
			buffer_print(&line, "COLLECTIVE  %zu of %zu ranks are in %s; rank %s, PID %u, is not: ", in,
				     ranks, name, item->rank, process->head.pid);
			write_state(item, &line);
			write_place(item, &line);
			print_line(p, &line);
		}
	buffer_done(&line);
}

static void print_heads(const struct place *p)
{
	for (size_t i = 0; i < p->look_count; i++) {
		const struct look *l = &p->looks[i];
		time_t seconds = (time_t)(l->begin.realtime_ns / 1000000000u);
		struct buffer line = {0};
		struct tm tm;
		char when[32];

		localtime_r(&seconds, &tm);
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		buffer_print(&line, "%zu process%s at %s", l->count, l->count == 1 ? "" : "es", when);
		if (l->begin.signal)
			buffer_print(&line, ", when its launcher received signal %u (%s)", l->begin.signal,
				     strsignal((int)l->begin.signal));
		print_line(p, &line);
		buffer_done(&line);
	}
}

static void print_all(struct place *p)
{
	const struct model *m = &p->work->model;
	bool has = false, is_launcher = false;

	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++)
			has |= p->looks[i].processes[k].head.pid == p->only;
	for (size_t i = 0; i < m->run_count; i++)
		is_launcher |= m->runs[i].pid == p->only;
	if (p->only && !has && !is_launcher)
		say("PID %u is not recorded, or has ended: these are the processes of its run", p->only);
	if (!has)
		p->only = 0;
	print_heads(p);
	print_cycles(p);
	print_ranks(p);
	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++)
			if (!p->only || p->looks[i].processes[k].head.pid == p->only)
				print_process(p, &p->looks[i].processes[k]);
}

/* ---- for programs ---- */

static void fill_number(struct table *t, bool is_known, uint64_t value)
{
	if (is_known)
		table_number(t, value);
	else
		table_nothing(t);
}

static void fill_table(const struct place *p, struct table *t)
{
	table_has(t, COL_PID, COL_TID, COL_THREAD, COL_RANK, COL_CALL, COL_SYSTEM_CALL, COL_AGE_NS, COL_WAITS_FOR,
		  COL_OWNER, COL_DEADLOCK, COL_STACK);
	for (size_t i = 0; i < p->count; i++) {
		const struct item *item = &p->items[i];
		struct buffer stack = {0};
		size_t shown = 0;

		for (size_t k = 0; k < item->stack.count; k++)
			if (!item->stack.frames[k].is_hidden)
				buffer_print(&stack, "%s%s", shown++ ? " <- " : "", item->stack.frames[k].text);
		table_number(t, item->process->head.pid);
		table_number(t, item->thread->head.tid);
		table_text(t, item->thread->name);
		table_text(t, item->rank);
		table_text(t, item->name ? item->name : "");
		table_text(t, item->wait.call);
		fill_number(t, item->has_age, item->age_ns);
		table_text(t, buffer_string(&item->wait.text));
		fill_number(t, item->wait.owner, item->wait.owner);
		fill_number(t, item->cycle, item->cycle);
		table_text(t, buffer_string(&stack));
		buffer_done(&stack);
	}
}

static void write_table(const struct place *p)
{
	struct table t = {0};

	fill_table(p, &t);
	emit_begin(&p->work->emit);
	work_table(p->work, "where", "Where Threads Are", &t);
	emit_end(&p->work->emit);
	table_done(&t);
}

/* ---- the verb ---- */

static void place_read(struct place *p, uint64_t request)
{
	const struct model *m = &p->work->model;

	free(p->looks);
	p->looks = mem_alloc((m->where_count + 1) * sizeof(*p->looks));
	for (size_t i = 0; i < m->where_count; i++) {
		if (look_read(&m->wheres[i], request, &p->looks[p->look_count]))
			p->look_count++;
		else
			look_done(&p->looks[p->look_count]);
	}
	for (size_t i = 0; i < p->look_count; i++)
		for (size_t k = 0; k < p->looks[i].count; k++)
			for (size_t n = 0; n < p->looks[i].processes[k].thread_count; n++)
				add_item(p, &p->looks[i], &p->looks[i].processes[k],
					 &p->looks[i].processes[k].threads[n]);
	find_cycles(p);
}

static void place_done(struct place *p)
{
	for (size_t i = 0; i < p->count; i++) {
		where_stack_done(&p->items[i].stack);
		where_wait_done(&p->items[i].wait);
		buffer_done(&p->items[i].body);
	}
	for (size_t i = 0; i < p->look_count; i++)
		look_done(&p->looks[i]);
	free(p->items);
	free(p->looks);
	where_files_free(p->files);
}

/* There is no look: the calls in progress are all that is known. */
static int show_calls_in_progress(struct work *w, bool has_ended)
{
	const struct report *r = report_find("calls_in_progress");
	struct table t = {0};
	struct err err;

	if (r->run(&w->context, &t, &err))
		say("%s", err.text);
	say(!has_ended	   ? "only calls in progress are known"
	    : t.cell_count ? "the run has ended, and nobody asked before: only calls in progress at its end are known"
			   : "the run has ended, and no call was in progress at its end");
	emit_begin(&w->emit);
	work_table(w, r->name, r->title, &t);
	emit_end(&w->emit);
	table_done(&t);
	return EXIT_INCOMPLETE;
}

static int show(const struct command_line *l, const struct where_answers *answers, uint32_t only)
{
	struct work w;
	struct place p = {.work = &w, .only = only};
	int status = work_begin(&w, l), worst = say_all(&answers->missing);

	if (status)
		return status;
	p.files = where_files_new();
	place_read(&p, answers->request);
	if (!p.look_count && answers->request) {
		say("no launcher answered");
		place_read(&p, 0);
		if (p.look_count)
			say("this is the last look into the run, of an earlier time");
	} else if (p.look_count && !answers->asked && !l->quiet) {
		say("the run has ended; this is the last look into it");
	}
	if (!p.look_count)
		worst = show_calls_in_progress(&w, !answers->asked);
	if (p.look_count && format_is_human(w.emit.format))
		print_all(&p);
	else if (p.look_count)
		write_table(&p);
	if (!l->quiet)
		say_all(where_files_problems(p.files));
	place_done(&p);
	status = work_end(&w);
	return status > worst ? status : worst;
}

static bool is_number(const char *word)
{
	return *word && word[strspn(word, "0123456789")] == 0;
}

static int run_where(const struct command_line *l)
{
	struct command_line line = *l;
	struct where_answers answers = {0};
	struct buffer capture = {0};
	struct err err;
	uint32_t pid = 0;
	int code = 0, status = EXIT_UNUSABLE;

	if (l->capture_count != 1) {
		say("give one CAPTURE, or the PID of a process that runs under pillion");
		return EXIT_UNUSABLE;
	}
	if (model_find(l->captures[0], false, &capture, &err)) {
		if (is_number(l->captures[0])) {
			unsigned long number = strtoul(l->captures[0], NULL, 10);

			pid = number > INT32_MAX ? INT32_MAX : (uint32_t)number; /* no process has such a PID */
			buffer_clear(&capture);
			code = where_capture_of(pid, &capture, &err);
		} else {
			code = -ENOENT;
		}
	}
	if (!code) {
		char *captures[] = {capture.data};

		line.captures = captures;
		code = pack_is_one(capture.data) ? 0 : where_request(capture.data, &answers, &err);
		if (!code)
			status = show(&line, &answers, pid);
	}
	if (code)
		say("%s", err.text);
	texts_done(&answers.missing);
	buffer_done(&capture);
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret,
		 "\nEach thread of a live run is shown with its stack, the call that it is in, and\n"
		 "what it waits for: a lock and its holder, a descriptor with its path or peer, a\n"
		 "child, a collective. Threads that wait for each other are named a deadlock. No\n"
		 "thread is stopped: the launcher reads from outside, and adds what it has read to\n"
		 "the capture: `pillion where CAPTURE` shows it again when the run has ended.\n");
}

const struct verb verb_where = {
	"where", "[OPTION]... CAPTURE|PID", "what each thread of a live run does and waits for: locates a hang",
	VERB_WHERE, run_where, more_help,
};
