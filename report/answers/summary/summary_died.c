/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_died.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/text.h"
#include "report/causes/where/look.h"
#include "report/names/attribution.h"
#include "report/read/job/run_command.h"
#include "report/read/job/process_tree.h"
#include "report/tables/report.h"

enum { NAME_WIDTH = 40 };

static int signal_of(const struct model *m, const struct process *p)
{
	struct crash crash;

	if (p->is_running)
		return 0;
	if (p->has_status)
		return WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;
	if (crash_find(m, p, &crash))
		return crash.what.signal;
	return process_last_image(m, p)->end == TF_END_ABORT ? SIGABRT : 0;
}

static bool is_crash(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGABRT ||
	       signal == SIGSYS || signal == SIGTRAP;
}

static const struct run_record *run_of(const struct model *m, const struct process *p)
{
	return model_run(m, &m->images[p->first_image]);
}

/* Without a launcher, only an exit's status is known. */
static bool has_failed(const struct model *m, const struct process *p)
{
	return p->has_status ? p->status : !run_of(m, p) && p->exit_status > 0;
}

/* Together with the launcher, or without one: nobody has seen the end. */
static bool was_killed(const struct model *m, const struct process *p)
{
	const struct image *last = process_last_image(m, p);

	return !p->is_running && !p->has_status && !last->is_missing &&
	       (last->end == TF_END_NONE || last->end == TF_END_ABORT);
}

/* Without a launcher: killed, where another one ended by itself. Together they were ended by somebody. Only on its own
 * machine is it known not to run any more. */
static bool was_killed_alone(const struct model *m, const struct process *p)
{
	if (run_of(m, p) || !process_is_command(m, p) || !was_killed(m, p) || !m->machines[p->machine].is_this)
		return false;
	return array_find(other, m->processes, m->process_count,
			  process_is_command(m, other) && !other->is_running && !was_killed(m, other)) != NULL;
}

/* When the launcher of the process was first told to end it; UINT64_MAX: it was not. CLOCK_REALTIME. */
static uint64_t told_ns(const struct model *m, const struct process *p)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < m->where_count; i++) {
		uint64_t ticks = m->wheres[i].run == p->run ? look_first_signal(&m->wheres[i]) : 0;

		if (ticks)
			first = smaller_of(first, clock_map_ns(&m->machines[p->machine].clock, ticks));
	}
	return first;
}

/* LATE_NS: how much later than a process its launcher may be told to end: a batch system signals one after the other.
 * SLOW_NS: what sees an end later is a launcher that has no CPU. */
enum { LATE_NS = 200000000, SLOW_NS = 50000000 };

/* When the process itself may have been told. A launcher that is late reads the signal as late as it sees the end, or
 * has not seen it yet. `is_late_only`: else it was told when its launcher was. */
static uint64_t told_early_ns(const struct model *m, const struct process *p, bool is_late_only)
{
	uint64_t told = told_ns(m, p), seen = p->waited_ns ?: told;
	uint64_t slow = process_is_command(m, p) && seen > p->end_ns ? seen - p->end_ns : 0;

	if (told == UINT64_MAX || (is_late_only && slow < SLOW_NS))
		return told;
	return told < slow + LATE_NS ? 0 : told - slow - LATE_NS;
}

/* The call that a thread of the process is in; NULL: none, or it is not known. */
static const struct function *call_of(const struct model *m, const struct process *p, const struct trace_thread *thread)
{
	const struct trace *t = process_last_image(m, p)->trace;
	uint32_t id;
	uint64_t start;

	return t && thread_current(thread, &id, &start) ? trace_function(t, id) : NULL;
}

static bool has_aborted_ranks(const struct model *m, const struct process *p)
{
	const struct trace *t = process_last_image(m, p)->trace;

	for (size_t i = 0; t && i < t->thread_count; i++) {
		const struct function *call = call_of(m, p, &t->threads[i]);

		if (call && call->group == TF_GROUP_MPI && call->kind.parallel & PARALLEL_ABORTS)
			return true;
	}
	return false;
}

