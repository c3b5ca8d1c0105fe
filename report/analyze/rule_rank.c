/* SPDX-License-Identifier: Apache-2.0 */
/* straggling_rank, idle_rank: ranks whose time in MPI differs from that of the others. The rank that arrives last waits
 * least; a rank without work waits all the time. */
#include <stdlib.h>
#include <string.h>

#include "report/analyze/rule.h"

enum { LATE_PERCENT = 10, IDLE_PERCENT = 80, BUSY_PERCENT = 40 };

struct rank {
	const char *name;
	size_t process; /* its first one that calls MPI */
	uint64_t wall_ns, mpi_ns;
	/* its longest call */
	const struct image *image;
	uint32_t stack;
	uint64_t longest_ns;
};

struct ranks_found {
	struct rank *items;
	struct aggregate names; /* only to number them */
	size_t capacity;
	bool has_mpi;
	struct rank *of; /* the current image */
};

static void rank_visit(struct scan *s, const struct event *e)
{
	struct ranks_found *all = s->more;
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint64_t ns;

	if (!f || f->group != TF_GROUP_MPI || s->thread->tid != s->image->pid || !strncmp(f->name, "MPI_Init", 8) ||
	    !strcmp(f->name, "MPI_Finalize"))
		return;
	ns = clock_map_duration(s->clock, e->duration);
	if (!all->of->mpi_ns) {
		all->of->process = s->image->process;
		all->of->wall_ns = rule_wall(&s->context->model->processes[s->image->process]);
	}
	all->has_mpi = true;
	all->of->mpi_ns += ns;
	if (ns > all->of->longest_ns && rule_stack(e)) {
		all->of->longest_ns = ns;
		all->of->image = s->image;
		all->of->stack = rule_stack(e);
	}
}

static void ranks_gather(const struct rules *r, struct ranks_found *all)
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
				.name = p->rank, .process = m->images[i].process, .wall_ns = rule_wall(p)};
		}
		all->of = &all->items[row];
		scan_image(&(struct scan){.context = r->context, .image = &m->images[i], .more = all}, rank_visit);
	}
	for (size_t i = 0; i < all->names.count; i++)
		if (all->items[i].mpi_ns > all->items[i].wall_ns)
			all->items[i].mpi_ns = all->items[i].wall_ns;
}

static int ranks_by_mpi(size_t left, size_t right, const void *ranks)
{
	const struct rank *all = ranks;

	return order_of(all[left].mpi_ns, all[right].mpi_ns) ?: order_of(left, right);
}

static uint64_t rank_percent(const struct rank *r)
{
	return r->wall_ns ? r->mpi_ns * 100 / r->wall_ns : 0;
}

static void rank_add_row(struct rules *r, struct finding *f, const struct rank *rank, uint64_t cost, uint64_t others)
{
	struct buffer line = {0};

	rule_row(f);
	table_text(&f->table, rank->name);
	table_number(&f->table, r->context->model->processes[rank->process].pid);
	table_number(&f->table, cost);
	table_number(&f->table, rank->mpi_ns);
	table_real(&f->table, rank->wall_ns ? 100 * (double)rank->mpi_ns / (double)rank->wall_ns : 0);
	table_number(&f->table, others);
	if (rank->stack)
		rule_line(r, rank->image, rank->stack, &line);
	rule_line_cell(f, line.data);
	if (cost > f->cost_ns) {
		f->cost_ns = cost;
		buffer_clear(&f->line);
		buffer_text(&f->line, line.data ? line.data : "");
	}
	buffer_done(&line);
}

/* The rank that waits least, if it is well before the next one. */
static void find_straggler(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order)
{
	const struct rank *least = &all->items[order[0]], *next = &all->items[order[1]];
	uint64_t others = 0, lost;

	for (size_t i = 1; i < all->names.count; i++)
		others += all->items[order[i]].mpi_ns;
	others /= all->names.count - 1;
	lost = others - least->mpi_ns;
	if (lost * 100 < next->wall_ns * LATE_PERCENT || !lost || (next->mpi_ns - least->mpi_ns) * 2 < lost)
		return;
	rank_add_row(r, f, least, lost, others);
	buffer_print(&f->text, "the other ranks wait for rank %s, ", least->name);
	rule_time(&f->text, lost);
	buffer_text(&f->text, " on average");
}

/* Ranks that wait nearly always, while most do not. */
static void find_idle(struct rules *r, struct finding *f, const struct ranks_found *all, const size_t *order)
{
	const struct rank *median = &all->items[order[(all->names.count - 1) / 2]];
	size_t count = 0;

	if (rank_percent(median) >= BUSY_PERCENT)
		return;
	for (size_t i = 0; i < all->names.count; i++)
		if (rank_percent(&all->items[i]) >= IDLE_PERCENT) {
			rank_add_row(r, f, &all->items[i], all->items[i].mpi_ns, median->mpi_ns);
			count++;
		}
	if (count)
		buffer_print(&f->text, "%zu of %zu ranks wait in MPI for at least %d %% of their time", count,
			     all->names.count, IDLE_PERCENT);
}

static void rank_run(struct rules *r, struct finding *f,
		     void (*find)(struct rules *, struct finding *, const struct ranks_found *, const size_t *))
{
	struct ranks_found all = {0};

	rule_has(f, {"Rank", COLUMN_TEXT}, {"PID", COLUMN_ID}, {"Lost (ns)", COLUMN_NS}, {"In MPI (ns)", COLUMN_NS},
		 {"Share (%)", COLUMN_PERCENT}, {"Others In MPI (ns)", COLUMN_NS}, {"Line", COLUMN_TEXT});
	ranks_gather(r, &all);
	if (all.names.count < 2) {
		rule_unchecked(f, "fewer than two ranks were recorded");
	} else if (!all.has_mpi) {
		rule_unchecked(f, "no MPI calls were recorded: record with --trace=mpi");
	} else {
		size_t *order = places_in_order(all.names.count, ranks_by_mpi, all.items);

		find(r, f, &all, order);
		free(order);
	}
	aggregate_done(&all.names);
	free(all.items);
}

void rule_straggling_rank(struct rules *r, struct finding *f)
{
	rank_run(r, f, find_straggler);
}

void rule_idle_rank(struct rules *r, struct finding *f)
{
	rank_run(r, f, find_idle);
}
