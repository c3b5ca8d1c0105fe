/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, copies, memsets and graphs as rows of nsys's tables. */
#include <string.h>

#include "report/events/cuda/graph.h"
#include "report/events/cuda/properties.h"
#include "report/tables/nsys/nsys_writer.h"

/* The id of a kernel's name in StringIds, in one of its forms. */
static int64_t kernel_name(struct nsys_writer *w, const struct tf_device_operation *operation, enum kernel_name form)
{
	struct report_context context = *w->context;
	SCOPED(buffer) name = {0};

	context.kernel_name = form;
	device_operation_name(&context, w->image->trace, operation, &name);
	return nsys_string(w, buffer_string(&name));
}

/* CUPTI's id of the node that executed the operation. */
static int64_t graph_node(const struct tf_device_operation *t)
{
	return device_is_node(t) ? (int64_t)((uint64_t)t->node_graph << 32 | t->node) : NSYS_NULL;
}

/* The node of an executable graph, with the call that made the node from which it was instantiated. */
static void graph_node_row(struct nsys_writer *w, const struct tf_device_operation *t)
{
	const struct graph_node *made = graph_node_of(w->image->trace, t, UINT64_MAX);
	const struct function *f = made ? trace_function(w->image->trace, made->event.id) : NULL;
	int64_t end;

	if (!f)
		return;
	end = nsys_time(w, clock_map_ns(w->timeline.clock, made->event.ticks));
	nsys_row(w, NSYS_GRAPH_NODE,
		 (int64_t[]){end - (int64_t)clock_map_duration(w->timeline.clock, made->event.duration), end,
			     NSYS_CLASS_GRAPH_NODE, w->global_pid | (made->thread->tid & 0xffffff),
			     nsys_string(w, f->name),
			     graph_node(t), (int64_t)((uint64_t)made->graph << 32 | made->node)},
		 7);
}

static struct nsys_operation *operation_of_event(struct nsys_writer *w, const struct timeline_event *e)
{
	uint64_t *slot = timeline_slot(&w->timeline, TEXT_OPERATION, e->name);
	struct nsys_operation *k;

	if (*slot)
		return &w->operations[*slot - 1];
	k = mem_new(w->operations, w->operation_count, w->operation_capacity,
		    (struct nsys_operation){.operation = *e->operation});
	*slot = w->operation_count;
	if (!k->operation.kind)
		k->operation.kind = TF_DEVICE_KERNEL; /* its definition is lost */
	for (int form = 0; k->operation.kind == TF_DEVICE_KERNEL && form < 3; form++)
		k->names[form] = kernel_name(w, &k->operation, (enum kernel_name)form);
	if (device_is_node(&k->operation))
		graph_node_row(w, &k->operation);
	return k;
}

/* CUPTI numbers the kinds of memory from 1, nsys from 0; CUPTI's unknown kind is nsys's last one. */
static int64_t memory_kind(uint8_t kind)
{
	return kind && kind < 8 ? kind - 1 : 7;
}

/* The leading columns that all kinds of device operations share. */
enum { WORK_COLUMNS = 8 };

static void kernel_row(struct nsys_writer *w, const int64_t *front, const struct nsys_operation *k)
{
	const struct tf_device_operation *t = &k->operation;
	int64_t row[NSYS_COLUMNS];
	const int64_t rest[] = {k->names[KERNEL_DEMANGLED],
				k->names[KERNEL_BASE],
				k->names[KERNEL_MANGLED],
				NSYS_NULL,
				NSYS_NULL,
				t->registers,
				t->grid[0],
				t->grid[1],
				t->grid[2],
				t->block[0],
				t->block[1],
				t->block[2],
				t->static_shared_bytes,
				t->dynamic_shared_bytes,
				t->local_bytes,
				0,
				0,
				NSYS_NULL,
				graph_node(t),
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				t->graph ? t->graph : NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				nsys_text("")}; /* sizes of tensors are not recorded */

	memcpy(row, front, WORK_COLUMNS * sizeof(*row));
	memcpy(row + WORK_COLUMNS, rest, sizeof(rest));
	nsys_row(w, NSYS_KERNEL, row, WORK_COLUMNS + sizeof(rest) / sizeof(*rest));
}

