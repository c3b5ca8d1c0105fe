/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/loader/readable.h"

#include "runtime/recorder/loader/dso.h"
#include "runtime/shared/common/sys.h"

enum { PAGE = 4096, PAGES = 2048 };

static const volatile char *is_single; /* NULL: unknown */

void readable_init(void)
{
	static const char name[] = "__libc_single_threaded";

	/* libc writes to the first definition: that of an executable with a copy relocation is not looked for */
	is_single = dso_before(name) ? NULL : dso_next(name);
}

bool readable_is_alone(void)
{
	return is_single && *is_single;
}

/* The kernel reads the mask before it checks `how`, which is invalid: EFAULT or EINVAL, and no effect. */
bool readable_address(uintptr_t address)
{
	return sys_call(SYS_rt_sigprocmask, -1, address & ~7ul, 0, sizeof(uint64_t)) == -EINVAL;
}

bool readable_between(uintptr_t from, uintptr_t to)
{
	if (to < from || to - from > (uintptr_t)PAGES * PAGE)
		return false;
	for (from &= ~(uintptr_t)(PAGE - 1); from < to; from += PAGE)
		if (!readable_address(from))
			return false;
	return true;
}
