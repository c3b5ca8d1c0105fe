/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, and child processes. */
#include "report/live/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/shared/common/sys.h"

/* CHILD_MS: a hundred times what the slowest one takes. */
enum { CHILD_MS = 60000, OUTPUT_MOST = 1 << 20 };

const char *const check_state_names[CHECK_STATES] = {"ok", "limited", "missing"};

struct check *check_add(struct doctor *d, const char *name, const char *format, ...)
{
	struct check *c = mem_new(d->checks, d->count, d->capacity, (struct check){.name = name});
	va_list list;

	va_start(list, format);
	buffer_vprint(&c->found, format, list);
	va_end(list);
	return c;
}

void check_worse(struct check *c, enum check_state state, const char *advice)
{
	if (state > c->state)
		c->state = state;
	if (c->advice.size)
		buffer_text(&c->advice, "; ");
	buffer_text(&c->advice, advice);
}

static int64_t now_ms(void)
{
	return (int64_t)(sys_clock_ns(CLOCK_MONOTONIC) / 1000000);
}

/* Reads until the end, the limit, or the time limit; false: the time is over. */
static bool read_all(int fd, struct buffer *ret)
{
	int64_t end = now_ms() + CHILD_MS;
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	char bytes[4096];
	ssize_t n;

	while (ret->size < OUTPUT_MOST) {
		int64_t left = end - now_ms();

		if (left <= 0)
			return false;
		if (poll(&wanted, 1, (int)left) <= 0)
			continue;
		n = read(fd, bytes, sizeof(bytes));
		if (n <= 0)
			return true;
		buffer_add(ret, bytes, (size_t)n);
	}
	return false;
}

int doctor_child(void (*act)(void *context), void *context, bool takes_errors, struct buffer *ret)
{
	int ends[2], status = -1;
	pid_t pid;

	fflush(NULL);
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid) {
		int none = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(none, STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		dup2(takes_errors ? ends[1] : none, STDERR_FILENO);
		act(context);
		fflush(stdout);
		_exit(0);
	}
	close(ends[1]);
	if (pid > 0 && !read_all(ends[0], ret))
		kill(pid, SIGKILL);
	close(ends[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void execute(void *context)
{
	char *const *words = context;

	execv(words[0], words);
	_exit(127);
}

int doctor_execute(char *const *words, bool takes_errors, struct buffer *ret)
{
	return doctor_child(execute, (void *)words, takes_errors, ret);
}
