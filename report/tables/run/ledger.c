/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of the ledger. Their texts are made here and read by nobody: readers decide by the code of the fact. */
#include "report/tables/run/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/events/cuda/untimed.h"
#include "report/events/nvtx/nvtx.h"
#include "report/events/stacks/samples.h"
#include "report/tables/python/operator_memory.h"
#include "report/tables/run/ledger_facts.h"
#include "report/time/clocks/align.h"
#include "report/time/io_account.h"

const struct ledger_kind ledger_kinds[LEDGER_FACTS] = {
#define LEDGER_KIND(code, flags, fact, detail) [LEDGER_##code] = {flags, fact, detail},
	LEDGER_COUNTS(LEDGER_KIND) LEDGER_OTHERS(LEDGER_KIND)
#undef LEDGER_KIND
};

struct ledger {
	const struct report_context *context;
	const struct usages *usages;
	void *data;
	void (*visit)(void *data, const struct ledger_entry *);
};

/* detail: NULL: that of the list */
static void add_entry(const struct ledger *l, enum ledger_fact fact, int64_t pid, const char *host, uint64_t count,
		      const char *detail)
{
	l->visit(l->data,
		 &(struct ledger_entry){fact, pid, host, count, detail ? detail : ledger_kinds[fact].detail});
}

static void add_of_image(const struct ledger *l, enum ledger_fact fact, const struct image *image, uint64_t count,
			 const char *detail)
{
	add_entry(l, fact, image->pid, l->context->model->machines[image->machine].host, count, detail);
}

static void add_of_run(const struct ledger *l, enum ledger_fact fact, const struct run_record *run, uint64_t count,
		       const char *detail)
{
	add_entry(l, fact, run->pid, l->context->model->machines[run->machine].host, count, detail);
}

static void add_process(const struct ledger *l, const struct process *p)
{
	const struct model *m = l->context->model;
	const struct image *images = &m->images[p->first_image];
	struct ledger_facts f = {.own = OWN_COST_NONE};
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < p->image_count; i++) {
		ledger_add_image(l->usages, &images[i], &f);
		ledger_add_device(l->context, &images[i], &f);
		ledger_add_memory(m, &images[i], &f);
	}
	for (enum ledger_fact i = 0; i < LEDGER_COUNTED; i++)
		if (f.counts[i] || ledger_kinds[i].flags & LEDGER_ALWAYS || (i == LEDGER_DEVICE_RECORDS && f.sources))
			add_of_image(l, i, images, f.counts[i], NULL);
	if (own_cost_ns(&f.own) > 0) {
		own_cost_detail(&f.own, &text);
		add_of_image(l, LEDGER_OWN_OVERHEAD, images, (uint64_t)own_cost_ns(&f.own), text.data);
	}
	for (size_t i = 0; i < DEVICE_OVERHEADS; i++)
		if (f.overhead_ns[i])
			add_of_image(l, i ? LEDGER_CUPTI_OVERHEAD : LEDGER_DRIVER_OVERHEAD, images, f.overhead_ns[i],
				     device_overheads[i]);
}

/* Where the bytes that the kernel has counted differ from those of recorded calls. */
static void add_io(const struct ledger *l, const struct process *p, const struct io_account *a)
{
	static const enum ledger_fact not_seen[] = {LEDGER_READ_NOT_SEEN, LEDGER_WRITTEN_NOT_SEEN},
				      not_counted[] = {LEDGER_READ_NOT_COUNTED, LEDGER_WRITTEN_NOT_COUNTED};
	const struct image *image = &l->context->model->images[p->first_image];
	const char *part = a->is_of_living ? " in threads that lived at the end" : "";
	char detail[192];

	for (enum io_direction i = 0; i < IO_DIRECTIONS; i++) {
		uint64_t seen = io_not_seen(a, i), counted = io_not_counted(a, i);

		snprintf(detail, sizeof(detail),
			 seen ? "of %" PRIu64 " that the kernel has counted%s: by no recorded call, see files"
			      : "of %" PRIu64 " of recorded calls%s: more than the kernel has counted",
			 seen ? a->kernel[i] : a->recorded[i], part);
		if (seen || counted)
			add_of_image(l, seen ? not_seen[i] : not_counted[i], image, seen + counted, detail);
	}
	if (a->submitted)
		add_of_image(l, LEDGER_RING_OPERATIONS, image, a->submitted, NULL);
	if (a->unknown && !p->is_running)
		add_of_image(l, LEDGER_NOT_COMPARED, image, a->unknown, NULL);
}

static void add_image_notes(const struct ledger *l, const struct image *image)
{
	const struct trace *t = image->trace;
	SCOPED(buffer) text = {0};

	blobs_each(b, t, TF_BLOB_NOTE) {
		buffer_clear(&text);
		trace_text(t, b, &text);
		add_of_image(l, LEDGER_NOTE, image, 1, buffer_string(&text));
	}
}

