/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/correlate.h"
#include "opened.h"

static struct writer w;
static struct writer_thread main_thread, other_thread, cupti;
static uint16_t launch, copy, drive, allocate, outer, load, graph;
static struct model model;
static struct report_context context = {.model = &model};

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	copy = writer_function(&w, TF_GROUP_CUDA, "cudaMemcpy");
	allocate = writer_function(&w, TF_GROUP_CUDA, "cudaMalloc");
	drive = writer_function(&w, TF_GROUP_CUDA_DRIVER, "cuLaunchKernel");
	outer = writer_function(&w, TF_GROUP_CUBLAS, "cublasSgemm_v2");
	load = writer_function(&w, TF_GROUP_CUDA_DRIVER, "cuLibraryLoadData");
	graph = writer_function(&w, TF_GROUP_CUDA_DRIVER, "cuGraphLaunch");
	writer_thread(&w, &main_thread, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &other_thread, 11, "other", 4 * TF_PAGE);
	writer_thread(&w, &cupti, 12, "cupti", 16 * TF_PAGE);
	context.records_held = 0;
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
}

TestSuite(correlate, .init = setup, .fini = teardown);

/* The clock is CLOCK_MONOTONIC: ticks are ns. */
static void call(struct writer_thread *t, uint16_t function, uint64_t start, uint64_t duration, enum tf_arg_kind arg)
{
	uint64_t slot = tf_arg(arg, 1, 7);

	writer_call(t, function, start + duration, duration, &slot, arg ? 1 : 0);
}

static void calls(const struct writer_device_call *c, size_t count)
{
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, c, count);
}

static void work(uint32_t correlation, uint64_t start)
{
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &(struct writer_device_record){1, correlation, start, 50, 0},
		      1);
}

struct visited_call {
	uint32_t tid, correlation;
	uint64_t start, records, first_ns;
	const char *function;
};

struct all {
	struct visited_call visited[2000];
	size_t count;
	struct correlate_counts counts;
};

static void keep(void *arg, const struct correlated *c)
{
	struct all *all = arg;
	const struct function *f = c->thread ? trace_function(c->image->trace, c->event.id) : NULL;

	cr_assert_lt(all->count, sizeof(all->visited) / sizeof(*all->visited));
	cr_assert(c->thread || c->record_count);
	all->visited[all->count++] = (struct visited_call){.tid = c->thread ? c->thread->tid : 0,
						.correlation = c->correlation,
						.start = c->thread ? event_start(&c->event) : 0,
						.records = c->record_count,
						.first_ns = c->record_count ? c->records[0].start_ns : 0,
						.function = f ? f->name : ""};
	for (size_t i = 1; i < c->record_count; i++)
		cr_assert_geq(c->records[i].start_ns, c->records[i - 1].start_ns);
}

static struct all *correlate(void)
{
	struct all *all = calloc(1, sizeof(*all));

	open_written(&model, &w);
	correlate_image(&context, &model.images[0], all, keep, &all->counts);
	return all;
}

static const struct visited_call *find(const struct all *all, uint32_t correlation)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->visited[i].correlation == correlation)
			return &all->visited[i];
	return NULL;
}

Test(correlate, a_call_within_cuptis_own_has_its_work)
{
	struct all *all;

	call(&main_thread, drive, 2010, 10, TF_ARG_LAUNCH);
	call(&main_thread, drive, 3080, 10, TF_ARG_LAUNCH);
	call(&main_thread, drive, 3300, 10, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2000, 100, false}, {10, 2, 3000, 100, false}}, 2);
	work(1, 5000);
	work(2, 6000);
	all = correlate();
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(find(all, 1)->start, 2010);
	cr_assert_eq(find(all, 2)->start, 3080);
	cr_assert_eq(all->counts.idle, 1, "an API record outside of all calls matches none");
	cr_assert_eq(all->counts.without_call + all->counts.foreign, 0);
	free(all);
}

/* The first launch by a statically linked runtime loads the kernel, which takes longer than the launch. */
Test(correlate, a_call_that_loads_a_kernel_has_no_work_of_the_launch_beside_it)
{
	struct all *all;

	call(&main_thread, load, 2010, 60, 0);
	call(&main_thread, drive, 2080, 10, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2000, 100, false}}, 1);
	work(1, 5000);
	all = correlate();
	cr_assert_eq(all->counts.matched, 1);
	cr_assert_str_eq(find(all, 1)->function, "cuLaunchKernel");
	cr_assert_eq(all->counts.idle + all->counts.without_call + all->counts.foreign, 0);
	free(all);
}

