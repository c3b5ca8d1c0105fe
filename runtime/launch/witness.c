/* SPDX-License-Identifier: Apache-2.0 */
/* A process in the launcher's process group that blocks all signals and does nothing. A signal sent to the group
 * (kill -INT -PGID, timeout) reaches COMMAND without us, as does one that Slurm, Open MPI or systemd send to each
 * process: a second one from us might end at once what the first one asked to end in order. Such a signal is pending in
 * this process, too; one sent to the launcher alone is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/sys.h"

/* How much later than us it may receive a signal: one sent to the group reaches it first, because it is the youngest
 * process; others send to one process after the other. LONG_WAIT_MS: in a job step, and if the sender is in the group,
 * as timeout is, which signals its child and then the group. */
enum { WAIT_MS = 20, LONG_WAIT_MS = 100, STEP_MS = 5, DESCRIPTORS_MAX = 1024 };

static pid_t witness, last; /* last: the one before, which has been killed */
static bool is_in_step;
static int repeated; /* a signal that came again before this witness was there; 0: none */

static void descriptors_close(void)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, 0u, ~0u, 0u))
		return;
#endif
	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

static void witness_start(void)
{
	pid_t launcher = getpid();
	sigset_t one;

	witness = fork(); /* with all signals blocked */
	if (witness)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTTIN, SIG_IGN);
	sigemptyset(&one);
	sigaddset(&one, SIGTTIN);
	sigprocmask(SIG_UNBLOCK, &one, NULL); /* see witness_reset() */
	descriptors_close();
	while (getppid() == launcher)
		pause();
	_exit(0);
}

/* Has the signal no longer pending. Slurm sends SIGCONT to each process of a list, and then SIGTERM to those of the
 * same list, in which a new witness would not be: a signal that stops removes a pending SIGCONT, also where it is
 * ignored. After another signal a new process is the witness. The old one is not waited for at once: whoever sent the
 * signal may send SIGKILL meanwhile. */
static void witness_reset(int signal)
{
	if (signal == SIGCONT) {
		kill(witness, SIGTTIN);
		return;
	}
	if (last > 0)
		waitpid(last, NULL, 0);
	last = witness;
	witness_start();
	kill(last, SIGKILL);
}

void witness_begin(const struct run *run)
{
	is_in_step = run->job.scheduler || run->key[0];
	witness_start();
}

void witness_end(const struct run *run)
{
	if (witness <= 0)
		return;
	kill(witness, SIGKILL);
	if (!was_told_within(run, KILLED_MS) || !verdict_is_printed(run)) {
		waitpid(witness, NULL, 0);
		if (last > 0)
			waitpid(last, NULL, 0);
	}
	witness = 0;
}

static bool is_pending(pid_t pid, int signal)
{
	char path[48], text[4096];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (sys_read_file(path, text, sizeof(text)) <= 0)
		return false;
	at = strstr(text, "\nShdPnd:");
	return at && (strtoull(at + strlen("\nShdPnd:"), NULL, 16) >> (signal - 1) & 1);
}

/* Without us COMMAND would lead this group, and could not leave it by setsid() or setpgid(). */
static bool has_left_its_group(pid_t command)
{
	return getpgrp() == getpid() && getpgid(command) != getpgrp();
}

static bool has_ended(pid_t command)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)command, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

bool witness_has(const struct run *run, const siginfo_t *info)
{
	bool waits_long = is_in_step || getpgid(info->si_pid) == getpgrp();
	struct timespec step = {0, STEP_MS * 1000000L};
	int signal = info->si_signo;
	sigset_t pending;

	if (witness <= 0 || (!is_in_step && has_left_its_group(run->child)))
		return false;
	if (signal == repeated) {
		repeated = 0;
		return true;
	}
	for (int ms = 0; !is_pending(witness, signal); ms += STEP_MS) {
		if (ms >= (waits_long ? LONG_WAIT_MS : WAIT_MS) || has_ended(run->child))
			return false;
		nanosleep(&step, NULL);
	}
	/* A new process has no signal pending. One that has come again meanwhile, as the first one came, is not pending
	 * in it either. */
	witness_reset(signal);
	sigpending(&pending);
	repeated = sigismember(&pending, signal) && !is_pending(witness, signal) ? signal : 0;
	return true;
}
