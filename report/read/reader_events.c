/* SPDX-License-Identifier: Apache-2.0 */
/* Reads all events of a trace once: definitions, wait statuses, what is counted of each thread. A long thread is
 * divided into parts, which several threads read; the parts of a thread are joined in their order. */
#include <stdlib.h>
#include <string.h>

#include "report/base/parallel.h"
#include "report/read/reader.h"

enum { PART_CHUNKS = 16 };

struct part_child {
	struct trace_child child;
	bool has_ticks; /* else ticks are those of the event before it, 0: there is none in this part */
};

/* Chunks of one thread, and what they contain. */
struct thread_part {
	size_t thread;	      /* in trace.threads */
	size_t first, count;  /* chunks of the thread */
	struct trace_thread facts;
	struct passed_calls calls;
	struct blob *blobs;
	size_t blob_count, blob_capacity;
	struct part_child *children;
	size_t child_count, child_capacity;
	size_t open_child; /* the last child recorded, until the record of the wait call itself has been read */
	struct event begin; /* the first event, unless a child precedes it */
	bool has_begun;
	bool has_name;
	struct map depths; /* (domain, 0): pushes without a pop; (domain, 1): pops without a push */
	uint64_t written_bytes, torn, orphans, broken;
};

struct events_reader {
	struct trace *trace;
	struct thread_part *parts;
	size_t count, capacity;
	size_t next; /* index of the next part that no worker has taken */
	/* state of the thread whose parts are being joined */
	size_t open_child;
	struct map depths;
};

/* ---- one part ---- */

static struct blob blob_of(const struct trace *t, const struct event *e)
{
	return (struct blob){
		.offset = (uint64_t)((const uint8_t *)e->args - t->bytes.data),
		.id = e->id,
		.length = e->length,
		.type = e->blob,
	};
}

static void part_define(const struct trace *t, struct thread_part *p, const struct event *e)
{
	mem_append(p->blobs, p->blob_count, p->blob_capacity, blob_of(t, e));
}

static void add_child(const struct trace *t, struct thread_part *p, const struct event *e)
{
	struct blob b = blob_of(t, e);
	struct part_child c = {.child.ticks = p->facts.last_ticks};

	p->open_child = p->child_count;
	if (trace_blob(t, &b, &c.child.child, sizeof(c.child.child)) < sizeof(c.child.child)) {
		p->broken++;
		return;
	}
	mem_append(p->children, p->child_count, p->child_capacity, c);
}

static bool is_wait_call(const struct trace *t, const struct event *e)
{
	const struct function *f = event_function(t, e);

	return f && f->kind.waits == BLOCKED_CHILD;
}

static void take_blob(const struct trace *t, struct thread_part *p, const struct event *e)
{
	struct blob b = blob_of(t, e);

	p->written_bytes += TF_SLOT + e->length;
	switch (e->blob) {
	case TF_BLOB_CHILD:
		add_child(t, p, e);
		break;
	case TF_BLOB_THREAD_NAME:
		p->facts.name[trace_blob(t, &b, p->facts.name, sizeof(p->facts.name) - 1)] = '\0';
		p->has_name = true;
		break;
	case TF_BLOB_DEVICE:
	case TF_BLOB_DEVICE_CALLS:
	case TF_BLOB_DEVICE_MORE:
		p->facts.has_device_records = true; /* not a definition, and as frequent as events */
		break;
	default:
		part_define(t, p, e);
	}
}

/* Counts pushes and pops without a counterpart. */
static void count_nesting(struct map *depths, const struct event *e)
{
	uint64_t *depth = map_put(depths, e->id, 0, NULL);

	if (e->kind == TF_PUSH)
		++*depth;
	else if (*depth)
		--*depth;
	else
		++*map_put(depths, e->id, 1, NULL);
}

static void begin_facts(struct trace_thread *facts, uint64_t ticks)
{
	if (!facts->events)
		facts->first_ticks = ticks;
}

