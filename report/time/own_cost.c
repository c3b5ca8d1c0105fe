/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/own_cost.h"

#include <inttypes.h>

enum { PS_OF_NS = 1000 };
/* The work of the loader and the kernel for an image, a fork and a thread, in units of one page that is mapped and
 * written. The launcher measures the cost of a page. The numbers are from experiments: docs/decisions/own-cost.md. */
enum { PAGES_OF_EXEC = 110, PAGES_OF_FORK = 45, PAGES_OF_THREAD = 1 };
/* After a system call the branch predictor and the caches are cold: what is done around one takes so many times what it
 * takes around nothing, and what a path adds lies in more of the code. Whoever signals a condition takes and frees
 * locks, whose wrappers count nothing: LOCKS_OF_SIGNAL short calls. All found by experiment. */
#define KERNEL_FACTOR 1.3
#define PATH_FACTOR 5
#define LOCKS_OF_SIGNAL 0.25
/* A call that is added to a sum costs more than one that is recorded: docs/decisions/profile-mode.md. */
#define SUM_FACTOR 1.4
/* What neither measurement knows: what the program loses of its caches, the loader's work, later CPU clock rates. */
#define MODEL_ERROR 0.20

static const struct run_record *run_of(const struct model *m, const struct image *image)
{
	const uint64_t *place = map_find(&m->run_by_id, image->run, 0);

	return place && *place ? &m->runs[*place - 1] : NULL;
}

/* No processor enters and leaves the kernel in less. */
enum { KERNEL_LEAST_NS = 30 };

uint64_t own_cost_user_calls(const struct model *m, const struct image *image, const struct tf_counter *sum)
{
	const struct run_record *run = run_of(m, image);
	uint64_t ns = clock_map_duration(&m->machines[image->machine].clock, sum->ticks);
	uint64_t least_ns = KERNEL_LEAST_NS + (run ? run->cost.empty_ps : 0) / PS_OF_NS;

	return sum->calls && ns / sum->calls < least_ns ? sum->calls : 0;
}

static double ns_of(double count, uint64_t each_ps)
{
	return count * (double)each_ps / PS_OF_NS;
}

void own_cost_add(const struct model *m, const struct image *image, const struct own_counts *counts,
		  struct own_cost *sum)
{
	const struct run_record *run = run_of(m, image);

	sum->short_calls += counts->short_calls;
	sum->recorded += counts->recorded + counts->summed;
	sum->has_sums |= counts->summed != 0;
	sum->slow_ns += (double)counts->slow_ns;
	if (!run || !run->cost.is_known) {
		sum->is_known &= !counts->short_calls && !counts->recorded && !counts->summed;
		return;
	}
	sum->short_ns += ns_of((double)counts->user_calls +
				       KERNEL_FACTOR * (double)(counts->short_calls - counts->user_calls) +
				       LOCKS_OF_SIGNAL * (double)counts->signals,
			       run->cost.short_ps) +
			 ns_of(PATH_FACTOR * (double)counts->paths, run->cost.path_ps);
	sum->recorded_ns += ns_of(KERNEL_FACTOR * ((double)counts->recorded + SUM_FACTOR * (double)counts->summed),
				  run->cost.recorded_ps);
	sum->error_ns += ns_of((double)counts->short_calls, run->cost.short_error_ps) +
			 ns_of((double)(counts->recorded + counts->summed), run->cost.recorded_error_ps);
	if (counts->threads)
		sum->load_ns += ns_of((image->via == TF_VIA_FORK ? PAGES_OF_FORK : PAGES_OF_EXEC) +
				      (double)(counts->threads - 1) * PAGES_OF_THREAD, run->cost.page_ps);
}

double own_cost_ns(const struct own_cost *c)
{
	return c->short_ns + c->recorded_ns + c->slow_ns + c->load_ns;
}

uint64_t own_cost_with_calls(const struct model *m, const struct image *image, const struct tf_counter *sum)
{
	const struct run_record *run = run_of(m, image);
	const struct own_counts counts = {.short_calls = sum->calls,
					  .user_calls = own_cost_user_calls(m, image, sum)};
	double ns = (double)clock_map_duration(&m->machines[image->machine].clock, sum->ticks), empty_ns = 0;
	struct own_cost cost = OWN_COST_NONE;

	own_cost_add(m, image, &counts, &cost);
	if (run)
		empty_ns = ns_of((double)sum->calls, run->cost.empty_ps);
	return whole_of((ns > empty_ns ? ns - empty_ns : 0) + own_cost_ns(&cost));
}

uint64_t own_cost_polls(const struct model *m, const struct image *image, const struct trace_thread *thread)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < thread->counter_count; i++) {
		const struct trace_counter *c = &image->trace->counters[thread->first_counter + i];
		const struct function *f = trace_function(image->trace, c->function);

		if (f && f->kind.does & FUNCTION_POLLS)
			ns += own_cost_with_calls(m, image, &c->sum);
	}
	return ns;
}

static double error_percent(const struct own_cost *c)
{
	double ns = own_cost_ns(c);

	return ns > 0 ? 100 * (c->error_ns + MODEL_ERROR * ns) / ns : 0;
}

void own_cost_detail(const struct own_cost *c, struct buffer *ret)
{
	const char *separator = "";

	if (!c->is_known) {
		buffer_text(ret, "ns in the recorder's slow paths");
		return;
	}
	buffer_print(ret, "ns of CPU time, +-%.0f %%: ", error_percent(c));
	if (c->short_calls) {
		buffer_print(ret, "%" PRIu64 " short calls of %.1f ns", c->short_calls,
			     c->short_ns / (double)c->short_calls);
		separator = ", ";
	}
	if (c->recorded) {
		buffer_print(ret, "%s%" PRIu64 " events%s of %.1f ns", separator, c->recorded,
			     c->has_sums ? " and calls in sums" : "", c->recorded_ns / (double)c->recorded);
		separator = ", ";
	}
	buffer_print(ret, "%s%.3f ms in start, threads, files, stacks and samples", separator, c->slow_ns / 1e6);
	if (c->load_ns > 0)
		buffer_print(ret, ", %.3f ms of the loader and the kernel", c->load_ns / 1e6);
}

void own_cost_line(const struct model *m, const struct own_cost *c, struct buffer *ret)
{
	uint64_t launcher_ns = array_sum(run, m->runs, m->run_count, run->cost.launcher_ns);

	buffer_print(ret, "%.3f ms own overhead", own_cost_ns(c) / 1e6);
	if (!c->is_known)
		buffer_text(ret, " in slow paths");
	else if (own_cost_ns(c) > 0)
		buffer_print(ret, " (+-%.0f %%)", error_percent(c));
	if (launcher_ns)
		buffer_print(ret, ", %.3f ms of the launcher", (double)launcher_ns / 1e6);
}
