/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the partition of the lifetime of each thread. */
#include "report/time/partition.h"

#include <stdlib.h>
#include <string.h>

#include "report/time/children.h"

/* A thread that was off the CPU for less has no run delay worth reading; see the recorder's usage.c. */
#define DELAY_NS 1000000ull
#define DELAY_PER_SWITCH_NS 500000000ull

/* The parts of stats --partial make the partition twice: first each gathers the calls of its threads, then part 0,
 * which has those of all threads by then, completes it. */
struct calls_shared {
	struct buffer bytes; /* of this part: the number of a thread, and its calls */
	struct map places;   /* the number of a thread -> where its calls are in `bytes` */
	size_t threads;	     /* so far */
	bool is_complete;
};

struct maker {
	const struct report_context *context;
	const struct clock_map *clock;
	struct usages *usages;
	struct cpu_limits *limits;
	struct partition *partition;
	bool has_calls;
	struct calls_shared *shared; /* NULL: this process reads the calls of all threads */
	/* accounts of the main thread at the end of the previous image of its process */
	uint64_t base_cpu_ns, base_delay_ns;
	uint64_t base_ticks; /* when it called exec; 0: not known */
};

static uint64_t add_known(uint64_t sum, uint64_t part)
{
	return part == TF_USAGE_UNKNOWN ? sum : sum + part;
}

void partition_settle(struct thread_time *t, uint64_t span_ns, uint64_t before_ns)
{
	uint64_t used = t->cpu_ns + t->delay_ns;

	t->lifetime_ns = span_ns + before_ns;
	t->lifetime_ns = larger_of(t->lifetime_ns, used);
	t->blocked_ns = t->lifetime_ns - used;
	t->stopped_ns = smaller_of(t->stopped_ns, t->blocked_ns);
}

/* ---- one thread ---- */

static struct thread_time *thread_new(struct maker *k, const struct image *image, enum thread_origin origin,
				      uint32_t tid)
{
	struct partition *p = k->partition;

	mem_append(p->threads, p->count, p->capacity,
		   (struct thread_time){.process = image->process, .image = image, .origin = origin, .tid = tid});
	return &p->threads[p->count - 1];
}

static void thread_use(struct thread_time *t, const struct usage_of *of, uint64_t base_cpu_ns, uint64_t base_delay_ns)
{
	t->cpu_is_known = of->cpu_ns != TF_USAGE_UNKNOWN;
	t->delay_is_known = of->delay_ns != TF_USAGE_UNKNOWN;
	t->cpu_ns = t->cpu_is_known ? rest_of(of->cpu_ns, base_cpu_ns) : 0;
	t->delay_ns = t->delay_is_known ? rest_of(of->delay_ns, base_delay_ns) : 0;
	t->voluntary = of->voluntary;
	t->involuntary = of->involuntary;
}

/* When the kernel began to account for the thread; 0: not known. */
static uint64_t created_ticks(const struct trace_thread *thread)
{
	const struct tf_thread *page = thread ? thread->page : NULL;

	return page && page->created_ticks <= page->start_ticks ? page->created_ticks : 0;
}

/* Linux 6.18 counts the sleep of some threads as run delay when a machine is overloaded: 12 s of a sleep of 12 s. Such
 * a delay contradicts the calls that only waited meanwhile, and is far longer for each switch than a scheduler lets a
 * thread wait. If the switches are not known, because another thread described this one, each call counts as one. */
static bool delay_is_wrong(const struct thread_time *t, uint64_t alive_ns)
{
	uint64_t calls, waits_ns = blocked_waits(&t->blocked, &calls),
			switches = t->voluntary + t->involuntary > calls ? t->voluntary + t->involuntary : calls;

	return waits_ns && t->delay_ns / (switches + 1) > DELAY_PER_SWITCH_NS &&
	       waits_ns + t->delay_ns > alive_ns + alive_ns / 5;
}

static void calls_save(struct calls_shared *s, const struct thread_time *t)
{
	buffer_number(&s->bytes, s->threads);
	buffer_number(&s->bytes, t->blocked.count);
	for (size_t i = 0; i < t->blocked.count; i++) {
		struct blocked_call call = t->blocked.calls[i];

		buffer_number(&s->bytes, (uint64_t)(call.function - t->image->trace->functions->items));
		call.function = NULL;
		buffer_add(&s->bytes, &call, sizeof(call));
	}
}

