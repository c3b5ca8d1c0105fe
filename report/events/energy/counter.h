/* SPDX-License-Identifier: Apache-2.0 */
/* All counters that the launchers sampled: those of GPUs and CPU packages (energy_counter.h), and those of machines
 * (--counters=host,net). */
#pragma once

#include "report/events/energy/energy_counter.h"

struct counter_point {
	uint64_t ns;  /* the common time, as of events */
	double value; /* until the next point; NaN: not known */
};

struct counter_series {
	size_t machine;
	const char *name, *unit; /* borrowed from the model */
	const char *set;	 /* gpu, cpu, host, net */
	char *of;		 /* the device or host, for people; "": the only host */
	bool is_rate;		 /* of something that adds up: the unit is one per second */
	size_t count;		 /* of points */
	/* private to counter.c */
	const struct energy_source *source;
	const struct energy_counter *kind;
	struct counter_point *points;
	size_t capacity;
	double scale;
};

/* By machine and set. Owned by the model. */
const struct counter_series *counters_of(const struct model *m, size_t *ret_count);

uint64_t counter_ns(const struct counter_series *s, size_t i);
/* False: it is not known. */
bool counter_value(const struct counter_series *s, size_t i, double *ret);
