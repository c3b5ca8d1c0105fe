/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of devices as actors: each operation begins after the previous one of its stream and the call that launched
 * it. A call that waits for the device ends with the last operation that ended meanwhile; one that waits for all
 * streams, with the last of each. */
#include <stdlib.h>
#include <string.h>

#include "report/causes/causes_build.h"
#include "report/events/cuda/correlate.h"

/* An operation that begins at most EVENT_NS after the end of an operation of another stream, and at least LAG_NS after
 * all its other dependencies, has waited for that operation by an event. */
enum { EVENT_NS = 10000, LAG_NS = 20000 };

struct device_gathering {
	struct linker *linker;
	const struct image *image;
	struct map names;  /* (operation, image) -> text + 1 */
	struct texts texts;
	struct map streams; /* (context, stream), image -> actor */
	struct map threads; /* (thread, image) -> actor */
};

static uint32_t stream_of(struct device_gathering *g, const struct tf_device_operation *w)
{
	struct causality *s = g->linker->causes;

	return (uint32_t)map_place(&g->streams, (uint64_t)w->context << 32 | w->stream,
				   (uint64_t)(g->image - s->context->model->images) << 16 | w->device, s->actors,
				   s->actor_count, s->actor_capacity,
				   (struct actor){.image = g->image, .is_stream = true,
						  .device = w->device, .stream = w->stream});
}

static const char *name_of(struct device_gathering *g, uint32_t operation, const struct tf_device_operation *w)
{
	const struct causality *s = g->linker->causes;
	uint64_t *place = map_put(&g->names, operation, (uint64_t)(g->image - s->context->model->images), NULL);
	struct buffer text = {0};

	if (!*place) {
		device_operation_name(s->context, g->image->trace, w, &text);
		texts_add(&g->texts, "%s", buffer_string(&text));
		*place = g->texts.count;
		buffer_done(&text);
	}
	return g->texts.items[*place - 1];
}

static void operation_add(struct device_gathering *g, const struct correlated *k, const struct device_record *r)
{
	struct causality *s = g->linker->causes;
	const struct clock_map *clock = &s->context->model->machines[g->image->machine].clock;
	struct tf_device_operation w;
	struct operations *to = &g->linker->operations;
	uint32_t stack = k->thread ? event_stack(&k->event) : 0;
	struct operation_of_stream op = {.launched_by = NODE_NONE};

	if (!device_operation(g->image->trace, r->operation, &w))
		return;
	op.actor = stream_of(g, &w);
	op.start_ns = model_since_origin(s->context->model, clock_map_monotonic(clock, r->start_ns));
	op.end_ns = model_since_origin(s->context->model, clock_map_monotonic(clock, r->start_ns + r->duration_ns));
	op.what = editable_named(&s->editables,
				 w.kind == TF_DEVICE_KERNEL || w.kind == TF_DEVICE_GRAPH ? EDITABLE_KERNEL
											   : EDITABLE_COPY,
				 name_of(g, r->operation, &w), g->image, stack);
	editable_add_stack(&s->editables, op.what, g->image, stack, op.end_ns - op.start_ns);
	if (k->thread) {
		const uint64_t *actor = map_find(&g->threads, k->thread->number,
						 (uint64_t)(g->image - s->context->model->images));

		op.launched_by = actor ? (uint32_t)*actor : NODE_NONE;
		op.launched_ns = causes_ns(s, g->image, event_start(&k->event));
	}
	list_add(to, op);
}

static void visit(void *context, const struct correlated *k)
{
	for (size_t i = 0; i < k->record_count; i++)
		operation_add(context, k, &k->records[i]);
}

COMPARATOR(compare_operations, struct operation_of_stream,
	   order_of(a->actor, b->actor) ?: order_of(a->start_ns, b->start_ns) ?: order_of(a->end_ns, b->end_ns))

static void gather(struct linker *l)
{
	struct causality *s = l->causes;
	struct device_gathering g = {.linker = l};
	uint32_t threads = (uint32_t)s->actor_count;

	for (uint32_t i = 0; i < threads; i++)
		if (s->actors[i].thread)
			*map_put(&g.threads, s->actors[i].thread->number,
				 (uint64_t)(s->actors[i].image - s->context->model->images), NULL) = i;
	for (uint32_t i = 0; i < threads; i++)
		if (s->actors[i].is_main && s->actors[i].image->trace &&
		    device_source(s->actors[i].image->trace).is_known) {
			g.image = s->actors[i].image;
			correlate_unfiltered(s->context, g.image, &g, visit);
		}
	array_sort(l->operations.items, l->operations.count, compare_operations);
	texts_done(&g.texts);
	map_done(&g.names);
	map_done(&g.streams);
	map_done(&g.threads);
}

/* ---- edges ---- */

struct by_end {
	const struct image *image;
	uint64_t ns;
	uint32_t actor;
};

COMPARATOR(compare_ends, struct by_end,
	   order_of((uintptr_t)a->image, (uintptr_t)b->image) ?: order_of(a->ns, b->ns) ?: order_of(a->actor, b->actor))

/* The last operation of the image that had ended at that time. */
static const struct by_end *last_ended(const struct by_end *ends, size_t count, const struct image *image, uint64_t ns)
{
	size_t at = first_place(i, 0, count,
				(uintptr_t)ends[i].image < (uintptr_t)image ||
					(ends[i].image == image && ends[i].ns <= ns));

	return at && ends[at - 1].image == image ? &ends[at - 1] : NULL;
}

