/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/graph.h"

#include <errno.h>
#include <stddef.h>

#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/recorder/device/cupti_state.h"
#include "runtime/recorder/device/event_timing.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/format/trace_format.h"

uint32_t graph_captures HOT;

enum { CAPTURE_ACTIVE = 1, CAPTURE_ERRORS = 900, CAPTURE_ERRORS_END = 910 }; /* CUDA_ERROR_STREAM_CAPTURE_... */

void graph_capture_begins(void)
{
	__atomic_add_fetch(&graph_captures, 1, __ATOMIC_RELAXED);
}

/* A capture that was invalidated ends with an error, too. Captures that began while nothing was recorded were not
 * counted. */
void graph_capture_ends(unsigned result)
{
	uint32_t count = __atomic_load_n(&graph_captures, __ATOMIC_RELAXED);

	if (result && (result < CAPTURE_ERRORS || result >= CAPTURE_ERRORS_END))
		return;
	while (count && !__atomic_compare_exchange_n(&graph_captures, &count, count - 1, false, __ATOMIC_RELAXED,
						     __ATOMIC_RELAXED))
		;
}

/* ---- queries of the driver and CUPTI ---- */

typedef int capture_info(void *stream, int *status, uint64_t *id, void **graph, void *const **dependencies,
			 size_t *count);

/* Functions of the driver. It is never unloaded, so those that were found are kept; those that an old driver lacks are
 * searched for once. */
static struct driver {
	uint32_t is_known;
	capture_info *capture_info[2]; /* by whether NULL is the thread's own stream */
	int (*node_id)(void *node, uint64_t *ret);
	int (*graph_id)(void *graph, uint32_t *ret);
	int (*exec_id)(void *exec, uint32_t *ret);
	int (*child)(void *node, void **ret_graph);
} driver;

static const struct driver *driver_find(void)
{
	if (__atomic_load_n(&driver.is_known, __ATOMIC_ACQUIRE))
		return &driver;
#define FIND(field, symbol) driver.field = dso_library_symbol("libcuda.so", symbol)
	FIND(capture_info[0], "cuStreamGetCaptureInfo_v2");
	FIND(capture_info[1], "cuStreamGetCaptureInfo_v2_ptsz");
	FIND(node_id, "cuGraphNodeGetToolsId");
	FIND(graph_id, "cuGraphGetId");
	FIND(exec_id, "cuGraphExecGetId");
	FIND(child, "cuGraphChildGraphNodeGetGraph");
#undef FIND
	__atomic_store_n(&driver.is_known, 1, __ATOMIC_RELEASE);
	return &driver;
}

/* After the program's cuptiFinalize its functions may crash, so they are called only while we use it. */
static bool cupti_is_usable(void)
{
	return cupti_phase_has(CUPTI_RECORDS) && cupti_is_open();
}

/* 0: not known. No graph has the id 0, while its first node may have the number 0. */
static uint64_t node_id(void *node)
{
	const struct driver *d = driver_find();
	uint64_t id = 0;

	if (d->node_id && !d->node_id(node, &id))
		return id;
	return cupti_is_usable() && cupti_api.node_id && !cupti_api.node_id(node, &id) ? id : 0;
}

static uint32_t graph_id(void *graph)
{
	const struct driver *d = driver_find();
	uint32_t id = 0;

	if (d->graph_id && !d->graph_id(graph, &id))
		return id;
	return cupti_is_usable() && cupti_api.graph_id && !cupti_api.graph_id(graph, &id) ? id : 0;
}

static uint32_t exec_id(void *exec)
{
	const struct driver *d = driver_find();
	uint32_t id = 0;

	if (d->exec_id && !d->exec_id(exec, &id))
		return id;
	return cupti_is_usable() && cupti_api.exec_id && !cupti_api.exec_id(exec, &id) ? id : 0;
}

/* The node that the stream's next node will depend on: the one that the last call has added. NULL: the stream is not
 * capturing, or the call added none or several. */
static void *newest_node(void *stream, bool is_per_thread)
{
	capture_info *info = driver_find()->capture_info[is_per_thread];
	void *const *dependencies = NULL, *graph = NULL;
	uint64_t id;
	size_t count = 0;
	int status = 0;

	if (!info || info(stream, &status, &id, &graph, &dependencies, &count) || status != CAPTURE_ACTIVE)
		return NULL;
	return count == 1 ? dependencies[0] : NULL;
}

