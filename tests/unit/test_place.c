/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into processes that this test starts: the stacks that unwinding finds, with names and lines, and what their
 * threads wait for. */
#include <criterion/criterion.h>
#include <elf.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/causes/where/place.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/outside/process_stat.h"
#include "runtime/shared/outside/where.h"

#if defined(__x86_64__) /* the only machine whose stacks are unwound */

enum { REQUEST = 7 };

static int ends[2]; /* a pipe that nobody writes to */
static pid_t child;
static struct model model;
static struct where_place place;
static uint64_t look_ns; /* when the look is said to have been made */

static void begin(void)
{
	cr_assert_eq(pipe(ends), 0);
	look_ns = ((uint64_t)time(NULL) + 1) * 1000000000;
}

static void end(void)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	where_place_done(&place);
	model_done(&model);
}

TestSuite(place, .init = begin, .fini = end);

/* ---- what children do; nothing is in a place that a sanitizer adds to the stack ---- */

static inline __attribute__((always_inline)) void waits_inlined(void)
{
	char byte;

	syscall(SYS_read, ends[0], &byte, 1);
}

enum { WAITS_LINE = __LINE__ - 3 };

static __attribute__((noinline)) void reads(void)
{
	waits_inlined();
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

enum { READS_LINE = __LINE__ - 4 };

static __attribute__((noinline)) void reads_with_frame(void)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0))); /* needs the frame pointer */
	reads();
	__asm__ volatile("" ::: "memory");
}

enum { FRAME_LINE = __LINE__ - 4 };

static __attribute__((noinline)) void *here(void)
{
	return __builtin_return_address(0);
}

/* Its frame may have any size, so that its caller is found from the frame pointer. There are return addresses of other
 * calls in it. */
static __attribute__((noinline)) void reads_with_room(size_t room)
{
	if (room) {
		void **words = __builtin_alloca(room);

		for (size_t i = 0; i < room / sizeof(*words); i++)
			words[i] = here();
		__asm__ volatile("" : : "r"(words) : "memory");
	}
	reads();
	__asm__ volatile("" ::: "memory");
}

enum { ROOM_LINE = __LINE__ - 4 };

static void handler(int number)
{
	(void)number;
	reads();
	__asm__ volatile("" ::: "memory");
}

enum { HANDLER_LINE = __LINE__ - 4 };

static __attribute__((noinline)) void is_interrupted(void)
{
	signal(SIGUSR1, handler);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

enum { INTERRUPTED_LINE = __LINE__ - 4 };

static __attribute__((noinline)) void polls(void)
{
	struct pollfd one = {.fd = ends[0], .events = POLLIN};

	syscall(SYS_ppoll, &one, 1, NULL, NULL, 0);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void calls_with_room(void)
{
	reads_with_room(3000 + (size_t)getpid() % 2);
	__asm__ volatile("" ::: "memory");
}

enum { CALLS_LINE = __LINE__ - 4 };

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

static void *locks(void *nothing)
{
	prctl(PR_SET_NAME, "second");
	pthread_mutex_lock(&one);
	return nothing;
}

static void joins_what_waits_for_it(void)
{
	pthread_t thread;

	prctl(PR_SET_NAME, "first");
	pthread_mutex_lock(&one);
	pthread_create(&thread, NULL, locks, NULL);
	pthread_join(thread, NULL);
}

static void waits_for_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		reads();
	}
	syscall(SYS_wait4, pid, NULL, 0, NULL);
}

/* ---- what is seen of them ---- */

static bool all_wait(long call)
{
	list_each(const struct where_item, item, &place)
		if (!(item->thread->head.flags & TF_WHERE_IN_CALL) || item->thread->head.call != call)
			return false;
	return true;
}

/* A child that is blocked in the system call that the function makes, and what a look says of its threads. A look reads
 * a thread's name before its call, and the child may run in between, so that the look before found it blocked, too. */
