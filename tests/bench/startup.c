/* SPDX-License-Identifier: Apache-2.0 */
/* startup RUNS SETTINGS COMMAND [ARG]...
 * Starts COMMAND RUNS times bare and RUNS times with SETTINGS (NAME=VALUE words separated by spaces) added to its
 * environment, in turn, and prints for both the wall time from spawn to wait:
 *	bare_median=NS bare_min=NS with_median=NS with_min=NS */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

extern char **environ;

enum { MAX_RUNS = 100000, MAX_SETTINGS = 32 };

static double spawn_ns(char **argv, char **environment, const posix_spawn_file_actions_t *actions)
{
	uint64_t start = bench_now_ns();
	int status = 0, error;
	pid_t pid;

	error = posix_spawnp(&pid, argv[0], actions, NULL, argv, environment);
	if (error) {
		fprintf(stderr, "startup: %s: %s\n", argv[0], strerror(error));
		exit(1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status) {
		fprintf(stderr, "startup: %s ended with wait status %d\n", argv[0], status);
		exit(1);
	}
	return (double)(bench_now_ns() - start);
}

static char **with_settings(char *settings)
{
	size_t count = 0, used = 0;
	char **environment;

	while (environ[count])
		count++;
	environment = calloc(count + MAX_SETTINGS + 1, sizeof(*environment));
	if (!environment) {
		perror("startup");
		exit(1);
	}
	for (char *word = strtok(settings, " "); word && used < MAX_SETTINGS; word = strtok(NULL, " "))
		environment[used++] = word;
	memcpy(environment + used, environ, count * sizeof(*environ));
	return environment;
}

int main(int argc, char **argv)
{
	posix_spawn_file_actions_t actions;
	char **environment;
	double *bare, *with, median;
	size_t runs;

	if (argc < 4) {
		fputs("usage: startup RUNS SETTINGS COMMAND [ARG]...\n", stderr);
		return 2;
	}
	runs = (size_t)bench_number(argv[1], "RUNS", 1, MAX_RUNS);
	environment = with_settings(argv[2]);
	bare = calloc(runs, sizeof(*bare));
	with = calloc(runs, sizeof(*with));
	if (!bare || !with) {
		perror("startup");
		return 1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	for (size_t i = 0; i < 3; i++) { /* into the page cache */
		spawn_ns(argv + 3, environ, &actions);
		spawn_ns(argv + 3, environment, &actions);
	}
	for (size_t i = 0; i < runs; i++) {
		bare[i] = spawn_ns(argv + 3, environ, &actions);
		with[i] = spawn_ns(argv + 3, environment, &actions);
	}
	median = bench_median(bare, runs);
	printf("bare_median=%.0f bare_min=%.0f", median, bare[0]);
	median = bench_median(with, runs);
	printf(" with_median=%.0f with_min=%.0f\n", median, with[0]);
	return 0;
}
