/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/verbs/output/pager.h"

static bool is_wanted(void)
{
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");

	return !(none && *none) && terminal && strcmp(terminal, "dumb") != 0 && pager_has_reader();
}

const char *colour_begin(enum colour colour)
{
	static const char *const codes[] = {"\033[32m", "\033[33m", "\033[31m", "\033[1m"};

	return is_wanted() ? codes[colour] : "";
}

const char *colour_end(void)
{
	return is_wanted() ? "\033[0m" : "";
}
