/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all events: the time-stamp counter if the kernel uses it as its clock source, else CLOCK_MONOTONIC
 * (MONOTONIC_RAW has no vDSO path on older kernels). Any thread, any signal handler; no system call if the
 * vDSO works. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "runtime/shared/common/hot.h"
#include "runtime/shared/format/trace_format.h"

extern uint32_t clock_kind; /* enum tf_clock, set by clock_init */
extern bool clock_is_counter HIDDEN;

/* Selects the clock of this machine. Once per image, before the first clock_now(). */
void clock_init(void);

/* Selects the clock of another process without reading a file, if a reading of that process shows that it runs in the
 * same boot and time namespace. False: clock_init() must be called. */
bool clock_init_like(const struct tf_clock_pair *other, uint32_t kind, uint64_t hz);

/* Nominal ticks per second; 0: unknown, must be measured (the TSC). */
uint64_t clock_hz(void);

/* Reads the three clocks together, with the smallest error of three tries. */
void clock_pair(struct tf_clock_pair *ret);

/* Converts `ns` to ticks: exactly for CLOCK_MONOTONIC and CNTVCT, by a measured rate for the TSC (0.1 %, more accurate
 * later after clock_init). Thresholds are kept in ticks. */
uint64_t clock_ticks(uint64_t ns);

/* Sets the rate of the TSC in Hz, for example as measured by the launcher. 0 is ignored. */
void clock_set_hz(uint64_t hz);

/* The program requests a new time namespace for its children (unshare with CLONE_NEWTIME). */
void clock_expect_namespace(void);

/* In a forked child, before its first clock_pair(). */
void clock_forked(void);

/* From the kernel, even if another preloaded library replaces libc's functions. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);

/* The program is about to forbid reading the counter (PR_SET_TSC, seccomp's strict mode): from here on clock_now()
 * computes ticks from system calls, and does not advance if these are forbidden as well. */
void clock_forbid_counter(void);

__attribute__((cold)) uint64_t clock_now_slowly(void);

static inline uint64_t clock_now(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(clock_is_counter, 1)) {
		uint32_t low, high;

		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
		return (uint64_t)high << 32 | low;
	}
#elif defined(__aarch64__)
	if (__builtin_expect(clock_is_counter, 1)) {
		uint64_t ticks;

		__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return clock_now_slowly();
}
