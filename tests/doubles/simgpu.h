/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated GPU behind the doubles: its objects, how work is queued on it, how tools observe it.
 * Only libcuda.so.1 contains it; the other doubles access it through cuGetExportTable. */
#ifndef SIMGPU_H
#define SIMGPU_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL	/* declares every ABI name, _v2 and _ptsz included, and renames none */
#endif
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_MAX_DEVICES 16
#define SIM_API_CUDA_VERSION 13000

struct sim_graph;
struct simgpu_image;

struct sim_function {		/* CUfunction and CUkernel: one object for both */
	struct sim_function *next;
	struct sim_module *module;
	char name[];
};

struct sim_module {		/* CUmodule and CUlibrary: one object for both */
	struct sim_module *next;
	struct sim_function *functions;
	struct sim_global *globals;
	const struct simgpu_image *image;	/* NULL: machine code, which is never run */
};

struct sim_global {
	struct sim_global *next;
	CUdeviceptr address;
	size_t bytes;
	char name[];
};

enum sim_work_kind {
	SIM_KERNEL, SIM_COPY, SIM_SET, SIM_HOST, SIM_RECORD, SIM_WAIT, SIM_FREE, SIM_STORE, SIM_GRAPH_END, SIM_EMPTY,
	SIM_CHILD,		/* in graphs only: another graph's nodes */
	SIM_CONDITIONAL,	/* likewise: those of one of two graphs */
};

/* The location of memory, which determines the kind of a copy. */
enum sim_place { SIM_PAGEABLE, SIM_PINNED, SIM_DEVICE, SIM_MANAGED, SIM_POOL, SIM_VMM };
const char *sim_place_name(enum sim_place place);

struct sim_copy {
	uintptr_t dst, src;
	size_t width, height, depth;		/* bytes, rows, slices */
	size_t dst_pitch, src_pitch, dst_slice, src_slice;	/* bytes from row to row, from slice to slice */
	enum sim_place dst_place, src_place;
	int dst_device, src_device;		/* -1: host memory */
	bool is_async, is_peer, is_decompression;
	void *staged;		/* owned: bytes of a pageable source, taken at the call */
};

struct sim_work {
	enum sim_work_kind kind;
	uint64_t node_id;	/* 0 outside a graph */
	uint64_t origin;	/* likewise; of the node as the program added it, which its copies keep */
	uint64_t source;	/* likewise; of the node from which the last copy was made; 0: it is no copy */
	uint32_t graph_id, tool_epoch;	/* of the executable graph */
	uint64_t queued_ns;	/* of all nodes of a launch, which the device gets at once; 0 outside a graph */
	union {
		struct {
			struct sim_function *function;
			unsigned grid[3], block[3], cluster[3], shared_bytes;
			bool is_cooperative;
			void *host_args;	/* owned: see sim_kernel_prepare */
		} kernel;
		struct sim_copy copy;
		struct {
			uintptr_t dst;
			size_t width, height, pitch;	/* elements, rows, bytes */
			unsigned value, element_bytes;
			bool is_async;
			enum sim_place place;
		} set;
		struct { CUhostFn call; CUstreamCallback callback; CUstream stream; void *data; } host;
		struct { struct sim_event *event; uint64_t seq; } event;
		struct { uintptr_t address; size_t bytes; } free;
		struct { uintptr_t address; uint64_t value; unsigned bytes; } store;
		struct { struct sim_graph *graph; } child;
		struct { struct sim_graph *bodies[2]; bool is_met; } conditional;	/* bodies[1]: else, or NULL */
	};
};

struct sim_need { struct sim_stream *stream; uint64_t seq; };

struct sim_op {			/* work, queued on a stream */
	struct sim_op *next;
	struct sim_stream *stream;
	struct sim_work work;
	uint64_t id, seq;	/* id: in the process; seq: on the stream */
	uint32_t correlation;
	uint64_t queued_ns, start_ns, end_ns;	/* sim_now_ns()'s clock */
	bool is_placed;		/* start_ns and end_ns are known */
	unsigned tool_flags;	/* private to the tool */
	size_t need_count;
	struct sim_need needs[];
};

