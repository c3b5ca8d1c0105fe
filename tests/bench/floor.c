/* SPDX-License-Identifier: Apache-2.0 */
/* Two reference recorders, libraries for LD_PRELOAD (OS calls) and NVTX_INJECTION64_PATH (NVTX).
 *
 * libfloor.so does the minimum for a recorder that keeps its records: a re-entry guard, two clock readings and 32 bytes
 * per call into a buffer of 1 MiB per thread, written to $BENCH_FLOOR.TID when it is full.
 *
 * libclocks.so, built with BENCH_CLOCKS_ONLY, has the guard and the clock readings, and stores nothing.
 *
 * Neither supports thresholds, stacks, forks or signals. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "bench_c10.h"

#define EXPORT __attribute__((visibility("default")))

enum { RECORDS = 32768, NESTING = 64 };

struct record {
	uint64_t start;
	uint32_t duration, function;
	uint64_t argument, result;
};

struct thread {
	struct record *next, *end, *first;
	int is_inside, fd, depth;
	uint64_t pushed[NESTING];
};

static __thread struct thread self __attribute__((tls_model("initial-exec")));

static inline uint64_t now(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	uint64_t ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static void open_buffer(void)
{
	const char *prefix = getenv("BENCH_FLOOR");
	char path[4096];

	self.first =
	    mmap(NULL, RECORDS * sizeof(struct record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (self.first == MAP_FAILED) {
		perror("floor: mmap");
		exit(1);
	}
	self.end = self.first + RECORDS;
	snprintf(path, sizeof(path), "%s.%ld", prefix ? prefix : "floor", syscall(SYS_gettid));
	self.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (self.fd < 0) {
		perror(path);
		exit(1);
	}
}

__attribute__((noinline, cold)) static void flush(void)
{
	int was_inside = self.is_inside, error = errno;

	self.is_inside = 1;
	if (!self.first)
		open_buffer();
	else if (syscall(SYS_write, self.fd, self.first, (char *)self.next - (char *)self.first) < 0)
		perror("floor: write");
	self.next = self.first;
	errno = error;
	self.is_inside = was_inside;
}

static inline void keep(uint32_t function, uint64_t start, uint64_t end, uint64_t argument, uint64_t result)
{
#ifdef BENCH_CLOCKS_ONLY
	__asm__ volatile("" ::"r"(start), "r"(end), "r"(function), "r"(argument), "r"(result));
	(void)flush;
#else
	if (__builtin_expect(self.next >= self.end, 0))
		flush();
	*self.next++ = (struct record){start, (uint32_t)(end - start), function, argument, result};
#endif
}

__attribute__((destructor)) static void finish(void)
{
	if (self.first)
		flush();
	self.is_inside = 1;
}

/* ---- OS calls ---- */

#define FLOOR_CALL(id, type, name, parameters, arguments, argument)                                                    \
	EXPORT type name parameters                                                                                    \
	{                                                                                                              \
		static type(*real) parameters;                                                                         \
		uint64_t start, end;                                                                                   \
		type result;                                                                                           \
                                                                                                                       \
		if (__builtin_expect(!real, 0))                                                                        \
			real = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                            \
		if (__builtin_expect(self.is_inside, 0))                                                               \
			return real arguments;                                                                         \
		self.is_inside = 1;                                                                                    \
		start = now();                                                                                         \
		result = real arguments;                                                                               \
		end = now();                                                                                           \
		keep(id, start, end, (uint64_t)(argument), (uint64_t)result);                                          \
		self.is_inside = 0;                                                                                    \
		return result;                                                                                         \
	}

FLOOR_CALL(1, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), fd)
FLOOR_CALL(2, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), fd)
FLOOR_CALL(3, int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms), n)
FLOOR_CALL(4, int, pthread_mutex_lock, (pthread_mutex_t * m), (m), m)

/* ---- the blocks of PyTorch's allocators (bench_c10.h): an instant each, before the real function ---- */

#define FLOOR_INSTANT(id, name, symbol, parameters, arguments, argument, result)                                       \
	EXPORT void name parameters                                                                                    \
	{                                                                                                              \
		static void(*real) parameters;                                                                         \
                                                                                                                       \
		if (__builtin_expect(!real, 0))                                                                        \
			real = (void(*) parameters)dlsym(RTLD_NEXT, symbol);                                           \
		if (__builtin_expect(!self.is_inside, 1)) {                                                            \
			self.is_inside = 1;                                                                            \
			keep(id, now(), 0, (uint64_t)(argument), (uint64_t)(result));                                  \
			self.is_inside = 0;                                                                            \
		}                                                                                                      \
		real arguments;                                                                                        \
	}

FLOOR_INSTANT(7, c10_new, C10_NEW, (void *reporter, void *block, size_t size), (reporter, block, size), block, size)
FLOOR_INSTANT(8, c10_delete, C10_DELETE, (void *reporter, void *block), (reporter, block), block, 0)
FLOOR_INSTANT(9, c10_report, C10_REPORT,
	      (void *block, int64_t size, size_t allocated, size_t reserved, struct c10_device device),
	      (block, size, allocated, reserved, device), block, size)

/* ---- NVTX ---- */

#ifdef HAVE_NVTX
static int push(const char *text)
{
	(void)text;
	self.pushed[self.depth & (NESTING - 1)] = now();
	return self.depth++;
}

static int pop(void)
{
	uint64_t end = now();
	int depth = --self.depth;

	keep(5, self.pushed[depth & (NESTING - 1)], end, 0, (uint64_t)depth);
	return depth;
}

static void mark(const char *text)
{
	keep(6, now(), 0, (uint64_t)text, 0);
}

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
	const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table = NULL;
	unsigned size = 0;

	if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
		return 0;
	*table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
	*table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
	*table[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark;
	return 1;
}
#endif