COMPARATOR(compare_ns, uint64_t, order_of(*a, *b))

static void link_operations(struct linker *l, const struct by_end *ends)
{
	struct graph *g = &l->causes->graph;
	const struct operations *all = &l->operations;
	struct {
		uint64_t *items;
		size_t count, capacity;
	} launches = {0}; /* on an idle stream: from the launch to the start */

	for (size_t i = 0; i < all->count; i++) {
		const struct operation_of_stream *op = &all->items[i];
		bool is_first = !i || op[-1].actor != op->actor, is_launched = op->launched_by != NODE_NONE;
		uint64_t free_ns = is_first ? 0 : op[-1].end_ns;
		const struct by_end *other;

		if (is_launched)
			graph_edge(g, op->launched_by, op->launched_ns, op->actor, op->end_ns);
		if (is_launched && op->launched_ns > free_ns && op->start_ns > op->launched_ns)
			list_add(&launches, op->start_ns - op->launched_ns);
		free_ns = larger_of(free_ns, op->launched_ns);
		other = op->start_ns > free_ns + LAG_NS
				? last_ended(ends, all->count, l->causes->actors[op->actor].image, op->start_ns)
				: NULL;
		if (other && other->actor != op->actor && op->start_ns - other->ns <= EVENT_NS)
			graph_edge(g, other->actor, other->ns, op->actor, op->end_ns);
	}
	if (launches.count) {
		qsort(launches.items, launches.count, sizeof(*launches.items), compare_ns);
		g->launch_ns = launches.items[launches.count / 2];
	}
	free(launches.items);
}

/* The last operation of a stream that was launched before the wait and has ended with it; NULL: none. */
static const struct operation_of_stream *last_of_stream(const struct operations *all, uint32_t stream,
							const struct moment *wait)
{
	size_t first = first_place(i, 0, all->count, all->items[i].actor < stream);
	size_t at = first_place(i, first, all->count,
				all->items[i].actor == stream && all->items[i].end_ns < wait->end_ns);

	while (at > first && all->items[at - 1].launched_by != NODE_NONE &&
	       all->items[at - 1].launched_ns > wait->start_ns)
		at--;
	return at > first ? &all->items[at - 1] : NULL;
}

/* The other streams of the device, too: one of them may be the last if the run changes. What had ended by `since_ns`
 * was awaited before. */
static void link_streams(struct linker *l, struct moment *wait, uint32_t last, uint64_t since_ns)
{
	const struct actor *actors = l->causes->actors;

	for (uint32_t i = 0; i < l->causes->actor_count; i++) {
		const struct operation_of_stream *op =
			actors[i].is_stream && i != last && actors[i].image == actors[last].image &&
					actors[i].device == actors[last].device
				? last_of_stream(&l->operations, i, wait)
				: NULL;

		if (op && op->end_ns > since_ns)
			link_wait(l, wait, i, op->end_ns);
	}
}

static void link_waits(struct linker *l, enum moment_kind kind, const struct by_end *ends)
{
	const struct moments *waits = &l->of[kind];

	for (size_t i = 0; i < waits->count; i++) {
		struct moment *wait = &waits->items[i];
		const struct by_end *last = last_ended(ends, l->operations.count,
						       l->causes->actors[wait->actor].image, wait->end_ns - 1);

		if (!last || last->ns <= wait->start_ns)
			continue;
		link_wait(l, wait, last->actor, last->ns);
		if (kind == MOMENT_SYNC_STREAMS)
			link_streams(l, wait, last->actor, i && wait[-1].actor == wait->actor ? wait[-1].end_ns : 0);
	}
}

static uint64_t stream_ns(const struct operations *all, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	size_t first = first_place(i, 0, all->count, all->items[i].actor < stream);
	size_t at = first_place(i, first, all->count,
				all->items[i].actor == stream && all->items[i].end_ns <= start_ns);
	uint64_t ns = 0;

	for (; at < all->count && all->items[at].actor == stream && all->items[at].start_ns < end_ns; at++) {
		const struct operation_of_stream *op = &all->items[at];
		uint64_t from = op->start_ns > start_ns ? op->start_ns : start_ns;

		ns += smaller_of(op->end_ns, end_ns) - from;
	}
	return ns;
}

uint64_t linker_device_ns(const struct linker *l, const struct image *image, uint64_t start_ns, uint64_t end_ns)
{
	const struct causality *s = l->causes;
	uint64_t most = 0;

	for (size_t i = s->actor_count; i && s->actors[i - 1].is_stream; i--) { /* which are the last actors */
		uint64_t ns = s->actors[i - 1].image == image
				      ? stream_ns(&l->operations, (uint32_t)i - 1, start_ns, end_ns)
				      : 0;

		most = ns > most ? ns : most;
	}
	return most;
}

void link_devices(struct linker *l)
{
	const struct causality *s = l->causes;
	SCOPED_MEMORY struct by_end *ends = NULL;

	gather(l);
	ends = mem_alloc((l->operations.count + 1) * sizeof(*ends));
	for (size_t i = 0; i < l->operations.count; i++)
		ends[i] = (struct by_end){s->actors[l->operations.items[i].actor].image, l->operations.items[i].end_ns,
					  l->operations.items[i].actor};
	array_sort(ends, l->operations.count, compare_ends);
	link_operations(l, ends);
	link_waits(l, MOMENT_SYNC, ends);
	link_waits(l, MOMENT_SYNC_STREAMS, ends);
}