struct sim_stream {
	struct sim_stream *next;
	struct sim_context *context;
	uint32_t id;
	unsigned flags;
	int priority;
	struct sim_op *head, *tail;
	uint64_t queued_seq, done_seq, done_ns;
	struct sim_graph *capture;	/* being recorded into; NULL: executing */
	struct sim_node *depends[2];	/* while capturing: on which the next node will depend */
	size_t depend_count;
	CUstreamCaptureMode capture_mode;
	bool is_capture_origin, is_dead;
};

struct sim_context {
	struct sim_context *next;
	uint32_t id;
	int device;
	bool is_primary, is_dead;
	unsigned flags;
	int users;
	struct sim_stream *streams;	/* the first made is the legacy default stream */
	struct sim_stream *legacy;
};

struct sim_event {
	unsigned flags;
	uint32_t id;
	uint64_t queued, done;		/* how often recorded, how often reached */
	uint64_t done_ns;
	struct sim_graph *capture;	/* recorded last while capturing */
	struct sim_node *node;		/* likewise: after this one */
};

struct sim_device {
	size_t total_bytes, used_bytes;
	struct sim_context *primary;
	struct sim_pool *default_pool, *pool;
	char name[64];
};

/* One API call, from entry to return. Calls made by the runtime inside its own entry points are nested. */
enum sim_layer { SIM_DRIVER, SIM_RUNTIME };
struct sim_api {
	enum sim_layer layer;
	unsigned cbid;
	const char *name;
	const void *params;
	uint32_t correlation;
	bool is_nested;
	uint64_t start_ns, end_ns;
	int result;
	const int *result_address;
	uint64_t tool_word;		/* a subscriber's own, from entry to return */
};

struct sim_allocation {
	uintptr_t address;
	size_t bytes;
	enum sim_place place;
	int device;
	unsigned flags;
	bool is_registered;
	struct sim_context *context;
	struct sim_pool *pool;
	uint64_t pool_used_bytes, pool_high_bytes, pool_threshold_bytes;	/* after its allocation or free */
	uint64_t id;
};

/* Callbacks of a tool (the CUPTI double), called on the thread of the event: `queued` with the core's lock held, the
 * others without it. */
struct sim_tool {
	void (*queued)(struct sim_op *op);
	uint32_t (*epoch)(void);	/* kept with each graph that is instantiated */
	void (*api)(struct sim_api *api, bool is_exit);
	void (*work)(struct sim_op *op, const struct sim_op *graph_first);
	void (*memory)(const struct sim_allocation *allocation, bool is_free, uint32_t correlation,
		       uint32_t stream, bool is_async);
	void (*wait)(int type, const struct sim_context *context, uint32_t stream, uint32_t event,
		     uint64_t start_ns, uint64_t end_ns, uint32_t correlation);
	void (*context)(const struct sim_context *context, bool is_end);
	void (*stream)(const struct sim_stream *stream, bool is_end, uint32_t correlation);
};

/* The table that libcudart, libcupti and libcublas get from cuGetExportTable with SIM_EXPORT_ID. */
struct sim_interface {
	uint64_t (*now_ns)(void);
	CUresult (*api_enter)(struct sim_api *api, enum sim_layer layer, unsigned cbid, const char *name,
			      const void *params, const int *result_address);
	void (*api_leave)(struct sim_api *api, int result);
	void (*log)(const char *event, const char *format, ...);
	void (*nest)(bool is_begin);		/* calls of this thread in between are not reported */
	void (*set_tool)(const struct sim_tool *tool);
	bool (*is_forked)(void);
	bool (*is_up)(void);			/* the program's first cuInit has finished */
	void (*each_op)(void (*visit)(struct sim_op *op, void *data), void *data);	/* with the core's lock */
	uint32_t (*correlation)(void);		/* of this thread's current call, or 0 */
	struct sim_context *(*first_context)(void);
	struct sim_stream *(*stream_find)(CUstream handle, bool is_per_thread);
	struct sim_device *(*device)(int ordinal);
	uint32_t (*graph_id)(CUgraph graph);
	uint64_t (*node_id)(CUgraphNode node);
	uint32_t (*exec_id)(CUgraphExec exec);
};
#define SIM_EXPORT_ID { { 's', 'i', 'm', 'g', 'p', 'u', '-', 'i', 'n', 't', 'e', 'r', 'f', 'a', 'c', '1' } }
const struct sim_interface *sim_interface(void);

