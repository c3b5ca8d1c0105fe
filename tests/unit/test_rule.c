/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "report/answers/answer.h"
#include "report/events/cuda/device_timeline.h"
#include "rule_fixture.h"

TestSuite(rule, .init = setup, .fini = teardown);

Test(rule, names_and_aliases_are_those_of_nsys)
{
	static const char *const names[][2] = {
		{"cuda_memcpy_async", "cuda-async-memcpy"}, {"cuda_memcpy_sync", "cuda-sync-memcpy"},
		{"cuda_memset_sync", "cuda-sync-memset"}, {"cuda_api_sync", "cuda-sync-api"},
		{"gpu_gaps", "gpu-starv"}, {"gpu_time_util", "gpu-low-util"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		cr_assert_not_null(rule_find(names[i][0]));
		cr_assert_eq(rule_find(names[i][0]), rule_find(names[i][1]));
	}
	cr_assert_null(rule_find("gpu_gap"));
	open_model(MS);
}

Test(rule, an_end_is_one_that_was_found)
{
	struct finding f = {.rule = rule_find("crash"), .verdict = VERDICT_FOUND};

	cr_expect(finding_is_end(&f));
	f.verdict = VERDICT_CLEAN;
	cr_expect_not(finding_is_end(&f));
	f = (struct finding){.rule = rule_find("small_io"), .verdict = VERDICT_FOUND};
	cr_expect_not(finding_is_end(&f));
}

/* How a process ended is known without any call. There is one process, and no launcher. */
static bool is_known_end(const char *name)
{
	return !strcmp(name, "crash") || !strcmp(name, "deadlock");
}

Test(rule, nothing_recorded_is_not_clean)
{
	open_model(MS);
	for (size_t i = 0; i < rule_count; i++)
		assert_verdict(rule_list[i].name,
			       is_known_end(rule_list[i].name) ? VERDICT_CLEAN : VERDICT_UNCHECKED);
}

Test(rule, calls_without_device_records_are_not_clean)
{
	writer_done(&w);
	begin(1, 10, false);
	call(f_launch, MS, 5 * US, tf_arg(TF_ARG_LAUNCH, 0, 1));
	call(f_copy, 2 * MS, 5 * US, tf_arg(TF_ARG_COPY, 1, 100000));
	open_model(10 * MS);
	for (size_t i = 0; i < rule_count; i++) {
		const char *name = rule_list[i].name;
		bool needs_calls_alone = is_known_end(name) || !strcmp(name, "cuda_api_sync") ||
					 !strcmp(name, "implicit_sync") || !strcmp(name, "alloc_churn");

		assert_verdict(name, needs_calls_alone ? VERDICT_CLEAN : VERDICT_UNCHECKED);
	}
}

Test(rule, a_busy_device_is_clean)
{
	busy_device(100);
	open_model(100 * MS + 30 * US);
	for (size_t i = 0; i < rule_count; i++) {
		const char *name = rule_list[i].name;
		/* There are no OS calls, stacks, samples, products, ranks and no power. */
		bool lacks_data = !strcmp(name, "tensor_dims") || !strcmp(name, "cpu_oversubscribed") ||
				  !strcmp(name, "small_io") || !strcmp(name, "file_flush") ||
				  !strcmp(name, "lock_convoy") || !strcmp(name, "import_heavy") ||
				  !strcmp(name, "slow_loader") || !strcmp(name, "straggling_rank") ||
				  !strcmp(name, "idle_rank") || !strcmp(name, "late_message") ||
				  !strcmp(name, "cpu_starved") || !strcmp(name, "gil_bound") ||
				  !strcmp(name, "blocked_loop") || !strcmp(name, "memory_growth") ||
				  !strcmp(name, "recompilation") || !strcmp(name, "short_processes") ||
				  !strcmp(name, "process_transfer") || !strcmp(name, "memory_leak") ||
				  !strcmp(name, "gpu_slowed") || !strcmp(name, "openmp_imbalance") ||
				  !strcmp(name, "small_mpi_io") || !strcmp(name, "out_of_memory") ||
				  !strcmp(name, "died_first") || !strcmp(name, "collective");

		assert_verdict(name, lacks_data ? VERDICT_UNCHECKED : VERDICT_CLEAN);
	}
}

Test(rule, copies_and_memsets_by_nsys_thresholds)
{
	work(f_copy_async, 1 * MS, 50 * US, tf_arg(TF_ARG_COPY, 1, 4096), PAGED_IN, 1 * MS + 10 * US, 20 * US, 4096);
	work(f_copy_async, 2 * MS, 50 * US, tf_arg(TF_ARG_COPY, 1, 4096), PINNED_IN, 2 * MS + 10 * US, 20 * US, 4096);
	/* small */
	work(f_copy, 3 * MS, 50 * US, tf_arg(TF_ARG_COPY, 1, 64000), PAGED_IN, 3 * MS + 10 * US, 20 * US, 64000);
	work(f_copy, 4 * MS, 50 * US, tf_arg(TF_ARG_COPY, 1, 64001), PAGED_IN, 4 * MS + 10 * US, 30 * US, 64001);
	work(f_copy, 5 * MS, 50 * US, tf_arg(TF_ARG_COPY, 2, 4), PAGED_OUT, 5 * MS + 10 * US, 40 * US, 4);
	work(f_set, 6 * MS, 50 * US, tf_arg(TF_ARG_COPY, 63, 4096), HOST_SET, 6 * MS + 10 * US, 7 * US, 4096);
	call(f_wait, 7 * MS, 123 * US, 0);
	open_model(10 * MS);
	assert_verdict("cuda_memcpy_async", VERDICT_FOUND);
	cr_expect_eq(number("cuda_memcpy_async", "Start (ns)", 0), 1 * MS + 10 * US);
	assert_verdict("cuda_memcpy_sync", VERDICT_FOUND);
	cr_expect_eq(number("cuda_memcpy_sync", "Duration (ns)", 0), 40 * US, "the longest comes first");
	cr_expect_eq(number("cuda_memcpy_sync", "Duration (ns)", 1), 30 * US);
	cr_expect_eq(number("cuda_memset_sync", "Duration (ns)", 0), 7 * US);
	cr_expect_eq(number("cuda_api_sync", "Duration (ns)", 0), 123 * US);
}

Test(rule, gaps_over_half_a_second)
{
	kernel(0, 5 * US, 10 * US, 100 * US);
	kernel(1000 * MS, 5 * US, 1000 * MS + 10 * US, 100 * US);
	kernel(1400 * MS, 5 * US, 1400 * MS + 10 * US, 100 * US);
	open_model(2000 * MS);
	assert_verdict("gpu_gaps", VERDICT_FOUND);
	cr_expect_eq(number("gpu_gaps", "Duration (ns)", 0), 1000 * MS - 100 * US);
	cr_expect_eq(number("gpu_gaps", "Start (ns)", 0), 110 * US);
	assert_verdict("gpu_time_util", VERDICT_FOUND);
	cr_expect_eq(number("gpu_time_util", "Duration (ns)", 0), 1400 * MS + 100 * US, "neighbours are one line");
}

Test(rule, a_graph_as_a_whole_is_work)
{
	kernel(0, 5 * US, 10 * US, 100 * US);
	work(f_launch, 10 * US, 5 * US, tf_arg(TF_ARG_LAUNCH, 0, 1), GRAPH, 110 * US, 1000 * MS, 0);
	kernel(30 * US, 5 * US, 1000 * MS + 110 * US, 100 * US);
	open_model(1000 * MS + 300 * US);
	for (size_t i = 0; i < 3; i++)
		assert_verdict(((const char *[]){"gpu_gaps", "gpu_time_util", "gpu_idle"})[i], VERDICT_CLEAN);
}

/* Each step is a read() of 3 ms, a launch, and a wait for its kernel of 1 ms. */
static void input_steps(uint64_t steps)
{
	writer_text(&host, TF_BLOB_STRING, 1, "step");
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t at = i * 5 * MS;

		writer_event(&host, TF_PUSH, 0, BEGIN + at, 1);
		call(f_read, at + 10 * US, 3 * MS, 0);
		kernel(at + 3100 * US, 10 * US, at + 3110 * US, MS);
		call(f_wait, at + 3200 * US, MS, 0);
		writer_event(&host, TF_POP, 0, BEGIN + at + 4900 * US, 0);
	}
}

