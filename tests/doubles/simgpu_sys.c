/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that the doubles make: clock, waiting, pages, threads.
 *
 * A tracer under test interposes libc's waits, maps, opens and writes. The doubles use syscall(2), so that the tracer
 * records only the program's own OS calls. For the same reason they take no lock of libpthread. */
#include "simgpu.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t sim_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int sim_tid(void)
{
	return (int)syscall(SYS_gettid);
}

void sim_futex_wait(unsigned *word, unsigned seen, uint64_t timeout_ns)
{
	struct timespec limit = { (time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u) };
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, timeout_ns ? &limit : NULL, NULL, 0);
	errno = saved;
}

void sim_futex_wake(unsigned *word)
{
	int saved = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	errno = saved;
}

/* 0: free, 1: locked, 2: locked with waiters. */
void sim_mutex_lock(unsigned *word)
{
	unsigned seen = 0;

	if (__atomic_compare_exchange_n(word, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE) != 0)
		sim_futex_wait(word, 2, 0);
}

void sim_mutex_unlock(unsigned *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		sim_futex_wake(word);
}

void *sim_pages(size_t bytes, bool is_reserved_only)
{
	int saved = errno;
	int protection = is_reserved_only ? PROT_NONE : PROT_READ | PROT_WRITE;
	long at = syscall(SYS_mmap, NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);

	errno = saved;
	return at == -1 ? NULL : (void *)at;
}

bool sim_pages_fix(void *at, size_t bytes, bool is_reserved_only)
{
	int saved = errno;
	int protection = is_reserved_only ? PROT_NONE : PROT_READ | PROT_WRITE;
	long got = syscall(SYS_mmap, at, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
			   -1, 0L);

	errno = saved;
	return got == (long)at;
}

void sim_pages_free(void *pages, size_t bytes)
{
	int saved = errno;

	if (pages)
		syscall(SYS_munmap, pages, bytes);
	errno = saved;
}

/* With every signal blocked: the program's handlers must not run on the doubles' threads. */
bool sim_thread(void *(*body)(void *), void *data)
{
	uint64_t all = ~0ull, before = 0;
	pthread_t thread;
	bool is_started;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	is_started = pthread_create(&thread, NULL, body, data) == 0;
	if (is_started)
		pthread_detach(thread);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	return is_started;
}