/* simgpu.c */
CUresult sim_init(void);
CUresult sim_ready_status(void);
bool sim_is_forked(void);		/* a child of a process that had initialised it */
bool sim_is_up(void);
void sim_set_up(void);
void sim_each_op(void (*visit)(struct sim_op *op, void *data), void *data);	/* operations that have not ended */
void sim_set_tool(const struct sim_tool *tool);
int sim_device_count(void);
struct sim_device *sim_device(int ordinal);
void sim_lock(void);
void sim_unlock(void);
extern const struct sim_tool *sim_tool;

struct sim_context *sim_context_current(void);	/* the calling thread's context, or NULL */
void sim_context_set(struct sim_context *context);
struct sim_context *sim_context_new(int device, bool is_primary, unsigned flags);
void sim_context_free(struct sim_context *context);
struct sim_context *sim_context_first(void);
bool sim_context_is(const struct sim_context *context);

struct sim_stream *sim_stream_new(struct sim_context *context, unsigned flags, int priority);
void sim_stream_free(struct sim_stream *stream);
/* A NULL handle is the legacy or the calling thread's default stream, depending on is_per_thread; CU_STREAM_LEGACY and
 * CU_STREAM_PER_THREAD are accepted. Returns NULL for an invalid stream. */
struct sim_stream *sim_stream_find(CUstream handle, bool is_per_thread);

/* Queues a copy of *work, or adds it to the graph into which the stream is being captured. */
CUresult sim_queue(struct sim_stream *stream, const struct sim_work *work);
void sim_event_forget(struct sim_event *event);
/* Each waits in real time until the simulated device is done. */
void sim_wait_stream(struct sim_stream *stream);
void sim_wait_context(struct sim_context *context);
void sim_wait_event(struct sim_event *event);
bool sim_stream_is_idle(struct sim_stream *stream);

CUresult sim_api_enter(struct sim_api *api, enum sim_layer layer, unsigned cbid, const char *name,
		       const void *params, const int *result_address);
void sim_api_leave(struct sim_api *api, int result);
uint32_t sim_correlation(void);
void sim_nest(bool is_begin);

/* simgpu_work.c: how long work takes and what it does */
uint64_t sim_work_ns(const struct sim_work *work);
void sim_work_do(const struct sim_work *work);
bool sim_has_seed(void);		/* PILLION_SIMGPU_SEED: durations and conditions are drawn */
uint64_t sim_draw(uint64_t below);
bool sim_work_is_timed(const struct sim_work *work);	/* it ends when sim_work_do returns, if that is later */
void sim_work_done(struct sim_work *work);	/* frees what it owns */
CUresult sim_work_copy(struct sim_work *to, const struct sim_work *from);
static inline size_t sim_copy_bytes(const struct sim_copy *copy)
{
	return copy->width * copy->height * copy->depth;
}

static inline bool sim_is_host(enum sim_place place)
{
	return place == SIM_PAGEABLE || place == SIM_PINNED;
}

static inline const char *sim_copy_name(const struct sim_copy *copy)
{
	if (copy->is_peer)
		return "PtoP";
	if (sim_is_host(copy->src_place))
		return sim_is_host(copy->dst_place) ? "HtoH" : "HtoD";
	return sim_is_host(copy->dst_place) ? "DtoH" : "DtoD";
}

void sim_copy_places(struct sim_copy *copy);
const struct simgpu_image *sim_image_find(const void *image);
CUresult sim_kernel_prepare(struct sim_work *work, void **params, void **extra);

/* simgpu_memory.c */
#define SIM_ALLOC_QUIET 0x80000000u	/* a flag: an internal allocation, not reported to tools */
struct sim_pool {
	struct sim_pool *next;
	int device;
	uint64_t id, used_bytes, high_bytes, threshold_bytes;
};
CUresult sim_alloc(enum sim_place place, size_t bytes, unsigned flags, struct sim_pool *pool,
		   struct sim_stream *stream, uintptr_t *ret_address);
