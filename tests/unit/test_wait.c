/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of a look waits for: by its system call, its descriptors and the processes at their other ends. */
#include <criterion/criterion.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "report/causes/where/wait.h"

enum { SELF, CAT, DOG, PROCESSES };

static struct look_descriptor self_descriptors[16], cat_descriptors[2], dog_descriptors[2];
static struct look_thread threads[3];
static struct look_memory memories[4];
static struct tf_where_lock locks[4];
static struct look_process processes[PROCESSES];
static struct look look;
static struct where_stack stack;

static void begin(void)
{
	processes[SELF] = (struct look_process){
		.head = {.pid = 10}, .executable = "/bin/self", .sockets = "", .descriptors = self_descriptors,
		.threads = threads, .memories = memories, .locks = locks};
	processes[CAT] = (struct look_process){.head = {.pid = 11, .parent_pid = 10}, .executable = "/usr/bin/cat",
					       .sockets = "", .descriptors = cat_descriptors};
	processes[DOG] = (struct look_process){.head = {.pid = 12, .parent_pid = 10}, .executable = "", .sockets = "",
					       .descriptors = dog_descriptors};
	look = (struct look){.has_registers = true, .processes = processes, .count = PROCESSES};
	for (uint32_t i = 0; i < 3; i++) {
		threads[i].head = (struct tf_where_thread){.tid = 10 + i, .state = 'S'};
		snprintf(threads[i].name, sizeof(threads[i].name), "thread-%u", i);
	}
	processes[SELF].thread_count = 3;
}

TestSuite(wait, .init = begin);

static void open_one(uint32_t process, uint32_t number, const char *access, const char *link)
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

static void remember(uint64_t address, const void *bytes, size_t size)
{
	memories[processes[SELF].memory_count++] = (struct look_memory){address, size, bytes};
}

#define EXPECT_DESCRIPTOR(number, is_read, wanted)                                                    \
	do {                                                                                          \
		SCOPED(buffer) text = {0};                                                            \
                                                                                                      \
		where_describe_descriptor(&look, &processes[SELF], number, is_read, &text);           \
		cr_expect_str_eq(buffer_string(&text), wanted, "%s", buffer_string(&text));           \
	} while (0)

/* ---- descriptors ---- */

Test(wait, a_file_has_its_path)
{
	open_one(SELF, 3, "r", "/data/a b");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, /data/a b");
	EXPECT_DESCRIPTOR(4, true, "descriptor 4");
	cr_expect_str_eq(where_descriptor_kind(&processes[SELF], 3), "file");
	cr_expect_null(where_descriptor_kind(&processes[SELF], 4));
}

Test(wait, a_pipe_has_those_at_its_other_end)
{
	open_one(SELF, 3, "r", "pipe:[7]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a pipe that no process of the run has open for writing");
	open_one(SELF, 4, "w", "pipe:[7]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a pipe that only this process itself has open for writing");
	EXPECT_DESCRIPTOR(4, false, "descriptor 4, a pipe that only this process itself has open for reading");
	open_one(CAT, 0, "r", "pipe:[7]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a pipe that only this process itself has open for writing");
	EXPECT_DESCRIPTOR(4, false, "descriptor 4, a pipe that PID 11 (cat) has open for reading");
	open_one(CAT, 1, "w", "pipe:[7]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a pipe that PID 11 (cat) has open for writing");
	open_one(DOG, 1, "rw", "pipe:[7]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a pipe that PID 11 (cat), PID 12 have open for writing");
	open_one(SELF, 5, "r", "pipe:[77]");
	EXPECT_DESCRIPTOR(5, true, "descriptor 5, a pipe that no process of the run has open for writing");
	cr_expect_str_eq(where_descriptor_kind(&processes[SELF], 3), "pipe");
}

#define TCP(table, local, remote, state, inode)                                                               \
	table " 0: " local " " remote " " state " 00000000:00000000 00:00000000 00000000 0 0 " inode " 1 0\n"

