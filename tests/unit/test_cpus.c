/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/cpus.h"

static char root[64];

static void make_root(void)
{
	strcpy(root, "/tmp/pillion-cpus-XXXXXX");
	cr_assert(mkdtemp(root));
}

static void remove_root(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(cpus, .init = make_root, .fini = remove_root);

static void group(const char *path)
{
	char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	cr_assert_eq(mkdir(full, 0700), 0);
}

static void group_file(const char *path, const char *text)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

static void assert_quota(const char *groups, uint64_t quota_ns, uint64_t throttled_ns)
{
	struct tf_usage_cpus c;

	cpus_quota(root, groups, &c);
	cr_assert_eq(c.quota_ns, quota_ns, "quota %llu", (unsigned long long)c.quota_ns);
	cr_assert_eq(c.throttled_ns, throttled_ns, "throttled %llu", (unsigned long long)c.throttled_ns);
}

Test(cpus, the_smallest_quota_of_the_ancestors_applies)
{
	group("/a");
	group("/a/b");
	group_file("/cpu.max", "max 100000\n");
	group_file("/a/cpu.max", "150000 100000\n");
	group_file("/a/cpu.stat", "usage_usec 7\nnr_throttled 3\nthrottled_usec 2000\n");
	group_file("/a/b/cpu.max", "400000 100000\n");
	group_file("/a/b/cpu.stat", "throttled_usec 5\n");
	assert_quota("0::/a/b\n", 1500000000, 2000000);
}

Test(cpus, without_a_limit_there_is_no_quota)
{
	group("/a");
	group_file("/a/cpu.max", "max 100000\n");
	assert_quota("0::/a\n", TF_USAGE_UNKNOWN, TF_USAGE_UNKNOWN);
	assert_quota("", TF_USAGE_UNKNOWN, TF_USAGE_UNKNOWN);
	assert_quota("no colon\n0:\n::\n", TF_USAGE_UNKNOWN, TF_USAGE_UNKNOWN);
}

Test(cpus, the_controller_of_version_1_comes_first)
{
	group("/cpu");
	group("/cpu/job");
	group_file("/cpu/cpu.cfs_quota_us", "-1\n");
	group_file("/cpu/cpu.cfs_period_us", "100000\n");
	group_file("/cpu/job/cpu.cfs_quota_us", "50000\n");
	group_file("/cpu/job/cpu.cfs_period_us", "100000\n");
	group_file("/cpu/job/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 123456\n");
	group_file("/cpu.max", "100 100000\n");
	assert_quota("5:cpuset:/\n4:cpu,cpuacct:/job\n0::/\n", 500000000, 123456);
	assert_quota("4:cpuacct,cpu:/job\n", 500000000, 123456);
	assert_quota("5:cpuset:/\n0::/job\n", 1000000, TF_USAGE_UNKNOWN);
}

/* In a container without a cgroup namespace the path is that of the host; what is mounted is the container's group. */
Test(cpus, a_path_that_does_not_exist_falls_back_to_the_root)
{
	group_file("/cpu.max", "200000 100000\n");
	group_file("/cpu.stat", "throttled_usec 1\n");
	assert_quota("0::/docker/0123\n", 2000000000, 1000);
	assert_quota("0::/../other\n", 2000000000, 1000);
}

Test(cpus, counts_the_cpus_of_the_mask)
{
	struct tf_usage_cpus all, one;
	cpu_set_t set, old;
	int first = 0;

	cr_assert_eq(sched_getaffinity(0, sizeof(old), &old), 0);
	while (!CPU_ISSET(first, &old))
		first++;
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	cpus_affinity(0, &all);
	cr_assert_eq(all.cpus, (uint32_t)CPU_COUNT(&old));
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	cpus_affinity((uint32_t)gettid(), &one);
	cr_assert_eq(one.cpus, 1);
	cr_assert(all.cpus == 1 || one.mask != all.mask);
	cr_assert_eq(sched_setaffinity(0, sizeof(old), &old), 0);
	cpus_affinity(0, &one);
	cr_assert_eq(one.mask, all.mask);
	cpus_affinity((uint32_t)1 << 30, &one);
	cr_assert_eq(one.cpus, 0);
}
