/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/top/top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/live/live_runs.h"
#include "report/names/symbol.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/process_stat.h"

static void process_done(struct top_process *p)
{
	top_reading_done(&p->before);
	top_reading_done(&p->now);
	free(p->rank);
	free(p->host);
	free(p->command);
}

static void round_done(struct top *t)
{
	if (!t->has_round)
		return;
	where_place_done(&t->place);
	symbols_free(t->symbols);
	model_done(&t->model);
	texts_done(&t->problems);
	texts_done(&t->notes);
	texts_done(&t->captures);
	t->place = (struct where_place){0};
	t->model = (struct model){0};
	t->problems = t->notes = t->captures = (struct texts){0};
	t->has_round = false;
}

/* ---- which processes there are ---- */

static struct top_process *process_find(struct top *t, uint32_t pid, uint64_t start, const char *host)
{
	struct top_process *p = array_find(one, t->processes, t->count,
					   one->pid == pid && one->start == start && !strcmp(one->host, host));

	if (!p)
		p = mem_new(t->processes, t->count, t->capacity,
			    (struct top_process){.pid = pid, .start = start,
						 .host = mem_copy_text(host, strlen(host))});
	p->was_seen = true;
	return p;
}

/* On other machines nobody can see whether a process has been killed. */
static bool is_running(const struct model *m, const struct process *p, const struct image *last)
{
	const struct run_record *run = model_run(m, last);

	return p->is_running || (!m->machines[p->machine].is_this && last->end == TF_END_NONE && !p->has_status &&
				 last->via != TF_VIA_OBSERVED && run && !run->has_ended);
}

static void local_find(struct top *t, const struct live_run *run)
{
	array_each(const struct live_process, p, run->processes, run->process_count) {
		struct top_process *found = process_find(t, p->pid, p->start, run->host);

		found->run = run->id;
		found->is_here = true;
		mem_replace_text(&found->rank, mem_copy_text(p->rank, strlen(p->rank)));
		mem_replace_text(&found->command, mem_copy_text(p->command, strlen(p->command)));
	}
}

/* The processes of other machines, as the captures have them. */
static void remote_find(struct top *t)
{
	const struct model *m = &t->model;

	array_each(const struct process, p, m->processes, m->process_count) {
		const struct image *last = &m->images[p->first_image + p->image_count - 1];
		struct top_process *found;

		if (m->machines[p->machine].is_this || !is_running(m, p, last))
			continue;
		found = process_find(t, p->pid, last->process_start, m->machines[p->machine].host);
		found->run = last->run;
		mem_replace_text(&found->rank, mem_copy_text(p->rank, strlen(p->rank)));
		mem_replace_text(&found->command, mem_copy_text(p->command, strlen(p->command)));
	}
}

static void foreign_find(struct top *t)
{
	struct process_stat stat;
	struct top_process *found;

	if (!process_stat_read(t->pid, &stat) || stat.state == 'Z')
		return;
	found = process_find(t, t->pid, stat.start, t->machine);
	found->is_here = true;
	mem_replace_text(&found->rank, mem_copy_text("", 0));
	mem_replace_text(&found->command, top_command(t->pid));
}

/* The process of the target, if that is a PID. */
static uint32_t target_pid(const char *target)
{
	unsigned long number = target && *target ? strtoul(target, NULL, 10) : 0;

	return number && number <= INT32_MAX && !target[strspn(target, "0123456789")] ? (uint32_t)number : 0;
}

static void captures_find(struct top *t, const struct live_runs *runs)
{
	SCOPED(buffer) path = {0};
	struct err err;

	for (size_t i = 0; i < runs->count; i++)
		if (!i || strcmp(runs->items[i].capture, runs->items[i - 1].capture) != 0)
			texts_add(&t->captures, "%s", runs->items[i].capture);
	/* All its processes may be on other machines. */
	if (!runs->count && t->target && !model_find(t->target, false, &path, &err))
		texts_add(&t->captures, "%s", path.data);
	t->pid = t->captures.count ? 0 : target_pid(t->target);
}

static int processes_list(struct top *t, struct err *err)
{
	struct live_runs runs;
	int code = live_find(t->target, &runs, err);

	if (!code)
		captures_find(t, &runs);
	if (!code && t->captures.count)
		code = model_open(&t->model, t->captures.items, t->captures.count, err);
	for (size_t i = 0; i < t->count; i++)
		t->processes[i].was_seen = false;
	for (size_t i = 0; !code && i < runs.count; i++)
		local_find(t, &runs.items[i]);
	if (!code)
		remote_find(t);
	if (!code && t->pid)
		foreign_find(t);
	live_done(&runs);
	return code;
}

static void processes_forget(struct top *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		if (t->processes[i].was_seen)
			t->processes[kept++] = t->processes[i];
		else
			process_done(&t->processes[i]);
	}
	t->count = kept;
}

/* ---- what they have used ---- */

static uint64_t rate_of(uint64_t before, uint64_t now, double seconds)
{
	return before == TOP_UNKNOWN || now == TOP_UNKNOWN || now < before
		       ? TOP_UNKNOWN
		       : (uint64_t)((double)(now - before) / seconds + 0.5);
}

static const struct top_thread *thread_of(const struct top_reading *r, uint32_t tid)
{
	size_t i = first_place(at, 0, r->thread_count, r->threads[at].tid < tid);

	return i < r->thread_count && r->threads[i].tid == tid ? &r->threads[i] : NULL;
}

