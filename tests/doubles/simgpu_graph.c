/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: built by hand or by capturing streams, copied when instantiated, queued node by node when launched. */
#include "simgpu.h"

#include <stdlib.h>

static uint32_t next_graph_id = 1;

/* No document says whether a graph's first node has the number 0 or 1. */
static uint32_t first_number(void)
{
	const char *text = getenv("PILLION_SIMGPU_FIRST_NODE");

	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static uint64_t numbered(const struct sim_graph *graph, size_t place)
{
	return (uint64_t)graph->id << 32 | (first_number() + (uint32_t)place);
}

uint32_t sim_graph_id(CUgraph graph)
{
	return graph ? ((struct sim_graph *)graph)->id : 0;
}

uint64_t sim_node_id(CUgraphNode node)
{
	return node ? ((struct sim_node *)node)->id : 0;
}

uint32_t sim_exec_id(CUgraphExec exec)
{
	return exec ? ((struct sim_exec *)exec)->graph->id : 0;
}

struct sim_graph *sim_graph_new(void)
{
	struct sim_graph *graph = calloc(1, sizeof(*graph));

	if (graph)
		graph->id = __atomic_fetch_add(&next_graph_id, 1, __ATOMIC_RELAXED);
	return graph;
}

/* The graphs inside of a node; returns how many. */
static size_t inner_graphs(struct sim_work *work, struct sim_graph ***ret)
{
	if (work->kind != SIM_CHILD && work->kind != SIM_CONDITIONAL)
		return 0;
	*ret = work->kind == SIM_CHILD ? &work->child.graph : work->conditional.bodies;
	return work->kind == SIM_CHILD ? 1 : 2;
}

static void free_work(struct sim_work *work)
{
	struct sim_graph **inner = NULL;

	for (size_t i = inner_graphs(work, &inner); i > 0; i--)
		sim_graph_free(inner[i - 1]);
	sim_work_done(work);
}

void sim_graph_free(struct sim_graph *graph)
{
	if (!graph)
		return;
	for (struct sim_node *node = graph->first, *next; node; node = next) {
		next = node->next;
		free_work(&node->work);
		free(node);
	}
	free(graph);
}

static CUresult add(struct sim_graph *graph, const struct sim_work *work, bool is_copy, struct sim_node **ret_node)
{
	struct sim_node *node = calloc(1, sizeof(*node));
	struct sim_graph **inner = NULL;
	CUresult result = node ? sim_work_copy(&node->work, work) : CUDA_ERROR_OUT_OF_MEMORY;

	if (result != CUDA_SUCCESS) {
		free(node);
		return result;
	}
	for (size_t i = inner_graphs(&node->work, &inner); i > 0; i--)
		if (inner[i - 1] && (work->kind == SIM_CHILD || is_copy))
			inner[i - 1] = sim_graph_copy(inner[i - 1]);
	node->graph = graph;
	sim_lock();
	node->id = numbered(graph, graph->count++);
	if (!is_copy)
		node->work.origin = node->id;
	if (graph->last)
		graph->last->next = node;
	else
		graph->first = node;
	graph->last = node;
	sim_unlock();
	if (ret_node)
		*ret_node = node;
	return CUDA_SUCCESS;
}

CUresult sim_graph_add(struct sim_graph *graph, const struct sim_work *work, struct sim_node **ret_node)
{
	struct sim_node *node = NULL;
	CUresult result = add(graph, work, false, &node);

	if (result != CUDA_SUCCESS)
		return result;
	sim_log("node", ",\"origin\":%llu,\"kind\":%d", (unsigned long long)node->work.origin, work->kind);
	if (ret_node)
		*ret_node = node;
	return CUDA_SUCCESS;
}

struct sim_graph *sim_graph_copy(const struct sim_graph *graph)
{
	struct sim_graph *copy = sim_graph_new();

	for (const struct sim_node *node = graph->first; node && copy; node = node->next) {
		struct sim_node *twin = NULL;

		if (add(copy, &node->work, true, &twin) != CUDA_SUCCESS) {
			sim_graph_free(copy);
			return NULL;
		}
		twin->work.source = node->id;
	}
	return copy;
}

struct sim_node *sim_graph_twin(const struct sim_graph *copy, const struct sim_node *node)
{
	struct sim_node *twin = copy->first;

	for (const struct sim_node *at = node->graph->first; at && at != node; at = at->next)
		twin = twin ? twin->next : NULL;
	return twin;
}

bool sim_graph_update(struct sim_graph *graph, const struct sim_graph *other)
{
	struct sim_graph *fresh;
	struct sim_node *to = graph->first;

	for (const struct sim_node *from = other->first; from; from = from->next, to = to->next)
		if (!to || to->work.kind != from->work.kind)
			return false;
	fresh = to ? NULL : sim_graph_copy(other);
	if (!fresh)
		return false;
	to = graph->first;
	for (struct sim_node *from = fresh->first; from; from = from->next, to = to->next) {
		struct sim_work old = to->work;

		to->work = from->work;
		from->work = old;
	}
	sim_graph_free(fresh);
	return true;
}

static void renumber(struct sim_graph *graph, bool is_inner)
{
	size_t left = graph->count;
	struct sim_graph **inner = NULL;

	for (struct sim_node *node = graph->first; node; node = node->next) {
		if (is_inner)
			node->id = numbered(graph, --left);
		for (size_t i = inner_graphs(&node->work, &inner); i > 0; i--)
			if (inner[i - 1])
				renumber(inner[i - 1], true);
	}
}

void sim_graph_renumber(struct sim_graph *graph)
{
	renumber(graph, false);
}

static CUresult queue_nodes(const struct sim_graph *graph, const struct sim_exec *exec, uint64_t queued_ns,
			    struct sim_stream *stream);

/* Without a seed the condition has its default value; with one, it is drawn for each launch. */
static CUresult queue_body(const struct sim_work *work, const struct sim_exec *exec, uint64_t queued_ns,
			    struct sim_stream *stream)
{
	bool is_met = sim_has_seed() ? sim_draw(2) : work->conditional.is_met;
	const struct sim_graph *body = work->conditional.bodies[!is_met];

	return body ? queue_nodes(body, exec, queued_ns, stream) : CUDA_SUCCESS;
}

static CUresult queue_nodes(const struct sim_graph *graph, const struct sim_exec *exec, uint64_t queued_ns,
			    struct sim_stream *stream)
{
	CUresult result = CUDA_SUCCESS;

	for (const struct sim_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->next) {
		struct sim_work work = node->work;

		if (node->is_disabled || work.kind == SIM_GRAPH_END)
			continue;
		work.graph_id = exec->graph->id;
		work.tool_epoch = exec->tool_epoch;
		work.queued_ns = queued_ns;
		work.node_id = node->id;
		if (work.kind == SIM_RECORD)
			work.event.seq = ++work.event.event->queued;
		else if (work.kind == SIM_WAIT)
			work.event.seq = work.event.event->queued;
		if (work.kind == SIM_CHILD)
			result = queue_nodes(work.child.graph, exec, queued_ns, stream);
		else if (work.kind == SIM_CONDITIONAL)
			result = queue_body(&work, exec, queued_ns, stream);
		else
			result = sim_queue(stream, &work);
	}
	return result;
}

CUresult sim_graph_launch(struct sim_exec *exec, struct sim_stream *stream)
{
	struct sim_work end = { .kind = SIM_GRAPH_END, .graph_id = exec->graph->id, .tool_epoch = exec->tool_epoch,
				.queued_ns = sim_now_ns() };
	struct sim_work child = { .kind = SIM_CHILD, .child = { exec->graph } };
	CUresult result;

	if (stream->capture)
		return sim_queue(stream, &child);
	else
		sim_log("graph", ",\"graph\":%u,\"nodes\":%zu,\"stream\":%u,\"corr\":%u", exec->graph->id,
			exec->graph->count, stream->id, sim_correlation());
	result = queue_nodes(exec->graph, exec, end.queued_ns, stream);
	return result == CUDA_SUCCESS ? sim_queue(stream, &end) : result;
}

void sim_capture_begin(struct sim_stream *stream, struct sim_graph *graph)
{
	sim_lock();
	stream->capture = graph;
	stream->depend_count = 0;
	stream->is_capture_origin = true;
	sim_unlock();
}

void sim_capture_join(struct sim_stream *stream, struct sim_graph *graph)
{
	sim_lock();
	stream->capture = graph;
	stream->depend_count = 0;
	sim_unlock();
}

void sim_capture_depend(struct sim_stream *stream, struct sim_node *node)
{
	if (node && stream->depend_count < 2 && !(stream->depend_count && stream->depends[0] == node))
		stream->depends[stream->depend_count++] = node;
}

/* Streams that joined the capture by waiting for one of its events leave it together with the first stream. */
CUresult sim_capture_end(struct sim_stream *stream, struct sim_graph **ret_graph)
{
	struct sim_graph *graph;

	sim_lock();
	graph = stream->capture;
	if (!graph || !stream->is_capture_origin) {
		sim_unlock();
		return CUDA_ERROR_ILLEGAL_STATE;
	}
	for (struct sim_context *context = sim_context_first(); context; context = context->next) {
		for (struct sim_stream *other = context->streams; other; other = other->next) {
			if (other->capture == graph)
				other->capture = NULL;
		}
	}
	stream->is_capture_origin = false;
	sim_unlock();
	*ret_graph = graph;
	return CUDA_SUCCESS;
}
