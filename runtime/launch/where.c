/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `pillion where`, which puts a file .where into the capture's directory:
 *   request=<16 hexadecimal digits>
 *   realtime_ns=<CLOCK_REALTIME when it was written>
 * Each launcher of the capture, on any host, looks for it about once per second, or at once when it receives SIGCHLD.
 * A request of `pillion start`, stop and cancel has further lines, see session.c.
 * It answers a request once, and only if the file belongs to its own user or root and is not older than STALE_S: what
 * a killed `pillion where` left behind is ignored. The answer is a look in HOST.RUN.where, complete when its END is
 * there.
 *
 * A look is also taken before a signal that may end COMMAND is forwarded, and into processes that are quiet. */
#include "runtime/launch/run.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/outside/where.h"

enum { INTERVAL_MS = 1000, STALE_S = 60, SIGNAL_LOOKS = 4, PATIENCE_NS = 1000000000, BUSY_NS = 50000000 };

static struct {
	uint64_t answered; /* the last request */
	uint64_t due_ns;   /* CLOCK_MONOTONIC: when to look for the next one */
	uint64_t signaled_ns; /* CLOCK_MONOTONIC: when a signal that may end COMMAND came; 0: none did */
	unsigned signal_looks;
} where;

/* ---- the file ---- */

static int file_open(const struct run *run)
{
	struct tf_where_head head = {.magic = TF_WHERE_MAGIC, .run = run->id, .clock = clock_kind};
	char path[PATH_MAX + INDEX_NAME_BYTES], name[INDEX_NAME_BYTES];
	struct stat st;
	int fd;

#if defined(__x86_64__)
	head.machine = EM_X86_64;
#elif defined(__aarch64__)
	head.machine = EM_AARCH64;
#endif
	memcpy(head.boot, run->boot, sizeof(head.boot));
	index_run_name(name, sizeof(name), run->host, run->id, ".where");
	snprintf(path, sizeof(path), "%s/%s", run->directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st))
		return fd;
	if (!st.st_size && write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head)) {
		unlink(path);
		close(fd);
		return -1;
	}
	return fd;
}

/* What cannot be written completely is removed again, because later looks would not be found after a part of one. */
static bool file_write(int fd)
{
	struct stat st;
	bool is_whole = !where_out.is_cut && !fstat(fd, &st);
	size_t written = 0;

	while (is_whole && written < where_out.used) {
		ssize_t n = write(fd, where_out.bytes + written, where_out.used - written);

		is_whole = n > 0;
		written += n > 0 ? (size_t)n : 0;
	}
	if (!is_whole && written && ftruncate(fd, st.st_size))
		return false;
	return is_whole;
}

/* ---- looks ---- */

/* Of no process if `has_processes` is false: that a signal came. False: it could not be written. */
static bool look(struct run *run, uint64_t request, int signal, bool has_processes)
{
	struct tf_where_begin begin = {request, clock_now(), clock_realtime_ns(), (uint32_t)signal, TF_WHERE_ASKED};
	/* A signal is forwarded without waiting. */
	uint64_t patience_ns = signal ? 0 : clock_monotonic_ns() + PATIENCE_NS;
	struct living *list;
	size_t count = has_processes ? living_processes(run, &list) : 0;
	int fd = file_open(run);
	bool is_written;

	if (fd < 0)
		return false;
	where_out = (struct where_buffer){0};
	where_record(TF_WHERE_BEGIN, &begin, sizeof(begin), NULL, 0);
	for (size_t i = 0; i < count; i++)
		if (!where_process_record(list[i].pid, list[i].start, patience_ns, 0))
			calls_record(&list[i]);
	where_record(TF_WHERE_END, &begin, sizeof(begin), NULL, 0);
	is_written = file_write(fd);
	free(where_out.bytes);
	close(fd);
	return is_written;
}

static uint64_t hash_of(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

size_t where_look_quiet(struct run *run, struct living *p, bool is_busy)
{
	struct tf_where_begin begin = {0, clock_now(), clock_realtime_ns(), 0, TF_WHERE_QUIET};
	struct tf_where_process head = {.pid = p->pid, .start = p->start};
	size_t first, written = 0;
	int fd = file_open(run);

	if (fd < 0)
		return 0;
	where_out = (struct where_buffer){0};
	where_record(TF_WHERE_BEGIN, &begin, sizeof(begin), NULL, 0);
	first = where_out.used;
	where_process_record(p->pid, p->start, is_busy ? clock_monotonic_ns() + BUSY_NS : 0,
			     is_busy ? 0 : WHERE_OF_QUIET);
	if (where_out.used > first)
		calls_record(p);
	if (where_out.used > first) {
		uint64_t hash = hash_of(where_out.bytes + first, where_out.used - first);

		if (hash == p->quiet.hash) {
			where_out.used = first;
			where_record(TF_WHERE_SAME, &head, sizeof(head), NULL, 0);
		}
		where_record(TF_WHERE_END, &begin, sizeof(begin), NULL, 0);
		written = file_write(fd) ? where_out.used : 0;
		p->quiet.hash = written ? hash : 0;
	}
	free(where_out.bytes);
	close(fd);
	return written;
}

/* The request in the file; id 0: it is not valid, or too old. */
static struct session_request request_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	unsigned long long request = 0, written = 0, opens = 0, length = 0;
	struct session_request ret = {0};
	uint64_t now = clock_realtime_ns(), apart;
	struct stat st;
	char text[256];
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid))
		n = read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	if (sscanf(text, "request=%16llx\nrealtime_ns=%llu\naction=%15s\nopens_ns=%llu\nfor_ns=%llu\n", &request,
		   &written, ret.action, &opens, &length) < 2)
		return ret;
	apart = now > written ? now - written : written - now;
	ret.id = apart < STALE_S * 1000000000ull ? request : 0;
	ret.opens_ns = opens;
	ret.for_ns = length;
	return ret;
}

int where_tick(struct run *run)
{
	struct session_request request = {0};
	uint64_t now = clock_monotonic_ns();
	char path[PATH_MAX + 8];

	if (now < where.due_ns)
		return (int)((where.due_ns - now) / 1000000) + 1;
	where.due_ns = now + INTERVAL_MS * 1000000ull;
	snprintf(path, sizeof(path), "%s/.where", run->directory);
	if (!access(path, F_OK))
		request = request_read(path);
	if (request.id && request.id != where.answered) {
		if (request.action[0])
			session_answer(run, &request);
		else if (!look(run, request.id, 0, true))
			return INTERVAL_MS; /* the disk may have room again before the request is too old */
		where.answered = request.id;
	}
	return INTERVAL_MS;
}

void where_signal(struct run *run, int signal, bool looks)
{
	if (signal == SIGCHLD)
		where.due_ns = 0;
	if (!signal_may_end(signal))
		return;
	where.signaled_ns = clock_monotonic_ns();
	if (where.signal_looks++ < SIGNAL_LOOKS)
		look(run, 0, signal, looks);
}

bool where_was_signaled(uint64_t within_ns)
{
	return where.signaled_ns && clock_monotonic_ns() - where.signaled_ns < within_ns;
}
