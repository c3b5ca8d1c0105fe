/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of power and energy, and their division over device operations. */
#include <math.h>

#include "energy_fixture.h"
#include "report/answers/rule.h"
#include "report/events/energy/energy_counter.h"
#include "report/events/energy/energy_share.h"
#include "reported.h"

CAPTURED_SUITE(energy);

/* A GPU whose counter has these values, in J, at 1000 ms and each 100 ms later. */
static void gpu(const double *joules, size_t count)
{
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	for (size_t i = 0; i < count; i++)
		file_sample(&f, 0, 1000 + 100 * i, (uint64_t)(joules[i] * 1e6), UINT32_MAX, 0);
	file_save(&f, "node1.77.energy");
}

/* ---- device operations ---- */

/* Times in ms. */
struct operation {
	double from, to;
	bool is_copy;
	double joules; /* expected */
};

static void operations_save(const struct operation *list, size_t count)
{
	const struct tf_device_operation kernel = {.kind = TF_DEVICE_KERNEL, .context = 1, .stream = 7},
					 copy = {.kind = TF_DEVICE_COPY, .copy = 1, .context = 1, .stream = 7};
	struct writer_device_record records[64];
	struct writer_thread t;
	struct writer w;

	capture_line(directory, "node1.11111111.index",
		     "clock\tticks=1\tmonotonic_ns=1\trealtime_ns=5000000001\terror_ticks=0\tclock=1\thz=1000000000");
	writer_init(&w, 1, 100, 1, 900 * MS);
	writer_thread(&w, &t, 100, "main", TF_PAGE);
	writer_blob(&t, TF_BLOB_DEVICE_OPERATION, 1, &kernel, sizeof(kernel));
	writer_blob(&t, TF_BLOB_DEVICE_OPERATION, 2, &copy, sizeof(copy));
	writer_device_source(&t, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	cr_assert_leq(count, sizeof(records) / sizeof(records[0]));
	for (size_t i = 0; i < count; i++)
		records[i] = (struct writer_device_record){.work = list[i].is_copy ? 2 : 1,
							   .correlation = (uint32_t)i + 1,
							   .start = (uint64_t)(list[i].from * 1e6),
							   .duration = (uint64_t)((list[i].to - list[i].from) * 1e6)};
	writer_device(&t, TF_DEVICE_TIME_MONOTONIC, records, count);
	writer_end(&w, TF_END_EXIT, 0, 3000 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static double joules_of[64];

static void take_joules(struct scan *s, const struct device_record *r)
{
	joules_of[r->correlation - 1] = energy_of_record(s->context, s->image, r);
}

static const struct energy_share *shares_read(void)
{
	struct scan s = {.context = &context};
	const struct energy_share *shares;
	size_t count;

	memset(joules_of, 0, sizeof(joules_of));
	shares = energy_shares(&context, &count);
	cr_assert_not_null(shares);
	cr_assert_eq(count, 1);
	device_scan(&s, take_joules, NULL);
	return shares;
}

/* Each operation has the expected energy, and together with idle time they have all of it. */
static void assert_shares(const double *joules, size_t points, const struct operation *list, size_t count, double idle)
{
	const struct energy_share *share;
	double sum = 0;

	gpu(joules, points);
	operations_save(list, count);
	read_capture();
	share = shares_read();
	for (size_t i = 0; i < count; i++) {
		cr_expect_float_eq(joules_of[i], list[i].joules, 1e-6, "operation %zu has %f J", i, joules_of[i]);
		sum += joules_of[i];
	}
	cr_expect_float_eq(share->idle, idle, 1e-6, "idle %f J", share->idle);
	cr_expect_float_eq(sum + share->idle, energy_total(share->source), 1e-6);
	cr_expect_float_eq(share->kernels + share->copies, sum, 1e-6);
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

Test(energy, kernels_at_the_same_time_divide_it)
{
	const double joules[] = {50, 60};
	const struct operation list[] = {{1000, 1050, false, 2.5}, {1000, 1050, false, 2.5}};

	assert_shares(joules, 2, list, COUNT(list), 5);
}

Test(energy, a_kernel_takes_the_power_of_each_interval)
{
	const double joules[] = {0, 10, 40};
	const struct operation list[] = {{1050, 1150, false, 5 + 15}};

	assert_shares(joules, 3, list, COUNT(list), 5 + 15);
}

Test(energy, a_copy_beside_a_kernel_takes_nothing)
{
	const double joules[] = {0, 10};
	const struct operation list[] = {{1000, 1040, false, 4}, {1010, 1030, true, 0}};

	assert_shares(joules, 2, list, COUNT(list), 6);
}

Test(energy, a_copy_alone_takes_its_time)
{
	const double joules[] = {0, 10};
	const struct operation list[] = {{1000, 1020, true, 2}, {1020, 1060, false, 4}};

	assert_shares(joules, 2, list, COUNT(list), 4);
}

Test(energy, idle_time_takes_the_power_of_idle_intervals)
{
	const double joules[] = {0, 2, 12};
	const struct operation list[] = {{1150, 1200, false, 9}};

	assert_shares(joules, 3, list, COUNT(list), 2 + 1);
}

Test(energy, no_kernel_takes_more_than_the_power_limit)
{
	const double joules[] = {0, 2, 72};
	const struct operation list[] = {{1150, 1200, false, 35}}; /* 700 W; with idle time at 20 W it would be 1380 */

	assert_shares(joules, 3, list, COUNT(list), 2 + 35);
}

Test(energy, what_ran_outside_of_the_samples_has_none)
{
	const double joules[] = {0, 10};
	const struct operation list[] = {{950, 1050, false, 5}, {2000, 2100, false, 0}};

	assert_shares(joules, 2, list, COUNT(list), 5);
	cr_expect_eq(shares_read()->outside_ns, 150 * MS);
}

/* Whatever overlaps, the parts add up. */
Test(energy, parts_add_up)
{
	struct operation list[60];
	double joules[20] = {1000}, sum = 0;
	const struct energy_share *share;

	srand(12);
	for (size_t i = 1; i < COUNT(joules); i++)
		joules[i] = joules[i - 1] + rand() % 1000 / 10.0;
	for (size_t i = 0; i < COUNT(list); i++) {
		double from = 1000 + rand() % 1800;

		list[i] = (struct operation){from, from + 1 + rand() % 90, i % 3 == 0, 0};
	}
	gpu(joules, COUNT(joules));
	operations_save(list, COUNT(list));
	read_capture();
	share = shares_read();
	for (size_t i = 0; i < COUNT(list); i++) {
		cr_expect_geq(joules_of[i], 0);
		sum += joules_of[i];
	}
	cr_expect_float_eq(sum + share->idle, joules[19] - joules[0], 1e-6);
	cr_expect_gt(share->idle, 0);
	cr_expect_gt(share->copies, 0);
}

/* ---- sources ---- */

static const struct energy_source *only_source(void)
{
	const struct energies *e;

	read_capture();
	e = energies_of(&model);
	cr_assert_eq(e->count, 1);
	return &e->items[0];
}

/* Two ranks on one machine: the second goes on where the first ends, and one reading came late. */
Test(energy, launchers_of_one_machine_continue_one_sequence)
{
	const struct energy_source *s;
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 3, 0, "GPU-1");
	file_sample(&f, 3, 1000, 10000000, UINT32_MAX, 0);
	file_sample(&f, 3, 1100, 20000000, UINT32_MAX, 0);
	file_sample(&f, 3, 1300, 40000000, UINT32_MAX, 0);
	file_save(&f, "node1.77.energy");
	file_begin(&f, 0x78);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 0, 1301, 39900000, UINT32_MAX, 0);
	file_sample(&f, 0, 1400, 50000000, UINT32_MAX, 0);
	file_save(&f, "node1.78.energy");
	s = only_source();
	cr_expect_eq(s->count, 5);
	cr_expect_float_eq(energy_total(s), 40, 1e-6);
	cr_expect_eq(energy_duration_ns(s), 400 * MS);
}

Test(energy, hosts_of_one_boot_are_one_machine)
{
	struct machine machines[] = {{.boot = "1"}, {.boot = "2"}, {.boot = "1"}, {.boot = ""}, {.boot = ""}};
	const struct model m = {.machines = machines, .machine_count = 5};

	cr_expect(energy_is_same_machine(&m, 0, 0));
	cr_expect(energy_is_same_machine(&m, 0, 2), "two containers");
	cr_expect_not(energy_is_same_machine(&m, 0, 1));
	cr_expect(energy_is_same_machine(&m, 3, 3));
	cr_expect_not(energy_is_same_machine(&m, 3, 4), "they are not known");
	cr_expect_not(energy_is_same_machine(&m, 3, 0));
}

Test(energy, a_counter_starts_again_behind_its_range)
{
	const struct energy_source *s;
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_CPU, 0, 100000000, "intel-rapl:0");
	file_sample(&f, 0, 1000, 90000000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1100, 99000000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1200, 4000000, UINT32_MAX, NOT_KNOWN);
	file_save(&f, "node1.77.energy");
	s = only_source();
	cr_expect_float_eq(energy_total(s), 14, 1e-6);
}

Test(energy, a_reading_that_came_late_is_no_new_start)
{
	const struct energy_source *s;
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_CPU, 0, 100000000, "intel-rapl:0");
	file_sample(&f, 0, 1000, 10000000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1100, 30000000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1101, 29900000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1200, 40000000, UINT32_MAX, NOT_KNOWN);
	file_save(&f, "node1.77.energy");
	s = only_source();
	cr_expect_float_eq(energy_total(s), 30, 1e-6);
}

