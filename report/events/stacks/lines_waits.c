/* SPDX-License-Identifier: Apache-2.0 */
/* What threads waited for a CPU before their samples. Calls that are not recorded, such as a futex of OpenMP's runtime
 * by inline assembler, leave the same gaps: no more of a thread's gaps is a wait than the kernel has counted. */
#include "report/events/stacks/lines_pass.h"

void lines_waits_add(struct lines_pass *w, size_t site, int64_t ns)
{
	if (!w->usages || !ns)
		return;
	if (!w->sites[site].waited)
		mem_append(w->waiting, w->waiting_count, w->waiting_capacity, site);
	w->sites[site].waited += ns;
	w->gaps += ns;
}

/* How long the thread was runnable without a CPU; 0: not known. */
static uint64_t counted_ns(const struct lines_pass *w, const struct image *image, const struct trace_thread *thread)
{
	uint64_t start = thread->page ? thread->page->start_ticks : thread->first_ticks,
		 end = thread->page ? thread->page->end_ticks : 0;
	struct usage_of of = usages_recorded(w->usages, image, thread->tid, start,
					     end && end < image->end_ticks ? end : UINT64_MAX);

	usage_complete(&of, usages_sampled(w->usages, image, thread->tid));
	return of.delay_ns == TF_USAGE_UNKNOWN ? 0 : of.delay_ns;
}

void lines_waits_end(struct lines_pass *w)
{
	uint64_t limit;

	if (!w->waiting_count)
		return;
	limit = counted_ns(w, w->sites[*w->waiting].image, w->thread);
	array_each(const size_t, number, w->waiting, w->waiting_count) {
		struct site *site = &w->sites[*number];
		double share = (double)limit < (double)w->gaps ? (double)limit / (double)w->gaps : 1;

		site->values[LINE_SYSTEM] += (uint64_t)((double)site->waited * share);
		site->waited = 0;
	}
	w->waiting_count = 0;
	w->gaps = 0;
}
