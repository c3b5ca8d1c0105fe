/* SPDX-License-Identifier: Apache-2.0 */
/* The patterns of -o NAME: %p %h %q{ENV} %%, as in nsys and nvprof. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"

static const char suffix[] = ".pillion";

static int name_add(char ret[PATH_MAX], size_t *used, const char *text, size_t length)
{
	if (*used + length + sizeof(suffix) >= PATH_MAX) {
		say("--output: the name is too long");
		return EXIT_USAGE;
	}
	memcpy(ret + *used, text, length);
	*used += length;
	ret[*used] = '\0';
	return 0;
}

/* `at` points after "%q{", *ret_at after the "}". */
static int add_variable(char ret[PATH_MAX], size_t *used, const char *at, const char **ret_at)
{
	char name[256];
	size_t length = strcspn(at, "}");
	const char *value;

	if (!at[length] || length >= sizeof(name)) {
		say("--output: %%q{ without }");
		return EXIT_USAGE;
	}
	memcpy(name, at, length);
	name[length] = '\0';
	*ret_at = at + length + 1;
	value = getenv(name);
	/* With an empty value, ranks would silently share one capture. */
	if (!value) {
		say("--output: %%q{%s}: %s is not set", name, name);
		return EXIT_USAGE;
	}
	return name_add(ret, used, value, strlen(value));
}

static int pattern_expand(const struct run *run, const char *at, char ret[PATH_MAX], size_t *used)
{
	char number[24];
	int rc = 0;

	while (*at && !rc) {
		size_t plain = strcspn(at, "%");

		if (plain) {
			rc = name_add(ret, used, at, plain);
			at += plain;
		} else if (at[1] == 'p') {
			rc = name_add(ret, used, number, (size_t)snprintf(number, sizeof(number), "%d", (int)getpid()));
			at += 2;
		} else if (at[1] == 'h') {
			rc = name_add(ret, used, run->host, strlen(run->host));
			at += 2;
		} else if (at[1] == '%') {
			rc = name_add(ret, used, "%", 1);
			at += 2;
		} else if (at[1] == 'q' && at[2] == '{') {
			rc = add_variable(ret, used, at + 3, &at);
		} else {
			rc = name_add(ret, used, at++, 1);
		}
	}
	return rc;
}

int name_expand(const struct run *run, const char *pattern, char ret[PATH_MAX])
{
	size_t used = 0, tail = sizeof(suffix) - 1;
	int rc = 0;

	if (*pattern != '/') {
		if (!getcwd(ret, PATH_MAX)) {
			say("cannot determine the working directory: %s", strerror(errno));
			return NO_CAPTURE;
		}
		used = strlen(ret);
		rc = name_add(ret, &used, "/", 1);
	}
	if (!rc)
		rc = pattern_expand(run, pattern, ret, &used);
	while (!rc && used > 1 && ret[used - 1] == '/')
		ret[--used] = '\0';
	if (!rc && (used < tail || strcmp(ret + used - tail, suffix) != 0))
		rc = name_add(ret, &used, suffix, tail);
	return rc;
}

int name_number(const char *prefix, int number, char ret[PATH_MAX])
{
	if (snprintf(ret, PATH_MAX, "%s%d%s", prefix, number, suffix) < PATH_MAX)
		return 0;
	say("--output: the name is too long");
	return EXIT_USAGE;
}

void name_strip(char path[PATH_MAX])
{
	size_t length = strlen(path), tail = sizeof(suffix) - 1;

	if (length >= tail && !strcmp(path + length - tail, suffix))
		path[length - tail] = '\0';
}
