/* SPDX-License-Identifier: Apache-2.0 */
/* A SPANK plugin of Slurm: srun --pillion[=OPTIONS] records the processes of a step. It sets environment variables of
 * the tasks, before their programs are executed; at the end srun says why the step died or hung, if it did. No function
 * of it ever returns an error: without the library, or without a working directory, the step runs as without the
 * plugin, and the log of slurmd has a line that says why.
 *
 * Shapes: OPTIONS are long options of pillion, separated by spaces. Threads: slurmstepd calls each function in one
 * thread. Source of the interface: spank(7). */
#include <ctype.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(pillion, 1)

enum { WORDS_BYTES = 4096, NAME_BYTES = 64, VALUE_BYTES = 8192 };

static struct {
	bool is_asked;
	char words[WORDS_BYTES];
	const char *preloaded, *command;
	char capture[VALUE_BYTES]; /* in srun; "": none */
} spank = {.preloaded = PILLION_LIBRARY, .command = PILLION_COMMAND};

/* srun calls it, and slurmstepd on each node. */
static int option_take(int value, const char *argument, int is_remote)
{
	(void)value;
	(void)is_remote;
	spank.is_asked = true;
	snprintf(spank.words, sizeof(spank.words), "%s", argument ? argument : "");
	return ESPANK_SUCCESS;
}

static void variable_set(spank_t s, const char *name, const char *value)
{
	spank_err_t error = spank_setenv(s, name, value, 1);

	if (error != ESPANK_SUCCESS)
		slurm_info("pillion: %s was not set: %s", name, spank_strerror(error));
}

static bool variable_has(spank_t s, const char *name, char *ret, int size)
{
	return spank_getenv(s, name, ret, size) == ESPANK_SUCCESS && *ret;
}

/* "--osrt-threshold=0" or "osrt-threshold=0" becomes PILLION_OSRT_THRESHOLD=0. */
static void word_set(spank_t s, char *word)
{
	char name[NAME_BYTES] = "PILLION_", *equals, *at = name + strlen(name);

	word += strspn(word, "-");
	equals = strchr(word, '=');
	if (equals)
		*equals = '\0';
	if (!*word || strlen(word) >= NAME_BYTES - sizeof("PILLION_")) {
		slurm_info("pillion: '%s' is not an option of --pillion", word);
		return;
	}
	for (; *word; word++)
		*at++ = *word == '-' ? '_' : (char)toupper((unsigned char)*word);
	*at = '\0';
	variable_set(s, name, equals ? equals + 1 : "true");
}

/* The user's own LD_PRELOAD stays behind the library. */
static void preload_set(spank_t s)
{
	char own[VALUE_BYTES], all[2 * VALUE_BYTES + 1];

	if (variable_has(s, "LD_PRELOAD", own, sizeof(own)))
		snprintf(all, sizeof(all), "%s:%s", spank.preloaded, own);
	else
		snprintf(all, sizeof(all), "%s", spank.preloaded);
	variable_set(s, "LD_PRELOAD", all);
}

/* All tasks of a step, on all nodes, have one capture in the working directory of the step. False: it has none. */
static bool capture_name(spank_t s, char ret[VALUE_BYTES])
{
	char directory[VALUE_BYTES / 2];
	uint32_t job = 0, step = 0;

	spank_get_item(s, S_JOB_ID, &job);
	spank_get_item(s, S_JOB_STEPID, &step);
	if (!getcwd(directory, sizeof(directory)))
		return false;
	snprintf(ret, VALUE_BYTES, "%s/pillion-%u.%u.pillion", directory, job, step);
	return true;
}

static void output_set(spank_t s)
{
	char own[VALUE_BYTES], name[VALUE_BYTES];

	if (variable_has(s, "PILLION_OUTPUT", own, sizeof(own)))
		return;
	if (capture_name(s, name))
		variable_set(s, "PILLION_OUTPUT", name);
	else
		slurm_info("pillion: the step has no working directory, so it is not recorded");
}

/* A line of plugstack.conf: optional PATH/pillion_spank.so [library=PATH] [command=PATH]. */
int slurm_spank_init(spank_t s, int count, char **words)
{
	static struct spank_option option = {
		"pillion", "[OPTIONS]", "record the step with pillion; OPTIONS: its long ones, with spaces", 2, 0,
		option_take};

	for (int i = 0; i < count; i++)
		if (!strncmp(words[i], "library=", strlen("library=")))
			spank.preloaded = words[i] + strlen("library=");
		else if (!strncmp(words[i], "command=", strlen("command=")))
			spank.command = words[i] + strlen("command=");
	if (spank_option_register(s, &option) != ESPANK_SUCCESS)
		slurm_info("pillion: srun does not have the option --pillion here");
	return ESPANK_SUCCESS;
}

/* In each task, as its user, before its program. */
int slurm_spank_task_init(spank_t s, int count, char **words)
{
	char text[VALUE_BYTES], *rest = spank.words;

	(void)count;
	(void)words;
	if (!spank.is_asked || variable_has(s, "PILLION_OPT_OUT", text, sizeof(text)))
		return ESPANK_SUCCESS;
	if (access(spank.preloaded, R_OK)) {
		slurm_info("pillion: %s cannot be read, so the step is not recorded", spank.preloaded);
		return ESPANK_SUCCESS;
	}
	for (char *word = strtok_r(rest, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		word_set(s, word);
	output_set(s);
	preload_set(s);
	return ESPANK_SUCCESS;
}

/* In srun, when the step has its number. */
int slurm_spank_local_user_init(spank_t s, int count, char **words)
{
	const char *own = getenv("PILLION_OUTPUT"), *option = strstr(spank.words, "output=");

	(void)count;
	(void)words;
	if (!spank.is_asked || getenv("PILLION_OPT_OUT"))
		return ESPANK_SUCCESS;
	if (option)
		sscanf(option, "output=%8191s", spank.capture);
	else if (own)
		snprintf(spank.capture, sizeof(spank.capture), "%s", own);
	else if (!capture_name(s, spank.capture))
		*spank.capture = '\0';
	return ESPANK_SUCCESS;
}

/* A file system that hangs must not keep srun, so only the command looks at it. */
#define VERDICT_SECONDS "10"

/* Reads what the command says about the capture: "" if the step neither died nor hung, if there is no capture, or if
 * its file system does not answer. */
static void verdict_read(char *ret, size_t size)
{
	char *arguments[] = {"env", "-u", "LD_PRELOAD", "timeout", "--kill-after=1", VERDICT_SECONDS,
			     (char *)spank.command, "stats", "--verdict", spank.capture, NULL};
	posix_spawn_file_actions_t files;
	size_t used = 0;
	ssize_t n = 1;
	pid_t pid;
	int ends[2];

	*ret = '\0';
	if (pipe2(ends, O_CLOEXEC))
		return;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], 1);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, "env", &files, NULL, arguments, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	while (pid > 0 && used + 1 < size && (n = read(ends[0], ret + used, size - 1 - used)) > 0)
		used += (size_t)n;
	ret[used] = '\0';
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* There is no launcher that would say it. The tasks have ended, on all nodes. */
int slurm_spank_exit(spank_t s, int count, char **words)
{
	char text[VALUE_BYTES];

	(void)s;
	(void)count;
	(void)words;
	if (spank_context() != S_CTX_LOCAL || !*spank.capture)
		return ESPANK_SUCCESS;
	verdict_read(text, sizeof(text));
	if (*text)
		fprintf(stderr, "capture %s: %s", spank.capture, text);
	return ESPANK_SUCCESS;
}
