/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/traffic.h"

#include <string.h>

/* The ticks nearest to the image's start of which only the low 56 bits are known. */
static uint64_t traffic_ticks(const struct trace *t, uint64_t low)
{
	const uint64_t unit = (uint64_t)1 << 8 * TF_DATA_BYTES;
	uint64_t ticks = (t->header.first.ticks & ~(unit - 1)) | low;

	return ticks + unit / 2 < t->header.first.ticks ? ticks + unit : ticks;
}

/* Each number fills a slot. */
static uint64_t number_of(const uint64_t *slots, enum tf_traffic_number which)
{
	return __atomic_load_n(&slots[which], __ATOMIC_RELAXED) >> 8;
}

bool traffic_read(const struct trace *t, const struct blob *b, struct traffic *ret)
{
	const uint64_t *slots = (const uint64_t *)(t->bytes.data + b->offset);
	uint64_t key;

	if (b->length < sizeof(struct tf_traffic))
		return false;
	key = number_of(slots, TF_TRAFFIC_KEY);
	*ret = (struct traffic){
		.thread = trace_thread(t, b->id),
		.function = key >> 32 & (EVENT_IDS - 1),
		.fd = key & 0xffff,
		.generation = key >> 16 & 0xffff,
		.from_ticks = traffic_ticks(t, number_of(slots, TF_TRAFFIC_FROM)),
		.calls = number_of(slots, TF_TRAFFIC_CALLS),
		.ticks = number_of(slots, TF_TRAFFIC_TICKS),
		.bytes = number_of(slots, TF_TRAFFIC_BYTES),
	};
	return true;
}

static void traffic_each_sum(const struct trace *t, const struct trace_thread *thread,
			     void (*visit)(void *context, const struct traffic *traffic), void *context)
{
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, t, thread);
	while (cursor_next(&cursor, &e)) {
		struct traffic traffic = {.thread = thread, .is_of_file = true, .fd = TF_NO_DESCRIPTOR};

		if (e.kind != TF_SUM || !(e.text & TF_SUM_IS_SHORT))
			continue;
		traffic.function = e.id;
		traffic.file = e.args_count ? (uint32_t)tf_arg_value(event_arg(&e, TF_ARG_FILE)) : 0;
		traffic.calls = number_of(e.sum, TF_TRAFFIC_CALLS);
		traffic.ticks = number_of(e.sum, TF_TRAFFIC_TICKS);
		traffic.bytes = number_of(e.sum, TF_TRAFFIC_BYTES);
		visit(context, &traffic);
	}
}

void traffic_each(const struct trace *t, void (*visit)(void *context, const struct traffic *traffic), void *context)
{
	struct traffic traffic;

	blobs_each(b, t, TF_BLOB_TRAFFIC)
		if (traffic_read(t, b, &traffic))
			visit(context, &traffic);
	for (size_t i = 0; i < t->thread_count; i++)
		if (t->threads[i].kinds & 1u << TF_SUM)
			traffic_each_sum(t, &t->threads[i], visit, context);
}

const struct descriptor *traffic_descriptor(struct descriptor_search *s, const struct traffic *traffic)
{
	if (traffic->is_of_file)
		return traffic->file ? descriptors_find_id(s->of, traffic->file) : NULL;
	if (traffic->fd == TF_NO_DESCRIPTOR)
		return descriptors_find_directory(s->of, traffic->generation);
	return descriptors_find_generation(s, traffic->fd, traffic->generation, traffic->from_ticks);
}

static bool traffic_is_counted(const struct trace *t, uint32_t function)
{
	const struct function *f = trace_function(t, function);

	return f && (f->kind.role == ROLE_READ || f->kind.role == ROLE_WRITE) && f->kind.traffic != TRAFFIC_INNER;
}

struct traffic_counting {
	const struct trace *trace;
	uint64_t with_file, of_paths;
};

static void count_traffic(void *context, const struct traffic *traffic)
{
	struct traffic_counting *c = context;

	c->with_file += traffic_is_counted(c->trace, traffic->function) ? traffic->calls : 0;
	c->of_paths += traffic_is_of_path(traffic) ? traffic->calls : 0;
}

struct traffic_counts traffic_counts(const struct trace *t)
{
	struct traffic_counting c = {.trace = t};
	uint64_t all = array_sum(counter, t->counters, t->counter_count,
				 traffic_is_counted(t, counter->function) ? counter->sum.calls : 0);

	traffic_each(t, count_traffic, &c);
	return (struct traffic_counts){.without_file = rest_of(all, c.with_file), .of_paths = c.of_paths};
}
