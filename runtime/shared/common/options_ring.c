/* SPDX-License-Identifier: Apache-2.0 */
/* --ring=30s or --ring=200MB. */
#include "runtime/shared/base/value.h"
#include "runtime/shared/common/options_set.h"

enum { RING_LEAST_NS = 100000000, RING_LEAST_BYTES = 16000000 };

/* A whole number with a unit: kB, MB or GB. */
static bool size_read(const char *s, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t bytes;
	} units[] = {{"kB", 1000}, {"MB", 1000000}, {"GB", 1000000000}};
	size_t digits = strspn(s, "0123456789");
	uint64_t n;

	if (!value_number(s, digits, &n))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(s + digits, units[i].unit) && n <= UINT32_MAX) {
			*ret = n * units[i].bytes;
			return true;
		}
	return false;
}

__attribute__((cold)) int options_set_ring(const struct option *row, void *settings, const char *value,
					   struct text *why)
{
	struct options *o = settings;
	uint64_t ns = 0, bytes = 0;

	if (!(value_duration(value, &ns) && ns >= RING_LEAST_NS) &&
	    !(size_read(value, &bytes) && bytes >= RING_LEAST_BYTES))
		return option_refuse(row, value, why);
	o->ring_ns = bytes ? 0 : ns;
	o->ring_bytes = bytes;
	return 0;
}

__attribute__((cold)) void options_print_ring(const void *settings, struct text *ret)
{
	const struct options *o = settings;

	if (o->ring_ns) {
		text_number(ret, o->ring_ns);
		text_add(ret, "ns");
	} else if (o->ring_bytes) {
		text_number(ret, o->ring_bytes / 1000);
		text_add(ret, "kB");
	}
}
