/* SPDX-License-Identifier: Apache-2.0 */
/* The program that started this rank, forwards what it writes, and ends the other ranks when one has failed.
 *
 * Open MPI's mpirun reads what its ranks write to stderr from pipes and writes it to its own stderr, but not while it
 * ends them: it sends SIGCONT, sleeps for a second, sends SIGTERM, and sleeps for another one before SIGKILL; at a
 * second SIGTERM, such as timeout(1) sends to the group after its child, it exits at once. What a launcher says of the
 * end therefore goes to the stderr of mpirun itself, if that runs on this host, and as soon as SIGCONT announces it.
 * Where it passes the signals of job control on to ranks, SIGCONT may also continue them.
 * On other hosts a daemon forwards, which ends as soon as it is told to. Hydra forwards until all have ended, and sends
 * SIGKILL 50 ms after SIGTERM. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/sys.h"

/* Numbers of system calls, the same on all architectures, that older headers do not have. */
enum { PIDFD_OPEN = 434, PIDFD_GETFD = 438, ANCESTORS_MAX = 16 };

enum forwarder_kind { FORWARDER_NONE, FORWARDER_MPIRUN, FORWARDER_DAEMON, FORWARDER_HYDRA };

static const struct {
	const char *program;
	enum forwarder_kind kind;
} programs[] = {
	{"orterun", FORWARDER_MPIRUN},
	{"prterun", FORWARDER_MPIRUN},
	{"prte", FORWARDER_MPIRUN},
	{"mpirun", FORWARDER_MPIRUN},
	{"mpirun.openmpi", FORWARDER_MPIRUN},
	{"orted", FORWARDER_DAEMON},
	{"prted", FORWARDER_DAEMON},
	{"hydra_pmi_proxy", FORWARDER_HYDRA},
};

static struct {
	bool is_sought, has_announced_end;
	enum forwarder_kind kind;
	uint32_t pid;
	int log; /* 0: there is none, or it is our stderr already */
} forwarder;

/* "" if it cannot be read. */
static void target_of(int directory, const char *link, char ret[PATH_MAX])
{
	ssize_t n = readlinkat(directory, link, ret, PATH_MAX - 1);

	ret[n < 0 ? 0 : n] = '\0';
}

static enum forwarder_kind kind_of(uint32_t pid)
{
	char link[48], path[PATH_MAX];

	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	target_of(AT_FDCWD, link, path);
	for (size_t i = 0; strrchr(path, '/') && i < sizeof(programs) / sizeof(*programs); i++)
		if (!strcmp(strrchr(path, '/') + 1, programs[i].program))
			return programs[i].kind;
	return FORWARDER_NONE;
}

/* Whether it has the pipe that is our stderr: that of a rank may be a file or another pipe. By names: to ask for the
 * status of a file may block, as where its server does not answer. */
static bool reads_stderr(uint32_t pid)
{
	char path[48], own[PATH_MAX], its[PATH_MAX];
	struct dirent *entry;
	bool reads = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	target_of(AT_FDCWD, "/proc/self/fd/2", own);
	d = strncmp(own, "pipe:", strlen("pipe:")) ? NULL : opendir(path);
	while (d && !reads && (entry = readdir(d))) {
		target_of(dirfd(d), entry->d_name, its);
		reads = !strcmp(its, own);
	}
	if (d)
		closedir(d);
	return reads;
}

/* To a file that is not opened for appending mpirun writes at its own offset, which another descriptor has not. */
static bool may_be_opened(uint32_t pid)
{
	char path[48], text[256];
	const char *flags;
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u/fd/2", pid);
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return true;
	snprintf(path, sizeof(path), "/proc/%u/fdinfo/2", pid);
	flags = sys_read_file(path, text, sizeof(text)) > 0 ? strstr(text, "flags:") : NULL;
	return flags && strtoul(flags + strlen("flags:"), NULL, 8) & O_APPEND;
}

static int stderr_of(uint32_t pid)
{
	int process = (int)syscall(PIDFD_OPEN, pid, 0), fd = -1;
	char path[48];

	if (process >= 0)
		fd = (int)syscall(PIDFD_GETFD, process, STDERR_FILENO, 0);
	if (process >= 0)
		close(process);
	snprintf(path, sizeof(path), "/proc/%u/fd/2", pid);
	if (fd >= 0 || !may_be_opened(pid))
		return fd;
	fd = open(path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0) /* which was for a pipe that nobody reads */
		fcntl(fd, F_SETFL, O_APPEND);
	return fd;
}

void forwarder_find(const struct run *run)
{
	struct process_stat stat = {.parent_pid = (uint32_t)getppid()};
	int fd = -1;

	if (forwarder.is_sought || !run->key[0])
		return;
	forwarder.is_sought = true;
	for (int depth = 0; stat.parent_pid > 1 && depth < ANCESTORS_MAX && !forwarder.kind; depth++) {
		forwarder.pid = stat.parent_pid;
		forwarder.kind = kind_of(forwarder.pid);
		if (!process_stat_read(forwarder.pid, &stat))
			break;
	}
	if (forwarder.kind == FORWARDER_MPIRUN && reads_stderr(forwarder.pid))
		fd = stderr_of(forwarder.pid);
	forwarder.log = fd > STDERR_FILENO ? fd : 0;
}

void forwarder_pass(const struct run *run)
{
	forwarder_find(run);
	if (!forwarder.log)
		return;
	dup2(forwarder.log, STDERR_FILENO);
	close(forwarder.log);
	forwarder.log = 0;
}

bool forwarder_is_daemon(void)
{
	return forwarder.kind == FORWARDER_DAEMON;
}

bool forwarder_ends_ranks(const struct run *run)
{
	forwarder_find(run);
	return forwarder.kind != FORWARDER_NONE;
}

bool forwarder_announces_end(const struct run *run, const siginfo_t *info)
{
	bool announces = info->si_signo == SIGCONT && info->si_code == SI_USER && !run->was_stopped &&
			 forwarder_ends_ranks(run) && info->si_pid == (pid_t)forwarder.pid;

	forwarder.has_announced_end |= announces;
	return announces;
}

bool forwarder_has_announced_end(void)
{
	return forwarder.has_announced_end;
}
