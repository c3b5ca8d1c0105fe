/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/loader/readable.h"

#include <string.h>

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

/* *known is the number of a page that was found readable. */
static bool is_known(const void *address, uintptr_t *known)
{
	uintptr_t page = (uintptr_t)address / PAGE;

	if (page != *known && !readable_address((uintptr_t)address))
		return false;
	*known = page;
	return true;
}

static bool is_string(const char *string, uintptr_t *known)
{
	size_t left;

	for (; is_known(string, known); string += left) {
		left = PAGE - (uintptr_t)string % PAGE;
		if (memchr(string, '\0', left))
			return true;
	}
	return false;
}

bool readable_string(const char *string)
{
	uintptr_t known = UINTPTR_MAX;

	return !string || is_string(string, &known);
}

bool readable_strings(char *const *strings)
{
	uintptr_t known = UINTPTR_MAX, known_strings = UINTPTR_MAX;

	for (; strings; strings++) {
		if (!is_known(strings, &known) || !is_known((const char *)(strings + 1) - 1, &known))
			return false;
		if (!*strings)
			break;
		if (!is_string(*strings, &known_strings))
			return false;
	}
	return true;
}
