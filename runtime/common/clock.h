/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all events: the time-stamp counter where the kernel itself keeps time by it, else CLOCK_MONOTONIC
 * (MONOTONIC_RAW has no vDSO path on older kernels). Any thread, any signal handler; no system call where the
 * vDSO works. */
#ifndef PILLION_CLOCK_H
#define PILLION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "runtime/common/hot.h"
#include "runtime/format/trace_format.h"

extern uint32_t clock_kind; /* enum tf_clock, set by clock_init */
extern bool clock_is_counter HIDDEN;

/* Looks which clock this machine allows. Once per image, before the first clock_now(). */
void clock_init(void);

/* Nominal ticks per second; 0 where only measuring tells (the TSC). */
uint64_t clock_hz(void);

/* Reads the three clocks together, the best of three tries. */
void clock_pair(struct tf_clock_pair *ret);

/* About how many ticks `ns` are: exact for CLOCK_MONOTONIC and CNTVCT, from a measured rate for the TSC (0.1 %, better
 * the longer after clock_init). Thresholds are kept in ticks. */
uint64_t clock_ticks(uint64_t ns);

/* Takes the rate of the TSC as known, e.g. handed down by the launcher. Hz; 0 is ignored. */
void clock_set_hz(uint64_t hz);

/* The program asks for a new time namespace (unshare with CLONE_NEWTIME), which its children will be in. */
void clock_expect_namespace(void);

/* In a forked child, before its first clock_pair(). */
void clock_forked(void);

/* By the kernel, whatever another preloaded library has put in the place of libc's functions. */
uint64_t clock_monotonic_ns(void);
uint64_t clock_realtime_ns(void);

/* The program is about to forbid reading the counter (PR_SET_TSC, seccomp's strict mode): from here on clock_now()
 * computes ticks from system calls, and stands still where these are forbidden, too. */
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

#endif