/* Adds up the intervals in which a thread had no ranges of operators. Returns how many. */
static uint64_t operator_gaps(const struct model *m, const struct image *image, uint64_t *ns)
{
	const struct clock_map *clock = &m->machines[image->machine].clock;
	const struct trace *t = image->trace;
	SCOPED(map) begins = {0}; /* id -> ticks */
	uint64_t count = 0, last = image_last_ticks(image);

	blobs_each(b, t, TF_BLOB_OPERATOR_GAP) {
		struct tf_operator_gap gap;
		uint64_t *begin;

		if (trace_blob(t, b, &gap, sizeof(gap)) < sizeof(gap))
			continue;
		begin = map_put(&begins, b->id, 0, NULL);
		count += !gap.is_end;
		if (!gap.is_end)
			*begin = gap.ticks;
		else if (*begin && gap.ticks > *begin)
			*ns += clock_map_duration(clock, gap.ticks - *begin);
		if (gap.is_end)
			*begin = 0;
	}
	for (size_t i = 0; i < begins.size; i++) /* to the end of the image */
		if (begins.slots[i].used && begins.slots[i].value && last > begins.slots[i].value)
			*ns += clock_map_duration(clock, last - begins.slots[i].value);
	return count;
}

static void add_operator_gaps(const struct ledger *l, const struct image *image)
{
	uint64_t ns = 0, count = operator_gaps(l->context->model, image, &ns);
	char detail[192];

	snprintf(detail, sizeof(detail),
		 "intervals, %.3f ms in all, in which the program's own PyTorch profiler was active on a thread: "
		 "--pytorch has no operators of them",
		 (double)ns / 1e6);
	if (count)
		add_of_image(l, LEDGER_OPERATORS_MISSING, image, count, detail);
}

/* A process with operators has tensors. */
static void add_missing_tensors(const struct ledger *l, const struct image *image)
{
	uint32_t kinds = trace_bits(image->trace).kinds;

	if (kinds & 1u << TF_TENSOR && kinds & 1u << TF_PUSH && tensors_are_missing(image) &&
	    nvtx_has_operators(l->context->model))
		add_of_image(l, LEDGER_TENSORS_MISSING, image, 1, NULL);
}

/* Intervals in which the program's own profiler used CUPTI. */
static void add_device_gaps(const struct ledger *l, const struct image *image)
{
	const struct clock_map *clock = &l->context->model->machines[image->machine].clock;
	SCOPED_MEMORY struct device_gap *gaps = NULL;
	size_t count = device_gaps(image, &gaps);

	array_each(const struct device_gap, g, gaps, count) {
		char detail[640];

		snprintf(detail, sizeof(detail), "ns without device times: another tool used CUPTI, %s%s",
			 g->path[0] ? g->path : "in the program itself", g->is_open ? ", to the end" : "");
		add_of_image(l, LEDGER_DEVICE_GAP, image, clock_map_duration(clock, g->to - g->from), detail);
	}
}

static void add_untimed(const struct ledger *l, const struct image *image)
{
	uint64_t calls = untimed_calls(l->context, image);
	SCOPED(buffer) text = {0};

	if (!calls)
		return;
	untimed_text(calls, &text);
	add_of_image(l, LEDGER_NO_DEVICE_TIMES, image, calls, text.data);
}

/* A process that was killed could not read its last device records. */
static void add_unflushed(const struct ledger *l, const struct image *image)
{
	uint64_t flushed = device_last_flush(image), last = image_last_ticks(image);

	if (flushed && last > flushed && (image->end == TF_END_NONE || image->end == TF_END_ABORT))
		add_of_image(l, LEDGER_DEVICE_UNREAD, image,
			     clock_map_duration(&l->context->model->machines[image->machine].clock, last - flushed),
			     NULL);
}

/* The accuracy of the alignment between machines. */
static void add_clocks(const struct ledger *l)
{
	const struct model *m = l->context->model;
	SCOPED(map) used = {0};

	for (size_t i = 0; i < m->process_count; i++)
		map_put(&used, m->processes[i].machine, 0, NULL);
	for (size_t i = 0; i < m->machine_count && used.count > 1; i++) {
		const struct machine *machine = &m->machines[i];
		const char *method = align_method(m, i);
		SCOPED(buffer) text = {0};

		if (!map_find(&used, i, 0))
			continue;
		buffer_print(&text, "ns at most, by %s",
			     method ? method
				    : "its CLOCK_REALTIME; the difference between the hosts' clocks is not known");
		add_entry(l, LEDGER_CLOCK, -1, machine->host, machine->clock.error_ns, text.data);
	}
}

static void add_spools(const struct ledger *l)
{
	const struct model *m = l->context->model;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < m->run_count; i++) {
		enum spool_state state = model_spool(m, &m->runs[i]);

		if (state == SPOOL_MOVED)
			continue;
		buffer_clear(&text);
		model_spool_text(m, &m->runs[i], state, &text);
		add_of_run(l, state == SPOOL_MOVING ? LEDGER_SPOOL_MOVING : LEDGER_SPOOL_UNMOVED, &m->runs[i], 1,
			   text.data);
	}
}