/* ---- launches by nodes ---- */

enum { LAUNCHES_WITHOUT_RECORD = 32, FLUSHES_WITHOUT_RECORD = 3 };

static struct intern_table launches; /* executable graph -> its launches before the next one by nodes */

/* With the claim: launches in progress that are recorded by nodes; whether all are from now on; flushes that returned
 * no record of a whole graph although there were launches. */
static unsigned by_nodes, silent_flushes;
static bool is_by_nodes_only;

/* How many launches are recorded as a whole before the next one by nodes: at random, because a program may repeat
 * itself every so many launches, and N - 1 in the mean. */
static uint64_t launches_as_whole(uint32_t every)
{
	static uint64_t drawn;

	return intern_fold(process.nonce, __atomic_add_fetch(&drawn, 1, __ATOMIC_RELAXED)) % (2 * (uint64_t)every - 1);
}

bool graph_launch_by_nodes(void *exec)
{
	uint32_t every = process_options.cuda_graph_sampling;
	struct thread_guard guard;
	uint64_t left;
	bool is_sampled;

	if (!every || process_options.cuda_graph_nodes || cupti_state.has_hardware || !exec ||
	    !cupti_phase_has(CUPTI_RECORDS))
		return false;
	left = intern_get(&launches, (uintptr_t)exec);
	intern_set(&launches, (uintptr_t)exec, left ? left - 1 : launches_as_whole(every));
	if (left || !cupti_claim(&guard)) {
		__atomic_add_fetch(&cupti_state.whole_launches, 1, __ATOMIC_RELAXED);
		return false;
	}
	is_sampled = cupti_phase() == CUPTI_RECORDING && !event_timing_is_on() && !is_by_nodes_only &&
		     cupti_state.kinds & 1ull << CUPTI_GRAPH;
	if (is_sampled && !by_nodes++)
		cupti_api.disable(CUPTI_GRAPH);
	cupti_release(&guard);
	return is_sampled;
}

/* If the claim cannot be had, the graphs that follow are recorded by nodes, too, which is only slower. */
void graph_launched_by_nodes(void)
{
	struct thread_guard guard;

	if (!cupti_claim_patiently(&guard))
		return;
	if (!--by_nodes && !is_by_nodes_only && cupti_phase() == CUPTI_RECORDING &&
	    cupti_state.kinds & 1ull << CUPTI_GRAPH)
		cupti_api.enable(CUPTI_GRAPH);
	cupti_release(&guard);
}

void graph_check_whole(void)
{
	if (!process_options.cuda_graph_sampling || is_by_nodes_only || process_options.cuda_graph_nodes ||
	    cupti_state.has_hardware)
		return;
	if (__atomic_load_n(&cupti_state.whole_launches, __ATOMIC_RELAXED) < LAUNCHES_WITHOUT_RECORD) {
		silent_flushes = 0;
		return;
	}
	if (++silent_flushes < FLUSHES_WITHOUT_RECORD)
		return;
	is_by_nodes_only = true;
	cupti_api.disable(CUPTI_GRAPH);
	process_note("CUPTI does not record graphs as a whole any more after it has recorded one by nodes: from here "
		     "on all are recorded by nodes, and launches before that have no device record");
}

/* ---- arguments ---- */

static unsigned add_node(uint64_t *words, unsigned count, uint64_t id)
{
	words[count++] = tf_arg(TF_ARG_GRAPH, 0, id >> 32);
	words[count++] = tf_arg(TF_ARG_GRAPH_NODE, 0, (uint32_t)id);
	return count;
}

/* A node has a copy of its child graph, whose nodes are the sources in CUPTI's records. 0: no child, or not known. */
static uint32_t child_copy(void *node)
{
	void *copy = NULL;

	if (cupti_state.version < CUPTI_HAS_SOURCES || !driver_find()->child || driver.child(node, &copy) || !copy)
		return 0;
	return graph_id(copy);
}

static unsigned add_copy(uint64_t *words, unsigned count, uint32_t copy)
{
	if (copy)
		words[count++] = tf_arg(TF_ARG_GRAPH_INNER, 1, copy);
	return count;
}