/* It has no time, and is no event. */
static void take_sum(struct thread_part *p, const struct event *e)
{
	struct trace_thread *facts = &p->facts;
	struct event_sum sum = event_sum(e);
	bool is_sample = e->text & TF_SUM_IS_SAMPLE;

	p->written_bytes += TF_SUM_NUMBERS * TF_SLOT;
	facts->kinds |= 1u << TF_SUM;
	if (e->text & TF_SUM_IS_SHORT)
		return; /* as the counters by function */
	for (uint32_t i = 0; i < e->args_count; i++)
		facts->args |= 1u << tf_arg_kind(e->args[i]);
	facts->samples += is_sample ? sum.count : 0;
	facts->sampled_us += is_sample ? sum.total : 0;
	facts->stackless_samples += is_sample && !e->args_count ? sum.count : 0;
	if (is_sample)
		return;
	facts->summed += sum.count;
	facts->summed_other += e->text & TF_SUM_IS_OTHER ? sum.count : 0;
	p->calls.functions[e->id / 64] |= (uint64_t)1 << e->id % 64;
}

/* Likewise ranges of NVTX. */
static void take_ranges(struct thread_part *p, const struct event *e)
{
	struct trace_thread *facts = &p->facts;
	struct event_sum sum = event_sum(e);
	uint64_t open = sum.bytes > sum.count ? sum.bytes - sum.count : 0;

	p->written_bytes += TF_SUM_NUMBERS * TF_SLOT;
	facts->kinds |= 1u << TF_RANGES;
	if (e->text & TF_RANGES_IS_STEPS) {
		facts->summed_steps_other += e->text & TF_RANGES_IS_OTHER ? sum.count : 0;
		return;
	}
	facts->summed_ranges += sum.count;
	facts->summed_ranges_other += e->text & TF_RANGES_IS_OTHER ? sum.count : 0;
	if (e->text & TF_RANGES_IS_STARTEND)
		facts->open_starts += open;
	else
		facts->unmatched_pushes += open;
}

static void define_operator(const struct trace *t, struct thread_part *p, const struct event *e)
{
	struct event definition = *e;

	definition.id = e->text;
	definition.blob = TF_BLOB_STRING;
	part_define(t, p, &definition);
}

static void take_event(const struct trace *t, struct thread_part *p, const struct event *e)
{
	struct trace_thread *facts = &p->facts;

	p->written_bytes += TF_SLOT + e->args_count * TF_SLOT;
	if (!p->has_begun && p->open_child == SIZE_MAX)
		p->begin = *e;
	p->has_begun = true;
	if (e->kind == TF_SUM) {
		take_sum(p, e);
		return;
	}
	if (e->kind == TF_RANGES) {
		take_ranges(p, e);
		return;
	}
	begin_facts(facts, event_start(e));
	facts->events++;
	facts->last_ticks = larger_of(facts->last_ticks, e->ticks);
	facts->kinds |= 1u << e->kind;
	if (e->kind == TF_CALL || e->kind == TF_CONSTRUCT)
		p->calls.functions[e->id / 64] |= (uint64_t)1 << e->id % 64;
	facts->longest_ticks = larger_of(facts->longest_ticks, e->duration);
	if (e->kind == TF_SAMPLE) {
		facts->samples++;
		facts->last_sample_ticks = e->ticks;
		facts->sampled_us += e->text;
		facts->stackless_samples += !e->args_count;
	}
	for (uint32_t i = 0; i < e->args_count; i++)
		facts->args |= 1u << tf_arg_kind(e->args[i]);
	if (e->kind == TF_PUSH || e->kind == TF_POP)
		count_nesting(&p->depths, e);
	if (e->kind == TF_PUSH && e->text >= OPERATOR_STRINGS)
		define_operator(t, p, e);
	if (p->open_child < p->child_count && is_wait_call(t, e)) {
		p->children[p->open_child].child.ticks = e->ticks;
		p->children[p->open_child].has_ticks = true;
	}
	p->open_child = SIZE_MAX;
}

