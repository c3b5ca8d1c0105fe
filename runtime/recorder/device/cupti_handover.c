/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/device/cupti_handover.h"

#include "runtime/recorder/device/cupti.h"
#include "runtime/recorder/device/cupti_client.h"
#include "runtime/recorder/device/cupti_foreign.h"
#include "runtime/recorder/device/cupti_layout.h"
#include "runtime/shared/common/clock.h"

/* Reserves CUPTI for the other profiler. False: our recording is off, so nothing has to be handed over. */
static bool cupti_reserve_for_other(const void *caller)
{
	if (cupti_foreign_has_it())
		return true;
	if (cupti_phase() == CUPTI_OFF)
		return false;
	cupti_foreign_write_gap(false, caller);
	if (cupti_is_open())
		cupti_stop();
	cupti_foreign.uses = 0;
	cupti_foreign.generation = process.generation;
	return true;
}

static bool cupti_take_from_us(const void *caller, uint64_t use)
{
	uint64_t *uses = &cupti_foreign.uses;
	struct thread_guard guard;
	bool is_claimed, has_it;

	if (!(process_gate.groups & 1u << TF_GROUP_CUDA) || cupti_is_inside || !cupti_is_requested() ||
	    !thread_attached())
		return false;
	/* CUPTI refuses every other use beside the program's own subscription, too. */
	if (cupti_client_is_sharing() && use != CUPTI_FOREIGN_SETS && use != CUPTI_FOREIGN_FINALIZES)
		return false;
	is_claimed = cupti_claim_patiently(&guard);
	if (!is_claimed)
		cupti_enter(&guard);
	has_it = cupti_reserve_for_other(caller);
	if (has_it) {
		*uses = use == CUPTI_FOREIGN_REGISTERED ? *uses | use : (*uses | use) & ~CUPTI_FOREIGN_REGISTERED;
		cupti_set_phase(CUPTI_LENT);
	}
	if (is_claimed)
		cupti_release(&guard);
	else
		cupti_leave(&guard);
	return has_it;
}

/* The next recorded call takes CUPTI back. */
static void cupti_end_loan(void)
{
	cupti_set_phase(cupti_is_open() ? CUPTI_PAUSED : CUPTI_UNTRIED);
}

void cupti_handover(const void *caller)
{
	cupti_take_from_us(caller, 0);
}

bool cupti_handover_buffers(const void *caller, void *request, void *complete)
{
	if (!request || !complete || !cupti_take_from_us(caller, CUPTI_FOREIGN_REGISTERED))
		return false;
	cupti_foreign.request = (void (*)(uint8_t **, size_t *, size_t *))request;
	cupti_foreign.complete = (void (*)(void *, uint32_t, uint8_t *, size_t, size_t))complete;
	return true;
}

static uint64_t cupti_kind_bit(uint32_t kind)
{
	return kind < 59 ? 1ull << kind : 0;
}

void cupti_handover_enables(const void *caller, uint32_t kind)
{
	cupti_take_from_us(caller, cupti_kind_bit(kind));
}

static void cupti_give_up(uint64_t use)
{
	struct thread_guard guard;
	bool is_claimed;

	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	is_claimed = cupti_claim_patiently(&guard);
	cupti_foreign.uses &= ~use;
	if (cupti_foreign_has_it() && !cupti_foreign.uses)
		cupti_end_loan();
	if (is_claimed)
		cupti_release(&guard);
}

void cupti_handover_disabled(uint32_t kind)
{
	cupti_give_up(cupti_kind_bit(kind));
}

/* Subscribes beside the program before it subscribes, so that no operation is requested in between. */
static bool cupti_join_before(const char *name)
{
	struct thread_guard guard;
	bool is_sharing;

	if (!cupti_is_open() || cupti_is_inside || cupti_foreign_has_it() || !thread_attached() ||
	    !cupti_claim_patiently(&guard))
		return false;
	is_sharing = cupti_join(name);
	cupti_release(&guard);
	return is_sharing;
}

bool cupti_handover_subscribes(const void *caller, const char *name, bool allows_several)
{
	if (allows_several && cupti_join_before(name))
		return true;
	cupti_take_from_us(caller, CUPTI_FOREIGN_SUBSCRIBED);
	return false;
}

void cupti_handover_subscribed(void *subscriber, bool allows_several)
{
	/* The next recorded call subscribes beside it, if that is possible. */
	if (allows_several && !cupti_is_inside && cupti_foreign_add_subscriber(subscriber))
		cupti_give_up(CUPTI_FOREIGN_SUBSCRIBED);
}

void cupti_handover_unsubscribed(void *subscriber)
{
	struct thread_guard guard;

	if (cupti_is_inside)
		return;
	cupti_foreign_remove_subscriber(subscriber);
	if (cupti_foreign_has_subscribers())
		return;
	if (cupti_client_is_sharing() && thread_attached() && cupti_claim_patiently(&guard)) {
		cupti_disable();
		cupti_release(&guard);
	}
	cupti_give_up(CUPTI_FOREIGN_SUBSCRIBED);
}

void cupti_handover_begins(const void *caller, uint64_t use)
{
	cupti_take_from_us(caller, use);
}

void cupti_handover_ends(uint64_t use)
{
	cupti_give_up(use);
}

void cupti_handover_finalized(bool is_done)
{
	bool is_within_call = thread_self.generation == process.generation && thread_self.page->current;

	if (!is_done) {
		cupti_give_up(CUPTI_FOREIGN_FINALIZES);
		return;
	}
	cupti_foreign_forget_subscribers();
	cupti_client_unsubscribe(true);
	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	cupti_foreign.uses = 0;
	cupti_foreign.request = NULL;
	cupti_state.epoch++;
	cupti_state.has_rest = false;
	cupti_state.is_registered = false;
	cupti_foreign.detaching_thread = is_within_call ? &thread_self : NULL;
	cupti_foreign.detached_ns = clock_monotonic_ns() + CUPTI_DETACH_NS;
	if (cupti_state.version < CUPTI_STARTS_AGAIN)
		cupti_set_phase(CUPTI_OFF);
	else
		cupti_end_loan();
}
