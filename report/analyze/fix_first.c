/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the one thing to fix first. */
#include "report/analyze/fix_first.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/text.h"
#include "report/derive/stacks/frame.h"
#include "report/derive/stacks/lines.h"
#include "report/derive/stacks/samples.h"

/* That a thread computes is no defect, and what could be saved is not known: it counts for a part of what a finding of
 * the same duration would. */
#define CPU_WEIGHT 0.5

enum { CPU_LINES = 8 }; /* the costliest lines, among which the one with the most CPU samples is looked for */

struct choice {
	const struct report_context *context;
	const struct roles *roles;
	struct fix_first *best;
	double rank;
};

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* Takes ownership of the text. */
static bool choose(struct choice *k, uint64_t cost_ns, double weight, struct buffer *text)
{
	double rank = weight * (double)cost_ns;

	if (!k->roles->wall_ns || rank <= k->rank || cost_ns * 100 < k->roles->wall_ns * FIX_PERCENT) {
		buffer_done(text);
		return false;
	}
	k->rank = rank;
	buffer_done(&k->best->text);
	*k->best = (struct fix_first){
		.text = *text, .cost_ns = cost_ns < k->roles->wall_ns ? cost_ns : k->roles->wall_ns};
	return true;
}

static uint64_t wall_cost(const struct role *r, uint64_t ns)
{
	return (uint64_t)((double)ns / role_width(r));
}

/* "the 4 workers", "main", "job.py" */
static void role_words(const struct role *r, struct buffer *ret)
{
	if (r->is_workers)
		buffer_print(ret, r->threads == 1 ? "the worker" : "the %zu workers", r->threads);
	else if (r->threads > 1)
		buffer_print(ret, r->is_program ? "the %zu processes of %s" : "the %zu %s", r->threads, r->label);
	else if (!r->is_program && strcmp(r->label, "threads"))
		buffer_print(ret, "thread %s", r->label);
	else if (!r->is_program)
		buffer_text(ret, "a thread");
	else
		buffer_text(ret, r->label);
}

/* ---- what the partition tells ---- */

/* Less than this share of one CPU was used by all threads of the job together: with the CPUs to themselves they would
 * not have waited. */
enum { OTHERS_PERCENT = 60 };

static void propose_starved(struct choice *k, const struct role *r)
{
	uint64_t used = 0;
	struct buffer text = {0};

	for (size_t i = 0; i < k->roles->count; i++)
		used += k->roles->items[i].cpu_ns;
	if (share_of(used, k->roles->wall_ns) < OTHERS_PERCENT)
		buffer_text(&text, "other programs hold the CPUs: ");
	else
		buffer_text(&text, "too few CPUs: ");
	role_words(r, &text);
	buffer_print(&text, " had a CPU %.0f %% of the time and waited for one %.0f %%",
		     share_of(r->cpu_ns, r->lifetime_ns), share_of(r->delay_ns, r->lifetime_ns));
	choose(k, wall_cost(r, r->delay_ns), 1, &text);
}

void fix_first_cpu_line(const struct report_context *c, struct buffer *ret)
{
	struct lines l;
	size_t best = SIZE_MAX;
	uint64_t most = 0;
	const char *file, *slash;

	if (!samples_any(c->model))
		return;
	lines_top(c, CPU_LINES, &l);
	for (size_t i = 0; i < l.count; i++) {
		uint64_t ns = l.values[i].of[LINE_PYTHON] + l.values[i].of[LINE_NATIVE];

		if (ns > most && l.values[i].is_users && !lines_is_stackless(c, &l, i)) {
			most = ns;
			best = i;
		}
	}
	if (best != SIZE_MAX) {
		file = lines_field(c, &l, best, 0);
		slash = strrchr(file, '/');
		buffer_print(ret, "%s:%s ", slash ? slash + 1 : file, lines_field(c, &l, best, 1));
		text_shorten(ret, lines_field(c, &l, best, 2), 40);
	}
	lines_done(&l);
}

static void propose_cpu(struct choice *k, const struct role *r)
{
	struct buffer text = {0}, line = {0};
	bool is_chosen;

	role_words(r, &text);
	buffer_print(&text, " %s %.0f %% of the time", r->threads > 1 ? "compute" : "computes",
		     share_of(r->cpu_ns, r->lifetime_ns));
	fix_first_cpu_line(k->context, &line);
	if (line.size)
		buffer_print(&text, ": %s", line.data);
	is_chosen = choose(k, wall_cost(r, r->cpu_ns), CPU_WEIGHT, &text);
	if (is_chosen)
		k->best->is_cpu = !line.size && !samples_any(k->context->model);
	buffer_done(&line);
}

