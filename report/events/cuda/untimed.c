/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/untimed.h"

#include <inttypes.h>

#include "report/events/cuda/correlate.h"

/* A copy of nothing, or within the host's memory, may have no record. */
static void count_if_recorded(void *count, const struct correlated *k)
{
	uint64_t copy = event_arg(&k->event, TF_ARG_COPY);

	*(uint64_t *)count += !copy || (tf_arg_value(copy) && tf_arg_small(copy));
}

uint64_t untimed_calls(const struct report_context *c, const struct image *image)
{
	struct device_source source = device_source(image->trace);
	struct tf_device_lost lost = device_lost(image->trace);
	struct correlate_counts counts = {0};
	uint64_t calls = 0;

	if (!source.is_known || source.kind != TF_SOURCE_CUPTI || lost.dropped || lost.timeless || lost.unreadable ||
	    (image->end != TF_END_EXIT && image->end != TF_END_EXEC))
		return 0;
	correlate_image(c, image, NULL, NULL, &counts);
	if (counts.idle && !counts.matched && !counts.without_call && !counts.broken)
		correlate_unfiltered(c, image, &calls, count_if_recorded);
	return calls;
}

void untimed_text(uint64_t calls, struct buffer *ret)
{
	buffer_print(ret,
		     "CUPTI was enabled without an error, but delivered no record of %" PRIu64 " launch%s, copies or "
		     "memsets: run again with --gpu-activity=events, which takes device times from CUDA events",
		     calls, calls == 1 ? "" : "es");
}