Test(wait, a_connection_has_its_addresses_and_its_other_end)
{
	processes[SELF].sockets = TCP("tcp", "0100007F:0016", "00000000:0000", "0A", "500")
		TCP("tcp", "0100007F:1F90", "0200007F:C350", "01", "501") TCP("udp", "0100007F:0035", "0100007F:1F90",
		"07", "502") TCP("tcp6", "0000000000000000FFFF00000A00000A:0050",
		"00000000000000000000000001000000:0051", "01", "503")
		TCP("tcp6", "B80D0120000000000000000001000000:0050", "0000000000000000FFFF00000B00000A:0051",
		    "01", "504");
	processes[CAT].sockets = TCP("tcp", "0200007F:C350", "0100007F:1F90", "01", "600");
	for (uint32_t i = 0; i < 6; i++) {
		static const char *const links[] = {"socket:[500]", "socket:[501]", "socket:[502]", "socket:[503]",
						    "socket:[504]", "socket:[505]"};

		open_one(SELF, 5 + i, "rw", links[i]);
	}
	open_one(CAT, 1, "rw", "socket:[600]");
	EXPECT_DESCRIPTOR(5, true, "descriptor 5, a connection to the port 127.0.0.1:22");
	EXPECT_DESCRIPTOR(6, true, "descriptor 6, tcp 127.0.0.2:50000 (own address 127.0.0.1:8080), whose other end is "
				   "in PID 11 (cat)");
	EXPECT_DESCRIPTOR(7, true, "descriptor 7, udp 127.0.0.1:8080 (own address 127.0.0.1:53)");
	EXPECT_DESCRIPTOR(8, true, "descriptor 8, tcp [::1]:81 (own address 10.0.0.10:80)");
	EXPECT_DESCRIPTOR(9, true,
			  "descriptor 9, tcp 10.0.0.11:81 (own address [B80D0120000000000000000001000000]:80)");
	EXPECT_DESCRIPTOR(10, true, "descriptor 10, a socket");
	cr_expect_str_eq(where_descriptor_kind(&processes[SELF], 5), "socket");
}

Test(wait, a_unix_socket_has_its_other_end)
{
	processes[SELF].sockets = "unix 0: 00000003 00000000 00000000 0001 03 700 /run/x y\n"
				  "unix 0: 00000003 00000000 00000000 0001 03 701\npeer 701 702\npeer 703 700\n";
	processes[CAT].sockets = "peer 700 703\n";
	open_one(SELF, 3, "rw", "socket:[700]");
	open_one(SELF, 4, "rw", "socket:[701]");
	open_one(SELF, 5, "rw", "socket:[702]");
	open_one(CAT, 3, "rw", "socket:[703]");
	EXPECT_DESCRIPTOR(3, true, "descriptor 3, a unix socket /run/x y, whose other end is in PID 11 (cat)");
	EXPECT_DESCRIPTOR(4, true, "descriptor 4, a unix socket, whose other end is in this process");
}

static const char *wakers(uint32_t number, bool is_read)
{
	static char text[PROCESSES + 2];
	bool is[PROCESSES] = {false};
	size_t at = 0;

	if (!where_descriptor_wakers(&look, &processes[SELF], number, is_read, is))
		text[at++] = '?';
	for (size_t i = 0; i < PROCESSES; i++)
		if (is[i])
			text[at++] = (char)('0' + i);
	text[at] = '\0';
	return text;
}

