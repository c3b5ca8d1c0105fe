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

bool traffic_read(const struct trace *t, const struct blob *b, struct traffic *ret)
{
	struct tf_traffic traffic;
	uint64_t key;

	if (trace_blob(t, b, &traffic, sizeof(traffic)) < sizeof(traffic))
		return false;
	key = tf_number(traffic.numbers[TF_TRAFFIC_KEY]);
	*ret = (struct traffic){
		.function = key >> 32 & (EVENT_IDS - 1),
		.fd = key & 0xffff,
		.generation = key >> 16 & 0xffff,
		.from_ticks = traffic_ticks(t, tf_number(traffic.numbers[TF_TRAFFIC_FROM])),
		.calls = tf_number(traffic.numbers[TF_TRAFFIC_CALLS]),
		.ticks = tf_number(traffic.numbers[TF_TRAFFIC_TICKS]),
		.bytes = tf_number(traffic.numbers[TF_TRAFFIC_BYTES]),
	};
	for (size_t k = 0; k < t->thread_count; k++)
		if (t->threads[k].number == b->id)
			ret->thread = &t->threads[k];
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
		const uint64_t *numbers = e.sum;

		if (e.kind != TF_SUM || !(e.text & TF_SUM_IS_SHORT))
			continue;
		traffic.function = e.id;
		traffic.file = e.args_count ? (uint32_t)tf_arg_value(event_arg(&e, TF_ARG_FILE)) : 0;
		traffic.calls = __atomic_load_n(&numbers[TF_TRAFFIC_CALLS], __ATOMIC_RELAXED) >> 8;
		traffic.ticks = __atomic_load_n(&numbers[TF_TRAFFIC_TICKS], __ATOMIC_RELAXED) >> 8;
		traffic.bytes = __atomic_load_n(&numbers[TF_TRAFFIC_BYTES], __ATOMIC_RELAXED) >> 8;
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

struct traffic_count {
	const struct trace *trace;
	uint64_t counted, paths;
};

static void count_traffic(void *context, const struct traffic *traffic)
{
	struct traffic_count *c = context;

	c->counted += traffic_is_counted(c->trace, traffic->function) ? traffic->calls : 0;
	c->paths += traffic_is_of_path(traffic) ? traffic->calls : 0;
}

uint64_t traffic_uncounted(const struct trace *t)
{
	struct traffic_count c = {.trace = t};
	uint64_t all = 0;

	for (size_t i = 0; i < t->counter_count; i++)
		if (traffic_is_counted(t, t->counters[i].function))
			all += t->counters[i].sum.calls;
	traffic_each(t, count_traffic, &c);
	return all > c.counted ? all - c.counted : 0;
}

uint64_t traffic_paths(const struct trace *t)
{
	struct traffic_count c = {.trace = t};

	traffic_each(t, count_traffic, &c);
	return c.paths;
}
