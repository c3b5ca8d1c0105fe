/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libc with a stack that is not aligned to 16 bytes, against the ABI, as code in assembly language and a _start
 * in C may. Its output and status must be the same with and without recording. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef long function(long, long, long, long, long, long);

/* Calls `call` with these arguments and a stack whose address is 8 more than a multiple of 16. */
static __attribute__((noinline)) long unaligned(function *call, long a, long b, long c, long d, long e)
{
	register long fourth __asm__("rcx") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = 0;
	long result;

	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "sub $128, %%rsp\n\t"
			 "and $-16, %%rsp\n\t"
			 "push $0\n\t"
			 "call *%[call]\n\t"
			 "mov %%rbx, %%rsp"
			 : "=a"(result), "+D"(a), "+S"(b), "+d"(c), "+r"(fourth), "+r"(fifth), "+r"(sixth)
			 : [call] "r"(call), "a"(0)
			 : "rbx", "r10", "r11", "cc", "memory");
	return result;
}

/* Prints the name, the result and the error, which the call before left. */
static void print(const char *name, long result)
{
	int error = errno;

	printf("%s %d %d\n", name, (int)result, error);
	fflush(stdout);
	errno = 0;
}

#define CALL5(name, a, b, c, d, e)                                                                                     \
	print(#name, unaligned((function *)(void *)name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e)))
#define CALL4(name, a, b, c, d) CALL5(name, a, b, c, d, 0)
#define CALL3(name, a, b, c) CALL4(name, a, b, c, 0)
#define CALL2(name, a, b) CALL3(name, a, b, 0)
#define CALL1(name, a) CALL2(name, a, 0)

static void *run(void *mutex)
{
	CALL1(pthread_mutex_lock, mutex);
	CALL1(pthread_mutex_unlock, mutex);
	return mutex;
}

static void handle(int signal)
{
	(void)signal;
}

static void files(void)
{
	static char bytes[64];
	static struct iovec parts[] = {{bytes, 8}, {bytes, 8}};
	static struct stat st;
	int pair[2];
	FILE *file;

	CALL3(open, "/dev/zero", O_RDWR, 0);
	CALL4(openat, AT_FDCWD, "/nonexistent", O_RDONLY | O_CLOEXEC, 0);
	CALL3(read, 3, bytes, 8);
	CALL4(pread, 3, bytes, 8, 0);
	CALL3(readv, 3, parts, 2);
	CALL3(write, 3, bytes, 8);
	CALL3(writev, 3, parts, 2);
	CALL2(fstat, 3, &st);
	CALL2(stat, "/nonexistent", &st);
	CALL2(access, "/dev/null", R_OK);
	CALL3(fcntl, 3, F_GETFD, 0);
	CALL3(ioctl, 3, 0x5401, bytes);
	CALL2(dup2, 3, 20);
	CALL1(close, 20);
	CALL3(lseek, 3, 0, SEEK_SET);
	CALL2(pipe2, pair, O_CLOEXEC);
	CALL4(socketpair, AF_UNIX, SOCK_STREAM, 0, pair);
	CALL4(send, pair[0], bytes, 8, 0);
	CALL4(recv, pair[1], bytes, 8, 0);
	file = (FILE *)unaligned((function *)(void *)fopen, (long)"/dev/zero", (long)"r+", 0, 0, 0);
	CALL4(fread, bytes, 1, 8, file);
	CALL4(fwrite, bytes, 1, 8, file);
	CALL1(fflush, file);
	CALL1(fclose, file);
	CALL1(mkdir, "/nonexistent/directory");
	CALL1(unlink, "/nonexistent");
	CALL1(close, 3);
}

static void waits(void)
{
	static struct timespec moment = {0, 1000000};
	static struct timeval time = {0, 1000};
	static struct pollfd none[1];
	static struct sigaction action = {.sa_handler = handle};
	static sem_t semaphore;
	sigset_t set;

	CALL2(nanosleep, &moment, NULL);
	CALL4(clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
	CALL1(usleep, 1000);
	CALL3(poll, none, 0, 1);
	CALL5(select, 0, NULL, NULL, NULL, &time);
	CALL1(epoll_create1, EPOLL_CLOEXEC);
	CALL3(sem_init, &semaphore, 0, 0);
	CALL1(sem_post, &semaphore);
	CALL1(sem_wait, &semaphore);
	CALL1(sem_trywait, &semaphore);
	CALL3(sigaction, SIGUSR1, &action, NULL);
	CALL2(signal, SIGUSR2, SIG_IGN);
	CALL2(kill, getpid(), SIGUSR1);
	CALL1(raise, SIGUSR2);
	sigemptyset(&set);
	CALL3(sigprocmask, SIG_BLOCK, &set, NULL);
	CALL3(pthread_sigmask, SIG_BLOCK, &set, NULL);
	CALL2(sigaltstack, NULL, NULL);
	CALL1(alarm, 0);
}

static void others(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char *command[] = {"/bin/true", NULL};
	pthread_t thread;
	void *block, *map;
	int status;

	block = (void *)unaligned((function *)(void *)malloc, 1000, 0, 0, 0, 0);
	block = (void *)unaligned((function *)(void *)realloc, (long)block, 100000, 0, 0, 0);
	unaligned((function *)(void *)free, (long)block, 0, 0, 0, 0);
	map = (void *)unaligned((function *)(void *)mmap, 0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	CALL2(munmap, map, 4096);
	pthread_create(&thread, NULL, run, &mutex); /* glibc itself needs the alignment here */
	CALL2(pthread_join, thread, NULL);
	CALL2(pthread_mutex_init, &mutex, NULL);
	run(&mutex);
	CALL1(syscall, SYS_getuid);
	CALL4(syscall, SYS_futex, &status, 1, 1);
	CALL3(syscall, SYS_close, -1, 0);
	CALL2(prctl, 3, 0);
	status = (int)unaligned((function *)(void *)fork, 0, 0, 0, 0, 0);
	if (!status)
		unaligned((function *)(void *)_exit, 3, 0, 0, 0, 0);
	print("waitpid", unaligned((function *)(void *)waitpid, status, (long)&status, 0, 0, 0) > 0);
	print("status", status);
	status = (int)unaligned((function *)(void *)fork, 0, 0, 0, 0, 0);
	if (!status)
		unaligned((function *)(void *)execv, (long)command[0], (long)command, 0, 0, 0);
	print("execv", waitpid(status, &status, 0) > 0 && !status);
}

int main(void)
{
	files();
	waits();
	others();
	unaligned((function *)(void *)exit, 7, 0, 0, 0, 0);
}
