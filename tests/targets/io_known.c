/* SPDX-License-Identifier: Apache-2.0 */
/* io_known WAY...: reads and writes known numbers of bytes of the file `data` and of `out` in the working directory, in
 * each WAY in turn. "raw:" before a WAY: by system calls that are not made through libc. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 100000 };

static char bytes[BYTES];
static int in, out;

static void expect(int fact)
{
	if (!fact)
		abort();
}

static long enter(long number, long a, long b, long c)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return result;
#else
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#endif
}

static void read_all(int is_raw)
{
	expect(!lseek(in, 0, SEEK_SET));
	expect((is_raw ? enter(SYS_read, in, (long)bytes, BYTES) : read(in, bytes, BYTES)) == BYTES);
}

static void write_all(int is_raw)
{
	expect((is_raw ? enter(SYS_write, out, (long)bytes, BYTES) : write(out, bytes, BYTES)) == BYTES);
}

static void *in_thread(void *raw)
{
	read_all(raw != NULL);
	return NULL;
}

static void thread(int is_raw)
{
	pthread_t id;

	expect(!pthread_create(&id, NULL, in_thread, is_raw ? bytes : NULL) && !pthread_join(id, NULL));
}

static void in_child(int is_raw, int is_waited_for)
{
	pid_t pid = fork();
	siginfo_t info;

	expect(pid >= 0);
	if (!pid) {
		write_all(is_raw);
		_exit(0);
	}
	if (is_waited_for)
		expect(waitpid(pid, NULL, 0) == pid);
	else
		expect(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT)); /* it stays a zombie */
}

static void queue(int is_list)
{
	struct aiocb block = {.aio_fildes = in, .aio_buf = bytes, .aio_nbytes = BYTES, .aio_lio_opcode = LIO_READ};
	struct aiocb *list[] = {NULL, &block};
	const struct aiocb *const waited[] = {&block};

	expect(is_list ? !lio_listio(LIO_WAIT, list, 2, NULL) : !aio_read(&block));
	while (aio_error(&block) == EINPROGRESS)
		aio_suspend(waited, 1, NULL);
	expect(aio_return(&block) == BYTES);
}

static void splice_all(void)
{
	int pipes[2];

	expect(!pipe(pipes) && splice(in, &(off_t){0}, pipes[1], NULL, 50000, 0) == 50000);
	expect(splice(pipes[0], NULL, out, NULL, 50000, 0) == 50000);
}

static void map(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);

	expect(at != MAP_FAILED);
	memset(at, 1, 5000);
	expect(!munmap(at, BYTES) && mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

/* Executes this program with the remaining ways. */
static void execute(char **argv)
{
	execv("/proc/self/exe", argv);
	abort();
}

static void go(const char *way, int is_raw, char **argv)
{
	if (!strcmp(way, "read"))
		read_all(is_raw);
	else if (!strcmp(way, "write"))
		write_all(is_raw);
	else if (!strcmp(way, "pread"))
		expect(pread(in, bytes, BYTES, 0) == BYTES);
	else if (!strcmp(way, "sendfile"))
		expect(sendfile(out, in, &(off_t){0}, BYTES) == BYTES);
	else if (!strcmp(way, "splice"))
		splice_all();
	else if (!strcmp(way, "printf"))
		expect(printf("%s\n", "this is written when the program ends") > 0);
	else if (!strcmp(way, "map"))
		map();
	else if (!strcmp(way, "thread"))
		thread(is_raw);
	else if (!strcmp(way, "child") || !strcmp(way, "zombie"))
		in_child(is_raw, *way == 'c');
	else if (!strcmp(way, "aio") || !strcmp(way, "aio_list"))
		queue(way[3]);
	else if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(way, "exec"))
		execute(argv);
	else
		abort();
}

int main(int argc, char **argv)
{
	in = open("data", O_RDONLY | O_CLOEXEC);
	out = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	expect(in >= 0 && out >= 0 && !ftruncate(out, BYTES));
	for (int i = 1; i < argc; i++) {
		int is_raw = !strncmp(argv[i], "raw:", 4);

		argv[i] += is_raw ? 4 : 0;
		go(argv[i], is_raw, argv + i);
	}
	return 0;
}
