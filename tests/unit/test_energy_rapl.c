/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/counters/energy.h"
#include "runtime/shared/common/clock.h"

static char root[64];

static void make_root(void)
{
	clock_init();
	strcpy(root, "/tmp/pillion-rapl-XXXXXX");
	cr_assert(mkdtemp(root));
}

static void remove_root(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", root);
	cr_assert_eq(system(command), 0);
}

TestSuite(energy_rapl, .init = make_root, .fini = remove_root);

static void file(const char *domain, const char *name, const char *text)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, domain);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, domain, name);
	f = fopen(path, "w");
	cr_assert(f);
	fputs(text, f);
	fclose(f);
}

static void domain(const char *entry, const char *name, const char *counter)
{
	file(entry, "name", name);
	file(entry, "max_energy_range_uj", "262143328850\n");
	if (counter)
		file(entry, "energy_uj", counter);
}

static struct energy_meter list[8];

Test(energy_rapl, packages_and_their_parts)
{
	struct tf_energy_sample sample = {0};
	size_t denied;

	file("intel-rapl", "enabled", "1\n");
	domain("intel-rapl:0:1", "dram\n", "33\n");
	domain("intel-rapl:0", "package-0\n", "123456789012\n");
	domain("intel-rapl-mmio:0", "package-0\n", "123456789012\n");
	cr_assert_eq(energy_rapl_find(root, list, 8, &denied), 2u);
	cr_expect_eq(denied, 0u);
	cr_expect_str_eq(list[0].name, "package-0");
	cr_expect_str_eq(list[0].id, "intel-rapl:0");
	cr_expect_str_eq(list[1].name, "package-0 dram");
	cr_expect_eq(list[1].fixed.counter_range_uj, 262143328850u);
	energy_rapl_read(&list[0], &sample);
	cr_expect_eq(sample.energy_uj, 123456789012u);
	file("intel-rapl:0", "energy_uj", "123456789999\n");
	energy_rapl_read(&list[0], &sample);
	cr_expect_eq(sample.energy_uj, 123456789999u);
	cr_expect_neq(sample.ticks, 0u);
}

Test(energy_rapl, what_cannot_be_read_is_counted)
{
	size_t denied;

	domain("intel-rapl:0", "package-0\n", NULL);
	domain("intel-rapl:1", "package-1\n", "5\n");
	cr_assert_eq(energy_rapl_find(root, list, 8, &denied), 1u);
	cr_expect_eq(denied, 1u);
	cr_expect_str_eq(list[0].name, "package-1");
}

Test(energy_rapl, no_more_than_there_is_room_for)
{
	size_t denied;

	domain("intel-rapl:0", "package-0\n", "1\n");
	domain("intel-rapl:1", "package-1\n", "2\n");
	cr_expect_eq(energy_rapl_find(root, list, 1, &denied), 1u);
}

Test(energy_rapl, a_machine_without_it)
{
	size_t denied;

	cr_expect_eq(energy_rapl_find("/nonexistent", list, 8, &denied), 0u);
	cr_expect_eq(denied, 0u);
}
