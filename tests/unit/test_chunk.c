/* SPDX-License-Identifier: Apache-2.0 */
/* Links the recorder into the test: each event that a thread or signal handler writes is in the file once, in order. */
#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "recorder.h"
#include "runtime/recorder/record/short_sample.h"

RECORDER_FUNCTIONS({"alpha", TF_GROUP_OSRT}, {"beta", TF_GROUP_OSRT});

enum { EVENTS = 100000, THREADS = 8 };

static void start(void)
{
	cr_assert(recording_begin());
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(chunk, .init = start, .fini = clean);

static void record(unsigned function, uint64_t duration)
{
	struct call e = {0};

	if (!call_begin(&e, function))
		return;
	if (call_end(&e, function, 0)) {
		e.start = e.end - duration;
		call_record(&e, function, UINT64_MAX, NULL, 0);
	}
}

static void *record_many(void *unused)
{
	(void)unused;
	for (int i = 0; i < EVENTS; i++)
		record(0, (uint64_t)i & 0xfff);
	return NULL;
}

/* ---- reading back ---- */

struct found {
	/* mistimed: the decoded time differs from the one in the argument */
	uint64_t calls[2], torn, strings, chunks, backwards, mistimed;
};

static void read_chunk(const struct tf_chunk *w, struct found *f)
{
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes);
	uint64_t now = w->base_ticks;
	bool is_torn = false; /* arguments without an event may follow */

	while (end > slot && !end[-1])
		end--;
	for (; slot < end; slot++) {
		is_torn = tf_kind(*slot) == TF_TORN || (is_torn && tf_kind(*slot) == TF_ARG);
		switch (tf_kind(*slot)) {
		case TF_TORN:
			f->torn++;
			break;
		case TF_TIME:
			now = tf_time_ticks(*slot, now);
			break;
		case TF_MARK:
			now = tf_time_after(now, tf_event_time(*slot));
			break;
		case TF_CALL: {
			uint64_t time = tf_time_after(now, tf_event_time(*slot));

			f->backwards += time + TF_TIME_BEHIND < now;
			now = time;
			f->calls[tf_event_id(*slot)]++;
			break;
		}
		case TF_ARG:
			f->mistimed +=
			    !is_torn && tf_arg_kind(*slot) == TF_ARG_VALUE && tf_arg_value(*slot) != now << 16 >> 16;
			break;
		case TF_BLOB:
			f->strings += tf_blob_kind(*slot) == TF_BLOB_STRING;
			break;
		}
	}
}

static void read_file(const char *path, struct found *f)
{
	int fd = open(path, O_RDONLY);
	const struct tf_header *h;
	struct stat st;

	cr_assert(fd >= 0 && !fstat(fd, &st));
	h = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert(h != MAP_FAILED);
	cr_assert_eq(h->magic, TF_MAGIC);
	for (uint64_t at = TF_PAGE + ((h->function_bytes + TF_PAGE - 1) & ~(TF_PAGE - 1u));
	     at < (uint64_t)st.st_size;) {
		const struct tf_chunk *w = (const struct tf_chunk *)((const char *)h + at);

		/* Space at the end of the file that no thread has taken. */
		if (!w->magic) {
			for (const char *p = (const char *)w; p < (const char *)h + st.st_size; p++)
				cr_assert(!*p);
			break;
		}
		cr_assert_eq(w->magic, TF_CHUNK_MAGIC);
		cr_assert_eq(w->nonce, h->nonce);
		cr_assert_eq(w->offset, at);
		f->chunks++;
		if (w->kind == TF_CHUNK_SLOTS || w->kind == TF_CHUNK_FIRST)
			read_chunk(w, f);
		at += w->size_bytes;
	}
	munmap((void *)h, (size_t)st.st_size);
	close(fd);
}

static void read_image(const struct tf_chunk *w, void *found)
{
	read_chunk(w, found);
}

static struct found read_back(int *ret_files)
{
	DIR *d = opendir(recorder_directory);
	struct found f = {0};
	struct dirent *entry;

