/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, samples, processes and what is written once. */
#include "report/tables/nsys/nsys_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/events/cuda/graph.h"
#include "report/tables/run/ledger.h"

enum { THREAD_NAME_PRIORITY = 20, FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

/* Like nsys: machine, 24 bits of pid, 24 bits of tid. */
static int64_t process_id(const struct model *m, const struct image *image)
{
	return (int64_t)(((uint64_t)host_number(m, image->machine) + 1) << 48 | (uint64_t)(image->pid & 0xffffff)
										    << 24);
}

/* NULL: the event does not have it. */
static const struct timeline_argument *argument_of(const struct timeline_event *e, enum timeline_argument_id id)
{
	return array_find(argument, e->arguments, e->argument_count, argument->id == id);
}

static int64_t value_of(const struct timeline_event *e, enum timeline_argument_id id)
{
	const struct timeline_argument *a = argument_of(e, id);

	return a ? (int64_t)a->value : 0;
}

/* ---- call chains ---- */

static void chain_row(struct nsys_writer *w, enum nsys_table table, int64_t id, size_t depth,
		      const struct symbol_frame *f)
{
	SCOPED(buffer) text = {0};
	int64_t symbol, module, address = (int64_t)f->address;

	code_line_text(f->exact, &text);
	symbol = nsys_string(w, text.data);
	module = nsys_string(w, *f->module ? f->module : "[unknown]");
	if (table != NSYS_CUDA_STACKS)
		nsys_row(w, table,
			 (int64_t[]){id, symbol, module, NSYS_NULL, NSYS_NULL, NSYS_NULL, NSYS_NULL, address, NSYS_NULL,
				     (int64_t)depth},
			 10);
	else
		nsys_row(w, table, (int64_t[]){id, symbol, module, NSYS_NULL, address, (int64_t)depth}, 6);
}

static void chain_rows(struct nsys_writer *w, enum nsys_table table, int64_t id, uint32_t stack)
{
	size_t count;

	if (!nsys_wants(w, NSYS_BIT(table)) && !w->output->all_strings)
		return; /* names take long to find */
	count = symbols_frames(w->context->symbols, w->image, stack, w->frames, FRAMES);

	for (size_t i = 0; i < count; i++)
		chain_row(w, table, id, i, &w->frames[i]);
}

static int64_t call_chain(struct nsys_writer *w, const struct timeline_event *e, enum nsys_table table)
{
	const struct timeline_argument *stack = argument_of(e, ARGUMENT_STACK);
	uint64_t *chain;
	bool is_new;

	if (!stack)
		return 0;
	chain = map_put(&w->stacks, stack->value, table, &is_new);
	if (!is_new)
		return (int64_t)*chain;
	*chain = (uint64_t)++w->next_chain;
	chain_rows(w, table, w->next_chain, (uint32_t)stack->value);
	return w->next_chain;
}

/* nsys has the value of the counter that triggered the sample in cpuCycles. Here that is the thread's CPU time in ns.
 * A call chain has the id of its sample, so equal ones are not shared. */
static void add_sample(struct nsys_writer *w, const struct timeline_event *e)
{
	const struct timeline_argument *stack = argument_of(e, ARGUMENT_STACK);
	int64_t id = ++w->next_sample;

	nsys_row(w, NSYS_SAMPLE,
		 (int64_t[]){id, nsys_time(w, e->start_ns), NSYS_NULL, NSYS_NULL, w->global_tid,
			     value_of(e, ARGUMENT_CPU_NS)},
		 6);
	if (stack)
		chain_rows(w, NSYS_SAMPLE_STACKS, id, (uint32_t)stack->value);
}

/* ---- calls ---- */

/* For a process without device records. */
static int64_t own_correlation(struct nsys_writer *w)
{
	return nsys_correlation(w, (uint64_t)UINT32_MAX << 32 | (uint32_t)++w->correlation);
}

static void cuda_call(struct nsys_writer *w, const struct timeline_event *e, int64_t start, int64_t end)
{
	int64_t callchain = call_chain(w, e, NSYS_CUDA_STACKS);
	/* Device records use CUPTI's correlation ids; a call without a device record has none. */
	int64_t correlation = e->correlation                   ? nsys_correlation(w, e->correlation)
			      : w->timeline.has_device_records ? NSYS_NULL
							       : own_correlation(w);

	nsys_row(w, NSYS_RUNTIME,
		 (int64_t[]){start, end, e->function->group == TF_GROUP_CUDA ? NSYS_CLASS_RUNTIME : NSYS_CLASS_DRIVER,
			     w->global_tid, correlation, nsys_text_id(w, TEXT_FUNCTION, e->name),
			     value_of(e, ARGUMENT_ERROR), callchain ? callchain : NSYS_NULL},
		 8);
}

static void add_call(struct nsys_writer *w, const struct timeline_event *e)
{
	int64_t end = nsys_time(w, e->end_ns), start = end - (int64_t)e->duration_ns;
	unsigned int group = e->function ? e->function->group : TF_GROUP_COUNT;
	bool is_cublas = group == TF_GROUP_CUBLAS;

	switch (group) {
	case TF_GROUP_OSRT:
		nsys_row(w, NSYS_OSRT,
			 (int64_t[]){start, end, NSYS_CLASS_OSRT, w->global_tid,
				     nsys_text_id(w, TEXT_FUNCTION, e->name),
				     value_of(e, ARGUMENT_RESULT) ?: value_of(e, ARGUMENT_READY)
								  ?: -value_of(e, ARGUMENT_ERRNO),
				     NSYS_NULL, call_chain(w, e, NSYS_OSRT_STACKS)},
			 8);
		break;
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
		cuda_call(w, e, start, end);
		break;
	case TF_GROUP_CUBLAS:
	case TF_GROUP_CUDNN:
		nsys_row(w, is_cublas ? NSYS_CUBLAS : NSYS_CUDNN,
			 (int64_t[]){start, end, is_cublas ? NSYS_CLASS_CUBLAS : NSYS_CLASS_CUDNN, w->global_tid,
				     nsys_text_id(w, TEXT_FUNCTION, e->name)},
			 5);
		break;
	case TF_GROUP_MPI:
		nsys_mpi_call(w, e);
		break;
	default: /* nsys has no table for it */
		break;
	}
}

/* ---- programs ---- */

static void begin_thread(void *writer, const struct trace_thread *thread)
{
	struct nsys_writer *w = writer;

	w->global_tid = nsys_thread(w, thread->tid);
	if (*thread->name)
		*map_put(&w->thread_names, (uint64_t)w->global_tid, 0, NULL) =
		    (uint64_t)nsys_string(w, thread->name);
}

static void print_event(void *writer, const struct timeline_event *e)
{
	static void (*const print[])(struct nsys_writer *, const struct timeline_event *) = {
		[TIMELINE_CALL] = add_call,
		[TIMELINE_SAMPLE] = add_sample,
		[TIMELINE_MARK] = nsys_nvtx_event,
		[TIMELINE_COUNTER] = nsys_nvtx_event,
		[TIMELINE_RANGE] = nsys_nvtx_event,
		[TIMELINE_OPERATION] = nsys_operation,
		[TIMELINE_ACTIVITY] = nsys_activity,
	};

	print[e->kind](writer, e);
}

static void begin_program(void *writer)
{
	struct nsys_writer *w = writer;
	const struct image *image = w->timeline.image;
	const struct trace *t = image->trace;

	w->image = image;
	w->global_pid = process_id(w->model, image);
	w->image_number = image - &w->model->images[w->model->processes[image->process].first_image];
	if (!w->image_number)
		w->correlation = 0;
	if (!t)
		return;
	blobs_each(b, t, TF_BLOB_DEVICE_NAME)
		nsys_device(w, b);
	nsys_nvtx_names(w);
}

static void end_part(void *writer, enum timeline_part part)
{
	struct nsys_writer *w = writer;

	if (w->image->trace && part == PART_RANGES)
		graph_prepare(w->context, w->image); /* the operations refer to it */
	if (w->image->trace && part == PART_ACTIVITIES)
		nsys_streams(w);
}

static void end_program(void *writer)
{
	struct nsys_writer *w = writer;

	w->operation_count = 0;
	map_done(&w->stacks);
}

/* ---- rows written once ---- */

static void format_date(char *text, size_t size, const struct tm *tm)
{
	if (!strftime(text, size, "%Y-%m-%d %H:%M:%S", tm))
		*text = 0;
}

/* Under names of nsys where it has them. */
static void add_capture_facts(struct nsys_writer *w, uint64_t duration_ns)
{
	char duration[32];

	snprintf(duration, sizeof(duration), "%" PRIu64, duration_ns / 1000000);
	nsys_row(w, NSYS_META_CAPTURE, (int64_t[]){nsys_text("RUN_DURATION_MS"), nsys_text(duration)}, 2);
	array_each(const struct run_record, r, w->model->runs, w->model->run_count) {
		bool by_nodes = strstr(r->options ? r->options : "", "cuda-graph-trace=node");
		const char *const facts[][2] = {
			{"CUDA_GRAPH_TRACE_OPTIONS:MODE", by_nodes ? "node" : "graph"},
			{"PILLION_COMMAND", r->command},
			{"PILLION_OPTIONS", r->options},
			{"PILLION_VERSION", r->version},
		};

		for (size_t k = 0; k < sizeof(facts) / sizeof(*facts); k++)
			if (facts[k][1])
				nsys_row(w, NSYS_META_CAPTURE,
					 (int64_t[]){nsys_text(facts[k][0]), nsys_text(facts[k][1])}, 2);
	}
}

static void add_times(struct nsys_writer *w)
{
	time_t seconds = (time_t)(w->origin_ns / 1000000000u);
	char utc[32], local[32];
	struct tm tm;
	uint64_t duration_ns = model_end_ns(w->model) - w->model->origin_ns;

	nsys_row(w, NSYS_ANALYSIS,
		 (int64_t[]){(int64_t)1 << 48, (int64_t)duration_ns, 0, (int64_t)duration_ns}, 4);
	add_capture_facts(w, duration_ns);
	format_date(utc, sizeof(utc), gmtime_r(&seconds, &tm));
	format_date(local, sizeof(local), localtime_r(&seconds, &tm));
	nsys_row(w, NSYS_START_TIME, (int64_t[]){(int64_t)w->origin_ns, nsys_text(utc), nsys_text(local)}, 3);
}

static void add_processes(struct nsys_writer *w)
{
	array_each(const struct process, p, w->model->processes, w->model->process_count) {
		const struct image *last = &w->model->images[p->first_image + p->image_count - 1];

		nsys_row(w, NSYS_PROCESSES,
			 (int64_t[]){process_id(w->model, last), p->pid,
				     nsys_text(last->executable ? last->executable : "")},
			 3);
	}
}

/* The CPUs of a host, as its launchers have recorded them; 0: not recorded. */
static uint32_t online_cpus(const struct model *m, size_t host)
{
	uint32_t ret = 0;

	for (size_t i = 0; i < m->usage_count; i++)
		for (size_t k = 0; k < m->usages[i].count && host_number(m, m->usages[i].machine) == host; k++) {
			struct tf_usage_cpus cpus;

			if (m->usages[i].items[k].kind != TF_USAGE_CPUS)
				continue;
			memcpy(&cpus, &m->usages[i].items[k], sizeof(cpus));
			ret = cpus.online ? cpus.online : ret;
		}
	return ret;
}

/* Under names of nsys, whose numbers of these names are not known. */
static void host_fact(struct nsys_writer *w, size_t host, const char *name, const char *value)
{
	nsys_row(w, NSYS_SYSTEM,
		 (int64_t[]){(int64_t)(host + 1) << 48, NSYS_NULL, nsys_text(name), NSYS_NULL, nsys_text(value)}, 5);
}

static void add_hosts(struct nsys_writer *w)
{
	SCOPED(map) seen = {0};

	for (size_t i = 0; i < w->model->machine_count; i++) {
		size_t host = host_number(w->model, i);
		uint32_t cpus = online_cpus(w->model, host);
		bool is_new;
		char text[16];

		map_put(&seen, host, 0, &is_new);
		if (!is_new)
			continue;
		host_fact(w, host, "Hostname", w->model->machines[i].host);
		snprintf(text, sizeof(text), "%" PRIu32, cpus);
		if (cpus)
			host_fact(w, host, "CpuCores", text);
	}
}

static void add_once(struct nsys_writer *w)
{
	for (int i = 0; i < NSYS_TABLES; i++)
		if (nsys_schemas[i].is_always)
			nsys_begin(w, (enum nsys_table)i);
	nsys_constants(w);
	add_times(w);
	add_hosts(w);
	add_processes(w);
}

/* An entry of the ledger as a diagnostic message of nsys. */
static void add_diagnostic(void *data, const struct ledger_entry *e)
{
	bool is_warning = e->count && ledger_kinds[e->fact].flags & LEDGER_WARNING;
	SCOPED(buffer) text = {0};

	if (e->pid >= 0)
		buffer_print(&text, "process %" PRId64 ": ", e->pid);
	buffer_print(&text, "%s: %" PRIu64 "%s%s", ledger_kinds[e->fact].fact, e->count, *e->detail ? ", " : "",
		     e->detail);
	nsys_row(data, NSYS_DIAGNOSTIC,
		 (int64_t[]){0, NSYS_TIMESTAMP_TARGET, NSYS_SOURCE_ANALYSIS,
			     is_warning ? NSYS_SEVERITY_WARNING : NSYS_SEVERITY_INFO, nsys_text(text.data)},
		 5);
}

static void add_thread_names(struct nsys_writer *w)
{
	array_each(const struct map_slot, slot, w->thread_names.slots, w->thread_names.size) {
		if (slot->used)
			nsys_row(w, NSYS_THREADS,
				 (int64_t[]){(int64_t)slot->value, THREAD_NAME_PRIORITY, (int64_t)slot->a}, 3);
	}
}

/* nsys has no table for counters of a machine. */
static void add_counters(struct nsys_writer *w)
{
	size_t count;
	const struct counter_series *series = counters_of(w->model, &count);
	double value;

	for (size_t i = 0; i < count; i++) {
		const struct counter_series *s = &series[i];

		nsys_row(w, NSYS_COUNTER,
			 (int64_t[]){(int64_t)i + 1, nsys_text(w->model->machines[s->machine].host),
				     nsys_text(s->source ? s->of : s->set), nsys_text(s->name), nsys_text(s->unit)},
			 5);
		for (size_t k = 0; k < s->count && nsys_wants(w, NSYS_BIT(NSYS_COUNTER_VALUE)); k++)
			if (counter_value(s, k, &value))
				nsys_row(w, NSYS_COUNTER_VALUE,
					 (int64_t[]){(int64_t)i + 1, nsys_time(w, counter_ns(s, k)), nsys_real(value)},
					 3);
	}
}

/* ---- what the parts use ---- */

static uint64_t tables_with_texts(void)
{
	uint64_t ret = 0;

	for (int i = 0; i < NSYS_TABLES; i++)
		for (size_t column = 0; column < nsys_schemas[i].count; column++)
			if (nsys_schemas[i].columns[column].type == NSYS_TEXT)
				ret |= NSYS_BIT(i);
	return ret;
}

int nsys_rows(const struct report_context *context, struct aggregate *strings, struct nsys_output *o)
{
	const struct timeline_printer printer = {
		.parts = {PART_THREADS, PART_RANGES, PART_OPERATIONS, PART_ACTIVITIES},
		.wants_correlations = true,
		.begin = begin_program,
		.thread = begin_thread,
		.event = print_event,
		.part_end = end_part,
		.end = end_program,
		.failed = &o->failed,
	};
	struct nsys_writer w = {.output = o,
				.strings = strings,
				.with_texts = tables_with_texts(),
				.context = context,
				.model = context->model,
				.origin_ns = context->model->origin_ns,
				.frames = mem_alloc(FRAMES * sizeof(*w.frames))};

	for (size_t i = 0; i < strings->count; i++)
		nsys_row(&w, NSYS_STRINGS,
			 (int64_t[]){(int64_t)i + 1, nsys_text(aggregate_field(&strings->rows[i], 0))}, 2);
	add_once(&w);
	if (!o->failed)
		timeline_visit(&w.timeline, context, &printer, &w);
	add_thread_names(&w);
	add_counters(&w);
	if (nsys_wants(&w, NSYS_BIT(NSYS_DIAGNOSTIC)))
		ledger_each(context, &w, add_diagnostic);
	for (size_t i = 0; i < NSYS_TEXTS; i++)
		buffer_done(&w.safe[i]);
	free(w.frames);
	free(w.operations);
	map_done(&w.devices);
	map_done(&w.thread_names);
	map_done(&w.mpi_threads);
	map_done(&w.sources);
	return o->failed;
}
