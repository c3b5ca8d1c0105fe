/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/common/clock.h"

void say(const char *format, ...)
{
	char text[PATH_MAX + 1024] = "pillion: ";
	size_t used = strlen(text);
	va_list list;

	va_start(list, format);
	vsnprintf(text + used, sizeof(text) - used - 1, format, list);
	va_end(list);
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	}
	strcat(text, "\n");
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		return; /* nobody to tell */
}

/* A file of ours must not become COMMAND's stdin, stdout or stderr where these were closed. */
static void standard_descriptors_hold(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Signals are taken by sigwaitinfo. Ours are kept as they were for COMMAND. A limit on file sizes is the user's
 * wish for COMMAND, and would make our own writes fail. */
static void take_control(struct launch *l)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	struct rlimit limit;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &l->mask);
	sigaction(SIGCHLD, &action, &l->child_action);
	getrlimit(RLIMIT_FSIZE, &l->file_size);
	limit.rlim_cur = limit.rlim_max = RLIM_INFINITY;
	if (setrlimit(RLIMIT_FSIZE, &limit)) {
		limit.rlim_cur = limit.rlim_max = l->file_size.rlim_max;
		setrlimit(RLIMIT_FSIZE, &limit);
	}
}

static void identity_find(struct launch *l)
{
	struct utsname name;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	uname(&name);
	index_host(l->host, sizeof(l->host), name.nodename);
	if (!f || fscanf(f, "%36s", l->boot) != 1)
		strcpy(l->boot, "00000000");
	if (f)
		fclose(f);
	index_name(l->index, sizeof(l->index), l->host, l->boot);
	while (!l->run && getrandom(&l->run, sizeof(l->run), 0) < 0)
		l->run = monotonic_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid();
}

/* 0, or the errno of trying. */
static int executable(const char *path)
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

	if (by_path && is_missing)
		say("%s: command not found", name);
	else
		say("%s: %s", name, strerror(error));
	return is_missing ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* As execvp: a file that may not be executed is passed over, but remembered. */
static int program_find(struct launch *l)
{
	const char *name = l->command[0], *path = getenv("PATH");
	int error = ENOENT;

	if (!*name)
		return program_missing("''", ENOENT, true);
	if (strchr(name, '/')) {
		error = executable(name);
		if (strlen(name) >= sizeof(l->program))
			error = ENAMETOOLONG;
		if (error)
			return program_missing(name, error, false);
		strcpy(l->program, name);
		return 0;
	}
	for (path = path ? path : "/bin:/usr/bin"; path;) {
		int length = (int)strcspn(path, ":"), e;
		int n = snprintf(l->program, sizeof(l->program), "%.*s%s%s", length, path, length ? "/" : "./", name);

		e = n < (int)sizeof(l->program) ? executable(l->program) : ENAMETOOLONG;
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

/* In the child. A file without a head that the kernel knows is a shell script, as execvp has it. */
static int execute(const struct launch *l, char **environment)
{
	size_t count = 0;
	char **shell;

	setrlimit(RLIMIT_FSIZE, &l->file_size);
	sigaction(SIGCHLD, &l->child_action, NULL);
	if (!l->options.show_output)
		output_hide();
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	execve(l->program, l->command, environment);
	if (errno != ENOEXEC)
		return errno;
	while (l->command[count])
		count++;
	shell = calloc(count + 2, sizeof(*shell));
	if (!shell)
		return ENOMEM;
	shell[0] = (char *)"/bin/sh";
	shell[1] = (char *)l->program;
	memcpy(shell + 2, l->command + 1, count * sizeof(*shell)); /* with its NULL */
	execve(shell[0], shell, environment);
	return ENOEXEC;
}

/* The pipe closes when COMMAND is executed, or tells why it is not. */
static int command_start(struct launch *l, char **environment)
{
	int gate[2], error = 0;
	ssize_t n;

	if (pipe2(gate, O_CLOEXEC) || (l->child = fork()) < 0) {
		say("cannot start %s: %s", l->command[0], strerror(errno));
		return EXIT_USAGE;
	}
	if (!l->child) {
		error = execute(l, environment);
		n = write(gate[1], &error, sizeof(error));
		_exit(n == (ssize_t)sizeof(error) ? EXIT_NOT_EXECUTABLE : EXIT_USAGE);
	}
	close(gate[1]);
	do
		n = read(gate[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(gate[0]);
	if (n != (ssize_t)sizeof(error))
		return 0;
	waitpid(l->child, NULL, 0);
	/* The file is there: it is its interpreter that is missing. */
	if (error == ENOENT)
		say("%s: its interpreter is missing", l->command[0]);
	else
		say("%s: %s", l->command[0], strerror(error));
	return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int prepare(struct launch *l)
{
	int rc;

	paths_find(l);
	if (!l->library[0]) {
		say("libpillion.so is not where this installation should have it");
		return EXIT_USAGE;
	}
	rc = program_find(l);
	if (rc)
		return rc;
	identity_find(l);
	clock_init();
	preloadable_check(l->program, &l->preloadable);
	return capture_open(l);
}

static int start(struct launch *l)
{
	int rc = capture_write_launch(l);
	char **environment;

	if (!rc)
		rc = spool_prepare(l);
	if (!rc)
		rc = range_prepare(l);
	environment = rc ? NULL : environment_build(l);
	if (!rc && !environment)
		rc = EXIT_USAGE;
	if (!rc)
		rc = command_start(l, environment);
	if (rc) {
		if (l->spool[0])
			spool_finish(l, 0);
		capture_discard(l);
	}
	return rc;
}

/* The capture is whole at every moment; what follows COMMAND's end only adds to it. */
static void end(struct launch *l)
{
	unsigned living = wait_for_rest(l);

	if (living)
		range_leave(l);
	capture_line_clock(l);
	spool_finish(l, living);
	summary_print(l);
	summary_pack(l, living);
}

int main(int argc, char **argv)
{
	static struct launch l;
	int rc;

	standard_descriptors_hold();
	rc = launch_options(&l, argc, argv);
	if (rc)
		return rc < 0 ? 0 : rc;
	take_control(&l);
	rc = prepare(&l);
	if (!rc)
		rc = start(&l);
	if (rc)
		return rc;
	capture_line_bare(&l);
	supervise(&l);
	capture_line_child(&l);
	end(&l);
	return WIFSIGNALED(l.status) ? 128 + WTERMSIG(l.status) : WEXITSTATUS(l.status);
}
