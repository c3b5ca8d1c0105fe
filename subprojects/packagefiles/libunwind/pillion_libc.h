/* SPDX-License-Identifier: Apache-2.0 */
/* Included before every source of libunwind. Our shared object exports functions named like libc's,
 * so a call from here to open or mmap would be recorded as the program's own, or recurse. Nothing of
 * what is left of libunwind needs them: they become constants, and the branches behind them go. */
#ifndef PILLION_LIBC_H
#define PILLION_LIBC_H

#ifndef __ASSEMBLER__

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define open(...) (-1)
#define close(...) (0)
#define fstat(...) (-1)
#define mmap(...) MAP_FAILED
#define munmap(...) (0)
#define write(...) (-1)
#define sigprocmask(...) (0)

/* The only path ever asked for is the empty one, and the stack it lies on is the program's. */
#undef PATH_MAX
#define PATH_MAX 8

/* Only in functions that return int. No table of a program, however broken, may end it. */
#define abort() return -1

/* Locks guard libunwind's caches, which are not used. */
static inline int unw_pillion_no_lock(pthread_mutex_t *lock)
{
	return 0;
}
#define pthread_mutex_init(lock, attributes) (0)
#define pthread_mutex_lock unw_pillion_no_lock
#define pthread_mutex_unlock unw_pillion_no_lock

int unw_pillion_find_module(int (*callback)(struct dl_phdr_info *, size_t, void *), void *data);
#define dl_iterate_phdr unw_pillion_find_module

#endif
#endif
