/* SPDX-License-Identifier: Apache-2.0 */
/* reexec TIMES CALLS: makes CALLS usleep(100) calls, then execve's itself with TIMES - 1, until 0. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	long times, calls;
	char text[32];
	char *next[] = {argv[0], text, argv[2], NULL};

	if (argc != 3)
		return fputs("usage: reexec TIMES CALLS\n", stderr), 2;
	times = atol(argv[1]);
	calls = atol(argv[2]);
	for (long i = 0; i < calls; i++)
		usleep(100);
	if (!times)
		return 0;
	snprintf(text, sizeof(text), "%ld", times - 1);
	execve(argv[0], next, environ);
	return 9;
}
