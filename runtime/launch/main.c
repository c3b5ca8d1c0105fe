/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/outside/system_line.h"

/* Occupies closed standard descriptors, so that none of our files becomes COMMAND's stdin, stdout or stderr. */
static void standard_descriptors_hold(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Blocks all signals, which are then read by sigwaitinfo. What COMMAND is to inherit is saved first. A limit on file
 * sizes is meant for COMMAND and would make our own writes fail. */
static void take_control(struct run *run)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	struct rlimit limit;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &run->mask);
	sigaction(SIGCHLD, &action, &run->child_action);
	getrlimit(RLIMIT_FSIZE, &run->file_size);
	limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	if (setrlimit(RLIMIT_FSIZE, &limit)) {
		limit.rlim_cur = limit.rlim_max = run->file_size.rlim_max;
		setrlimit(RLIMIT_FSIZE, &limit);
	}
}

static void identity_find(struct run *run)
{
	struct utsname name;

	uname(&name);
	index_host(run->host, sizeof(run->host), name.nodename);
	if (!*system_line(SYSTEM_BOOT, run->boot, sizeof(run->boot)))
		strcpy(run->boot, "00000000");
	index_name(run->index, sizeof(run->index), run->host, run->boot);
	while (!run->id && sys_getrandom(&run->id, sizeof(run->id)) < 0)
		run->id = clock_monotonic_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
}

