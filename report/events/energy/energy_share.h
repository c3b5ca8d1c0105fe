/* SPDX-License-Identifier: Apache-2.0 */
/* Which part of a GPU's energy each device operation took: an estimate from sampled power, by time and class.
 *
 * Between two samples the energy is known, and when the device executed kernels, only copies and memsets, or nothing.
 *   idle      the idle power times the idle time, but at most the interval's energy times the idle share of the time.
 *             The idle power is that of intervals in which the device was idle throughout. Idle also takes the energy
 *             that exceeds the device's power limit.
 *   kernels   the rest of the energy while a kernel ran, each kernel in proportion to its time in the interval
 *   copies    the rest of the energy while copies or memsets ran and no kernel did, likewise
 * So the parts add up to the device's energy. Operations of all processes count, whatever the filter is. */
#pragma once

#include "report/events/cuda/device.h"
#include "report/events/energy/energy.h"

struct energy_share {
	const struct energy_source *source;
	double kernels, copies, idle; /* J; of the whole source */
	uint64_t busy_ns;	      /* in which anything ran */
	uint64_t outside_ns; /* of operations before the first sample and after the last one; they have no energy */
	uint64_t operations;
	/* private to energy_share.c: by the interval that begins at a point */
	struct energy_interval *intervals;
};

/* Reads the device records of all images at the first call; NULL: no GPU that executed anything was sampled. Owned by
 * the model. */
const struct energy_share *energy_shares(const struct report_context *c, size_t *ret_count);

/* What a device record of the image took, in J. */
double energy_of_record(const struct report_context *c, const struct image *image, const struct device_record *r);