/* By SIGTERM and the like. */
static bool is_request(int signal)
{
	return signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* An error of MPI has ended it, and had mpirun end the others before: not because it lost one that was told to end.
 * MPICH's waits to be killed. In another thread, Open MPI exits because mpirun is gone. */
static bool has_exited_in_mpi(const struct model *m, const struct process *p)
{
	struct crash exits;
	bool has = exit_find(m, p, &exits);
	const struct function *call = has && exits.thread ? call_of(m, p, exits.thread) : NULL;
	uint64_t at_ns;

	if (!has || (exits.what.code != TF_CRASH_MPI_ERROR && !(call && call->group == TF_GROUP_MPI)))
		return false;
	at_ns = clock_map_ns(&m->machines[p->machine].clock, exits.what.ticks);
	return !array_find(other, m->processes, m->process_count,
			   *other->rank && is_request(signal_of(m, other)) && other->end_ns < at_ns);
}

/* A rank that mpirun or torchrun has started under one launcher. What a rank starts has its number, too, and may fail
 * without harm. */
static bool is_started_rank(const struct model *m, const struct process *p)
{
	const struct process *parent = process_parent(m, p);

	return *p->rank && !(parent && *parent->rank);
}

/* A process that runs the program of its parent: a fork of it, or another Python. */
static bool is_worker(const struct model *m, const struct process *p)
{
	const struct process *parent = process_parent(m, p);
	const struct image *image = process_last_image(m, p);
	const char *its = parent ? process_last_image(m, parent)->executable : NULL;

	return its && image->executable && !strcmp(its, image->executable) &&
	       (image->via == TF_VIA_FORK || attribution_is_python_program(image));
}

/* Whether it ended by the exception. A rank may wait for the others when its main thread has ended. The end of another
 * thread need not be that of the process. */
static bool has_raised(const struct process *p, const struct exception *e, bool has_ranks)
{
	if (!e->image)
		return false;
	if (e->tid != p->pid)
		return !p->is_running && p->exit_status > 0;
	return p->is_running ? has_ranks : !p->has_status || p->status;
}

/* It was raised because another process is gone. In the words of the operating system, gloo and NCCL. */
static bool lost_a_peer(const struct died *d)
{
	return d->exception.image &&
	       text_any(text_has, d->exception.text, "by peer", "Broken pipe", "remote process exited");
}

/* Or a worker of its worker, as those of a server of forks are. */
static bool works_for(const struct model *m, const struct process *p, const struct process *master)
{
	bool is_own = false;

	while (p && p != master && is_worker(m, p)) {
		p = process_parent(m, p);
		is_own = true;
	}
	return is_own && p == master;
}

/* By SIGKILL or a crash, before somebody ended the job. A Python that was exec'ed may be another program. */
static bool was_killed_early(const struct model *m, const struct process *p, int signal)
{
	const struct image *image = process_last_image(m, p);

	return (signal == SIGKILL || is_crash(signal)) && p->end_ns <= told_ns(m, p) &&
	       (image->via == TF_VIA_FORK || attribution_is_worker(image));
}

/* Until when it is known to have lived: the end of one that was killed may be seen much later. */
static uint64_t lived_ns(const struct model *m, const struct process *p)
{
	const struct image *last = process_last_image(m, p);

	return last->end_ticks || last->end_realtime_ns
		       ? p->end_ns
		       : clock_map_ns(&m->machines[p->machine].clock, image_last_ticks(last));
}

static bool was_awaited(const struct process *p, const struct exception *e)
{
	return e && p->waited_ns && p->waited_ns < e->at_ns;
}

const struct process *summary_lost_worker(const struct model *m, const struct process *master,
					  const struct exception *e)
{
	const struct process *first = NULL;

	array_each(const struct process, p, m->processes, m->process_count) {
		int signal = signal_of(m, p);
		bool is_lost = e ? (exception_is_of_loss(e) || exception_names(e, p->pid)) && lived_ns(m, p) <= e->at_ns
				 : was_killed_early(m, p, signal);

		if (!is_lost || !p->has_status || !p->status || is_request(signal) || !works_for(m, p, master))
			continue;
		/* The program may have handled the end of a worker that it has awaited. */
		if (!first || was_awaited(p, e) < was_awaited(first, e) ||
		    (was_awaited(p, e) == was_awaited(first, e) && p->end_ns < first->end_ns))
			first = p;
	}
	return first;
}

static bool was_raised_after_signal(const struct model *m, const struct died *d)
{
	return d->exception.image && d->exception.at_ns > told_ns(m, d->process);
}

/* Of the whole run: a rank whose peers were told to end may lose them before it is told itself. */
static uint64_t first_told_ns(const struct model *m)
{
	uint64_t first = UINT64_MAX;

	array_each(const struct process, p, m->processes, m->process_count)
		first = smaller_of(first, told_early_ns(m, p, true));
	return first;
}

/* What a signal to end the job makes mpirun or torchrun raise, or a rank whose peers have ended by it. */
static bool is_answer_to_signal(const struct model *m, const struct died *d, bool has_ranks, uint64_t first_told)
{
	bool is_rank = *d->process->rank;

	if (lost_a_peer(d))
		return d->exception.at_ns > first_told;
	return was_raised_after_signal(m, d) && has_ranks && !is_rank;
}

static bool is_death(const struct model *m, const struct process *p)
{
	/* It may have exited by a handler of its own. */
	bool may_answer = is_request(signal_of(m, p)) || !signal_of(m, p);

	if (is_crash(signal_of(m, p)) || has_aborted_ranks(m, p) || has_exited_in_mpi(m, p) ||
	    was_killed_alone(m, p))
		return true;
	return has_failed(m, p) && p->end_ns <= (may_answer ? told_early_ns(m, p, false) : told_ns(m, p)) &&
	       (process_is_command(m, p) || is_started_rank(m, p));
}

bool summary_was_ended(const struct model *m, const struct died *d, bool is_proved)
{
	const struct trace *t = d->process ? process_last_image(m, d->process)->trace : NULL;
	bool is_in_call;

	if (!t || is_crash(d->signal) || has_aborted_ranks(m, d->process) || has_exited_in_mpi(m, d->process))
		return false;
	if (d->exception.image)
		return was_raised_after_signal(m, d);
	is_in_call = array_find(thread, t->threads, t->thread_count,
				thread->tid == d->process->pid && call_of(m, d->process, thread));
	return is_request(d->signal) || (d->signal == SIGKILL && is_proved) || (!d->signal && is_in_call);
}

/* When it ended, or when what it ended by was raised or sent: its parent may see the end much later. */
static uint64_t death_ns(const struct model *m, const struct died *d)
{
	struct crash crash;

	if (d->exception.image)
		return d->exception.at_ns;
	return exit_find(m, d->process, &crash) || crash_find(m, d->process, &crash)
		       ? clock_map_ns(&m->machines[d->process->machine].clock, crash.what.ticks)
		       : d->process->end_ns;
}

/* A rank that called MPI_Abort may be seen to end after those that it ended, one that was killed after those that have
 * lost it. */
static bool comes_before(const struct model *m, const struct died *a, const struct died *b)
{
	bool a_aborted, b_aborted, a_is_rank, b_is_rank;

	if (!b->process)
		return true;
	a_aborted = has_aborted_ranks(m, a->process);
	b_aborted = has_aborted_ranks(m, b->process);
	if (a_aborted != b_aborted)
		return a_aborted;
	/* mpirun, which fails because a rank has, is no rank. */
	a_is_rank = *a->process->rank;
	b_is_rank = *b->process->rank;
	if (a_is_rank != b_is_rank)
		return a_is_rank;
	if (lost_a_peer(a) != lost_a_peer(b))
		return lost_a_peer(b);
	return death_ns(m, a) < death_ns(m, b);
}

/* Whether the run has failed, or a rank of it that cannot go on. */
static bool is_failure(const struct model *m, const struct died *d)
{
	const struct process *p = d->process;

	return (process_is_command(m, p) &&
		(has_failed(m, p) || has_aborted_ranks(m, p) || has_exited_in_mpi(m, p) || was_killed(m, p))) ||
	       (p->is_running && d->exception.image);
}

void summary_died_find(const struct model *m, struct died *ret)
{
	bool has_failure = false, has_ranks = run_has_several_ranks(m);
	uint64_t told = first_told_ns(m);
	struct died first = {0};

	*ret = (struct died){.has_ranks = has_ranks};
	for (size_t i = 0; i < m->run_count; i++)
		if (m->runs[i].oom_kills)
			ret->oom = &m->runs[i];
	for (size_t i = 0; i < m->process_count; i++) {
		struct died one = {.process = &m->processes[i]};

		exception_find(m, one.process, &one.exception);
		if (!has_raised(one.process, &one.exception, has_ranks) ||
		    is_answer_to_signal(m, &one, has_ranks, told))
			exception_done(&one.exception);
		has_failure |= is_failure(m, &one);
		if ((one.exception.image || is_death(m, one.process)) && comes_before(m, &one, &first)) {
			exception_done(&first.exception);
			first = one;
		} else {
			exception_done(&one.exception);
		}
	}
	if (!has_failure || !first.process) {
		exception_done(&first.exception);
		return;
	}
	ret->process = first.process;
	ret->exception = first.exception;
	ret->signal = first.exception.image ? 0 : signal_of(m, ret->process);
	if (!ret->signal && !ret->process->is_running)
		ret->lost = summary_lost_worker(m, ret->process, ret->exception.image ? &ret->exception : NULL);
	ret->is_of_ranks = has_ranks || ret->lost || is_worker(m, ret->process);
}

void summary_died_done(struct died *d)
{
	exception_done(&d->exception);
}

/* ---- its line ---- */

/* What a thread recorded last. */
struct last {
	const struct trace_thread *thread;
	uint64_t ticks;
	uint32_t stack; /* of the last event that has one, 0: none */
};

static void last_of_thread(const struct trace *t, const struct trace_thread *thread, struct last *ret)
{
	struct cursor c;
	struct event e;

	*ret = (struct last){.thread = thread, .ticks = thread->last_ticks};
	cursor_init(&c, t, thread);
	cursor_skip_to(&c, thread->last_ticks);
	while (cursor_next(&c, &e))
		if ((e.kind == TF_CALL || e.kind == TF_SAMPLE) && event_stack(&e))
			ret->stack = event_stack(&e);
}

/* The thread that recorded last: its call, and its last line. */
static void add_last(struct rules *r, const struct process *p, struct buffer *out)
{
	const struct model *m = r->context->model;
	const struct image *image = process_last_image(m, p);
	struct last last = {0};
	const struct function *call;
	SCOPED(buffer) line = {0};

	for (size_t i = 0; image->trace && i < image->trace->thread_count; i++) {
		struct last its;

		last_of_thread(image->trace, &image->trace->threads[i], &its);
		if (!last.thread || its.ticks > last.ticks || (!last.stack && its.stack))
			last = its;
	}
	if (!last.thread)
		return;
	call = call_of(m, p, last.thread);
	if (last.stack)
		code_line_short(rule_line(r, image, last.stack), &line);
	if (!call && !*buffer_string(&line))
		return;
	if (call)
		buffer_print(out, ", in %s", call->name);
	buffer_print(out, "; last recorded: thread %" PRIu32, last.thread->tid);
	if (*buffer_string(&line))
		buffer_print(out, ", %s", line.data);
}

/* Where the launcher saw it call MPI_Abort. False: it did not. */
static bool add_seen(const struct model *m, const struct process *p, const struct where_place *place,
		     struct buffer *out)
{
	for (size_t i = 0; i < place->count && has_aborted_ranks(m, p); i++) {
		struct where_item *item = &place->items[i];
		const struct where_frame *frame;

		if (!item->image || &m->processes[item->image->process] != p)
			continue;
		where_place_stack(place, item);
		frame = where_item_line(item);
		if (!frame || !frame->line->file)
			continue;
		buffer_text(out, ", in MPI_Abort at ");
		code_line_short(frame->line, out);
		return true;
	}
	return false;
}

/* Where it crashed, as the recorder saw it at that moment. */
static void add_crash(struct rules *r, const struct process *p, const struct crash *crash, struct buffer *out)
{
	buffer_text(out, crash->what.tid == p->pid ? "main thread" : "thread ");
	if (crash->what.tid != p->pid && crash->thread && *crash->thread->name)
		text_fit(out, crash->thread->name, NAME_WIDTH);
	else if (crash->what.tid != p->pid)
		buffer_print(out, "%" PRIu32, crash->what.tid);
	if (crash->what.stack) {
		buffer_text(out, ": at ");
		code_line_short(rule_line(r, crash->image, crash->what.stack), out);
	}
}

static void add_end(const struct died *d, const struct crash *crash, const struct code_line *exits, bool is_error,
		    struct buffer *out)
{
	const struct process *p = d->process;

	if (d->exception.image)
		exception_print(&d->exception, out);
	else if (is_error)
		exit_print(NULL, exits, out);
	else if (d->signal)
		crash_signal(d->signal, crash, out);
	else if (p->is_running)
		buffer_text(out, "calls MPI_Abort");
	else
		exit_print(p, exits, out);
}

static void add_rank(const struct model *m, const struct process *p, struct buffer *out)
{
	buffer_text(out, "rank ");
	text_fit(out, p->rank, NAME_WIDTH);
	buffer_text(out, " on ");
	text_fit(out, m->machines[p->machine].host, NAME_WIDTH);
}

/* "signal 9 (SIGKILL) of worker 4711; last recorded: thread 4711, job.py:3 work; then " */
static void add_lost(struct rules *r, const struct died *d, struct buffer *out)
{
	const struct process *p = d->lost;
	int signal = signal_of(r->context->model, p);

	if (signal)
		crash_signal(signal, NULL, out);
	else
		buffer_text(out, p->ended);
	buffer_print(out, " of worker %" PRIu32, p->pid);
	add_last(r, p, out);
	buffer_text(out, "; then ");
}

/* What SIGKILL ended is what the kernel killed, unless somebody sent that signal at the same time. */
void summary_oom(const struct model *m, const struct died *d, struct buffer *out)
{
	const struct run_record *r = d->oom;

	if (!r)
		return;
	buffer_print(out, "OUT OF MEMORY: the kernel killed %" PRIu64 " process%s", r->oom_kills,
		     r->oom_kills == 1 ? "" : "es");
	array_each(const struct process, p, m->processes, m->process_count) {
		if (p->run != r->id || signal_of(m, p) != SIGKILL)
			continue;
		buffer_print(out, " (process %" PRIu32 " ", p->pid);
		text_fit(out, p->command, NAME_WIDTH);
		buffer_text(out, ")");
		break;
	}
	buffer_text(out, ": the limit of cgroup ");
	text_fit(out, r->oom_group, NAME_WIDTH);
	if (r->oom_limit == UINT64_MAX)
		buffer_text(out, " is not known\n");
	else
		buffer_print(out, " is %.1f MB\n", (double)r->oom_limit / 1e6);
}

bool summary_has_died(const struct died *d)
{
	return d->process && (d->is_of_ranks || d->exception.image || is_crash(d->signal));
}

void summary_died(struct rules *r, const struct died *d, const struct where_place *place, struct buffer *out)
{
	const struct model *m = r->context->model;
	const struct process *p = d->process;
	const struct code_line *exits;
	struct crash found, *crash;
	bool has_rank = p && *p->rank, has_exit;

	if (!summary_has_died(d))
		return;
	crash = !d->exception.image && crash_find(m, p, &found) ? &found : NULL;
	has_exit = !crash && !has_aborted_ranks(m, p) && exit_find(m, p, &found);
	exits = has_exit ? rule_line(r, found.image, found.what.stack) : NULL;
	buffer_print(out, "%-*s ", SUMMARY_LABEL, d->is_of_ranks ? "DIED FIRST" : "CRASH");
	if (d->is_of_ranks && has_rank) {
		add_rank(m, p, out);
		buffer_text(out, ": ");
	}
	if (d->lost)
		add_lost(r, d, out);
	add_end(d, crash, exits, has_exit && found.what.code == TF_CRASH_MPI_ERROR, out);
	if (!d->is_of_ranks && has_rank) {
		buffer_text(out, " in ");
		add_rank(m, p, out);
	}
	if (crash) {
		buffer_text(out, !d->is_of_ranks && has_rank ? ", " : " in ");
		add_crash(r, p, crash, out);
	}
	buffer_print(out, "; process %" PRIu32 " ", p->pid);
	text_fit(out, p->command, NAME_WIDTH);
	buffer_text(out, ", after ");
	rule_time(out, model_since_origin(m, death_ns(m, d)));
	if (!crash && !(exits && exits->file) && !d->exception.image && !add_seen(m, p, place, out) &&
	    r->detail != DETAIL_DEATH)
		add_last(r, p, out);
	buffer_text(out, "\n");
}