static void calls_load(const struct calls_shared *s, const struct thread_time *t, struct blocked *ret)
{
	const uint64_t *place = map_find(&s->places, s->threads, 0);
	struct bytes from = bytes_of(&s->bytes);
	uint64_t count;

	if (!place || !bytes_take(&from, *place))
		return;
	count = bytes_number(&from);
	for (uint64_t i = 0; i < count && !from.is_short; i++) {
		const struct function *f = trace_function(t->image->trace, (uint32_t)bytes_number(&from));
		struct blocked_call call;

		bytes_read(&from, &call, sizeof(call));
		if (!f || from.is_short || call.kind >= BLOCKED_KINDS)
			return;
		ret->calls = mem_grow(ret->calls, ret->count, &ret->capacity, sizeof(*ret->calls));
		call.function = f;
		ret->calls[ret->count++] = call;
	}
}

static void thread_calls(struct maker *k, struct thread_time *t, uint64_t end_ticks)
{
	struct calls_shared *s = k->shared;

	if (s && s->is_complete)
		calls_load(s, t, &t->blocked);
	else if (scan_is_mine(k->context, t->image))
		blocked_gather(k->context, t->image, t->thread, end_ticks, &t->blocked);
	if (s && !s->is_complete && scan_is_mine(k->context, t->image))
		calls_save(s, t);
	if (s)
		s->threads++;
}

static void thread_finish(struct maker *k, struct thread_time *t, uint64_t span_ns, uint64_t before_ns,
			  uint64_t end_ticks)
{
	const struct usage_sampled *process = usages_sampled(k->usages, t->image, 0);
	const struct cpu_thread of = {t->image->machine, t->image->run, t->image->pid, t->tid, t->image->process_start};

	t->end_ticks = end_ticks;
	t->limit = cpu_limits_of(k->limits, &of);
	if (process)
		t->stopped_ns = clock_map_duration(k->clock, process->stopped_ticks);
	if (k->has_calls && t->thread)
		thread_calls(k, t, end_ticks);
	if (delay_is_wrong(t, span_ns + before_ns)) {
		t->delay_is_known = false;
		t->delay_ns = 0;
	}
	partition_settle(t, span_ns, before_ns);
	t->delay_is_known |= t->cpu_is_known && t->blocked_ns < DELAY_NS;
	k->partition->missing += !t->cpu_is_known;
	t->unexplained_ns = blocked_divide(&t->blocked, t->blocked_ns - t->stopped_ns);
}

/* The accounts of the main thread include those of the previous images of its process. */
static void add_main(struct maker *k, const struct image *image, const struct trace_thread *thread, uint64_t end_ticks)
{
	struct thread_time *t = thread_new(k, image, THREAD_MAIN, image->pid);
	const struct usage_sampled *sampled = usages_sampled(k->usages, image, image->pid);
	struct usage_of of = usages_recorded(k->usages, image, image->pid, image->start_ticks, UINT64_MAX);
	uint64_t before_us = thread && thread->page ? thread->page->chunk.cpu_before_us : 0, attached_ns = 0, before_ns;
	uint64_t created = created_ticks(thread);
	uint64_t start = k->base_ticks ? k->base_ticks : created ? created : image->start_ticks;

	if (image->end != TF_END_EXEC)
		usage_complete(&of, sampled);
	if (!image->trace && image->usage.is_known)
		before_us = image->usage.before_us;
	t->start_ticks = start;
	t->thread = thread;
	strcpy(t->name, thread ? thread->name : "");
	thread_use(t, &of, k->base_cpu_ns, k->base_delay_ns);
	/* CPU time before the first call that exceeds the time since the start is from before that. */
	before_ns = created ? 0 : rest_of(before_us * 1000, k->base_cpu_ns);
	if (thread && thread->page)
		attached_ns = clock_map_duration(k->clock, rest_of(thread->page->start_ticks, start));
	thread_finish(k, t, clock_map_duration(k->clock, rest_of(end_ticks, start)), rest_of(before_ns, attached_ns),
		      end_ticks);
	k->base_ticks = image->end_ticks;
	if (of.cpu_ns != TF_USAGE_UNKNOWN)
		k->base_cpu_ns = of.cpu_ns;
	if (of.delay_ns != TF_USAGE_UNKNOWN)
		k->base_delay_ns = of.delay_ns;
}

static void add_recorded(struct maker *k, const struct image *image, const struct trace_thread *thread,
			 uint64_t end_ticks)
{
	struct thread_time *t;
	uint64_t start = thread->page ? thread->page->start_ticks : thread->first_ticks, end = end_ticks;
	uint64_t created = created_ticks(thread), before_us = 0;
	struct usage_of of;

	if (thread->page && thread->page->end_ticks)
		end = thread->page->end_ticks;
	of = usages_recorded(k->usages, image, thread->tid, start, end < end_ticks ? end : UINT64_MAX);
	if (created)
		start = created;
	else if (thread->page)
		before_us = thread->page->chunk.cpu_before_us;
	usage_complete(&of, usages_sampled(k->usages, image, thread->tid));
	t = thread_new(k, image, THREAD_RECORDED, thread->tid);
	t->start_ticks = start;
	t->thread = thread;
	t->ended = end < end_ticks;
	strcpy(t->name, thread->name);
	thread_use(t, &of, 0, 0);
	thread_finish(k, t, clock_map_duration(k->clock, rest_of(end, start)), before_us * 1000, end);
}

