/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: why the job hangs or dies, as the first lines that its log gets of us. mpirun sends SIGKILL one second
 * after SIGTERM, and Hydra after 50 ms, so the text is made before the signal comes: pillion-report makes it whenever a
 * look into a quiet process was written, into a pipe that this launcher reads, and a signal costs one write(2). Where
 * something moved until the signal came, it is made then, and printed when it is there.
 *
 * One launcher of a capture at a time has asked for the text or holds it: it has locked the file .hang, which has the
 * text when it is there: at a signal any launcher may print it. The lock of a launcher that is killed ends with it, and
 * another one that has something to ask takes its place. The file .verdict remains when one has printed the text as the
 * job ended, with the text, so that ranks do not repeat each other, nor the summary any of them. A launcher whose
 * stderr a daemon of mpirun forwards lets the others print it first: a batch system ends the daemon together with the
 * ranks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"

enum { FOUND = 3 }; /* status of pillion-report */
enum { TEXT_BYTES = 16384, DEATH_MS = 2000, OTHERS_MS = 200, RETRY_MS = 1000, RETRY_MOST_MS = 64000 };

static struct {
	pid_t report; /* 0: it does not run */
	int pipe;
	size_t read_bytes;
	char read[TEXT_BYTES];
	size_t bytes; /* of the text; 0: nothing hangs */
	char text[TEXT_BYTES];
	bool has_claim;	 /* this launcher's is the file .hang */
	int claim;	 /* the locked file; -1: none could be made */
	bool is_due;	 /* to be printed as soon as it is there */
	bool is_wanted;	 /* to be asked for, once more if the report runs */
	uint64_t tried_ns; /* CLOCK_MONOTONIC: when that was last tried */
	uint64_t retry_ms; /* until it is tried again; doubles each time while another launcher has the claim */
	uint64_t held_ns; /* CLOCK_MONOTONIC: until then other launchers may print it; 0: it is not held back */
	bool is_said;	 /* at the end of the job, by this launcher or another one */
	bool is_said_live;
} verdict;

/* ---- the marks in the capture ---- */

/* False: another launcher has made it. Where none can be made, as on a full disk, each speaks for itself. */
static bool mark(const struct run *run, const char *name, const char *text, size_t bytes)
{
	char path[PATH_MAX + 16];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", run->directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0) {
		n = write(fd, text, bytes);
		(void)n; /* the summary repeats what it does not find there */
		close(fd);
	}
	return fd >= 0 || errno != EEXIST;
}

bool verdict_is_printed(const struct run *run)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/.verdict", run->directory);
	return verdict.is_said || !access(path, F_OK);
}

static bool is_named(int fd, const char *path)
{
	struct stat ours, named;

	return !fstat(fd, &ours) && !lstat(path, &named) && ours.st_ino == named.st_ino;
}

/* Whether nobody else has locked the file that this launcher has opened, or removed it meanwhile. Some file systems
 * have no locks: there only a new file is free. */
static bool claim_is_free(int fd, const char *path, bool is_new)
{
	if (flock(fd, LOCK_EX | LOCK_NB) && (!is_new || errno == EWOULDBLOCK))
		return false;
	return is_named(fd, path);
}

/* False: another launcher has the claim. Where none can be made, as on a full disk, each speaks for itself. To make a
 * file that is there costs a server of files more than to open it. */
static bool claim_take(const struct run *run)
{
	char path[PATH_MAX + 16];
	bool is_new;
	int fd;

	snprintf(path, sizeof(path), "%s/.hang", run->directory);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	is_new = fd < 0;
	if (is_new && (fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) < 0 &&
	    errno == EEXIST)
		return false;
	if (fd >= 0 && !claim_is_free(fd, path, is_new)) {
		close(fd);
		return false;
	}
	verdict.claim = fd;
	verdict.has_claim = true;
	return true;
}

static void claim_close(void)
{
	if (verdict.claim >= 0)
		close(verdict.claim);
	verdict.claim = -1;
}

/* The file may be another launcher's where locks are local to a node. */
static void claim_leave(const struct run *run)
{
	char path[PATH_MAX + 16];

	if (!verdict.has_claim)
		return;
	snprintf(path, sizeof(path), "%s/.hang", run->directory);
	if (verdict.claim >= 0 && is_named(verdict.claim, path))
		unlink(path);
	claim_close();
	verdict.has_claim = false;
}

/* ---- the text ---- */