static void copy_row(struct nsys_writer *w, const int64_t *front, const struct tf_device_operation *t, uint64_t bytes)
{
	int64_t row[NSYS_COLUMNS];
	bool is_peer = t->copy == 10; /* otherwise nsys expects no devices */
	const int64_t rest[] = {(int64_t)bytes,
				t->copy == TF_COPY_DECOMPRESSES ? 0 : t->copy, /* nsys has no number for it */
				NSYS_NULL,
				memory_kind(t->source),
				memory_kind(t->target),
				is_peer ? t->source_device : NSYS_NULL,
				NSYS_NULL,
				is_peer ? t->target_device : NSYS_NULL,
				NSYS_NULL,
				NSYS_NULL,
				graph_node(t)};

	memcpy(row, front, WORK_COLUMNS * sizeof(*row));
	memcpy(row + WORK_COLUMNS, rest, sizeof(rest));
	nsys_row(w, NSYS_MEMCPY, row, WORK_COLUMNS + sizeof(rest) / sizeof(*rest));
}

void nsys_operation(struct nsys_writer *w, const struct timeline_event *e)
{
	const struct nsys_operation *k = operation_of_event(w, e);
	const struct tf_device_operation *t = &k->operation;
	const struct device_record *r = e->record;
	int64_t start = nsys_time(w, e->start_ns);
	int64_t row[WORK_COLUMNS + 4] = {start,
					 start + (int64_t)e->duration_ns,
					 t->device,
					 t->context,
					 NSYS_NULL,
					 t->stream,
					 nsys_correlation(w, e->correlation),
					 w->global_pid};

	if (t->kind == TF_DEVICE_KERNEL) {
		kernel_row(w, row, k);
	} else if (t->kind == TF_DEVICE_COPY) {
		copy_row(w, row, t, r->bytes);
	} else if (t->kind == TF_DEVICE_SET) {
		memcpy(row + WORK_COLUMNS,
		       (int64_t[]){t->value, (int64_t)r->bytes, graph_node(t), memory_kind(t->target)},
		       4 * sizeof(*row));
		nsys_row(w, NSYS_MEMSET, row, WORK_COLUMNS + 4);
	} else if (t->kind == TF_DEVICE_GRAPH) {
		row[WORK_COLUMNS] = row[WORK_COLUMNS + 1] = t->graph;
		nsys_row(w, NSYS_GRAPH, row, WORK_COLUMNS + 2);
	}
}

/* Columns of TARGET_INFO_GPU. */
enum {
	GPU_VM,
	GPU_ID,
	GPU_NAME,
	GPU_BUS,
	GPU_IS_DISCRETE,
	GPU_L2,
	GPU_MEMORY,
	GPU_BANDWIDTH,
	GPU_CLOCK,
	GPU_SMS,
	GPU_UUID = 11,
	GPU_CUDA_DEVICE = 14,
	GPU_CONSTANT_MEMORY = 19,
	GPU_COLUMNS = 41
};

