/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_loops [FROM TO]...: ten loops. Loop i makes i cudaMalloc and cudaFree calls and ten usleep(100) calls, five
 * of them in a worker process that does not use CUDA. cudaProfilerStart is called before each loop FROM, Stop
 * after each loop TO. */
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_worker[2], from_worker[2];

static void work(void)
{
	char byte;

	while (read(to_worker[0], &byte, 1) == 1) {
		for (int i = 0; i < 5; i++)
			usleep(100);
		if (write(from_worker[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static int loop(int n)
{
	char byte = 0;

	for (int i = 0; i < n; i++) {
		void *p;

		if (cudaMalloc(&p, 1024) || cudaFree(p))
			return 1;
	}
	for (int i = 0; i < 5; i++)
		usleep(100);
	return write(to_worker[1], &byte, 1) != 1 || read(from_worker[0], &byte, 1) != 1;
}

int main(int argc, char **argv)
{
	int failed = 0;
	pid_t worker;

	if (pipe(to_worker) || pipe(from_worker))
		return 2;
	worker = fork();
	if (!worker) {
		close(to_worker[1]);
		work();
	}
	for (int i = 1; i <= 10; i++) {
		for (int a = 1; a + 1 < argc; a += 2)
			if (atoi(argv[a]) == i)
				cudaProfilerStart();
		failed += loop(i);
		for (int a = 1; a + 1 < argc; a += 2)
			if (atoi(argv[a + 1]) == i)
				cudaProfilerStop();
	}
	close(to_worker[1]);
	waitpid(worker, NULL, 0);
	printf("10 loops, %d failed\n", failed);
	return failed;
}
