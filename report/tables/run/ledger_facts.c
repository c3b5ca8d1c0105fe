/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/run/ledger_facts.h"

#include <string.h>

#include "report/events/cuda/correlate.h"
#include "report/events/cuda/memory.h"
#include "report/events/nvtx/nvtx.h"
#include "report/events/stacks/samples.h"
#include "report/events/traffic.h"

/* The CPU time of slow paths, which are measured in elapsed time: of the time in which a thread was on a CPU or waited
 * for one, it is the same part in them as in all else. Where the delay is not known, it was short. */
static uint64_t slow_cpu_ns(const struct usages *usages, const struct image *image, const struct trace_thread *thread)
{
	const struct clock_map *clock = &usages_model(usages)->machines[image->machine].clock;
	const struct run_record *run = model_run(usages_model(usages), image);
	uint64_t slow_ns = clock_map_duration(clock, thread->page->slow_ticks - thread->before.slow_ticks);
	struct usage_of of = usages_recorded(usages, image, thread->tid, 0, UINT64_MAX);

	/* Without the cost of a call, which early versions did not measure, it is stated as elapsed time. */
	if (!run || !run->cost.is_known)
		return slow_ns;
	if (!of.ticks || !of.cpu_ns || of.cpu_ns == TF_USAGE_UNKNOWN || of.delay_ns == TF_USAGE_UNKNOWN)
		return slow_ns;
	return (uint64_t)((double)slow_ns * (double)of.cpu_ns / ((double)of.cpu_ns + (double)of.delay_ns));
}

/* Those of all images of a process cannot be longer than its CPU time. */
static uint64_t slow_within(const struct usages *usages, const struct image *image, uint64_t slow_ns)
{
	struct usage_of of = usages_recorded(usages, image, 0, 0, UINT64_MAX);
	bool is_known = of.ticks && of.cpu_ns && of.cpu_ns != TF_USAGE_UNKNOWN;

	return is_known && of.cpu_ns < slow_ns ? of.cpu_ns : slow_ns;
}

static void thread_facts(const struct usages *usages, const struct image *image, const struct trace_thread *thread,
			 struct ledger_facts *f)
{
	f->counts[LEDGER_RECORDED] += thread->events;
	f->counts[LEDGER_OVERWRITTEN] += thread->old;
	f->counts[LEDGER_SUMMED] += thread->summed;
	f->counts[LEDGER_SUMMED_OTHER] += thread->summed_other;
	f->counts[LEDGER_SUMMED_RANGES] += thread->summed_ranges;
	f->counts[LEDGER_SUMMED_RANGES_OTHER] += thread->summed_ranges_other;
	f->counts[LEDGER_SUMMED_STEPS_OTHER] += thread->summed_steps_other;
	f->counts[LEDGER_UNMATCHED_START] += thread->open_starts;
	f->counts[LEDGER_SAMPLES] += thread->samples;
	f->counts[LEDGER_SAMPLED_US] += thread->sampled_us;
	f->counts[LEDGER_SAMPLES_WITHOUT_STACK] += thread->stackless_samples;
	f->counts[LEDGER_UNMATCHED_PUSH] += thread->unmatched_pushes;
	if (!image->trace->header.ring_ticks) /* the pushes may be overwritten */
		f->counts[LEDGER_UNMATCHED_POP] += thread->unmatched_pops;
	for (size_t i = 0; i < thread->counter_count; i++)
		f->counts[LEDGER_BELOW] += image->trace->counters[thread->first_counter + i].sum.calls;
	if (!thread->page)
		return;
	f->counts[LEDGER_LOST] += thread->page->lost - thread->before.lost;
	f->counts[LEDGER_STACKS_LOST] += thread->page->stacks_lost - thread->before.stacks_lost;
	f->slow_ns += slow_cpu_ns(usages, image, thread);
}

static void ignore_range(void *context, const struct nvtx_range *range)
{
	(void)context;
	(void)range;
}

/* ---- devices ---- */

static void count_activity(struct scan *s, const struct device_record *r)
{
	struct ledger_facts *f = s->more;
	struct tf_device_operation operation;

	f->counts[LEDGER_DEVICE_MORE]++;
	if (device_operation(s->image->trace, r->operation, &operation) && operation.kind == TF_DEVICE_OVERHEAD &&
	    operation.value >> 16 < DEVICE_OVERHEADS)
		f->overhead_ns[operation.value >> 16] += r->duration_ns;
}