/* Of functions that submit work without an argument that tells so, such as the launch of a graph. */
Test(correlate, a_call_that_is_not_known_to_submit_work_has_what_no_other_call_has)
{
	struct all *all;

	call(&main_thread, graph, 2010, 80, 0);
	call(&main_thread, drive, 2120, 10, TF_ARG_LAUNCH);
	call(&main_thread, graph, 2210, 80, 0);
	calls((struct writer_device_call[]){{10, 1, 2000, 100, false}, {10, 2, 2205, 100, false}}, 2);
	work(1, 5000);
	work(2, 6000);
	all = correlate();
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(find(all, 1)->start, 2010);
	cr_assert_eq(find(all, 2)->start, 2210);
	cr_assert_eq(all->counts.idle, 1);
	cr_assert_eq(all->counts.without_call + all->counts.foreign, 0);
	free(all);
}

/* The two clocks differ by more than half the duration of a short call. */
Test(correlate, a_call_that_begins_after_the_middle_of_cuptis_own_has_its_work)
{
	struct all *all;

	call(&main_thread, drive, 2020, 100, TF_ARG_LAUNCH);
	call(&main_thread, drive, 2220, 100, TF_ARG_LAUNCH);
	call(&main_thread, drive, 2420, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 1980, 70, true}, {10, 2, 2190, 70, true}, {10, 3, 2380, 20, true}},
	      3);
	work(1, 5000);
	work(2, 6000);
	work(3, 7000);
	all = correlate();
	cr_assert_eq(find(all, 1)->start, 2020);
	cr_assert_eq(find(all, 2)->start, 2220);
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(all->counts.without_call, 1, "an API record that ended before the call belongs to another one");
	free(all);
}

Test(correlate, each_call_gets_its_records_and_each_record_its_call)
{
	struct all *all;

	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	call(&main_thread, copy, 2200, 100, TF_ARG_COPY);
	call(&other_thread, launch, 2010, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 2, 2210, 80, false},
					    {11, 3, 2020, 80, false},
					    {10, 1, 2010, 80, false}},
	      3);
	work(3, 5000); /* unordered */
	work(1, 3000);
	work(2, 4000);
	all = correlate();
	cr_assert_eq(all->count, 3);
	cr_assert_eq(find(all, 1)->start, 2000);
	cr_assert_eq(find(all, 1)->first_ns, 3000);
	cr_assert_str_eq(find(all, 2)->function, "cudaMemcpy");
	cr_assert_eq(find(all, 3)->tid, 11);
	cr_assert_eq(all->counts.matched, 3);
	cr_assert_eq(all->counts.calls, 3);
	cr_assert_eq(all->counts.idle + all->counts.without_call + all->counts.foreign + all->counts.by_order, 0);
	free(all);
}

Test(correlate, a_graph_has_many_records_and_a_library_call_several_launches)
{
	struct all *all;

	call(&main_thread, drive, 2010, 20, TF_ARG_LAUNCH);
	call(&main_thread, drive, 2040, 20, TF_ARG_LAUNCH);
	call(&main_thread, outer, 2000, 100, 0);
	call(&main_thread, launch, 3000, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2012, 10, true}, {10, 2, 2042, 10, true}, {10, 3, 3010, 50, false}},
	      3);
	for (uint32_t i = 0; i < 5; i++)
		work(3, 9000 - i);
	work(1, 4000);
	work(2, 4100);
	all = correlate();
	cr_assert_eq(all->count, 3);
	cr_assert_eq(find(all, 3)->records, 5);
	cr_assert_eq(find(all, 1)->start, 2010, "the launch, not the library's call");
	cr_assert_eq(find(all, 2)->start, 2040);
	cr_assert_eq(all->counts.matched, 7);
	free(all);
}

Test(correlate, runtime_and_driver_of_one_call_are_one)
{
	struct all *all;

	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	call(&main_thread, launch, 2200, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2020, 40, true},
					    {10, 1, 2010, 80, false},
					    {10, 2, 2220, 40, true},
					    {10, 2, 2210, 80, false}},
	      4);
	work(1, 3000);
	work(2, 4000);
	all = correlate();
	cr_assert_eq(all->count, 2);
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(all->counts.foreign, 0);
	free(all);
}

