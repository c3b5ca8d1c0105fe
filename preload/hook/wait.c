/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hook/wait.h"

static bool wait_is_recorded(void)
{
	return event_enabled(TF_GROUP_OSRT) && hook_attached();
}

void wait_note_attached(const void *address, enum wake_kind kind)
{
	if (wait_is_recorded())
		wake_note(address, kind);
}

bool wait_begin_attached(const void *address)
{
	if (!wait_is_recorded())
		return false;
	wake_wait(address);
	return true;
}

uint64_t wait_arrived_attached(const void *barrier)
{
	return wait_is_recorded() ? wake_arrived(barrier) : 0;
}

/* With the first `n` words. */
static void record(const struct call *e, unsigned function, uint64_t args[EVENT_ARGS], unsigned n, struct wake wake,
		   int error)
{
	if (wake.tid)
		args[n++] = wake_arg(wake, e->end);
	if (error)
		args[n++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)error);
	call_record(e, function, process_osrt_backtrace, args, n);
}

void wait_record(const struct call *e, unsigned function, const void *lock, uint32_t holder, struct wake wake,
		 int error)
{
	uint64_t args[EVENT_ARGS] = {tf_arg(TF_ARG_LOCK, 0, (uintptr_t)lock), tf_arg(TF_ARG_HOLDER, 0, holder)};

	record(e, function, args, holder ? 2 : 1, wake, error);
}

void wait_record_value(const struct call *e, unsigned function, const void *lock, uint64_t value, struct wake wake,
		       int error)
{
	uint64_t args[EVENT_ARGS] = {tf_arg(TF_ARG_VALUE, 0, value), tf_arg(TF_ARG_LOCK, 0, (uintptr_t)lock)};

	record(e, function, args, 2, wake, error);
}
