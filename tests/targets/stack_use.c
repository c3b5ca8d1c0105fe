/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use: prints how many bytes of its caller's stack each of some calls uses, measured on a painted stack, the
 * first time and again. stack_use small N: N threads, each with the smallest stack that pthread allows, make such
 * calls. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STACK = 256 << 10, SKIP = 256, PAINT = 0xa5 };

static unsigned char *stack;
static unsigned char *from; /* the frame of the function that makes the call */
static int fds[2];

__attribute__((noinline)) static void call_sleep(void)
{
	from = __builtin_frame_address(0);
	nanosleep(&(struct timespec){0, 1000}, NULL);
}

__attribute__((noinline)) static void call_sleep_elsewhere(void)
{
	from = __builtin_frame_address(0);
	usleep(1);
}

__attribute__((noinline)) static void call_write(void)
{
	from = __builtin_frame_address(0);
	if (write(fds[1], "x", 1) != 1)
		abort();
}

__attribute__((noinline)) static void call_read(void)
{
	char byte;

	from = __builtin_frame_address(0);
	if (read(fds[0], &byte, 1) != 1)
		abort();
}

__attribute__((noinline)) static void call_open(void)
{
	from = __builtin_frame_address(0);
	close(open("/dev/null", O_RDONLY));
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {{"attach", call_sleep}, {"sleep", call_sleep}, {"usleep", call_sleep_elsewhere},
	     {"write", call_write},  {"read", call_read},   {"open", call_open}};

/* Bytes below the frame of the calling function that the call writes to; at least those that are not painted. */
__attribute__((noinline)) static size_t measure(void (*call)(void))
{
	unsigned char *top = (unsigned char *)__builtin_frame_address(0) - SKIP, *at = stack;

	for (unsigned char *p = stack; p < top; p++)
		*(volatile unsigned char *)p = PAINT;
	call();
	while (at < top && *at == PAINT)
		at++;
	return (size_t)(from - at);
}

static void *measure_all(void *unused)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			printf("%s.%d %zu\n", calls[i].name, round, measure(calls[i].call));
	return unused;
}

static void *call_all(void *unused)
{
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
			calls[i].call();
	return unused;
}

static void small_threads(int count)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, 16384))
		abort();
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, &attributes, call_all, NULL) || pthread_join(thread, NULL))
			abort();
	printf("%d\n", count);
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 1;
	if (argc > 2 && !strcmp(argv[1], "small")) {
		small_threads(atoi(argv[2]));
		return 0;
	}
	printf("measured\n"); /* stdio allocates its buffer here and not on the painted stack */
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	if (stack == MAP_FAILED || pthread_attr_setstack(&attributes, stack, STACK) ||
	    pthread_create(&thread, &attributes, measure_all, NULL) || pthread_join(thread, NULL))
		return 1;
	return 0;
}