Test(wait, wakers_have_the_other_end)
{
	processes[SELF].sockets = TCP("tcp", "0100007F:1F90", "0200007F:C350", "01", "501")
		TCP("tcp", "0100007F:0016", "00000000:0000", "0A", "502") TCP("udp", "0100007F:0035", "0100007F:1F90",
		"07", "503") "unix 0: 00000003 00000000 00000000 0001 03 700\npeer 700 703\n";
	processes[CAT].sockets = TCP("tcp", "0200007F:C350", "0100007F:1F90", "01", "600");
	open_one(SELF, 3, "r", "pipe:[7]");
	open_one(SELF, 4, "r", "pipe:[8] outside");
	open_one(SELF, 5, "rw", "socket:[501]");
	open_one(SELF, 6, "rw", "socket:[502]");
	open_one(SELF, 7, "rw", "socket:[503]");
	open_one(SELF, 8, "rw", "/data");
	open_one(SELF, 9, "rw", "socket:[700]");
	open_one(CAT, 0, "w", "pipe:[7]");
	open_one(CAT, 1, "rw", "socket:[600]");
	open_one(DOG, 0, "r", "pipe:[7]");
	open_one(DOG, 1, "r", "socket:[703]");
	cr_expect_str_eq(wakers(3, true), "1");
	cr_expect_str_eq(wakers(3, false), "02");
	cr_expect_str_eq(wakers(4, true), "?", "the launcher has it, too");
	cr_expect_str_eq(wakers(5, true), "1");
	cr_expect_str_eq(wakers(5, false), "1");
	cr_expect_str_eq(wakers(6, true), "?", "anybody may connect");
	cr_expect_str_eq(wakers(7, true), "?", "anybody may send");
	cr_expect_str_eq(wakers(8, true), "?");
	cr_expect_str_eq(wakers(9, true), "2");
	cr_expect_str_eq(wakers(10, true), "?");
}

/* The kernel may notify a process by its eventfd if it has a device or asynchronous operations. */
Test(wait, an_eventfd_may_be_of_a_device)
{
	static const struct {
		const char *link, *wakers;
	} cases[] = {{"/data", "1"},	   {"/dev/pts/3", "1"},	  {"/dev/shm/x", "1"},	  {"/dev/null", "1"},
		     {"/dev/tty", "1"},	   {"/dev/urandom", "1"}, {"/dev/nvidia0", "?"}, {"/dev/tty1", "?"},
		     {"anon_inode:[io_uring]", "?"}};
	struct look_module aio = {.path = (char *)"/[aio]"}, other = {.path = (char *)"/usr/lib/libc.so.6"};

	open_one(SELF, 3, "r", "anon_inode:[eventfd] id 12");
	open_one(SELF, 4, "r", "anon_inode:[eventfd] id 13");
	open_one(CAT, 3, "rw", "anon_inode:[eventfd] id 12");
	cr_expect_str_eq(where_descriptor_kind(&processes[SELF], 3), "notification by eventfd");
	cr_expect_str_eq(wakers(4, true), "?", "nobody has it");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		processes[CAT].descriptor_count = 1;
		open_one(CAT, 4, "rw", cases[i].link);
		cr_expect_eq(wakers(3, true)[0], cases[i].wakers[0], "%s: %s", cases[i].link, wakers(3, true));
	}
	processes[CAT].descriptor_count = 1;
	processes[CAT].modules = &other;
	processes[CAT].module_count = 1;
	cr_expect_str_eq(wakers(3, true), "1");
	processes[CAT].modules = &aio;
	cr_expect_str_eq(wakers(3, true), "?");
}

/* A file without a name is open only where it was inherited. */
Test(wait, who_has_no_known_other_end_is_told_by_nothing)
{
	processes[SELF].sockets = "unix 0: 00000003 00000000 00000000 0001 03 700\npeer 700 703\n"
				  "unix 0: 00000003 00000000 00000000 0001 03 701\n";
	open_one(SELF, 3, "rw", "socket:[700]");
	open_one(SELF, 4, "rw", "socket:[701]");
	open_one(SELF, 5, "r", "/tmp/fifo (deleted)");
	open_one(SELF, 6, "r", "/dev/pts/3 (deleted)");
	open_one(SELF, 7, "r", "deleted (deleted)");
	for (uint32_t i = 0; i < 2; i++)
		open_one(CAT, i, "rw", i ? "/dev/pts/3 (deleted)" : "/tmp/fifo (deleted)");
	open_one(DOG, 0, "rw", "deleted (deleted)");
	cr_expect_str_eq(wakers(3, true), "?", "no process of the look has it");
	cr_expect_str_eq(wakers(4, true), "?", "it is not known");
	cr_expect_str_eq(wakers(5, true), "1");
	cr_expect_str_eq(wakers(6, true), "?");
	cr_expect_str_eq(wakers(7, true), "?");
}

