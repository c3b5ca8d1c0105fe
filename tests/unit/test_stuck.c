/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads and processes of a look wait for each other, and which waits something outside of it can end. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "report/causes/where/place.h"

enum { PROCESSES = 3 };

static struct look_descriptor descriptors[PROCESSES][4];
static struct look_thread threads[PROCESSES][2];
static struct look_memory memories[PROCESSES][2];
static struct look_module modules[PROCESSES];
static struct look_process processes[PROCESSES];
static struct look look;
static struct where_item items[PROCESSES];
static struct where_place place;

/* Processes 10 to 12, whose threads have not begun to wait. Of the last one nothing is asked unless a test says so. */
static void begin(void)
{
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i] = (struct look_process){.head = {.pid = 10 + i, .parent_pid = 1, .handled = 1},
						     .executable = "", .sockets = "", .children = "",
						     .descriptors = descriptors[i], .memories = memories[i],
						     .modules = &modules[i], .threads = threads[i], .thread_count = 1};
		threads[i][0].head = (struct tf_where_thread){.tid = 10 + i, .state = 'S', .flags = TF_WHERE_IN_CALL};
		items[i] = (struct where_item){.look = &look, .process = &processes[i], .thread = &threads[i][0],
					       .rank = "", .since = WHERE_STILL, .wait = {.call = ""}};
	}
	look = (struct look){.has_registers = true, .processes = processes, .count = 2};
	place = (struct where_place){.looks = &look, .look_count = 1, .items = items, .count = 2};
}

TestSuite(stuck, .init = begin);

static void all_three(void)
{
	look.count = place.count = PROCESSES;
}

static void waits(uint32_t process, long call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	threads[process][0].head.call = call;
	memcpy(threads[process][0].head.arguments, (uint64_t[]){a, b, c, d}, 4 * sizeof(a));
}

static void has(uint32_t process, uint32_t number, const char *access, const char *link)
{
	struct look_process *p = &processes[process];

	p->descriptors[p->descriptor_count] = (struct look_descriptor){
		.number = number,
		.may_read = strchr(access, 'r'),
		.may_write = strchr(access, 'w'),
		.link = (char *)link,
	};
	look_read_link(&p->descriptors[p->descriptor_count++]);
}

static size_t cycles(void)
{
	where_find_stuck(&place);
	return place.cycles;
}

/* Each reads what only the other one can write. */
static void two_pipes(void)
{
	has(0, 3, "r", "pipe:[1]");
	has(1, 4, "w", "pipe:[1]");
	has(1, 3, "r", "pipe:[2]");
	has(0, 4, "w", "pipe:[2]");
	waits(0, SYS_read, 3, 0, 0, 0);
	waits(1, SYS_read, 3, 0, 0, 0);
}

Test(stuck, two_that_read_from_each_other)
{
	two_pipes();
	cr_expect_eq(cycles(), 1);
	cr_expect(items[0].cycle == 1 && items[1].cycle == 1);
	cr_expect(where_may_be_stuck(&look, &processes[0]));
}

Test(stuck, what_the_launcher_has_open_too_is_not_closed)
{
	two_pipes();
	descriptors[0][0].link = "pipe:[1] outside";
	cr_expect_eq(cycles(), 0);
}

Test(stuck, a_third_one_may_write)
{
	two_pipes();
	all_three();
	has(2, 4, "w", "pipe:[1]");
	waits(2, SYS_nanosleep, 0, 0, 0, 0);
	cr_expect_eq(cycles(), 0);
	waits(2, SYS_read, 4, 0, 0, 0);
	cr_expect_eq(cycles(), 1, "it waits for the others, too");
}

Test(stuck, a_handler_may_wake_it)
{
	two_pipes();
	processes[0].head.handled = 1 | 1u << 15;
	cr_expect_eq(cycles(), 0);
	processes[0].head.handled = 1 | 1u << 11;
	cr_expect_eq(cycles(), 1, "that of SIGSEGV does not");
	processes[0].head.handled = 1 | 1u << 2;
	cr_expect_eq(cycles(), 0);
	processes[0].code_count = 1;
	cr_expect_eq(cycles(), 1, "Python has one for SIGINT");
	processes[0].head.handled = 0;
	cr_expect_eq(cycles(), 0, "they are not known");
}