/* The process recorded its living threads at its end. One that is not among them has ended before, after the launcher
 * had last seen it: the CPU time after that is part of the process's other threads, and other time is not known. */
static uint64_t sampled_end(const struct maker *k, const struct image *image, const struct usage_sampled *s,
			    const struct usage_of *of, uint64_t end_ticks)
{
	const struct usage_sampled *process = usages_sampled(k->usages, image, 0);
	uint64_t seen = s->seen_ticks;

	if (of->ticks || (!s->is_gone && !usages_recorded(k->usages, image, 0, 0, UINT64_MAX).ticks))
		return end_ticks;
	if (!s->is_gone && process && process->seen_ticks < seen)
		seen = process->seen_ticks > s->last.ticks ? process->seen_ticks : s->last.ticks;
	return seen && seen < end_ticks ? seen : end_ticks;
}

/* A thread that made no recorded call: its beginning and its end are known to a sampling interval. */
static void add_sampled(struct maker *k, const struct image *image, const struct usage_sampled *s, uint64_t end_ticks)
{
	struct usage_of of = usages_recorded(k->usages, image, s->tid, 0, UINT64_MAX);
	struct thread_time *t = thread_new(k, image, THREAD_SAMPLED, s->tid);
	uint64_t end = sampled_end(k, image, s, &of, end_ticks);

	t->start_ticks = s->first.ticks;
	usage_complete(&of, s);
	memcpy(t->name, s->name, sizeof(s->name));
	t->ended = end < end_ticks;
	thread_use(t, &of, 0, 0);
	thread_finish(k, t, clock_map_duration(k->clock, rest_of(end, s->first.ticks)),
		      add_known(s->first.cpu_ns, s->first.delay_ns), end);
}

/* ---- one process ---- */

static void add_image(struct maker *k, const struct image *image, uint64_t end_ticks)
{
	const struct trace_thread *first = image_main_thread(image);

	add_main(k, image, first, end_ticks);
	for (size_t i = 0; image->trace && i < image->trace->thread_count; i++)
		if (&image->trace->threads[i] != first && !thread_is_tool(&image->trace->threads[i]))
			add_recorded(k, image, &image->trace->threads[i], end_ticks);
}

static void add_samples_of(struct maker *k, const struct image *last, size_t from, uint64_t end_ticks)
{
	const struct partition *p = k->partition;
	const struct usage_sampled *s;
	SCOPED(map) known = {0};
	size_t at = 0;

	for (size_t i = from; i < p->count; i++)
		map_put(&known, p->threads[i].tid, 0, NULL);
	for (size_t i = 0; last->trace && i < last->trace->thread_count; i++)
		map_put(&known, last->trace->threads[i].tid, 0, NULL);
	while ((s = usages_next(k->usages, last, &at)))
		if (!map_find(&known, s->tid, 0))
			add_sampled(k, last, s, end_ticks);
}

/* Less than END_NS of a process that no thread accounts for is what its threads used after their last records. */
enum { END_NS = 1000000 };

/* CPU time of the process that no thread accounts for: threads that neither recorded nor were sampled. */
static void add_rest(struct maker *k, const struct image *last, size_t from, struct process_time *process)
{
	struct usage_of of = usages_recorded(k->usages, last, 0, 0, UINT64_MAX);
	const struct usage_sampled *s = usages_sampled(k->usages, last, 0);
	uint64_t sum = 0;

	for (size_t i = from; i < k->partition->count; i++)
		sum += k->partition->threads[i].cpu_ns;
	process->peak_kb = of.peak_kb;
	if (s && s->peak_kb > process->peak_kb)
		process->peak_kb = s->peak_kb;
	process->cpu_ns = of.cpu_ns;
	process->waited_ns = of.delay_ns;
	process->total_ns = k->context->model->processes[last->process].total_ns;
	if (of.cpu_ns == TF_USAGE_UNKNOWN && s) /* in units of the kernel's tick: the threads are more exact */
		process->cpu_ns = rest_of(s->last.cpu_ns, sum) > 20000000 ? s->last.cpu_ns : sum;
	if (process->cpu_ns != TF_USAGE_UNKNOWN && process->cpu_ns > sum) {
		uint64_t rest = process->cpu_ns - sum;
		struct thread_time *t = rest < END_NS ? &k->partition->threads[from]
						      : thread_new(k, last, THREAD_UNRECORDED, 0);

		t->cpu_ns += rest;
		t->lifetime_ns += rest;
		t->delay_is_known |= t->origin == THREAD_UNRECORDED;
		t->cpu_is_known = true;
	}
}

