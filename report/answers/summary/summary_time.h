/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary that divide time: one for each role, one for the devices; and what they
 * lacked and used. */
#pragma once

#include "report/answers/roles/role.h"
#include "report/events/cuda/gap.h"

/* Width of the word that a line begins with. */
enum { SUMMARY_LABEL = 10, SUMMARY_PARTS = 3 };

/* A part of a whole, in a line "75 % waits for a CPU · 8 % CPU job.py:36 decode". */
struct time_part {
	uint64_t ns;
	struct buffer words;
	bool is_kept; /* it is shown, however small: where the user's own code computes */
};

/* Appends "rank 3", or "job.py (12345)" with its PID. */
void summary_process(const struct model *m, const struct process *p, struct buffer *ret);

/* A line for each of the `lines` roles that take most time, and one for what is folded. */
void summary_roles(const struct report_context *c, const struct roles *roles, size_t lines, struct buffer *ret);

/* Machines with different names. */
size_t summary_hosts(const struct model *m);

/* How long devices were busy, divided among what they executed, and idle; wall_ns 0: none was used. */
enum { DEVICE_KERNELS, DEVICE_COPIES, DEVICE_GRAPHS, DEVICE_IDLE, DEVICE_SHARES };
extern const char *const device_share_names[DEVICE_SHARES];
struct device_shares {
	uint64_t ns[DEVICE_SHARES], wall_ns;
};
void summary_device_shares(const struct report_context *c, const struct gaps *g, bool has_ranges,
			   struct device_shares *ret);

/* Kernels, copies, graphs and idle time with its causes; nothing if no device was used. */
void summary_devices(const struct report_context *c, const struct gaps *g, bool has_ranges, struct buffer *ret);

/* Why device operations that were requested have no times; nothing if all have. */
void summary_untimed(const struct report_context *c, struct buffer *ret);