/* Work as timed by CUDA events: there are no API records of CUPTI, and any thread may have the device records. */
Test(correlate, a_call_that_has_its_records_number_needs_no_time)
{
	const uint64_t near[] = {tf_arg(TF_ARG_LAUNCH, 0, 7), tf_arg(TF_ARG_DEVICE_OPERATION, 0, 3)};
	const uint64_t far[] = {tf_arg(TF_ARG_COPY, 1, 64), tf_arg(TF_ARG_DEVICE_OPERATION, 0, 4)};
	struct all *all;

	writer_call(&main_thread, launch, 1100, 100, near, 2);
	writer_call(&other_thread, copy, 1100, 100, far, 2);
	call(&main_thread, launch, 1200, 100, TF_ARG_LAUNCH);
	work(4, 9000);
	work(3, 5000);
	all = correlate();
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(all->counts.idle, 1);
	cr_assert_eq(all->counts.without_call, 0);
	cr_assert_eq(find(all, 3)->tid, 10);
	cr_assert_eq(find(all, 3)->start, 1000);
	cr_assert_eq(find(all, 4)->tid, 11);
	cr_assert_eq(find(all, 4)->first_ns, 9000);
	free(all);
}

Test(correlate, the_inner_of_two_recorded_calls_has_the_work_and_the_outer_the_rest)
{
	struct all *all;

	call(&main_thread, drive, 2040, 20, TF_ARG_LAUNCH);
	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2042, 10, true}, {10, 2, 2010, 10, false}}, 2);
	work(1, 3000);
	work(2, 4000);
	all = correlate();
	cr_assert_eq(all->count, 2);
	cr_assert_eq(find(all, 1)->start, 2040);
	cr_assert_eq(find(all, 2)->start, 2000);
	free(all);
}

Test(correlate, what_has_no_partner_is_told_and_counted)
{
	const uint64_t failed[] = {tf_arg(TF_ARG_LAUNCH, 0, 7), tf_arg(TF_ARG_RESULT, 0, 2)};
	struct all *all;

	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);	/* its record was dropped */
	call(&main_thread, launch, 2200, 100, TF_ARG_LAUNCH);	/* CUPTI's API record was dropped */
	call(&main_thread, allocate, 2400, 100, TF_ARG_MEMORY); /* queues no work */
	writer_call(&main_thread, launch, 2700, 100, failed, 2);
	calls((struct writer_device_call[]){{10, 1, 2010, 80, false},
					    {10, 3, 2410, 80, false},
					    {10, 4, 2900, 80, false},
					    {99, 5, 2010, 10, false}},
	      4);
	work(2, 3000);
	work(4, 3100); /* its call was below a threshold */
	work(5, 3200); /* from an unknown thread */
	all = correlate();
	cr_assert_eq(all->count, 5);
	cr_assert_eq(all->counts.matched, 0);
	cr_assert_eq(all->counts.calls, 2);
	cr_assert_eq(all->counts.idle, 2);
	cr_assert_eq(all->counts.without_call, 3);
	cr_assert_eq(all->counts.foreign, 2);
	free(all);
}

Test(correlate, on_another_clock_order_tells_where_times_do_not)
{
	struct writer_device_call c[20];
	struct all *all;

	for (uint32_t i = 0; i < 20; i++) {
		call(&main_thread, launch, 100000 + i * 1000, 100, TF_ARG_LAUNCH);
		c[i] = (struct writer_device_call){10, i + 1, 9000000 + i * 1000, 80, false};
		work(i + 1, 9500000 + i * 1000);
	}
	writer_device_calls(&cupti, TF_DEVICE_TIME_OWN, c, 20);
	all = correlate();
	cr_assert_eq(all->counts.by_order, 20);
	cr_assert_eq(all->counts.matched, 20);
	for (uint32_t i = 0; i < 20; i++)
		cr_assert_eq(find(all, i + 1)->start, 100000 + i * 1000);
	free(all);
}

Test(correlate, order_is_not_guessed_where_the_numbers_differ)
{
	struct writer_device_call c[20];
	struct all *all;

	for (uint32_t i = 0; i < 20; i++) {
		call(&main_thread, launch, 100000 + i * 1000, 100, TF_ARG_LAUNCH);
		c[i] = (struct writer_device_call){10, i + 1, 9000000 + i * 1000, 80, false};
		if (i != 7)
			work(i + 1, 9500000 + i * 1000);
	}
	writer_device_calls(&cupti, TF_DEVICE_TIME_OWN, c, 20);
	all = correlate();
	cr_assert_eq(all->counts.by_order + all->counts.matched, 0);
	cr_assert_eq(all->counts.idle, 20);
	cr_assert_eq(all->counts.without_call, 19);
	free(all);
}

