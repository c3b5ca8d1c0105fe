/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/common/range.h"

#include <errno.h>
#include <string.h>

#include "runtime/shared/common/index.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/base/text.h"

enum { RANGE_ENTRIES = (TF_RANGE_FILE_BYTES - sizeof(struct tf_range_page)) / sizeof(struct tf_range) };

bool range_path(char *ret, size_t size, const char *directory, const char *host, uint64_t run)
{
	char name[INDEX_NAME_BYTES];
	struct text t = text_init(ret, size);

	index_run_name(name, sizeof(name), host, run, ".range");
	text_add(&t, directory);
	text_char(&t, '/');
	text_add(&t, name);
	return *name && !t.cut;
}

struct tf_range_page range_head(const struct options *o, uint64_t run, uint32_t clock)
{
	bool has_ranges = o->capture_range != CAPTURE_ALL, is_timed = o->delay_s > 0 || o->duration_s > 0;
	struct tf_range_page head = {
		.magic = TF_RANGE_MAGIC,
		.run = run,
		.recording = has_ranges || is_timed || o->is_launched ? 0 : ~0u,
		.limit = has_ranges ? o->range_limit : !o->is_launched,
		.mode = o->capture_range == CAPTURE_NVTX ? TF_RANGE_NVTX
			: has_ranges			 ? TF_RANGE_PROFILER_API
			: o->is_launched		 ? TF_RANGE_ON_REQUEST
							 : TF_RANGE_WHOLE_RUN,
		.ended = (o->delay_s > 0 ? RANGE_HELD : 0) | (options_have_ring(o) ? TF_RANGE_RING : 0) |
			 (o->mode == MODE_PROFILE ? TF_RANGE_PROFILE : 0),
		.clock = clock,
	};

	if (has_ranges && o->range_end == RANGE_END_NONE)
		head.shutdown = RANGE_STOP_IGNORED;
	else if (has_ranges && (o->range_end == RANGE_END_STOP_SHUTDOWN || o->range_end == RANGE_END_REPEAT_SHUTDOWN))
		head.shutdown = RANGE_SHUTDOWN;
	return head;
}

/* What the processes of the run may write of the file, of which the rest is a hole. On request, the launcher alone
 * begins and ends ranges. */
static uint64_t range_bytes(const struct tf_range_page *head)
{
	bool has_many = (head->mode == TF_RANGE_PROFILER_API || head->mode == TF_RANGE_NVTX) && head->limit != 1;

	return has_many ? TF_RANGE_FILE_BYTES : RANGE_FIRST_BYTES;
}

/* Adds the part for images. Without it, every image has a trace file. */
static void range_make_images(int fd, const char *host, const char *boot, const struct tf_clock_pair *now)
{
	struct tf_images head = {.magic = TF_IMAGES_MAGIC, .created = *now};

	strncpy(head.host, host, sizeof(head.host) - 1);
	strncpy(head.boot, boot, sizeof(head.boot) - 1);
	if (sys_fallocate(fd, 0, TF_IMAGES_OFFSET, TF_PAGE) ||
	    sys_pwrite(fd, &head, sizeof(head), TF_IMAGES_OFFSET) != (long)sizeof(head) ||
	    sys_ftruncate(fd, TF_IMAGES_FIRST))
		sys_ftruncate(fd, TF_RANGE_FILE_BYTES);
}

/* The space is allocated in advance: writing to a hole on a full disk would raise SIGBUS in the target. */
int range_make(const char *directory, const char *host, const char *boot, const struct tf_clock_pair *now,
	       const struct tf_range_page *head)
{
	uint64_t limit = sys_file_limit();
	char path[4096];
	int fd, error;

	if (!range_path(path, sizeof(path), directory, host, head->run))
		return -ENAMETOOLONG;
	if (limit < TF_RANGE_FILE_BYTES)
		return -EFBIG;
	fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	sys_fchmod(fd, 0600);
	error = sys_ftruncate(fd, TF_RANGE_FILE_BYTES);
	if (!error)
		error = sys_fallocate(fd, 0, 0, range_bytes(head));
	if (error == -EOPNOTSUPP || error == -ENOSYS)
		error = 0;
	if (!error && sys_pwrite(fd, head, sizeof(*head), 0) != (long)sizeof(*head))
		error = -ENOSPC;
	if (!error && limit >= TF_IMAGES_FIRST)
		range_make_images(fd, host, boot, now);
	sys_close(fd);
	if (error)
		sys_unlink(path);
	return error;
}

