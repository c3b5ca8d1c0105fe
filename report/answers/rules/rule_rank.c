/* SPDX-License-Identifier: Apache-2.0 */
/* straggling_rank, idle_rank: ranks whose time in communication differs from that of the others. Of ranks whose calls
 * are matched it is known who was late, and why (rank_cause.h). Else the rank that arrives last waits least; a rank
 * without work waits all the time. Without calls of MPI and NCCL, communication is what the main thread spends in waits
 * for others and in polling, and in libraries of MPI according to CPU samples. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/answers/where_text.h"
#include "report/causes/path.h"
#include "report/causes/ranks/rank_cause.h"
#include "report/events/stacks/samples.h"

enum { LATE_PERCENT = 10, LEAST_PERCENT = 2, IDLE_PERCENT = 80, BUSY_PERCENT = 40 };

/* What tells how long a rank communicates, the best last. */
enum evidence { BY_OS_CALLS, BY_SAMPLES, BY_CALLS, EVIDENCES };

struct rank {
	const char *name;
	size_t process; /* its first one that communicates */
	uint64_t wall_ns, ns, by[EVIDENCES];
	/* its longest call */
	const struct image *image;
	uint32_t stack;
	uint64_t longest_ns;
};

struct ranks_found {
	struct rules *rules;
	struct rank *items;
	struct aggregate names; /* only to number them */
	size_t capacity;
	bool has[EVIDENCES];
	enum evidence evidence; /* in use */
	struct rank *of; /* the current image */
	const uint8_t *classes; /* by function of the current image */
};

enum { CLASS_COMMUNICATES = 1, CLASS_WAITS = 2 };

static uint8_t rank_classify(const struct function *f)
{
	enum blocked_kind kind = f->kind.waits;

	if (f->group == TF_GROUP_MPI || f->group == TF_GROUP_NCCL)
		return f->group == TF_GROUP_MPI && f->kind.parallel & (PARALLEL_BEGINS | PARALLEL_ENDS)
			       ? 0
			       : CLASS_COMMUNICATES;
	return kind == BLOCKED_THREAD || kind == BLOCKED_POLL || kind == BLOCKED_SOCKET || f->kind.does & FUNCTION_POLLS
		       ? CLASS_WAITS
		       : 0;
}

static void rank_add(struct ranks_found *all, const struct scan *s, enum evidence evidence, uint64_t ns, uint32_t stack)
{
	struct rank *rank = all->of;

	if (!rank->by[BY_CALLS] && evidence == BY_CALLS) {
		rank->process = s->image->process;
		rank->wall_ns = recorded_wall(s->context->model, &s->context->model->processes[s->image->process]);
	}
	all->has[evidence] = true;
	rank->by[evidence] += ns;
	if (ns > rank->longest_ns && stack) {
		rank->longest_ns = ns;
		rank->image = s->image;
		rank->stack = stack;
	}
}

static void rank_visit(struct scan *s, const struct event *e)
{
	struct ranks_found *all = s->more;
	uint8_t class = e->kind == TF_CALL && e->id < s->image->trace->functions->count ? all->classes[e->id] : 0;

	if (s->thread->tid != s->image->pid)
		return;
	if (class)
		rank_add(all, s, class == CLASS_WAITS ? BY_OS_CALLS : BY_CALLS,
			 clock_map_duration(s->clock, e->duration), event_stack(e));
	else if (e->kind == TF_SAMPLE && rule_polls(all->rules, s->image, event_stack(e)))
		rank_add(all, s, BY_SAMPLES, samples_ns(e), event_stack(e));
}

