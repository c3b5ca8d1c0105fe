/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *python_name(void)
{
	char *name = getenv("PILLION_PYTHON");

	return name && *name ? name : "python3";
}

bool python_find(const char *program, char ret_self[PATH_MAX], char ret[PYTHON_PROGRAM_MAX])
{
	static const char *const places[] = {"", "../share/pillion/"};
	ssize_t n = readlink("/proc/self/exe", ret_self, PATH_MAX - 1);

	ret_self[n > 0 ? n : 0] = 0;
	for (size_t i = 0; n > 0 && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(ret, PYTHON_PROGRAM_MAX, "%.*s%srecipes/%s", (int)(strrchr(ret_self, '/') + 1 - ret_self),
			 ret_self, places[i], program);
		if (!access(ret, R_OK))
			return true;
	}
	return false;
}