void ledger_add_device(const struct report_context *c, const struct image *image, struct ledger_facts *f)
{
	const struct tf_device_lost lost = device_lost(image->trace);
	struct correlate_counts k = {0};

	f->sources += device_source(image->trace).is_known;
	correlate_image(c, image, NULL, NULL, &k);
	device_scan_more(&(struct scan){.context = c, .image = image, .is_unfiltered = true, .more = f}, count_activity,
			 &k.broken);
	f->counts[LEDGER_UNREADABLE] += k.broken;
	f->counts[LEDGER_DEVICE_RECORDS] += k.matched + k.without_call;
	f->counts[LEDGER_GRAPH_NODES] += k.captured;
	f->counts[LEDGER_UNMATCHED_CALLS] += k.idle;
	f->counts[LEDGER_UNMATCHED_RECORDS] += k.without_call;
	f->counts[LEDGER_MATCHED_BY_ORDER] += k.by_order;
	f->counts[LEDGER_DEVICE_DROPPED] += lost.dropped;
	f->counts[LEDGER_DEVICE_TIMELESS] += lost.timeless;
	f->counts[LEDGER_DEVICE_UNREADABLE] += lost.unreadable;
}

void ledger_add_memory(const struct model *m, const struct image *image, struct ledger_facts *f)
{
	SCOPED(memory) memory = {0};

	memory_replay(m, image, &memory, NULL, NULL);
	f->counts[LEDGER_UNKNOWN_FREES] += memory.unknown_frees;
	f->counts[LEDGER_BLOCKS_REPLACED] += memory.replaced;
	f->counts[LEDGER_FAILURES_LEFT_OUT] += memory.failures_left_out;
}

static uint64_t count_slowed(const struct trace *t)
{
	uint64_t slowed = 0;

	blobs_each(b, t, TF_BLOB_SAMPLING) {
		struct tf_sampling sampling;

		slowed += trace_blob(t, b, &sampling, sizeof(sampling)) == sizeof(sampling) && sampling.is_slowed;
	}
	return slowed;
}

/* ---- CPU time used and sampled ---- */

/* Before that minor version of the format, samples may have been taken on request only. */
enum { SAMPLED_SINCE_MINOR = 16 };

/* A short process that has no sample may have no trace file either: its time counts as that of the others. */
static bool is_sampled_by_default(const struct model *m, const struct run_record *run)
{
	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;

		if (t && t->header.version_minor >= SAMPLED_SINCE_MINOR && model_run(m, &m->images[i]) == run)
			return true;
	}
	return false;
}

static bool is_to_be_sampled(const struct model *m, const struct process *p, uint64_t samples)
{
	const struct image *first = &m->images[p->first_image];
	const struct run_record *run = model_run(m, first);
	size_t length;
	const char *asked = run ? run_option(run, "sample", &length) : NULL;

	if (!samples && (!run || !is_sampled_by_default(m, run)))
		return false;
	return !model_has_capture_range(m, first->run) && (!asked || strncmp(asked, "none", length) != 0);
}

/* A sample comes at the first tick after its period at which the thread runs. A thread that runs at any time has some
 * 1.1 periods in each, 1.6 with the slowest tick; one that sleeps at most ticks has more, and is seen at the others. */
static bool is_in_step(const struct trace *t, const struct trace_thread *thread)
{
	enum { LEAST_SAMPLES = 10, SLOWEST_TICK_US = 10000 };
	uint64_t period_us = SLOWEST_TICK_US;

	if (thread->samples < LEAST_SAMPLES || thread->sampled_us < thread->samples * SLOWEST_TICK_US * 2)
		return false;
	blobs_each(b, t, TF_BLOB_SAMPLING) {
		struct tf_sampling sampling;

		if (b->id == thread->number && trace_blob(t, b, &sampling, sizeof(sampling)) == sizeof(sampling) &&
		    sampling.period_ns / 1000 > period_us)
			period_us = sampling.period_ns / 1000;
	}
	return thread->sampled_us > thread->samples * period_us * 11 / 5;
}

void ledger_compare_cpu(const struct usages *usages, struct ledger_cpu *ret)
{
	const struct model *m = usages_model(usages);

	*ret = (struct ledger_cpu){0};
	array_each(const struct process, p, m->processes, m->process_count) {
		uint64_t used_ns = 0, us = 0, samples = 0, stepped_us = 0;

		for (size_t k = p->first_image; k < p->first_image + p->image_count; k++) {
			const struct trace *t = m->images[k].trace;
			struct usage_of of = usages_recorded(usages, &m->images[k], 0, 0, UINT64_MAX);

			/* it is that of the process so far */
			if (of.ticks && of.cpu_ns != TF_USAGE_UNKNOWN && of.cpu_ns > used_ns)
				used_ns = of.cpu_ns;
			for (size_t j = 0; t && j < t->thread_count; j++) {
				us += t->threads[j].sampled_us;
				samples += t->threads[j].samples;
				stepped_us += is_in_step(t, &t->threads[j]) ? t->threads[j].sampled_us : 0;
			}
		}
		if (!used_ns || !is_to_be_sampled(m, p, samples))
			continue;
		ret->used_us += used_ns / 1000;
		ret->sampled_us += us;
		ret->samples += samples;
		ret->stepped_us += stepped_us;
	}
}