static void add_unsampled(const struct ledger *l)
{
	SCOPED(unsampled) unsampled = {0};
	SCOPED(buffer) text = {0};

	unsampled_find(l->context->model, &unsampled);
	for (size_t i = 0; i < unsampled.count; i++) {
		buffer_set(&text, "processes: %s", unsampled.items[i].text);
		add_entry(l, LEDGER_NOT_SAMPLED, -1, NULL, unsampled.items[i].processes, text.data);
	}
}

static void add_cpu(const struct ledger *l)
{
	struct ledger_cpu cpu;
	char detail[256];

	ledger_compare_cpu(l->usages, &cpu);
	if (!cpu.samples && !ledger_cpu_is_missing(&cpu))
		return;
	snprintf(detail, sizeof(detail), "us by the kernel's account, of which samples represent %" PRIu64,
		 cpu.sampled_us);
	add_entry(l, LEDGER_CPU_USED, -1, NULL, cpu.used_us, detail);
	if (cpu.stepped_us * 20 > cpu.sampled_us)
		add_entry(l, LEDGER_CPU_STEPPED, -1, NULL, cpu.stepped_us,
			  "us of threads whose samples stand for several periods each: they sleep at most ticks of the "
			  "kernel, or are in long system calls, so that the shares of their lines may be wrong; "
			  "--sampling-source=perf does not follow the tick");
	if (!ledger_cpu_is_missing(&cpu))
		return;
	snprintf(detail, sizeof(detail),
		 "us, %.0f %%, more than chance explains: used in step with the kernel's tick, which "
		 "--sampling-source=perf does not follow, or where there are no samples: before the recorder begins, "
		 "and in threads that have none",
		 100 - 100 * (double)cpu.sampled_us / (double)cpu.used_us);
	add_entry(l, LEDGER_CPU_UNSAMPLED, -1, NULL, cpu.used_us - cpu.sampled_us, detail);
}

/* Modules whose functions have no names in this report. */
static void add_modules(const struct ledger *l)
{
	SCOPED(texts) changed = {0}, missing = {0};

	if (l->context->symbols)
		symbols_unusable(l->context->symbols, &changed, &missing);
	for (size_t i = 0; i < changed.count; i++)
		add_entry(l, LEDGER_MODULE_CHANGED, -1, NULL, 1, changed.items[i]);
	for (size_t i = 0; i < missing.count; i++)
		add_entry(l, LEDGER_MODULE_MISSING, -1, NULL, 1, missing.items[i]);
}

static void add_bare(const struct ledger *l)
{
	const struct model *m = l->context->model;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < m->bare_count; i++) {
		buffer_set(&text, "%s: %s", m->bare[i].executable, m->bare[i].reason);
		add_entry(l, LEDGER_NOT_RECORDED, m->bare[i].pid, m->machines[m->bare[i].machine].host, 1, text.data);
	}
}

void ledger_each(const struct report_context *c, void *data, void (*visit)(void *data, const struct ledger_entry *))
{
	const struct model *m = c->model;
	struct usages *usages = usages_new(m);
	const struct ledger l = {c, usages, data, visit};
	SCOPED_MEMORY struct io_account *accounts = io_accounts(c);

	for (size_t i = 0; i < m->process_count; i++) {
		add_process(&l, &m->processes[i]);
		add_io(&l, &m->processes[i], &accounts[i]);
	}
	add_cpu(&l);
	usages_free(usages);
	for (size_t i = 0; i < m->image_count; i++)
		add_image_notes(&l, &m->images[i]);
	for (size_t i = 0; i < m->image_count; i++) {
		add_device_gaps(&l, &m->images[i]);
		add_operator_gaps(&l, &m->images[i]);
		add_missing_tensors(&l, &m->images[i]);
		add_unflushed(&l, &m->images[i]);
		add_untimed(&l, &m->images[i]);
	}
	for (size_t i = 0; i < m->note_count; i++)
		add_entry(&l, LEDGER_NOTE, m->notes[i].pid, m->machines[m->notes[i].machine].host, 1,
			  m->notes[i].text);
	if (m->lost_lines)
		add_entry(&l, LEDGER_LINES_LOST, -1, NULL, m->lost_lines, NULL);
	if (m->lost_events)
		add_entry(&l, LEDGER_LOST_WITHOUT_FILE, -1, NULL, m->lost_events, NULL);
	for (size_t i = 0; i < m->run_count; i++)
		if (m->runs[i].cost.launcher_ns)
			add_of_run(&l, LEDGER_LAUNCHER, &m->runs[i], m->runs[i].cost.launcher_ns, NULL);
	add_unsampled(&l);
	add_spools(&l);
	add_clocks(&l);
	add_modules(&l);
	add_bare(&l);
}