/* By a rename: another launcher may read it at any moment. */
static void text_share(const struct run *run)
{
	char path[PATH_MAX + 16], whole[PATH_MAX + 16];
	int fd;

	if (!verdict.has_claim)
		return;
	snprintf(path, sizeof(path), "%s/.hang", run->directory);
	snprintf(whole, sizeof(whole), "%s/.hang.new", run->directory);
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	flock(fd, LOCK_EX | LOCK_NB);
	/* Empty where the disk is full: then only this launcher has it. */
	if ((write(fd, verdict.text, verdict.bytes) == (ssize_t)verdict.bytes || !ftruncate(fd, 0)) &&
	    !rename(whole, path)) {
		claim_close();
		verdict.claim = fd;
	} else {
		close(fd);
	}
}

/* That of another launcher. */
static void text_borrow(const struct run *run)
{
	char path[PATH_MAX + 16];
	ssize_t n;
	int fd;

	if (verdict.bytes || verdict.has_claim)
		return;
	snprintf(path, sizeof(path), "%s/.hang", run->directory);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, verdict.text, sizeof(verdict.text));
	verdict.bytes = n > 0 ? (size_t)n : 0;
	close(fd);
}

static void text_write(const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(STDERR_FILENO, text, bytes);

		if (n < 0 && errno != EINTR)
			return;
		text += n > 0 ? n : 0;
		bytes -= n > 0 ? (size_t)n : 0;
	}
}

/* False: there is none. */
static bool end_say(const struct run *run)
{
	bool is_unread = forwarder_is_daemon() && getppid() != run->parent;

	if (!verdict.bytes || run->options.stats == STATS_FALSE || is_unread)
		return false;
	if (!verdict.is_said && mark(run, ".verdict", verdict.text, verdict.bytes)) {
		text_write(verdict.text, verdict.bytes);
		path_say(run);
	}
	verdict.is_said = true;
	return true;
}

static bool report_start(const struct run *run)
{
	const char *arguments[] = {run->report, "stats", "--quiet", "--verdict", run->directory, NULL};
	int ends[2], null;
	sigset_t none;

	if (!run->report[0] || pipe2(ends, O_CLOEXEC))
		return false;
	verdict.report = fork();
	if (!verdict.report) {
		null = open("/dev/null", O_RDWR);
		dup2(ends[1], STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		signal(SIGCHLD, SIG_DFL);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		execv(arguments[0], (char *const *)arguments);
		_exit(EXIT_NOT_FOUND);
	}
	close(ends[1]);
	if (verdict.report < 0) {
		verdict.report = 0;
		close(ends[0]);
		return false;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	verdict.pipe = ends[0];
	verdict.read_bytes = 0;
	return true;
}

/* Returns whether the report has ended. */
static bool report_collect(struct run *run)
{
	struct rusage r;
	ssize_t n;
	int status;

	do {
		size_t room = sizeof(verdict.read) - verdict.read_bytes;
		char rest[512];

		n = room ? read(verdict.pipe, verdict.read + verdict.read_bytes, room)
			 : read(verdict.pipe, rest, sizeof(rest));
		verdict.read_bytes += n > 0 && room ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0 || wait4(verdict.report, &status, 0, &r) != verdict.report)
		return false;
	close(verdict.pipe);
	verdict.report = 0;
	run->helpers_ns += usage_cpu_ns(&r);
	verdict.bytes = WIFEXITED(status) && WEXITSTATUS(status) == FOUND ? verdict.read_bytes : 0;
	memcpy(verdict.text, verdict.read, verdict.bytes);
	text_share(run);
	return true;
}

static void report_kill(void)
{
	if (!verdict.report)
		return;
	kill(verdict.report, SIGKILL);
	waitpid(verdict.report, NULL, 0);
	close(verdict.pipe);
	verdict.report = 0;
}

/* ---- while COMMAND runs ---- */

/* Asks for the text if it is wanted. What is not possible now is tried again: no process can be made, or another
 * launcher has the text, and may be killed. */
static void wanted_try(struct run *run)
{
	verdict.tried_ns = clock_monotonic_ns();
	if (verdict.report || (!verdict.has_claim && !claim_take(run)))
		return;
	forwarder_find(run);
	verdict.is_wanted = !report_start(run) && run->report[0];
	if (!verdict.report && !verdict.is_wanted)
		claim_leave(run);
}

static void wanted_retry(struct run *run)
{
	if (!verdict.has_claim && verdict.retry_ms < RETRY_MOST_MS)
		verdict.retry_ms *= 2;
	wanted_try(run);
}

void verdict_prepare(struct run *run)
{
	if (!verdict.is_wanted || verdict.is_due)
		verdict.retry_ms = RETRY_MS;
	verdict.is_wanted = true;
	wanted_try(run);
}

void verdict_moved(const struct run *run)
{
	bool had_text = verdict.bytes > 0;

	if (verdict.is_due)
		return;
	verdict.bytes = 0;
	if (!verdict.report) {
		verdict.is_wanted = false;
		claim_leave(run);
	} else if (had_text)
		text_share(run); /* nothing: what others would print is over */
}

bool verdict_names(uint32_t pid)
{
	size_t length;
	char number[16];

	length = (size_t)snprintf(number, sizeof(number), " %u", pid);
	for (const char *at = verdict.text, *end = at + verdict.bytes; end - at > (ptrdiff_t)length; at++)
		if (!memcmp(at, number, length) && (at[length] < '0' || at[length] > '9'))
			return true;
	return false;
}

bool verdict_is_claimed(const struct run *run)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/.hang", run->directory);
	return verdict.has_claim || !access(path, F_OK);
}

bool verdict_say_live(void)
{
	size_t at = 0;

	if (verdict.report) /* a newer text comes */
		return false;
	while (!verdict.is_said_live && at < verdict.bytes) {
		char *line = verdict.text + at, *end = memchr(line, '\n', verdict.bytes - at);
		size_t length = end ? (size_t)(end - line) : verdict.bytes - at;

		say("%.*s", (int)length, line); /* the program writes to the same terminal */
		at += length + 1;
	}
	verdict.is_said_live |= verdict.bytes > 0;
	return verdict.is_said_live;
}

bool verdict_signal(const struct run *run)
{
	text_borrow(run);
	if (verdict.bytes && forwarder_is_daemon())
		verdict.held_ns = clock_monotonic_ns() + OTHERS_MS * 1000000ull;
	return verdict.held_ns ? false : end_say(run);
}

void verdict_after_signal(struct run *run, int signal)
{
	if (!signal_may_end(signal) || verdict.is_said || verdict.held_ns || run->options.hang_s <= 0)
		return;
	verdict.is_due = true;
	verdict_prepare(run);
}

int verdict_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns();

	if (verdict.held_ns > now)
		return (int)((verdict.held_ns - now) / 1000000) + 1;
	if (verdict.held_ns && !verdict.is_said)
		end_say(run);
	if (verdict.report) {
		if (!report_collect(run))
			return RETRY_MS; /* SIGCHLD comes before */
		if (verdict.is_due) /* what a newer one would find may have gone since */
			verdict.is_due = !end_say(run);
		verdict.tried_ns = 0;
	}
	if (verdict.is_wanted && now >= verdict.tried_ns + verdict.retry_ms * 1000000) {
		/* The launcher that had it has left it: there was nothing to say. */
		if (verdict.is_said || (!verdict.has_claim && !verdict_is_claimed(run)))
			verdict.is_wanted = false;
		else
			wanted_retry(run);
	}
	if (verdict.report)
		return RETRY_MS;
	if (verdict.is_wanted) {
		uint64_t due_ns = verdict.tried_ns + verdict.retry_ms * 1000000;

		return due_ns > now ? (int)((due_ns - now) / 1000000) + 1 : 0;
	}
	if (!verdict.bytes)
		claim_leave(run);
	return -1;
}

