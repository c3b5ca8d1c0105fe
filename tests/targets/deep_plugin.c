/* SPDX-License-Identifier: Apache-2.0 */
/* A library for `cuda_lookups plugin`: its calls of libc, of a private library that has a function of libc's name, and
 * a child. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int killpg(int a, int b); /* not libc's, see deep_private.c */

__attribute__((visibility("default"))) int plugin_main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, status = 0;
	pid_t child;

	for (int i = 0; i < n; i++)
		usleep(2000);
	errno = 77;
	printf("%d %d %d\n", killpg(20, 1), killpg(20, 2), errno);
	fflush(stdout);
	child = fork();
	if (!child) {
		execlp("sh", "sh", "-c", "exit 5", (char *)NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("%d %s\n", WEXITSTATUS(status), dlsym(RTLD_DEFAULT, "killpg") == (void *)killpg ? "private" : "libc's");
	return 0;
}
