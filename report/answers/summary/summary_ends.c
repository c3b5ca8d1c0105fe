/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/newer_libc.h"
#include "report/read/job/process_tree.h"

enum { LINES = 2, NAME = 32 };

/* Processes of one program that ended in the same way. */
struct ends {
	char program[NAME];
	struct buffer how;
	const struct process *first;
	size_t count;
};

/* ---- who sent the signal ---- */

/* Signals that a process sent to others: calls of kill and its like. `any`: of these, calls that were only counted, so
 * that it is not known which signal they sent. */
struct sent {
	uint64_t before_ns;
	int last; /* of those before that time; 0: none */
	bool any, all[NSIG];
};

static bool sends_signals(const struct function *f)
{
	return f && f->kind.does & FUNCTION_SIGNALS;
}

static void visit_sent(struct scan *s, const struct event *e)
{
	struct sent *sent = s->more;
	uint64_t signal = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_VALUE)) : 0;

	if (e->kind != TF_CALL || !signal || signal >= NSIG || !sends_signals(trace_function(s->image->trace, e->id)))
		return;
	sent->all[signal] = true;
	if (clock_map_ns(s->clock, event_start(e)) <= sent->before_ns)
		sent->last = (int)signal;
}

static void find_sent(const struct report_context *c, const struct image *image, struct sent *ret)
{
	const struct trace *t = image->trace;

	for (size_t i = 0; t && i < t->thread_count; i++)
		for (size_t k = 0; k < t->threads[i].counter_count; k++) {
			const struct trace_counter *counter = &t->counters[t->threads[i].first_counter + k];

			ret->any |= counter->sum.calls && sends_signals(trace_function(t, counter->function));
		}
	if (t)
		scan_image(&(struct scan){.context = c, .image = image, .kinds = 1u << TF_CALL,
					  .groups = 1u << TF_GROUP_OSRT, .call_args = 1u << TF_ARG_VALUE, .more = ret},
			   visit_sent);
}

/* The signal by which its parent ended the process; 0: that is not known. */
static int ended_by_parent(const struct report_context *c, const struct process *p)
{
	const struct model *m = c->model;
	const struct process *parent = process_parent(m, p);
	bool is_signal = p->has_status && WIFSIGNALED(p->status);
	int signal = is_signal ? WTERMSIG(p->status) : 0;
	struct sent sent = {.before_ns = is_signal ? UINT64_MAX : p->end_is_known ? p->end_ns : UINT64_MAX};

	if (p->exit_status >= 0 || p->is_running || p->lacks_file || (p->has_status && !is_signal))
		return 0;
	for (size_t i = 0; parent && i < parent->image_count; i++)
		find_sent(c, &m->images[parent->first_image + i], &sent);
	if (!signal)
		return sent.last;
	return sent.all[signal] || (sent.any && (signal == SIGTERM || signal == SIGKILL)) ? signal : 0;
}

/* ---- lines ---- */

static void how_it_ended(const struct report_context *c, const struct process *p, struct buffer *ret)
{
	int signal = ended_by_parent(c, p);

	if (signal && signal_name(signal))
		buffer_print(ret, "ended by its parent (SIG%s)", signal_name(signal));
	else
		buffer_text(ret, p->ended);
}

static bool is_worth_a_line(const struct model *m, const struct roles *roles, const struct died *died, size_t process)
{
	const struct process *p = &m->processes[process];

	return process && p != died->process && !roles->is_shim[process] &&
	       (p->lacks_file || (p->exit_status && !p->has_exec));
}

/* Joins the process to an equal one; false: there is none. */
static bool join(struct ends *all, size_t count, const struct ends *one)
{
	for (size_t i = 0; i < count; i++)
		if (!*one->first->rank && !*all[i].first->rank && !strcmp(all[i].program, one->program) &&
		    !strcmp(all[i].how.data, one->how.data)) {
			all[i].count++;
			return true;
		}
	return false;
}

static void show(const struct model *m, const struct ends *e, struct buffer *out)
{
	buffer_print(out, "%-*s ", SUMMARY_LABEL, "ended");
	if (e->count > 1)
		buffer_print(out, "%zu processes of %s", e->count, e->program);
	else
		summary_process(m, e->first, out);
	buffer_print(out, ": %s\n", e->how.data);
}

void summary_ends(const struct report_context *c, const struct roles *roles, const struct died *died,
		  struct buffer *out)
{
	const struct model *m = c->model;
	bool counts_only = died->process && died->is_of_ranks;
	struct ends shown[LINES] = {0};
	size_t count = 0, others = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];
		struct ends one = {.first = p, .count = 1};

		if (!is_worth_a_line(m, roles, died, i))
			continue;
		if (!counts_only) {
			image_program(process_last_image(m, p), one.program,
				      sizeof(one.program));
			how_it_ended(c, p, &one.how);
		}
		if (!counts_only && join(shown, count, &one)) {
			buffer_done(&one.how);
		} else if (counts_only || count == LINES) {
			others++;
			buffer_done(&one.how);
		} else {
			shown[count++] = one;
		}
	}
	for (size_t i = 0; i < count; i++) {
		show(m, &shown[i], out);
		buffer_done(&shown[i].how);
	}
	if (others)
		buffer_print(out, "%-*s %zu more did not exit 0\n", SUMMARY_LABEL, "ended", others);
}
