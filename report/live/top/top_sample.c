/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a process that pillion did not start, and so does not sample: its Python frames, read at 20 Hz. */
#include <string.h>
#include <time.h>

#include "report/live/top/top.h"
#include "runtime/shared/common/clock.h"

enum { PERIOD_NS = 50000000 };

static void line_count(struct top *l, const struct where_item *item)
{
	const struct where_frame *line = where_item_line(item);
	struct top_line *known;

	if (!line || !line->is_python || item->thread->head.flags & TF_WHERE_IN_CALL)
		return;
	known = array_find(one, l->lines, l->line_count, one->line == line->line)
		?: mem_new(l->lines, l->line_count, l->line_capacity, (struct top_line){line->line, 0});
	known->samples++;
}

void top_sample_one(struct top *l)
{
	SCOPED(model) m = {0};
	SCOPED(where_place) place = {0};
	SCOPED(texts) errors = {0};
	uint64_t request;

	if (!l->files)
		l->files = where_files_new();
	request = top_look(&m, l->processes, l->count, WHERE_WITHOUT_FILES | WHERE_PYTHON_ONLY, &errors);

	where_place_read_now(&place, &m, NULL, request, l->files);
	for (size_t i = 0; i < place.count; i++) {
		where_place_stack(&place, &place.items[i]);
		line_count(l, &place.items[i]);
	}
	l->sample_count++;
}

void top_sample(struct top *l, uint64_t until_ns)
{
	uint64_t due = clock_monotonic_ns(), now;

	l->line_count = l->sample_count = 0;
	while ((now = clock_monotonic_ns()) < until_ns) {
		struct timespec pause = {0};

		if (now >= due) {
			top_sample_one(l);
			due = due + PERIOD_NS > now ? due + PERIOD_NS : now + PERIOD_NS;
			continue;
		}
		due = due < until_ns ? due : until_ns;
		pause.tv_sec = (time_t)((due - now) / 1000000000u);
		pause.tv_nsec = (long)((due - now) % 1000000000u);
		nanosleep(&pause, NULL);
	}
}