	*ret_files = 0;
	cr_assert(d);
	while ((entry = readdir(d))) {
		char path[512];

		if (!strstr(entry->d_name, ".trace"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", recorder_directory, entry->d_name);
		read_file(path, &f);
		++*ret_files;
	}
	closedir(d);
	recording_each_image(read_image, &f);
	return f;
}

/* ---- facts ---- */

Test(chunk, keeps_every_event_of_many_threads)
{
	pthread_t ids[THREADS];
	struct found f;
	int files;

	cr_assert(hook_attached());
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, record_many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	f = read_back(&files);
	cr_assert_eq(files, 1);
	cr_assert_eq(f.calls[0], (uint64_t)THREADS * EVENTS);
	cr_assert_eq(f.torn, 0);
	cr_assert_eq(f.backwards, 0);
}

static volatile uint64_t handled, inside; /* inside: signals between taking space and storing */

static void handler(int signal)
{
	(void)signal;
	inside += thread_self.writing != 0;
	record(1, 1);
	handled++;
}

/* The writer arms the timer for each signal: with a periodic timer a slow machine would run nothing but the handler.
 * The moment of each signal is random, so the loop runs until enough of them have interrupted a write. */
Test(chunk, keeps_every_event_of_a_handler_that_interrupts_a_writer)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	uint64_t recorded = 0;
	struct found f;
	timer_t timer;
	int files;

	signal(SIGUSR1, handler);
	cr_assert(hook_attached());
	cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	for (unsigned i = 0; recorded < 10ull * EVENTS || inside < 20; i++) {
		struct itimerspec once = {.it_value.tv_nsec = 1 + i * 7919 % (1000 << i % 8)};
		uint64_t before = handled;

		cr_assert_eq(timer_settime(timer, 0, &once, NULL), 0);
		for (; handled == before; recorded++)
			record(0, recorded & 0xfff);
	}
	timer_delete(timer);
	f = read_back(&files);
	cr_assert_eq(f.calls[0], recorded);
	cr_assert_eq(f.calls[1], handled);
	cr_assert_eq(f.torn, 0);
	cr_assert_eq(f.backwards, 0);
}

Test(chunk, gives_a_forked_child_a_file_of_its_own)
{
	struct found f;
	int files, status;
	pid_t pid;

	record(0, 1);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 10; i++)
			record(1, 1);
		_exit(0);
	}
	cr_assert(waitpid(pid, &status, 0) == pid && status == 0);
	record(0, 1);
	f = read_back(&files);
	cr_assert_eq(files, 2);
	cr_assert_eq(f.calls[0], 2);
	cr_assert_eq(f.calls[1], 10);
}

Test(chunk, writes_a_text_once_however_many_threads_ask)
{
	uint32_t first, again;
	struct found f;
	int files;

	cr_assert(hook_attached());
	first = event_intern(TF_BLOB_STRING, "text", 4);
	again = event_intern(TF_BLOB_STRING, "text", 4);
	cr_assert_neq(first, 0);
	cr_assert_eq(first, again);
	cr_assert_neq(first, event_intern(TF_BLOB_STRING, "texT", 4));
	f = read_back(&files);
	cr_assert_eq(f.strings, 2);
}

Test(chunk, counts_what_stays_under_the_threshold)
{
	struct call e = {0};
	struct found f;
	int files;

	for (int i = 0; i < 300; i++) {
		cr_assert(call_begin(&e, 1));
		cr_assert_not(call_end(&e, 1, UINT64_MAX));
	}
	cr_assert_eq(thread_self.page->counters[1].calls, 300);
	f = read_back(&files);
	cr_assert_eq(files, 1, "so many short calls deserve a file");
	cr_assert_eq(f.calls[1], 0);
}

Test(chunk, shows_the_call_in_progress)
{
	struct call outer = {0}, inner = {0};

	cr_assert(call_begin(&outer, 0));
	cr_assert_eq(thread_self.page->current >> TF_CURRENT_SHIFT, 1);
	cr_assert(call_begin(&inner, 1));
	cr_assert_eq(thread_self.page->current >> TF_CURRENT_SHIFT, 2);
	call_end(&inner, 1, 0);
	call_end(&outer, 0, 0);
	cr_assert_eq(thread_self.page->current, 0);
}