/* ---- at its end ---- */

/* Waits for the report, which is to print why COMMAND has failed before anything else is computed. */
static void report_wait(struct run *run)
{
	uint64_t limit_ns = clock_monotonic_ns() + DEATH_MS * 1000000ull, now;

	while (verdict.report && (now = clock_monotonic_ns()) < limit_ns) {
		struct pollfd end = {.fd = verdict.pipe, .events = POLLIN};

		poll(&end, 1, (int)((limit_ns - now) / 1000000) + 1);
		report_collect(run);
	}
}

void verdict_make(struct run *run)
{
	if (run->options.hang_s <= 0 || run->options.stats == STATS_FALSE || verdict_is_printed(run))
		return;
	forwarder_pass(run);
	report_kill();
	verdict.bytes = 0; /* of a look that may be old */
	if (report_start(run))
		report_wait(run);
	end_say(run);
}

static void held_wait(void)
{
	uint64_t now = clock_monotonic_ns();
	struct timespec rest = {0, 0};

	if (verdict.held_ns > now)
		rest.tv_nsec = (long)(verdict.held_ns - now);
	nanosleep(&rest, NULL);
}

void verdict_end(struct run *run)
{
	bool is_due = verdict.is_due || WIFSIGNALED(run->status) || WEXITSTATUS(run->status);

	if (verdict.held_ns && !verdict.is_said) {
		held_wait();
		end_say(run);
	} else if (is_due && getppid() != run->parent && (verdict.bytes || verdict_is_claimed(run))) {
		/* COMMAND has failed because mpirun is gone: what was seen before is the cause. */
		forwarder_pass(run);
		end_say(run);
	} else if (is_due) {
		verdict_make(run);
	}
	report_kill();
	claim_leave(run);
}
