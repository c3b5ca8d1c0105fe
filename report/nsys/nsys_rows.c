/* SPDX-License-Identifier: Apache-2.0 */
/* Calls, samples, processes and what is written once. */
#include "report/nsys/nsys_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/base/text.h"
#include "report/derive/events/filter.h"
#include "report/derive/stacks/samples.h"
#include "report/stats/ledger.h"

enum { THREAD_NAME_PRIORITY = 20, FRAMES = TF_BLOB_BYTES / sizeof(uint64_t) };

int64_t nsys_time(const struct nsys_writer *w, uint64_t ticks)
{
	return (int64_t)(clock_map_ns(w->clock, ticks) - w->origin_ns);
}

/* Like nsys: machine, 24 bits of pid, 24 bits of tid. */
static int64_t process_id(const struct model *m, const struct image *image)
{
	return (int64_t)(((uint64_t)host_number(m, image->machine) + 1) << 48 | (uint64_t)(image->pid & 0xffffff)
										    << 24);
}

int64_t nsys_thread(const struct nsys_writer *w, uint32_t tid)
{
	return w->global_pid | (tid & 0xffffff);
}

static int64_t function_name(struct nsys_writer *w, uint32_t id)
{
	const struct function *f = trace_function(w->image->trace, id);

	if (!f)
		return nsys_string(w, "?");
	if (!w->functions[id])
		w->functions[id] = nsys_string(w, f->name);
	return w->functions[id];
}

int64_t nsys_text_id(struct nsys_writer *w, uint32_t string)
{
	const struct blob *b = trace_definition(w->image->trace, TF_BLOB_STRING, string);
	bool is_new;
	uint64_t *place = map_put(&w->texts, string, 0, &is_new);
	struct buffer text = {0};

	if (!is_new)
		return (int64_t)*place;
	if (b)
		trace_text(w->image->trace, b, &text);
	else
		buffer_print(&text, "(text %u lost)", string);
	*place = (uint64_t)nsys_string(w, buffer_string(&text));
	buffer_done(&text);
	return (int64_t)*place;
}

/* ---- call chains ---- */

static void chain_row(struct nsys_writer *w, enum nsys_table table, int64_t id, size_t depth,
		      const struct symbol_frame *f)
{
	int64_t symbol = nsys_string(w, f->text),
		module = nsys_string(w, *f->module ? f->module : "[unknown]"), address = (int64_t)f->address;

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

static int64_t call_chain(struct nsys_writer *w, const struct event *e, enum nsys_table table)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;
	uint64_t *place;
	bool is_new;

	if (!arg)
		return 0;
	place = map_put(&w->stacks, tf_arg_value(arg), table, &is_new);
	if (!is_new)
		return (int64_t)*place;
	*place = (uint64_t)++w->next_chain;
	chain_rows(w, table, w->next_chain, (uint32_t)tf_arg_value(arg));
	return w->next_chain;
}

/* nsys has the value of the counter that triggered the sample in cpuCycles. Here that is the thread's CPU time in ns.
 * A call chain has the id of its sample, so equal ones are not shared. */
static void add_sample(struct nsys_writer *w, const struct event *e)
{
	uint64_t stack = e->args_count ? event_arg(e, TF_ARG_STACK) : 0;
	int64_t id = ++w->next_sample;

	nsys_row(w, NSYS_SAMPLE,
		 (int64_t[]){id, nsys_time(w, e->ticks), NSYS_NULL, NSYS_NULL, w->global_tid,
			     (int64_t)samples_ns(e)},
		 6);
	if (stack)
		chain_rows(w, NSYS_SAMPLE_STACKS, id, (uint32_t)tf_arg_value(stack));
}

/* ---- calls ---- */

static int64_t return_value(const struct event *e)
{
	uint64_t fd = e->args_count ? event_arg(e, TF_ARG_FD) : 0,
		 timeout = e->args_count && !fd ? event_arg(e, TF_ARG_TIMEOUT) : 0;

	if (timeout)
		return (int16_t)tf_arg_value(timeout);
	return fd ? (int32_t)(tf_arg_value(fd) >> 16) : 0;
}