static void *range_map_shared(int fd, uint64_t offset, uint64_t size)
{
	return sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

/* RLIMIT_AS counts what is mapped: only what is used, which the page states. */
static struct tf_range_page *range_map_page(int fd, uint64_t run)
{
	uint64_t least = RANGE_FIRST_BYTES, size;
	struct tf_range_page *page = range_map_shared(fd, 0, least);

	size = page && page->magic == TF_RANGE_MAGIC && page->run == run ? range_bytes(page) : 0;
	if (page && size != least) {
		sys_munmap(page, least);
		page = size ? range_map_shared(fd, 0, size) : NULL;
	}
	return page;
}

static struct tf_images *range_map_images(int fd)
{
	struct tf_images *images = range_map_shared(fd, TF_IMAGES_OFFSET, TF_PAGE);

	if (images && images->magic != TF_IMAGES_MAGIC) {
		sys_munmap(images, TF_PAGE);
		images = NULL;
	}
	return images;
}

static int range_open_file(const char *directory, const char *host, uint64_t run)
{
	char path[4096];

	if (!range_path(path, sizeof(path), directory, host, run))
		return -ENAMETOOLONG;
	return sys_open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
}

struct tf_range_page *range_map_all(const char *directory, const char *host, uint64_t run)
{
	int fd = range_open_file(directory, host, run);
	struct tf_range_page *page = fd < 0 ? NULL : range_map_shared(fd, 0, TF_RANGE_FILE_BYTES);

	if (fd >= 0)
		sys_close(fd);
	if (page && (page->magic != TF_RANGE_MAGIC || page->run != run)) {
		sys_munmap(page, TF_RANGE_FILE_BYTES);
		page = NULL;
	}
	return page;
}

int range_allocate(const char *directory, const char *host, uint64_t run)
{
	int fd = range_open_file(directory, host, run), error;

	if (fd < 0)
		return fd;
	error = sys_fallocate(fd, 0, 0, TF_RANGE_FILE_BYTES);
	sys_close(fd);
	return error;
}

struct tf_range_page *range_map(const char *directory, const char *host, uint64_t run, struct tf_images **ret_images)
{
	int fd = range_open_file(directory, host, run);
	struct tf_range_page *page = NULL;
	struct stat st;

	*ret_images = NULL;
	if (fd < 0)
		return NULL;
	if (!sys_fstat(fd, &st) && st.st_size >= TF_RANGE_FILE_BYTES)
		page = range_map_page(fd, run);
	if (page && st.st_size >= TF_IMAGES_FIRST)
		*ret_images = range_map_images(fd);
	sys_close(fd);
	return page;
}

/* A process may be killed while it holds the lock. After about a second without it, a waiter goes on: a holder that
 * lives has had a CPU by then, also on a busy machine. */
static void range_lock(struct tf_range_page *page)
{
	for (int tries = 0; tries < 10000; tries++) {
		struct timespec short_while = {0, 10000};

		if (!(__atomic_fetch_or(&page->ended, RANGE_LOCKED, __ATOMIC_ACQUIRE) & RANGE_LOCKED))
			return;
		if (tries > 100)
			sys_call(SYS_nanosleep, &short_while, NULL, 0, 0);
	}
}

static void range_unlock(struct tf_range_page *page)
{
	__atomic_fetch_and(&page->ended, ~(uint32_t)RANGE_LOCKED, __ATOMIC_RELEASE);
}

/* Called with the lock held. */
static void open_locked(struct tf_range_page *page, uint64_t ticks)
{
	uint32_t i = page->begun;
	uint64_t last;

	if (page->recording || (__atomic_load_n(&page->ended, __ATOMIC_RELAXED) & (RANGE_ENDED | RANGE_HELD)))
		return;
	if ((page->limit && i >= page->limit) || i >= RANGE_ENTRIES)
		return;
	/* The clock was read before the lock was acquired. */
	last = i ? page->ranges[i - 1].end_ticks & ~TF_RANGE_CANCELLED : 0;
	page->ranges[i] = (struct tf_range){.begin_ticks = ticks > last ? ticks : last};
	__atomic_store_n(&page->begun, i + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&page->recording, ~0u, __ATOMIC_RELEASE);
}

static void close_locked(struct tf_range_page *page, uint64_t ticks)
{
	if (!page->recording)
		return;
	__atomic_store_n(&page->recording, 0, __ATOMIC_RELEASE);
	if (page->begun && page->begun <= RANGE_ENTRIES)
		page->ranges[page->begun - 1].end_ticks = ticks;
	if (page->limit && page->begun >= page->limit) {
		__atomic_fetch_or(&page->ended, RANGE_ENDED, __ATOMIC_RELEASE);
		/* The launcher checks the page periodically; SIGCHLD makes it check now. */
		if (page->shutdown == RANGE_SHUTDOWN && page->launcher)
			sys_kill((int)page->launcher, SIGCHLD);
	}
}

static int member_find(const struct tf_range_page *page, uint32_t pid)
{
	for (int i = 0; i < TF_RANGE_MEMBERS; i++) {
		if (__atomic_load_n(&page->members[i], __ATOMIC_RELAXED) == pid)
			return i;
	}
	return -1;
}

static void start_locked(struct tf_range_page *page, uint32_t pid, uint64_t ticks)
{
	int i;

	/* As in CUDA, a second Start of a process changes nothing. If the table is full, the range is open already. */
	if (member_find(page, pid) < 0 && (i = member_find(page, 0)) >= 0) {
		__atomic_store_n(&page->members[i], pid, __ATOMIC_RELAXED);
		page->inside++;
		open_locked(page, ticks);
	}
}

void range_start(struct tf_range_page *page, uint32_t pid, uint64_t ticks)
{
	range_lock(page);
	start_locked(page, pid, ticks);
	range_unlock(page);
}

static void leave_locked(struct tf_range_page *page, int i, uint64_t ticks)
{
	__atomic_store_n(&page->members[i], 0, __ATOMIC_RELAXED);
	if (page->inside)
		page->inside--;
	if (!page->inside && page->shutdown != RANGE_STOP_IGNORED)
		close_locked(page, ticks);
}

static void stop_locked(struct tf_range_page *page, uint32_t pid, uint64_t ticks)
{
	int i = member_find(page, pid);

	if (i >= 0)
		leave_locked(page, i, ticks);
}

/* Also at the end of each process: one that is not inside does not write to the page. Its own entry is only changed by
 * its own threads, so the first look needs no lock. */
void range_stop(struct tf_range_page *page, uint32_t pid, uint64_t ticks)
{
	if (member_find(page, pid) < 0)
		return;
	range_lock(page);
	stop_locked(page, pid, ticks);
	range_unlock(page);
}

void range_step(struct tf_range_page *page, uint32_t pid, uint64_t ticks, uint32_t *inside, int step)
{
	uint32_t before;

	range_lock(page);
	before = __atomic_load_n(inside, __ATOMIC_RELAXED);
	/* An atomic add, because a waiter that gave up proceeds without the lock. */
	if (step > 0 || before)
		before = __atomic_fetch_add(inside, (uint32_t)step, __ATOMIC_RELAXED);
	if (step > 0 && before == 0)
		start_locked(page, pid, ticks);
	else if (step < 0 && before == 1)
		stop_locked(page, pid, ticks);
	range_unlock(page);
}

/* At most two seconds: the launcher may be stopped. */
void range_await_kill(const struct tf_range_page *page)
{
	for (int tries = 0; tries < 2000; tries++) {
		struct timespec short_while = {0, 1000000};
		uint32_t ended = __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE);

		if (page->shutdown != RANGE_SHUTDOWN || !(ended & RANGE_ENDED) || (ended & RANGE_KILLED) ||
		    !page->launcher || sys_kill((int)page->launcher, 0))
			return;
		sys_call(SYS_nanosleep, &short_while, NULL, 0, 0);
	}
}

