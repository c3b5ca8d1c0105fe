/* SPDX-License-Identifier: Apache-2.0 */
/* A process in COMMAND's process group that blocks all signals and does nothing. Slurm and Open MPI send a signal to
 * each process of a rank, or to its group: COMMAND has it then, and a second one from us might end at once what the
 * first one asked to end in order. Such a signal is pending in this process, too; one sent to the launcher alone is
 * not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/sys.h"
#include "runtime/launch/run.h"

/* WAIT_MS: how much later than us it may receive a signal that is sent to one process after the other. */
enum { WAIT_MS = 100, STEP_MS = 5, DESCRIPTORS_MAX = 1024 };

static pid_t witness;
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

	witness = fork(); /* with all signals blocked */
	if (witness)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	descriptors_close();
	while (getppid() == launcher)
		pause();
	_exit(0);
}

void witness_begin(const struct run *run)
{
	if (run->job.scheduler || run->key[0])
		witness_start();
}

void witness_end(void)
{
	if (witness <= 0)
		return;
	kill(witness, SIGKILL);
	waitpid(witness, NULL, 0);
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

bool witness_has(int signal)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	pid_t last = witness;
	sigset_t pending;

	if (witness <= 0)
		return false;
	if (signal == repeated) {
		repeated = 0;
		return true;
	}
	for (int ms = 0; !is_pending(witness, signal); ms += STEP_MS) {
		if (ms >= WAIT_MS)
			return false;
		nanosleep(&step, NULL);
	}
	/* A new process has no signal pending. One that has come again meanwhile, as the first one came, is not pending
	 * in it either. */
	witness_start();
	sigpending(&pending);
	repeated = sigismember(&pending, signal) && !is_pending(witness, signal) ? signal : 0;
	kill(last, SIGKILL);
	waitpid(last, NULL, 0);
	return true;
}
