/* SPDX-License-Identifier: Apache-2.0 */
/* The samples of a source as counters over time, for exports. */
#pragma once

#include "report/events/energy/energy.h"

struct energy_counter {
	const char *name, *unit;
	/* The value from point i to the next one; false: it is not known. */
	bool (*value)(const struct energy_source *s, size_t i, double *ret);
};

enum { ENERGY_COUNTERS = 9 }; /* the first one is the power */
extern const struct energy_counter energy_counters[ENERGY_COUNTERS];
