/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats/ledger_facts.h"

#include "report/derive/device/memory.h"
#include "report/derive/events/traffic.h"
#include "report/derive/nvtx/nvtx.h"
#include "report/derive/stacks/samples.h"

static void thread_facts(const struct model *m, const struct image *image, const struct trace_thread *thread,
			 struct ledger_facts *f)
{
	f->recorded += thread->events;
	f->samples += thread->samples;
	f->sampled_us += thread->sampled_us;
	f->stackless_samples += thread->stackless_samples;
	f->unmatched_pushes += thread->unmatched_pushes;
	f->unmatched_pops += thread->unmatched_pops;
	for (size_t i = 0; i < thread->counter_count; i++)
		f->below += image->trace->counters[thread->first_counter + i].sum.calls;
	if (!thread->page)
		return;
	f->lost += thread->page->lost;
	f->stacks_lost += thread->page->stacks_lost;
	f->slow_ns += clock_map_duration(&m->machines[image->machine].clock, thread->page->slow_ticks);
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

	f->more++;
	if (device_operation(s->image->trace, r->operation, &operation) && operation.kind == TF_DEVICE_OVERHEAD &&
	    operation.value >> 16 < DEVICE_OVERHEADS)
		f->overhead_ns[operation.value >> 16] += r->duration_ns;
}

void ledger_add_device(const struct report_context *c, const struct image *image, struct ledger_facts *f)
{
	const struct tf_device_lost lost = device_lost(image->trace);

	f->sources += device_source(image->trace).is_known;
	correlate_image(c, image, NULL, NULL, &f->correlated);
	device_scan_more(&(struct scan){.context = c, .image = image, .is_unfiltered = true, .more = f}, count_activity,
			 &f->correlated.broken);
	f->dropped += lost.dropped;
	f->timeless += lost.timeless;
	f->device_unreadable += lost.unreadable;
}

void ledger_add_memory(const struct model *m, const struct image *image, struct ledger_facts *f)
{
	struct memory memory;

	memory_replay(m, image, &memory, NULL, NULL);
	f->unknown_frees += memory.unknown_frees;
	f->replaced_blocks += memory.replaced;
	f->failures_left_out += memory.failures_left_out;
	memory_done(&memory);
}

static uint64_t count_slowed(const struct trace *t)
{
	uint64_t slowed = 0;

	for (size_t i = 0; i < t->blob_count; i++) {
		struct tf_sampling sampling;

		slowed += t->blobs[i].type == TF_BLOB_SAMPLING &&
			  trace_blob(t, &t->blobs[i], &sampling, sizeof(sampling)) == sizeof(sampling) &&
			  sampling.is_slowed;
	}
	return slowed;
}

/* The recorder truncates NVTX texts to 8192 bytes, less where a character of UTF-8 would be divided. */
enum { NVTX_TEXT_LIMIT = 8192, UTF8_LONGEST = 4 };

static uint64_t count_texts_at_limit(const struct trace *t)
{
	uint64_t count = 0;

	for (size_t i = 0; i < t->blob_count; i++)
		count += t->blobs[i].type == TF_BLOB_STRING && t->blobs[i].length > NVTX_TEXT_LIMIT - UTF8_LONGEST;
	return count;
}

static uint64_t count_cut_stacks(const struct trace *t)
{
	uint64_t count = 0;

	for (size_t i = 0; i < t->blob_count; i++)
		count += t->blobs[i].type == TF_BLOB_STACK && trace_stack_is_cut(t, &t->blobs[i]);
	return count;
}

static void image_counts(const struct model *m, const struct image *image, struct ledger_facts *f)
{
	const struct trace *t = image->trace;
	struct nvtx_counts counts = {0};

	for (size_t i = 0; i < image->short_count && !t; i++)
		f->below += image->shorts[i].calls;
	f->missing_files += image->is_missing;
	if (!t) {
		f->recorded += image->recorded;
		f->lost += image->lost;
		f->threads_lost += image->threads_lost;
		return;
	}
	for (size_t i = 0; i < t->thread_count; i++)
		thread_facts(m, image, &t->threads[i], f);
	f->threads_lost += t->header.threads_lost;
	f->slowed += count_slowed(t);
	f->texts_at_limit += count_texts_at_limit(t);
	f->stacks_cut += count_cut_stacks(t);
	f->traffic_uncounted += traffic_uncounted(t);
	f->samples_by_perf += samples_by_perf(image);
	f->torn += t->torn;
	f->unreadable += t->broken + t->orphans;
	nvtx_ranges(image, &counts, NULL, ignore_range);
	f->unmatched_starts += counts.unmatched_starts;
	f->unmatched_ends += counts.unmatched_ends;
}

void ledger_add_image(const struct model *m, const struct image *image, struct ledger_facts *f)
{
	struct ledger_facts one = *f;

	image_counts(m, image, f);
	own_cost_add(m, image, f->below - one.below, f->recorded - one.recorded, f->slow_ns - one.slow_ns, &f->own);
}

uint64_t ledger_device_records(const struct ledger_facts *f)
{
	return f->correlated.matched + f->correlated.without_call;
}
