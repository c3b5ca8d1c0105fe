/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_state.h"

#include <signal.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

#define CLAIM_NS 5000000000ull /* opening CUPTI may take that long on a busy machine */

uint64_t cupti_phase_word;
struct cupti_api cupti_api;
struct cupti_state cupti_state;
__thread bool cupti_is_inside __attribute__((tls_model("initial-exec")));

/* ---- phases ---- */

static uint64_t phase_word(enum cupti_phase phase)
{
	return process.generation << CUPTI_PHASE_BITS | phase;
}

enum cupti_phase cupti_phase(void)
{
	uint64_t word = __atomic_load_n(&cupti_phase_word, __ATOMIC_RELAXED);

	if (cupti_state.opened_in && cupti_state.opened_in != process.generation)
		return CUPTI_OFF;
	return word >> CUPTI_PHASE_BITS == process.generation ? word & CUPTI_PHASE_MASK : CUPTI_UNTRIED;
}

uint32_t cupti_answered;

void cupti_answer(bool has_records)
{
	if (!cupti_is_asked())
		return;
	cupti_answered = __atomic_load_n(&process_range->device_asked, __ATOMIC_RELAXED);
	__atomic_add_fetch(&process_range->device_answers, has_records, __ATOMIC_RELEASE);
}

/* The launcher waits for processes that hold records, before it ends them. */
static void count_open(uint64_t old, enum cupti_phase phase)
{
	bool was_open = old >> CUPTI_PHASE_BITS == process.generation && old & CUPTI_RECORDS;
	bool is_open = phase & CUPTI_RECORDS;

	if (!process_range || was_open == is_open)
		return;
	if (!is_open && cupti_answered && !cupti_is_asked())
		__atomic_sub_fetch(&process_range->device_answers, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&process_range->device_open, is_open ? 1 : -1u, __ATOMIC_RELEASE);
}

void cupti_set_phase(enum cupti_phase phase)
{
	uint64_t old = __atomic_load_n(&cupti_phase_word, __ATOMIC_RELAXED);

	do {
		if (old == phase_word(CUPTI_OFF))
			return;
	} while (!__atomic_compare_exchange_n(&cupti_phase_word, &old, phase_word(phase), true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	count_open(old, phase);
}

/* ---- signal handlers ---- */

/* CUPTI locks and allocates, and the code that a signal handler has interrupted may hold the same locks. A handler
 * has its own signal blocked; other code rarely blocks these. */
bool cupti_may_be_in_handler(void)
{
	static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,  SIGFPE,
				      SIGUSR1, SIGSEGV, SIGUSR2, SIGALRM, SIGTERM, SIGCHLD, SIGXCPU};
	uint64_t mask = 0;

	if (thread_self.generation == process.generation && thread_self.page->current)
		return true; /* inside a call */
	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (mask & 1ull << (signals[i] - 1))
			return true;
	return false;
}

/* ---- the claim ---- */

static uint64_t claimed_in; /* generation of the image in which a thread has it */

void cupti_enter(struct thread_guard *guard)
{
	thread_guard_enter(&thread_self, guard);
	cupti_is_inside = true;
}

void cupti_leave(struct thread_guard *guard)
{
	cupti_is_inside = false;
	thread_guard_leave(&thread_self, guard);
}

bool cupti_claim(struct thread_guard *guard)
{
	uint64_t old = __atomic_load_n(&claimed_in, __ATOMIC_RELAXED);

	if (old == process.generation)
		return false;
	cupti_enter(guard);
	if (__atomic_compare_exchange_n(&claimed_in, &old, process.generation, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return true;
	cupti_leave(guard);
	return false;
}

void cupti_release(struct thread_guard *guard)
{
	__atomic_store_n(&claimed_in, 0, __ATOMIC_RELEASE);
	cupti_leave(guard);
}

bool cupti_claim_patiently(struct thread_guard *guard)
{
	static uint64_t given_up_in; /* generation of the image in which a wait timed out */
	struct timespec pause = {.tv_nsec = 100000};
	uint64_t until = clock_monotonic_ns() + CLAIM_NS;

	while (!cupti_claim(guard)) {
		if (sys_is_silent || given_up_in == process.generation)
			return false;
		if (clock_monotonic_ns() > until) {
			given_up_in = process.generation;
			return false;
		}
		sys_call(SYS_nanosleep, &pause, NULL, 0, 0);
	}
	return true;
}
