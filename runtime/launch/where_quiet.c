/* SPDX-License-Identifier: Apache-2.0 */
/* Looks into processes that use hardly any CPU time, so that the capture has what their threads waited for, even if all
 * processes and the launcher are killed at once. A process is looked at when it has been quiet for QUIET_MS, and again
 * when something has moved in it since, after pauses that double from PAUSE_MS to PAUSE_MOST_MS; the longest pause
 * doubles with each FILE_BYTES written. All looks together use at most 1/COST_SHARE of a CPU and CREDIT_MS.
 *
 * Of a process that has been quiet for --hang, pillion-report finds out whether its threads, or the ranks of the job,
 * are proved to wait for each other. It prints that once per capture, and else nothing: a shell and a server are quiet
 * as well. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"

enum { INTERVAL_MS = 1000, QUIET_MS = 1000, PAUSE_MS = 2000, PAUSE_MOST_MS = 64000 };
enum { COST_SHARE = 200, CREDIT_MS = 1000, FILE_BYTES = 16 << 20, DOUBLED_MOST = 10 };
enum { HANG_FOUND = 3 }; /* status of pillion-report */

static struct {
	uint64_t began_ns, cost_ns; /* CPU time of all looks so far */
	uint64_t bytes;		    /* that they wrote */
	uint64_t due_ns;	    /* CLOCK_MONOTONIC: of the next round */
} quiet;

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t pause_ns(unsigned count)
{
	uint64_t most = (uint64_t)PAUSE_MOST_MS, ms = PAUSE_MS;

	for (uint64_t i = 0; i < quiet.bytes / FILE_BYTES && i < DOUBLED_MOST; i++)
		most *= 2;
	while (count-- && ms < most)
		ms *= 2;
	return (ms < most ? ms : most) * 1000000u;
}

static bool is_due(const struct living *p, uint64_t now, uint64_t *ret_cpu_ns)
{
	return !p->has_ended && usage_quiet_ns(p, ret_cpu_ns) >= QUIET_MS * 1000000ull && now >= p->quiet.due_ns &&
	       (!p->quiet.count || *ret_cpu_ns != p->quiet.cpu_ns);
}

/* ---- --hang ---- */

static struct {
	pid_t report;	 /* 0: it does not run */
	uint64_t due_ns; /* when it may be started again */
	uint64_t pause_ns;
	bool has_printed; /* this launcher's or another one's */
} hang;

/* Launchers of one capture judge one after the other; the file remains when one has printed. */
static void claim_path(const struct run *run, char ret[PATH_MAX + 8])
{
	snprintf(ret, PATH_MAX + 8, "%s/.hang", run->directory);
}

static void hang_finish(const struct run *run)
{
	char path[PATH_MAX + 8];
	int status;

	if (!hang.report || waitpid(hang.report, &status, WNOHANG) != hang.report)
		return;
	hang.report = 0;
	hang.has_printed = WIFEXITED(status) && WEXITSTATUS(status) == HANG_FOUND;
	claim_path(run, path);
	if (!hang.has_printed)
		unlink(path);
}

static void hang_start(const struct run *run, uint64_t now)
{
	char path[PATH_MAX + 8];
	int fd;

	claim_path(run, path);
	hang.pause_ns = hang.pause_ns ? hang.pause_ns * 2 : (uint64_t)(run->options.hang_s * 1e9);
	hang.due_ns = now + hang.pause_ns;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	close(fd);
	hang.report = summary_hang(run);
	if (!hang.report)
		unlink(path);
}

static void hang_judge(const struct run *run, struct living *list, size_t count, uint64_t now)
{
	bool is_new = false;

	hang_finish(run);
	if (hang.report || hang.has_printed || now < hang.due_ns)
		return;
	for (size_t i = 0; i < count; i++) {
		uint64_t cpu_ns;
		bool is_quiet = !list[i].has_ended &&
				(double)usage_quiet_ns(&list[i], &cpu_ns) >= run->options.hang_s * 1e9;

		is_new |= is_quiet && list[i].quiet.count && !list[i].quiet.is_judged;
		list[i].quiet.is_judged = is_quiet && list[i].quiet.count;
	}
	if (is_new)
		hang_start(run, now);
}

void where_quiet_end(const struct run *run)
{
	char path[PATH_MAX + 8];

	if (!hang.report)
		return;
	kill(hang.report, SIGKILL);
	waitpid(hang.report, NULL, 0);
	hang.report = 0;
	claim_path(run, path);
	unlink(path);
}

static void look_into_quiet(struct run *run, uint64_t now)
{
	struct living *list;
	uint64_t cpu_ns;
	size_t count;

	count = living_processes(run, &list);
	hang_judge(run, list, count, now);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin = cpu_now();

		if (quiet.cost_ns > (now - quiet.began_ns) / COST_SHARE + CREDIT_MS * 1000000ull)
			return;
		if (!is_due(&list[i], now, &cpu_ns))
			continue;
		list[i].quiet.cpu_ns = cpu_ns;
		quiet.bytes += where_look_quiet(run, &list[i]);
		list[i].quiet.due_ns = now + pause_ns(list[i].quiet.count++);
		quiet.cost_ns += cpu_now() - begin;
	}
}

int where_quiet_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();

	if (run->options.hang_s <= 0)
		return -1;
	if (!quiet.began_ns)
		quiet.began_ns = now;
	if (now >= quiet.due_ns) {
		quiet.due_ns = now + INTERVAL_MS * 1000000ull;
		look_into_quiet(run, now);
	}
	return (int)((quiet.due_ns - now) / 1000000) + 1;
}