/* Steps that wait 3 ms for another thread or process, and then launch a kernel. */
static void waiting_steps(uint64_t steps, uint16_t function)
{
	for (uint64_t i = 0; i < steps; i++) {
		call(function, i * 5 * MS + 10 * US, 3 * MS, 0);
		kernel(i * 5 * MS + 3100 * US, 10 * US, i * 5 * MS + 3110 * US, MS);
		call(f_wait, i * 5 * MS + 3200 * US, MS, 0);
	}
}

static void other_thread(uint64_t steps, uint16_t function)
{
	struct writer_thread t;

	writer_thread(&w, &t, 12, "loader", 16 * TF_PAGE);
	for (uint64_t i = 0; i < steps; i++)
		writer_call(&t, function, BEGIN + i * 5 * MS + 3 * MS, 2 * MS, NULL, 0);
}

Test(rule, waits_for_a_thread_that_reads_are_for_input)
{
	waiting_steps(10, f_futex);
	other_thread(10, f_read);
	open_model(60 * MS);
	assert_verdict("input_bound", VERDICT_FOUND);
}

Test(rule, waits_for_a_thread_that_does_not_read_are_not)
{
	waiting_steps(10, f_futex);
	other_thread(10, f_futex);
	open_model(60 * MS);
	assert_verdict("input_bound", VERDICT_CLEAN);
}

