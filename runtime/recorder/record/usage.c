/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads and the process: getrusage for the calling thread, /proc for others, for run delays, and for the
 * bytes that the kernel has counted. */
#include "runtime/recorder/record/usage.h"

#include <string.h>
#include <sys/resource.h>

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* Below DELAY_NS that a thread was off the CPU, reading its run delay, which takes about 5 us, would cost more than it
 * tells. FORK_NS: from the call of fork until the child records; below it, the child does not read when it was created.
 * OTHERS: other threads whose usage is read at the end of an image. */
enum { DELAY_NS = 500000, FORK_NS = 4 * DELAY_NS, OTHERS = 256 };
/* A reading of the schedule that took longer is repeated: under a tracer or without a free CPU, the thread waits at a
 * system call for longer than all else takes. */
enum { READING_NS = 200000, READINGS = 4 };
enum { RUSAGE_OF_THREAD = 1, RUSAGE_OF_PROCESS = 0, RUSAGE_OF_CHILDREN = -1 };

static uint64_t delay_ticks; /* DELAY_NS; a forked child inherits it */

/* What the kernel has accounted to a thread. */
struct schedule {
	uint64_t ticks, cpu_ns, delay_ns;
};

struct usage_dirent {
	uint64_t inode, offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

static void usage_get(int who, struct tf_usage *ret)
{
	struct rusage r;

	*ret = (struct tf_usage){.delay_ns = TF_USAGE_UNKNOWN};
	if (sys_is_silent || sys_call(SYS_getrusage, who, &r, 0, 0))
		return;
	ret->ticks = clock_now();
	ret->cpu_ns = (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000000 +
		      (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1000;
	ret->peak_kb = (uint32_t)r.ru_maxrss;
	ret->voluntary = (uint32_t)r.ru_nvcsw;
	ret->involuntary = (uint32_t)r.ru_nivcsw;
	ret->minor_faults = r.ru_minflt < UINT32_MAX ? (uint32_t)r.ru_minflt : UINT32_MAX;
	ret->major_faults = r.ru_majflt < UINT32_MAX ? (uint32_t)r.ru_majflt : UINT32_MAX;
}

static const char *usage_parse(const char *at, uint64_t *ret)
{
	for (*ret = 0; *at >= '0' && *at <= '9'; at++)
		*ret = *ret * 10 + (uint64_t)(*at - '0');
	return *at == ' ' ? at + 1 : at;
}

static int usage_open_schedule(uint32_t tid)
{
	char path[64];
	struct text t = text_init(path, sizeof(path));

	text_add(&t, "/proc/self/");
	if (tid != process.pid) { /* a path into task/ costs the kernel more */
		text_add(&t, "task/");
		text_number(&t, tid);
		text_char(&t, '/');
	}
	text_add(&t, "schedstat");
	return sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

/* One reading, and how long it took; *ret_took is unchanged if it took longer than that. */
static bool usage_read_schedule(int fd, struct schedule *ret, uint64_t *ret_took)
{
	char line[96] = "";
	uint64_t start = clock_now();
	long size = sys_pread(fd, line, sizeof(line) - 1, 0);
	uint64_t took = clock_now() - start;

	if (size < 5 || line[0] < '0' || line[0] > '9')
		return false;
	if (took < *ret_took) {
		usage_parse(usage_parse(line, &ret->cpu_ns), &ret->delay_ns);
		ret->ticks = start + took / 2;
		*ret_took = took;
	}
	/* All zero: the kernel does not account it. */
	return ret->cpu_ns || ret->delay_ns;
}

/* Reads the schedule of a thread of this process, and when that was true. False: unknown, as in some containers. */
static bool usage_get_schedule(uint32_t tid, struct schedule *ret)
{
	int fd = usage_open_schedule(tid);
	uint64_t took = UINT64_MAX, enough = clock_ticks(READING_NS);
	bool is_known = fd >= 0;

	for (int i = 0; i < READINGS && is_known && took > enough; i++)
		is_known = usage_read_schedule(fd, ret, &took);
	if (fd >= 0)
		sys_close(fd);
	return is_known;
}

/* ---- threads ---- */

/* The age of the calling thread that a stat file tells, in ns: at most *ret_most, at least a clock tick less. */
static bool usage_get_age(uint32_t tid, uint64_t *ret_most)
{
	bool is_program = tid == process.pid && !process_inherited.parent_nonce;
	uint64_t now = sys_clock_ns(CLOCK_BOOTTIME), start = process_inherited.identity.start;

	if (!is_program)
		start = process_is_frozen ? 0 : identity_stat(tid, IDENTITY_STAT_START);
	if (!start || start * IDENTITY_TICK_NS > now)
		return false;
	*ret_most = now - start * IDENTITY_TICK_NS;
	return true;
}

/* When the calling thread was created, from what it has used since. If it has never waited, it was on a CPU or runnable
 * all the time, which is exact. Otherwise its age is known to half a clock tick. 0: not known. */
static uint64_t usage_created(struct tf_chunk *page)
{
	uint64_t age_ns, most_ns;
	uint32_t tid = page->tid;
	struct schedule s;
	struct tf_usage u;

	usage_get(RUSAGE_OF_THREAD, &u);
	if (!u.ticks)
		return 0;
	age_ns = u.cpu_ns;
	page->cpu_before_us = age_ns / 1000 < UINT32_MAX ? (uint32_t)(age_ns / 1000) : UINT32_MAX;
	if (!sys_is_silent && !process_is_frozen && usage_get_schedule(tid, &s)) {
		age_ns = s.cpu_ns + s.delay_ns;
		u.ticks = s.ticks;
	}
	if (u.voluntary && !usage_get_age(tid, &most_ns))
		return 0;
	if (u.voluntary && age_ns + IDENTITY_TICK_NS < most_ns)
		age_ns = most_ns - IDENTITY_TICK_NS / 2;
	return u.ticks - clock_ticks(age_ns);
}

/* What created the thread has told the time, except for the first thread of a program and what a raw clone made. The
 * time of a fork is that before the kernel copied the page tables, which takes long in a large process. */
static void usage_thread_begin(struct thread *t)
{
	struct tf_thread *page = t->page;
	uint64_t told = page->created_ticks < page->start_ticks ? page->created_ticks : 0;

	if (told && (t->number || page->start_ticks - told < FORK_NS / DELAY_NS * delay_ticks))
		return;
	page->created_ticks = usage_created(&page->chunk);
	if (page->created_ticks < told)
		page->created_ticks = told;
}

/* The rate of the clock may not be known exactly yet: a thousandth of the time counts as off the CPU. */
static bool usage_may_have_waited(const struct tf_usage *thread)
{
	uint64_t created = thread_self.page ? thread_self.page->created_ticks : 0, passed = thread->ticks - created;

	return !created || passed + passed / 1024 > clock_ticks(thread->cpu_ns + DELAY_NS);
}

/* Of the calling thread. What is known of its time ends with this reading, not with the system calls after it. */
static void usage_get_delay(struct tf_usage *thread)
{
	struct schedule s;

	if (sys_is_silent || process_is_frozen || !usage_may_have_waited(thread) ||
	    !usage_get_schedule(thread->tid, &s))
		return;
	thread->ticks = s.ticks;
	thread->cpu_ns = s.cpu_ns;
	thread->delay_ns = s.delay_ns;
}

static unsigned usage_slots(unsigned size)
{
	return 1 + (size + TF_DATA_BYTES - 1) / TF_DATA_BYTES;
}

/* In the range file there is room for little, so what most images do not have is left out. */
static unsigned usage_size(const struct tf_usage *u)
{
	bool is_short = !process.header && !u->major_faults && !u->is_of_living &&
			(!u->block_ms || u->block_ms == UINT32_MAX);

	return u->tid ? TF_USAGE_THREAD_BYTES : is_short ? TF_USAGE_SHORT_BYTES : sizeof(*u);
}

/* Not counted as lost if there is no room: it is not an event of the program. */
static void usage_put(const struct tf_usage *u)
{
	struct thread *t = &thread_self;
	unsigned size = usage_size(u), slots = usage_slots(size);

	if (u->ticks && (t->next + slots * TF_SLOT <= t->limit || thread_grow(t, slots)))
		event_blob(TF_BLOB_USAGE, 0, u, size);
}

static void usage_thread_end(struct thread *t)
{
	uint64_t before = sys_get_moved().read;
	struct tf_usage u;

	if (!t->chunk)
		return;
	usage_get(RUSAGE_OF_THREAD, &u);
	u.tid = t->page->chunk.tid;
	u.peak_kb = 0;
	usage_get_delay(&u);
	__atomic_fetch_add(&process.read_by_ended, sys_get_moved().read - before, __ATOMIC_RELAXED);
	usage_put(&u);
	t->page->end_ticks = u.ticks;
}

void usage_init(void)
{
	delay_ticks = clock_ticks(DELAY_NS);
	thread_watch(&(struct thread_watch){usage_thread_begin, usage_thread_end});
}

/* ---- other threads ---- */

/* Calls `visit` with each other living thread until it returns false or they are too many: then the result is false. */
static bool usage_visit_others(uint32_t self, bool (*visit)(uint32_t tid, void *sum), void *sum)
{
	char bytes[512];
	int fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	bool goes_on = fd >= 0;
	unsigned others = 0;
	long size;

	while (goes_on && (size = sys_call(SYS_getdents64, fd, bytes, sizeof(bytes), 0)) > 0) {
		for (long at = 0; at < size && goes_on;) {
			const struct usage_dirent *entry = (const struct usage_dirent *)(bytes + at);
			uint64_t tid;

			usage_parse(entry->name, &tid);
			at += entry->size;
			if (tid && tid != self)
				goes_on = others++ < OTHERS && visit((uint32_t)tid, sum);
		}
	}
	if (fd >= 0)
		sys_close(fd);
	return goes_on;
}

/* ---- bytes that the kernel has counted ---- */

/* Adds what a file like /proc/self/io says. False: it cannot be read. */
static bool bytes_add(const char *path, struct sys_moved *sum)
{
	static const char read[] = "rchar: ", written[] = "\nwchar: ";
	char text[64]; /* its first two lines, filled by one read */
	const char *at = text + sizeof(read) - 1;
	uint64_t value;

	if (sys_read_file(path, text, sizeof(text)) < (long)sizeof(text) - 1 || memcmp(text, read, sizeof(read) - 1))
		return false;
	at = usage_parse(at, &value);
	sum->read += value;
	if (memcmp(at, written, sizeof(written) - 1))
		return false;
	usage_parse(at + sizeof(written) - 1, &value);
	sum->written += value;
	return true;
}

static __attribute__((cold)) bool bytes_add_thread(uint32_t tid, void *sum)
{
	char path[64];
	struct text t = text_init(path, sizeof(path));

	text_add(&t, "/proc/self/task/");
	text_number(&t, tid);
	text_add(&t, "/io");
	return bytes_add(path, sum);
}

/* A process counts the bytes of ended threads and of children that it has waited for, a thread only its own. */
static bool bytes_have_others(void)
{
	struct tf_usage children, whole, thread;

	usage_get(RUSAGE_OF_CHILDREN, &children);
	usage_get(RUSAGE_OF_PROCESS, &whole);
	usage_get(RUSAGE_OF_THREAD, &thread);
	return children.peak_kb || whole.minor_faults > thread.minor_faults || whole.voluntary > thread.voluntary;
}

static struct sys_moved bytes_less(struct sys_moved a, struct sys_moved b)
{
	return (struct sys_moved){a.read - b.read, a.written - b.written};
}

void usage_begin_bytes(bool is_fork)
{
	/* Our own as of before each reading, which the kernel's counts do not include. */
	struct sys_moved whole = {0}, thread, own = sys_get_moved(), own_thread = own;

	if (!(process_options.trace & 1u << TF_GROUP_OSRT) || sys_is_silent || process_is_frozen)
		return;
	process.counts_bytes = is_fork || bytes_add("/proc/self/io", &whole); /* a forked process begins with 0 */
	thread = whole;
	if (!is_fork && process.counts_bytes && bytes_have_others()) {
		thread = (struct sys_moved){0};
		own_thread = sys_get_moved();
		process.counts_bytes = bytes_add_thread((uint32_t)sys_gettid(), &thread);
	}
	process.bytes_before = bytes_less(whole, own);
	process.bytes_before_thread = bytes_less(thread, own_thread);
}

static __attribute__((cold)) bool block_add(uint32_t tid, void *ticks)
{
	*(uint64_t *)ticks += identity_stat(tid, IDENTITY_STAT_BLOCKED);
	return true;
}

/* Rarely accounted, so that a process does not read it in vain. */
static void usage_get_block(struct tf_usage *u, uint32_t tid)
{
	uint64_t ticks = 0;

	u->block_ms = UINT32_MAX;
	if (!process_inherited.has_block_delays || sys_is_silent || process_is_frozen)
		return;
	block_add(tid, &ticks);
	if (process.threads < 2 || usage_visit_others(tid, block_add, &ticks))
		u->block_ms = (uint32_t)(ticks * (IDENTITY_TICK_NS / 1000000));
}

void usage_expect_written(uint64_t bytes)
{
	process.bytes_expected += bytes;
}

/* The kernel's counts at the end of the image: of the process if they include no children, else of living threads. */
static void usage_get_bytes(struct tf_usage *u, uint32_t tid, bool has_children)
{
	struct sys_moved sum = {0}, before = process.bytes_before, own = sys_get_moved();

	tf_usage_set_bytes(u->read_bytes, TF_USAGE_UNKNOWN);
	tf_usage_set_bytes(u->written_bytes, TF_USAGE_UNKNOWN);
	u->is_of_living = has_children && process.threads > 1;
	if (!process.counts_bytes || sys_is_silent || process_is_frozen)
		return;
	if (has_children) {
		before = process.bytes_before_thread;
		own.read -= process.read_by_ended;
		if (!bytes_add_thread(tid, &sum) || !usage_visit_others(tid, bytes_add_thread, &sum))
			return;
	} else if (!bytes_add("/proc/self/io", &sum)) {
		return;
	}
	sum = bytes_less(bytes_less(sum, own), before);
	/* Of the threads that have ended, what we have read may not be exact. */
	tf_usage_set_bytes(u->read_bytes, (int64_t)sum.read > 0 ? sum.read : 0);
	tf_usage_set_bytes(u->written_bytes,
			   ((int64_t)sum.written > 0 ? sum.written : 0) + process.bytes_expected);
}

/* ---- the end of an image ---- */

void usage_read(struct usage *ret)
{
	struct tf_usage children;
	uint32_t tid;

	usage_get(RUSAGE_OF_PROCESS, &ret->process);
	usage_get(RUSAGE_OF_CHILDREN, &children);
	if (children.ticks)
		ret->process.delay_ns = children.cpu_ns;
	tid = (uint32_t)sys_gettid();
	usage_get_bytes(&ret->process, tid, children.peak_kb);
	usage_get_block(&ret->process, tid);
	/* Last: under strace, a thread waits for a CPU at each system call after this. */
	usage_get(RUSAGE_OF_THREAD, &ret->thread);
	ret->thread.tid = tid;
	ret->thread.peak_kb = 0;
	usage_get_delay(&ret->thread);
}

static bool usage_write_other(uint32_t tid, void *unused)
{
	struct tf_usage u = {.tid = tid};
	struct schedule s;

	(void)unused;
	if (!usage_get_schedule(tid, &s))
		return true;
	u.ticks = s.ticks;
	u.cpu_ns = s.cpu_ns;
	u.delay_ns = s.delay_ns;
	usage_put(&u);
	return true;
}

void usage_write(const struct usage *usage)
{
	bool has_others = process.threads > 1 || usage->process.cpu_ns > usage->thread.cpu_ns + DELAY_NS;
	struct tf_usage whole = usage->process;

	/* The thread was read after the process, so it is the only one since the process began if it has used more. */
	if (process.threads < 2 && whole.cpu_ns <= usage->thread.cpu_ns && whole.ticks && usage->thread.ticks) {
		whole.ticks = usage->thread.ticks;
		whole.cpu_ns = usage->thread.cpu_ns;
		whole.thread_tid = usage->thread.tid;
		whole.thread_delay_ns = usage->thread.delay_ns;
	} else {
		usage_put(&usage->thread);
	}
	usage_put(&whole);
	if (has_others && !sys_is_silent && !process_is_frozen)
		usage_visit_others(usage->thread.tid, usage_write_other, NULL);
}