/* ---- calls ---- */

static struct where_wait wait_of(long call, uint64_t a, uint64_t b, uint64_t c, uint64_t d, const char *name)
{
	struct where_wait ret;

	threads[0].head.flags = TF_WHERE_IN_CALL;
	threads[0].head.call = call;
	memcpy(threads[0].head.arguments, (uint64_t[]){a, b, c, d}, 4 * sizeof(a));
	where_wait_find(&look, &processes[SELF], &threads[0], &stack, name, &ret);
	return ret;
}

/* kind: "": none. */
static void expect_wait(struct where_wait w, const char *call, const char *kind, const char *text)
{
	cr_expect_str_eq(w.call, call);
	cr_expect_str_eq(w.kind ? w.kind : "", kind, "%s", w.kind);
	cr_expect_str_eq(buffer_string(&w.text), text, "%s", buffer_string(&w.text));
	where_wait_done(&w);
}

Test(wait, calls_with_a_descriptor)
{
	open_one(SELF, 3, "rw", "/data");
	open_one(SELF, 4, "rw", "pipe:[7]");
	open_one(CAT, 4, "r", "pipe:[7]");
	expect_wait(wait_of(SYS_read, 3, 0, 0, 0, NULL), "read", "file", "waits for descriptor 3, /data");
	expect_wait(wait_of(SYS_accept4, 3, 0, 0, 0, NULL), "accept4", "file", "waits for descriptor 3, /data");
	expect_wait(wait_of(SYS_flock, 3, 0, 0, 0, NULL), "flock", "lock of a file",
		    "waits for a lock of descriptor 3, /data");
	expect_wait(wait_of(SYS_read, 4, 0, 0, 0, NULL), "read", "pipe",
		    "waits for descriptor 4, a pipe that only this process itself has open for writing");
	expect_wait(wait_of(SYS_write, 4, 0, 0, 0, NULL), "write", "pipe",
		    "waits for descriptor 4, a pipe that PID 11 (cat) has open for reading");
}

Test(wait, calls_without_a_descriptor)
{
	expect_wait(wait_of(SYS_clock_nanosleep, 0, 0, 0, 0, NULL), "clock_nanosleep", "", "sleeps");
	expect_wait(wait_of(SYS_rt_sigsuspend, 0, 0, 0, 0, NULL), "rt_sigsuspend", "", "waits for a signal");
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, NULL), "sched_yield", "", "");
	expect_wait(wait_of(99999, 0, 0, 0, 0, NULL), "", "", "");
	expect_wait(wait_of(SYS_wait4, 11, 0, 0, 0, NULL), "wait4", "child process",
		    "waits for the end of its child PID 11 (cat)");
	expect_wait(wait_of(SYS_wait4, 99, 0, 0, 0, NULL), "wait4", "child process",
		    "waits for the end of its child PID 99");
	expect_wait(wait_of(SYS_wait4, 0xffffffff, 0, 0, 0, NULL), "wait4", "child process",
		    "waits for the end of any child: PID 11 (cat), PID 12");
	expect_wait(wait_of(SYS_waitid, P_PID, 12, 0, 0, NULL), "waitid", "child process",
		    "waits for the end of its child PID 12");
	expect_wait(wait_of(SYS_waitid, P_ALL, 12, 0, 0, NULL), "waitid", "child process",
		    "waits for the end of any child: PID 11 (cat), PID 12");
}