/* Calls that are not the first event of the part, and not after a child. */
static void take_calls(struct thread_part *p, struct cursor *cursor)
{
	struct passed_calls *calls = &p->calls;
	struct trace_thread *facts = &p->facts;

	calls->count = calls->slots = calls->last_ticks = calls->longest_ticks = 0;
	cursor_pass_calls(cursor, calls);
	if (!calls->count)
		return;
	begin_facts(facts, calls->first_ticks);
	facts->events += calls->count;
	facts->kinds |= 1u << TF_CALL;
	facts->args |= calls->args;
	facts->last_ticks = larger_of(facts->last_ticks, calls->last_ticks);
	if (calls->longest_ticks > facts->longest_ticks)
		facts->longest_ticks = calls->longest_ticks;
	p->written_bytes += calls->slots * TF_SLOT;
}

static void part_read(const struct trace *t, struct thread_part *p)
{
	struct cursor cursor;
	struct event e;

	p->open_child = SIZE_MAX;
	cursor_init(&cursor, t, &t->threads[p->thread]);
	cursor_restrict(&cursor, p->first, p->count);
	while (cursor_step(&cursor, &e)) {
		if (e.kind == TF_BLOB)
			take_blob(t, p, &e);
		else
			take_event(t, p, &e);
		if (p->has_begun && p->open_child == SIZE_MAX)
			take_calls(p, &cursor);
	}
	for (uint32_t i = 0; i < t->functions->count && i < EVENT_IDS; i++)
		if (p->calls.functions[i / 64] >> i % 64 & 1 && t->functions->items[i].group < TF_GROUP_COUNT)
			p->facts.groups |= 1u << t->functions->items[i].group;
	p->torn = cursor.torn;
	p->orphans = cursor.orphans;
	p->facts.old = cursor.old;
	p->broken += cursor.broken;
}

/* ---- joining them ---- */

/* `last` is the last tick of the parts before. */
static void join_children(struct events_reader *r, const struct thread_part *p, uint64_t last)
{
	struct trace *t = r->trace;

	if (r->open_child < t->child_count && p->begin.kind && is_wait_call(t, &p->begin))
		t->children[r->open_child].ticks = p->begin.ticks;
	if (p->has_begun)
		r->open_child = SIZE_MAX;
	if (p->open_child != SIZE_MAX)
		r->open_child = t->child_count + p->open_child;
	for (size_t i = 0; i < p->child_count; i++) {
		struct trace_child c = p->children[i].child;

		if (!p->children[i].has_ticks && c.ticks < last)
			c.ticks = last;
		mem_append(t->children, t->child_count, t->child_capacity, c);
	}
}

static void join_depths(struct events_reader *r, struct trace_thread *thread, const struct thread_part *p)
{
	array_each(const struct map_slot, slot, p->depths.slots, p->depths.size) {
		const uint64_t *pops = slot->used && !slot->b ? map_find(&p->depths, slot->a, 1) : NULL;
		uint64_t *depth, matched;

		if (!slot->used || slot->b)
			continue;
		depth = map_put(&r->depths, slot->a, 0, NULL);
		matched = !pops ? 0 : *pops < *depth ? *pops : *depth;
		thread->unmatched_pops += pops ? *pops - matched : 0;
		*depth += slot->value - matched;
	}
}

