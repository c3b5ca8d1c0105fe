/* SPDX-License-Identifier: Apache-2.0 */
/* Supervises COMMAND, which shares our process group and terminal. Signals of the terminal reach it without us; signals
 * sent to us alone are forwarded. All signals are blocked and read one by one, without handlers. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/launch/run.h"

enum { CLOCK_MS = 30000, DRAIN_MS = 2000, REST_MS = 20, REPORT_REST_MS = 2000 };

bool wait_read_stat(uint32_t pid, struct process_stat *ret)
{
	char path[48], text[1024], *at; /* the name may contain spaces and parentheses */
	unsigned long long start;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	at = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	if (!at || sscanf(at + 1,
			  " %c %u %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			  &ret->state, &ret->parent_pid, &ret->session, &start) != 4)
		return false;
	ret->start = start;
	return true;
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
	int status;

	while (waitpid(run->child, &status, WNOHANG | WUNTRACED) == run->child) {
		if (!WIFSTOPPED(status)) {
			run->status = status;
			return true;
		}
		stop_too(run, WSTOPSIG(status));
	}
	return false;
}

/* si_code > 0: sent by the kernel. Signals of a terminal have then reached the whole group; SIGALRM can only come
 * from a timer that was set before our exec and is meant for COMMAND. */
static void signal_forward(const struct run *run, const siginfo_t *info)
{
	if (info->si_code > 0 && info->si_signo != SIGALRM)
		return;
	/* From ourselves: a write of ours raised SIGXFSZ or SIGPIPE. From COMMAND: it signals its whole group. */
	if (info->si_signo == SIGCHLD || info->si_pid == getpid() || info->si_pid == run->child)
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
	static uint64_t drained_ns, clocked_ns;
	uint64_t now = clock_monotonic_ns();

	if (!clocked_ns)
		clocked_ns = drained_ns = now;
	if (run->spool[0] && now - drained_ns >= DRAIN_MS * 1000000ull) {
		spool_drain(run, false);
		drained_ns = clock_monotonic_ns();
	}
	if (now - clocked_ns >= CLOCK_MS * 1000000ull) {
		capture_line_clock(run);
		clocked_ns = now;
	}
	return soonest_ms(soonest_ms(range_clock_tick(run), perf_tick(run)), run->spool[0] ? DRAIN_MS : CLOCK_MS);
}

void wait_command(struct run *run)
{
	siginfo_t info;

	range_clock_begin(run);
	while (!child_reap(run)) {
		if (signal_wait(&info, periodic_work(run)) > 0)
			signal_forward(run, &info);
	}
}

/* ---- the processes that outlive COMMAND ---- */

struct living {
	uint32_t pid;
	uint64_t start;
};

static struct {
	struct living *list;
	size_t count, room;
	long offset; /* of the first byte of the index that was not read */
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
	rest.list[rest.count++] = (struct living){pid, start};
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
static bool environment_has(uint32_t pid, const char *text, size_t length)
{
	static char bytes[1 << 20];
	char path[48];
	size_t used = 0;

	snprintf(path, sizeof(path), "/proc/%u/environ", pid);
	for (int tries = 0; !used && tries < 5; tries++) {
		struct timespec ms = {0, 1000000};
		FILE *f = fopen(path, "re");

		if (!f)
			return false;
		used = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		if (!used)
			nanosleep(&ms, NULL);
	}
	return memmem(bytes, used, text, length);
}

/* A child that COMMAND started just before it ended may not have written its line yet. It is found in /proc among the
 * processes that are younger than COMMAND. */
static void rest_scan(const struct run *run)
{
	char wanted[48];
	int length = snprintf(wanted, sizeof(wanted), "PILLION_RUN=%016llx", (unsigned long long)run->id);
	DIR *d = opendir("/proc");
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		uint64_t start;
		int session;

		if (pid > (uint32_t)run->child && stat_read(pid, &session, &start) && session &&
		    environment_has(pid, wanted, (size_t)length + 1))
			rest_add(pid, start);
	}
	if (d)
		closedir(d);
}

/* Daemons have a session of their own and are counted only on request. */
static unsigned rest_count(struct run *run, bool with_daemons)
{
	pid_t session = getsid(0);
	unsigned living = 0;
	size_t kept = 0;

	rest_read(run);
	if (!rest.count)
		rest_scan(run);
	for (size_t i = 0; i < rest.count; i++) {
		struct living p = rest.list[i];
		uint64_t start;
		int its_session;

		if (p.pid == (uint32_t)getpid() || !stat_read(p.pid, &its_session, &start) || start != p.start)
			continue;
		rest.list[kept++] = p;
		living += with_daemons || its_session == session;
	}
	rest.count = kept;
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
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
			break;
		if (signal == SIGTSTP) {
			run->child = getpid();
			stop_too(run, SIGTSTP);
		}
	}
	return rest_count(run, true);
}