CUresult sim_free(uintptr_t address, struct sim_stream *stream, bool is_async);
CUresult sim_register(uintptr_t address, size_t bytes, unsigned flags);
CUresult sim_unregister(uintptr_t address);
/* Copies the allocation that contains the address; returns false if there is none. */
bool sim_find(uintptr_t address, struct sim_allocation *ret_allocation);
bool sim_holds(uintptr_t address, size_t bytes);	/* false: the device allocation at this address is smaller */
CUresult sim_reserve(uintptr_t *ret_address, size_t bytes);
CUresult sim_unreserve(uintptr_t address, size_t bytes);
CUresult sim_physical_new(size_t bytes, int device, uint64_t *ret_handle);
CUresult sim_physical_free(uint64_t handle);
CUresult sim_map(uintptr_t address, size_t bytes, uint64_t handle);
CUresult sim_unmap(uintptr_t address, size_t bytes);
struct sim_pool *sim_pool_new(int device);
CUresult sim_pool_free(struct sim_pool *pool);
void sim_memory_drop(struct sim_context *context);

/* simgpu_graph.c: nodes run one after the other in the order they were added */
struct sim_node {
	struct sim_node *next;
	struct sim_graph *graph;
	struct sim_work work;
	uint64_t id;
	bool is_disabled;
};

struct sim_graph {		/* CUgraph; an instantiated one is an immutable copy */
	struct sim_node *first, *last;
	size_t count;
	uint32_t id;
};

struct sim_exec {
	struct sim_graph *graph;
	uint32_t tool_epoch;
	unsigned long long flags;
};

struct sim_graph *sim_graph_new(void);
struct sim_graph *sim_graph_copy(const struct sim_graph *graph);
void sim_graph_free(struct sim_graph *graph);
CUresult sim_graph_add(struct sim_graph *graph, const struct sim_work *work, struct sim_node **ret_node);
/* Returns the node of a copied graph that corresponds to this node of the original, or NULL. */
struct sim_node *sim_graph_twin(const struct sim_graph *copy, const struct sim_node *node);
CUresult sim_graph_launch(struct sim_exec *exec, struct sim_stream *stream);
/* Replaces the nodes by those of another graph with the same kinds of nodes; the ids remain. False: they differ. */
bool sim_graph_update(struct sim_graph *graph, const struct sim_graph *other);
/* Numbers the nodes of graphs inside an executable one anew, as instantiation does. */
void sim_graph_renumber(struct sim_graph *graph);
void sim_capture_begin(struct sim_stream *stream, struct sim_graph *graph);
void sim_capture_join(struct sim_stream *stream, struct sim_graph *graph);
/* The stream's next node will also depend on this one. */
void sim_capture_depend(struct sim_stream *stream, struct sim_node *node);
CUresult sim_capture_end(struct sim_stream *stream, struct sim_graph **ret_graph);
uint32_t sim_graph_id(CUgraph graph);
uint64_t sim_node_id(CUgraphNode node);
uint32_t sim_exec_id(CUgraphExec exec);

/* simgpu_sys.c: raw system calls, so that a tracer does not attribute the double's own work to the program */
uint64_t sim_now_ns(void);		/* CLOCK_MONOTONIC */
int sim_tid(void);
void sim_mutex_lock(unsigned *word);
void sim_mutex_unlock(unsigned *word);
void sim_futex_wait(unsigned *word, unsigned seen, uint64_t timeout_ns);	/* 0: no timeout */
void sim_futex_wake(unsigned *word);
void *sim_pages(size_t bytes, bool is_reserved_only);
void sim_pages_free(void *pages, size_t bytes);
bool sim_pages_fix(void *at, size_t bytes, bool is_reserved_only);
bool sim_thread(void *(*body)(void *), void *data);	/* starts a detached thread with all signals blocked */

/* simgpu_log.c */
bool sim_log_is_on(void);
/* One line of JSON: {"t":ns,"pid":n,"tid":n,"ev":"<event>", and what the format adds}. */
void sim_log(const char *event, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *sim_log_text(char *buffer, size_t size, const char *text);	/* escaped for JSON */
void sim_log_queued(const struct sim_op *op);
void sim_log_fork_child(void);

#endif
