/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder within a test: a directory for its capture, and an environment that asks for one. */
#ifndef PILLION_TEST_RECORDER_H
#define PILLION_TEST_RECORDER_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../runtime/event.h"
#include "../../runtime/file.h"

/* The hook table of a test. */
#define RECORDER_FUNCTIONS(...)                                                                                        \
	static const struct file_function recorder_functions[] = {__VA_ARGS__};                                        \
	enum { RECORDER_FUNCTION_COUNT = sizeof(recorder_functions) / sizeof(*recorder_functions) };                   \
	const struct file_function *const file_functions = recorder_functions;                                         \
	const uint32_t file_function_count = RECORDER_FUNCTION_COUNT, file_counter_count = RECORDER_FUNCTION_COUNT

static char recorder_directory[] = "/tmp/pillion-unit.XXXXXX/c";

/* The capture begins with the first event; what else of the environment it shall find is set before that. */
static inline bool recorder_begin(void)
{
	char *slash = strrchr(recorder_directory, '/');

	*slash = '\0';
	if (!mkdtemp(recorder_directory))
		return false;
	*slash = '/';
	setenv("PILLION_OUTPUT", recorder_directory, 1);
	thread_init();
	return true;
}

static inline bool recorder_end(void)
{
	char command[64];

	*strrchr(recorder_directory, '/') = '\0';
	snprintf(command, sizeof(command), "rm -rf '%s'", recorder_directory);
	return system(command) == 0;
}

#endif
