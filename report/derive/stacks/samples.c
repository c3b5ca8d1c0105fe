/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/stacks/samples.h"

#include <stdlib.h>
#include <string.h>

enum { NANOSECONDS = 1000 };

bool samples_are(const struct event *e)
{
	return e->kind == TF_SAMPLE || (e->kind == TF_SUM && e->text & TF_SUM_IS_SAMPLE);
}

uint64_t samples_count(const struct event *e)
{
	return e->kind == TF_SUM ? event_sum(e).count : 1;
}

uint64_t samples_ns(const struct event *e)
{
	return (e->kind == TF_SUM ? event_sum(e).total : e->text) * NANOSECONDS;
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

/* ---- why there are none ---- */

static void unsampled_add(const struct model *m, size_t machine, uint32_t pid, const char *note, struct unsampled *u,
			  struct map *seen)
{
	const char *reason;
	bool is_new;
	size_t i = 0;

	if (note_decode(note, &reason) != NOTE_NO_SAMPLES || samples_any_by_perf(m, machine, pid))
		return;
	reason += strspn(reason, ", ");
	while (i < u->reasons.count && strcmp(u->reasons.items[i], reason) != 0)
		i++;
	if (i == u->reasons.count) {
		u->processes = mem_grow(u->processes, i, &u->capacity, sizeof(*u->processes));
		u->processes[i] = 0;
		texts_add(&u->reasons, "%s", reason);
	}
	map_put(seen, (uint64_t)i << 32 | pid, machine, &is_new);
	u->processes[i] += is_new;
}

void unsampled_find(const struct model *m, struct unsampled *ret)
{
	struct buffer text = {0};
	struct map seen = {0};

	*ret = (struct unsampled){0};
	for (size_t i = 0; i < m->note_count; i++)
		unsampled_add(m, m->notes[i].machine, m->notes[i].pid, m->notes[i].text, ret, &seen);
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];

		for (size_t k = 0; image->trace && k < image->trace->blob_count; k++) {
			if (image->trace->blobs[k].type != TF_BLOB_NOTE)
				continue;
			buffer_clear(&text);
			trace_text(image->trace, &image->trace->blobs[k], &text);
			unsampled_add(m, image->machine, image->pid, buffer_string(&text), ret, &seen);
		}
	}
	buffer_done(&text);
	map_done(&seen);
}

void unsampled_done(struct unsampled *u)
{
	texts_done(&u->reasons);
	free(u->processes);
}
