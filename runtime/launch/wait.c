/* SPDX-License-Identifier: Apache-2.0 */
/* Supervises COMMAND, which shares our process group and terminal. Signals of the terminal and of the group reach it
 * without us; signals sent to us alone are forwarded. All signals are blocked and read one by one, without handlers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/range.h"
#include "runtime/shared/common/sys.h"

/* UNDESCRIBED_MS: how long an image may take to describe itself in its place. */
enum { CLOCK_MS = 30000, REST_MS = 20, REPORT_REST_MS = 2000, UNDESCRIBED_MS = 2000 };

/* The name may contain spaces and parentheses. */
bool wait_parse_stat(const char *text, struct process_stat *ret)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user, system, start;
	long resident;
	size_t length;

	if (!open || !close ||
	    sscanf(close + 1,
		   " %c %u %*d %d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %llu %*u %ld",
		   &ret->state, &ret->parent_pid, &ret->session, &user, &system, &start, &resident) != 7)
		return false;
	length = (size_t)(close - open - 1);
	memset(ret->name, 0, sizeof(ret->name));
	memcpy(ret->name, open + 1, length < sizeof(ret->name) ? length : sizeof(ret->name));
	ret->start = start;
	ret->cpu_ticks = user + system;
	ret->resident_pages = (uint64_t)resident;
	return true;
}

bool wait_read_stat(uint32_t pid, struct process_stat *ret)
{
	char path[48], text[1024];

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	return sys_read_file(path, text, sizeof(text)) > 0 && wait_parse_stat(text, ret);
}

/* False: no such process, or a zombie. */
static bool stat_read(uint32_t pid, int *ret_session, uint64_t *ret_start)
{
	struct process_stat stat;

	if (!wait_read_stat(pid, &stat))
		return false;
	*ret_session = stat.session;
	*ret_start = stat.start;
	return stat.state != 'Z' && stat.state != 'X';
}

bool wait_is_alive(uint32_t pid)
{
	uint64_t start;
	int session;

	/* Without /proc, a zombie counts as alive. */
	if (access("/proc/self/stat", R_OK))
		return !kill((pid_t)pid, 0) || errno == EPERM;
	return stat_read(pid, &session, &start);
}

/* Stops when COMMAND has stopped, so that the shell sees its job as stopped. If SIGSTOP was sent to COMMAND alone
 * and we are not in a terminal's foreground, we do not stop: nothing would continue us. */
static void stop_too(const struct run *run, int signal)
{
	struct sigaction action = {.sa_handler = SIG_DFL}, old;
	sigset_t one;

	if (signal == SIGSTOP) {
		int terminal = tcgetpgrp(STDERR_FILENO);

		if (terminal < 0 || terminal != getpgrp())
			return;
	}
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigaction(signal, &action, &old);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* the process is stopped here */
	sigprocmask(SIG_BLOCK, &one, NULL);
	if (signal != SIGSTOP)
		sigaction(signal, &old, NULL);
	kill(run->child, SIGCONT);
}

/* Returns true if COMMAND has ended. */
static bool child_reap(struct run *run)
{
	siginfo_t info = {0};
	struct rusage r;
	int status;

	/* A process that was killed has recorded no end, but its CPU time can be read until it is waited for. */
	if (!waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	    info.si_code != CLD_EXITED)
		usage_sample(run);
	while (wait4(run->child, &status, WNOHANG | WUNTRACED | WCONTINUED, &r) == run->child) {
		if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) {
			run->status = status;
			run->end_ticks = clock_now();
			run->cpu_ns = usage_cpu_ns(&r);
			return true;
		}
		usage_state(run, WIFSTOPPED(status) ? 'T' : 'R');
		if (WIFSTOPPED(status))
			stop_too(run, WSTOPSIG(status));
	}
	return false;
}

/* si_code > 0: sent by the kernel. Signals of a terminal have then reached the whole group; SIGALRM can only come
 * from a timer that was set before our exec and is meant for COMMAND. */
static void signal_forward(struct run *run, const siginfo_t *info)
{
	summary_signal(run, info->si_signo);
	where_signal(run, info->si_signo);
	if (info->si_code > 0 && info->si_signo != SIGALRM)
		return;
	/* From ourselves: a write of ours raised SIGXFSZ or SIGPIPE. From COMMAND: it signals its whole group. */
	if (info->si_signo == SIGCHLD || info->si_pid == getpid() || info->si_pid == run->child)
		return;
	if (witness_has(run, info))
		return;
	kill(run->child, info->si_signo);
}

