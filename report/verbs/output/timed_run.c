/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/timed_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/shared/common/sys.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof(ending) / sizeof(*ending) };

static volatile sig_atomic_t received;
static volatile pid_t running;

/* The terminal sends SIGINT to the command, too; kill(1) to this process only. A second signal kills the command. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	if (running > 0 && (received || info->si_code <= 0))
		kill(running, received ? SIGKILL : signal);
	received = signal;
	errno = error;
}

static void catch_signals(struct sigaction *ret)
{
	struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};

	for (int i = 0; i < SIGNALS; i++) {
		sigaction(ending[i], NULL, &ret[i]);
		if (ret[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &act, NULL);
	}
}

/* The signals are blocked until `running` is set; the command begins with the mask of this process. */
static int start(char *const *argv, bool is_silent, const sigset_t *mask)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (is_silent)
		posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	code = posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (!code)
		running = pid;
	return -code;
}

/* The command's number is not signalled once it may belong to another process. */
static int await(void)
{
	const pid_t pid = running;
	siginfo_t ended;
	int status = 0;

	while (waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	running = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int timed_run(char *const *argv, bool is_silent, struct timed_run *ret, struct err *err)
{
	struct sigaction before[SIGNALS];
	sigset_t ours, mask;
	uint64_t start_ns;
	int code;

	sigemptyset(&ours);
	for (int i = 0; i < SIGNALS; i++)
		sigaddset(&ours, ending[i]);
	sigprocmask(SIG_BLOCK, &ours, &mask);
	catch_signals(before);
	start_ns = sys_clock_ns(CLOCK_MONOTONIC);
	code = start(argv, is_silent, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (code)
		err_set(err, code, "%s: %s", argv[0], strerror(-code));
	else
		ret->status = await();
	ret->ns = sys_clock_ns(CLOCK_MONOTONIC) - start_ns;
	for (int i = 0; i < SIGNALS; i++)
		sigaction(ending[i], &before[i], NULL);
	if (received)
		return err_set(err, -EINTR, "ended by signal %d", (int)received);
	return code;
}

int timed_run_signal(void)
{
	return received;
}

void timed_run_die(void)
{
	signal(received, SIG_DFL);
	raise(received);
}

void timed_run_failure(int status, struct buffer *ret)
{
	if (WIFSIGNALED(status))
		buffer_print(ret, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		buffer_print(ret, "ended with status %d", WEXITSTATUS(status));
}