Test(rule, memory_and_random_numbers_are_no_input)
{
	waiting_steps(10, f_mmap);
	other_thread(10, f_read);
	open_model(60 * MS);
	assert_verdict("input_bound", VERDICT_CLEAN);
}

static void assert_sums_are_whole(void)
{
	const struct gaps *g = rules_gaps(&rules);

	cr_assert_gt(g->device_count, 0);
	for (size_t k = 0; k < g->device_count; k++) {
		uint64_t idle = 0;

		for (size_t i = 0; i < g->sum_count; i++)
			if (g->sums[i].device == g->devices[k].device && g->sums[i].process == g->devices[k].process)
				idle += g->sums[i].total_ns;
		cr_expect_eq(idle + g->devices[k].busy_ns, g->devices[k].wall_ns);
	}
}

Test(rule, steps_that_wait_for_input)
{
	input_steps(10);
	open_model(60 * MS);
	assert_verdict("input_bound", VERDICT_FOUND);
	cr_expect_eq(number("input_bound", "Steps", 0), 10);
	assert_verdict("gpu_idle", VERDICT_FOUND);
	assert_verdict("launch_bound", VERDICT_CLEAN);
	assert_sums_are_whole();
}

Test(rule, causes_add_up_across_devices_stretches_and_overlaps)
{
	enum { DEVICES = 100, FIRST = GRAPH + 1 };
	uint64_t seed = 7;

	for (uint32_t i = 0; i < DEVICES; i++) {
		struct tf_device_operation on = {
			.kind = TF_DEVICE_KERNEL, .kernel = 1, .device = i, .context = i + 1, .stream = 7};

		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, FIRST + i, &on, sizeof(on));
	}
	for (uint64_t at = MS; at < 400 * MS;) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		work(f_launch, at, 3 * US, tf_arg(TF_ARG_LAUNCH, 0, 1), FIRST + (uint32_t)(seed >> 57) % DEVICES,
		     at + (seed >> 40) % (300 * US), (seed >> 50) % (900 * US), 0);
		at += 10 * US + (seed >> 33) % (400 * US);
		if (seed >> 62 == 1)
			call(f_read, at, 50 * US, 0);
		at += 60 * US;
	}
	context.records_held = 100;
	open_model(410 * MS);
	assert_sums_are_whole();
	cr_assert_eq(rules_gaps(&rules)->device_count, DEVICES);
	cr_assert_eq(rules_gaps(&rules)->left_out, 0);
}

static uint64_t random_state;

static uint64_t below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % limit;
}

/* Overlapping and late operations on two devices; nested calls; intervals in which another tool uses CUPTI. */
static void random_events(void)
{
	for (uint64_t at = MS; at < 50 * MS; at += 10 * US + below(300 * US)) {
		struct tf_device_gap g = {.ticks = BEGIN + below(60 * MS), .is_end = (uint32_t)below(2)};
		uint64_t start = below(20) ? at + below(400 * US) : below(70 * MS);
		uint64_t length = below(3) ? below(50 * US) : below(3 * MS);

		if (!below(40))
			writer_blob(below(2) ? &host : &cupti, TF_BLOB_DEVICE_GAP, 0, &g, sizeof(g));
		if (!below(4))
			call(f_free, at, 2 * US, 0);
		if (!below(3))
			call(below(2) ? f_read : f_wait, at - below(5 * US), 4 * US + below(200 * US), 0);
		work(below(5) ? f_launch : f_copy, at, 3 * US, tf_arg(TF_ARG_LAUNCH, 0, 1),
		     below(2) ? KERNEL : OTHER_DEVICE, start, length, 0);
	}
}

Test(rule, each_ns_of_a_device_has_one_cause)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		random_state = seed;
		random_events();
		context.records_held = 20 + below(300);
		open_model(40 * MS + below(20 * MS));
		assert_sums_are_whole();
		const struct gaps *g = rules_gaps(&rules);
		for (size_t i = 0; i < g->sum_count; i++)
			cr_expect(g->sums[i].count && g->sums[i].longest_ns <= g->sums[i].total_ns, "%d", (int)seed);
		teardown();
		begin(1, 10, true);
	}
	open_model(MS);
}

static uint64_t caused(enum gap_cause cause)
{
	const struct gaps *g = rules_gaps(&rules);
	uint64_t sum = 0;

	for (size_t i = 0; i < g->sum_count; i++)
		sum += g->sums[i].cause == cause ? g->sums[i].between_ns : 0;
	return sum;
}

