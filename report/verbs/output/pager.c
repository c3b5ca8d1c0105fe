/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS_UNKNOWN = 24, EXIT_NO_PROGRAM = 127 };

static const char *pager_command(void)
{
	const char *own = getenv("PILLION_PAGER"), *common = getenv("PAGER");

	return own ? own : common ? common : "less";
}

bool pager_has_reader(void)
{
	return isatty(STDOUT_FILENO) && !getenv("OMPI_COMM_WORLD_RANK") && !getenv("PMI_RANK");
}

FILE *pager_begin(void)
{
	const char *command = pager_command();

	if (!pager_has_reader() || !*command || !strcmp(command, "cat"))
		return NULL;
	return tmpfile();
}

static size_t terminal_rows(void)
{
	struct winsize size;

	return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row ? size.ws_row : ROWS_UNKNOWN;
}

static int copy_out(FILE *file)
{
	char bytes[65536];
	size_t n;

	rewind(file);
	while ((n = fread(bytes, 1, sizeof(bytes), file)))
		if (fwrite(bytes, 1, n, stdout) != n)
			return errno;
	return fflush(stdout) ? errno : 0;
}

static size_t count_lines(FILE *file)
{
	size_t lines = 0;
	int c;

	rewind(file);
	while ((c = getc(file)) != EOF)
		lines += c == '\n';
	return lines;
}

/* Whether the pager could be run. */
static bool pager_run(FILE *file)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
	int status = 0;
	pid_t pid;

	rewind(file);
	sigaction(SIGINT, &ignore, &before); /* less uses it itself */
	pid = fork();
	if (!pid) {
		sigaction(SIGINT, &before, NULL);
		if (dup2(fileno(file), STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0)
			_exit(EXIT_NO_PROGRAM);
		setenv("LESS", "FRX", false);
		execl("/bin/sh", "sh", "-c", pager_command(), (char *)NULL);
		_exit(EXIT_NO_PROGRAM);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	sigaction(SIGINT, &before, NULL);
	return pid > 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_PROGRAM);
}

int pager_end(FILE *file)
{
	int code = fflush(file) ? errno : 0;

	if (!code && (count_lines(file) < terminal_rows() || !pager_run(file)))
		code = copy_out(file);
	fclose(file);
	return code;
}
