// SPDX-License-Identifier: Apache-2.0
// Each rank gives a task to a thread and waits for its answer; that of rank 3 takes longer.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int rank, tasks, answers;

static void task(void)
{
	struct timespec pause = {.tv_nsec = rank == 3 ? 40000000 : 1000000};

	nanosleep(&pause, NULL); // late: what the waiting thread waits for
}

static void *worker(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (tasks == answers)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		task();
		pthread_mutex_lock(&mutex);
		answers++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void ask_worker(void)
{
	pthread_mutex_lock(&mutex);
	tasks++;
	pthread_cond_broadcast(&changed);
	while (answers < tasks)
		pthread_cond_wait(&changed, &mutex); // late
	pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
	int steps;
	pthread_t thread;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	pthread_create(&thread, NULL, worker, NULL);
	for (int step = 0; step < steps; step++) {
		ask_worker();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