/* Whether the image is a part of its process's time. If the process recorded itself, an image that the launcher
 * observed repeats the time of the recorded images. The exception is a program that the process executed last and that
 * is not recorded. */
static bool is_part(const struct image *image, const struct image *own)
{
	return image->via != TF_VIA_OBSERVED || !own ||
	       (own->end == TF_END_EXEC && image->start_ticks >= own->end_ticks);
}

/* The images that are parts of the process's time, in order of time, followed by NULL. The caller frees them. */
static const struct image **parts_of(const struct model *m, const struct process *p)
{
	const struct image **parts = mem_alloc((p->image_count + 1) * sizeof(*parts));
	const struct image *first = &m->images[p->first_image], *own = &first[p->image_count - 1];
	size_t count = 0;

	own = own->via != TF_VIA_OBSERVED ? own : NULL;
	/* those that the launcher observed are before the others in the model */
	for (int is_observed = 0; is_observed < 2; is_observed++)
		for (size_t i = 0; i < p->image_count; i++)
			if ((first[i].via == TF_VIA_OBSERVED) == is_observed && is_part(&first[i], own))
				parts[count++] = &first[i];
	parts[count] = NULL;
	return parts;
}

static void add_process(struct maker *k, size_t number)
{
	const struct model *m = k->context->model;
	const struct process *p = &m->processes[number];
	const struct image **parts = parts_of(m, p), *last = NULL;
	size_t from = k->partition->count;
	uint64_t end = 0;

	k->clock = &m->machines[p->machine].clock;
	k->base_cpu_ns = k->base_delay_ns = k->base_ticks = 0;
	for (size_t i = 0; parts[i]; i++) {
		last = parts[i];
		end = last->end_ticks ? last->end_ticks : clock_map_tick_at(k->clock, p->end_ns);
		if (parts[i + 1] && (!last->end_ticks || end > parts[i + 1]->start_ticks))
			end = parts[i + 1]->start_ticks;
		add_image(k, last, end);
	}
	add_samples_of(k, last, from, end);
	add_rest(k, last, from, &k->partition->processes[number]);
	free(parts);
}

static void make(const struct report_context *c, bool has_calls, struct calls_shared *shared, struct partition *ret)
{
	const struct model *m = c->model;
	struct maker k = {.context = c, .usages = usages_new(m), .limits = cpu_limits_new(m), .partition = ret,
			  .has_calls = has_calls, .shared = shared};

	*ret = (struct partition){.processes = mem_alloc((m->process_count + 1) * sizeof(*ret->processes))};
	for (size_t i = 0; i < m->process_count; i++)
		add_process(&k, i);
	children_find(m, ret->processes);
	usages_free(k.usages);
	cpu_limits_free(k.limits);
}

static void add_bytes(void *context, size_t from, struct buffer *theirs)
{
	(void)from;
	buffer_array(context, theirs->data, theirs->size, 1);
}

static void find_places(struct calls_shared *s)
{
	struct bytes from = bytes_of(&s->bytes);

	while (from.left && !from.is_short) {
		uint64_t thread = bytes_number(&from);

		*map_put(&s->places, thread, 0, NULL) = s->bytes.size - from.left;
		for (uint64_t left = bytes_number(&from); left && !from.is_short; left--)
			bytes_take(&from, sizeof(uint64_t) + sizeof(struct blocked_call));
	}
}

void partition_make(const struct report_context *c, bool has_calls, struct partition *ret)
{
	struct calls_shared shared = {0};

	if (!c->share || !has_calls) {
		make(c, has_calls, NULL, ret);
		return;
	}
	make(c, has_calls, &shared, ret);
	share_gather(c->share, &shared.bytes, add_bytes, &shared.bytes);
	if (!share_self(c->share)) {
		partition_done(ret);
		find_places(&shared);
		shared.threads = 0;
		shared.is_complete = true;
		make(c, has_calls, &shared, ret);
	}
	map_done(&shared.places);
	buffer_done(&shared.bytes);
}

void partition_done(struct partition *p)
{
	array_free(thread, p->threads, p->count, blocked_done(&thread->blocked));
	free(p->processes);
	*p = (struct partition){0};
}
