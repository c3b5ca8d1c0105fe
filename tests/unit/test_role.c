/* SPDX-License-Identifier: Apache-2.0 */
/* Roles made by hand: their words, their times, and which role waited for which. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/answers/roles/role.h"

static void expect_words(const struct role *r, const char *wanted)
{
	SCOPED(buffer) words = {0};

	role_words(r, &words);
	cr_expect_str_eq(buffer_string(&words), wanted);
}

Test(role, is_named_by_what_its_threads_are)
{
	expect_words(&(struct role){.label = "main", .is_program = true, .threads = 1}, "main");
	expect_words(&(struct role){.label = "gzip", .is_program = true, .threads = 3}, "the 3 processes of gzip");
	expect_words(&(struct role){.label = "other ranks", .is_program = true, .is_ranks = true, .threads = 3},
		     "the 3 other ranks");
	expect_words(&(struct role){.label = "w", .is_workers = true, .threads = 1}, "the worker");
	expect_words(&(struct role){.label = "w", .is_workers = true, .threads = 2}, "the 2 workers");
	expect_words(&(struct role){.label = "loader", .threads = 1}, "thread loader");
	expect_words(&(struct role){.label = "loader", .threads = 2}, "the 2 loader threads");
	expect_words(&(struct role){.label = "threads", .threads = 1}, "a thread");
	expect_words(&(struct role){.label = "job threads", .threads = 2}, "the 2 job threads");
}

Test(role, what_it_did_itself_is_its_life_without_waits_and_polls)
{
	struct role r = {.lifetime_ns = 1000, .cpu_ns = 600, .waits_ns = 250, .polling_ns = 100, .import_ns = 450};
	struct role_cpu cpu = role_cpu(&r);

	cr_expect_eq(role_own_ns(&r), 650);
	cr_expect_eq(cpu.polling_ns, 100);
	cr_expect_eq(cpu.import_ns, 450);
	cr_expect_eq(cpu.work_ns, 50);
	r.import_ns = 501; /* samples stand for more than the kernel accounts */
	cr_expect_eq(role_cpu(&r).import_ns, 500);
	cr_expect_eq(role_cpu(&r).work_ns, 0);
	r.waits_ns = 901;
	cr_expect_eq(role_own_ns(&r), 0);
}

Test(role, its_time_counts_in_the_run_by_how_many_threads_exist_at_once)
{
	struct role r = {.first_ns = 100, .last_ns = 200, .lifetime_ns = 400};

	cr_expect_eq(role_wall_ns(&r, 80), 20);
	r.lifetime_ns = 50;
	cr_expect_eq(role_wall_ns(&r, 80), 80);
}

Test(role, short_sleeps_of_a_loop_wait_for_something)
{
	const struct role main = {.is_main = true}, other = {0};

	cr_expect(role_call_waits(&other, BLOCKED_SLEEP, 2 * 199999999ull, 2));
	cr_expect_not(role_call_waits(&other, BLOCKED_SLEEP, 2 * 200000000ull, 2));
	cr_expect_not(role_call_waits(&other, BLOCKED_SLEEP, 1000, 1));
	cr_expect(role_call_waits(&other, BLOCKED_SOCKET, 1000, 1));
	cr_expect_not(role_call_waits(&main, BLOCKED_SOCKET, 1000, 1));
	cr_expect(role_call_waits(&main, BLOCKED_CHILD, 1000, 1));
	cr_expect_not(role_call_waits(&main, BLOCKED_FILE, 1000, 1));
}

/* A shell that waits for two programs, one after the other. */
static struct role_call waits[] = {{.kind = BLOCKED_CHILD, .ns = 1100}, {.kind = BLOCKED_PIPE, .ns = 300}};
static struct role programs[] = {
	{.label = "sh", .is_program = true, .calls = waits, .call_count = 2},
	{.label = "job", .is_program = true, .parent = 1, .lifetime_ns = 1000, .cpu_ns = 5},
	{.label = "gzip", .is_program = true, .parent = 2, .lifetime_ns = 200, .cpu_ns = 9},
};
static struct process processes[3];
static const struct roles all = {.items = programs, .count = 3};

static void begin(void)
{
	for (size_t i = 0; i < 3; i++)
		programs[i].process = &processes[i];
}

TestSuite(role_wait, .init = begin);

Test(role_wait, a_parent_waited_as_long_as_its_child_lived)
{
	const struct role *parent = NULL;

	cr_expect_eq(role_parent_wait(&all, &programs[1], &parent), &waits[0], "1100 is 10 %% more than 1000");
	cr_expect_eq(parent, &programs[0]);
	cr_expect_null(role_parent_wait(&all, &programs[0], &parent), "it has no parent");
	programs[1].lifetime_ns = 999;
	cr_expect_null(role_parent_wait(&all, &programs[1], NULL), "10.1 %%");
	programs[1].lifetime_ns = 1200;
	cr_expect_eq(role_parent_wait(&all, &programs[1], NULL), &waits[0], "8.3 %% less");
}

Test(role_wait, two_waits_of_that_length_name_no_line)
{
	waits[1].ns = 1000;
	cr_expect_null(role_parent_wait(&all, &programs[1], NULL));
	waits[1].kind = BLOCKED_FILE;
	cr_expect_eq(role_parent_wait(&all, &programs[1], NULL), &waits[0]);
	programs[1].is_workers = true;
	cr_expect_null(role_parent_wait(&all, &programs[1], NULL), "workers are told apart from programs");
}

Test(role_wait, is_for_the_descendant_that_computed_most)
{
	cr_expect_eq(role_waited_for(&all, &programs[0], &waits[0]), &programs[2]);
	cr_expect_eq(role_waited_for(&all, &programs[1], &waits[0]), &programs[2]);
	cr_expect_null(role_waited_for(&all, &programs[2], &waits[0]));
	cr_expect_null(role_waited_for(&all, &programs[0], &(struct role_call){.kind = BLOCKED_LOCK}));
	/* a pipe leads also to what was started beside it */
	cr_expect_eq(role_waited_for(&all, &programs[1], &waits[1]), &programs[2]);
	programs[2].parent = 1;
	cr_expect_eq(role_waited_for(&all, &programs[2], &waits[1]), &programs[1]);
	cr_expect_null(role_waited_for(&all, &programs[1], &waits[0]), "the end of what another one has started");
}

Test(role_wait, ranks_of_one_program_are_two_roles)
{
	struct process ranks[] = {{.rank = "0"}, {.rank = "1"}};
	struct role items[] = {{.label = "solver", .is_program = true, .processes = 1, .process = &ranks[0]},
			       {.label = "solver", .is_program = true, .processes = 1, .process = &ranks[1]}};
	struct roles two = {.items = items, .count = 2};

	cr_expect(roles_name_ranks(&two, &items[0]));
	cr_expect_str_eq(items[0].label, "rank 0");
	cr_expect_str_eq(items[1].label, "rank 1");
	cr_expect_not(items[1].is_ranks);
	cr_expect_not(roles_name_ranks(&two, &items[0]), "their names differ now");
	strcpy(items[0].label, "solver");
	strcpy(items[1].label, "solver");
	items[1].processes = 3;
	cr_expect(roles_name_ranks(&two, &items[0]));
	cr_expect_str_eq(items[1].label, "other ranks");
	cr_expect(items[1].is_ranks);
}