/* What nsys shows of attributes as they are. */
static const struct {
	uint8_t column, attribute;
} gpu_attributes[] = {
	{GPU_L2, TF_ATTRIBUTE_L2_BYTES},
	{GPU_SMS, TF_ATTRIBUTE_SM_COUNT},
	{GPU_CONSTANT_MEMORY, TF_ATTRIBUTE_CONSTANT_BYTES},
	{21, TF_ATTRIBUTE_BLOCK_REGISTERS},
	{22, TF_ATTRIBUTE_BLOCK_SHARED_BYTES},
	{23, TF_ATTRIBUTE_BLOCK_SHARED_BYTES_OPTIN},
	{24, TF_ATTRIBUTE_SM_SHARED_BYTES},
	{25, TF_ATTRIBUTE_SM_REGISTERS},
	{26, TF_ATTRIBUTE_WARP_THREADS},
	{27, TF_ATTRIBUTE_COPY_ENGINES},
	{29, TF_ATTRIBUTE_SM_BLOCKS},
	{30, TF_ATTRIBUTE_BLOCK_THREADS},
	{31, TF_ATTRIBUTE_BLOCK_X},
	{32, TF_ATTRIBUTE_BLOCK_Y},
	{33, TF_ATTRIBUTE_BLOCK_Z},
	{34, TF_ATTRIBUTE_GRID_X},
	{35, TF_ATTRIBUTE_GRID_Y},
	{36, TF_ATTRIBUTE_GRID_Z},
	{37, TF_ATTRIBUTE_MAJOR},
	{38, TF_ATTRIBUTE_MINOR},
	{39, TF_ATTRIBUTE_MAJOR},
	{40, TF_ATTRIBUTE_MINOR},
};
enum { GPU_SM_WARPS = 28 };

/* The texts have to last until the row is written. */
static void gpu_cells(const struct device_properties *p, int64_t *row, struct buffer *bus, struct buffer *uuid)
{
	const int32_t *values = p->values;

	for (size_t i = 0; i < sizeof(gpu_attributes) / sizeof(*gpu_attributes); i++)
		if (p->has[gpu_attributes[i].attribute])
			row[gpu_attributes[i].column] = values[gpu_attributes[i].attribute];
	if (p->has[TF_ATTRIBUTE_IS_INTEGRATED])
		row[GPU_IS_DISCRETE] = !values[TF_ATTRIBUTE_IS_INTEGRATED];
	if (p->has[TF_ATTRIBUTE_CLOCK])
		row[GPU_CLOCK] = 1000 * (int64_t)values[TF_ATTRIBUTE_CLOCK];
	if (values[TF_ATTRIBUTE_WARP_THREADS] > 0 && p->has[TF_ATTRIBUTE_SM_THREADS])
		row[GPU_SM_WARPS] = values[TF_ATTRIBUTE_SM_THREADS] / values[TF_ATTRIBUTE_WARP_THREADS];
	if (p->bandwidth > 0)
		row[GPU_BANDWIDTH] = (int64_t)p->bandwidth;
	if (p->memory_bytes)
		row[GPU_MEMORY] = (int64_t)p->memory_bytes;
	device_bus(p, bus);
	if (bus->size)
		row[GPU_BUS] = nsys_text(bus->data);
	device_uuid(p, uuid);
	if (uuid->size)
		row[GPU_UUID] = nsys_text(uuid->data);
}

void nsys_device(struct nsys_writer *w, const struct blob *b)
{
	struct device_properties p = device_properties(w->image->trace, b->id);
	SCOPED(buffer) name = {0}, bus = {0}, uuid = {0};
	int64_t row[GPU_COLUMNS];
	bool is_new;

	map_put(&w->devices, host_number(w->model, w->image->machine), b->id, &is_new);
	if (!is_new)
		return;
	trace_text(w->image->trace, b, &name);
	for (int i = 0; i < GPU_COLUMNS; i++)
		row[i] = NSYS_NULL;
	row[GPU_VM] = (int64_t)(host_number(w->model, w->image->machine) + 1) << 48;
	row[GPU_ID] = row[GPU_CUDA_DEVICE] = b->id;
	row[GPU_NAME] = nsys_text(buffer_string(&name));
	gpu_cells(&p, row, &bus, &uuid);
	nsys_row(w, NSYS_GPU, row, GPU_COLUMNS);
}

/* nsys numbers what CUPTI spends time on from 2, the driver's compiler, on; its names end with CUPTI's kind 6. */
static int64_t overhead_type(uint32_t kind)
{
	enum { UNKNOWN = 1, COMPILER = 2, LAST_KIND = 6 };

	if (kind == 1)
		return COMPILER;
	return kind >> 16 && kind >> 16 <= LAST_KIND ? COMPILER + (int64_t)(kind >> 16) : UNKNOWN;
}

