/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledger counts of images; the facts of several images add up. */
#ifndef PILLION_LEDGER_FACTS_H
#define PILLION_LEDGER_FACTS_H

#include "report/derive/device/correlate.h"
#include "report/stats/own_cost.h"

struct ledger_facts {
	struct correlate_counts correlated;
	uint64_t overhead_ns[DEVICE_OVERHEADS], more;
	uint64_t dropped, timeless, device_unreadable, sources;
	uint64_t texts_at_limit, stacks_cut;
	uint64_t traffic_uncounted, missing_files;
	uint64_t recorded, below, lost, threads_lost, torn, unmatched_pushes, unmatched_pops, unmatched_starts,
		unmatched_ends, stacks_lost, slow_ns, unreadable;
	struct own_cost own;
	uint64_t unknown_frees, replaced_blocks, failures_left_out; /* memory.h */
	uint64_t samples, sampled_us, stackless_samples, slowed, samples_by_perf;
};

/* Calls, samples, stacks and what was lost; device records and their calls; allocations. An image without a trace file
 * has only the first. */
void ledger_add_image(const struct model *m, const struct image *image, struct ledger_facts *f);
void ledger_add_device(const struct report_context *c, const struct image *image, struct ledger_facts *f);
void ledger_add_memory(const struct model *m, const struct image *image, struct ledger_facts *f);

uint64_t ledger_device_records(const struct ledger_facts *f);

#endif