static bool is_aborting(uint32_t ended)
{
	return (ended & (RANGE_ABORTS | RANGE_ABORT_SAID)) == RANGE_ABORTS;
}

void range_await_abort(struct tf_range_page *page)
{
	const struct timespec patience = {0, 100000000};

	__atomic_fetch_or(&page->ended, RANGE_ABORTS, __ATOMIC_RELEASE);
	if (!page->launcher || sys_kill((int)page->launcher, SIGCHLD))
		return;
	/* It sleeps, so that the launcher can read its stack. */
	for (int tries = 0; tries < 10; tries++) {
		uint32_t ended = __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE);

		if (!is_aborting(ended) || sys_kill((int)page->launcher, 0))
			return;
		sys_call(SYS_futex, &page->ended, FUTEX_WAIT, ended, &patience);
	}
}

bool range_is_aborting(const struct tf_range_page *page)
{
	return is_aborting(__atomic_load_n(&page->ended, __ATOMIC_ACQUIRE));
}

void range_abort_said(struct tf_range_page *page)
{
	__atomic_fetch_or(&page->ended, RANGE_ABORT_SAID, __ATOMIC_RELEASE);
	sys_call(SYS_futex, &page->ended, FUTEX_WAKE, INT32_MAX, NULL);
}

void range_killed(struct tf_range_page *page)
{
	__atomic_fetch_or(&page->ended, RANGE_KILLED, __ATOMIC_RELEASE);
}

