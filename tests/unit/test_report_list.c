/* SPDX-License-Identifier: Apache-2.0 */
/* The list of reports: by which names they are found, under which topics, and which of them a run of --mode=profile
 * has. */
#include <criterion/criterion.h>

#include "report/tables/report.h"

static const struct report *found(const char *name)
{
	const struct report *r = report_find(name);

	cr_assert_not_null(r, "%s", name);
	return r;
}

Test(report_list, reports_are_found_by_their_names_and_those_of_nsys)
{
	cr_expect_str_eq(found("osrt_sum")->name, "osrt_sum");
	cr_expect_eq(found("osrtsum"), found("osrt_sum"));
	cr_expect_null(report_find("osrt"));
	cr_expect_null(report_find(""));
	for (size_t i = 0; i < report_count; i++)
		cr_expect_eq(report_find(report_list[i].name), &report_list[i], "%s", report_list[i].name);
}

Test(report_list, sums_are_in_a_run_that_has_only_sums)
{
	const struct model sums = {.has_profile = true}, events = {0};

	cr_expect(report_is_in(found("osrt_sum"), &sums));
	cr_expect(report_is_in(found("nccl_flight_sum"), &sums), "it is of other files");
	cr_expect_not(report_is_in(found("cuda_gpu_trace"), &sums));
	for (size_t i = 0; i < report_count; i++)
		cr_expect(report_is_in(&report_list[i], &events), "%s", report_list[i].name);
}

Test(report_list, a_topic_has_the_reports_of_its_names)
{
	cr_expect_str_eq(report_topics[report_topic(found("sample_sum"))].title, "CPU samples and source lines");
	cr_expect_str_eq(report_topics[report_topic(found("cuda_api_sum"))].title, "GPU and CUDA");
	cr_expect_str_eq(report_topics[report_topic(found("mpi_sum"))].title, "MPI and OpenMP");
	cr_expect_str_eq(report_topics[report_topic(found("mem_usage_sum"))].title, "Memory of the host");
	cr_expect_str_eq(report_topics[report_topic(found("processes"))].title, "The run");
}