Test(stuck, what_is_not_known_is_not_closed)
{
	two_pipes();
	items[0].since = WHERE_WENT_ON;
	cr_expect_eq(cycles(), 0);
	items[0].since = WHERE_STILL;
	items[0].is_recorded = true;
	cr_expect_eq(cycles(), 0);
	items[0].is_recorded = false;
	processes[1].children = NULL;
	cr_expect_eq(cycles(), 0);
	processes[1].children = "10 11 ";
	cr_expect_eq(cycles(), 1);
	processes[1].children = "10 12 ";
	cr_expect_eq(cycles(), 0, "a child that is not in the look may have inherited the pipe");
	processes[1].children = "";
	processes[1].thread_count = 2;
	threads[1][1].head = (struct tf_where_thread){.tid = 20, .state = 'R'};
	cr_expect_eq(cycles(), 0, "another thread goes on");
	processes[1].thread_count = 1;
	processes[1].head.error = -1;
	cr_expect_eq(cycles(), 0);
	processes[1].head.error = 0;
	look.has_registers = false;
	cr_expect_eq(cycles(), 0);
}

Test(stuck, an_owner_is_waited_for)
{
	processes[0].thread_count = 2;
	threads[0][1].head = (struct tf_where_thread){.tid = 20, .state = 'S'};
	items[1].process = &processes[0];
	items[1].thread = &threads[0][1];
	items[0].wait.owner = 20;
	items[1].wait.owner = 10;
	look.count = 1;
	cr_expect_eq(cycles(), 1);
	cr_expect_eq(where_place_find(&place, &processes[0], 20), 1);
	cr_expect_eq(where_place_find(&place, &processes[0], 21), SIZE_MAX);
	items[1].wait.owner = 99;
	cr_expect_eq(cycles(), 0);
}

Test(stuck, children_and_those_who_started_them)
{
	processes[1].head.parent_pid = 10;
	processes[0].children = "11 ";
	has(1, 0, "r", "pipe:[1]");
	has(0, 5, "w", "pipe:[1]");
	waits(1, SYS_read, 0, 0, 0, 0);
	waits(0, SYS_wait4, 11, 0, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_wait4, (uint32_t)-1, 0, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_waitid, P_PID, 11, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_waitid, P_ALL, 0, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_waitid, P_PID, 77, 0, 0);
	cr_expect_eq(cycles(), 0);
	waits(0, SYS_wait4, 77, 0, 0, 0);
	cr_expect_eq(cycles(), 0);
}

Test(stuck, time_limits_end_waits)
{
	static const struct pollfd polled[] = {{3, POLLIN, 0}, {-1, POLLIN, 0}};

	two_pipes();
	memories[0][0] = (struct look_memory){0x1000, sizeof(polled), (const uint8_t *)polled};
	processes[0].memory_count = 1;
	waits(0, SYS_ppoll, 0x1000, 2, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_ppoll, 0x1000, 3, 0, 0);
	cr_expect_eq(cycles(), 0, "the third one is not known");
	waits(0, SYS_ppoll, 0x1000, 2, 0x5000, 0);
	cr_expect_eq(cycles(), 0);
#ifdef SYS_poll
	waits(0, SYS_poll, 0x1000, 2, (uint32_t)-1, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_poll, 0x1000, 2, 0, 0);
	cr_expect_eq(cycles(), 0);
#endif
}

Test(stuck, selected_and_watched_descriptors)
{
	static const uint64_t reads[16] = {1 << 3}, writes[16] = {1 << 4};

	two_pipes();
	memories[0][0] = (struct look_memory){0x1000, sizeof(reads), (const uint8_t *)reads};
	memories[0][1] = (struct look_memory){0x2000, sizeof(writes), (const uint8_t *)writes};
	processes[0].memory_count = 2;
	waits(0, SYS_pselect6, 4, 0x1000, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_pselect6, 5, 0x1000, 0x2000, 0);
	cr_expect_eq(cycles(), 1, "the other end of what it writes is the other one, too");
	waits(0, SYS_pselect6, 4, 0x3000, 0, 0);
	cr_expect_eq(cycles(), 0);
	threads[0][0].head.arguments[4] = 0x5000;
	waits(0, SYS_pselect6, 4, 0x1000, 0, 0);
	cr_expect_eq(cycles(), 0, "it has a time limit");
	has(0, 9, "r", "anon_inode:[eventpoll] tfd 3");
	waits(0, SYS_epoll_pwait, 9, 0, 0, (uint32_t)-1);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_epoll_pwait, 9, 0, 0, 5);
	cr_expect_eq(cycles(), 0);
	waits(0, SYS_epoll_pwait, 8, 0, 0, (uint32_t)-1);
	cr_expect_eq(cycles(), 0);
}

