/* SPDX-License-Identifier: Apache-2.0 */
/* short_io N INPUT OUTPUT: N short reads or writes by each of several descriptors, whose numbers are used again, then
 * SIGKILL. INPUT: 2 N reads, 13 N bytes. OUTPUT: 2 N reads, 3 N bytes; N writes, 7 N bytes. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void read_all(int fd, long n, size_t size)
{
	char bytes[16];

	while (n-- > 0)
		if (pread(fd, bytes, size, n % 100) != (ssize_t)size)
			abort();
}

int main(int argc, char **argv)
{
	long n = argc == 4 ? atol(argv[1]) : 0;
	int input, output, status, other;
	pid_t child;

	if (n < 1)
		return 2;
	input = open(argv[2], O_RDONLY);
	output = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (long i = 0; i < n; i++) {
		read_all(input, 1, 10);
		if (pwrite(output, "7 bytes", 7, i % 200) != 7)
			abort();
	}
	other = dup(input);
	read_all(other, n, 3);
	close(input);
	close(other);
	if (open(argv[3], O_RDONLY) != input)
		abort();
	read_all(input, n, 2);
	child = fork();
	if (!child) {
		read_all(input, n, 1);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		abort();
	raise(SIGKILL);
	return 1;
}