#if defined(__x86_64__)
/* ---- at any instruction ---- */

/* Single-steps a writer: the trap handler performs the test's action after one chosen instruction. Each call chooses
 * the next instruction, until the writer has no more. */
static struct {
	long chosen, now;
	bool is_timeless; /* the written events have no time */
	void (*act)(void);
	sigjmp_buf left;
	uint64_t stepped, acted, expected[2];
} step;

/* Stepping ends with the action: the code after it may allocate a chunk with all signals blocked, where a trap would
 * kill the process. */
static void on_step(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (step.now++ != step.chosen)
		return;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
	step.acted++;
	step.act();
}

#define STEP(flags)                                                                                                    \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" flags ", (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp"    \
			 :                                                                                             \
			 :                                                                                             \
			 : "memory", "cc")
#define STEP_BEGIN() STEP("orq $0x100")
#define STEP_END() STEP("andq $~0x100")

/* Records a call with `count` arguments that contain its time. */
static inline __attribute__((always_inline)) void record_time(unsigned function, unsigned count)
{
	struct call e = {0};
	uint64_t args[3];

	if (!call_begin(&e, function) || !call_end(&e, function, 0))
		return;
	for (unsigned i = 0; i < count; i++)
		args[i] = tf_arg(TF_ARG_VALUE, 0, e.end);
	call_record(&e, function, UINT64_MAX, args, count);
}

static void write_one(void)
{
	record_time(0, 1);
}

static void write_slowly(void)
{
	record_time(0, 3);
}

static void write_instant(void)
{
	event_instant(TF_MARK, 0, 0, NULL, 0);
}

static void write_text(void)
{
	event_blob(TF_BLOB_STRING, 1, "a text of three slots", 21);
}

static void make_room(void)
{
	for (; !thread_self.chunk || thread_self.next + 64 * TF_SLOT > thread_self.limit; step.expected[1]++)
		record(1, 1);
}

static void step_through(void (*write)(void), void (*act)(void))
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	step.act = act;
	step.chosen = 0;
	do {
		make_room();
		step.now = 0;
		if (!sigsetjmp(step.left, 1)) {
			STEP_BEGIN();
			write();
			STEP_END();
		}
		step.stepped++;
	} while (step.now > step.chosen++);
	cr_assert_gt(step.stepped, 20);
}

static void step_through_all(void (*act)(void))
{
	static void (*const writers[])(void) = {write_one, write_slowly, write_instant, write_text};
	uint64_t calls = 0;

	cr_assert(hook_attached());
	memset(&step, 0, sizeof(step));
	for (unsigned i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
		step.stepped = 0;
		step.is_timeless = writers[i] == write_text;
		step_through(writers[i], act);
		calls += i < 2 ? step.stepped : 0;
	}
	step.expected[0] = calls;
}

static void assert_whole(unsigned files_wanted)
{
	struct found f;
	int files;

	f = read_back(&files);
	cr_assert_eq(files, (int)files_wanted);
	cr_expect_eq(f.calls[0], step.expected[0], "%lu, not %lu", f.calls[0], step.expected[0]);
	cr_expect_eq(f.calls[1], step.expected[1], "%lu, not %lu", f.calls[1], step.expected[1]);
	cr_expect_eq(f.torn, 0);
	cr_expect_eq(f.mistimed, 0, "%lu", f.mistimed);
	cr_expect_eq(thread_self.writing, 0);
}

static void act_record(void)
{
	record_time(1, 1);
	step.expected[1]++;
}

Test(chunk, keeps_all_of_a_handler_at_any_instruction)
{
	step_through_all(act_record);
	assert_whole(1);
}

static void act_fill(void)
{
	for (uint32_t chunks = thread_self.chunks + 1 + step.acted % 3; thread_self.chunks < chunks;)
		act_record();
}

Test(chunk, keeps_all_of_a_handler_that_takes_new_chunks_at_any_instruction)
{
	step_through_all(act_fill);
	assert_whole(1);
}

