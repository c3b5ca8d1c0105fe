/* SPDX-License-Identifier: Apache-2.0 */
/* ranks RANKS STEPS SLOW HANGS: that many processes call ncclAllReduce STEPS times; rank SLOW sleeps before each call,
 * and if HANGS is not 0, from that step on without end. Waits for all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct id {
	char bytes[128];
};

extern int ncclGetUniqueId(struct id *), ncclCommInitRank(void **, int, struct id, int), ncclCommDestroy(void *);
extern int ncclAllReduce(const void *, void *, size_t, int, int, void *, void *);
extern int cudaMalloc(void **, size_t), cudaSetDevice(int), cudaStreamCreate(void **), cudaStreamSynchronize(void *);

enum { ID = 3, FLOAT32 = 7, COUNT = 1 << 16 }; /* ID: the descriptor from which a rank reads it */

__attribute__((noinline)) static void read_input_slowly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL); /* reads slowly */
}

static int rank(char **argv)
{
	int ranks = atoi(argv[1]), steps = atoi(argv[2]), slow = atoi(argv[3]), hangs = atoi(argv[4]);
	int own = atoi(argv[5]);
	void *communicator, *stream, *device;
	struct id id;

	if (pread(ID, &id, sizeof(id), 0) != sizeof(id) || cudaSetDevice(own) || cudaMalloc(&device, COUNT * 4) ||
	    cudaStreamCreate(&stream) || ncclCommInitRank(&communicator, ranks, id, own))
		return 2;
	for (int i = 0; i < steps; i++) {
		do {
			if (own == slow)
				read_input_slowly();
		} while (own == slow && hangs && i >= hangs);
		if (ncclAllReduce(device, device, COUNT, FLOAT32, 0, communicator, stream) ||
		    cudaStreamSynchronize(stream))
			return 3;
	}
	return ncclCommDestroy(communicator) ? 4 : 0;
}

int main(int argc, char **argv)
{
	int ranks = argc > 4 ? atoi(argv[1]) : 0, status, bad = 0;
	FILE *file = argc == 5 ? tmpfile() : NULL;
	struct id id;

	if (argc == 6)
		return rank(argv);
	if (!file || ncclGetUniqueId(&id) || fwrite(&id, sizeof(id), 1, file) != 1 || fflush(file))
		return 1;
	for (int i = 0; i < ranks; i++) {
		char own[16];

		snprintf(own, sizeof(own), "%d", i);
		if (fork())
			continue;
		setenv("RANK", own, 1);
		setenv("LOCAL_RANK", own, 1);
		setenv("WORLD_SIZE", argv[1], 1);
		dup2(fileno(file), ID);
		execl("/proc/self/exe", "ranks", argv[1], argv[2], argv[3], argv[4], own, (char *)NULL);
		_exit(127);
	}
	while (wait(&status) > 0)
		bad |= status;
	if (!bad)
		puts("done");
	return bad != 0;
}
