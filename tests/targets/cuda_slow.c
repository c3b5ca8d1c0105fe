/* SPDX-License-Identifier: Apache-2.0 */
/* With SLOW: a CUPTI that is slow to load and must not be called before it is loaded. Otherwise: a program that loads
 * argv[1] in one thread while another enters a capture range. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef SLOW
static int is_ready;

__attribute__((constructor)) static void load(void)
{
	usleep(400000);
	is_ready = 1;
}

#define REFUSES(symbol)                                                                                                \
	int symbol(void)                                                                                               \
	{                                                                                                              \
		if (!is_ready)                                                                                         \
			abort();                                                                                       \
		return 999;                                                                                            \
	}
REFUSES(cuptiGetVersion)
REFUSES(cuptiGetTimestamp)
REFUSES(cuptiActivityRegisterCallbacks)
REFUSES(cuptiActivityEnable)
REFUSES(cuptiActivityDisable)
REFUSES(cuptiActivityGetNextRecord)
REFUSES(cuptiActivityGetNumDroppedRecords)
REFUSES(cuptiActivityFlushAll)
#else
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>

static void *open_it(void *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *p = NULL, *opened = NULL;

	cudaFree(NULL); /* loads the driver, for which it would wait */
	if (argc < 2 || pthread_create(&thread, NULL, open_it, argv[1]))
		return 2;
	usleep(100000);
	cudaProfilerStart();
	for (int i = 0; i < 3; i++)
		printf("%d %d\n", cudaMalloc(&p, 4096), cudaFree(p));
	pthread_join(thread, &opened);
	printf("%s\n", opened ? "loaded" : dlerror());
	return 0;
}
#endif
