/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/energy/energy_counter.h"

/* That of the interval: after the last point nothing is known. */
static bool power(const struct energy_source *s, size_t i, double *ret)
{
	if (i + 1 >= s->count || s->is_unknown)
		return false;
	*ret = energy_watts(s, i + 1);
	return true;
}

static bool energy(const struct energy_source *s, size_t i, double *ret)
{
	*ret = s->points[i].joules;
	return !s->is_unknown;
}

static bool slowed(const struct energy_source *s, size_t i, double *ret)
{
	*ret = (s->points[i].sample.reasons & ENERGY_SLOWDOWNS) != 0;
	return s->points[i].sample.reasons != TF_ENERGY_UNKNOWN;
}

/* Fields that are told as they are; `unknown` has all bits set. */
#define FIELD(function, field, unknown)                                                       \
	static bool function(const struct energy_source *s, size_t i, double *ret)            \
	{                                                                                     \
		*ret = (double)s->points[i].sample.field;                                     \
		return s->points[i].sample.field != (unknown);                                \
	}

FIELD(sm_clock, sm_mhz, UINT16_MAX)
FIELD(memory_clock, memory_mhz, UINT16_MAX)
FIELD(busy, busy_percent, UINT8_MAX)
FIELD(memory_busy, memory_percent, UINT8_MAX)
FIELD(memory_used, memory_bytes, TF_ENERGY_UNKNOWN)
FIELD(temperature, celsius, UINT8_MAX)

const struct energy_counter energy_counters[ENERGY_COUNTERS] = {
	{"Power", "W", power},
	{"Energy", "J", energy},
	{"SM clock", "MHz", sm_clock},
	{"Memory clock", "MHz", memory_clock},
	{"Clocks lowered", "", slowed},
	{"GPU busy", "%", busy},
	{"Memory busy", "%", memory_busy},
	{"Memory in use", "bytes", memory_used},
	{"Temperature", "C", temperature},
};