Test(wait, calls_with_several_descriptors)
{
	static const struct pollfd polled[] = {{3, POLLIN, 0}, {-1, POLLIN, 0}, {4, POLLOUT, 0}};
	static const uint64_t reads[16] = {1 << 3, 1 << 6}, writes[16] = {1 << 4};

	open_one(SELF, 3, "r", "/a");
	open_one(SELF, 4, "rw", "pipe:[7]");
	open_one(SELF, 5, "r", "anon_inode:[eventpoll] tfd 4 tfd 3");
	remember(0x1000, polled, sizeof(polled));
	remember(0x2000, reads, sizeof(reads));
	remember(0x3000, writes, sizeof(writes));
	expect_wait(wait_of(SYS_ppoll, 0x1000, 3, 0, 0, NULL), "ppoll", "file", "waits for descriptor 3, /a; "
		    "descriptor 4, a pipe that only this process itself has open for reading");
	expect_wait(wait_of(SYS_ppoll, 0x1000, 2, 0, 0, NULL), "ppoll", "file", "waits for descriptor 3, /a");
	expect_wait(wait_of(SYS_pselect6, 71, 0x2000, 0x3000, 0, NULL), "pselect6", "file",
		    "waits for descriptor 3, /a; descriptor 70; "
		    "descriptor 4, a pipe that only this process itself has open for reading");
	expect_wait(wait_of(SYS_pselect6, 70, 0x2000, 0, 0, NULL), "pselect6", "file", "waits for descriptor 3, /a");
	expect_wait(wait_of(SYS_epoll_pwait, 5, 0, 0, 0, NULL), "epoll_pwait", "wakeup of its event loop",
		    "waits for descriptor 4, a pipe that only this process itself has open for writing; descriptor 3, "
		    "/a");
	expect_wait(wait_of(SYS_epoll_pwait, 9, 0, 0, 0, NULL), "epoll_pwait", "wakeup of its event loop", "");
}

Test(wait, the_first_four_descriptors_are_shown)
{
	static const struct pollfd polled[] = {{20, POLLIN, 0}, {21, POLLIN, 0}, {22, POLLIN, 0}, {23, POLLIN, 0},
					       {24, POLLIN, 0}};

	remember(0x1000, polled, sizeof(polled));
	expect_wait(wait_of(SYS_ppoll, 0x1000, 5, 0, 0, NULL), "ppoll", "",
		    "waits for descriptor 20; descriptor 21; descriptor 22; descriptor 23");
}