/* Waits, allocations, frees and overhead. nsys numbers memory operations from 0, CUPTI from 1. */
void nsys_activity(struct nsys_writer *w, const struct timeline_event *e)
{
	const struct tf_device_operation *t = e->operation;
	const struct device_record *r = e->record;
	int64_t start = nsys_time(w, e->start_ns), end = start + (int64_t)e->duration_ns;
	int64_t correlation = nsys_correlation(w, e->correlation);

	if (t->kind == TF_DEVICE_WAIT)
		nsys_row(w, NSYS_SYNC,
			 (int64_t[]){start, end, t->device, t->context, NSYS_NULL, t->stream,
				     correlation, w->global_pid, NSYS_NULL, t->value, 0},
			 11);
	else if (t->kind == TF_DEVICE_OVERHEAD)
		nsys_row(w, NSYS_OVERHEAD,
			 (int64_t[]){start, end, NSYS_NULL, NSYS_NULL, NSYS_NULL, NSYS_NULL,
				     overhead_type(t->value)},
			 7);
	else if (t->kind == TF_DEVICE_ALLOCATE || t->kind == TF_DEVICE_FREE)
		nsys_row(w, NSYS_MEMORY,
			 (int64_t[]){start, w->global_pid, t->device, t->context, (int64_t)r->address, 0,
				     (int64_t)r->bytes, memory_kind(t->target), t->kind == TF_DEVICE_FREE, NSYS_NULL,
				     correlation},
			 11);
}

static void stream_name_row(struct nsys_writer *w, const char *name, const struct tf_device_operation *operation)
{
	nsys_row(w, NSYS_NVTX_STREAM,
		 (int64_t[]){nsys_text(name), (int64_t)host_number(w->model, w->image->machine) + 1, 0, w->image->pid,
			     operation->device, operation->context, operation->stream},
		 7);
}

/* Only streams with device operations. */
static void stream_names(struct nsys_writer *w)
{
	SCOPED(map) seen = {0};

	for (size_t i = 0; i < w->operation_count; i++) {
		const struct tf_device_operation *operation = &w->operations[i].operation;
		const char *name = stream_name(&w->timeline.streams, operation);
		bool is_new;

		if (!name)
			continue;
		map_put(&seen, operation->context, operation->stream, &is_new);
		if (is_new)
			stream_name_row(w, name, operation);
	}
}

static void stream_row(struct nsys_writer *w, struct map *seen, const struct tf_device_operation *operation)
{
	enum { FLAG_NULL = 3 }; /* CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL */
	bool is_default = operation->kind == TF_DEVICE_CONTEXT, is_new;

	if (is_default && !operation->stream)
		return; /* CUPTI states none */
	map_put(seen, operation->context, operation->stream, &is_new);
	if (is_new)
		nsys_row(w, NSYS_STREAM,
			 (int64_t[]){operation->stream, (int64_t)host_number(w->model, w->image->machine) + 1, 0,
				     w->image->pid, operation->context, NSYS_NULL,
				     is_default ? FLAG_NULL : operation->value},
			 7);
}

/* The streams that CUPTI has described, and the default ones of its contexts. */
static void streams(struct nsys_writer *w)
{
	const struct trace *t = w->image->trace;
	SCOPED(map) seen = {0};

	blobs_each(b, t, TF_BLOB_DEVICE_OPERATION) {
		struct tf_device_operation operation;

		if (device_operation(t, b->id, &operation) &&
		    (operation.kind == TF_DEVICE_STREAM || operation.kind == TF_DEVICE_CONTEXT))
			stream_row(w, &seen, &operation);
	}
}

void nsys_streams(struct nsys_writer *w)
{
	streams(w);
	stream_names(w);
}
