/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/samples.h"

#include <stdio.h>
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

/* Whether perf took samples of a process of this pid. */
static bool has_any_by_perf(const struct model *m, size_t machine, uint32_t pid)
{
	return array_find(image, m->images, m->image_count,
			  image->machine == machine && image->pid == pid && samples_by_perf(image)) != NULL;
}

bool samples_any(const struct model *m)
{
	return array_find(image, m->images, m->image_count, count_samples(image)) != NULL;
}

/* ---- why there are none ---- */

/* The first image of the process, and when the last sample of any of them was taken. */
static const struct image *process_samples(const struct model *m, size_t machine, uint32_t pid, uint64_t *ret_last_ns)
{
	const struct clock_map *clock = &m->machines[machine].clock;
	const struct image *first = NULL;

	array_each(const struct image, image, m->images, m->image_count) {
		if (image->machine != machine || image->pid != pid)
			continue;
		first = first ? first : image;
		for (size_t k = 0; image->trace && k < image->trace->thread_count; k++) {
			uint64_t ticks = image->trace->threads[k].last_sample_ticks;
			uint64_t ns = ticks ? model_since_origin(m, clock_map_ns(clock, ticks)) : 0;

			*ret_last_ns = ns > *ret_last_ns ? ns : *ret_last_ns;
		}
	}
	return first;
}

static void unsampled_add(const struct model *m, size_t machine, uint32_t pid, const char *note, struct unsampled *u,
			  struct map *seen)
{
	struct unsampled_reason *known;
	const struct image *image;
	const char *reason;
	bool is_new;

	if (note_decode(note, &reason) != NOTE_NO_SAMPLES || has_any_by_perf(m, machine, pid))
		return;
	reason += strspn(reason, ", ");
	known = list_find(one, u, !strcmp(one->text, reason))
		?: list_new(u, (struct unsampled_reason){.text = mem_copy_text(reason, strlen(reason))});
	map_put(seen, (uint64_t)(known - u->items) << 32 | pid, machine, &is_new);
	if (!is_new)
		return;
	known->processes++;
	image = process_samples(m, machine, pid, &known->last_ns);
	if (!known->first)
		known->first = image;
}

void unsampled_find(const struct model *m, struct unsampled *ret)
{
	SCOPED(buffer) text = {0};
	SCOPED(map) seen = {0};

	*ret = (struct unsampled){0};
	for (size_t i = 0; i < m->note_count; i++)
		unsampled_add(m, m->notes[i].machine, m->notes[i].pid, m->notes[i].text, ret, &seen);
	array_each(const struct image, image, m->images, m->image_count) {
		blobs_each(b, image->trace, TF_BLOB_NOTE) {
			buffer_clear(&text);
			trace_text(image->trace, b, &text);
			unsampled_add(m, image->machine, image->pid, buffer_string(&text), ret, &seen);
		}
	}
}

void unsampled_done(struct unsampled *u)
{
	array_free(item, u->items, u->count, free(item->text));
}

/* Of which processes, and from when on; the recorder's notes begin with "from here on, " if they had samples before. */
static void add_since(const struct unsampled_reason *r, const char *who, bool has_begun, struct buffer *ret)
{
	buffer_print(ret, "no CPU samples of %s", who);
	if (has_begun && r->last_ns)
		buffer_print(ret, " after %.3g s", (double)r->last_ns / 1e9);
}

void unsampled_words(const struct unsampled_reason *r, struct buffer *ret)
{
	static const char begun[] = "from here on, ", *const subjects[] = {"the program ", "the process "};
	bool has_begun = !strncmp(r->text, begun, strlen(begun));
	const char *reason = r->text + (has_begun ? strlen(begun) : 0);
	char name[32] = "a process", who[80];

	if (r->first)
		image_program(r->first, name, sizeof(name));
	for (size_t i = 0; r->processes == 1 && i < sizeof(subjects) / sizeof(*subjects); i++)
		if (!strncmp(reason, subjects[i], strlen(subjects[i]))) {
			buffer_print(ret, "%s %s: ", name, reason + strlen(subjects[i]));
			add_since(r, "it", has_begun, ret);
			return;
		}
	snprintf(who, sizeof(who), r->processes == 1 ? "%s" : "%s (%zu processes)", name, r->processes);
	add_since(r, who, has_begun, ret);
	buffer_print(ret, ": %s", reason);
}