Test(correlate, stretches_change_nothing)
{
	struct writer_device_call c[200];
	struct all *all;

	for (uint32_t i = 0; i < 200; i++) {
		struct writer_thread *t = i % 3 ? &main_thread : &other_thread;

		call(t, launch, 100000 + i * 1000, 900, TF_ARG_LAUNCH);
		c[i] = (struct writer_device_call){i % 3 ? 10 : 11, i + 1, 100010 + i * 1000, 80, false};
		if (i % 10)
			work(i + 1, 9500000 - i * 1000);
	}
	calls(c, 200);
	context.records_held = 16;
	all = correlate();
	cr_assert_eq(all->count, 200);
	cr_assert_eq(all->counts.matched, 180);
	cr_assert_eq(all->counts.idle, 20);
	for (uint32_t i = 0; i < 200; i++)
		if (i % 10)
			cr_assert_eq(find(all, i + 1)->start, 100000 + i * 1000);
	free(all);
}

/* A second CUPTI session numbers its ids from 1 again, and the ids between the two sessions' ranges are unused. Within
 * a stretch, calls with work come first. */
Test(correlate, a_second_epoch_makes_no_stretch_larger)
{
	enum { EACH = 500, STRETCH = 25 };
	size_t since = 0, most = 0;
	struct all *all;

	for (uint32_t i = 1; i <= EACH; i++) {
		const uint64_t numbered[] = {tf_arg(TF_ARG_LAUNCH, 0, 7), tf_arg(TF_ARG_DEVICE_OPERATION, 0, i)};

		if (i % 2)
			writer_call(&main_thread, launch, 100000 + i * 1000, 900, numbered, 2);
		work(i, 9500000 + i * 1000);
		writer_device(
			&cupti, TF_DEVICE_TIME_MONOTONIC,
			&(struct writer_device_record){
				.work = 1, .correlation = i, .start = 19500000 + i * 1000, .duration = 50, .epoch = 1},
			1);
	}
	context.records_held = STRETCH;
	all = correlate();
	cr_assert_eq(all->counts.matched, EACH / 2);
	cr_assert_eq(all->counts.without_call, EACH / 2 + EACH);
	for (size_t i = 1; i < all->count; i++) {
		since = all->visited[i].tid && !all->visited[i - 1].tid ? 0 : since + 1;
		most = all->visited[i].tid && since > most ? since : most;
	}
	cr_assert_leq(most, 2 * STRETCH, "%d", (int)most);
	free(all);
}