/* Polling is mostly below the threshold. */
static void rank_add_short(struct ranks_found *all, const struct scan *s)
{
	const struct trace *t = s->image->trace;
	const struct clock_map *clock = &s->context->model->machines[s->image->machine].clock;

	for (size_t k = 0; k < t->thread_count; k++)
		for (size_t i = 0; t->threads[k].tid == s->image->pid && i < t->threads[k].counter_count; i++) {
			const struct trace_counter *c = &t->counters[t->threads[k].first_counter + i];

			if (c->sum.calls && c->function < t->functions->count && all->classes[c->function])
				rank_add(all, s, all->classes[c->function] == CLASS_WAITS ? BY_OS_CALLS : BY_CALLS,
					 clock_map_duration(clock, c->sum.ticks), 0);
		}
}

static void rank_read(struct ranks_found *all, const struct image *image)
{
	struct scan s = {.context = all->rules->context, .image = image, .more = all};

	if (!image->trace)
		return;
	all->classes = functions_classes(image->trace->functions, rank_classify);
	scan_image(&s, rank_visit);
	rank_add_short(all, &s);
}

static void ranks_gather(struct rules *r, struct ranks_found *all)
{
	const struct model *m = r->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		const struct process *p = &m->processes[m->images[i].process];
		size_t count = all->names.count, row;

		if (!*p->rank)
			continue;
		row = aggregate_row(&all->names, p->rank, strlen(p->rank));
		if (row == count) {
			all->items = mem_grow(all->items, count, &all->capacity, sizeof(*all->items));
			all->items[row] = (struct rank){
				.name = p->rank, .process = m->images[i].process, .wall_ns = recorded_wall(m, p)};
		}
		all->of = &all->items[row];
		rank_read(all, &m->images[i]);
	}
	for (int i = 0; i < EVIDENCES; i++)
		if (all->has[i])
			all->evidence = (enum evidence)i;
	array_each(struct rank, rank, all->items, all->names.count)
		rank->ns = rank->by[all->evidence] < rank->wall_ns ? rank->by[all->evidence] : rank->wall_ns;
}

static int ranks_by_time(size_t left, size_t right, const void *ranks)
{
	const struct rank *all = ranks;

	return order_of(all[left].ns, all[right].ns) ?: order_of(left, right);
}

static uint64_t rank_percent(const struct rank *r)
{
	return r->wall_ns ? r->ns * 100 / r->wall_ns : 0;
}

/* What a row says of a rank that is late, or idle. */
struct rank_row {
	const char *name;
	uint32_t pid;
	uint64_t cost_ns, waits_ns, wall_ns, others_ns;
	const struct code_line *line;
};

static void rank_row(struct finding *f, const struct rank_row *row)
{
	rule_row(f);
	table_cells(&f->table, row->name, row->pid, row->cost_ns, row->waits_ns,
		    row->wall_ns ? 100 * (double)row->waits_ns / (double)row->wall_ns : 0, row->others_ns);
	rule_line_cell(f, row->line);
}

/* line: to name; NULL: that of its longest call. */
static void rank_add_row(struct rules *r, struct finding *f, const struct rank *rank, uint64_t cost, uint64_t others,
			 const struct code_line *line)
{
	if (!line && rank->stack)
		line = rule_line(r, rank->image, rank->stack);
	rank_row(f, &(struct rank_row){rank->name, r->context->model->processes[rank->process].pid, cost, rank->ns,
				       rank->wall_ns, others, line});
	if (cost > f->cost_ns) {
		f->cost_ns = cost;
		f->line = line;
	}
}

/* Adds the time that the rank's main thread had a CPU, and that it waited for one. */
static void rank_add_cpu(struct rules *r, const struct rank *rank, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	const struct partition *p = &rules_time(r)->partition;
	size_t first = 0, end = p->count;

	while (first < end) { /* the threads are ordered by process */
		size_t middle = first + (end - first) / 2;

		if (p->threads[middle].process < rank->process)
			first = middle + 1;
		else
			end = middle;
	}
	for (size_t i = first; i < p->count && p->threads[i].process == rank->process; i++)
		if (p->threads[i].origin == THREAD_MAIN) {
			*cpu_ns += p->threads[i].cpu_ns;
			*delay_ns += p->threads[i].delay_ns;
		}
}

