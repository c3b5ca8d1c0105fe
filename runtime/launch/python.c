/* SPDX-License-Identifier: Apache-2.0 */
/* Options that affect a Python program: errors in them are reported before it starts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/functions.h"
#include "runtime/launch/run.h"

static int functions_check(const char *path, char *bytes, size_t size)
{
	struct functions_entry e;
	struct functions f;
	char why[256];
	size_t count = 0;
	int rc;

	functions_begin(&f, bytes, size);
	while ((rc = functions_next(&f, &e, why, sizeof(why))) > 0)
		count++;
	if (rc)
		say("--python-functions-trace: %s: %s", path, why);
	else if (!count)
		say("--python-functions-trace: %s names no function", path);
	return rc || !count ? EXIT_USAGE : 0;
}

/* Processes may change their directory, so they get an absolute path, which is never freed. */
static int functions_take(struct run *run)
{
	const char *path = run->options.python_functions;
	char *bytes = malloc(FUNCTIONS_FILE_BYTES), *real = realpath(path, NULL);
	FILE *f = real ? fopen(real, "re") : NULL;
	size_t size = f && bytes ? fread(bytes, 1, FUNCTIONS_FILE_BYTES, f) : 0;
	int rc = EXIT_USAGE;

	if (!f || !bytes || ferror(f))
		say("--python-functions-trace: cannot read %s: %s", path, strerror(errno));
	else if (size == FUNCTIONS_FILE_BYTES)
		say("--python-functions-trace: %s is larger than %d bytes", path, FUNCTIONS_FILE_BYTES - 1);
	else
		rc = functions_check(path, bytes, size);
	if (f)
		fclose(f);
	free(bytes);
	if (rc)
		free(real);
	else
		run->options.python_functions = real;
	return rc;
}

const char *python_gil_replace(const char *list, const char **ret_remark)
{
	static const char word[] = "python-gil";
	size_t length = strlen(word);
	const char *at = list;
	bool has_osrt = false;
	char *copy;

	*ret_remark = NULL;
	for (const char *w = list; *w; w += w[strcspn(w, ",")] ? strcspn(w, ",") + 1 : strlen(w))
		has_osrt |= !strncmp(w, "osrt", 4) && (!w[4] || w[4] == ',');
	while (at && (strncmp(at, word, length) || (at[length] && at[length] != ','))) {
		at = strchr(at, ',');
		at += at != NULL;
	}
	if (!at || asprintf(&copy, "%.*sosrt%s", (int)(at - list), list, at + length) < 0)
		return list;
	if (!has_osrt)
		*ret_remark = "--trace: python-gil: waits for the GIL are found among OS calls: osrt is added";
	return copy;
}

int python_check(struct run *run)
{
	const struct options *o = &run->options;
	const char *name = o->pytorch != PYTORCH_NONE ? "pytorch"
			   : o->python_functions      ? "python-functions-trace"
						      : "python-import-time";

	if (o->pytorch == PYTORCH_NONE && !o->python_functions && !o->python_import_time)
		return 0;
	if (!(o->trace & TRACE_NVTX)) {
		say("--%s records NVTX ranges: nvtx is added to --trace", name);
		run->options.trace |= TRACE_NVTX;
	}
	return o->python_functions ? functions_take(run) : 0;
}