static int soonest_ms(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Returns the next signal within `ms`, or 0. */
static int signal_wait(siginfo_t *info, int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	sigset_t all;
	int signal;

	sigfillset(&all);
	do
		signal = ms < 0 ? sigwaitinfo(&all, info) : sigtimedwait(&all, info, &t);
	while (signal < 0 && errno == EINTR);
	return signal < 0 ? 0 : signal;
}

/* Periodic work; returns the milliseconds until it is due again. */
static int periodic_work(struct run *run)
{
	static uint64_t clocked_ns;
	uint64_t now = clock_monotonic_ns();
	int ms;

	if (!clocked_ns)
		clocked_ns = now;
	if (now - clocked_ns >= CLOCK_MS * 1000000ull) {
		capture_line_clock(run);
		clocked_ns = now;
	}
	ms = soonest_ms(soonest_ms(range_clock_tick(run), perf_tick(run)), spool_tick(run));
	ms = soonest_ms(soonest_ms(ms, usage_tick(run)), where_tick(run));
	ms = soonest_ms(soonest_ms(ms, energy_tick(run)), summary_tick(run));
	return soonest_ms(ms, CLOCK_MS);
}

void wait_command(struct run *run)
{
	siginfo_t info;

	range_clock_begin(run);
	while (!child_reap(run)) {
		if (signal_wait(&info, periodic_work(run)) > 0) {
			signal_forward(run, &info);
			spool_signal(run, info.si_signo);
		}
	}
}

/* ---- the processes that outlive COMMAND ---- */

static struct {
	struct living *list;
	size_t count, room;
	long offset; /* of the first byte of the index that was not read */
	int images; /* the range file; 0: not open */
	uint64_t image;	   /* the first image that the next round reads */
	/* When that one was first seen to have taken its place and not described itself, 0: it was not; and the number
	 * of images at that time. */
	uint64_t image_ns, image_end;
} rest;

static uint64_t line_field(const char *line, const char *key, int base)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, base) : 0;
}

static void rest_add(uint32_t pid, uint64_t start)
{
	for (size_t i = 0; i < rest.count; i++) {
		if (rest.list[i].pid == pid && rest.list[i].start == start)
			return;
	}
	if (rest.count == rest.room) {
		struct living *more = realloc(rest.list, (rest.room * 2 + 64) * sizeof(*more));

		if (!more)
			return;
		rest.list = more;
		rest.room = rest.room * 2 + 64;
	}
	rest.list[rest.count++] = (struct living){.pid = pid, .start = start};
}

static bool is_forked_image(const struct tf_image *image)
{
	return image->nonce && image->via == TF_VIA_FORK && image->end != TF_END_EXIT;
}

/* The next round begins at the first image that has taken its place and not described itself there, unless it has had
 * time for it: then its process was killed before. `undescribed`: UINT64_MAX if there is none before `end`. */
static void rest_images_next(uint64_t undescribed, uint64_t end)
{
	uint64_t now = clock_monotonic_ns();

	if (undescribed == UINT64_MAX) {
		rest.image = end;
		rest.image_ns = 0;
	} else if (undescribed != rest.image || !rest.image_ns) {
		rest.image = undescribed;
		rest.image_ns = now;
		rest.image_end = end;
	} else if (now - rest.image_ns > UNDESCRIBED_MS * 1000000ull) {
		rest.image = rest.image_end;
		rest.image_ns = 0;
	}
}

/* Adds the processes alive of the images in the range file. Only a forked image has no line in the index. */
static void rest_read_images(const struct run *run)
{
	char path[PATH_MAX + INDEX_NAME_BYTES];
	uint64_t undescribed = UINT64_MAX;
	struct tf_images head;

	if (!run->range)
		return;
	if (!rest.images && range_path(path, sizeof(path), run->spool[0] ? run->spool : run->directory, run->host,
				       run->id))
		rest.images = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (rest.images <= 0 || pread(rest.images, &head, sizeof(head), TF_IMAGES_OFFSET) != (ssize_t)sizeof(head))
		return;
	for (uint64_t i = rest.image; i < head.next; i++) {
		struct tf_image image;
		uint64_t start;
		int session;

		if (pread(rest.images, &image, sizeof(image), (off_t)(TF_IMAGES_FIRST + i * TF_IMAGE_BYTES)) !=
		    (ssize_t)sizeof(image))
			break; /* there was no room for it */
		if (!image.nonce && undescribed == UINT64_MAX)
			undescribed = i;
		if (is_forked_image(&image) && stat_read(image.pid, &session, &start) && start <= image.process_start)
			rest_add(image.pid, start);
	}
	rest_images_next(undescribed, head.next);
}

