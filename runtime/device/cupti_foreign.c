/* SPDX-License-Identifier: Apache-2.0 */
/* Another profiler in the program. CUPTI has one place for buffers and one set of kinds for the whole process, so it is
 * the other's or ours. The other comes first: its calls are the program's. Its callbacks for buffers stand behind ours,
 * which send each buffer to where it came from: one may be on its way while CUPTI changes hands. */
#include "runtime/device/cupti.h"

#include <limits.h>
#include <string.h>

#include "runtime/common/clock.h"
#include "runtime/record/event.h"
#include "runtime/common/loaded.h"

/* Beside a bit for each kind of records. */
#define REGISTERED (1ull << 63)

/* Changed by who has claimed it, read by all. */
static struct {
	uint64_t generation; /* of the image in which it has CUPTI, 0: it does not */
	uint64_t uses;	     /* kinds that it has switched on; REGISTERED: none yet, but it has its buffers ready */
	void (*request)(uint8_t **, size_t *, size_t *);
	void (*complete)(void *, uint32_t, uint8_t *, size_t, size_t);
} foreign;

static void tell_gap(bool is_end, const void *caller)
{
	char bytes[sizeof(struct tf_device_gap) + PATH_MAX];
	struct tf_device_gap gap = {.ticks = clock_now(), .is_end = is_end};
	char *path = bytes + sizeof(gap);

	memcpy(bytes, &gap, sizeof(gap));
	if (!caller || !loaded_path(caller, path, PATH_MAX))
		path[0] = 0;
	event_blob(TF_BLOB_DEVICE_GAP, 0, bytes, sizeof(gap) + strlen(path));
}

bool cupti_foreign_has_it(void)
{
	return foreign.generation && foreign.generation == process.generation;
}

bool cupti_foreign_gives_back(void)
{
	if (foreign.uses)
		return false;
	if (foreign.request && cupti_api.flush_all)
		cupti_api.flush_all(1); /* what it has not fetched goes to it, not to us */
	foreign.generation = 0;
	tell_gap(true, NULL);
	return true;
}

/* True: the other has CUPTI. */
static bool step_aside(const void *caller)
{
	if (cupti_foreign_has_it())
		return true;
	if (cupti_settled == process.generation && cupti_on != process.generation)
		return false; /* we do not have it, and shall not */
	tell_gap(false, caller);
	if (cupti_state.generation == process.generation)
		cupti_let_go();
	foreign.uses = 0;
	foreign.generation = process.generation;
	return true;
}

static bool take_away(const void *caller, uint64_t use)
{
	struct thread_guard guard;
	bool is_claimed, has_it;

	if (!(process_gate.groups & 1u << TF_GROUP_CUDA) || cupti_is_inside || !cupti_is_asked_for() || !thread_attached())
		return false;
	is_claimed = cupti_claim_patiently(&guard);
	if (!is_claimed)
		cupti_enter(&guard);
	has_it = step_aside(caller);
	if (has_it) {
		foreign.uses = use == REGISTERED ? foreign.uses | use : (foreign.uses | use) & ~REGISTERED;
		cupti_set(0, process.generation);
	}
	if (is_claimed)
		cupti_release(&guard);
	else
		cupti_leave(&guard);
	return has_it;
}

void cupti_step_aside(const void *caller)
{
	take_away(caller, 0);
}

bool cupti_foreign_buffers(const void *caller, void *request, void *complete)
{
	if (!request || !complete || !take_away(caller, REGISTERED))
		return false;
	foreign.request = (void (*)(uint8_t **, size_t *, size_t *))request;
	foreign.complete = (void (*)(void *, uint32_t, uint8_t *, size_t, size_t))complete;
	return true;
}

static uint64_t kind_bit(uint32_t kind)
{
	return kind < 63 ? 1ull << kind : 0;
}

void cupti_foreign_enables(const void *caller, uint32_t kind)
{
	take_away(caller, kind_bit(kind));
}

void cupti_foreign_disabled(uint32_t kind)
{
	struct thread_guard guard;
	bool is_claimed;

	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	is_claimed = cupti_claim_patiently(&guard);
	foreign.uses &= ~kind_bit(kind);
	if (cupti_foreign_has_it() && !foreign.uses)
		cupti_set(0, 0); /* ours again from the next recorded call on */
	if (is_claimed)
		cupti_release(&guard);
}

void cupti_foreign_end(void)
{
	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	foreign.uses = 0;
	foreign.request = NULL;
	cupti_state.epoch++;
	cupti_set(0, 0);
}

bool cupti_foreign_request(uint8_t **ret_buffer, size_t *ret_size, size_t *ret_limit)
{
	if (!foreign.request || !cupti_foreign_has_it())
		return false;
	foreign.request(ret_buffer, ret_size, ret_limit);
	return true;
}

/* A record that was under way when CUPTI changed hands may have made CUPTI ask us for a buffer, which then took the other's
 * records: it gets a copy. */
void cupti_foreign_copy(void *context, uint32_t stream, const uint8_t *buffer, size_t used)
{
	uint8_t *copy = NULL;
	size_t size = 0, limit = 0;

	if (!used || !foreign.complete || !cupti_foreign_request(&copy, &size, &limit) || !copy)
		return;
	if (used > size)
		used = 0;
	memcpy(copy, buffer, used);
	foreign.complete(context, stream, copy, size, used);
}

void cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	if (foreign.complete)
		foreign.complete(context, stream, buffer, size, used);
}
