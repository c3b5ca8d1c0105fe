/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/read/job/process_tree.h"

/* In the order of their starts: a shell and what it starts, on two machines. PID 20 is used twice. */
static struct process processes[] = {
	{.pid = 10, .parent_pid = 1, .start_ns = 100},
	{.pid = 20, .parent_pid = 10, .start_ns = 200},
	{.pid = 21, .parent_pid = 20, .start_ns = 300},
	{.pid = 22, .parent_pid = 10, .machine = 1, .start_ns = 400},
	{.pid = 20, .parent_pid = 21, .start_ns = 500},
	{.pid = 30, .parent_pid = 20, .start_ns = 600},
	{.pid = 31, .parent_pid = 31, .start_ns = 700},
};
static struct model model = {.processes = processes,
			     .process_count = sizeof(processes) / sizeof(*processes),
			     .origin_ns = 100};

static void found(void)
{
	process_tree_find(&model);
}

static void forgotten(void)
{
	map_done(&model.process_by_pid);
}

TestSuite(process_tree, .init = found, .fini = forgotten);

Test(process_tree, the_parent_of_a_used_pid_is_the_last_before)
{
	static const size_t parents[] = {SIZE_MAX, 0, 1, SIZE_MAX, 2, 4, SIZE_MAX};

	for (size_t i = 0; i < model.process_count; i++)
		cr_expect_eq(processes[i].parent, parents[i], "process %zu", i);
	cr_expect_eq(process_parent(&model, &processes[5]), &processes[4]);
	cr_expect_null(process_parent(&model, &processes[3]), "its parent's PID is that of another machine");
}

Test(process_tree, counts_children)
{
	static const size_t children[] = {1, 1, 1, 0, 1, 0, 0};

	for (size_t i = 0; i < model.process_count; i++)
		cr_expect_eq(processes[i].children, children[i], "process %zu", i);
}

Test(process_tree, finds_the_process_of_a_pid_at_a_time)
{
	cr_expect_eq(process_tree_at(&model, 0, 20, 401), 4);
	cr_expect_eq(process_tree_at(&model, 0, 20, 400), 1);
	cr_expect_eq(process_tree_at(&model, 0, 20, 100), SIZE_MAX);
	cr_expect_eq(process_tree_at(&model, 1, 20, 1000), SIZE_MAX);
	cr_expect_eq(process_tree_at(&model, 1, 22, 1000), 3);
}