int64_t nsys_correlation(struct nsys_writer *w, uint64_t number)
{
	bool is_new;
	uint64_t *source = map_put(&w->sources, w->image->process, number >> 32, &is_new);

	if (is_new)
		*source = w->sources.count - 1;
	return (int64_t)(*source << 32 | (uint32_t)number);
}

/* For a process without device records. */
static int64_t own_correlation(struct nsys_writer *w)
{
	return nsys_correlation(w, (uint64_t)UINT32_MAX << 32 | (uint32_t)++w->correlation);
}

static void cuda_call(struct nsys_writer *w, const struct event *e, int64_t start, int64_t end, int64_t class)
{
	uint64_t error = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_RESULT)) : 0;
	int64_t callchain = call_chain(w, e, NSYS_CUDA_STACKS);
	/* Device records use CUPTI's correlation ids; a call without a device record has none. */
	uint64_t matched = correlation_of(&w->ids, e);
	int64_t correlation = matched                 ? nsys_correlation(w, matched)
			      : w->has_device_records ? NSYS_NULL
						      : own_correlation(w);

	nsys_row(w, NSYS_RUNTIME,
		 (int64_t[]){start, end, class, w->global_tid, correlation, function_name(w, e->id), (int64_t)error,
			     callchain ? callchain : NSYS_NULL},
		 8);
}

static void add_call(struct nsys_writer *w, const struct event *e)
{
	const struct function *f = trace_function(w->image->trace, e->id);
	int64_t end = nsys_time(w, e->ticks), start = end - (int64_t)clock_map_duration(w->clock, e->duration);

	if (!f)
		return;
	switch (f->group) {
	case TF_GROUP_OSRT:
		nsys_row(w, NSYS_OSRT,
			 (int64_t[]){start, end, NSYS_CLASS_OSRT, w->global_tid, function_name(w, e->id),
				     return_value(e), NSYS_NULL, call_chain(w, e, NSYS_OSRT_STACKS)},
			 8);
		break;
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
		cuda_call(w, e, start, end, f->group == TF_GROUP_CUDA ? NSYS_CLASS_RUNTIME : NSYS_CLASS_DRIVER);
		break;
	case TF_GROUP_CUBLAS:
	case TF_GROUP_CUDNN:
		nsys_row(w, f->group == TF_GROUP_CUBLAS ? NSYS_CUBLAS : NSYS_CUDNN,
			 (int64_t[]){start, end, f->group == TF_GROUP_CUBLAS ? NSYS_CLASS_CUBLAS : NSYS_CLASS_CUDNN,
				     w->global_tid, function_name(w, e->id)},
			 5);
		break;
	case TF_GROUP_MPI:
		nsys_mpi_call(w, e, f, start, end, function_name(w, e->id));
		break;
	default: /* nsys has no table for it */
		break;
	}
}

/* ---- images ---- */

static void add_thread(struct nsys_writer *w, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	w->global_tid = nsys_thread(w, thread->tid);
	if (*thread->name)
		*map_put(&w->thread_names, (uint64_t)w->global_tid, 0, NULL) =
		    (uint64_t)nsys_string(w, thread->name);
	filter_cursor_init(&cursor, w->image->trace, thread);
	while (!w->output->failed && cursor_next(&cursor, &e))
		if (e.kind == TF_CALL)
			add_call(w, &e);
		else if (e.kind == TF_MARK)
			nsys_nvtx_mark(w, &e);
		else if (e.kind == TF_SAMPLE)
			add_sample(w, &e);
}

