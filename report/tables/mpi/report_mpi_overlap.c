/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_overlap_sum: what ranks do between nonblocking calls of MPI and the wait for them. Requests are not recorded, so
 * a phase is what is between the first nonblocking call after a wait and the next wait of the thread. A message may
 * have arrived long before the wait: the overlap is at most what is shown. */
#include <string.h>

#include "report/names/attribution.h"
#include "report/tables/report.h"

enum overlap_class { NO_MPI, POSTS, WAITS, TESTS, OTHER };

/* Of the calls of one line that wait. */
struct overlap {
	uint64_t phases, between_ns; /* outside of MPI */
};

struct overlaps {
	const uint8_t *classes; /* by function of the image */
	const struct trace_thread *thread;
	bool is_posted, may_be_done;
	uint64_t begin, inside; /* ticks: end of the first nonblocking call; in MPI since then */
	struct attribution attribution;
};

static uint8_t classify(const struct function *f)
{
	if (f->group != TF_GROUP_MPI)
		return NO_MPI;
	return f->kind.parallel & PARALLEL_AWAITS  ? WAITS
	       : f->kind.parallel & PARALLEL_TESTS ? TESTS
	       : f->kind.parallel & PARALLEL_POSTS ? POSTS
						   : OTHER;
}

static bool line_key(struct scan *s, const void *event, struct buffer *fields)
{
	struct overlaps *all = s->more;
	const struct event *e = event;
	uint64_t stack = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;

	buffer_field(fields, trace_function(s->image->trace, e->id)->name);
	all->attribution.symbols = s->context->symbols;
	attribution_text(&all->attribution, s->image, (uint32_t)tf_arg_value(stack), "?", fields);
	buffer_add(fields, "", 1);
	return true;
}

static void add_wait(struct scan *s, const struct event *e)
{
	struct overlaps *all = s->more;
	uint64_t stack = event_stack(e), start = event_start(e),
		 before = all->begin + all->inside;
	uint32_t row = scan_row_of(s, start, (uint64_t)e->id << 48 | stack, line_key, e);
	struct overlap *overlap = aggregate_more(s->aggregate, row, sizeof(*overlap));

	aggregate_add(s->aggregate, row, clock_map_duration(s->clock, e->duration));
	if (!all->is_posted)
		return;
	overlap->phases++;
	overlap->between_ns += start > before ? clock_map_duration(s->clock, start - before) : 0;
	all->is_posted = false;
}

static void visit(struct scan *s, const struct event *e)
{
	struct overlaps *all = s->more;
	uint8_t class = e->kind == TF_CALL && e->id < s->image->trace->functions->count ? all->classes[e->id] : NO_MPI;

	if (all->thread != s->thread)
		all->is_posted = false;
	all->thread = s->thread;
	if (class == WAITS) {
		add_wait(s, e);
	} else if (class == POSTS && (!all->is_posted || all->may_be_done)) {
		all->is_posted = true;
		all->may_be_done = false;
		all->begin = e->ticks;
		all->inside = 0;
	} else if (class != NO_MPI) {
		all->inside += e->duration;
		all->may_be_done |= class == TESTS;
	}
}

static void fill_row(const struct report_context *c, const struct aggregate_row *r, struct table *table)
{
	const struct overlap *o = r->more;
	size_t field;

	if (!(o->between_ns + r->total))
		return;
	field = by_key_cell(c, table, r);
	table_cells(table, o->phases, o->between_ns, r->count, r->total,
		    100 * (double)o->between_ns / (double)(o->between_ns + r->total), aggregate_field(r, field),
		    aggregate_field(r, field + 1));
}

void report_mpi_overlap_sum(const struct report_context *c, struct table *table)
{
	SCOPED(aggregate) sum = {.totals_only = true};
	struct overlaps all = {0};
	struct scan s = {.context = c, .aggregate = &sum, .more = &all};

	by_column(c, table);
	table_has(table, COL_PHASES, COL_MEANWHILE_NS, COL_WAITS, COL_WAITING_NS, COL_OVERLAP_PERCENT, COL_NAME,
		  COL_LINE);
	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		if (!s.image->trace)
			continue;
		all.classes = functions_classes(s.image->trace->functions, classify);
		all.is_posted = false;
		scan_image(&s, visit);
	}
	aggregate_sort(&sum);
	for (size_t i = 0; i < sum.count; i++)
		fill_row(c, &sum.rows[i], table);
	attribution_done(&all.attribution);
}
