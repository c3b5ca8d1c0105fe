/* SPDX-License-Identifier: Apache-2.0 */
/* Ten steps, each an NVTX range, by malloc's relatives: one line keeps a block in each of them, others free theirs, in
 * this thread or in another one; a forked child frees what its parent allocated. errno and results must be libc's.
 * 77: built without NVTX's headers. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

enum { STEPS = 10, BLOCK = 500000, SMALL = 100, SMALLS = 20000, HUGE_ERRNO = 77 };

static void *kept[STEPS];
static void *volatile sink;

static __attribute__((noinline)) void keep(int step)
{
	kept[step] = malloc(BLOCK); /* PLANTED kept */
	memset(kept[step], step, BLOCK);
}

static __attribute__((noinline)) void use_and_free(void)
{
	for (int i = 0; i < SMALLS; i++) {
		sink = malloc(SMALL); /* PLANTED small */
		free(sink);
	}
	sink = calloc(3, BLOCK); /* PLANTED cleared */
	free(sink);
}

static void *free_it(void *block)
{
	free(block);
	return NULL;
}

static void free_in_thread(void)
{
	pthread_t thread;

	sink = NULL;
	if (pthread_create(&thread, NULL, free_it, malloc(BLOCK)) || pthread_join(thread, NULL))
		exit(2);
}

static void grow(void)
{
	char *block = NULL;

	for (size_t size = BLOCK; size <= 4 * BLOCK; size += BLOCK)
		block = realloc(block, size);
	free(realloc(block, 10));
}

static void check(int is_right, const char *what)
{
	if (!is_right) {
		printf("wrong: %s\n", what);
		exit(1);
	}
}

static void check_results(void)
{
	volatile size_t huge = SIZE_MAX / 2;
	void *block;

	errno = HUGE_ERRNO;
	check(!posix_memalign(&block, 256, BLOCK) && (uintptr_t)block % 256 == 0, "posix_memalign");
	free(block);
	free(aligned_alloc(64, BLOCK));
	free(memalign(64, BLOCK));
	free(valloc(BLOCK));
	free(NULL);
	check(errno == HUGE_ERRNO, "errno is kept");
	check(!malloc(huge) && errno == ENOMEM, "malloc fails");
	check(!calloc(huge, 4), "calloc fails");
	block = malloc(BLOCK);
	check(!realloc(block, huge), "realloc fails");
	free(block);
	check(posix_memalign(&block, 3, 8) == EINVAL, "posix_memalign fails");
}

static void check_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		for (int i = 0; i < STEPS; i++)
			free(kept[i]);
		_exit(malloc(BLOCK) ? 5 : 6);
	}
	check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child");
}

int main(void)
{
	for (int step = 0; step < STEPS; step++) {
		char name[16];

		snprintf(name, sizeof(name), "step %d", step);
		nvtxRangePushA(name);
		keep(step);
		use_and_free();
		free_in_thread();
		grow();
		nvtxRangePop();
	}
	check_results();
	check_child();
	for (int i = 0; i < STEPS; i++)
		free(kept[i]);
	puts("done");
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