Test(stuck, a_futex_in_shared_memory)
{
	for (uint32_t i = 0; i < 2; i++) {
		processes[i].module_count = 1;
		modules[i] = (struct look_module){.start = 0x1000, .end = 0x2000, .inode = 7, .device = 1,
						  .path = "/dev/shm/x (deleted)"};
		waits(i, SYS_futex, 0x1000 + 16 * i, 0, 0, 0);
	}
	cr_expect_eq(cycles(), 1);
	modules[0].path = "/dev/shm/sem.mp-x";
	cr_expect_eq(cycles(), 1);
	modules[0].path = "/dev/shm/x";
	cr_expect_eq(cycles(), 0, "another program may map it");
	modules[0].path = "/dev/shm/x (deleted)";
	waits(0, SYS_futex, 0x1000, 0, 0, 0x5000);
	cr_expect_eq(cycles(), 0, "it has a time limit");
	waits(0, SYS_futex, 0x1000, 0, 0, 0);
	items[0].wait.is_timed = true;
	cr_expect_eq(cycles(), 0);
}

#define LOCK(waiting, kind, access, pid, file) "lock 1: " waiting kind " ADVISORY " access " " pid " " file " 0 EOF\n"

Test(stuck, locks_of_files)
{
	static const char text[] = LOCK("", "POSIX", "WRITE", "11", "08:02:5")
		LOCK("-> ", "POSIX", "WRITE", "10", "08:02:5");
	static const char other[] = LOCK("", "POSIX", "WRITE", "99", "08:02:5")
		LOCK("-> ", "POSIX", "WRITE", "10", "08:02:5");
	static const char none[] = LOCK("", "POSIX", "WRITE", "11", "08:02:6")
		LOCK("-> ", "POSIX", "WRITE", "10", "08:02:5");

	processes[0].sockets = (char *)text;
	waits(0, SYS_fcntl, 3, F_SETLKW, 0, 0);
	has(1, 3, "r", "pipe:[1]");
	has(0, 4, "w", "pipe:[1]");
	waits(1, SYS_read, 3, 0, 0, 0);
	cr_expect_eq(cycles(), 1);
	waits(0, SYS_fcntl, 3, F_SETLK, 0, 0);
	cr_expect_eq(cycles(), 0, "this one does not wait");
	waits(0, SYS_fcntl, 3, F_SETLKW, 0, 0);
	processes[0].sockets = (char *)other;
	cr_expect_eq(cycles(), 0, "its holder is not in the look");
	processes[0].sockets = (char *)none;
	cr_expect_eq(cycles(), 0, "nobody has it");
}

Test(stuck, locks_of_open_files)
{
	processes[0].sockets = LOCK("", "FLOCK", "WRITE", "11", "08:02:5")
		LOCK("-> ", "FLOCK", "WRITE", "10", "08:02:5");
	processes[1].sockets = "held 1: FLOCK ADVISORY WRITE 11 08:02:5 0 EOF\n";
	waits(0, SYS_flock, 3, 0, 0, 0);
	has(1, 3, "r", "pipe:[1]");
	has(0, 4, "w", "pipe:[1]");
	waits(1, SYS_read, 3, 0, 0, 0);
	cr_expect_eq(cycles(), 1);
	processes[1].sockets = "held 1: FLOCK ADVISORY WRITE 11 08:02:5 0 EOF outside\n";
	cr_expect_eq(cycles(), 0);
	processes[1].sockets = "held 1: FLOCK ADVISORY WRITE 11 08:02:6 0 EOF\n";
	cr_expect_eq(cycles(), 0);
}
