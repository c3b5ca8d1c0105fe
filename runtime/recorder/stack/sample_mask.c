/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/sample_mask.h"

#include <stddef.h>
#include <string.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/shared/common/sys.h"

static uint64_t sample_mask_of_kernel(void)
{
	uint64_t mask = 0;

	sys_call(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof(mask));
	return mask;
}

void sample_mask_show(void)
{
	uint64_t mask, shown;

	if (!sample_signal)
		return;
	mask = sample_mask_of_kernel();
	shown = sample_mask_shown(mask, sample_signal);
	if (shown != mask)
		sys_call(SYS_rt_sigprocmask, SIG_SETMASK, &shown, NULL, sizeof(shown));
}

void sample_mask_hide(void)
{
	uint64_t bit = sample_mask_bit(sample_signal);

	if (!bit || !(sample_mask_of_kernel() & bit))
		return;
	sample_mask_change(SIG_BLOCK, bit);
	bit = sample_mask_bit(sample_signal);
	sys_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &bit, NULL, sizeof(bit));
}

uint64_t sample_mask_block(void)
{
	uint64_t bit = sample_mask_bit(sample_signal), before = bit;

	if (bit)
		sys_call(SYS_rt_sigprocmask, SIG_BLOCK, &bit, &before, sizeof(bit));
	return bit & ~before;
}

void sample_mask_unblock(uint64_t blocked)
{
	if (blocked)
		sys_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &blocked, NULL, sizeof(blocked));
}

void sample_mask_change(int how, uint64_t set)
{
	uint64_t mask = set;

	if (how == SIG_BLOCK)
		mask |= sample_mask_shown(sample_mask_of_kernel(), sample_signal);
	else if (how == SIG_UNBLOCK)
		mask = sample_mask_shown(sample_mask_of_kernel(), sample_signal) & ~set;
	for (int ours = sample_signal, last = 0; ours != last && !sample_mask_can_hide(mask, ours);
	     ours = sample_signal) {
		sample_release(ours);
		last = ours;
	}
}

const sigset_t *sample_mask_waiting(const sigset_t *set, sigset_t *room)
{
	uint64_t mask;

	if (!set || !readable_bytes(set, sizeof(mask)))
		return set; /* if it cannot be read, the kernel returns EFAULT */
	memcpy(&mask, set, sizeof(mask));
	mask |= sample_mask_bit(sample_signal);
	memcpy(room, &mask, sizeof(mask));
	return room;
}
