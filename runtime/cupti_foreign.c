/* SPDX-License-Identifier: Apache-2.0 */
/* Another profiler in the program. CUPTI has one place for buffers and one set of kinds for the whole process, so it is
 * the other's or ours. The other comes first: its calls are the program's. */
#include "cupti.h"

#include <limits.h>
#include <string.h>

#include "clock.h"
#include "event.h"
#include "loaded.h"

static struct {
	uint64_t generation; /* of the image in which it has CUPTI, 0: it does not */
	uint64_t kinds;	     /* that it has switched on */
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

void cupti_foreign_gives_back(void)
{
	if (foreign.request && cupti_api.flush_all)
		cupti_api.flush_all(1); /* what it has not fetched goes to it, not to us */
	foreign.generation = 0;
	tell_gap(true, NULL);
}

void cupti_step_aside(const void *caller)
{
	struct thread_guard guard;

	if (!(process_gate.groups & 1u << TF_GROUP_CUDA) || cupti_is_inside || cupti_foreign_has_it() || !event_enter())
		return;
	if (cupti_settled == process.generation && cupti_on != process.generation)
		return; /* we do not have it, and shall not */
	cupti_enter(&guard);
	foreign.generation = process.generation;
	tell_gap(false, caller);
	if (cupti_state.generation == process.generation)
		cupti_let_go();
	if (cupti_api.register_callbacks && foreign.request && cupti_state.generation == process.generation)
		cupti_api.register_callbacks(foreign.request, foreign.complete); /* as it left them */
	cupti_set(0, process.generation);
	cupti_leave(&guard);
}

void cupti_foreign_buffers(void *request, void *complete)
{
	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	foreign.request = (void (*)(uint8_t **, size_t *, size_t *))request;
	foreign.complete = (void (*)(void *, uint32_t, uint8_t *, size_t, size_t))complete;
}

void cupti_foreign_kind(uint32_t kind, bool is_on)
{
	uint64_t bit = kind < 64 ? 1ull << kind : 0;

	if (cupti_is_inside || !cupti_foreign_has_it())
		return;
	if (is_on)
		__atomic_fetch_or(&foreign.kinds, bit, __ATOMIC_RELAXED);
	else if (__atomic_and_fetch(&foreign.kinds, ~bit, __ATOMIC_RELAXED) == 0)
		cupti_set(0, 0);
}

void cupti_foreign_end(void)
{
	if (!cupti_foreign_has_it())
		return;
	foreign.kinds = 0;
	foreign.request = NULL;
	foreign.complete = NULL;
	cupti_state.epoch++;
	cupti_set(0, 0);
}

bool cupti_foreign_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t used)
{
	if (!foreign.complete)
		return false;
	foreign.complete(context, stream, buffer, size, used);
	return true;
}
