/* SPDX-License-Identifier: Apache-2.0 */
/* What the ledger counts of images; the facts of several images add up. */
#pragma once

#include "report/events/cuda/device.h"
#include "report/events/usage.h"
#include "report/tables/run/ledger_list.h"
#include "report/time/own_cost.h"

struct ledger_facts {
	uint64_t counts[LEDGER_COUNTED]; /* by enum ledger_fact */
	uint64_t overhead_ns[DEVICE_OVERHEADS], sources, slow_ns;
	struct own_cost own;
};

/* Calls, samples, stacks and what was lost; device records and their calls; allocations. An image without a trace file
 * has only the first. */
void ledger_add_image(const struct usages *usages, const struct image *image, struct ledger_facts *f);
void ledger_add_device(const struct report_context *c, const struct image *image, struct ledger_facts *f);
/* The CPU time of the processes that were to be sampled, as the kernel knows it, beside that of their samples.
 * Processes with a capture range, and those of which the kernel's figure is not known, are not compared. */
struct ledger_cpu {
	uint64_t used_us, sampled_us, samples;
	uint64_t stepped_us; /* of threads whose samples stand for several periods each */
};
void ledger_compare_cpu(const struct usages *usages, struct ledger_cpu *ret);
/* Is more of it missing than 5 % and than three standard errors of the samples? */
bool ledger_cpu_is_missing(const struct ledger_cpu *cpu);

void ledger_add_memory(const struct model *m, const struct image *image, struct ledger_facts *f);
