/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of OpenMP and the rule openmp_imbalance, by traces of two threads of a team. */
#include <errno.h>

#include "report/base/table/emit.h"
#include "report/causes/openmp/openmp_places.h"
#include "report/tables/report.h"
#include "rule_fixture.h"

#define REGION "main (/home/u/job.py:10)\n"
enum { REGION_LINE = 10, BARRIER_LINE = 20, CRITICAL_LINE = 30 };

static uint16_t f_parallel, f_part, f_critical, f_end, f_barrier;
static struct writer_thread worker;

static void begin_team(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	f_parallel = writer_function(&w, TF_GROUP_OPENMP, "omp_parallel");
	f_part = writer_function(&w, TF_GROUP_OPENMP, "omp_part");
	f_critical = writer_function(&w, TF_GROUP_OPENMP, "omp_critical");
	f_end = writer_function(&w, TF_GROUP_OPENMP, "omp_implicit_barrier");
	f_barrier = writer_function(&w, TF_GROUP_OPENMP, "omp_barrier");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &worker, 11, "worker", 4 * TF_PAGE);
	for (uint32_t line = REGION_LINE; line <= CRITICAL_LINE; line += 10) {
		writer_python_code(&host, line, line, "/home/u/job.py", "main");
		writer_python_stack(&host, line, &line, 1);
	}
}

TestSuite(openmp, .init = begin_team, .fini = teardown);

static uint64_t at_line(uint32_t line)
{
	return tf_arg(TF_ARG_STACK, 0, line);
}

/* A region of two threads that work for these times, in us; the one that ends first waits for the other. */
static void region(uint64_t at_us, uint64_t main_us, uint64_t worker_us)
{
	uint64_t longest = main_us > worker_us ? main_us : worker_us, wait_us = 2 * longest - main_us - worker_us;
	uint64_t end = BEGIN + (at_us + longest) * US;
	uint64_t args[] = {at_line(REGION_LINE), tf_arg(TF_ARG_TEAM, 0, 2), tf_arg(TF_ARG_VALUE, 0, wait_us * US)};

	writer_construct(&host, f_part, BEGIN + (at_us + main_us) * US, main_us * US, args, 1);
	writer_construct(&worker, f_part, BEGIN + (at_us + worker_us) * US, worker_us * US, args, 1);
	if (wait_us)
		writer_call(main_us < worker_us ? &host : &worker, f_end, end, wait_us * US, args, 1);
	writer_construct(&host, f_parallel, end, longest * US, args, 3);
}

static void barrier(uint64_t at_us, uint64_t main_us, uint64_t worker_us)
{
	uint64_t arg = at_line(BARRIER_LINE);

	writer_call(&host, f_barrier, BEGIN + (at_us + main_us) * US, main_us * US, &arg, 1);
	writer_call(&worker, f_barrier, BEGIN + (at_us + worker_us) * US, worker_us * US, &arg, 1);
}

static void expect_csv(const char *name, const char *wanted)
{
	struct table table = {0};
	struct emit emit = {.format = FORMAT_CSV};
	char *text = NULL;
	size_t size;

	report_find(name)->run(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, name, "", &table);
	emit_end(&emit);
	fclose(emit.file);
	cr_expect_str_eq(text, wanted, "%s:\n%s", name, text);
	table_done(&table);
	free(text);
}

/* The process takes 100 ms. */
static void two_regions_and_barriers(void)
{
	uint64_t arg = at_line(CRITICAL_LINE);

	region(0, 20000, 8000);
	region(30000, 20000, 8000);
	barrier(60000, 100, 6000);
	barrier(70000, 100, 6000);
	writer_construct(&worker, f_critical, BEGIN + 80 * MS, 50 * US, &arg, 1);
	open_model(100 * MS);
}

Test(openmp, sums_by_construct_and_line)
{
	two_regions_and_barriers();
	expect_csv("openmp_sum",
		   "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name,Line\n"
		   "42.3,56000000,4,14000000.0,14000000.0,8000000,20000000,6928203.2,omp_part," REGION
		   "30.2,40000000,2,20000000.0,20000000.0,20000000,20000000,0.0,omp_parallel," REGION
		   "18.1,24000000,2,12000000.0,12000000.0,12000000,12000000,0.0,omp_implicit_barrier," REGION
		   "9.2,12200000,4,3050000.0,3050000.0,100000,6000000,3406366.6,omp_barrier,main (/home/u/job.py:20)\n"
		   "0.0,50000,1,50000.0,50000.0,50000,50000,0.0,omp_critical,main (/home/u/job.py:30)\n");
}

