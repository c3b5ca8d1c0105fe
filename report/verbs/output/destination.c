/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

FILE *private_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);

	return fd < 0 ? NULL : fdopen(fd, "w");
}

int destination_file(const char *path, bool is_forced, struct destination *ret, struct err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (is_forced ? O_TRUNC : O_EXCL), 0600);

	*ret = (struct destination){.name = path};
	if (fd < 0 && errno == EEXIST)
		return err_set(err, -EEXIST, "%s: file exists, use --force-overwrite to replace it", path);
	ret->file = fd < 0 ? NULL : fdopen(fd, "w");
	return ret->file ? 0 : err_set(err, -errno, "%s: %s", path, strerror(errno));
}

/* Splits in place. The caller frees the NULL-terminated array. */
static char **split_words(char *text)
{
	char **words = mem_alloc((strlen(text) / 2 + 2) * sizeof(*words)), *rest = NULL;
	size_t count = 0;

	for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
		words[count++] = word;
	words[count] = NULL;
	return words;
}

/* The command with `input` as its standard input; an errno. */
static int spawn_command(char **words, int input, pid_t *ret)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t reset;
	int code;

	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &reset);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	code = *words ? posix_spawnp(ret, *words, &actions, &attributes, words, environ) : ENOENT;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

int destination_command(const char *command, struct destination *ret, struct err *err)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	SCOPED_MEMORY char *text = mem_copy_text(command, strlen(command));
	SCOPED_MEMORY char **words = split_words(text);
	int pipes[2], code;

	*ret = (struct destination){.name = command};
	fflush(stdout);
	code = pipe2(pipes, O_CLOEXEC) ? errno : 0;
	if (!code) {
		code = spawn_command(words, pipes[0], &ret->command);
		close(pipes[0]);
		if (code)
			close(pipes[1]);
	}
	if (!code) {
		ret->file = fdopen(pipes[1], "w");
		sigaction(SIGPIPE, &ignore, &ret->at_pipe);
	} else {
		ret->command = 0;
		err_set(err, -code, "@%s: %s", command, strerror(code));
	}
	return -code;
}

static int wait_command(const struct destination *d, struct err *err)
{
	int status;

	while (waitpid(d->command, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "@%s: %s", d->name, strerror(errno));
	if (WIFSIGNALED(status))
		return err_set(err, -EIO, "@%s: ended by signal %d", d->name, WTERMSIG(status));
	if (WEXITSTATUS(status))
		return err_set(err, -EIO, "@%s: exit status %d", d->name, WEXITSTATUS(status));
	return 0;
}

int destination_close(struct destination *d, struct err *err)
{
	int failed = fflush(d->file) ? errno : ferror(d->file) ? EIO : 0;

	if (fclose(d->file) && !failed)
		failed = errno;
	if (d->command) {
		sigaction(SIGPIPE, &d->at_pipe, NULL);
		return wait_command(d, err);
	}
	return failed ? err_set(err, -failed, "%s: %s", d->name, strerror(failed)) : 0;
}
