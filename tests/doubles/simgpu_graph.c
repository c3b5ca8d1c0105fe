/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: built by hand or by capturing streams, copied when instantiated, queued node by node when launched. */
#include "simgpu.h"

#include <stdlib.h>

static uint32_t next_graph_id = 1;

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

void sim_graph_free(struct sim_graph *graph)
{
	if (!graph)
		return;
	for (struct sim_node *node = graph->first, *next; node; node = next) {
		next = node->next;
		if (node->work.kind == SIM_CHILD)
			sim_graph_free(node->work.child.graph);
		sim_work_done(&node->work);
		free(node);
	}
	free(graph);
}

CUresult sim_graph_add(struct sim_graph *graph, const struct sim_work *work, struct sim_node **ret_node)
{
	struct sim_node *node = calloc(1, sizeof(*node));
	CUresult result = node ? sim_work_copy(&node->work, work) : CUDA_ERROR_OUT_OF_MEMORY;

	if (result != CUDA_SUCCESS) {
		free(node);
		return result;
	}
	if (work->kind == SIM_CHILD)
		node->work.child.graph = sim_graph_copy(work->child.graph);
	node->graph = graph;
	sim_lock();
	node->id = (uint64_t)graph->id << 32 | ++graph->count;
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

struct sim_graph *sim_graph_copy(const struct sim_graph *graph)
{
	struct sim_graph *copy = sim_graph_new();

	for (const struct sim_node *node = graph->first; node && copy; node = node->next) {
		if (sim_graph_add(copy, &node->work, NULL) != CUDA_SUCCESS) {
			sim_graph_free(copy);
			return NULL;
		}
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

static CUresult queue_nodes(const struct sim_graph *graph, uint32_t id, struct sim_stream *stream)
{
	CUresult result = CUDA_SUCCESS;

	for (const struct sim_node *node = graph->first; node && result == CUDA_SUCCESS; node = node->next) {
		struct sim_work work = node->work;

		if (node->is_disabled || work.kind == SIM_GRAPH_END)
			continue;
		work.graph_id = id;
		work.node_id = node->id;
		if (work.kind == SIM_RECORD)
			work.event.seq = ++work.event.event->queued;
		else if (work.kind == SIM_WAIT)
			work.event.seq = work.event.event->queued;
		if (work.kind == SIM_CHILD)
			result = queue_nodes(work.child.graph, id, stream);
		else
			result = sim_queue(stream, &work);
	}
	return result;
}

CUresult sim_graph_launch(struct sim_exec *exec, struct sim_stream *stream)
{
	struct sim_work end = { .kind = SIM_GRAPH_END, .graph_id = exec->graph->id };
	CUresult result;

	if (!stream->capture)
		sim_log("graph", ",\"graph\":%u,\"nodes\":%zu,\"stream\":%u,\"corr\":%u", exec->graph->id,
			exec->graph->count, stream->id, sim_correlation());
	result = queue_nodes(exec->graph, exec->graph->id, stream);
	return result == CUDA_SUCCESS ? sim_queue(stream, &end) : result;
}

void sim_capture_begin(struct sim_stream *stream, struct sim_graph *graph)
{
	sim_lock();
	stream->capture = graph;
	stream->is_capture_origin = true;
	sim_unlock();
}

void sim_capture_join(struct sim_stream *stream, struct sim_graph *graph)
{
	sim_lock();
	stream->capture = graph;
	sim_unlock();
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
