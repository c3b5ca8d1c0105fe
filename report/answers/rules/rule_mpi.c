/* SPDX-License-Identifier: Apache-2.0 */
/* late_message: ranks of MPI that wait for a rank that sends or receives late. And for straggling_rank, at which calls
 * the others wait for a rank. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "report/causes/mpi/mpi_wait.h"

enum { LATE_PERCENT = 10 };

/* Waits of one kind, in one function, for one rank; of messages, those of one rank. */
struct cause {
	struct mpi_wait longest; /* of those in which the line waited for is known, if it is in any */
	uint64_t ns, count;
};

struct mpi_causes {
	struct cause *items;
	size_t count, capacity;
	struct map by_ranks; /* (waiting and late image, function and kind) -> its number + 1 */
	struct mpi_wait_counts counts;
	const struct model *model;
};

static uint64_t image_number(const struct mpi_causes *all, const struct mpi_side *side)
{
	return (uint64_t)(side->image - all->model->images);
}

static void add_wait(void *context, const struct mpi_wait *w)
{
	struct mpi_causes *all = context;
	uint64_t waiting = w->kind == MPI_LATE_IN_COLLECTIVE ? 0 : image_number(all, &w->waiting) + 1;
	size_t place = map_place(&all->by_ranks, waiting << 32 | image_number(all, &w->late),
				 (uint64_t)w->kind << 32 | w->late.function, all->items, all->count, all->capacity,
				 (struct cause){.longest = *w});
	struct cause *c = &all->items[place];

	if (!w->late.stack == !c->longest.late.stack ? w->ns > c->longest.ns : w->late.stack)
		c->longest = *w;
	c->ns += w->ns;
	c->count++;
}

static const struct mpi_causes *causes_of(struct rules *r)
{
	if (r->mpi)
		return r->mpi;
	r->mpi = mem_alloc(sizeof(*r->mpi));
	r->mpi->model = r->context->model;
	mpi_waits(r->mpi->model, r->mpi, add_wait, NULL, NULL, &r->mpi->counts);
	return r->mpi;
}

void rules_mpi_done(struct rules *r)
{
	if (r->mpi) {
		free(r->mpi->items);
		map_done(&r->mpi->by_ranks);
	}
	free(r->mpi);
	r->mpi = NULL;
}

static const char *function_of(const struct mpi_side *side)
{
	return trace_function(side->image->trace, side->function)->name;
}

/* The line waited for. A call that waits for nobody may be too short for a stack: then that of the collective in the
 * rank that waits. */
static const struct code_line *late_line(struct rules *r, const struct mpi_wait *w)
{
	const struct mpi_side *side = w->late.stack || w->kind != MPI_LATE_IN_COLLECTIVE ? &w->late : &w->waiting;

	return rule_line(r, side->image, side->stack);
}

static const char *const late_words[MPI_WAIT_KINDS] = {
	[MPI_LATE_SENDER] = "sends late at",
	[MPI_LATE_RECEIVER] = "receives late at",
	[MPI_LATE_IN_COLLECTIVE] = "arrives last at",
};

bool rule_late_rank(struct rules *r, size_t process, uint64_t least_ns, struct buffer *ret_text,
		    const struct code_line **ret_line)
{
	const struct mpi_causes *all = causes_of(r);
	const struct cause *best = NULL;

	list_each(const struct cause, c, all)
		if (c->longest.late.image->process == process && (!best || c->ns > best->ns))
			best = c;
	if (!best || best->ns < least_ns)
		return false;
	buffer_print(ret_text, "rank %u %s %s", best->longest.late.rank, late_words[best->longest.kind],
		     function_of(&best->longest.late));
	*ret_line = late_line(r, &best->longest);
	return true;
}

/* ---- late_message ---- */

static bool is_message(const struct cause *c)
{
	return c->longest.kind != MPI_LATE_IN_COLLECTIVE;
}

/* How long the second rank waited for messages of the first one: what delays both in turn is not the fault of one. */
static uint64_t waits_back(const struct mpi_causes *all, const struct cause *of)
{
	return array_sum(one, all->items, all->count,
			 is_message(one) && one->longest.waiting.image == of->longest.late.image &&
					 one->longest.late.image == of->longest.waiting.image
				 ? one->ns
				 : 0);
}

/* How long the main thread of the process was runnable without a CPU. */
static uint64_t delay_of(struct rules *r, const struct image *image)
{
	const struct partition *p = &rules_time(r)->partition;

	return array_sum(t, p->threads, p->count,
			 t->process == image->process && t->origin == THREAD_MAIN ? t->delay_ns : 0);
}

/* What is left of the waits when the job is run with enough CPUs. */
static uint64_t message_cost(struct rules *r, const struct mpi_causes *all, const struct cause *c)
{
	uint64_t less = waits_back(all, c) + delay_of(r, c->longest.late.image);

	return c->ns > less ? c->ns - less : 0;
}

static void message_row(struct rules *r, struct finding *f, const struct cause *c, uint64_t cost)
{
	const struct mpi_wait *w = &c->longest;
	const struct code_line *line = rule_line(r, w->waiting.image, w->waiting.stack), *late = late_line(r, w);

	rule_row(f);
	table_cells(&f->table, w->waiting.rank, function_of(&w->waiting), cost, c->ns, c->count, w->late.rank,
		    function_of(&w->late));
	rule_line_cell(f, line);
	rule_line_cell(f, late);
	if (cost > f->cost_ns) {
		f->cost_ns = cost;
		buffer_set(&f->text, "rank %u waits in %s for rank %u, which %s %s, ", w->waiting.rank,
			   function_of(&w->waiting), w->late.rank, late_words[w->kind], function_of(&w->late));
		rule_time(&f->text, cost);
		f->line = late ? late : line;
	}
}

void rule_late_message(struct rules *r, struct finding *f)
{
	const struct mpi_causes *all = causes_of(r);

	rule_has(f, COL_RANK_NUMBER, COL_NAME, COL_COST_NS, COL_WAITING_NS, COL_WAITS, COL_LATE_RANK, COL_LATE_NAME,
		 COL_LINE, COL_LATE_LINE);
	list_each(const struct cause, c, all) {
		const struct process *waiting = &all->model->processes[c->longest.waiting.image->process];
		uint64_t wall = recorded_wall(all->model, waiting), cost;

		if (!is_message(c) || c->ns * 100 < wall * LATE_PERCENT)
			continue;
		cost = message_cost(r, all, c);
		if (cost && cost * 100 >= wall * LATE_PERCENT)
			message_row(r, f, c, cost);
	}
	if (!all->counts.jobs)
		rule_unchecked(f, "%s",
			       all->counts.reason ? all->counts.reason
						  : "there are not two ranks with calls of MPI since MPI_Init: record "
						    "with --trace=mpi");
	else if (!all->counts.messages)
		rule_unchecked(f, "no message between two ranks on MPI_COMM_WORLD could be matched");
}