/* The time that the other ranks lose because of the rank that waits least. That rank's run delay is subtracted as far
 * as it exceeds the other ranks' run delay for the same CPU time: if other programs took its CPU, the job is not
 * imbalanced. */
static uint64_t imbalance(struct rules *r, const struct ranks_found *all, const size_t *order, uint64_t lost)
{
	uint64_t cpu = 0, delay = 0, others_cpu = 0, others_delay = 0, usual;

	rank_add_cpu(r, &all->items[order[0]], &cpu, &delay);
	for (size_t i = 1; i < all->names.count; i++)
		rank_add_cpu(r, &all->items[order[i]], &others_cpu, &others_delay);
	usual = others_cpu ? (uint64_t)((double)cpu * (double)others_delay / (double)others_cpu) : 0;
	delay = delay > usual ? delay - usual : 0;
	return lost > delay ? lost - delay : 0;
}

/* What has most of the critical path, of what the rank does without waiting for others; NULL: none of it is on the
 * path, or has a line. Appends what that is. */
static const struct code_line *rank_critical_line(struct rules *r, const struct rank *rank, struct buffer *ret)
{
	struct causality *s = rules_causes(r);
	const struct code_line *line = NULL;
	SCOPED(path) path = {0};

	if (!s)
		return NULL;
	path_find(s, s->run_ns, &path);
	for (size_t i = 0; i < path.count && !line; i++) {
		const struct path_row *row = &path.rows[i];
		const struct editable *e = row->what & EDITABLE_OF_POOL ? NULL : &s->editables.items[row->what];

		if (!e || row->kind > CRITICAL_CALL || e->waits == BLOCKED_MPI || e->waits == BLOCKED_NCCL ||
		    s->actors[row->actor].image->process != rank->process)
			continue;
		line = editable_line(&s->editables, row->what);
		if (line && e->kind == EDITABLE_CALL)
			buffer_print(ret, " while it is in %s", e->name);
		else if (line)
			buffer_text(ret, " while it computes");
	}
	return line;
}

/* The rank that waits least, if it is well before the next one. Returns whether it is known what it does. */
static bool find_straggler(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order)
{
	const struct rank *least = &all->items[order[0]], *next = &all->items[order[1]];
	uint64_t others = 0, lost;
	const struct code_line *line = NULL, *critical;

	for (size_t i = 1; i < all->names.count; i++)
		others += all->items[order[i]].ns;
	others /= all->names.count - 1;
	lost = imbalance(r, all, order, others - least->ns);
	if (lost * 100 < next->wall_ns * LATE_PERCENT || !lost || (next->ns - least->ns) * 2 < lost)
		return false;
	if (rule_late_rank(r, least->process, lost / 2, &f->text, &line))
		buffer_text(&f->text, ", the others wait ");
	else
		buffer_print(&f->text, "the other ranks wait for rank %s, ", least->name);
	rank_add_row(r, f, least, lost, others, line);
	rule_time(&f->text, lost);
	buffer_text(&f->text, " on average");
	critical = rank_critical_line(r, least, &f->text);
	f->line = critical ? critical : f->line;
	return critical;
}

/* Ranks that wait nearly always, while most do not. One of two that waits for the other is told by find_straggler. */
static void find_idle(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order)
{
	const struct rank *median = &all->items[order[(all->names.count - 1) / 2]];
	size_t count = array_sum(item, all->items, all->names.count, rank_percent(item) >= IDLE_PERCENT);

	if (rank_percent(median) >= BUSY_PERCENT || count * 2 >= all->names.count)
		return;
	for (size_t i = 0; i < all->names.count; i++)
		if (rank_percent(&all->items[i]) >= IDLE_PERCENT)
			rank_add_row(r, f, &all->items[i], all->items[i].ns, median->ns, NULL);
	if (count)
		buffer_print(&f->text, "%zu of %zu ranks wait for others for at least %d %% of their time", count,
			     all->names.count, IDLE_PERCENT);
}