static int by_start(const void *left, const void *right)
{
	const struct visited_call *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start) ?:
	       (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

/* Each thread has several chunks; one call encloses many others; work is matched to its call by number, by time, or
 * not at all. */
static void write_much(void)
{
	static struct writer_thread numbers;
	const uint64_t failed = tf_arg(TF_ARG_RESULT, 0, 2);

	for (uint32_t i = 0; i < 1700; i++) {
		const uint64_t numbered[] = {tf_arg(TF_ARG_LAUNCH, 0, 7), tf_arg(TF_ARG_DEVICE_OPERATION, 0, i + 1)};
		struct writer_thread *t = i % 3 ? &main_thread : &other_thread;
		uint64_t start = 100000 + i * 1000;

		if (i % 100 == 99)
			writer_call(t, launch, start + 900, 900, &failed, 1);
		else if (i % 7)
			call(t, launch, start, 900, TF_ARG_LAUNCH);
		else
			writer_call(t, launch, start + 900, 900, numbered, 2);
		if (i % 7)
			calls(&(struct writer_device_call){i % 3 ? 10 : 11, i + 1, start + 10, 80, false}, 1);
		if (i % 10)
			work(i + 1, 9500000 - i * 1000);
	}
	/* A thread without CUPTI records. */
	writer_thread(&w, &numbers, 13, "numbers", 4 * TF_PAGE);
	for (uint32_t i = 0; i < 200; i++) {
		const uint64_t numbered[] = {tf_arg(TF_ARG_LAUNCH, 0, 7), tf_arg(TF_ARG_DEVICE_OPERATION, 0, 3000 + i)};

		writer_call(&numbers, launch, 200000 + i * 1000, 900, numbered, 2);
		work(3000 + i, 9600000 + i);
	}
	/* Within no other call: this work belongs to the copy below, which lasts until the end. */
	calls(&(struct writer_device_call){10, 1800, 100950, 20, false}, 1);
	work(1800, 5000);
	call(&main_thread, copy, 90000, 3000000, TF_ARG_COPY);
}

Test(correlate, what_stretches_need_not_read_again_changes_nothing)
{
	struct all *whole, *parts;

	write_much();
	whole = correlate();
	model_done(&model);
	cr_assert_gt(whole->counts.matched, 1700);
	cr_assert_eq(find(whole, 1800)->start, 90000);
	for (context.records_held = 8; context.records_held < 1000; context.records_held *= 5) {
		parts = correlate();
		model_done(&model);
		cr_assert_arr_eq(&parts->counts, &whole->counts, sizeof(parts->counts));
		cr_assert_eq(parts->count, whole->count);
		qsort(parts->visited, parts->count, sizeof(*parts->visited), by_start);
		qsort(whole->visited, whole->count, sizeof(*whole->visited), by_start);
		for (size_t i = 0; i < whole->count; i++)
			cr_assert(parts->visited[i].start == whole->visited[i].start &&
					  parts->visited[i].correlation == whole->visited[i].correlation &&
					  parts->visited[i].tid == whole->visited[i].tid &&
					  parts->visited[i].records == whole->visited[i].records,
				  "at %d of stretches of %d", (int)i, (int)context.records_held);
		free(parts);
	}
	free(whole);
	open_written(&model, &w);
}

Test(correlate, a_batch_that_breaks_off_is_counted)
{
	struct tf_device_batch head = {.base_ns = 5, .count = 1000};
	uint8_t bytes[sizeof(head) + 3];
	struct all *all;

	memcpy(bytes, &head, sizeof(head));
	memset(bytes + sizeof(head), 0xff, 3);
	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	writer_blob(&cupti, TF_BLOB_DEVICE_CALLS, 0, bytes, sizeof(bytes));
	all = correlate();
	cr_assert_eq(all->counts.broken, 1000);
	cr_assert_eq(all->counts.idle, 1);
	free(all);
}

static void keep_while_written(void *arg, const struct correlated *c)
{
	struct all *all = arg;

	if (!all->count) {
		for (uint64_t i = 0; i < 900; i++)
			call(&main_thread, launch, 10000 + i * 200, 100, TF_ARG_LAUNCH);
		memcpy((void *)(uintptr_t)c->image->trace->bytes.data, w.data, c->image->trace->bytes.size);
	}
	keep(arg, c);
}

Test(correlate, a_file_may_grow_while_it_is_read)
{
	struct all *all = calloc(1, sizeof(*all));

	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 2010, 80, false}, {10, 2, 10000 + 899 * 200 + 10, 80, false}}, 2);
	work(1, 3000);
	work(2, 500000);
	open_written(&model, &w);
	correlate_image(&context, &model.images[0], all, keep_while_written, &all->counts);
	cr_assert_eq(all->counts.matched, 2);
	cr_assert_eq(all->counts.calls, 901);
	cr_assert_eq(all->counts.idle, 899);
	free(all);
}

/* A caller that needs only the counts gets the stored ones. */
Test(correlate, counts_are_kept)
{
	struct correlate_counts again = {0};
	size_t threads;
	struct all *all;

	call(&main_thread, launch, 1000, 100, TF_ARG_LAUNCH);
	call(&main_thread, launch, 2000, 100, TF_ARG_LAUNCH);
	calls((struct writer_device_call[]){{10, 1, 1010, 50, false}, {10, 9, 1900, 5, false}}, 2);
	work(1, 1200);
	work(7, 1300);
	all = correlate();
	threads = model.images[0].trace->thread_count;
	model.images[0].trace->thread_count = 0; /* reading the events again would find none */
	correlate_image(&context, &model.images[0], NULL, NULL, &again);
	cr_assert_eq(memcmp(&all->counts, &again, sizeof(again)), 0);
	cr_assert_eq(again.matched, 1);
	cr_assert_eq(again.without_call, 1);
	cr_assert_eq(again.idle, 1);
	correlate_image(&context, &model.images[0], NULL, NULL, &again);
	cr_assert_eq(again.matched, 2, "they are added to");
	model.images[0].trace->thread_count = threads;
	free(all);
}
