/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_late CAUSE [STEPS [MS]]: ranks of which some are late by so many ms in each step, by a known cause. The line of
 * the cause has its name behind "late: ". `clean`: none is late. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STEP_US = 1000, LATE_CPU_MS = 25, HALO = 64 };

static int rank, ranks;
static useconds_t late_us = 25000;
static double a = 1, b, halo[4][HALO], other[4][HALO];
static MPI_Comm cart, half;
static volatile double sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* In CPU time, so that it does not depend on other programs. */
static void compute(double ms)
{
	struct timespec t;
	double from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	from = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
	do {
		for (int i = 0; i < 20000; i++)
			sink += i * 1.01; /* late: imbalance, if ranks call it for different times */
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
	} while (now - from < ms);
}

static void step(void)
{
	usleep(STEP_US);
}

static void reduce(void)
{
	MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int open_file(const char *name)
{
	return open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
}

/* ---- one late rank at a collective ---- */

static void late_sleep(void)
{
	usleep(late_us); /* late: sleep */
}

static void late_flush(void)
{
	static char data[1 << 18];
	int fd = open_file("flushed");

	for (int i = 0; i < 4; i++)
		if (write(fd, data, sizeof(data)) < 0 || fsync(fd)) /* late: flush */
			abort();
	close(fd);
}

/* From a pipe that another process fills late, as from a slow file system. */
static void late_read(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		abort();
	if (!fork()) {
		usleep(late_us);
		_exit(write(ends[1], "x", 1) != 1);
	}
	if (read(ends[0], &byte, 1) != 1) /* late: read */
		abort();
	close(ends[0]);
	close(ends[1]);
}

static void *hold_lock(void *taken)
{
	pthread_mutex_lock(&lock);
	*(volatile int *)taken = 1;
	usleep(late_us);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void late_lock(void)
{
	volatile int taken = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, hold_lock, (void *)&taken);
	while (!taken)
		;
	pthread_mutex_lock(&lock); /* late: lock */
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

static void boundary(void)
{
	compute(LATE_CPU_MS); /* late: routine */
}

static void late_faults(void)
{
	enum { BYTES = 48 << 20 };
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t i = 0; i < BYTES; i += 4096)
		p[i] = 1; /* late: faults */
	munmap(p, BYTES);
}

static void at_collective(const char *cause)
{
	step();
	if (!strcmp(cause, "imbalance"))
		compute(rank == 2 ? LATE_CPU_MS : 2);
	if (!strcmp(cause, "routine"))
		compute(2);
	if (rank == 1 && !strcmp(cause, "sleep"))
		late_sleep();
	if (rank == 1 && !strcmp(cause, "flush"))
		late_flush();
	if (rank == 2 && !strcmp(cause, "read"))
		late_read();
	if (rank == 2 && !strcmp(cause, "lock"))
		late_lock();
	if (rank == 1 && !strcmp(cause, "routine"))
		boundary();
	if (rank == 1 && !strcmp(cause, "faults"))
		late_faults();
	reduce();
}

/* ---- sets of ranks ---- */

static void at_sets(const char *cause, int n)
{
	if (!strcmp(cause, "some"))
		usleep(rank == 2 || rank == 3 ? late_us : STEP_US); /* late: some */
	if (!strcmp(cause, "quarter"))
		usleep(rank < ranks / 4 ? late_us : STEP_US); /* late: quarter */
	if (!strcmp(cause, "second"))
		usleep(rank % 2 ? late_us : STEP_US); /* late: second */
	if (!strcmp(cause, "turn"))
		usleep(n % ranks == rank ? late_us : STEP_US); /* late: turn */
	reduce();
}

/* ---- messages ---- */

static void exchange_halo(int tag)
{
	MPI_Request requests[8];
	int neighbours[4];

	MPI_Cart_shift(cart, 0, 1, &neighbours[0], &neighbours[1]);
	MPI_Cart_shift(cart, 1, 1, &neighbours[2], &neighbours[3]);
	for (int i = 0; i < 4; i++)
		MPI_Irecv(other[i], HALO, MPI_DOUBLE, neighbours[i], tag + (i ^ 1), cart, &requests[i]);
	for (int i = 0; i < 4; i++)
		MPI_Isend(halo[i], HALO, MPI_DOUBLE, neighbours[i], tag + i, cart, &requests[4 + i]);
	MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void at_messages(const char *cause)
{
	if (!strcmp(cause, "halo")) {
		usleep(rank == 1 ? late_us : STEP_US); /* late: halo */
		exchange_halo(0);
	}
	if (!strcmp(cause, "sender") && rank == 0) {
		usleep(late_us); /* late: sender */
		MPI_Send(&a, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
	} else if (!strcmp(cause, "sender") && rank == 1) {
		MPI_Recv(&b, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (!strcmp(cause, "receiver") && rank == 0) {
		MPI_Ssend(&a, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
	} else if (!strcmp(cause, "receiver") && rank == 1) {
		usleep(late_us); /* late: receiver */
		MPI_Recv(&b, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (!strcmp(cause, "chain")) {
		usleep(rank ? STEP_US : late_us); /* late: chain */
		if (rank)
			MPI_Recv(&b, 1, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank + 1 < ranks)
			MPI_Send(&a, 1, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
	}
}

/* ---- collectives with a root, on communicators of some ranks; ranks that work one after another ---- */

static void at_roots(const char *cause)
{
	if (!strcmp(cause, "root")) {
		usleep(rank == 0 ? late_us : STEP_US); /* late: root */
		MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(cause, "gather")) {
		double all[64];

		usleep(rank == 3 ? late_us : STEP_US); /* late: gather */
		MPI_Gather(&a, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!strcmp(cause, "part")) {
		usleep(rank == 3 ? late_us : STEP_US); /* late: part */
		MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, half);
		reduce();
	}
	if (!strcmp(cause, "serial"))
		for (int i = 0; i < ranks; i++) {
			if (i == rank)
				usleep(late_us / 4); /* late: serial */
			MPI_Barrier(MPI_COMM_WORLD);
		}
	if (!strcmp(cause, "output")) {
		step();
		if (!rank)
			late_flush();
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 20, dims[2] = {0}, periods[2] = {1, 1};
	const char *cause = argc > 1 ? argv[1] : "clean";
	static const char *const sets[] = {"some", "quarter", "second", "turn"};
	static const char *const roots[] = {"root", "gather", "part", "serial", "output"};
	static const char *const messages[] = {"halo", "sender", "receiver", "chain"};
	int kind = 0;

	if (argc > 3)
		late_us = 1000 * (useconds_t)atoi(argv[3]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2, rank, &half);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		kind = strcmp(cause, sets[i]) ? kind : 1;
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		kind = strcmp(cause, messages[i]) ? kind : 2;
	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		kind = strcmp(cause, roots[i]) ? kind : 3;
	for (int n = 0; n < steps; n++)
		if (kind == 1)
			at_sets(cause, n);
		else if (kind == 2)
			at_messages(cause);
		else if (kind == 3)
			at_roots(cause);
		else
			at_collective(cause);
	return MPI_Finalize();
}
