/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/mcp/mcp_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Bytes of an answer at most. */
enum { ANSWER_MOST = 256 << 10 };

uint64_t mcp_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void execute(char **words, int output, pid_t server)
{
	int none = open("/dev/null", O_RDWR);

	dup2(none, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == server)
		execv("/proc/self/exe", words);
	_exit(127);
}

int mcp_call_start(struct mcp_call *c, uint32_t seconds, struct err *err)
{
	SCOPED_MEMORY char **words = mem_alloc((c->words.count + 1) * sizeof(*words));
	pid_t server = getpid();
	int ends[2], code = 0;

	memcpy(words, c->words.items, c->words.count * sizeof(*words));
	if (pipe2(ends, O_CLOEXEC)) {
		code = err_set(err, -errno, "pipe: %s", strerror(errno));
	} else {
		c->pid = fork();
		if (!c->pid)
			execute(words, ends[1], server);
		if (c->pid < 0)
			code = err_set(err, -errno, "fork: %s", strerror(errno));
		close(ends[1]);
		c->output = ends[0];
		if (code)
			close(ends[0]);
	}
	if (code)
		c->pid = 0;
	c->end_ns = seconds ? mcp_now_ns() + seconds * 1000000000ull : UINT64_MAX;
	return code;
}

bool mcp_call_read(struct mcp_call *c)
{
	char bytes[65536];
	ssize_t size = read(c->output, bytes, sizeof(bytes));

	if (size < 0 && errno == EINTR)
		return true;
	if (size > 0 && c->answer.size <= ANSWER_MOST)
		buffer_add(&c->answer, bytes, (size_t)size);
	c->size += size > 0 ? (size_t)size : 0;
	return size > 0;
}

int mcp_call_end(struct mcp_call *c, bool is_killed, struct err *err)
{
	int status = -1;

	close(c->output);
	if (is_killed)
		kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	if (!is_killed && c->size && c->size <= ANSWER_MOST && WIFEXITED(status) && WEXITSTATUS(status) < 127)
		return 0;
	buffer_clear(&c->answer);
	if (is_killed)
		return err_set(err, -ETIMEDOUT,
			       "pillion %s has not ended in time: ask for less, or start the server with a larger "
			       "--time-limit",
			       c->words.items[1]);
	if (c->size > ANSWER_MOST)
		return err_set(err, -E2BIG, "the answer has %zu bytes: ask for less, such as parts of long texts",
			       c->size);
	return err_set(err, -EIO, "pillion %s did not complete: wait status %d", c->words.items[1], status);
}

void mcp_call_free(struct mcp_call *c)
{
	buffer_done(&c->id);
	buffer_done(&c->answer);
	texts_done(&c->words);
	free(c);
}
