/* SPDX-License-Identifier: Apache-2.0 */
/* Raw system calls: the recorder must not enter its own hooks or use libc's errno, cancellation points or locks.
 * Every function returns what the kernel returns: a value >= 0 or -errno. Any thread, any signal handler. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Not 0: the program has installed a seccomp filter that may kill it for a system call of ours, or is about to: all of
 * them fail with -EPERM, also in forked children, which inherit the filter. Counts the filters. */
extern uint32_t sys_is_silent;

/* Bytes that the functions below have read and written, since the program or its forefather was executed. */
struct sys_moved {
	uint64_t read, written;
};
extern struct sys_moved sys_moved;

static inline struct sys_moved sys_get_moved(void)
{
	return (struct sys_moved){__atomic_load_n(&sys_moved.read, __ATOMIC_RELAXED),
				  __atomic_load_n(&sys_moved.written, __ATOMIC_RELAXED)};
}

static inline long sys_add_moved(uint64_t *sum, long result)
{
	if (result > 0)
		__atomic_fetch_add(sum, (uint64_t)result, __ATOMIC_RELAXED);
	return result;
}

/* False: errno must not be touched. On x86-64 its address starts at the pointer that libc keeps at the thread pointer;
 * a child of clone(CLONE_VM | CLONE_SETTLS) may have zeros for thread-local storage, as Chromium's chroot helper has.
 */
static inline bool sys_has_errno(void)
{
#ifdef __x86_64__
	const void *self;

	__asm__ volatile("movq %%fs:0, %0" : "=r"(self));
	return self != NULL;
#else
	return true;
#endif
}

/* No function may be called between the loads of the registers and the instruction; a sanitizer would call one for each
 * load. */
static inline long sys_enter(long n, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "pillion knows the system calls of x86-64 and aarch64 only"
#endif
}

static inline long sys_call6(long n, long a, long b, long c, long d, long e, long f)
{
	if (__builtin_expect(sys_is_silent, 0))
		return -EPERM;
	return sys_enter(n, a, b, c, d, e, f);
}

#define sys_call(n, a, b, c, d) sys_call6((n), (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

static inline int sys_openat(int dir, const char *path, int flags, mode_t mode)
{
	return (int)sys_call(SYS_openat, dir, path, flags, mode);
}

static inline int sys_open(const char *path, int flags, mode_t mode)
{
	return sys_openat(AT_FDCWD, path, flags, mode);
}

static inline int sys_close(int fd)
{
	return (int)sys_call(SYS_close, fd, 0, 0, 0);
}

static inline long sys_read(int fd, void *bytes, size_t size)
{
	return sys_add_moved(&sys_moved.read, sys_call(SYS_read, fd, bytes, size, 0));
}

static inline long sys_write(int fd, const void *bytes, size_t size)
{
	return sys_add_moved(&sys_moved.written, sys_call(SYS_write, fd, bytes, size, 0));
}

static inline long sys_pread(int fd, void *bytes, size_t size, uint64_t offset)
{
	return sys_add_moved(&sys_moved.read, sys_call(SYS_pread64, fd, bytes, size, offset));
}

static inline long sys_pwrite(int fd, const void *bytes, size_t size, uint64_t offset)
{
	return sys_add_moved(&sys_moved.written, sys_call(SYS_pwrite64, fd, bytes, size, offset));
}

static inline long sys_pwritev(int fd, const struct iovec *parts, size_t count, uint64_t offset)
{
	return sys_add_moved(&sys_moved.written, sys_call(SYS_pwritev, fd, parts, count, offset));
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return (int)sys_call(SYS_fstat, fd, st, 0, 0);
}

static inline int sys_fchmod(int fd, mode_t mode)
{
	return (int)sys_call(SYS_fchmod, fd, mode, 0, 0);
}

static inline int sys_fallocate(int fd, int mode, uint64_t offset, uint64_t size)
{
	return (int)sys_call(SYS_fallocate, fd, mode, offset, size);
}

static inline int sys_ftruncate(int fd, uint64_t size)
{
	return (int)sys_call(SYS_ftruncate, fd, size, 0, 0);
}

static inline int sys_mkdir(const char *path, mode_t mode)
{
	return (int)sys_call(SYS_mkdirat, AT_FDCWD, path, mode, 0);
}

static inline int sys_unlink(const char *path)
{
	return (int)sys_call(SYS_unlinkat, AT_FDCWD, path, 0, 0);
}

static inline long sys_readlink(const char *path, char *target, size_t size)
{
	return sys_call(SYS_readlinkat, AT_FDCWD, path, target, size);
}

static inline int sys_access(const char *path, int mode)
{
	return (int)sys_call(SYS_faccessat, AT_FDCWD, path, mode, 0);
}

/* The mapping, or NULL. */
static inline void *sys_mmap(void *at, size_t size, int protection, int flags, int fd, uint64_t offset)
{
	long result = sys_call6(SYS_mmap, (long)at, (long)size, protection, flags, fd, (long)offset);

	return result < 0 && result > -4096 ? NULL : (void *)result;
}

