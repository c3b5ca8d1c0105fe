/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/stacks/samples.h"

enum { NANOSECONDS = 1000 };

uint64_t samples_ns(const struct event *e)
{
	return (uint64_t)e->text * NANOSECONDS;
}

static uint64_t count_samples(const struct image *image)
{
	uint64_t count = 0;

	for (size_t k = 0; image->trace && k < image->trace->thread_count; k++)
		count += image->trace->threads[k].samples;
	return count;
}

uint64_t samples_by_signals(const struct image *image)
{
	return image->via == TF_VIA_OBSERVED ? 0 : count_samples(image);
}

uint64_t samples_by_perf(const struct image *image)
{
	return image->via == TF_VIA_OBSERVED ? count_samples(image) : 0;
}

bool samples_any_by_perf(const struct model *m, size_t machine, uint32_t pid)
{
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].machine == machine && m->images[i].pid == pid && samples_by_perf(&m->images[i]))
			return true;
	return false;
}

bool samples_any(const struct model *m)
{
	for (size_t i = 0; i < m->image_count; i++)
		if (count_samples(&m->images[i]))
			return true;
	return false;
}
