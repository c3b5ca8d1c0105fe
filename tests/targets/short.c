/* SPDX-License-Identifier: Apache-2.0 */
/* short kill CHILDREN SEED: forks children one after the other. Each makes poll() calls without end, counting them in
 *	shared memory after each one, until the parent kills it after a random time of at most 4 ms. Prints "PID CALLS"
 *	for each.
 * short exec CHILDREN: forks children that make one poll() each, then execute `short calls 3`.
 * short calls N: makes N poll() calls.
 * short nest DEPTH: makes one poll(), forks a child that does so too, and so on, and waits for it.
 * short grow CALLS FUNCTIONS: a child makes CALLS poll() calls, and one call each of up to 40 other functions. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void calls(long count)
{
	for (long i = 0; i < count; i++)
		poll(NULL, 0, 0);
}

static int await(pid_t pid)
{
	int status = -1;

	return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static int kill_children(long children, unsigned seed)
{
	_Atomic long *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return 1;
	srand(seed);
	for (long i = 0; i < children; i++) {
		pid_t pid;

		*made = 0;
		pid = fork();
		if (!pid)
			for (;; ++*made)
				poll(NULL, 0, 0);
		usleep((useconds_t)(rand() % 4000));
		kill(pid, SIGKILL);
		if (await(pid) != SIGKILL)
			return 1;
		printf("%d %ld\n", (int)pid, (long)*made);
	}
	return 0;
}

static int exec_children(long children, char *self)
{
	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid) {
			calls(1);
			execl(self, self, "calls", "3", (char *)NULL);
			_exit(9);
		}
		if (await(pid))
			return 1;
	}
	return 0;
}

static int nest(long depth)
{
	pid_t pid;

	calls(1);
	if (!depth)
		return 0;
	pid = fork();
	if (!pid)
		_exit(nest(depth - 1));
	return await(pid) != 0;
}

/* Functions that are recorded and otherwise do nothing. */
static void call_others(long functions)
{
	struct timespec none = {0};
	struct stat st;
	char byte;
	ssize_t ignored = 0;

	for (long i = 0; i < functions; i++)
		switch (i) {
		case 0: ignored += read(-1, &byte, 1); break;
		case 1: ignored += write(-1, &byte, 1); break;
		case 2: ignored += open("/", O_RDONLY | O_CREAT, 0600); break;
		case 3: ignored += fstat(-1, &st); break;
		case 4: ignored += stat("", &st); break;
		case 5: ignored += lstat("", &st); break;
		case 6: ignored += pread(-1, &byte, 1, 0); break;
		case 7: ignored += pwrite(-1, &byte, 1, 0); break;
		case 8: ignored += access("", 0); break;
		case 9: ignored += mkdir("", 0); break;
		case 10: ignored += rmdir(""); break;
		case 11: ignored += unlink(""); break;
		case 12: ignored += rename("", ""); break;
		case 13: ignored += fsync(-1); break;
		case 14: ignored += ftruncate(-1, 0); break;
		case 15: ignored += socket(-1, 0, 0); break;
		case 16: ignored += recv(-1, &byte, 1, 0); break;
		case 17: ignored += send(-1, &byte, 1, 0); break;
		case 18: ignored += listen(-1, 0); break;
		case 19: ignored += nanosleep(&none, NULL); break;
		case 20: ignored += readlink("", &byte, 1); break;
		case 21: ignored += symlink("", ""); break;
		case 22: ignored += link("", ""); break;
		case 23: ignored += chmod("", 0); break;
		case 24: ignored += fdatasync(-1); break;
		case 25: ignored += openat(-1, "x", O_RDONLY); break;
		case 26: ignored += lseek(-1, 0, 0); break;
		case 27: ignored += dup(-1); break;
		case 28: ignored += shutdown(-1, 0); break;
		case 29: ignored += accept(-1, NULL, NULL); break;
		case 30: ignored += connect(-1, NULL, 0); break;
		case 31: ignored += bind(-1, NULL, 0); break;
		case 32: ignored += usleep(0); break;
		}
	if (ignored == 1)
		puts("one of the calls succeeded");
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0, second = argc > 3 ? atol(argv[3]) : 0;
	pid_t pid;

	if (argc > 3 && !strcmp(argv[1], "kill"))
		return kill_children(count, (unsigned)second);
	if (argc > 2 && !strcmp(argv[1], "exec"))
		return exec_children(count, argv[0]);
	if (argc > 2 && !strcmp(argv[1], "calls"))
		return calls(count), 0;
	if (argc > 2 && !strcmp(argv[1], "nest"))
		return nest(count);
	if (argc > 3 && !strcmp(argv[1], "grow")) {
		pid = fork();
		if (!pid) {
			calls(count);
			call_others(second);
			_exit(0);
		}
		return await(pid) != 0;
	}
	return fputs("usage: short kill|exec|calls|nest|grow N [M]\n", stderr), 2;
}