/* ---- ranks whose calls are matched ---- */

static const struct rank *rank_of_process(const struct ranks_found *all, size_t process)
{
	return array_find(rank, all->items, all->names.count, rank->process == process);
}

/* ", the others wait ", or how many of the ranks do. */
static void waiting_words(const struct rank_cause *c, size_t ranks, struct buffer *out)
{
	if (c->set != RANKS_ONE || c->waiting + 1 >= ranks)
		buffer_text(out, ", the others wait ");
	else if (c->waiting == 1)
		buffer_text(out, ", one rank waits ");
	else
		buffer_print(out, ", %zu ranks wait ", c->waiting);
}

/* Which ranks are late, at which call, and by what. */
static void cause_text(const struct rank_cause *c, size_t ranks, uint64_t lost, struct buffer *out)
{
	static const char *const words[RANK_CAUSE_KINDS][2] = {
		[RANK_COMPUTES] = {"computes", "compute"},
		[RANK_WANTS_CPU] = {"waits for a CPU", "wait for a CPU"},
		[RANK_GIL] = {"waits for the GIL", "wait for the GIL"},
		[RANK_GC] = {"collects garbage", "collect garbage"},
		[RANK_OPENMP] = {"waits for its OpenMP threads", "wait for their OpenMP threads"},
	};
	bool is_one = c->set == RANKS_ONE;

	buffer_text(out, c->ranks);
	if (c->is_collective)
		buffer_print(out, " %s last at %s", is_one ? "arrives" : "arrive", c->wait_name);
	else
		buffer_print(out, " %s late for %s", is_one ? "is" : "are", c->wait_name);
	waiting_words(c, ranks, out);
	rule_time(out, lost);
	buffer_print(out, "%s while %s", c->waiting > 1 ? " on average" : "", is_one ? "it " : "they ");
	if (words[c->kind][0])
		buffer_text(out, words[c->kind][!is_one]);
	else
		buffer_print(out, "%s in %s", is_one ? "is" : "are", c->name);
	if (c->faults)
		buffer_print(out, ", with %llu page faults more than a typical rank", (unsigned long long)c->faults);
}

/* It costs a part of the time in which ranks communicate, which start-up may exceed, and some of the run. */
static bool is_costly(const struct rank_causes *causes, const struct rank *rank, uint64_t lost)
{
	return lost * 100 >= causes->span_ns * LATE_PERCENT && lost * 100 >= rank->wall_ns * LEAST_PERCENT;
}

static bool add_cause(struct rules *r, struct finding *f, const struct ranks_found *all,
		      const struct rank_causes *causes, const struct rank_cause *c)
{
	const struct rank *rank = rank_of_process(all, c->process);
	uint64_t lost = c->cause_ns / c->waiting;

	if (!rank || c->kind == RANK_CANNOT_TELL || (c->set == RANKS_IN_TURN && c->kind == RANK_WANTS_CPU) ||
	    !is_costly(causes, rank, lost))
		return false;
	rank_row(f, &(struct rank_row){c->set == RANKS_ONE ? rank->name : c->ranks,
				       r->context->model->processes[rank->process].pid, lost, rank->ns, rank->wall_ns,
				       c->wait_ns / c->waiting, c->line});
	if (lost > f->cost_ns) {
		f->cost_ns = lost;
		buffer_clear(&f->text);
		cause_text(c, causes->ranks, lost, &f->text);
		f->line = c->line;
	}
	return true;
}

