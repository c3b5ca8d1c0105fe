/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/short_sample.h"

#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/common/clock.h"

void short_choose(struct thread *t)
{
	const uint32_t all = process_options.osrt_short_sampling, last = t->short_place;

	if (!all)
		return; /* after 2^32 calls the next time */
	t->short_place = 1 + (uint32_t)((clock_now() + t->number) * 0x9e3779b97f4a7c15 >> 32) % all;
	t->short_left = (last ? all - last : 0) + t->short_place;
}
