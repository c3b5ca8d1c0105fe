/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of all events, and its place among the machine's clocks. */
#include "runtime/common/clock.h"

#include <string.h>

#include "runtime/common/sys.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

uint32_t clock_kind = TF_CLOCK_MONOTONIC;
HOT __attribute__((aligned(64))) bool clock_is_counter;

static struct tf_clock_pair origin;
static uint64_t known_hz;

uint64_t clock_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t); /* vDSO; not a hook of ours */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The kernel's own choice says whether the TSCs of all processors agree; the flag alone does not. */
static bool tsc_is_trusted(void)
{
#if defined(__x86_64__)
	static const char path[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char source[32];

	return sys_read_file(path, source, sizeof(source)) > 0 && !strncmp(source, "tsc", 3);
#else
	return false;
#endif
}

void clock_init(void)
{
#if defined(__aarch64__)
	clock_kind = TF_CLOCK_CNTVCT;
	clock_is_counter = true;
#else
	if (tsc_is_trusted()) {
		clock_kind = TF_CLOCK_TSC;
		clock_is_counter = true;
	}
#endif
	clock_pair(&origin);
}

/* Leaf 0x15 gives the TSC's rate on Intel, 0x40000010 under hypervisors that tell it. */
static uint64_t tsc_hz(void)
{
#if defined(__x86_64__)
	uint32_t a = 0, b = 0, c = 0, d = 0;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
		return (uint64_t)c * b / a;
	__cpuid(1, a, b, c, d);
	if (c & 1u << 31) {
		__cpuid(0x40000000, a, b, c, d);
		if (a >= 0x40000010) {
			__cpuid(0x40000010, a, b, c, d);
			return (uint64_t)a * 1000;
		}
	}
#endif
	return 0;
}

uint64_t clock_hz(void)
{
	if (known_hz)
		return known_hz;
#if defined(__aarch64__)
	__asm__("mrs %0, cntfrq_el0" : "=r"(known_hz));
#else
	known_hz = clock_kind == TF_CLOCK_MONOTONIC ? 1000000000u : tsc_hz();
#endif
	return known_hz;
}

void clock_set_hz(uint64_t hz)
{
	if (hz)
		known_hz = hz;
}

void clock_pair(struct tf_clock_pair *ret)
{
	struct tf_clock_pair best = {.error_ticks = UINT64_MAX};

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_now(), monotonic = clock_monotonic_ns(), real = clock_realtime_ns();
		uint64_t after = clock_now();

		if (after - before < best.error_ticks)
			best = (struct tf_clock_pair){before + (after - before) / 2, monotonic, real, after - before};
	}
	*ret = best;
}

/* If no other source gives the rate, it is measured from clock_init's pair to now, over at least 0.2 ms, so that the
 * errors of the pairs stay below 0.1 %. */
static uint64_t measured_hz(void)
{
	struct tf_clock_pair now;

	do
		clock_pair(&now);
	while (now.monotonic_ns - origin.monotonic_ns < 200000);
	return (uint64_t)((double)(now.ticks - origin.ticks) * 1e9 / (double)(now.monotonic_ns - origin.monotonic_ns));
}

uint64_t clock_ticks(uint64_t ns)
{
	if (ns == UINT64_MAX)
		return ns;
	if (!clock_hz())
		known_hz = measured_hz();
	return (uint64_t)((double)ns * (double)known_hz / 1e9);
}
