/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a machine, read from a tree of files in place of /proc and /sys. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/counters/counter.h"
#include "runtime/shared/format/trace_energy.h"

static char root[64];
static struct node_counter_set set;

static void make_root(void)
{
	strcpy(root, "/tmp/pillion-counter-XXXXXX");
	cr_assert(mkdtemp(root));
}

static void remove_root(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(counter_find, .init = make_root, .fini = remove_root);

static void file(const char *path, const char *text)
{
	char command[400], full[300];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p $(dirname %s)", full);
	cr_assert_eq(system(command), 0);
	f = fopen(full, "w");
	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

/* The value of a counter in its unit; -1: it does not exist, -2: its value is not known. */
static double value_of(const char *name)
{
	uint64_t values[COUNTERS];

	counter_read(&set, values);
	for (size_t i = 0; i < set.count; i++)
		if (!strcmp(set.items[i].name, name))
			return values[i] == TF_ENERGY_UNKNOWN ? -2 : (double)values[i] * set.items[i].scale;
	return -1;
}

Test(counter_find, proc_is_read_by_line_and_word)
{
	file("proc/stat", "cpu  10 20 30 40 50 60 70 80 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5 1 2\nctxt 123456\n"
			  "procs_running 7\nprocs_blocked 2\n");
	file("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\nMemAvailable:    400 kB\nCached:   50 kB\n"
			     "SwapCached: 9 kB\nDirty: 3 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
	file("proc/vmstat", "pgfaults_other 1\npgfault 99\npgmajfault 3\npswpin 0\npswpout 2\n");
	file("proc/pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=40000\nfull avg10=0 avg60=0 avg300=0 "
				  "total=0\n");
	counter_find_host(root, &set);
	cr_expect_eq(value_of("Context switches"), 123456);
	cr_expect_eq(value_of("Run queue"), 7);
	cr_expect_eq(value_of("Memory in use"), 600 * 1024);
	cr_expect_eq(value_of("Page cache"), 50 * 1024);
	cr_expect_eq(value_of("Page faults"), 99);
	cr_expect_float_eq(value_of("Pressure on CPUs"), 4, 1e-9);
	cr_expect_float_eq(value_of("CPU busy") / value_of("CPU waiting for I/O"), 270.0 / 50, 1e-9);
}

Test(counter_find, what_is_not_there_is_listed_and_not_guessed)
{
	file("proc/stat", "cpu  1 2 3 4\n");
	file("proc/meminfo", "MemTotal: 1000 kB\n");
	counter_find_host(root, &set);
	cr_expect(strstr(set.missing, "/proc/vmstat"));
	cr_expect(strstr(set.missing, "/proc/pressure/cpu"));
	cr_expect(strstr(set.missing, "/proc/pressure/io"));
	cr_expect(strstr(set.missing, "cgroup v2"));
	cr_expect_not(strstr(set.missing, "/proc/stat"));
	cr_expect_eq(value_of("Pressure on CPUs"), -1);
	cr_expect_eq(value_of("Page faults"), -1);
	cr_expect_eq(value_of("CPU busy"), -2, "an old kernel has fewer columns");
	cr_expect_eq(value_of("Memory in use"), -2, "the line to subtract is missing");
}

Test(counter_find, disks_are_those_with_a_device)
{
	file("sys/block/sda/device/model", "x\n");
	file("sys/block/sda/stat", "  1 2 300 4 5 6 700 8 9 10 11\n");
	file("sys/block/dm-0/stat", "  1 2 300 4 5 6 700 8 9 10 11\n");
	counter_find_host(root, &set);
	cr_expect_eq(value_of("Disk sda read"), 300 * 512);
	cr_expect_eq(value_of("Disk sda written"), 700 * 512);
	cr_expect_eq(value_of("Disk dm-0 read"), -1);
}

static void cgroup(const char *of_job, const char *of_step)
{
	file("proc/self/mountinfo", "30 25 0:26 / /sys rw - sysfs sysfs rw\n"
				    "31 30 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
	file("proc/self/cgroup", "1:cpu:/other\n0::/job/step\n");
	file("sys/fs/cgroup/job/memory.max", of_job);
	file("sys/fs/cgroup/job/step/memory.max", of_step);
	file("sys/fs/cgroup/job/step/memory.current", "4096\n");
	file("sys/fs/cgroup/job/step/cpu.stat", "usage_usec 2000000\nuser_usec 1\nthrottled_usec 30000\n");
	file("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
	file("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
	counter_find_host(root, &set);
}

Test(counter_find, the_lowest_limit_of_the_cgroups_above_counts)
{
	cgroup("8192\n", "max\n");
	cr_expect_eq(value_of("Cgroup memory"), 4096);
	cr_expect_eq(value_of("Cgroup memory limit"), 8192);
	cr_expect_float_eq(value_of("Cgroup CPU limit"), 1.5, 1e-9);
	cr_expect_float_eq(value_of("Cgroup CPUs in use"), 2, 1e-9);
	cr_expect_float_eq(value_of("Cgroup CPU throttled"), 3, 1e-9);
	cr_expect(strstr(set.missing, "Cgroup io.pressure"));
}

Test(counter_find, without_a_limit_there_is_no_counter)
{
	cgroup("max\n", "max\n");
	cr_expect_eq(value_of("Cgroup memory limit"), -1);
	cr_expect_not(strstr(set.missing, "memory.max"));
}

Test(counter_find, interfaces_and_infiniband_have_bytes)
{
	file("proc/net/dev", "Inter-|   Receive                                                |  Transmit\n"
			     " face |bytes    packets errs drop fifo frame compressed multicast|bytes\n"
			     "    lo: 1000 1 0 0 0 0 0 0 1000 1 0 0 0 0 0 0\n"
			     "  eth0:7777 1 1 2 0 0 0 0 8888 1 3 4 0 0 0 0\n");
	file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "1000\n");
	file("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "2000\n");
	counter_find_net(root, &set);
	cr_expect_eq(value_of("lo received"), 1000);
	cr_expect_eq(value_of("eth0 received"), 7777);
	cr_expect_eq(value_of("eth0 sent"), 8888);
	cr_expect_eq(value_of("eth0 errors and drops"), 10);
	cr_expect_eq(value_of("mlx5_0/1 received"), 4000);
	cr_expect_eq(value_of("mlx5_0/1 sent"), 8000);
	cr_expect(strstr(set.missing, "port_xmit_wait"));
}

/* A device that was removed, and one whose file has shrunk. */
Test(counter_find, a_value_that_is_gone_is_not_known)
{
	file("proc/net/dev", "  eth0: 5 1 0 0 0 0 0 0 6 1 0 0\n");
	counter_find_net(root, &set);
	file("proc/net/dev", "  eth1: 5 1 0 0 0 0 0 0 6 1 0 0\n");
	cr_expect_eq(value_of("eth0 received"), -2);
}