Test(rule, each_gap_has_the_cause_that_took_most_of_it)
{
	kernel(0, 5 * US, 10 * US, 90 * US);
	call(f_read, 110 * US, 700 * US, 0);
	call(f_free, 820 * US, 30 * US, 0);
	kernel(900 * US, 5 * US, 1000 * US, 100 * US); /* 700 of 900 us: read */
	call(f_free, 1110 * US, 500 * US, 0);
	kernel(1700 * US, 5 * US, 1800 * US, 100 * US); /* 500 of 700 us: free */
	kernel(1910 * US, 5 * US, 2900 * US, 100 * US); /* launched 990 us before */
	kernel(4000 * US, 5 * US, 4010 * US, 100 * US); /* nothing recorded for 1000 us */
	work(f_copy, 4120 * US, 400 * US, tf_arg(TF_ARG_COPY, 1, 9), PINNED_IN, 4510 * US, 5 * US, 9);
	call(f_wait, 4530 * US, 90 * US, 0);
	kernel(4620 * US, 5 * US, 4630 * US, US);
	open_model(5 * MS);
	cr_expect_eq(caused(GAP_OS), 900 * US);
	cr_expect_eq(caused(GAP_MEMORY), 700 * US);
	cr_expect_eq(caused(GAP_LAUNCH), 1000 * US + 400 * US, "%llu", (unsigned long long)caused(GAP_LAUNCH));
	cr_expect_eq(caused(GAP_HOST), 1010 * US);
	cr_expect_eq(caused(GAP_WAIT), 115 * US);
	assert_sums_are_whole();
}

/* The end of the gap is in a chunk that is read before the chunk with its begin. */
Test(rule, another_tool_had_the_source)
{
	struct tf_device_gap begin = {.ticks = BEGIN + 1000 * US}, end = {.ticks = BEGIN + 3000 * US, .is_end = 1};

	writer_blob(&host, TF_BLOB_DEVICE_GAP, 0, &end, sizeof(end));
	writer_blob(&cupti, TF_BLOB_DEVICE_GAP, 0, &begin, sizeof(begin));
	kernel(0, 5 * US, 10 * US, 990 * US);
	kernel(2900 * US, 5 * US, 3000 * US, 100 * US);
	kernel(3900 * US, 5 * US, 4100 * US, 100 * US);
	open_model(5 * MS);
	cr_expect_eq(caused(GAP_NOT_RECORDED), 2000 * US, "%llu", (unsigned long long)caused(GAP_NOT_RECORDED));
	cr_expect_eq(caused(GAP_HOST), 1000 * US);
	assert_sums_are_whole();
}

Test(rule, kernels_shorter_than_their_launch)
{
	for (uint64_t i = 0; i < 50; i++)
		kernel(i * 12 * US, 10 * US, i * 12 * US + 11 * US, 2 * US);
	open_model(MS);
	assert_verdict("launch_bound", VERDICT_FOUND);
	cr_expect_eq(number("launch_bound", "Short Kernels", 0), 50);
}

Test(rule, a_process_without_device_records_is_not_clean)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";
	struct finding f;

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	busy_device(100);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS + 30 * US);
	writer_save(&w, directory);
	writer_done(&w);
	begin(2, 20, false);
	call(f_launch, MS, 5 * US, tf_arg(TF_ARG_LAUNCH, 0, 1));
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 2 * MS);
	writer_save(&w, directory);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	for (size_t i = 0; i < rule_count; i++) {
		rule_run(&rules, &rule_list[i], &f);
		if (!is_known_end(f.rule->name) && strcmp(f.rule->name, "cuda_api_sync") &&
		    strcmp(f.rule->name, "implicit_sync") && strcmp(f.rule->name, "alloc_churn"))
			cr_expect_eq(f.verdict, VERDICT_UNCHECKED, "%s", f.rule->name);
		if (!strcmp(f.rule->name, "gpu_idle"))
			cr_expect_str_eq(f.text.data,
					 "1 of 2 processes that submitted device operations have no device records");
		finding_done(&f);
	}
	capture_remove(directory);
}

Test(rule, the_costliest_come_first)
{
	struct answer answer;
	const struct finding *worst[2];
	size_t *order;

	input_steps(10);
	work(f_copy_async, 60 * MS, 500 * US, tf_arg(TF_ARG_COPY, 1, MB), PAGED_IN, 60 * MS + 10 * US, 300 * US, MB);
	open_model(61 * MS);
	answer_briefly(rules.context, &answer);
	order = answer_order(&answer);
	for (size_t i = 0; i < 2; i++) {
		worst[i] = &answer.found[order[i]];
		cr_assert_eq(worst[i]->verdict, VERDICT_FOUND);
	}
	cr_expect_str_eq(worst[0]->rule->name, "input_bound");
	cr_expect_geq(worst[0]->cost_ns, worst[1]->cost_ns);
	free(order);
	answer_done(&answer);
}
