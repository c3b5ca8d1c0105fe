/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/slow_down.h"

#include <string.h>
#include <time.h>

#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* The kernel ends a sleep late by up to 50 us and the time that a wake-up takes: the rest is spent on the clock. */
enum { SPIN_NS = 200000, MS_NS = 1000000, PAUSE_MOST_NS = 999999999 };

uint32_t slow_down_function;
uint64_t slow_down_backtrace;
static uint64_t slow_down_ticks, spin_ticks, ms_ticks;

static bool is_slowed(uint32_t function)
{
	const char *name = function_text(process_functions, function), *wanted = process_options.slow_down;
	const size_t length = process_options.slow_down_bytes;

	return strlen(name) == length && !memcmp(name, wanted, length);
}

void slow_down_init(void)
{
	if (!process_options.slow_down)
		return;
	for (uint32_t i = 0; i < process_functions->count && !slow_down_function; i++)
		if (is_slowed(i))
			slow_down_function = i + 1;
	slow_down_ticks = clock_ticks(process_options.slow_down_ns);
	spin_ticks = clock_ticks(SPIN_NS);
	ms_ticks = clock_ticks(MS_NS);
	slow_down_backtrace = process_osrt_backtrace;
	process_osrt_threshold = process_osrt_backtrace = 0;
	memset(process_cuda_backtrace, 0, sizeof(process_cuda_backtrace));
}

/* Ended early by a signal handler, it is repeated with the time that is left. No floating-point operation, because the
 * program may have enabled its exceptions. */
void slow_down_wait(void)
{
	const uint64_t start = clock_now();
	uint64_t waited = 0;

	while (waited < slow_down_ticks) {
		uint64_t left = slow_down_ticks - waited;

		if (left > spin_ticks) {
			uint64_t ms = (left - spin_ticks) / ms_ticks;
			struct timespec pause = {0, ms < 1000 ? (long)(ms * MS_NS) : PAUSE_MOST_NS};

			if (!ms)
				pause.tv_nsec = (long)((left - spin_ticks) * MS_NS / ms_ticks);
			sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
		}
		waited = clock_now() - start;
	}
}