static void join_facts(struct trace_thread *to, const struct trace_thread *from)
{
	if (from->events)
		begin_facts(to, from->first_ticks);
	to->events += from->events;
	to->old += from->old;
	to->last_ticks = larger_of(to->last_ticks, from->last_ticks);
	if (from->longest_ticks > to->longest_ticks)
		to->longest_ticks = from->longest_ticks;
	to->summed += from->summed;
	to->summed_other += from->summed_other;
	to->summed_ranges += from->summed_ranges;
	to->summed_ranges_other += from->summed_ranges_other;
	to->summed_steps_other += from->summed_steps_other;
	to->open_starts += from->open_starts;
	to->unmatched_pushes += from->unmatched_pushes;
	to->samples += from->samples;
	to->last_sample_ticks = larger_of(to->last_sample_ticks, from->last_sample_ticks);
	to->sampled_us += from->sampled_us;
	to->stackless_samples += from->stackless_samples;
	to->kinds |= from->kinds;
	to->args |= from->args;
	to->groups |= from->groups;
	to->has_device_records |= from->has_device_records;
}

/* Also frees the part's state. */
static void part_join(struct events_reader *r, struct thread_part *p)
{
	struct trace *t = r->trace;
	struct trace_thread *thread = &t->threads[p->thread];

	if (!p->first)
		r->open_child = SIZE_MAX;
	join_children(r, p, thread->last_ticks);
	join_depths(r, thread, p);
	join_facts(thread, &p->facts);
	if (p->has_name)
		memcpy(thread->name, p->facts.name, sizeof(thread->name));
	if (p->first + p->count == thread->chunk_count) {
		for (size_t i = 0; i < r->depths.size; i++)
			thread->unmatched_pushes += r->depths.slots[i].used ? r->depths.slots[i].value : 0;
		map_done(&r->depths);
	}
	t->written_bytes += p->written_bytes;
	t->torn += p->torn;
	t->orphans += p->orphans;
	t->broken += p->broken;
	free(p->children);
	map_done(&p->depths);
}

/* By kind, in the order of the parts; what they had is freed. */
static void group_blobs(struct events_reader *r)
{
	struct trace *t = r->trace;
	size_t next[UINT8_MAX + 2] = {0};

	for (size_t k = 0; k < r->count; k++) {
		t->blob_count += r->parts[k].blob_count;
		for (size_t i = 0; i < r->parts[k].blob_count; i++)
			next[r->parts[k].blobs[i].type + 1]++;
	}
	for (size_t kind = 1; kind <= UINT8_MAX; kind++)
		next[kind] += next[kind - 1];
	t->blobs = mem_resize(NULL, (t->blob_count + 1) * sizeof(*t->blobs));
	for (size_t k = 0; k < r->count; k++) {
		for (size_t i = 0; i < r->parts[k].blob_count; i++)
			t->blobs[next[r->parts[k].blobs[i].type]++] = r->parts[k].blobs[i];
		free(r->parts[k].blobs);
	}
	trace_find_definitions(t);
}

/* ---- all of them ---- */

static void parts_add(struct events_reader *r, size_t thread, size_t most)
{
	size_t all = r->trace->threads[thread].chunk_count;

	for (size_t i = 0; i < all; i += most)
		mem_append(r->parts, r->count, r->capacity,
			   (struct thread_part){.thread = thread, .first = i, .count = smaller_of(all - i, most)});
}

static void read_parts(void *argument, size_t worker)
{
	struct events_reader *r = argument;
	size_t i;

	(void)worker;
	while ((i = __atomic_fetch_add(&r->next, 1, __ATOMIC_RELAXED)) < r->count)
		part_read(r->trace, &r->parts[i]);
}

void trace_read_events(struct trace *t, size_t workers)
{
	struct events_reader r = {.trace = t};

	for (size_t k = 0; k < t->thread_count; k++)
		parts_add(&r, k, workers > 1 ? PART_CHUNKS : SIZE_MAX);
	parallel_run(workers < r.count ? workers : r.count, read_parts, &r);
	for (size_t i = 0; i < r.count; i++)
		part_join(&r, &r.parts[i]);
	t->is_sound = !t->torn && !t->orphans && !t->broken;
	group_blobs(&r);
	free(r.parts);
}
