/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/correlate_calls.h"

#include <stdlib.h>
#include <string.h>

void host_calls_init(struct host_calls *h, const struct trace *t)
{
	*h = (struct host_calls){.trace = t};
}

void host_calls_done(struct host_calls *h)
{
	free(h->chunks);
	free(h->wanted);
}

bool host_calls_may_matter(const struct trace *t)
{
	bool has = false;

	for (size_t i = 0; i < t->thread_count && !has; i++)
		has = t->threads[i].has_device_records || host_calls_may_request(&t->threads[i]);
	return has;
}

bool host_calls_may_request(const struct trace_thread *thread)
{
	return thread->args &
	       (1u << TF_ARG_LAUNCH | 1u << TF_ARG_COPY | 1u << TF_ARG_MEMORY | 1u << TF_ARG_GRAPH_NODE);
}

bool host_call_requests(const struct host_calls *h, const struct event *e)
{
	bool has = false;

	for (uint32_t i = 0; i < e->args_count; i++) {
		unsigned int kind = tf_arg_kind(e->args[i]);

		if (kind == TF_ARG_RESULT || kind == TF_ARG_GRAPH_NODE)
			return false;
		has |= kind == TF_ARG_COPY ||
		       (kind == TF_ARG_LAUNCH && !(trace_function(h->trace, e->id)->kind.cuda & CUDA_HOST_FUNCTION));
	}
	return has;
}

void calls_begin(struct calls *c, const struct host_calls *h, size_t thread)
{
	c->of = h;
	c->number = UINT64_MAX;
	c->chunk = SIZE_MAX;
	cursor_init(&c->cursor, h->trace, &h->trace->threads[thread]);
	c->cursor.wanted = h->wanted;
}

bool calls_next(struct calls *c)
{
	const struct host_calls *h = c->of;

	while (cursor_next(&c->cursor, &c->event)) {
		if (c->event.kind != TF_CALL || c->event.id >= h->trace->functions->count ||
		    !trace_function(h->trace, c->event.id)->kind.cuda)
			continue;
		if (h->wanted && c->chunk != c->cursor.chunk - 1) {
			c->chunk = c->cursor.chunk - 1;
			c->number = h->chunks[c->chunk].number;
		} else {
			c->number++;
		}
		return true;
	}
	return false;
}

static void note_call(struct host_chunk *w, const struct calls *c)
{
	uint64_t start = event_start(&c->event), operation = event_arg(&c->event, TF_ARG_DEVICE_OPERATION),
		 id = tf_arg_value(operation);

	if (!w->to)
		*w = (struct host_chunk){.from = start, .first = UINT64_MAX, .number = c->number};
	w->from = start < w->from ? start : w->from;
	w->to = c->event.ticks > w->to ? c->event.ticks : w->to;
	if (!operation)
		return;
	w->first = id < w->first ? id : w->first;
	w->last = id > w->last ? id : w->last;
}

void host_calls_index(struct host_calls *h)
{
	const struct trace *t = h->trace;
	struct host_chunk *chunks = mem_alloc((t->chunk_count + 1) * sizeof(*chunks));
	struct calls c;

	for (size_t k = 0; k < t->thread_count; k++)
		for (calls_begin(&c, h, k); host_calls_may_request(&t->threads[k]) && calls_next(&c);)
			note_call(&chunks[c.cursor.chunk - 1], &c);
	h->chunks = chunks;
	h->wanted = mem_alloc(t->chunk_count + 1);
}

void host_calls_select(struct host_calls *h, size_t thread, uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
	const struct trace_thread *t = &h->trace->threads[thread];

	for (size_t i = t->first_chunk; h->chunks && i < t->first_chunk + t->chunk_count; i++) {
		const struct host_chunk *w = &h->chunks[i];

		h->wanted[i] = w->to && ((w->from <= to && w->to >= from) ||
					 (w->first <= w->last && w->first < high && w->last >= low));
	}
}

void host_calls_select_all(struct host_calls *h)
{
	if (h->wanted)
		memset(h->wanted, true, h->trace->chunk_count);
}