unsigned graph_captured(uint64_t *words, unsigned count, void *stream, bool is_per_thread, void *exec)
{
	uint64_t id = 0, inner = 0;
	uint32_t copy = 0;
	int error = errno;
	void *node;

	if (event_timing_is_on())
		return count; /* nodes have no records */
	/* Without a guard, which would cost two system calls: these are queries that the program could make itself. */
	node = newest_node(stream, is_per_thread);
	if (node)
		id = node_id(node);
	if (id && exec)
		inner = exec_id(exec);
	if (inner)
		copy = child_copy(node);
	errno = error;
	if (id)
		count = add_node(words, count, id);
	if (inner)
		words[count++] = tf_arg(TF_ARG_GRAPH_EXEC, 0, inner);
	return add_copy(words, count, copy);
}

enum { INNERS = 2 }; /* more bodies, of a switch, are not recorded */

unsigned graph_added(uint64_t *words, unsigned count, void *graph, void *node, void *const *inner, unsigned inners)
{
	struct thread_guard guard;
	uint64_t id;
	uint32_t ids[INNERS] = {0}, copy = 0;

	(void)graph; /* part of the node's id */
	thread_guard_enter(&thread_self, &guard);
	id = node_id(node);
	for (unsigned i = 0; i < inners && i < INNERS; i++)
		ids[i] = graph_id(inner[i]);
	if (inners == 1 && ids[0])
		copy = child_copy(node);
	thread_guard_leave(&thread_self, &guard);
	if (!id)
		return count;
	count = add_node(words, count, id);
	for (unsigned i = 0; i < INNERS; i++)
		if (ids[i])
			words[count++] = tf_arg(TF_ARG_GRAPH_INNER, 0, ids[i]);
	return add_copy(words, count, copy);
}

/* The beginning of CUgraphNodeParams and cudaGraphNodeParams, which older headers lack. */
struct node_params {
	uint32_t type, reserved[3];
	union {
		void *child;
		struct {
			uint64_t handle;
			uint32_t type, size;
			void *const *bodies;
		} conditional;
	};
};
enum { NODE_CHILD = 4, NODE_CONDITIONAL = 13 };

unsigned graph_added_any(uint64_t *words, unsigned count, void *graph, void *node, const void *params)
{
	const struct node_params *p = params;

	if (p && p->type == NODE_CHILD)
		return graph_added(words, count, graph, node, &p->child, 1);
	if (p && p->type == NODE_CONDITIONAL && p->conditional.bodies)
		return graph_added(words, count, graph, node, p->conditional.bodies, p->conditional.size);
	return graph_added(words, count, graph, node, NULL, 0);
}

static unsigned add_pair(uint64_t *words, unsigned count, uint32_t graph, unsigned arg, uint32_t other)
{
	if (!graph || !other)
		return count;
	words[count++] = tf_arg(TF_ARG_GRAPH, 0, graph);
	words[count++] = tf_arg(arg, 0, other);
	return count;
}

void graph_note_flags(uint64_t flags)
{
	enum { DEVICE_LAUNCH = 4 }; /* CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH */
	static bool is_noted;
	struct thread_guard guard;

	if (!(flags & DEVICE_LAUNCH) || cupti_state.has_hardware ||
	    __atomic_exchange_n(&is_noted, true, __ATOMIC_RELAXED))
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("graphs may be launched from the device: such launches have records only with -t cuda-hw");
	thread_guard_leave(&thread_self, &guard);
}

unsigned graph_instantiated(uint64_t *words, unsigned count, void *exec, void *graph)
{
	struct thread_guard guard;
	uint32_t from, to;

	thread_guard_enter(&thread_self, &guard);
	from = graph_id(graph);
	to = exec_id(exec);
	if (process_options.cuda_graph_sampling)
		intern_set(&launches, (uintptr_t)exec, 0); /* another graph may have had its address */
	thread_guard_leave(&thread_self, &guard);
	return add_pair(words, count, from, TF_ARG_GRAPH_EXEC, to);
}

unsigned graph_cloned(uint64_t *words, unsigned count, void *clone, void *original)
{
	struct thread_guard guard;
	uint32_t from, to;

	thread_guard_enter(&thread_self, &guard);
	from = graph_id(original);
	to = graph_id(clone);
	thread_guard_leave(&thread_self, &guard);
	return add_pair(words, count, to, TF_ARG_GRAPH_INNER, from);
}
