/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path as a process of its own, with a row for each thread and stream that is on it. Where it goes from
 * one to another, an arrow leads to the stretch that waited. Rows of the threads themselves would not do: an arrow
 * needs a slice at each end, and computing has none. */
#include <stdlib.h>

#include "report/base/table/json_writer.h"
#include "report/causes/path.h"
#include "report/export/export_chrome.h"

/* The pid, unless a process has it, and the place below the devices. */
enum { CRITICAL_PID = 9000000, CRITICAL_PLACE = 6000000 };

struct chrome_path {
	struct chrome *chrome;
	struct causality *causes;
	struct map rows; /* actor -> it has a name */
	uint32_t pid;
};

static void begin_process(struct chrome_path *p)
{
	bool is_new;

	p->pid = timeline_pid(&p->chrome->process_numbers, CRITICAL_PID, UINT64_MAX, &is_new);
	chrome_meta(p->chrome, p->pid, 0, "process_name", "name", "\"critical path\"");
	buffer_set(&p->chrome->scratch, "%d", CRITICAL_PLACE);
	chrome_meta(p->chrome, p->pid, 0, "process_sort_index", "sort_index", p->chrome->scratch.data);
}

static uint32_t tid_of(struct chrome_path *p, uint32_t actor)
{
	SCOPED(buffer) name = {0}, json = {0};
	bool is_new;

	map_put(&p->rows, actor, 0, &is_new);
	if (is_new) {
		actor_words(&p->causes->actors[actor], &name);
		json_add(&json, buffer_string(&name));
		chrome_meta(p->chrome, p->pid, actor + 1, "thread_name", "name", json.data);
	}
	return actor + 1;
}

static uint64_t time_of(const struct chrome_path *p, uint64_t ns)
{
	return p->chrome->timeline.model->origin_ns + ns;
}

static void add_stretch(struct chrome_path *p, const struct path_slice *slice)
{
	struct chrome *w = p->chrome;
	uint32_t tid = tid_of(p, slice->actor);

	buffer_clear(&w->scratch);
	path_slice_words(p->causes, slice, &w->scratch);
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":");
	sink_json(w->out, buffer_string(&w->scratch));
	chrome_number(w, ",\"pid\":", p->pid);
	chrome_number(w, ",\"tid\":", tid);
	chrome_time(w, time_of(p, slice->start_ns));
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)(slice->end_ns - slice->start_ns));
	sink_text(w->out, "}");
}

static void add_arrow(struct chrome_path *p, const struct path_slice *from, const struct path_slice *to)
{
	p->chrome->next_flow++;
	chrome_flow(p->chrome, "critical_path", true, p->pid, tid_of(p, from->actor), time_of(p, from->start_ns));
	chrome_flow(p->chrome, "critical_path", false, p->pid, tid_of(p, to->actor), time_of(p, to->start_ns));
}

void chrome_critical(struct chrome *w)
{
	struct chrome_path p = {.chrome = w, .causes = causes_find(w->x->context)};
	SCOPED_MEMORY struct path_slice *slices = NULL;
	size_t count = p.causes ? path_slices(p.causes, &slices) : 0;

	if (count)
		begin_process(&p);
	for (size_t i = 0; i < count; i++) {
		add_stretch(&p, &slices[i]);
		if (i && slices[i].actor != slices[i - 1].actor)
			add_arrow(&p, &slices[i - 1], &slices[i]);
	}
	map_done(&p.rows);
	causes_free(p.causes);
}