/* 0, or the errno that executing it would give. */
static int executable_check(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

static int program_missing(const char *name, int error, bool by_path)
{
	bool is_missing = error == ENOENT || error == ENOTDIR;

	const char *instead = by_path && is_missing ? verb_instead(name) : NULL;

	if (instead)
		say("%s: command not found; if the word of another tool is meant: %s", name, instead);
	else if (by_path && is_missing)
		say("%s: command not found", name);
	else
		say("%s: %s", name, strerror(error));
	return is_missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* Like execvp, skips files that may not be executed, and reports EACCES if no other is found. */
static int program_find(struct run *run)
{
	const char *name = run->command[0], *path = getenv("PATH");
	int error = ENOENT;

	if (!*name)
		return program_missing("''", ENOENT, true);
	if (strchr(name, '/')) {
		error = executable_check(name);
		if (strlen(name) >= sizeof(run->program))
			error = ENAMETOOLONG;
		if (error)
			return program_missing(name, error, false);
		strcpy(run->program, name);
		return 0;
	}
	for (path = path ? path : "/bin:/usr/bin"; path;) {
		int length = (int)strcspn(path, ":"), e;
		int n = snprintf(run->program, sizeof(run->program), "%.*s%s%s", length, path, length ? "/" : "./",
				 name);

		e = n < (int)sizeof(run->program) ? executable_check(run->program) : ENAMETOOLONG;
		if (!e)
			return 0;
		if (e == EACCES)
			error = EACCES;
		path = path[length] ? path + length + 1 : NULL;
	}
	return program_missing(name, error, true);
}

static void output_hide(void)
{
	int null = open("/dev/null", O_WRONLY);

	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* Runs in the child. Like execvp, treats a file of unknown format as a shell script. */
static int command_execute(const struct run *run, char **environment)
{
	size_t count = 0;
	char **shell;

	setrlimit(RLIMIT_FSIZE, &run->file_size);
	sigaction(SIGCHLD, &run->child_action, NULL);
	if (!run->options.show_output)
		output_hide();
	sigprocmask(SIG_SETMASK, &run->mask, NULL);
	execve(run->program, run->command, environment);
	if (errno != ENOEXEC)
		return errno;
	while (run->command[count])
		count++;
	shell = calloc(count + 2, sizeof(*shell));
	if (!shell)
		return ENOMEM;
	shell[0] = (char *)"/bin/sh";
	shell[1] = (char *)run->program;
	memcpy(shell + 2, run->command + 1, count * sizeof(*shell)); /* with its NULL */
	execve(shell[0], shell, environment);
	return ENOEXEC;
}

static int command_failed(const struct run *run, int error)
{
	/* The file exists, so its interpreter does not. */
	if (error == ENOENT)
		say("%s: its interpreter is missing", run->command[0]);
	else
		say("%s: %s", run->command[0], strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* `gate` is closed by a successful exec; otherwise the child writes its errno to it. If COMMAND is sampled by perf, the
 * child waits until `hold` is closed. */
static int command_start(struct run *run, char **environment)
{
	bool is_held = perf_prepare(run);
	int gate[2], hold[2] = {-1, -1}, error = 0;
	ssize_t n;

	if (pipe2(gate, O_CLOEXEC) || (is_held && pipe2(hold, O_CLOEXEC)) || (run->child = fork()) < 0) {
		say("cannot start %s: %s", run->command[0], strerror(errno));
		return EXIT_USAGE;
	}
	if (!run->child) {
		close(hold[1]);
		while (is_held && read(hold[0], &error, sizeof(error)) < 0 && errno == EINTR)
			;
		error = command_execute(run, environment);
		n = write(gate[1], &error, sizeof(error));
		_exit(n == (ssize_t)sizeof(error) ? EXIT_NOT_EXECUTABLE : EXIT_USAGE);
	}
	close(gate[1]);
	if (is_held) {
		perf_start(run);
		close(hold[0]);
		close(hold[1]);
	}
	do
		n = read(gate[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(gate[0]);
	if (n != (ssize_t)sizeof(error))
		return 0;
	waitpid(run->child, NULL, 0);
	return command_failed(run, error);
}

static int run_prepare(struct run *run)
{
	int rc = program_find(run);

	if (rc)
		return rc;
	run->parent = getppid();
	job_find(&run->job);
	step_find(run);
	identity_find(run);
	clock_init();
	preloadable_check(run->program, &run->preloadable);
	return 0;
}

/* Creates what processes record into, in the open capture. */
static int recording_begin(struct run *run)
{
	int rc;

	/* Measures the rate where the processor does not state it: COMMAND may be killed before any second reading. */
	clock_ticks(0);
	rc = spool_prepare(run); /* the line of the run states its path */
	if (!rc)
		rc = capture_line_run(run);
	if (!rc)
		rc = range_clock_prepare(run);
	if (!rc)
		spool_begin(run);
	return rc;
}

static void recording_discard(struct run *run)
{
	if (run->spool[0])
		spool_finish(run, 0);
	run->spool[0] = '\0';
	capture_discard(run);
}

/* In node-local storage. */
static int recording_open_local(struct run *run)
{
	char directory[PATH_MAX];
	size_t place = 0;

	while (spool_local(run, &place, directory)) {
		if (!capture_open_local(run, directory) && !recording_begin(run)) {
			say("recorded in %s on %s instead: keep it before the job ends", run->directory, run->host);
			return 0;
		}
		recording_discard(run);
	}
	return NO_CAPTURE;
}

static int recording_open(struct run *run)
{
	int rc = capture_open(run);

	if (!rc)
		rc = recording_begin(run);
	if (rc)
		recording_discard(run);
	return rc == NO_CAPTURE && run->job.scheduler ? recording_open_local(run) : rc;
}

/* Becomes COMMAND; returns only if that fails. */
static int run_bare(const struct run *run)
{
	say("COMMAND runs without being recorded");
	return command_failed(run, command_execute(run, environment_bare(run)));
}

static int run_start(struct run *run)
{
	char **environment = NULL;
	int rc;

	environment_paths(run);
	if (!run->library[0])
		say("libpillion.so was not found in this installation");
	rc = run->library[0] ? recording_open(run) : NO_CAPTURE;
	if (!rc) {
		python_prepare(run);
		environment = environment_build(run);
		energy_begin(run);
		rc = environment ? command_start(run, environment) : NO_CAPTURE;
		if (rc) {
			energy_discard();
			recording_discard(run);
		}
	}
	if (rc == NO_CAPTURE)
		rc = run->job.scheduler ? run_bare(run) : EXIT_USAGE;
	return rc;
}

/* The capture is complete without this: what happens after COMMAND has ended only adds to it. */
static void run_end(struct run *run)
{
	unsigned living = wait_rest(run);

	trigger_finish(run);
	session_finish(run);
	if (living)
		range_clock_leave(run);
	perf_finish(run, living > 0);
	usage_finish();
	energy_finish(run, living > 0);
	own_cost_launcher(run);
	capture_line_clock(run);
	spool_finish(run, living);
	summary_print(run);
	summary_export(run);
	summary_pack(run, living);
}

/* srun and sacct name the signal that has ended a task. */
static bool is_slurm_task(void)
{
	const char *task = getenv("SLURM_TASK_PID");

	return task && strtol(task, NULL, 10) == getpid();
}

/* Ends with COMMAND's status. A rank ends as COMMAND has ended: Hydra combines the states of its ranks, in which a
 * signal is another thing than a status. A signal that does not end this process, as the first one of a container,
 * leaves the status. */
static int end_as(const struct run *run)
{
	const int status = run->status;
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t one;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	if (forwarder_ends_ranks(run) || is_slurm_task()) {
		prctl(PR_SET_DUMPABLE, 0); /* a core file is that of COMMAND */
		sigaction(WTERMSIG(status), &action, NULL);
		sigemptyset(&one);
		sigaddset(&one, WTERMSIG(status));
		raise(WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	static struct run run;
	int rc;

	rc = argc > 0 ? verb_run(&run, argv) : VERB_NONE;
	if (rc != VERB_NONE)
		return rc;
	standard_descriptors_hold();
	rc = command_line_read(&run, argc, argv);
	if (rc)
		return rc < 0 ? 0 : rc;
	take_control(&run);
	rc = run_prepare(&run);
	if (!rc)
		rc = run_start(&run);
	if (rc)
		return rc;
	witness_begin(&run);
	oom_begin();
	capture_line_bare(&run);
	for (size_t i = 0; run.is_creator && i < run.note_count; i++)
		capture_line_note(&run, run.notes[i]);
	own_cost_calls(&run); /* COMMAND runs already: its start does not wait for this */
	wait_command(&run);
	witness_end(&run);
	capture_line_child(&run);
	oom_note(&run);
	verdict_end(&run);
	run_end(&run);
	return end_as(&run);
}