Test(energy, without_a_counter_it_is_computed_from_power)
{
	const struct energy_source *s;
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 0, 1000, NOT_KNOWN, 100000, TF_ENERGY_POWER_CAP);
	file_sample(&f, 0, 1100, NOT_KNOWN, 300000, TF_ENERGY_IDLE);
	file_sample(&f, 0, 1400, NOT_KNOWN, 300000, NOT_KNOWN);
	file_save(&f, "node1.77.energy");
	s = only_source();
	cr_expect(!s->is_unknown);
	cr_expect_float_eq(energy_total(s), 20 + 90, 1e-6);
	cr_expect_float_eq(energy_watts(s, 1), 200, 1e-6);
	cr_expect_eq(energy_reason_ns(s, ENERGY_SLOWDOWNS), 100 * MS);
}

Test(energy, a_counter_that_was_not_read_once_counts_that_interval_too)
{
	const struct energy_source *s;
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 0, 1000, 10000000, 100000, 0);
	file_sample(&f, 0, 1100, NOT_KNOWN, 100000, 0);
	file_sample(&f, 0, 1200, 32000000, 100000, 0);
	file_save(&f, "node1.77.energy");
	s = only_source();
	cr_expect_float_eq(s->points[1].joules, 10, 1e-6);
	cr_expect_float_eq(energy_total(s), 22, 1e-6);
}

