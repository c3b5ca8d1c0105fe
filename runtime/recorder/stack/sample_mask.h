/* SPDX-License-Identifier: Apache-2.0 */
/* The program's signal masks while CPU samples use one of its signals.
 *
 * Our signal must never stay blocked in the kernel's mask, because the thread would not be sampled. It is blocked only
 * while a call waits with a mask of its own (sigsuspend, ppoll, ...) and in the program's handlers that this call runs:
 * a sample would otherwise be delivered before a signal of the program that ends the wait, and the call would return
 * EINTR before the program's handler has run. Whether the program has blocked it is not stored, because masks are also
 * restored without a call that we see (siglongjmp, setcontext, the return from a handler). Instead, our signal counts
 * as blocked if all lower signals of its group are blocked. If a program asks for a mask in which these two differ, the
 * program uses our signal in particular, and samples move to another signal. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/stack/sample.h"
#include "runtime/shared/format/trace_where.h"

enum { SAMPLE_SIGNAL_FIRST = TF_SAMPLER_SIGNAL_FIRST, SAMPLE_SIGNAL_LAST = TF_SAMPLER_SIGNAL_LAST };

/* Masks are the kernel's words. `ours` is our signal; 0: none. */

static inline uint64_t sample_mask_bit(int signal)
{
	return signal ? 1ull << (signal - 1) : 0;
}

/* Our signal and those below it that stand for it. */
static inline uint64_t sample_mask_group(int ours)
{
	return ours ? (2ull << (ours - 1)) - sample_mask_bit(SAMPLE_SIGNAL_LAST - 1) : 0;
}

/* The mask as the program sees it. */
static inline uint64_t sample_mask_shown(uint64_t mask, int ours)
{
	uint64_t bit = sample_mask_bit(ours), others = sample_mask_group(ours) & ~bit;

	return (mask & others) == others ? mask | bit : mask & ~bit;
}

/* Can the program's mask be recognised without our signal? */
static inline bool sample_mask_can_hide(uint64_t mask, int ours)
{
	return sample_mask_shown(mask & ~sample_mask_bit(ours), ours) == mask;
}

/* The calling thread's mask in the kernel: with our signal, as a new program must inherit it, and without it. */
void sample_mask_show(void);
void sample_mask_hide(void);

/* The argument of a call that waits with this mask: our signal is blocked meanwhile. NULL: the call has no mask. */
#define SAMPLE_MASK_WAITING(set) (sample_signal ? sample_mask_waiting((set), &(sigset_t){{0}}) : (set))
const sigset_t *sample_mask_waiting(const sigset_t *set, sigset_t *room);

/* Blocks our signal around a call that has no mask; the result is the argument of the second function. */
uint64_t sample_mask_block(void);
void sample_mask_unblock(uint64_t blocked);

/* To be called before a change of the calling thread's mask, as by sigprocmask(2): samples move to another signal if
 * the resulting mask could not be recognised. The new mask must then be set without our signal. */
void sample_mask_change(int how, uint64_t set);
