/* SPDX-License-Identifier: Apache-2.0 */
/* Included before every source of libunwind. Our shared object exports functions named like libc's, so a call from
 * here to mmap or write would be recorded as the program's own, or recurse. The reader needs none of them: they
 * become constants, and the branches behind them are never taken. */
#ifndef UNWIND_TABLE_LIBC_H
#define UNWIND_TABLE_LIBC_H

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static inline int unwind_table_no_call(void)
{
	return -1;
}
#define mmap(...) MAP_FAILED
#define munmap(...) unwind_table_no_call()
#define write(...) unwind_table_no_call()

/* Only in functions that return int. No table of a program, however damaged, may end it. */
#define abort() return -1

/* Locks guard libunwind's caches, which are not used. */
static inline int unwind_table_no_lock(pthread_mutex_t *lock)
{
	(void)lock;
	return 0;
}
#define pthread_mutex_init(lock, attributes) (0)
#define pthread_mutex_lock unwind_table_no_lock
#define pthread_mutex_unlock unwind_table_no_lock

#endif