bool ledger_cpu_is_missing(const struct ledger_cpu *cpu)
{
	enum { PERCENT = 5, ERRORS = 3, DEFAULT_PERIOD_US = 10101 };
	double missing = (double)cpu->used_us - (double)cpu->sampled_us,
	       period = cpu->samples ? (double)cpu->sampled_us / (double)cpu->samples : DEFAULT_PERIOD_US;

	/* as many samples as periods are expected, with the square root of that as their error */
	return missing * 100 > (double)cpu->used_us * PERCENT &&
	       missing * missing > ERRORS * ERRORS * period * (double)cpu->used_us;
}

/* The recorder truncates NVTX texts to 8192 bytes, less where a character of UTF-8 would be divided. */
enum { NVTX_TEXT_LIMIT = 8192, UTF8_LONGEST = 4 };

static uint64_t count_texts_at_limit(const struct trace *t)
{
	uint64_t count = 0;

	blobs_each(b, t, TF_BLOB_STRING)
		count += b->length > NVTX_TEXT_LIMIT - UTF8_LONGEST;
	return count;
}

static uint64_t count_cut_stacks(const struct trace *t)
{
	uint64_t count = 0;

	blobs_each(b, t, TF_BLOB_STACK)
		count += trace_stack_is_cut(t, b);
	return count;
}

static uint64_t count_signals(const struct trace *t)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < t->counter_count; i++) {
		const struct function *f = trace_function(t, t->counters[i].function);

		if (f && f->kind.does & FUNCTION_CONDITION && f->kind.does & FUNCTION_WAKES)
			calls += t->counters[i].sum.calls;
	}
	return calls;
}

static uint64_t count_user_calls(const struct model *m, const struct image *image)
{
	const struct trace *t = image->trace;

	return array_sum(counter, t->counters, t->counter_count, own_cost_user_calls(m, image, &counter->sum));
}

static void image_counts(const struct usages *usages, const struct image *image, struct ledger_facts *f)
{
	const struct trace *t = image->trace;
	struct nvtx_counts counts = {0};

	for (size_t i = 0; i < image->short_count && !t; i++)
		f->counts[LEDGER_BELOW] += image->shorts[i].calls;
	f->counts[LEDGER_MISSING_FILES] += image->is_missing;
	if (!t) {
		f->counts[LEDGER_RECORDED] += image->recorded;
		f->counts[LEDGER_LOST] += image->lost;
		f->counts[LEDGER_THREADS_LOST] += image->threads_lost;
		return;
	}
	for (size_t i = 0; i < t->thread_count; i++)
		thread_facts(usages, image, &t->threads[i], f);
	f->counts[LEDGER_OVERWRITTEN] += t->header.ring_events;
	f->counts[LEDGER_THREADS_LOST] += t->header.threads_lost;
	f->counts[LEDGER_SAMPLES_SLOWED] += count_slowed(t);
	f->counts[LEDGER_TEXTS_TRUNCATED] += count_texts_at_limit(t);
	f->counts[LEDGER_STACKS_CUT] += count_cut_stacks(t);
	f->counts[LEDGER_SAMPLES_BY_PERF] += samples_by_perf(image);
	f->counts[LEDGER_TORN] += t->torn;
	f->counts[LEDGER_UNREADABLE] += t->broken + t->orphans;
	nvtx_ranges(image, &counts, NULL, ignore_range);
	f->counts[LEDGER_UNMATCHED_START] += counts.unmatched_starts;
	if (!t->header.ring_ticks)
		f->counts[LEDGER_UNMATCHED_END] += counts.unmatched_ends;
}

void ledger_add_image(const struct usages *usages, const struct image *image, struct ledger_facts *f)
{
	const uint64_t below = f->counts[LEDGER_BELOW], recorded = f->counts[LEDGER_RECORDED],
		       summed = f->counts[LEDGER_SUMMED], ranges = f->counts[LEDGER_SUMMED_RANGES],
		       slow_ns = f->slow_ns;
	struct own_counts counts = {0};

	image_counts(usages, image, f);
	counts.short_calls = f->counts[LEDGER_BELOW] - below;
	if (image->trace) {
		struct traffic_counts traffic = traffic_counts(image->trace);

		f->counts[LEDGER_BELOW_WITHOUT_FILE] += traffic.without_file;
		counts.paths = traffic.of_paths;
		counts.signals = count_signals(image->trace);
		counts.user_calls = count_user_calls(usages_model(usages), image);
		counts.user_calls = smaller_of(counts.user_calls, counts.short_calls);
	}
	counts.recorded = f->counts[LEDGER_RECORDED] - recorded;
	/* a range has a begin and an end */
	counts.summed = f->counts[LEDGER_SUMMED] - summed + 2 * (f->counts[LEDGER_SUMMED_RANGES] - ranges);
	if (image->via != TF_VIA_OBSERVED)
		counts.threads = image->trace && image->trace->thread_count ? image->trace->thread_count : 1;
	counts.slow_ns = slow_within(usages, image, f->slow_ns - slow_ns);
	own_cost_add(usages_model(usages), image, &counts, &f->own);
}