Test(wait, objects_of_system_v)
{
	static const struct {
		long call;
		const char *name, *kind, *text;
		uint64_t timeout;
		bool is_timed;
	} cases[] = {
		{SYS_semop, "semop", "semaphore", "a semaphore of System V, identifier 5", 1, false},
		{SYS_semtimedop, "semtimedop", "semaphore", "a semaphore of System V, identifier 5", 1, true},
		{SYS_semtimedop, "semtimedop", "semaphore", "a semaphore of System V, identifier 5", 0, false},
		{SYS_msgrcv, "msgrcv", "message", "a message of System V, identifier 5", 1, false},
		{SYS_msgsnd, "msgsnd", "message", "a message of System V, identifier 5", 1, false},
		{SYS_mq_timedsend, "mq_timedsend", "message queue", "descriptor 5", 0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct where_wait w = wait_of(cases[i].call, 5, 0, 0, cases[i].timeout, NULL);
		SCOPED(buffer) text = {0};

		buffer_print(&text, "waits for %s", cases[i].text);
		cr_expect_eq(w.is_timed, cases[i].is_timed, "case %zu", i);
		expect_wait(w, cases[i].name, cases[i].kind, text.data);
	}
}

/* ---- tasks ---- */

/* Of the thread of the event loop, at these lines of job.py; a task that has ended by an exception does not wait. */
Test(wait, tasks_by_where_they_wait)
{
	static const uint32_t lines_of[] = {7, 5, 7, 9, 7, 3, 7, 3, 8};
	static struct look_code codes[10];
	static uint8_t bytes[10][64];
	static struct tf_python_frame frames[9];
	static struct look_task tasks[9];
	struct code_lines lines = {0};

	for (uint32_t i = 0; i < 10; i++) {
		struct tf_python_code head = {.first_line = i, .version = 0x309, .file_bytes = 9, .name_bytes = 5};

		memcpy(bytes[i], &head, sizeof(head));
		memcpy(bytes[i] + sizeof(head), "/a/job.pystore", 14);
		codes[i] = (struct look_code){i, sizeof(head) + 14, bytes[i]};
	}
	for (size_t i = 0; i < 9; i++) {
		frames[i] = (struct tf_python_frame){lines_of[i], TF_PYTHON_ENTRY};
		tasks[i] = (struct look_task){.tid = 10, .frames = &frames[i], .count = 1};
	}
	processes[SELF].codes = codes;
	processes[SELF].code_count = 10;
	processes[SELF].tasks = tasks;
	stack = (struct where_stack){.lines = &lines};
	processes[SELF].task_count = 1;
	expect_wait(wait_of(SYS_nanosleep, 0, 0, 0, 0, NULL), "nanosleep", "",
		    "sleeps; 1 task waits at job.py:7 store");
	processes[SELF].task_count = 8;
	expect_wait(wait_of(SYS_epoll_pwait, 0, 0, 0, 0, NULL), "epoll_pwait", "wakeup of its event loop",
		    "4 tasks wait at job.py:7 store, 2 at job.py:3 store, 1 at job.py:5 store, 1 at job.py:9 store");
	processes[SELF].task_count = 9;
	expect_wait(wait_of(SYS_epoll_pwait, 0, 0, 0, 0, NULL), "epoll_pwait", "wakeup of its event loop",
		    "4 tasks wait at job.py:7 store, 2 at job.py:3 store, 1 at job.py:5 store, 1 at job.py:8 store "
		    "and others elsewhere");
	tasks[0].tid = 11;
	tasks[2].raised = (char *)"ValueError";
	processes[SELF].task_count = 3;
	expect_wait(wait_of(SYS_epoll_pwait, 0, 0, 0, 0, NULL), "epoll_pwait", "wakeup of its event loop",
		    "1 task waits at job.py:5 store");
	code_lines_done(&lines);
}

/* ---- futexes ---- */

static struct where_wait futex(uint64_t address, int operation, uint64_t timeout, const char *name)
{
	return wait_of(SYS_futex, address, (uint64_t)operation, 0, timeout, name);
}

Test(wait, a_mutex_has_its_owner)
{
	static const uint32_t held[] = {2, 0, 11}, own[] = {2, 0, 10}, gone[] = {2, 0, 77};
	struct where_wait w;

	remember(0x1000, held, sizeof(held));
	remember(0x2000, own, sizeof(own));
	remember(0x3000, gone, sizeof(gone));
	w = futex(0x1000, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, "pthread_mutex_lock");
	cr_expect_eq(w.owner, 11);
	cr_expect(w.is_within && !w.is_timed);
	cr_expect_str_eq(w.lock, "mutex 0x1000");
	expect_wait(w, "futex", "mutex", "waits for the mutex 0x1000, held by thread 11 (thread-1)");
	w = futex(0x2000, FUTEX_WAIT, 1, "__pthread_mutex_lock");
	cr_expect_eq(w.owner, 10);
	cr_expect(!w.is_within && w.is_timed);
	expect_wait(w, "futex", "mutex", "waits for the mutex 0x2000, which this thread itself holds");
	w = futex(0x3000, FUTEX_WAIT, 0, "pthread_mutex_lock");
	cr_expect_eq(w.owner, 0);
	expect_wait(w, "futex", "mutex",
		    "waits for the mutex 0x3000, held by thread 77, which is not in this process any more");
	expect_wait(futex(0x4000, FUTEX_WAIT, 0, "pthread_mutex_lock"), "futex", "mutex",
		    "waits for the mutex 0x4000, owner unknown");
	w = futex(0x1008, FUTEX_LOCK_PI, 0, "unknown");
	cr_expect_eq(w.owner, 11, "its word is the owner");
	where_wait_done(&w);
}

Test(wait, a_futex_is_told_by_the_function)
{
	/* pthread_rwlock_t: the writer is at 24 */
	static const uint32_t lock[] = {0, 0, 1, 1, 0, 0, 12}, joined[] = {11}, other[] = {77};
	static const struct code_line frame = {.function = "__new_sem_wait_slow64"};
	struct where_frame frames[] = {{.line = &frame}};
	struct where_wait w;

	remember(0x1000, lock, sizeof(lock));
	remember(0x2000, joined, sizeof(joined));
	remember(0x3000, other, sizeof(other));
	for (uint64_t field = 8; field <= 12; field += 4) {
		w = futex(0x1000 + field, FUTEX_WAIT, 0, "pthread_rwlock_rdlock");
		cr_expect_eq(w.owner, 12);
		cr_expect_str_eq(w.lock, "read-write lock 0x1000");
		expect_wait(w, "futex", "read-write lock",
			    "waits for a read-write lock, held by thread 12 (thread-2)");
	}
	w = futex(0x2000, FUTEX_WAIT, 0, "pthread_join");
	cr_expect(w.owner == 11 && w.is_within);
	expect_wait(w, "futex", "", "waits for the end of a thread: 11 (thread-1)");
	w = futex(0x3000, FUTEX_WAIT, 0, "pthread_timedjoin_np");
	cr_expect(w.owner == 0 && !w.is_within);
	expect_wait(w, "futex", "", "waits for the end of a thread");
	expect_wait(futex(0x40, FUTEX_WAIT, 0, "pthread_cond_wait"), "futex", "condition variable",
		    "waits for a condition variable");
	expect_wait(futex(0x40, FUTEX_WAIT, 0, "sem_wait"), "futex", "semaphore",
		    "waits for the semaphore 0x40, owner unknown");
	expect_wait(futex(0x40, FUTEX_WAIT, 0, "pthread_barrier_wait"), "futex", "barrier",
		    "waits at a barrier for other threads");
	expect_wait(futex(0x40, FUTEX_WAIT, 0, NULL), "futex", "futex", "waits for the futex 0x40, owner unknown");
	stack = (struct where_stack){.frames = frames, .count = 1};
	expect_wait(futex(0x40, FUTEX_WAIT, 0, NULL), "futex", "semaphore",
		    "waits for the semaphore 0x40, owner unknown");
}

Test(wait, a_lock_of_python_has_the_thread_in_its_with_statement)
{
	struct where_wait w;

	locks[0] = (struct tf_where_lock){.tid = 10, .semaphore = 0x1000, .object = 0x5000};
	locks[1] = (struct tf_where_lock){.tid = 12, .semaphore = 0x1000, .flags = TF_WHERE_LOCK_IS_ENTERED};
	locks[2] = (struct tf_where_lock){
		.tid = 10, .semaphore = 0x2000, .object = 0x6000, .flags = TF_WHERE_LOCK_IS_RECURSIVE, .owner = 11};
	processes[SELF].lock_count = 3;
	w = futex(0x1000, FUTEX_WAIT, 0, "sem_wait");
	cr_expect_eq(w.owner, 12);
	cr_expect_str_eq(w.lock, "threading.Lock 0x5000");
	expect_wait(w, "futex", "threading.Lock", "waits for the threading.Lock 0x5000, held by thread 12 (thread-2)");
	expect_wait(futex(0x2000, FUTEX_WAIT, 0, "sem_wait"), "futex", "threading.RLock",
		    "waits for the threading.RLock 0x6000, held by thread 11 (thread-1)");
	locks[1].flags = 0;
	cr_expect_eq(futex(0x1000, FUTEX_WAIT, 0, "sem_wait").owner, 0, "it is not in its with statement");
	locks[1] = (struct tf_where_lock){.tid = 12, .semaphore = 0x1008, .flags = TF_WHERE_LOCK_IS_ENTERED};
	cr_expect_eq(futex(0x1000, FUTEX_WAIT, 0, "sem_wait").owner, 0, "it is in that of another lock");
	locks[1] = (struct tf_where_lock){.tid = 99, .semaphore = 0x1000, .flags = TF_WHERE_LOCK_IS_ENTERED};
	cr_expect_eq(futex(0x1000, FUTEX_WAIT, 0, "sem_wait").owner, 0, "there is no such thread");
	locks[1].tid = 12;
	threads[2].head = threads[0].head;
	threads[2].head.tid = 12;
	threads[2].head.arguments[0] = 0x1000;
	expect_wait(futex(0x1000, FUTEX_WAIT, 0, "sem_wait"), "futex", "threading.Lock",
		    "waits for the threading.Lock 0x5000, owner unknown");
	locks[1].tid = 10;
	locks[1].frame = 1;
	expect_wait(futex(0x1000, FUTEX_WAIT, 0, "sem_wait"), "futex", "threading.Lock",
		    "waits for the threading.Lock 0x5000, which this thread itself holds");
	locks[1].frame = 0;
	expect_wait(futex(0x1000, FUTEX_WAIT, 0, "sem_wait"), "futex", "threading.Lock",
		    "waits for the threading.Lock 0x5000, owner unknown");
}

/* ---- states and ranks ---- */

Test(wait, a_state_comes_before_the_call)
{
	struct where_wait w = {.call = ""};

	threads[0].head.state = 'T';
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, "MPI_Recv"), "sched_yield", "", "stopped by a signal");
	threads[0].head.state = 't';
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, NULL), "sched_yield", "", "stopped by a debugger");
	threads[0].head.state = 'S';
	w = wait_of(SYS_sched_yield, 0, 0, 0, 0, "PMPI_Recv");
	cr_expect_str_eq(w.collective, "MPI_Recv");
	expect_wait(w, "sched_yield", "", "in MPI_Recv, waits for other ranks");
	threads[0].head.flags = TF_WHERE_IS_RUNNING;
	where_wait_find(&look, &processes[SELF], &threads[0], &stack, NULL, &w);
	expect_wait(w, "", "", "runs");
	look.has_registers = false;
	expect_wait(wait_of(SYS_read, 3, 0, 0, 0, NULL), "", "", "");
	w = (struct where_wait){.call = ""};
	where_wait_recorded("ncclAllReduce", &w);
	expect_wait(w, "", "", "in ncclAllReduce, waits for other ranks");
	w = (struct where_wait){.call = ""};
	where_wait_recorded("read", &w);
	expect_wait(w, "", "", "");
}

