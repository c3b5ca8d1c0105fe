/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread needs to be sampled: a timer, and an alternate stack that the samples run on. The lists, and timers of
 * samplers in the list of those in use, require the lock process.sampling. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum { SAMPLER_STACK_BYTES = 131072 };

struct sampler {
	struct sampler *next, *previous; /* of the samplers in use; `next` only: of those kept for other threads */
	char *low;                       /* of the stack; a guard page is below */
	uint32_t tid;
	int timer;   /* the kernel's id, -1: none */
	int signal;  /* that the timer sends */
	bool is_off; /* our alternate stack is no longer registered for the thread */
	uint32_t taken;
	uint64_t period_ns;
	uint64_t due_ns; /* CPU time of expiries that no sample accounts for yet */
	/* since the last check: the CPU time that samples account for, and what they cost */
	uint64_t sampled_ns, cost_ticks;
	bool is_suspect; /* their cost is measured by the thread's CPU clock */
};

/* The sampler for the calling thread: its own from before a fork, that of an ended thread, or a new one. NULL: there is
 * no memory. It counts as one in use until sampler_give_back(). */
struct sampler *sampler_take(void);

/* can_be_reused: its stack is not in use any more. */
void sampler_give_back(struct sampler *s, bool can_be_reused);

/* Puts the sampler that sampler_take() returned into the list of those in use, and removes it. */
void sampler_begin(struct sampler *s);
void sampler_end(struct sampler *s);

/* Creates and deletes the timer, and sets its period from a random first expiry on. Any thread may do this for any
 * other thread of the process. */
bool sampler_arm(struct sampler *s);
void sampler_disarm(struct sampler *s);
void sampler_set_period(const struct sampler *s);

/* Was the signal sent by a timer of ours? */
bool sampler_has_sent(const siginfo_t *info);
