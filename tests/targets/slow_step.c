/* SPDX-License-Identifier: Apache-2.0 */
/* slow_step STEPS SLOW MS END: STEPS steps of 4 ms, but step SLOW of MS milliseconds. Step N writes N bytes to
 * /dev/null five times. They are ranges of NVTX where its headers are, else only calls. Then waits until the file
 * END is there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
static void nvtxRangePushA(const char *unused)
{
}
static void nvtxRangePop(void)
{
}
#endif

enum { WRITES = 5, STEPS_MOST = 100000 };

static char bytes[STEPS_MOST];

static int step(int null, int number, int ms)
{
	char name[32];

	snprintf(name, sizeof(name), "step %d", number);
	nvtxRangePushA(name);
	for (int i = 0; i < WRITES; i++)
		if (write(null, bytes, (size_t)number) != number)
			return 1;
	usleep((useconds_t)ms * 1000);
	nvtxRangePop();
	return 0;
}

int main(int argc, char **argv)
{
	int null = open("/dev/null", O_WRONLY), steps = argc == 5 ? atoi(argv[1]) : 0;

	if (null < 0 || steps < 1 || steps > STEPS_MOST)
		return 2;
	for (int i = 1; i <= steps; i++)
		if (step(null, i, i == atoi(argv[2]) ? atoi(argv[3]) : 4))
			return 1;
	while (access(argv[4], F_OK))
		usleep(10000);
	return 0;
}
