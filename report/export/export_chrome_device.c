/* SPDX-License-Identifier: Apache-2.0 */
/* Device operations in Kineto's form: a device is a process, a stream a thread. HTA identifies copies by their
 * names. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/base/table/json_writer.h"
#include "report/export/export_chrome.h"

/* Owners of lanes and pids that are devices are above all processes. */
static uint64_t device_owner(const struct chrome *w, uint32_t device)
{
	return (uint64_t)(host_number(w->timeline.model, w->timeline.image->machine) + 1) << 32 | device;
}

void chrome_device_properties(struct chrome *w)
{
	const struct model *m = w->timeline.model;
	SCOPED(map) seen = {0};
	const char *separator = "";

	sink_text(w->out, "[");
	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;

		blobs_each(b, t, TF_BLOB_DEVICE_NAME) {
			SCOPED(buffer) name = {0};
			bool is_new;

			map_put(&seen, host_number(m, m->images[i].machine), b->id, &is_new);
			if (!is_new)
				continue;
			trace_text(t, b, &name);
			sink_text(w->out, separator);
			chrome_number(w, "{\"id\":", b->id);
			sink_text(w->out, ",\"name\":");
			sink_json(w->out, buffer_string(&name));
			sink_text(w->out, "}");
			separator = ",";
		}
	}
	sink_text(w->out, "]");
}

/* The name of an operation, by which HTA tells copies from kernels. */
static void add_name(struct chrome *w, const struct tf_device_operation *operation, struct buffer *json)
{
	static const char *const copies[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "Decompress"};
	SCOPED(buffer) name = {0};

	if (operation->kind == TF_DEVICE_COPY)
		buffer_print(&name, "Memcpy %s (%s -> %s)",
			     copies[operation->copy < sizeof(copies) / sizeof(*copies) ? operation->copy : 0],
			     device_memory_name(operation->source), device_memory_name(operation->target));
	else if (operation->kind == TF_DEVICE_SET)
		buffer_print(&name, "Memset (%s)", device_memory_name(operation->target));
	else
		device_operation_name(w->timeline.context, w->timeline.image->trace, operation, &name);
	json_add(json, buffer_string(&name));
}

/* The pid of a device; its metadata is written once. */
static uint32_t device_pid(struct chrome *w, uint32_t device)
{
	SCOPED(buffer) name = {0}, json = {0};
	bool is_new;
	uint32_t pid = timeline_pid(&w->process_numbers, device, device_owner(w, device), &is_new);

	if (!is_new)
		return pid;
	timeline_device_label(&w->timeline, device, &name);
	json_add(&json, name.data);
	chrome_meta(w, pid, 0, "process_name", "name", json.data);
	buffer_set(&json, "\"GPU %" PRIu32 "\"", device);
	chrome_meta(w, pid, 0, "process_labels", "labels", json.data);
	buffer_set(&json, "%" PRIu32, 5000000 + device);
	chrome_meta(w, pid, 0, "process_sort_index", "sort_index", json.data);
	return pid;
}

/* The tid of a stream: its number, or an unused one if another process or context uses that number. */
static uint32_t stream_tid(struct chrome *w, uint32_t pid, const struct tf_device_operation *operation)
{
	uint64_t owner = (uint64_t)w->timeline.image->process << 32 | operation->context;
	SCOPED(buffer) name = {0}, json = {0};
	uint32_t tid = operation->stream;
	bool is_new;

	for (;; tid += 100000) {
		uint64_t *has = map_put(&w->lanes, pid, tid, &is_new);

		if (is_new)
			*has = owner;
		if (*has == owner)
			break;
	}
	if (is_new) {
		timeline_stream_label(&w->timeline, operation, &name);
		json_add(&json, name.data);
		chrome_meta(w, pid, tid, "thread_name", "name", json.data);
	}
	return tid;
}

/* The part of an event that is equal for all records of that operation. Its end is open within "args". */
static void make_operation(struct chrome *w, enum timeline_text kind, uint64_t number, struct buffer *json)
{
	static const char *const categories[] = {"kernel", "kernel", "gpu_memcpy", "gpu_memset", "kernel"};
	const struct tf_device_operation *o = timeline_operation(&w->timeline, (uint32_t)number);
	uint32_t pid = device_pid(w, o->device);

	buffer_print(json, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":",
		     categories[o->kind < sizeof(categories) / sizeof(*categories) ? o->kind : 0]);
	add_name(w, o, json);
	buffer_print(json,
		     ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"args\":{\"device\":%u,\"context\":%u,\"stream\":%u",
		     pid, stream_tid(w, pid, o), o->device, o->context, o->stream);
	if (o->kind == TF_DEVICE_KERNEL)
		buffer_print(
			json,
			",\"registers per thread\":%u,\"shared memory\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
			o->registers, o->static_shared_bytes + o->dynamic_shared_bytes, o->grid[0], o->grid[1],
			o->grid[2], o->block[0], o->block[1], o->block[2]);
	if (device_is_node(o))
		buffer_print(json, ",\"graph id\":%u,\"graph node id\":%u", o->graph, o->node);
}

void chrome_operation(struct chrome *w, const struct timeline_event *e)
{
	const struct buffer *head = chrome_text(w, TEXT_OPERATION, e->name, make_operation);
	const struct device_record *r = e->record;
	char rate[64];

	chrome_begin(w);
	sink_add(w->out, head->data, head->size);
	chrome_number(w, ",\"correlation\":", e->correlation);
	if (r->bytes)
		chrome_number(w, ",\"bytes\":", r->bytes);
	if (r->bytes && r->duration_ns) {
		snprintf(rate, sizeof(rate), ",\"memory bandwidth (GB/s)\":%.3f",
			 (double)r->bytes / (double)r->duration_ns);
		sink_text(w->out, rate);
	}
	sink_text(w->out, "}");
	chrome_time(w, e->start_ns);
	sink_text(w->out, ",\"dur\":");
	sink_us(w->out, (int64_t)e->duration_ns);
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
	chrome_time(w, ns);
	sink_text(w->out, "}");
}

/* As in Kineto's files, both ends are at the start of what they connect. */
void chrome_flows(void *chrome, const struct timeline_flow *f)
{
	struct chrome *w = chrome;

	array_each(const struct device_record, r, f->records, f->record_count) {
		const struct tf_device_operation *operation = timeline_operation(&w->timeline, r->operation);
		uint32_t pid = device_pid(w, operation->device);

		w->next_flow++;
		chrome_flow(w, "ac2g", true, w->pid, f->thread->tid, f->start_ns);
		chrome_flow(w, "ac2g", false, pid, stream_tid(w, pid, operation),
			    clock_map_monotonic(w->timeline.clock, r->start_ns));
	}
}
