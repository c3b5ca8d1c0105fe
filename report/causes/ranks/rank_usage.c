/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel accounted to ranks. */
#include <stdlib.h>

#include "report/causes/ranks/rank_build.h"

/* CPUs were taken from some ranks if these waited so many times as long for one as the others. */
enum { MUCH = 2 };
/* Page faults matter if there is one in so much time: it takes 0.3 us on a machine, and 5 us in a virtual one. */
enum { FAULT_EVERY_NS = 10000 };

/* How long the main thread of a rank was runnable without a CPU. */
static uint64_t delay_of(const struct delays *d, const struct image *image, uint64_t *ret_cpu_ns)
{
	struct usage_of usage = usages_recorded(d->usages, image, image->pid, 0, UINT64_MAX);
	bool is_known = usage.ticks && usage.delay_ns != TF_USAGE_UNKNOWN && usage.cpu_ns != TF_USAGE_UNKNOWN;

	*ret_cpu_ns = is_known ? usage.cpu_ns : 0;
	return is_known ? usage.delay_ns : 0;
}

PLACE_COMPARATOR(compare_ratios, double, (*a > *b) - (*a < *b))

void rank_usage_find(struct delays *d)
{
	SCOPED_MEMORY double *ratios = mem_alloc((d->lane_count + 1) * sizeof(*ratios));
	SCOPED_MEMORY size_t *order = NULL;

	d->usages = usages_new(d->context->model);
	for (size_t i = 0; i < d->lane_count; i++) {
		uint64_t cpu, delay = delay_of(d, d->lanes[i].image, &cpu);

		ratios[i] = cpu ? (double)delay / (double)cpu : 0;
	}
	order = places_in_order(d->lane_count, compare_ratios, ratios);
	d->delay_ratio = d->lane_count ? ratios[order[(d->lane_count - 1) / 2]] : 0;
}

bool rank_usage_waited(const struct rank_set *s, const struct rank_part *p)
{
	const struct delays *d = s->delays;
	uint64_t cpu;
	double members = array_sum(lane, s->lanes, s->count, (double)delay_of(d, d->lanes[*lane].image, &cpu)), all = 0;

	for (size_t i = 0; i < d->lane_count; i++)
		all += (double)delay_of(d, d->lanes[i].image, &cpu);
	if (members * 2 < p->path_ns)
		return false;
	/* too few CPUs for all delay all */
	return s->count < d->lane_count &&
	       members / (double)s->count >= MUCH * (all - members) / (double)(d->lane_count - s->count);
}

/* Without those of its start: the median of the ranks has them, too. */
static double faults_of(const struct delays *d, const struct image *image)
{
	struct usage_of usage = usages_recorded(d->usages, image, 0, 0, UINT64_MAX);

	return usage.ticks && usage.minor_faults != TF_USAGE_UNKNOWN ? (double)usage.minor_faults : 0;
}

uint64_t rank_usage_faults(const struct rank_set *s, const struct cause_choice *c)
{
	const struct delays *d = s->delays;
	double *faults = mem_alloc((d->lane_count + 1) * sizeof(*faults)), usual, more = 0, path_ns = 0;
	SCOPED_MEMORY size_t *order = NULL;

	for (size_t i = 0; i < d->lane_count; i++)
		faults[i] = faults_of(d, d->lanes[i].image);
	order = places_in_order(d->lane_count, compare_ratios, faults);
	usual = d->lane_count ? faults[order[(d->lane_count - 1) / 2]] : 0;
	more += array_sum(lane, s->lanes, s->count, faults[*lane] > usual ? faults[*lane] - usual : 0);
	for (size_t i = 0; i < d->part_count; i++)
		path_ns += c->chosen[i] ? d->parts[i].path_ns : 0;
	free(faults);
	return more * FAULT_EVERY_NS >= path_ns ? (uint64_t)more : 0;
}
