/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_parts.h"

#include <string.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/text.h"
#include "report/causes/ranks/pop.h"

enum { NAME_WIDTH = 70 };

static void add_rank(const struct process *p, struct buffer *out)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, p->rank, "");
	text_shorten(out, buffer_string(&safe), NAME_WIDTH);
}

void summary_ranks(const struct model *m, struct buffer *out)
{
	const struct process *shortest = NULL, *longest = NULL;
	SCOPED(aggregate) known = {0};
	size_t count = 0;

	array_each(const struct process, p, m->processes, m->process_count) {
		/* The first process of a rank represents the rank; the others are its children. */
		if (!*p->rank || aggregate_row(&known, p->rank, strlen(p->rank)) < count)
			continue;
		count++;
		shortest = !shortest || recorded_wall(m, p) < recorded_wall(m, shortest) ? p : shortest;
		longest = !longest || recorded_wall(m, p) > recorded_wall(m, longest) ? p : longest;
	}
	if (count < 2)
		return;
	buffer_print(out, "%-*s %zu, ", SUMMARY_LABEL, "ranks", count);
	rule_time(out, recorded_wall(m, shortest));
	buffer_text(out, " (rank ");
	add_rank(shortest, out);
	buffer_text(out, ") to ");
	rule_time(out, recorded_wall(m, longest));
	buffer_text(out, " (rank ");
	add_rank(longest, out);
	buffer_text(out, ")\n");
}

/* ---- MPI and NCCL ---- */

struct shares {
	const struct process *least, *most;
	double least_share, most_share;
	uint64_t ns, lifetime_ns;
	size_t ranks;
	struct aggregate places; /* function and line -> time */
};

static bool begins_or_ends(const struct function *f)
{
	return f->group == TF_GROUP_MPI && f->kind.parallel & (PARALLEL_BEGINS | PARALLEL_ENDS);
}

static void add_place(struct rules *r, struct shares *all, const struct image *image, const struct blocked_call *call)
{
	const struct code_line *line = rule_line(r, image, call->stack);
	SCOPED(buffer) key = {0};
	uint32_t row;

	buffer_field(&key, call->function->name);
	code_line_text(line, &key);
	buffer_add(&key, "", 1);
	row = aggregate_row(&all->places, key.data, key.size);
	all->places.rows[row].of = line;
	aggregate_add_total(&all->places, row, call->count, call->total_ns);
}

static void add_thread(struct rules *r, struct shares *all, const struct thread_time *t, enum blocked_kind kind)
{
	const struct process *rank = &r->context->model->processes[t->process];
	uint64_t ns = 0;
	double share;

	if (!*rank->rank || t->origin != THREAD_MAIN || !t->lifetime_ns)
		return;
	array_each(const struct blocked_call, call, t->blocked.calls, t->blocked.count) {
		if (call->kind != kind)
			continue;
		ns += call->total_ns;
		if (!begins_or_ends(call->function))
			add_place(r, all, t->image, call);
	}
	if (!ns)
		return;
	share = 100 * (double)ns / (double)t->lifetime_ns;
	if (!all->ranks || share < all->least_share) {
		all->least = rank;
		all->least_share = share;
	}
	if (!all->ranks || share > all->most_share) {
		all->most = rank;
		all->most_share = share;
	}
	all->ns += ns;
	all->lifetime_ns += t->lifetime_ns;
	all->ranks++;
}

/* "; 45 % in MPI_Allreduce, imb.c:12 main": the share is that of the ranks' time. */
static void costliest_place(struct shares *all, struct buffer *out)
{
	const struct code_line *line;

	aggregate_sort(&all->places);
	if (!all->places.count || all->places.rows[0].total * 100 < all->lifetime_ns)
		return;
	buffer_print(out, "; %.0f %% in %s", 100 * (double)all->places.rows[0].total / (double)all->lifetime_ns,
		     aggregate_field(&all->places.rows[0], 0));
	line = all->places.rows[0].of;
	if (!line)
		return;
	if (line->file)
		buffer_print(out, ", %s:%u", code_line_file(line->file), line->line);
	buffer_text(out, line->file ? " " : ", ");
	text_shorten(out, line->function, NAME_WIDTH);
}

void summary_messages(struct rules *r, enum blocked_kind kind, const char *title, struct buffer *out)
{
	const struct partition *p = &rules_time(r)->partition;
	struct shares all = {.places = {.totals_only = true}};

	for (size_t i = 0; i < p->count; i++)
		add_thread(r, &all, &p->threads[i], kind);
	if (all.ranks >= 2) {
		buffer_print(out, "%-*s %.0f %% of the ranks' time: %.0f %% of rank ", SUMMARY_LABEL, title,
			     100 * (double)all.ns / (double)all.lifetime_ns, all.least_share);
		add_rank(all.least, out);
		buffer_print(out, " to %.0f %% of rank ", all.most_share);
		add_rank(all.most, out);
		costliest_place(&all, out);
		buffer_text(out, "\n");
	}
	aggregate_done(&all.places);
}

void summary_efficiency(const struct report_context *c, struct buffer *out)
{
	struct pop p;

	if (!pop_find(c, &p))
		return;
	buffer_print(out, "%-*s %.0f %% of the ranks' time is useful: ", SUMMARY_LABEL, "efficiency", 100 * p.parallel);
	buffer_print(out, "load balance %.0f %%, serialisation %.0f %%, transfer %.0f %%\n", 100 * p.balance,
		     100 * p.serialisation, 100 * p.transfer);
}
