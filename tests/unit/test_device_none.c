/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on device records say whether there is nothing, or no record of what was launched and copied. */
#include "reported.h"
#include "rule_fixture.h"

#define NO_RECORDS                                                                                                \
	"no device records; cuda_api_sum and cuda_launch_sum show the host's calls, and ledger states the reason\n"
#define HEAD "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"

static void begin_none(void)
{
	begin(1, 10, false);
}

TestSuite(device_none, .init = begin_none, .fini = teardown);

static void expect(const char *sums)
{
	open_model(10 * MS);
	EXPECT_REPORT(&context, "cuda_gpu_kern_sum", sums);
}

Test(device_none, of_launches_without_records)
{
	call(f_launch, MS, US, tf_arg(TF_ARG_LAUNCH, 0, 1));
	expect(NO_RECORDS);
}

Test(device_none, of_copies_without_records)
{
	call(f_copy, MS, US, tf_arg(TF_ARG_COPY, 1, 64));
	expect(NO_RECORDS);
}

Test(device_none, nothing_was_launched)
{
	call(f_read, MS, US, 0);
	call(f_malloc, 2 * MS, US, 0);
	expect(HEAD);
}

Test(device_none, records_of_something_else)
{
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	work(f_copy, MS, 10 * US, tf_arg(TF_ARG_COPY, 1, 64), PAGED_IN, MS + 2 * US, 5 * US, 64);
	expect(HEAD);
	EXPECT_REPORT(&context, "cuda_gpu_mem_time_sum",
		      "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
		      "100.0,5000,1,5000.0,5000.0,5000,5000,0.0,[CUDA memcpy HtoD]\n");
}