void range_open(struct tf_range_page *page, uint64_t ticks)
{
	range_lock(page);
	open_locked(page, ticks);
	range_unlock(page);
}

void range_release(struct tf_range_page *page, uint64_t ticks)
{
	range_lock(page);
	__atomic_fetch_and(&page->ended, ~(uint32_t)RANGE_HELD, __ATOMIC_RELEASE);
	if (page->inside)
		open_locked(page, ticks);
	range_unlock(page);
}

void range_end(struct tf_range_page *page, uint64_t ticks)
{
	range_lock(page);
	close_locked(page, ticks);
	__atomic_fetch_or(&page->ended, RANGE_ENDED, __ATOMIC_RELEASE);
	range_unlock(page);
}

void range_drop_dead(struct tf_range_page *page, uint64_t ticks, bool (*is_alive)(uint32_t pid))
{
	if (!__atomic_load_n(&page->inside, __ATOMIC_ACQUIRE))
		return;
	range_lock(page);
	for (int i = 0; i < TF_RANGE_MEMBERS; i++) {
		if (page->members[i] && !is_alive(page->members[i]))
			leave_locked(page, i, ticks);
	}
	range_unlock(page);
}

/* Nothing but requests begins and ends ranges of such a run from here on. Called with the lock held. */
static void request_locked(struct tf_range_page *page)
{
	if (page->mode != TF_RANGE_WHOLE_RUN)
		return;
	page->limit = 0;
	__atomic_store_n(&page->mode, TF_RANGE_ON_REQUEST, __ATOMIC_RELAXED);
}

int range_request_open(struct tf_range_page *page, uint64_t ticks, uint32_t *ret_range)
{
	uint32_t ended;
	int error = 0;

	range_lock(page);
	ended = __atomic_load_n(&page->ended, __ATOMIC_RELAXED);
	if (page->recording)
		error = -EALREADY;
	else if (ended & RANGE_ENDED)
		error = -EPERM;
	else if (ended & RANGE_HELD)
		error = -EBUSY;
	if (!error) {
		request_locked(page);
		open_locked(page, ticks);
		error = page->recording ? 0 : -ENOSPC;
	}
	*ret_range = page->begun;
	range_unlock(page);
	return error;
}

int range_request_close(struct tf_range_page *page, uint64_t (*now)(void), uint64_t first_ticks, bool is_cancelled,
			uint32_t *ret_range)
{
	struct tf_range *range;
	bool is_open;

	range_lock(page);
	is_open = page->recording;
	if (is_open && !page->begun) {
		page->ranges[0] = (struct tf_range){.begin_ticks = first_ticks};
		__atomic_store_n(&page->begun, 1, __ATOMIC_RELEASE);
	}
	if (is_open) {
		request_locked(page);
		range = &page->ranges[page->begun - 1];
		close_locked(page, 0);
		range->end_ticks = now() | (is_cancelled ? TF_RANGE_CANCELLED : 0);
	}
	*ret_range = page->begun;
	range_unlock(page);
	return is_open ? 0 : -EALREADY;
}
