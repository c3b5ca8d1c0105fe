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