static struct where_item *look_at_threads(void (*function)(void), long call, size_t threads)
{
	struct tf_where_begin head = {.request = REQUEST, .realtime_ns = look_ns};
	struct process_stat stat;
	bool was_blocked = false;

	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		function();
		_exit(1);
	}
	cr_assert_gt(child, 0);
	for (;;) {
		cr_assert(process_stat_read((uint32_t)child, &stat));
		where_out = (struct where_buffer){0};
		where_record(TF_WHERE_BEGIN, &head, sizeof(head), NULL, 0);
		cr_assert_eq(where_process_record((uint32_t)child, stat.start, 0, 0), 0);
		where_record(TF_WHERE_END, &head, sizeof(head), NULL, 0);
		model = (struct model){0};
		mem_append(model.wheres, model.where_count, model.where_capacity,
			   (struct where_file){.run = 1, .machine = EM_X86_64, .bytes = (uint8_t *)where_out.bytes,
					       .size = where_out.used});
		where_place_read(&place, &model, NULL, REQUEST);
		if (place.count == threads && all_wait(call)) {
			if (was_blocked)
				return place.items;
			was_blocked = true;
		}
		where_place_done(&place);
		model_done(&model);
		usleep(1000);
	}
}

static struct where_item *look_at(void (*function)(void), long call)
{
	return look_at_threads(function, call, 1);
}

/* The functions from the innermost one on, up to `last`, with the line of those of this file. */
static const char *frames_until(const struct where_item *item, const char *last)
{
	static struct buffer text;
	bool is_last = false;

	buffer_clear(&text);
	for (size_t i = 0; i < item->stack.count && !is_last; i++) {
		const struct where_frame *f = &item->stack.frames[i];

		is_last = !strcmp(f->line->function, last);
		if (!f->is_named)
			buffer_text(&text, "(no name) ");
		else if (f->line->file && !strcmp(path_name(f->line->file), "test_place.c"))
			buffer_print(&text, "%s:%u ", f->line->function, f->line->line);
		else
			buffer_print(&text, "%s ", f->line->function);
	}
	return buffer_string(&text);
}

static void expect_text(const char *text, const char *format, ...)
{
	SCOPED(buffer) wanted = {0};
	va_list list;

	va_start(list, format);
	buffer_vprint(&wanted, format, list);
	va_end(list);
	cr_expect_str_eq(text, wanted.data);
}

static void expect_complete(const struct where_item *item)
{
	cr_expect(item->stack.is_complete);
	cr_expect_str_eq(item->stack.frames[item->stack.count - 1].line->function, "_start");
}

Test(place, a_stack_has_inlined_functions_and_lines)
{
	const struct where_item *item = look_at(reads, SYS_read);

	expect_text(frames_until(item, "reads"), "syscall waits_inlined:%d reads:%d ", WAITS_LINE, READS_LINE);
	expect_complete(item);
	cr_expect_eq(where_item_line(item), &item->stack.frames[1], "libc is not the program");
	cr_expect_not(where_item_exits(item));
	cr_expect_null(where_item_last_line(item));
	cr_expect_eq(where_files_problems(place.files)->count, 0);
}

Test(place, callers_are_found_from_the_frame_pointer)
{
	const struct where_item *item = look_at(reads_with_frame, SYS_read);

	expect_text(frames_until(item, "reads_with_frame"),
		    "syscall waits_inlined:%d reads:%d reads_with_frame:%d ", WAITS_LINE, READS_LINE, FRAME_LINE);
	expect_complete(item);
}

Test(place, callers_of_a_frame_of_any_size)
{
	const struct where_item *item = look_at(calls_with_room, SYS_read);

	expect_text(frames_until(item, "calls_with_room"),
		    "syscall waits_inlined:%d reads:%d reads_with_room:%d calls_with_room:%d ", WAITS_LINE, READS_LINE,
		    ROOM_LINE, CALLS_LINE);
	expect_complete(item);
}

/* The handler returns to code of libc without a name, by which the kernel goes on with what was interrupted. */
Test(place, a_handler_is_above_what_it_interrupted)
{
	const struct where_item *item = look_at(is_interrupted, SYS_read);

	expect_text(frames_until(item, "is_interrupted"),
		    "syscall waits_inlined:%d reads:%d handler:%d (no name) syscall is_interrupted:%d ", WAITS_LINE,
		    READS_LINE, HANDLER_LINE, INTERRUPTED_LINE);
	expect_complete(item);
}

