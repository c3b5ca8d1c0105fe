/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_opening HOW N: an event that occurs while a thread's first call opens CUPTI, followed by N memsets.
 *   cancel   it is cancelled
 *   jump     a signal's handler leaves the call by siglongjmp
 *   fork     the process forks; the child ends at once
 *   count    nothing: the process counts devices, and ends
 *   iterate  the process forks while a thread is in dl_iterate_phdr; the child ends by exit()
 * That call begins a capture range, which ends after these; then there are as many of half the size. Prints what
 * went wrong, and "done". */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4000, SOON_US = 50000 };

static sigjmp_buf before;

static void open_range(void)
{
	cudaProfilerStart();
	cudaFree(NULL);
}

static void *open_it(void *unused)
{
	open_range();
	for (;;)
		pthread_testcancel();
	return unused;
}

static void cancel(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, open_it, NULL))
		exit(2);
	usleep(SOON_US);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		puts("it was not cancelled");
}

static void leave(int signal)
{
	siglongjmp(before, signal);
}

static void jump(void)
{
	struct itimerval soon = {.it_value.tv_usec = SOON_US};

	signal(SIGALRM, leave);
	if (sigsetjmp(before, 1))
		return;
	setitimer(ITIMER_REAL, &soon, NULL);
	open_range();
	pause();
}

static void child(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(60); /* ends a hang */
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		printf("the child ended with %#x\n", status);
}

static void fork_amid(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_it, NULL))
		exit(2);
	usleep(SOON_US);
	child();
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static int linger(struct dl_phdr_info *info, size_t size, void *is_inside)
{
	__atomic_store_n((int *)is_inside, 1, __ATOMIC_RELAXED);
	usleep(10 * SOON_US);
	return 1;
}

static void *iterate_slowly(void *is_inside)
{
	dl_iterate_phdr(linger, is_inside);
	return NULL;
}

static void iterate(void)
{
	int is_inside = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, iterate_slowly, &is_inside))
		exit(2);
	while (!__atomic_load_n(&is_inside, __ATOMIC_RELAXED))
		usleep(1000);
	child();
	pthread_join(thread, NULL);
}

static void count(void)
{
	int devices = 0, result = cudaGetDeviceCount(&devices);

	printf("%d devices\n", devices);
	exit(result);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"cancel", cancel}, {"jump", jump}, {"fork", fork_amid}, {"count", count}, {"iterate", iterate}};
	void *memory;

	if (argc < 3)
		return 2;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].run();
	if (cudaMalloc(&memory, BYTES))
		return 3;
	for (int i = 0; i < atoi(argv[2]); i++)
		if (cudaMemset(memory, 0, BYTES))
			return 4;
	cudaDeviceSynchronize();
	cudaProfilerStop();
	for (int i = 0; i < atoi(argv[2]); i++)
		if (cudaMemset(memory, 0, BYTES / 2))
			return 5;
	if (cudaFree(memory))
		return 6;
	puts("done");
	return 0;
}