static void add_image(struct nsys_writer *w, const struct image *image)
{
	const struct trace *t = image->trace;
	const struct process *p = &w->model->processes[image->process];

	w->image = image;
	w->clock = &w->model->machines[image->machine].clock;
	w->global_pid = process_id(w->model, image);
	w->image_number = image - &w->model->images[p->first_image];
	if (!w->image_number)
		w->correlation = 0;
	if (!t)
		return;
	w->has_device_records = device_source(t).is_known;
	w->functions = mem_alloc(t->functions->count * sizeof(*w->functions));
	for (size_t i = 0; i < t->blob_count; i++)
		if (t->blobs[i].type == TF_BLOB_DEVICE_NAME)
			nsys_device(w, &t->blobs[i]);
	nvtx_definitions_make(&w->nvtx, t);
	nsys_nvtx_names(w);
	correlation_ids(w->context, image, &w->ids);
	for (size_t i = 0; i < t->thread_count; i++)
		add_thread(w, &t->threads[i]);
	nsys_nvtx_ranges(w);
	nsys_device_events(w);
	correlation_ids_done(&w->ids);
	nvtx_definitions_done(&w->nvtx);
	free(w->functions);
	w->operation_count = 0;
	map_done(&w->works_by_id);
	map_done(&w->texts);
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
	for (size_t i = 0; i < w->model->run_count; i++) {
		const struct run *r = &w->model->runs[i];
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
	for (size_t i = 0; i < w->model->process_count; i++) {
		const struct process *p = &w->model->processes[i];
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
	struct map seen = {0};

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
	map_done(&seen);
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
	struct buffer text = {0};

	if (e->pid >= 0)
		buffer_print(&text, "process %" PRId64 ": ", e->pid);
	buffer_print(&text, "%s: %" PRIu64 "%s%s", ledger_kinds[e->fact].fact, e->count, *e->detail ? ", " : "",
		     e->detail);
	nsys_row(data, NSYS_DIAGNOSTIC,
		 (int64_t[]){0, NSYS_TIMESTAMP_TARGET, NSYS_SOURCE_ANALYSIS,
			     is_warning ? NSYS_SEVERITY_WARNING : NSYS_SEVERITY_INFO, nsys_text(text.data)},
		 5);
	buffer_done(&text);
}

static void add_thread_names(struct nsys_writer *w)
{
	for (size_t i = 0; i < w->thread_names.size; i++) {
		const struct map_slot *slot = &w->thread_names.slots[i];

		if (slot->used)
			nsys_row(w, NSYS_THREADS,
				 (int64_t[]){(int64_t)slot->value, THREAD_NAME_PRIORITY, (int64_t)slot->a}, 3);
	}
}

/* ---- what the parts use ---- */

void nsys_begin(struct nsys_writer *w, enum nsys_table table)
{
	if (w->begun & NSYS_BIT(table) || !nsys_wants(w, NSYS_BIT(table)) || w->output->failed)
		return;
	w->begun |= NSYS_BIT(table);
	w->output->begin(w->output, table);
}

/* Escapes what a terminal would interpret in the texts of a row. */
static void make_safe(struct nsys_writer *w, const struct nsys_schema *schema, int64_t *row)
{
	size_t texts = 0;

	for (size_t i = 0; i < schema->count; i++) {
		struct buffer *safe = &w->safe[texts];

		if (schema->columns[i].type != NSYS_TEXT || row[i] == NSYS_NULL)
			continue;
		buffer_clear(safe);
		text_escape(safe, nsys_text_of(row[i]), "\n\t");
		row[i] = nsys_text(buffer_string(safe));
		texts++;
	}
}

void nsys_row(struct nsys_writer *w, enum nsys_table table, const int64_t *values, size_t count)
{
	const struct nsys_schema *schema = &nsys_schemas[table];
	int64_t row[NSYS_COLUMNS];

	if (!nsys_wants(w, NSYS_BIT(table)))
		return;
	nsys_begin(w, table);
	if (w->output->failed)
		return;
	memcpy(row, values, count * sizeof(*row));
	for (size_t i = count; i < schema->count; i++)
		row[i] = NSYS_NULL;
	if (w->with_texts & NSYS_BIT(table))
		make_safe(w, schema, row);
	w->output->row(w->output, table, row);
}

int64_t nsys_string(struct nsys_writer *w, const char *text)
{
	size_t before = w->strings->count;
	int64_t id = (int64_t)aggregate_row(w->strings, text, strlen(text)) + 1;

	if (w->strings->count > before)
		nsys_row(w, NSYS_STRINGS, (int64_t[]){id, nsys_text(text)}, 2);
	return id;
}

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
	for (size_t i = 0; i < w.model->image_count && !o->failed; i++)
		add_image(&w, &w.model->images[i]);
	add_thread_names(&w);
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