/* Longer than the low bits of a time can represent. */
static void act_wait(void)
{
	if (step.is_timeless)
		return;
	for (uint64_t until = clock_now() + TF_TIME_MASK + step.acted % 2 * 4096; clock_now() < until;)
		;
	if (step.acted % 3)
		act_record();
}

Test(chunk, tells_the_time_of_a_handler_that_takes_long_at_any_instruction)
{
	step_through_all(act_wait);
	assert_whole(1);
}

static void act_leave(void)
{
	record_time(1, 1);
	step.expected[1]++;
	siglongjmp(step.left, 1);
}

Test(chunk, goes_on_when_a_handler_leaves_it_at_any_instruction)
{
	struct found f;
	int files;

	step_through_all(act_leave);
	for (int i = 0; i < EVENTS; i++)
		act_record();
	f = read_back(&files);
	cr_expect_eq(f.calls[1], step.expected[1]);
	cr_expect_eq(f.mistimed, 0);
	cr_expect_leq(f.calls[0], step.expected[0]);
	cr_expect_leq(f.torn, 6 * step.acted);
}

/* The child continues in the handler and records there and after it; the parent records first. */
static void act_fork(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		hook_attached(); /* as the recorder's fork wrapper does */
		record_time(1, 1);
		return;
	}
	act_record();
	cr_assert(waitpid(pid, &status, 0) == pid && status == 0, "%d", status);
}

Test(chunk, goes_on_in_a_child_that_a_handler_forks_at_any_instruction)
{
	pid_t parent = getpid();
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct found f;
	int files;

	cr_assert(hook_attached());
	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	step.act = act_fork;
	do {
		make_room();
		step.now = 0;
		STEP_BEGIN();
		record_time(0, 1);
		STEP_END();
		if (getpid() != parent) {
			record_time(1, 1);
			_exit(thread_self.writing != 0);
		}
		step.stepped++;
	} while (step.now > step.chosen++);
	f = read_back(&files);
	cr_assert_eq((uint64_t)files, 1 + step.acted);
	cr_expect_eq(f.calls[1], step.expected[1] + 2 * step.acted);
	cr_expect_geq(f.calls[0], step.stepped);
	cr_expect_leq(f.calls[0], step.stepped + step.acted);
	cr_expect_eq(f.torn, 0);
	cr_expect_eq(f.mistimed, 0);
}

static void *step_in_thread(void *chosen)
{
	(void)chosen;
	make_room();
	step.now = 0;
	STEP_BEGIN();
	record_time(0, 1);
	STEP_END();
	return NULL;
}

static void act_end(void)
{
	pthread_exit(NULL);
}

Test(chunk, lets_a_thread_end_in_a_handler_at_any_instruction)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct found f;
	pthread_t id;
	int files;

	cr_assert(hook_attached());
	cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
	step.act = act_end;
	do {
		cr_assert_eq(pthread_create(&id, NULL, step_in_thread, NULL), 0);
		cr_assert_eq(pthread_join(id, NULL), 0);
		step.stepped++;
	} while (step.now > step.chosen++);
	f = read_back(&files);
	cr_expect_eq(f.calls[1], step.expected[1]);
	cr_expect_leq(f.calls[0], step.stepped);
	cr_expect_leq(f.torn, 2 * step.acted);
	cr_expect_eq(f.mistimed, 0);
}
#endif

Test(chunk, one_in_so_many_short_calls_is_chosen)
{
	struct thread t = {0};
	uint64_t call = 0;

	cr_assert(hook_attached());
	process_options.osrt_short_sampling = 10;
	for (uint64_t i = 0; i < 1000; i++) {
		short_choose(&t);
		cr_assert(t.short_left > 0);
		call += t.short_left;
		cr_assert_eq((call - 1) / 10, i, "choice %d is call %d", (int)i, (int)call);
	}
	process_options.osrt_short_sampling = 1;
	t.short_place = 0;
	for (int i = 0; i < 10; i++) {
		short_choose(&t);
		cr_assert_eq(t.short_left, 1);
	}
}
