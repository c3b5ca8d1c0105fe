/* SPDX-License-Identifier: Apache-2.0 */
/* How the log names the capture. */
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/base/text.h"

const char *path_shown(const struct run *run)
{
	static char quoted[4 * PATH_MAX + 3];
	struct text t = text_init(quoted, sizeof(quoted));
	char here[PATH_MAX];
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	const char *name = length > 1 && !strncmp(run->directory, here, length) && run->directory[length] == '/'
				   ? run->directory + length + 1
				   : run->directory;

	text_word(&t, name);
	return quoted;
}

const char *path_verb(const struct run *run)
{
	return run->options.mode == MODE_PROFILE ? "stats" : "view";
}

void path_say(const struct run *run)
{
	static bool is_said;

	if (!is_said)
		say("capture: open it with pillion %s %s", path_verb(run), path_shown(run));
	is_said = true;
}