static inline int sys_munmap(void *at, size_t size)
{
	return (int)sys_call(SYS_munmap, at, size, 0, 0);
}

static inline int sys_mprotect(void *at, size_t size, int protection)
{
	return (int)sys_call(SYS_mprotect, at, size, protection, 0);
}

static inline int sys_madvise(void *at, size_t size, int advice)
{
	return (int)sys_call(SYS_madvise, at, size, advice, 0);
}

/* Zeroed memory of ours, or NULL. The kernel joins neighbours that are mapped alike, and a fork copies each mapping. */
static inline void *sys_mmap_own(size_t size)
{
	return sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Since Linux 6.13 a guard needs no mapping of its own: it takes a quarter of the time, and the program may have as
 * many mappings as without us. It is not permitted in memory that is locked (mlockall). */
static inline int sys_guard(void *at, size_t size)
{
	enum { GUARD_INSTALL = 102 };

	return sys_madvise(at, size, GUARD_INSTALL) ? sys_mprotect(at, size, PROT_NONE) : 0;
}

static inline int sys_getpid(void)
{
	return (int)sys_call(SYS_getpid, 0, 0, 0, 0);
}

static inline int sys_getppid(void)
{
	return (int)sys_call(SYS_getppid, 0, 0, 0, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys_call(SYS_gettid, 0, 0, 0, 0);
}

/* Does this -errno mean that the file system, a quota or RLIMIT_FSIZE leaves no room? */
static inline bool sys_is_no_room(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

static inline int sys_kill(int pid, int signal)
{
	return (int)sys_call(SYS_kill, pid, signal, 0, 0);
}

static inline uint64_t sys_clock_ns(clockid_t clock)
{
	struct timespec t = {0};

	sys_call(SYS_clock_gettime, clock, &t, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline long sys_getrandom(void *bytes, size_t size)
{
	return sys_call(SYS_getrandom, bytes, size, 1 /* GRND_NONBLOCK */, 0);
}

/* Blocks every signal; *ret_old is for sys_signals_restore. */
static inline void sys_signals_block(uint64_t *ret_old)
{
	uint64_t all = ~0ull;

	*ret_old = 0;
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, ret_old, sizeof(all));
}

static inline void sys_signals_restore(const uint64_t *old)
{
	sys_call(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, sizeof(*old));
}

enum { SYS_LOCK_SPINS = 100 };

static inline void sys_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	__asm__ volatile("yield");
#endif
}

/* Not inlined, because its constants would cost each process that takes a lock a page fault. */
static __attribute__((noinline, unused)) void sys_lock_wait(uint32_t *word)
{
	/* Once sys_is_silent is set, no holder can wake a waiter; one that was asleep by then has to poll. */
	const struct timespec patience = {0, 100000000};

	/* A holder makes few system calls: to sleep and to be woken would take longer than most of them wait. */
	for (int i = 0; i < SYS_LOCK_SPINS; i++) {
		uint32_t free = 0;

		sys_relax();
		if (!__atomic_load_n(word, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE))
		sys_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, &patience);
}

/* A lock of one word: 0 free, 1 held, 2 held and perhaps waited for. The word is in `process`, so it is free in a
 * forked child. The holder has blocked its signals: no handler in its thread can need the lock as well. */
static inline void sys_lock(uint32_t *word)
{
	uint32_t free = 0;

	if (!__atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		sys_lock_wait(word);
}

static inline void sys_unlock(uint32_t *word)
{
	if (__atomic_exchange_n(word, 0, __ATOMIC_RELEASE) == 2)
		sys_call(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* Waits before the next poll of a state that another thread changes; `round` is the number of polls so far. After 100
 * of them it sleeps, because a real-time thread that only yields would never let the other thread run. */
static inline void sys_wait(int round)
{
	struct timespec pause = {0, 50000};

	if (round < 100)
		sys_call(SYS_sched_yield, 0, 0, 0, 0);
	else
		sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
}

/* Bytes that one file may have by RLIMIT_FSIZE. A write or fallocate past it would raise SIGXFSZ in the target. */
static inline uint64_t sys_file_limit(void)
{
	uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};

	sys_call(SYS_prlimit64, 0, 1 /* RLIMIT_FSIZE */, NULL, limit);
	return limit[0];
}

/* A whole small file, NUL-terminated; bytes read, or -errno. */
static inline long sys_read_file(const char *path, char *text, size_t size)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	long used = 0, n;

	if (fd < 0)
		return fd;
	while ((size_t)used < size - 1 && (n = sys_read(fd, text + used, size - 1 - (size_t)used)) > 0)
		used += n;
	text[used] = '\0';
	sys_close(fd);
	return used;
}

/* Valgrind's client request RUNNING_ON_VALGRIND: Valgrind recognises these instructions; otherwise they have no
 * effect. */
static inline bool sys_is_under_valgrind(void)
{
	uint64_t result = 0;
#if defined(__x86_64__)
	volatile uint64_t request[6] = {0x1001};

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\txchgq %%rbx, %%rbx"
			 : "+d"(result)
			 : "a"(request)
			 : "cc", "memory");
#endif
	return result;
}
