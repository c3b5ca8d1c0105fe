/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads and the process: getrusage for the calling thread, /proc for others and for run delays. */
#include "runtime/record/usage.h"

#include <sys/resource.h>

#include "runtime/base/text.h"
#include "runtime/common/clock.h"
#include "runtime/common/sys.h"
#include "runtime/record/event.h"

/* Below DELAY_NS that a thread was off the CPU, reading its run delay would cost more than it tells; CPU_NS: below it,
 * the reading, of about 5 us, would be more than 0.5 % of what a thread uses. OTHERS: other threads whose usage is read
 * at the end of an image. */
enum { DELAY_NS = 500000, CPU_NS = 1000000, OTHERS = 256 };
enum { RUSAGE_OF_THREAD = 1, RUSAGE_OF_PROCESS = 0, RUSAGE_OF_CHILDREN = -1 };

static uint64_t delay_ticks; /* DELAY_NS; a forked child inherits it */

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
}

static const char *usage_parse(const char *at, uint64_t *ret)
{
	for (*ret = 0; *at >= '0' && *at <= '9'; at++)
		*ret = *ret * 10 + (uint64_t)(*at - '0');
	return *at == ' ' ? at + 1 : at;
}

/* Reads CPU time and run delay of a thread of this process. False: unknown, as in some containers. */
static bool usage_get_schedule(uint32_t tid, uint64_t *ret_cpu_ns, uint64_t *ret_delay_ns)
{
	char path[64], line[96];
	struct text t = text_init(path, sizeof(path));

	text_add(&t, "/proc/self/task/");
	text_number(&t, tid);
	text_add(&t, "/schedstat");
	if (sys_read_file(path, line, sizeof(line)) < 5 || line[0] < '0' || line[0] > '9')
		return false;
	usage_parse(usage_parse(line, ret_cpu_ns), ret_delay_ns);
	/* All zero: the kernel does not account it. */
	return *ret_cpu_ns || *ret_delay_ns;
}

/* ---- threads ---- */

static void usage_thread_begin(struct thread *t)
{
	struct tf_usage now;
	uint64_t us;

	usage_get(RUSAGE_OF_THREAD, &now);
	us = now.cpu_ns / 1000;
	t->page->chunk.cpu_before_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static bool usage_may_have_waited(const struct tf_usage *thread)
{
	const struct tf_thread *page = thread_self.page;
	uint64_t passed;

	if (!page)
		return true;
	passed = thread->ticks - page->start_ticks;
	return passed > delay_ticks && passed + clock_ticks((uint64_t)page->chunk.cpu_before_us * 1000) >
					       clock_ticks(thread->cpu_ns + DELAY_NS);
}

/* Of the calling thread. */
static void usage_get_delay(struct tf_usage *thread)
{
	uint64_t cpu_ns, delay_ns;

	if (!sys_is_silent && !process_is_frozen && usage_may_have_waited(thread) &&
	    usage_get_schedule(thread->tid, &cpu_ns, &delay_ns))
		thread->delay_ns = delay_ns;
}

/* Not counted as lost if there is no room: it is not an event of the program. */
static void usage_put(const struct tf_usage *u)
{
	enum { SLOTS = 1 + (sizeof(*u) + TF_DATA_BYTES - 1) / TF_DATA_BYTES };
	struct thread *t = &thread_self;

	if (u->ticks && (t->next + SLOTS * TF_SLOT <= t->limit || thread_grow(t, SLOTS)))
		event_blob(TF_BLOB_USAGE, 0, u, sizeof(*u));
}

/* A thread that was never preempted has waited for a CPU in its calls only; the launcher's samples tell how long. */
static void usage_thread_end(struct thread *t)
{
	struct tf_usage u;

	if (!t->chunk)
		return;
	usage_get(RUSAGE_OF_THREAD, &u);
	u.tid = t->page->chunk.tid;
	u.peak_kb = 0;
	if (u.involuntary && u.cpu_ns >= CPU_NS)
		usage_get_delay(&u);
	usage_put(&u);
}

void usage_init(void)
{
	delay_ticks = clock_ticks(DELAY_NS);
	thread_watch(&(struct thread_watch){usage_thread_begin, usage_thread_end});
}

/* ---- the end of an image ---- */

void usage_read(struct usage *ret)
{
	struct tf_usage children;

	usage_get(RUSAGE_OF_PROCESS, &ret->process);
	usage_get(RUSAGE_OF_CHILDREN, &children);
	if (children.ticks)
		ret->process.delay_ns = children.cpu_ns;
	usage_get(RUSAGE_OF_THREAD, &ret->thread);
	ret->thread.tid = (uint32_t)sys_gettid();
	ret->thread.peak_kb = 0;
	usage_get_delay(&ret->thread);
}

static void usage_write_other(uint32_t tid)
{
	struct tf_usage u = {.tid = tid, .ticks = clock_now()};

	if (usage_get_schedule(tid, &u.cpu_ns, &u.delay_ns))
		usage_put(&u);
}

static void usage_write_others(uint32_t self)
{
	char bytes[4096];
	int fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned others = 0;
	long size;

	while (fd >= 0 && others < OTHERS && (size = sys_call(SYS_getdents64, fd, bytes, sizeof(bytes), 0)) > 0) {
		for (long at = 0; at < size && others < OTHERS;) {
			const struct usage_dirent *entry = (const struct usage_dirent *)(bytes + at);
			uint64_t tid;

			usage_parse(entry->name, &tid);
			at += entry->size;
			if (!tid || tid == self)
				continue;
			usage_write_other((uint32_t)tid);
			others++;
		}
	}
	if (fd >= 0)
		sys_close(fd);
}

void usage_write(const struct usage *usage)
{
	bool has_others = process.threads > 1 || usage->process.cpu_ns > usage->thread.cpu_ns + DELAY_NS;

	usage_put(&usage->thread);
	usage_put(&usage->process);
	if (has_others && !sys_is_silent && !process_is_frozen)
		usage_write_others(usage->thread.tid);
}