Test(openmp, waits_by_place_with_the_late_thread)
{
	two_regions_and_barriers();
	expect_csv("openmp_wait_sum",
		   "Time (%),Total Wait (ns),Lost (ns),Instances,Threads,Total Time (ns),Load Balance (%),PID,Kind,"
		   "Line,Late Thread\n"
		   "66.3,24000000,12000000,2,2,40000000,70.0,10,end of region,main (/home/u/job.py:10),main [10]\n"
		   "33.7,12200000,6100000,2,2,,,10,barrier,main (/home/u/job.py:20),main [10]\n");
}

Test(openmp, imbalance_is_found)
{
	two_regions_and_barriers();
	assert_verdict("openmp_imbalance", VERDICT_FOUND);
	cr_expect_eq(number("openmp_imbalance", "Lost (ns)", 0), 12 * MS);
	cr_expect_eq(number("openmp_imbalance", "Lost (ns)", 1), 6100 * US);
	assert_words("openmp_imbalance",
		     "2 threads of OpenMP wait 24.0 ms in all for the last one at the end of a region, "
		     "mostly for main");
}

/* The threads take turns in having more work: the wait costs as much, but none is late. */
Test(openmp, no_thread_is_late_if_it_varies)
{
	region(0, 20000, 8000);
	region(30000, 8000, 20000);
	open_model(100 * MS);
	assert_words("openmp_imbalance", "the end of a region, which varies");
}

/* In a region a thread is late that works more than a tenth longer than the mean; at a barrier one that waits less than
 * half of it. */
Test(openmp, a_thread_is_late_from_a_bound_on)
{
	static const struct {
		uint64_t main_us, worker_us; /* at work in the region, or at the barrier */
		bool is_barrier;
		uint32_t late; /* tid; 0: none */
	} cases[] = {{11000, 9000, false, 0}, {11001, 8999, false, 10}, {8999, 11001, false, 11},
		     {2500, 7500, true, 0},  {2499, 7501, true, 10},	{7501, 2499, true, 11}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct openmp_places places;

		if (i) {
			teardown();
			begin_team();
		}
		if (cases[i].is_barrier)
			barrier(0, cases[i].main_us, cases[i].worker_us);
		else
			region(0, cases[i].main_us, cases[i].worker_us);
		open_model(100 * MS);
		openmp_places_find(&context, &places);
		cr_assert_eq(places.count, 1, "case %zu", i);
		cr_expect_eq(places.items[0].late ? places.items[0].late->tid : 0, cases[i].late, "case %zu", i);
		cr_expect_eq(places.items[0].threads, 2, "case %zu", i);
		cr_expect_eq(places.items[0].lost_ns, places.items[0].wait_ns / 2, "case %zu", i);
		cr_expect_eq(places.items[0].is_barrier, cases[i].is_barrier, "case %zu", i);
		openmp_places_done(&places);
	}
}

/* How often a barrier was executed is what the thread that was there most often did; a region counts its own. */
Test(openmp, a_barrier_was_executed_as_often_as_by_the_thread_that_did_most)
{
	uint64_t arg = at_line(REGION_LINE);
	struct openmp_places places;

	region(0, 2000, 1000);
	writer_construct(&worker, f_part, BEGIN + 3 * MS, 10 * US, &arg, 1);
	barrier(10000, 100, 300);
	arg = at_line(BARRIER_LINE);
	for (uint64_t i = 0; i < 2; i++)
		writer_call(&host, f_barrier, BEGIN + (20 + i) * MS, 100 * US, &arg, 1);
	open_model(100 * MS);
	openmp_places_find(&context, &places);
	cr_assert_eq(places.count, 2);
	cr_expect_eq(places.items[0].count, 1, "of the region, of which one thread had two parts");
	cr_expect_eq(places.items[0].wait_ns, 1000 * US);
	cr_expect_eq(places.items[1].count, 3);
	cr_expect_eq(places.items[1].threads, 2);
	cr_expect_eq(places.items[1].wait_ns, 600 * US);
	cr_expect_eq(places.items[1].lost_ns, 300 * US);
	cr_expect_null(places.items[1].late, "300 us each");
	openmp_places_done(&places);
}

Test(openmp, an_even_team_is_clean)
{
	region(0, 20000, 19000);
	barrier(30000, 1000, 1100);
	open_model(100 * MS);
	assert_verdict("openmp_imbalance", VERDICT_CLEAN);
}

Test(openmp, none_is_said)
{
	static const char *const reports[] = {"openmp_sum", "openmp_wait_sum"};

	writer_done(&w);
	begin(1, 10, false);
	call(f_read, MS, 5 * US, 0);
	open_model(100 * MS);
	for (size_t i = 0; i < 2; i++) {
		struct table table = {0};

		report_find(reports[i])->run(&context, &table);
		cr_expect_not_null(table.lacks, "%s", reports[i]);
		table_done(&table);
	}
	assert_verdict("openmp_imbalance", VERDICT_UNCHECKED);
}
