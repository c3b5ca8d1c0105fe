/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of io_uring for which the kernel works long, so that a sample is due in them: how many end early? Prints
 * their number. rings syscall|own|aside SECONDS of CPU time: makes the system calls by libc's syscall(), or by an
 * instruction of its own, as a static liburing does, or by syscall() in a thread beside one that computes. Status 77:
 * the kernel has no io_uring. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static bool is_own;

static long call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	if (is_own) {
		register long r10 __asm__("r10") = d;
		register long r8 __asm__("r8") = e;
		register long r9 __asm__("r9") = f;
		long result;

		__asm__ volatile("syscall"
				 : "=a"(result)
				 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
				 : "rcx", "r11", "memory");
		return result;
	}
#endif
	long result = syscall(number, a, b, c, d, e, f);

	return result < 0 ? -errno : result;
}

enum { ENTRIES = 2, BYTES = 8 << 20 };

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int wait_often(double seconds)
{
	struct io_uring_params params = {0};
	struct __kernel_timespec moment = {.tv_nsec = 50000};
	unsigned long early = 0, rounds = 0;
	struct io_uring_sqe *entries;
	char *sq, *cq, *bytes = malloc(BYTES);
	uint32_t *array;
	int ring, zero = open("/dev/zero", O_RDONLY);

	ring = (int)call(SYS_io_uring_setup, ENTRIES, (long)&params, 0, 0, 0, 0);
	if (ring < 0)
		return 77;
	sq = mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED,
		  ring, IORING_OFF_SQ_RING);
	cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring, IORING_OFF_CQ_RING);
	entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		       IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED || zero < 0 || !bytes)
		return 1;
	array = (uint32_t *)(sq + params.sq_off.array);
	for (unsigned i = 0; i < ENTRIES; i++)
		array[i] = i;
	entries[0] =
		(struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = zero, .addr = (uintptr_t)bytes, .len = BYTES};
	entries[1] = (struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .addr = (uintptr_t)&moment, .len = 1};
	for (; cpu_seconds() < seconds; rounds++) {
		uint32_t *tail = (uint32_t *)(sq + params.sq_off.tail), *head = (uint32_t *)(cq + params.cq_off.head),
			 *done = (uint32_t *)(cq + params.cq_off.tail);
		long result;

		__atomic_store_n(tail, *tail + ENTRIES, __ATOMIC_RELEASE);
		result = call(SYS_io_uring_enter, ring, ENTRIES, ENTRIES, IORING_ENTER_GETEVENTS, 0, 0);
		early += result != ENTRIES || __atomic_load_n(done, __ATOMIC_ACQUIRE) - *head != ENTRIES;
		while (__atomic_load_n(done, __ATOMIC_ACQUIRE) - *head != ENTRIES)
			usleep(10);
		__atomic_store_n(head, *head + ENTRIES, __ATOMIC_RELEASE);
	}
	printf("%lu early\n", early);
	return rounds ? 0 : 1;
}

static void *run_thread(void *seconds)
{
	return (void *)(intptr_t)wait_often(*(double *)seconds);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 1;
	void *status;
	pthread_t thread;

	is_own = argc > 1 && !strcmp(argv[1], "own");
	if (argc < 2 || strcmp(argv[1], "aside") != 0)
		return wait_often(seconds);
	if (pthread_create(&thread, NULL, run_thread, &seconds))
		return 1;
	while (cpu_seconds() < seconds)
		;
	pthread_join(thread, &status);
	return (int)(intptr_t)status;
}