Test(energy, a_source_may_know_nothing)
{
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 0, 1000, NOT_KNOWN, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 0, 1100, NOT_KNOWN, UINT32_MAX, NOT_KNOWN);
	file_save(&f, "node1.77.energy");
	cr_expect(only_source()->is_unknown);
}

/* Its writer was killed within a record; a sample names a source that does not exist. */
Test(energy, a_damaged_file_is_read_up_to_the_damage)
{
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 9, 1000, 1000000, UINT32_MAX, 0);
	file_sample(&f, 0, 1000, 1000000, UINT32_MAX, 0);
	file_sample(&f, 0, 1100, 3000000, UINT32_MAX, 0);
	file_sample(&f, 0, 1200, 9000000, UINT32_MAX, 0);
	f.size -= 8;
	file_save(&f, "node1.77.energy");
	cr_expect_float_eq(energy_total(only_source()), 2, 1e-6);
}

Test(energy, another_file_is_a_problem)
{
	capture_file(directory, "node1.77.energy", "hello", 5);
	open_capture(&model, directory);
	cr_expect_eq(model.problems.count, 1);
}

/* ---- reports ---- */

#define SUM_HEAD                                                                                                      \
	"Host,Device,Duration (ns),Energy (J),Busy (J),Avg (W),Max (W),Limit (W),SM Clock (MHz),Max (C),"             \
	"Max Memory (MB),Slowed (%),Samples,ID,Reasons\n"
#define KERNEL_HEAD "Energy (%),Energy (J),Time (ns),Instances,Power (W),Device,Name\n"

static void file_levels(struct file *f, uint64_t ms, uint64_t uj, uint16_t mhz, uint8_t celsius, uint64_t bytes,
			uint64_t reasons)
{
	struct tf_energy_sample *last;

	file_sample(f, 0, ms, uj, UINT32_MAX, reasons);
	last = (struct tf_energy_sample *)(f->bytes + f->size - sizeof(*last));
	last->sm_mhz = mhz;
	last->celsius = celsius;
	last->memory_bytes = bytes;
}

/* 10 J in 100 ms, then 5 J in 300 ms, which is 16.7 W, and a CPU of which nothing but its energy is known. */
static void save_levels(void)
{
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_source(&f, TF_ENERGY_CPU, 1, 0, "intel-rapl:0");
	file_levels(&f, 1000, 1000000, 100, 90, 5000000, TF_ENERGY_IDLE);
	file_levels(&f, 1100, 11000000, 1000, 40, 3000000, TF_ENERGY_POWER_CAP | TF_ENERGY_IDLE);
	file_levels(&f, 1400, 16000000, 2000, 50, 2000000, NOT_KNOWN);
	file_sample(&f, 1, 1000, 7000000, UINT32_MAX, NOT_KNOWN);
	file_sample(&f, 1, 1200, 9000000, UINT32_MAX, NOT_KNOWN);
	file_save(&f, "node1.77.energy");
}

