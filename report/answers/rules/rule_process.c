/* SPDX-License-Identifier: Apache-2.0 */
/* short_processes: processes whose start-up costs more CPU time than their work. */
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"

enum { PROCESSES = 50, FOUND_PERCENT = 10, CPU_PERCENT = 40, ROWS = 20 };
#define SHORT_NS 20000000ull /* CPU time of a process, that of its start included */

/* Whether starting is what the job does: the CPU time of the short processes is much of that of all. */
static bool is_most(const struct job_time *t, size_t processes, uint64_t short_ns)
{
	uint64_t all = array_sum(process, t->partition.processes, processes,
				 process->cpu_ns != TF_USAGE_UNKNOWN ? process->cpu_ns : 0);

	return short_ns * 100 >= all * CPU_PERCENT;
}

/* Started by another process of the job, and short. A process without a record of its CPU time is not. */
static bool is_short(const struct job_time *t, const struct model *m, size_t process)
{
	const struct process *p = &m->processes[process];

	return p->parent != SIZE_MAX && !p->is_running && t->partition.processes[process].cpu_ns < SHORT_NS;
}

/* The line of the parent that waits for them, or for what they write: of the role's longest such wait. */
static void add_line(struct rules *r, const struct job_time *t, struct finding *f)
{
	list_each(const struct role, role, &t->roles) {
		for (size_t k = 0; k < role->call_count && !f->line; k++) {
			struct symbol_frame frame = role->calls[k].frame;

			if (!role->calls[k].is_users || !role_waited_for(&t->roles, role, &role->calls[k]))
				continue;
			symbols_name(r->context->symbols, &frame);
			f->line = frame.exact;
		}
	}
}

static void conclude(struct finding *f, struct aggregate *programs, uint64_t forks, size_t count)
{
	aggregate_sort(programs);
	for (size_t i = 0; i < programs->count && i < ROWS; i++) {
		rule_row(f);
		table_cells(&f->table, aggregate_field(&programs->rows[i], 0), programs->rows[i].count,
			    programs->rows[i].total);
	}
	buffer_print(&f->text, "%zu processes that end after less than %llu ms of CPU time are started", count,
		     SHORT_NS / 1000000);
	for (size_t i = 0, named = 0; i < programs->count && named < 2; i++) {
		const struct aggregate_row *row = &programs->rows[i];

		if (row->count * 10 >= count) {
			buffer_print(&f->text, "%s%llu of %s", named ? ", " : ": ", (unsigned long long)row->count,
				     aggregate_field(row, 0));
			named++;
		}
	}
	if (forks * 10 >= count)
		buffer_print(&f->text, ", %llu by fork", (unsigned long long)forks);
	buffer_text(&f->text, ", ");
	rule_time(&f->text, f->cost_ns);
}

void rule_short_processes(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	const struct job_time *t = rules_time(r);
	SCOPED_MEMORY struct rule_span *spans = mem_alloc((m->process_count + 1) * sizeof(*spans));
	SCOPED(aggregate) programs = {.totals_only = true};
	uint64_t forks = 0, cpu_ns = 0;
	size_t count = 0, known = 0;

	rule_has(f, COL_PROGRAM, COL_PROCESSES, COL_TOTAL_LIFETIME_NS);
	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];
		const struct image *last = &m->images[p->first_image + p->image_count - 1];
		const char *program = image_file_name(last);

		known += t->partition.processes[i].cpu_ns != TF_USAGE_UNKNOWN;
		if (!is_short(t, m, i))
			continue;
		cpu_ns += t->partition.processes[i].cpu_ns;
		spans[count++] = (struct rule_span){p->start_ns, p->end_ns};
		if (p->image_count == 1 && last->via == TF_VIA_FORK)
			forks++;
		else
			aggregate_add(&programs, aggregate_row(&programs, program, strlen(program) + 1),
				      recorded_wall(m, p));
	}
	f->cost_ns = rule_union(spans, count);
	if (count >= PROCESSES && is_most(t, m->process_count, cpu_ns) &&
	    f->cost_ns * 100 >= t->roles.wall_ns * FOUND_PERCENT) {
		conclude(f, &programs, forks, count);
		add_line(r, t, f);
	} else {
		f->cost_ns = 0;
	}
	if (!known)
		rule_unchecked(f, t->roles.recorded.is_part ? "CPU time of processes is not known of capture ranges"
							    : "no CPU time of processes was recorded");
}