Test(place, a_changed_file_gives_no_names)
{
	const struct where_item *item;

	look_ns = 1;
	item = look_at(reads, SYS_read);
	cr_assert_eq(item->stack.count, 1);
	cr_expect_eq(strncmp(item->stack.frames[0].line->function, "0x", 2), 0);
	cr_expect_not(item->stack.is_complete);
	cr_expect_null(where_item_line(item));
	cr_assert_eq(where_files_problems(place.files)->count, 1);
	cr_expect_not_null(strstr(where_files_problems(place.files)->items[0],
				  ": changed after the look, its functions have no names"));
}

Test(place, a_poll_waits_for_its_descriptors)
{
	const struct where_item *item = look_at(polls, SYS_ppoll);

	expect_text(item->wait.text.data,
		    "waits for descriptor %d, a pipe that only this process itself has open for writing", ends[0]);
	cr_expect_str_eq(item->wait.call, "ppoll");
	cr_expect_str_eq(item->wait.kind, "pipe");
	cr_expect_not(item->wait.is_timed);
}

Test(place, two_threads_that_wait_for_each_other)
{
	const struct where_item *item = look_at_threads(joins_what_waits_for_it, SYS_futex, 2);

	cr_expect_str_eq(item[0].thread->name, "first");
	expect_text(item[0].wait.text.data, "waits for the end of a thread: %u (second)", item[1].thread->head.tid);
	expect_text(item[1].wait.text.data, "waits for the mutex 0x%llx, held by thread %d (first)",
		    (unsigned long long)(uintptr_t)&one, child);
	cr_expect_str_eq(item[1].wait.kind, "mutex");
	cr_expect_eq(place.cycles, 1);
	cr_expect(item[0].cycle == 1 && item[1].cycle == 1);
	cr_expect_not(where_cycle_is_process(&place, 1), "the owners are known");
	cr_expect_not(where_cycle_is_proved(&place, 1), "they may have gone on after the look");
	cr_expect_eq(where_place_find(&place, item[1].process, item[1].thread->head.tid), 1);
	cr_expect_eq(where_place_find(&place, item[1].process, 1), SIZE_MAX);
}

Test(place, a_wait_for_a_child_that_was_not_looked_at)
{
	const struct where_item *item = look_at(waits_for_a_child, SYS_wait4);

	expect_text(item->wait.text.data, "waits for the end of its child PID %u",
		    (unsigned)item->thread->head.arguments[0]);
	cr_expect_str_eq(item->wait.kind, "child process");
	expect_text(item->process->children, "%u ", (unsigned)item->thread->head.arguments[0]);
	cr_expect_eq(place.cycles, 0);
}

/* ---- a process whose main thread has ended ---- */

static void *reads_in_a_thread(void *unused)
{
	reads();
	return unused;
}

static void ends_before_its_thread(void)
{
	pthread_t thread;

	flock(memfd_create("locked", 0), LOCK_EX);
	pthread_create(&thread, NULL, reads_in_a_thread, NULL);
	pthread_exit(NULL);
}

static void main_thread_ends(void)
{
	struct process_stat stat = {0};
	char path[32], text[1024];

	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ends_before_its_thread();
	}
	cr_assert_gt(child, 0);
	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	while (stat.state != 'Z') {
		usleep(1000);
		cr_assert_gt(sys_read_file(path, text, sizeof(text)), 0);
		cr_assert(process_stat_parse(text, &stat));
	}
	cr_expect_eq(stat.resident_pages, 0, "that is what the kernel says");
}

Test(place, a_process_whose_main_thread_has_ended_has_memory)
{
	struct process_stat stat;

	main_thread_ends();
	cr_assert(process_stat_read((uint32_t)child, &stat));
	cr_expect_eq(stat.state, 'S');
	cr_expect_gt(stat.resident_pages, 0);
	cr_expect_neq(stat.reader, (uint32_t)child);
	cr_assert(process_stat_read((uint32_t)getpid(), &stat));
	cr_expect_eq(stat.reader, (uint32_t)getpid(), "no other thread is looked for");
}

Test(place, a_process_whose_main_thread_has_ended_has_its_locks)
{
	struct process_stat stat;
	char wanted[64];

	main_thread_ends();
	cr_assert(process_stat_read((uint32_t)child, &stat));
	where_process_record((uint32_t)child, stat.start, 0, 0);
	snprintf(wanted, sizeof(wanted), "held 1: FLOCK  ADVISORY  WRITE %d ", child);
	cr_expect_not_null(memmem(where_out.bytes, where_out.used, wanted, strlen(wanted)), "%s", wanted);
}

#endif
