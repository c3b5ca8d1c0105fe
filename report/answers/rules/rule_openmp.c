/* SPDX-License-Identifier: Apache-2.0 */
/* openmp_imbalance: places where threads of OpenMP wait for the last one of their team, for a share of the process's
 * time. */
#include <inttypes.h>

#include "report/answers/rule.h"
#include "report/causes/openmp/openmp_places.h"
#include "report/time/profile.h"
#include "report/time/recorded.h"

enum { ROWS = 50, IMBALANCE_PERCENT = 5 };

/* How long threads of the process were runnable without a CPU. One that has no CPU is late without more work. */
static uint64_t delay_of(struct rules *r, const struct image *image)
{
	const struct partition *p = &rules_time(r)->partition;

	return array_sum(t, p->threads, p->count, t->process == image->process ? t->delay_ns : 0);
}

static void add_place(const struct openmp_place *p, struct finding *f)
{
	SCOPED(buffer) late = {0};

	if (p->late)
		thread_label(p->late, &late);
	rule_row(f);
	table_cells(&f->table, p->image->pid, p->lost_ns, p->wait_ns, p->count, p->threads,
		    p->is_barrier ? "barrier" : "end of region");
	rule_line_cell(f, p->line);
	table_text(&f->table, buffer_string(&late));
	if (!f->text.size) {
		buffer_print(&f->text, "%" PRIu64 " threads of OpenMP wait ", p->threads);
		rule_time(&f->text, p->wait_ns);
		buffer_print(&f->text, " in all for the last one at %s, ",
			     p->is_barrier ? "a barrier" : "the end of a region");
		if (p->late)
			buffer_print(&f->text, "mostly for %s", late.data);
		else
			buffer_text(&f->text, "which varies");
		f->line = p->line;
		f->cost_ns = p->lost_ns;
	}
}

void rule_openmp_imbalance(struct rules *r, struct finding *f)
{
	const struct model *m = r->context->model;
	struct openmp_places places;
	bool is_any = false, is_delayed = false;

	rule_has(f, COL_PID, COL_LOST_NS, COL_TOTAL_WAIT_NS, COL_INSTANCES, COL_THREADS, COL_KIND, COL_LINE,
		 COL_LATE_THREAD);
	for (size_t i = 0; i < m->image_count && !is_any; i++)
		is_any = openmp_is_in(&m->images[i]);
	if (!is_any) {
		rule_unchecked(f, "no OpenMP was recorded: -t openmp records it");
		return;
	}
	openmp_places_find(r->context, &places);
	for (size_t i = 0, rows = 0; i < places.count && rows < ROWS; i++) {
		const struct openmp_place *p = &places.items[i];
		uint64_t wall = recorded_wall(m, &m->processes[p->image->process]), delay;

		if (p->threads < 2 || p->lost_ns * 100 < wall * IMBALANCE_PERCENT)
			continue;
		delay = delay_of(r, p->image);
		/* each thread without a CPU may have kept all others of the team waiting */
		if (p->wait_ns < 2 * (p->threads - 1) * delay) {
			is_delayed = true;
			continue;
		}
		add_place(p, f);
		rows++;
	}
	openmp_places_done(&places);
	if (is_delayed)
		rule_unchecked(f, "threads waited for CPUs while others waited for them: see cpu_starved");
}