/* What the causes leave: a rank that is late for a reason that is not known, or that had no CPU. */
static void find_unexplained(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order,
			     const struct rank_causes *causes)
{
	const struct rank_cause *first = causes->count ? &causes->items[0] : NULL;
	const struct rank *rank = first ? rank_of_process(all, first->process) : NULL;
	bool had_no_cpu = first && first->idle_ns && first->idle_ns * 2 >= first->wait_ns;
	bool is_known = !had_no_cpu && find_straggler(r, f, all, order);

	if (is_known)
		return;
	if (first && f->verdict == VERDICT_FOUND) {
		buffer_text(&f->text, "; cannot tell why");
		if (first->parts && *first->parts)
			buffer_print(&f->text, ": %s", first->parts);
		f->line = NULL;
	} else if (rank && first->set != RANKS_IN_TURN &&
		   is_costly(causes, rank, first->wait_ns / first->waiting)) {
		if (had_no_cpu)
			rule_unchecked(f, "ranks wait for each other, mostly for some that had no CPU: see cpu_starved "
					  "and cpu_oversubscribed");
		else
			rule_unchecked(f, "ranks wait for each other in %s; cannot tell why: %s", first->wait_name,
				       first->parts ? first->parts : "it differs");
	}
}

static void find_late(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order)
{
	SCOPED(rank_causes) causes = {0};
	bool has = false;

	rank_causes_find(r->context, rules_causes(r), &causes);
	for (size_t i = 0; i < causes.count; i++)
		has |= add_cause(r, f, all, &causes, &causes.items[i]);
	if (!has)
		find_unexplained(r, f, all, order, &causes);
}

static void rank_run(struct rules *r, struct finding *f,
		     void (*find)(struct rules *, struct finding *, const struct ranks_found *, const size_t *))
{
	struct ranks_found all = {.rules = r};

	ranks_gather(r, &all);
	if (all.names.count < 2) {
		rule_unchecked(f, "fewer than two ranks were recorded");
	} else if (!all.has[BY_CALLS] && !all.has[BY_SAMPLES] && !all.has[BY_OS_CALLS]) {
		rule_unchecked(f, "no communication was recorded: record with --trace=mpi");
	} else {
		SCOPED_MEMORY size_t *order = places_in_order(all.names.count, ranks_by_time, all.items);

		find(r, f, &all, order);
	}
	aggregate_done(&all.names);
	free(all.items);
}

static void rank_columns(struct finding *f)
{
	rule_has(f, COL_RANK, COL_PID, COL_LOST_NS, COL_WAITING_NS, COL_SHARE_PERCENT, COL_OTHERS_WAITING_NS, COL_LINE);
}

/* Ranks that did not come to a collective in which the others waited when the run ended. */
static bool find_missing(struct rules *r, struct finding *f)
{
	SCOPED(where_place) place = {0};
	SCOPED(where_ranks) ranks = {0};
	bool has;

	where_place_read_briefly(&place, r->context->model, r->context->symbols);
	where_ranks_find(&place, &ranks);
	has = (ranks.stall == WHERE_LATE || ranks.stall == WHERE_MISSING) &&
	      ranks.least_ns >= STALLED_NS && ranks.item_count;
	for (size_t i = 0; i < ranks.item_count && has; i++) {
		struct where_item *item = ranks.items[i];
		const struct where_frame *frame;
		const struct code_line *line;

		where_place_stack(&place, item);
		frame = where_item_line(item); /* whose line goes with the place */
		line = frame ? symbols_line(r->context->symbols, frame->line->function, frame->line->file,
					    frame->line->line)
			     : NULL;
		rank_row(f, &(struct rank_row){item->rank, item->process->head.pid, ranks.least_ns,
					       .others_ns = ranks.least_ns, .line = line});
		if (!i) {
			where_text_missing(&ranks, item, &f->text);
			f->line = line;
		}
	}
	f->cost_ns = has ? ranks.least_ns : f->cost_ns;
	return has;
}

void rule_straggling_rank(struct rules *r, struct finding *f)
{
	rank_columns(f);
	if (!find_missing(r, f))
		rank_run(r, f, find_late);
}

void rule_idle_rank(struct rules *r, struct finding *f)
{
	rank_columns(f);
	rank_run(r, f, find_idle);
}
