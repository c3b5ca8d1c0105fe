/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/slow_down.h"

#include <string.h>
#include <time.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"
#include "runtime/shared/base/slowed.h"

/* The kernel ends a sleep late by up to 50 us and the time that a wake-up takes: the rest is spent on the clock. */
enum { SPIN_NS = 200000, MS_NS = 1000000, PAUSE_MOST_NS = 999999999 };

bool slow_down_is_on;
uint64_t slow_down_backtrace;
static uint64_t slow_down_ticks, spin_ticks, ms_ticks;
static bool is_rank; /* of rank~ */

enum { KEY_DIGITS = 16, STACK_SALT = 0x51079d };

static bool is_wanted(const char *name)
{
	return strlen(name) == process_options.slow_down_bytes &&
	       !memcmp(name, process_options.slow_down, process_options.slow_down_bytes);
}

static bool is_wanted_rank(char *const *environment)
{
	const char *rank = identity_rank(environment);

	return rank && is_wanted(rank);
}

void slow_down_init(char *const *environment)
{
	if (!process_options.slow_down)
		return;
	slow_down_is_on = true;
	is_rank = process_options.slow_down_kind == SLOW_DOWN_RANK && is_wanted_rank(environment);
	slow_down_ticks = clock_ticks(process_options.slow_down_ns);
	spin_ticks = clock_ticks(SPIN_NS);
	ms_ticks = clock_ticks(MS_NS);
	slow_down_backtrace = process_options.slow_down_kind < SLOW_DOWN_LINE ? process_osrt_backtrace : 0;
	process_osrt_threshold = process_osrt_backtrace = 0;
	memset(process_cuda_backtrace, 0, sizeof(process_cuda_backtrace));
}

bool slow_down_needs_frames(void)
{
	return process_options.slow_down_kind >= SLOW_DOWN_LINE && process_options.slow_down_bytes;
}

bool slow_down_needs_locks(void)
{
	return slow_down_is_on && process_options.slow_down_kind == SLOW_DOWN_LOCK;
}

static uint64_t stack_mark(uint32_t stack, bool is_python)
{
	return intern_fold(stack, STACK_SALT + is_python) | 1;
}

static bool is_at(uint32_t stack, bool is_python)
{
	return stack && intern_find(&process.interned, stack_mark(stack, is_python));
}

/* The keys are hexadecimal numbers with a comma after each but the last. */
void slow_down_frame(uint32_t stack, uint64_t key, bool is_python)
{
	char digits[KEY_DIGITS];
	uint32_t number;
	bool is_new;

	for (unsigned i = 0; i < KEY_DIGITS; i++)
		digits[i] = "0123456789abcdef"[key >> (60 - 4 * i) & 15];
	for (size_t at = 0; at + KEY_DIGITS <= process_options.slow_down_bytes; at += KEY_DIGITS + 1)
		if (!memcmp(process_options.slow_down + at, digits, KEY_DIGITS))
			intern_add(&process.interned, stack_mark(stack, is_python), &number, &is_new);
}

static bool is_slowed(uint32_t function, uint32_t stack)
{
	const char *name = function_text(process_functions, function);
	uint8_t group = process_functions->list[function].group;

	switch (process_options.slow_down_kind) {
	case SLOW_DOWN_CALL:
		return is_wanted(name);
	case SLOW_DOWN_RANK:
		return is_rank && (group == TF_GROUP_MPI || group == TF_GROUP_NCCL);
	case SLOW_DOWN_LINE:
		return !slowed_never_at_line(name) && (is_at(stack, false) || is_at(stack, true));
	default:
		return (slowed_as_lock(name, false) && is_at(stack, false)) ||
		       (slowed_as_lock(name, true) && is_at(stack, true));
	}
}

/* Ended early by a signal handler, it is repeated with the time that is left. No floating-point operation, because the
 * program may have enabled its exceptions. */
static uint64_t wait(void)
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
	return waited;
}

void slow_down_call(struct thread *t, uint32_t function, const uint64_t *slots, unsigned count)
{
	uint32_t stack = 0;
	uint64_t waited;

	for (unsigned i = 1; i < count; i++)
		stack = tf_arg_kind(slots[i]) == TF_ARG_STACK ? (uint32_t)tf_arg_value(slots[i]) : stack;
	waited = is_slowed(function, stack) ? wait() : 0;
	if (t->generation == process.generation && t->page)
		t->page->slow_ticks += waited;
}