Test(energy, reports_have_means_over_time_and_maxima)
{
	const struct operation list[] = {{1000, 1050, false, 0}, {1050, 1075, true, 0}};

	save_levels();
	operations_save(list, COUNT(list));
	read_capture();
	context.symbols = symbols_new(&model, false);
	EXPECT_REPORT(&context, "energy_sum", SUM_HEAD
		      "node1,NVIDIA H200 (0),400000000,15.000000,9.583333,37.5,100,700,1750,50,3.000000,75.0,3,"
		      "GPU-1,power cap 75.0 %\n"
		      "node1,NVIDIA H200,200000000,2.000000,,10,10,700,,,,,2,intel-rapl:0,\n");
	/* 25 of the first 100 ms are idle: the kernel and the copy have 10 - 0.417 J in 75 ms. */
	EXPECT_REPORT(&context, "energy_kern_sum", KERNEL_HEAD
		      "42.6,6.388889,50000000,1,127.8,NVIDIA H200 (0),(kernel without a name)\n"
		      "36.1,5.416667,325000000,,16.7,NVIDIA H200 (0),(idle)\n"
		      "21.3,3.194444,25000000,1,127.8,NVIDIA H200 (0),[CUDA memcpy HtoD]\n");
	symbols_free(context.symbols);
}

static void expect_slowed(double ms, const char *wanted)
{
	struct rules rules = {.context = &context};
	struct finding f;

	rule_run(&rules, rule_find("gpu_slowed"), &f);
	cr_expect_str_eq(buffer_string(&f.text), wanted, "%s", buffer_string(&f.text));
	cr_expect_float_eq((double)f.cost_ns / MS, ms, 1e-6);
	finding_done(&f);
	rules_done(&rules);
}

/* A kernel runs for 200 of 400 ms. From 1100 ms on, 300 ms, the power limit lowers the clock to 1000 of 2000 MHz. */
Test(energy, a_gpu_that_is_slowed_costs_what_its_clock_lost)
{
	const struct operation list[] = {{1000, 1200, false, 0}};
	static struct file f;

	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_levels(&f, 1000, 1000000, 1500, 90, 5000000, 0); /* the last sample has the highest clock */
	file_levels(&f, 1100, 11000000, 1000, 40, 3000000, TF_ENERGY_POWER_CAP);
	file_levels(&f, 1400, 16000000, 2000, 50, 2000000, 0);
	file_save(&f, "node1.77.energy");
	operations_save(list, COUNT(list));
	read_capture();
	expect_slowed(75, "the clocks of NVIDIA H200 (0) were lowered for 75 % of the time, most by: power cap; to "
			  "1000 of 2000 MHz");
	model_done(&model);
	gpu((const double[]){0, 10, 20, 30}, 4);
	read_capture();
	expect_slowed(0, "");
}

Test(energy, reports_say_why_they_have_no_rows)
{
	static struct file f;

	operations_save(NULL, 0);
	read_capture();
	EXPECT_REPORT(&context, "energy_sum",
		      "power was not sampled: there is no GPU that NVML shows, or --energy=false; --energy=true states "
		      "in ledger what is missing\n");
	model_done(&model);
	file_begin(&f, 0x77);
	file_source(&f, TF_ENERGY_GPU, 0, 0, "GPU-1");
	file_sample(&f, 0, 1000, 1000000, UINT32_MAX, 0);
	file_save(&f, "node1.77.energy");
	read_capture();
	EXPECT_REPORT(&context, "energy_sum",
		      "the captures have no samples of power: ledger has the reason, if one is known\n");
	EXPECT_REPORT(&context, "energy_kern_sum",
		      "no device operation of a GPU whose power was sampled was recorded\n");
}

/* Of each counter, the value at the first, second and last of the points; -1: not known. */
Test(energy, counters_hold_up_to_the_next_point)
{
	static const double wanted[ENERGY_COUNTERS][3] = {
		{100, 50.0 / 3, -1}, {0, 10, 15}, {100, 1000, 2000}, {-1, -1, -1}, {0, 1, -1},
		{-1, -1, -1}, {-1, -1, -1}, {5000000, 3000000, 2000000}, {90, 40, 50},
	};
	const struct energy_source *s;

	save_levels();
	read_capture();
	s = &energies_of(&model)->items[0];
	cr_assert_eq(s->count, 3);
	for (size_t k = 0; k < ENERGY_COUNTERS; k++)
		for (size_t i = 0; i < 3; i++) {
			double value = -2;
			bool is_known = energy_counters[k].value(s, i, &value);

			cr_expect_eq(is_known, wanted[k][i] >= 0, "%s, point %zu", energy_counters[k].name, i);
			cr_expect(!is_known || fabs(value - wanted[k][i]) < 1e-9, "%s, point %zu: %f",
				  energy_counters[k].name, i, value);
		}
}