/* Reads the new lines of the index and adds the processes of this run that are alive. */
static void rest_read(const struct run *run)
{
	char path[PATH_MAX + INDEX_NAME_BYTES], *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", run->spool[0] ? run->spool : run->directory, run->index);
	f = fopen(path, "re");
	if (!f || fseek(f, rest.offset, SEEK_SET)) {
		if (f)
			fclose(f);
		return;
	}
	while ((n = getline(&line, &size, f)) > 0 && line[n - 1] == '\n') {
		uint32_t pid = (uint32_t)line_field(line, "\tpid=", 10);
		uint64_t now, start = line_field(line, "\tstart=", 10);
		int session;

		rest.offset += n;
		if (!strncmp(line, "process\t", 8) && line_field(line, "\trun=", 16) == run->id &&
		    stat_read(pid, &session, &now) && now == start)
			rest_add(pid, start);
	}
	free(line);
	fclose(f);
}

/* During an exec the file is empty, for less than a millisecond. */
static bool environment_has(uint32_t pid, const char *wanted)
{
	char path[48], *variable = NULL;
	bool is_empty = true, has = false;
	size_t size = 0;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	for (int tries = 0; is_empty && tries < 5; tries++) {
		struct timespec ms = {0, 1000000};
		FILE *f = fopen(path, "re");

		if (!f)
			break;
		while (!has && getdelim(&variable, &size, '\0', f) > 0) {
			is_empty = false;
			has = !strcmp(variable, wanted);
		}
		fclose(f);
		if (is_empty)
			nanosleep(&ms, NULL);
	}
	free(variable);
	return has;
}

/* A child that COMMAND started just before it ended may not have written its line yet. It is found in /proc among the
 * processes that are younger than COMMAND. */
static void rest_scan(const struct run *run)
{
	char wanted[48];
	DIR *d = opendir("/proc");
	struct dirent *entry;

	snprintf(wanted, sizeof(wanted), "PILLION_RUN=%016llx", (unsigned long long)run->id);
	while (d && (entry = readdir(d))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		uint64_t start;
		int session;

		if (pid > (uint32_t)run->child && stat_read(pid, &session, &start) && session &&
		    environment_has(pid, wanted))
			rest_add(pid, start);
	}
	if (d)
		closedir(d);
}

size_t wait_processes(struct run *run, struct living **ret)
{
	uint64_t start = 0;
	size_t kept = 0;
	int session;

	/* COMMAND may be a program that does not record, or have ended, and is not waited for yet. */
	if (!rest.offset && (stat_read((uint32_t)run->child, &session, &start) || start))
		rest_add((uint32_t)run->child, start);
	rest_read(run);
	rest_read_images(run);
	for (size_t i = 0; i < rest.count; i++) {
		if (!rest.list[i].has_ended)
			rest.list[kept++] = rest.list[i];
	}
	rest.count = kept;
	*ret = rest.list;
	return rest.count;
}

static void rest_drop_dead(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < rest.count; i++) {
		struct living p = rest.list[i];
		uint64_t start;
		int session;

		if (p.pid == (uint32_t)getpid() || !stat_read(p.pid, &session, &start) || start != p.start)
			usage_forget(&p);
		else
			rest.list[kept++] = p;
	}
	rest.count = kept;
}

/* Daemons have a session of their own and are counted only on request. */
static unsigned rest_count(struct run *run, bool with_daemons)
{
	pid_t session = getsid(0);
	unsigned living = 0;

	rest_read(run);
	rest_read_images(run);
	rest_drop_dead();
	if (!rest.count)
		rest_scan(run);
	for (size_t i = 0; i < rest.count; i++) {
		uint64_t start;
		int its_session;

		living += stat_read(rest.list[i].pid, &its_session, &start) &&
			  (with_daemons || its_session == session);
	}
	return living;
}

unsigned wait_living(struct run *run)
{
	return rest_count(run, true);
}

unsigned wait_rest(struct run *run)
{
	uint64_t since = clock_monotonic_ns();
	bool is_reported = false;
	siginfo_t info;
	unsigned n;

	while (run->options.stop_on_exit && run->options.wait_for == WAIT_ALL && (n = rest_count(run, false))) {
		int ms = periodic_work(run), signal;

		if (!is_reported && clock_monotonic_ns() - since > REPORT_REST_MS * 1000000ull) {
			say("COMMAND has ended; waiting for %u of its processes (--wait primary: do not wait)", n);
			is_reported = true;
		}
		signal = signal_wait(&info, soonest_ms(ms, REST_MS));
		if (signal == SIGCHLD)
			where_signal(run, signal);
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
			break;
		if (signal == SIGTSTP) {
			run->child = getpid();
			stop_too(run, SIGTSTP);
		}
	}
	return rest_count(run, true);
}
