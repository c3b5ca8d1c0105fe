/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/sampler.h"

#include <time.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/stack/altstack.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum { GUARD_BYTES = 4096, BLOCK_STACKS = 16, BLOCK_SAMPLERS_BYTES = 4096 };
enum { STACK_AND_GUARD = GUARD_BYTES + SAMPLER_STACK_BYTES };
_Static_assert(BLOCK_STACKS * sizeof(struct sampler) <= BLOCK_SAMPLERS_BYTES, "the samplers of a block are in a page");

struct timer_event { /* the kernel's struct sigevent */
	void *value;
	int signal, notify, tid, reserved[11];
};

int sample_signal;
static char timer_mark; /* its address identifies the signals of our timers */

/* Of the calling thread, also in a child that it forks. */
static __thread struct sampler *own __attribute__((tls_model("initial-exec")));

/* ---- timers ---- */

bool sampler_has_sent(const siginfo_t *info)
{
	return info->si_code == SI_TIMER && info->si_value.sival_ptr == &timer_mark;
}

static struct timespec nanoseconds(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* A number below `limit`. */
static uint64_t sampler_random(const struct sampler *s, uint64_t limit)
{
	uint64_t h = (clock_now() ^ (uint64_t)s->tid << 40) * 0x9e3779b97f4a7c15u;

	return ((h ^ h >> 29) * 0xbf58476d1ce4e5b9u >> 32) * limit >> 32;
}

/* The first expiry is at a random time within the period, so that short threads have their share of the samples. CPU
 * timers expire at the kernel's tick only: a time between two ticks would mean the later one, and a thread that ends
 * before has no sample; so it is a whole number of ticks. */
void sampler_set_period(const struct sampler *s)
{
	static uint64_t tick_ns;
	struct itimerspec times = {.it_interval = nanoseconds(s->period_ns)};
	struct timespec tick = {0, 0};
	uint64_t first;

	if (!tick_ns) {
		sys_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick, 0, 0);
		tick_ns = tick.tv_nsec ? (uint64_t)tick.tv_nsec : 1;
	}
	first = sampler_random(s, s->period_ns);
	times.it_value = nanoseconds(first - first % tick_ns + 1);
	sys_call(SYS_timer_settime, s->timer, 0, &times, NULL);
}

bool sampler_arm(struct sampler *s)
{
	struct timer_event event = {.value = &timer_mark,
				    .signal = __atomic_load_n(&sample_signal, __ATOMIC_RELAXED),
				    .notify = SIGEV_THREAD_ID,
				    .tid = (int)s->tid};
	clockid_t clock = (clockid_t)(~s->tid << 3 | 6); /* the kernel's id of a thread's scheduler clock */

	if (!event.signal || sys_call(SYS_timer_create, clock, &event, &s->timer, 0) < 0) {
		s->timer = -1;
		return false;
	}
	s->signal = event.signal;
	sampler_set_period(s);
	return true;
}

void sampler_disarm(struct sampler *s)
{
	if (s->timer >= 0)
		sys_call(SYS_timer_delete, s->timer, 0, 0, 0);
	s->timer = -1;
}

/* ---- stacks ---- */

/* It is not unmapped, because that would take longer than all else that is done for a thread. */
static void sampler_keep(struct sampler *s)
{
	s->next = process.kept_samplers;
	process.kept_samplers = s;
}

/* Maps stacks with a guard page below each. No page of them is touched before a sample is taken. */
static char *stacks_map(unsigned count, size_t more)
{
	enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK };
	char *at = sys_mmap(NULL, count * STACK_AND_GUARD + more, PROT_READ | PROT_WRITE, FLAGS, -1, 0);

	for (unsigned i = 0; at && i < count; i++)
		sys_guard(at + i * STACK_AND_GUARD, GUARD_BYTES);
	return at;
}

/* As many stacks as are in use, because a mapping and the page of the samplers cost a thread more than all else that is
 * done for it. The first one has no such page: most processes have one thread. */
static void sampler_map_block(void)
{
	static struct sampler first;
	unsigned count = process.sampler_count < BLOCK_STACKS ? process.sampler_count : BLOCK_STACKS;
	bool is_first = !first.low;
	struct sampler *samplers = &first;
	char *at;

	if (is_first || !count)
		count = 1;
	at = stacks_map(count, is_first ? 0 : BLOCK_SAMPLERS_BYTES);
	if (!at)
		return;
	if (!is_first)
		samplers = (struct sampler *)(at + count * STACK_AND_GUARD);
	for (unsigned i = 0; i < count; i++) {
		samplers[i].low = at + i * STACK_AND_GUARD + GUARD_BYTES;
		sampler_keep(&samplers[i]);
	}
}

struct sampler *sampler_take(void)
{
	struct sampler *s;

	if (own && altstack_own() == own->low) {
		process.sampler_count++;
		return own;
	}
	if (!process.kept_samplers)
		sampler_map_block();
	s = process.kept_samplers;
	if (s) {
		process.kept_samplers = s->next;
		process.sampler_count++;
	}
	return s;
}

void sampler_give_back(struct sampler *s, bool can_be_reused)
{
	process.sampler_count--;
	if (can_be_reused)
		sampler_keep(s);
}

void sampler_begin(struct sampler *s)
{
	own = s;
	s->previous = NULL;
	s->next = process.samplers;
	if (s->next)
		s->next->previous = s;
	process.samplers = s;
}

void sampler_end(struct sampler *s)
{
	if (s->next)
		s->next->previous = s->previous;
	if (s->previous)
		s->previous->next = s->next;
	else
		process.samplers = s->next;
}
