/* SPDX-License-Identifier: Apache-2.0 */
/* queued_signals PROCESSES THREADS: each of the processes has so many more threads and, once all of these run, creates
 * a timer, which takes one of RLIMIT_SIGPENDING. Prints how many could. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *wait_for_end(void *unused)
{
	pause();
	return unused;
}

static int live(pthread_barrier_t *all, int threads)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	pthread_t thread;
	timer_t timer;
	int result;

	for (int k = 0; k < threads; k++)
		if (pthread_create(&thread, NULL, wait_for_end, NULL))
			abort();
	usleep(100000); /* its threads begin */
	pthread_barrier_wait(all);
	result = timer_create(CLOCK_MONOTONIC, &event, &timer);
	pthread_barrier_wait(all);
	return result != 0;
}

int main(int argc, char **argv)
{
	int processes = argc > 2 ? atoi(argv[1]) : 1, threads = argc > 2 ? atoi(argv[2]) : 1, status, good = 0;
	pthread_barrierattr_t shared;
	pthread_barrier_t *all =
	    mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(all, &shared, (unsigned)processes);
	for (int i = 0; i < processes; i++)
		if (!fork())
			_exit(live(all, threads));
	while (wait(&status) > 0)
		good += !status;
	printf("%d of %d processes have a timer\n", good, processes);
	return good != processes;
}