/* Children that run other programs; workers that were forked are roles whose own time is proposed. */
static const struct role *programs_of(const struct choice *k, const struct role *parent)
{
	for (size_t i = 0; i < k->roles->count; i++) {
		const struct role *r = &k->roles->items[i];

		if (!r->is_workers && r->is_program && r != parent && r->process->parent_pid == parent->process->pid)
			return r;
	}
	return NULL;
}

/* Another role took at least half of the time that this one waited: by what it did itself or, where the main thread
 * waits, by its existence, because the reason is then in its own partition. */
static bool is_explained_by_others(const struct choice *k, const struct role *waiting, uint64_t ns)
{
	for (size_t i = 0; i < k->roles->count; i++) {
		const struct role *r = &k->roles->items[i];
		uint64_t its = waiting->is_main ? r->lifetime_ns : role_own_ns(r);

		if (r != waiting && wall_cost(r, its) * 2 > wall_cost(waiting, ns))
			return true;
	}
	return false;
}

static void propose_call(struct choice *k, const struct role *r, const struct role_call *call)
{
	bool is_wait = blocked_waits_for_others(call->kind);
	const struct role *programs = call->kind == BLOCKED_CHILD ? programs_of(k, r) : NULL;
	struct buffer text = {0}, place = {0};

	if (is_wait && !programs && is_explained_by_others(k, r, call->ns))
		return;
	role_words(r, &text);
	if (programs && programs->processes > 1)
		buffer_print(&text, " waits for %zu processes of %s %.0f %% of the time", programs->processes,
			     programs->label, share_of(call->ns, r->lifetime_ns));
	else if (programs)
		buffer_print(&text, " waits for %s %.0f %% of the time", programs->label,
			     share_of(call->ns, r->lifetime_ns));
	else
		buffer_print(&text, " %s %.0f %% of the time in %s (%llu call%s)",
			     r->threads > 1 ? "are blocked" : "is blocked", share_of(call->ns, r->lifetime_ns),
			     call->function, (unsigned long long)call->count, call->count == 1 ? "" : "s");
	role_place(k->context, call, &place);
	if (place.size)
		buffer_print(&text, ": %s", place.data);
	buffer_done(&place);
	choose(k, wall_cost(r, call->ns), 1, &text);
}

static void propose_stop(struct choice *k, const struct role *r)
{
	struct buffer text = {0};

	role_words(r, &text);
	buffer_print(&text, " %s stopped (SIGSTOP, or a job stopped by its shell) %.0f %% of the time",
		     r->threads > 1 ? "were" : "was", share_of(r->stopped_ns, r->lifetime_ns));
	choose(k, wall_cost(r, r->stopped_ns), 1, &text);
}

/* ---- what the rules found ---- */

void fix_first_words(const struct finding *f, struct buffer *ret)
{
	struct frame parts;
	const char *slash;

	text_escape(ret, f->text.size ? f->text.data : f->rule->title, "");
	if (!f->line.size)
		return;
	frame_split(f->line.data, &parts);
	slash = parts.file ? strrchr(parts.file, '/') : NULL;
	if (parts.file)
		buffer_print(ret, ": %s:%u %s", slash ? slash + 1 : parts.file, parts.line, parts.name);
	else
		buffer_print(ret, ": %s", parts.name);
	frame_done(&parts);
}

static void propose_finding(struct choice *k, const struct finding *f)
{
	struct buffer text = {0};

	fix_first_words(f, &text);
	choose(k, f->cost_ns, 1, &text);
}

void fix_first_find(const struct report_context *c, const struct roles *roles, const struct finding *found,
		    size_t count, struct fix_first *ret)
{
	struct choice k = {.context = c, .roles = roles, .best = ret};

	*ret = (struct fix_first){0};
	for (size_t i = 0; i < count; i++)
		propose_finding(&k, &found[i]);
	for (size_t i = 0; i < roles->count; i++) {
		const struct role *r = &roles->items[i];

		propose_starved(&k, r);
		propose_cpu(&k, r);
		propose_stop(&k, r);
		for (size_t n = 0; n < r->call_count && n < 4; n++)
			propose_call(&k, r, &r->calls[n]);
	}
}

void fix_first_done(struct fix_first *f)
{
	buffer_done(&f->text);
}
