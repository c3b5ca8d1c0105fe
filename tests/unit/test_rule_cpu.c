/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "rule_fixture.h"

TestSuite(rule_cpu, .init = setup, .fini = teardown);

/* Threads that use all cores for two seconds, with a sample every 10 ms. */
static void load_cores(long threads, long cores)
{
	struct writer_thread t;

	for (long i = 0; i < threads; i++) {
		writer_thread(&w, &t, 100 + (uint32_t)i, "busy", 64 * TF_PAGE);
		for (uint64_t at = 10 * MS; at < 2000 * MS; at += 10 * MS)
			writer_event(&t, TF_SAMPLE, 0, BEGIN + at, (uint64_t)(10000 * cores / threads));
	}
	open_model(2100 * MS);
	model.machines[0].is_this = true;
}

Test(rule_cpu, more_threads_than_cores)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	load_cores(cores + 3, cores);
	assert_verdict("cpu_oversubscribed", VERDICT_FOUND);
	cr_expect_eq(number("cpu_oversubscribed", "Threads", 0), (uint64_t)cores + 3);
	model.machines[0].is_this = false;
	assert_verdict("cpu_oversubscribed", VERDICT_UNCHECKED);
}

Test(rule_cpu, as_many_threads_as_cores)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	load_cores(cores, cores);
	assert_verdict("cpu_oversubscribed", VERDICT_CLEAN);
}