/* Of the thread that has used most CPU time, the main thread among equals: the time in which it neither ran nor waited
 * for a CPU. */
static void find_busiest(struct top_process *p, double seconds)
{
	uint64_t most = 0;

	p->busiest = p->pid;
	p->wait_percent = -1;
	for (size_t i = 0; i < p->now.thread_count; i++) {
		const struct top_thread *t = &p->now.threads[i], *was = thread_of(&p->before, t->tid);
		uint64_t cpu = t->cpu_ns - (was ? was->cpu_ns : 0), delay = t->delay_ns - (was ? was->delay_ns : 0);
		double waited = 100 - (double)(cpu + delay) / (seconds * 1e7);

		if (cpu < most || (cpu == most && t->tid != p->pid))
			continue;
		most = cpu;
		p->busiest = t->tid;
		p->wait_percent = waited > 0 ? waited : 0;
	}
}

static void process_measure(struct top_process *p)
{
	double seconds = (double)(p->now.at_ns - p->before.at_ns) / 1e9;

	p->cpu_percent = p->wait_percent = p->gpu_percent = -1;
	p->device_bytes = p->read_per_s = p->written_per_s = TOP_UNKNOWN;
	p->busiest = p->pid;
	p->item = NULL;
	if (!p->before.at_ns || !p->now.at_ns || seconds <= 0 || p->now.cpu_ns < p->before.cpu_ns)
		return;
	p->cpu_percent = (double)(p->now.cpu_ns - p->before.cpu_ns) / (seconds * 1e7);
	p->read_per_s = rate_of(p->before.read_bytes, p->now.read_bytes, seconds);
	p->written_per_s = rate_of(p->before.written_bytes, p->now.written_bytes, seconds);
	find_busiest(p, seconds);
}

COMPARATOR(process_order, struct top_process,
	   (a->cpu_percent < b->cpu_percent) - (a->cpu_percent > b->cpu_percent) ?: order_of(a->pid, b->pid))

static void processes_read(struct top *t)
{
	array_each(struct top_process, p, t->processes, t->count) {
		if (p->is_here) {
			top_reading_done(&p->before);
			p->before = p->now;
			p->was_seen = top_reading_take(p->pid, &p->now);
		} else {
			top_remote_read(&t->model, p);
		}
		process_measure(p);
	}
	processes_forget(t);
	top_devices_read(t);
	array_sort(t->processes, t->count, process_order);
}

/* ---- where they are ---- */

static const struct look_process *process_of(const struct where_item *item, const struct top_process *p)
{
	const struct look_process *found = item->process;

	return found->head.pid == p->pid && (found->run == p->run) ? found : NULL;
}

static struct where_item *item_of(struct top *t, const struct top_process *p, uint32_t tid)
{
	return list_find(item, &t->place, process_of(item, p) && item->thread->head.tid == tid);
}

/* The stack that is there now; where it cannot be followed, as in the vDSO, the last one that was recorded. */
static bool has_line(struct top *t, struct where_item *item)
{
	where_place_stack(&t->place, item);
	if (!where_item_line(item) && item->image && !item->is_recorded) {
		where_item_from_trace(item, &t->model);
		where_place_stack(&t->place, item);
	}
	return where_item_line(item);
}

static void places_read(struct top *t)
{
	uint64_t request;

	if (!t->files)
		t->files = where_files_new();
	request = top_look(&t->model, t->processes, t->count, WHERE_WITHOUT_FILES, &t->problems);
	where_place_read_now(&t->place, &t->model, t->symbols, request, t->files);
	array_each(struct top_process, p, t->processes, t->count) {
		struct where_item *busiest = item_of(t, p, p->busiest), *first = item_of(t, p, p->pid);

		if (busiest && has_line(t, busiest))
			p->item = busiest;
		else if (first && has_line(t, first))
			p->item = first;
	}
}

static void say_unread(struct top *t)
{
	uint64_t bytes = array_sum(image, t->model.images, t->model.image_count,
				   image->trace ? image->trace->unread_bytes : 0);

	if (bytes)
		texts_add(&t->notes,
			  "%.0f MB of what was recorded earlier were not read: what was defined there has no name",
			  (double)bytes / 1e6);
}

int top_round(struct top *t, bool looks, struct err *err)
{
	int code;

	round_done(t);
	t->has_round = true;
	if (!*t->machine)
		gethostname(t->machine, sizeof(t->machine) - 1);
	reader_since_ns = looks ? clock_realtime_ns() - TOP_LAST_NS : UINT64_MAX;
	code = processes_list(t, err);
	reader_since_ns = 0;
	t->symbols = symbols_new(&t->model, true);
	if (code)
		return code;
	t->at_ns = clock_realtime_ns();
	processes_read(t);
	if (!t->count)
		return err_set(err, -ENOENT, t->target ? "%s: no such live run or process" : "no live run of this user",
			       t->target);
	if (!looks)
		return 0;
	places_read(t);
	say_unread(t);
	return 0;
}

void top_line_text(const struct top_process *p, struct buffer *ret)
{
	const struct where_frame *line = p->item ? where_item_line(p->item) : NULL;

	if (line)
		code_line_text(line->line, ret);
}
