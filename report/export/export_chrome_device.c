/* SPDX-License-Identifier: Apache-2.0 */
/* Device operations in Kineto's form: a device is a process, a stream a thread. HTA identifies copies by their
 * names. */
#include <inttypes.h>
#include <string.h>

#include "report/export/export_chrome.h"

/* Owners of lanes and pids that are devices are above all processes. */
static uint64_t device_owner(const struct chrome *w, uint32_t device)
{
	return (uint64_t)(host_number(w->model, w->image->machine) + 1) << 32 | device;
}

void chrome_device_properties(struct chrome *w)
{
	struct map seen = {0};
	const char *separator = "";

	sink_text(w->out, "[");
	for (size_t i = 0; i < w->model->image_count; i++) {
		const struct trace *t = w->model->images[i].trace;

		for (size_t k = 0; t && k < t->blob_count; k++) {
			const struct blob *b = &t->blobs[k];
			struct buffer name = {0};
			bool is_new = false;

			if (b->type == TF_BLOB_DEVICE_NAME)
				map_put(&seen, host_number(w->model, w->model->images[i].machine), b->id, &is_new);
			if (!is_new)
				continue;
			trace_text(t, b, &name);
			sink_text(w->out, separator);
			chrome_number(w, "{\"id\":", b->id);
			sink_text(w->out, ",\"name\":");
			sink_json(w->out, buffer_string(&name));
			sink_text(w->out, "}");
			separator = ",";
			buffer_done(&name);
		}
	}
	sink_text(w->out, "]");
	map_done(&seen);
}

static const char *memory_name(uint8_t kind)
{
	static const char *const names[] = {"Unknown", "Pageable", "Pinned",        "Device",
					    "Array",   "Managed",  "Device Static", "Managed Static"};

	return names[kind < sizeof(names) / sizeof(*names) ? kind : 0];
}

static void chrome_add_operation_name(struct chrome *w, const struct tf_device_operation *operation,
				      struct buffer *json)
{
	static const char *const copies[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "Decompress"};
	struct buffer name = {0};

	if (operation->kind == TF_DEVICE_COPY)
		buffer_print(&name, "Memcpy %s (%s -> %s)",
			     copies[operation->copy < sizeof(copies) / sizeof(*copies) ? operation->copy : 0],
			     memory_name(operation->source), memory_name(operation->target));
	else if (operation->kind == TF_DEVICE_SET)
		buffer_print(&name, "Memset (%s)", memory_name(operation->target));
	else
		device_operation_name(w->x->context, w->image->trace, operation, &name);
	json_add(json, buffer_string(&name));
	buffer_done(&name);
}

/* The pid of a device; its metadata is written once. */
static uint32_t device_pid(struct chrome *w, uint32_t device)
{
	struct buffer name = {0}, json = {0};
	bool is_new;
	uint32_t pid = chrome_pid(w, device, device_owner(w, device), &is_new);

	if (!is_new)
		return pid;
	device_name(w->image->trace, device, &name);
	if (has_several_hosts(w->model))
		buffer_print(&name, " on %s", w->model->machines[w->image->machine].host);
	json_add(&json, name.data);
	chrome_meta(w, pid, 0, "process_name", "name", json.data);
	buffer_clear(&json);
	buffer_print(&json, "\"GPU %" PRIu32 "\"", device);
	chrome_meta(w, pid, 0, "process_labels", "labels", json.data);
	buffer_clear(&json);
	buffer_print(&json, "%" PRIu32, 5000000 + device);
	chrome_meta(w, pid, 0, "process_sort_index", "sort_index", json.data);
	buffer_done(&name);
	buffer_done(&json);
	return pid;
}

/* The tid of a stream: its number, or an unused one if another process or context uses that number. */
static uint32_t stream_tid(struct chrome *w, uint32_t pid, const struct tf_device_operation *operation)
{
	uint64_t owner = (uint64_t)w->image->process << 32 | operation->context;
	struct buffer name = {0}, json = {0};
	uint32_t tid = operation->stream;
	bool is_new;

	for (;; tid += 100000) {
		uint64_t *place = map_put(&w->lanes, pid, tid, &is_new);

		if (is_new)
			*place = owner;
		if (*place == owner)
			break;
	}
	if (is_new) {
		stream_label(&w->streams, operation, &name);
		buffer_text(&name, " of ");
		process_label(w->model, &w->model->processes[w->image->process], &name);
		json_add(&json, name.data);
		chrome_meta(w, pid, tid, "thread_name", "name", json.data);
	}
	buffer_done(&name);
	buffer_done(&json);
	return tid;
}

