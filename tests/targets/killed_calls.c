/* SPDX-License-Identifier: Apache-2.0 */
/* killed_calls LOG: until the file LOG.stop exists, three threads call usleep, poll and nanosleep at different rates,
 * and write into LOG how many of these calls have begun and ended, and when each one ended (CLOCK_REALTIME): what they
 * have written is there after SIGKILL. SIGTERM is ignored. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, CALLS = 1 << 20 };

struct log {
	uint64_t begun, ended;
	uint64_t end_ns[CALLS];
};

static struct log *logs;
static char stop[4096];

static void call(int kind)
{
	struct timespec pause = {0, 20000000};

	if (kind == 0)
		usleep(10);
	else if (kind == 1)
		poll(NULL, 0, 1);
	else
		nanosleep(&pause, NULL);
}

static void *run(void *argument)
{
	struct log *l = argument;
	struct timespec now;

	while (l->ended < CALLS && (l->ended % 64 || access(stop, F_OK))) {
		__atomic_store_n(&l->begun, l->begun + 1, __ATOMIC_SEQ_CST);
		call((int)(l - logs));
		clock_gettime(CLOCK_REALTIME, &now);
		l->end_ns[l->ended] = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		__atomic_store_n(&l->ended, l->ended + 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_EXCL, 0600) : -1;
	pthread_t threads[THREADS];

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(struct log)))
		return 2;
	logs = mmap(NULL, THREADS * sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (logs == MAP_FAILED)
		return 2;
	snprintf(stop, sizeof(stop), "%s.stop", argv[1]);
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, &logs[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