Test(wait, the_outermost_function_of_ranks_is_named)
{
	static const char file[] = "/x/torch/distributed/distributed_c10d.py";
	const struct code_line inner = {.function = "PMPI_Recv"}, outer = {.function = "MPI_Sendrecv"},
			       work = {.function = "c10d::Work::wait(std::chrono)"},
			       python = {.function = "all_reduce", .file = file};
	struct where_frame of_mpi[] = {{.line = &inner}, {.line = &outer}, {.line = &python, .is_python = true}},
			   of_torch[] = {{.line = &work}, {.line = &python, .is_python = true}};
	struct where_wait w;

	stack = (struct where_stack){.frames = of_mpi, .count = 3};
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, "read"), "sched_yield", "",
		    "in MPI_Sendrecv, waits for other ranks");
	w = wait_of(SYS_sched_yield, 0, 0, 0, 0, "MPI_Barrier");
	expect_wait(w, "sched_yield", "", "in MPI_Barrier, waits for other ranks");
	stack = (struct where_stack){.frames = of_torch, .count = 2};
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, NULL), "sched_yield", "",
		    "in all_reduce, waits for other ranks");
	stack.count = 1;
	expect_wait(wait_of(SYS_sched_yield, 0, 0, 0, 0, NULL), "sched_yield", "",
		    "in c10d::Work::wait, waits for other ranks");
}
