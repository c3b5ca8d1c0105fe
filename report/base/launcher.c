/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool launcher_find(char ret[PATH_MAX])
{
	static const char *const places[] = {"../runtime/pillion-launch", "../libexec/pillion/pillion-launch"};
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	if (n <= 0)
		return false;
	strrchr(self, '/')[1] = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s%s", self, places[i]);
		if (!access(path, X_OK) && realpath(path, ret))
			return true;
	}
	return false;
}