/* The part of an event that is equal for all records of that operation. Its end is open within "args". */
static const char *operation_text(struct chrome *w, uint32_t id)
{
	static const char *const categories[] = {"kernel", "kernel", "gpu_memcpy", "gpu_memset", "kernel"};
	const char *known = chrome_cached(&w->operations, id);
	struct buffer text = {0};
	struct tf_device_operation operation;
	uint32_t pid;

	if (known)
		return known;
	if (!device_operation(w->image->trace, id, &operation))
		operation = (struct tf_device_operation){0};
	pid = device_pid(w, operation.device);
	buffer_print(&text, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":",
		     categories[operation.kind < sizeof(categories) / sizeof(*categories) ? operation.kind : 0]);
	chrome_add_operation_name(w, &operation, &text);
	buffer_print(&text,
		     ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"device\":%u,\"context\":%u,\"stream\":%u",
		     pid, stream_tid(w, pid, &operation), operation.device, operation.context, operation.stream);
	if (operation.kind == TF_DEVICE_KERNEL)
		buffer_print(
			&text,
			",\"registers per thread\":%u,\"shared memory\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
			operation.registers, operation.static_shared_bytes + operation.dynamic_shared_bytes,
			operation.grid[0], operation.grid[1], operation.grid[2], operation.block[0], operation.block[1],
			operation.block[2]);
	if (device_is_node(&operation))
		buffer_print(&text, ",\"graph id\":%u,\"graph node id\":%u", operation.graph, operation.node);
	known = chrome_keep(&w->operations, id, text.data);
	buffer_done(&text);
	return known;
}

static void chrome_add_record(struct scan *s, const struct device_record *r)
{
	struct chrome *w = s->more;
	const char *text = operation_text(w, r->operation);

	chrome_begin(w);
	sink_text(w->out, text);
	chrome_number(w, ",\"correlation\":", correlation_number(w->model, w->image, r));
	if (r->bytes) {
		chrome_number(w, ",\"bytes\":", r->bytes);
		if (r->duration_ns) {
			struct buffer rate = {0};

			buffer_print(&rate, ",\"memory bandwidth (GB/s)\":%.3f",
				     (double)r->bytes / (double)r->duration_ns);
			sink_add(w->out, rate.data, rate.size);
			buffer_done(&rate);
		}
	}
	sink_text(w->out, "},\"ts\":");
	sink_us(w->out, (int64_t)(clock_map_monotonic(s->clock, r->start_ns) - w->model->origin_ns));
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)r->duration_ns);
	sink_text(w->out, "}");
}

void chrome_flow(struct chrome *w, const char *category, bool is_start, uint32_t pid, uint32_t tid, uint64_t ns)
{
	chrome_begin(w);
	sink_text(w->out, is_start ? "{\"ph\":\"s\"" : "{\"ph\":\"f\",\"bp\":\"e\"");
	sink_text(w->out, ",\"cat\":\"");
	sink_text(w->out, category);
	sink_text(w->out, "\",\"name\":\"");
	sink_text(w->out, category);
	chrome_number(w, "\",\"id\":", w->next_flow);
	chrome_number(w, ",\"pid\":", pid);
	chrome_number(w, ",\"tid\":", tid);
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(ns - w->model->origin_ns));
	sink_text(w->out, "}");
}

/* An arrow from a call to each of its device operations. As in Kineto's files, both ends are at the start of what
 * they connect. */
static void add_flows(void *context, const struct correlated *k)
{
	struct chrome *w = context;
	uint64_t call_ns =
		k->thread ? clock_map_ns(w->clock, k->event.ticks) - clock_map_duration(w->clock, k->event.duration)
			  : 0;

	for (size_t i = 0; k->thread && i < k->record_count; i++) {
		const struct device_record *r = &k->records[i];
		struct tf_device_operation operation;
		uint32_t pid;

		if (!device_operation(w->image->trace, r->operation, &operation))
			operation = (struct tf_device_operation){0};
		pid = device_pid(w, operation.device);
		w->next_flow++;
		chrome_flow(w, "ac2g", true, w->pid, k->thread->tid, call_ns);
		chrome_flow(w, "ac2g", false, pid, stream_tid(w, pid, &operation),
			    clock_map_monotonic(w->clock, r->start_ns));
	}
}

void chrome_device_events(struct chrome *w)
{
	struct scan s = {.context = w->x->context, .image = w->image, .more = w};

	device_scan_image(&s, chrome_add_record, NULL);
	correlate_image(w->x->context, w->image, w, add_flows, NULL);
}
