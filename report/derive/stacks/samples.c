/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/stacks/samples.h"

enum { NANOSECONDS = 1000 };

uint64_t samples_ns(const struct event *e)
{
	return (uint64_t)e->text * NANOSECONDS;
}

bool samples_any(const struct model *m)
{
	for (size_t i = 0; i < m->image_count; i++)
		for (size_t k = 0; m->images[i].trace && k < m->images[i].trace->thread_count; k++)
			if (m->images[i].trace->threads[k].samples)
				return true;
	return false;
}
