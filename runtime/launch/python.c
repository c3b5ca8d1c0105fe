/* SPDX-License-Identifier: Apache-2.0 */
/* Options that affect a Python program: errors in them are reported before it starts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/functions.h"

static int functions_check(const char *path, char *bytes, size_t size)
{
	struct functions_entry e;
	struct functions_parser f;
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

/* Names of Python functions may have any letter, but neither signs nor spaces. @profile: what the program chooses. */
static int lines_check(const char *list)
{
	static const char bad[] = "+-=/\\;|&!?$%^~#@\"'`()[]{} \t", decorated[] = "@profile";

	for (const char *entry = list;; entry += strcspn(entry, ",") + 1) {
		size_t length = strcspn(entry, ",");
		bool is_decorated = length == strlen(decorated) && !strncmp(entry, decorated, length);

		if (!length || (!is_decorated && strcspn(entry, bad) < length))
			break;
		if (!entry[length])
			return 0;
	}
	say("--lines-of takes FUNC|MODULE:FUNC|MODULE:*|@profile,... with names of Python functions, not '%s'", list);
	return EXIT_USAGE;
}

/* ---- words of nsys that the launcher translates ---- */

/* The list with `instead` in place of the word, never freed; the list itself if it does not have the word, or there is
 * no memory. `instead` is a word and a comma, or nothing. */
static const char *list_replace(const char *list, const char *word, const char *instead)
{
	size_t length = strlen(word);
	const char *at = list, *rest;
	char *copy;

	while (at && (strncmp(at, word, length) || (at[length] && at[length] != ','))) {
		at = strchr(at, ',');
		at += at != NULL;
	}
	if (!at)
		return list;
	rest = at + length + (at[length] == ',');
	if (asprintf(&copy, "%.*s%s%s", (int)(at - list), list, instead, rest) < 0)
		return list;
	if (*copy && copy[strlen(copy) - 1] == ',' && (!*rest || !*instead))
		copy[strlen(copy) - 1] = '\0';
	return copy;
}

static const char *gil_replace(const char *list, const char **ret_remark)
{
	const char *with = list_replace(list, "python-gil", "osrt,");

	if (with != list && list_replace(list, "osrt", "") == list)
		*ret_remark = "--trace: python-gil: waits for the GIL are found among OS calls: osrt is added";
	return with;
}

static const char *functions_replace(struct run *run, const char *list, const char **ret_remark)
{
	const char *without = list_replace(list, "functions-trace", ""), *rest;

	rest = list_replace(without, "functions-trace-shapes", "");
	run->traces_pytorch = rest != list;
	if (rest != without)
		*ret_remark = "--pytorch: functions-trace-shapes: ranges have no sizes; autograd-shapes-nvtx has those "
			      "of operators";
	return *rest || !run->traces_pytorch ? rest : "none";
}

const char *python_words(struct run *run, const char *option, const char *value, const char **ret_remark)
{
	*ret_remark = NULL;
	if (!strcmp(option, "trace"))
		return gil_replace(value, ret_remark);
	return strcmp(option, "pytorch") ? value : functions_replace(run, value, ret_remark);
}

/* ---- --pytorch=functions-trace ---- */

#define OPTIMIZER(file, class)                                                                                     \
	"{\"domain\":\"PyTorch\",\"module\":\"torch.optim." file "\",\"functions\":[\"" class ".step\"]},\n"

/* Modules forward, the backward pass, steps of optimizers and of data loaders: in the form of a file of
 * --python-functions-trace, without the brackets. */
static const char pytorch_functions[] =
	"{\"domain\":\"PyTorch\",\"module\":\"torch.nn.modules.module\",\"functions\":[\"Module.__call__\"]},\n"
	"{\"domain\":\"PyTorch\",\"module\":\"torch.autograd\",\"functions\":[\"backward\"]},\n"
	"{\"domain\":\"PyTorch\",\"module\":\"torch.utils.data.dataloader\","
	"\"functions\":[\"_BaseDataLoaderIter.__next__\"]},\n"
	OPTIMIZER("adadelta", "Adadelta") OPTIMIZER("adagrad", "Adagrad") OPTIMIZER("adam", "Adam")
	OPTIMIZER("adamax", "Adamax") OPTIMIZER("adamw", "AdamW") OPTIMIZER("asgd", "ASGD")
	OPTIMIZER("lbfgs", "LBFGS") OPTIMIZER("nadam", "NAdam") OPTIMIZER("radam", "RAdam")
	OPTIMIZER("rmsprop", "RMSprop") OPTIMIZER("rprop", "Rprop") OPTIMIZER("sgd", "SGD");

/* The user's list, if there is one, which was checked, and ours. */
static bool functions_write(FILE *f, const char *users)
{
	char *text = NULL, *end;
	FILE *in = users ? fopen(users, "re") : NULL;
	size_t size = 0;

	if (in && getdelim(&text, &size, '\0', in) > 0 && (end = strrchr(text, ']'))) {
		*end = '\0';
		fprintf(f, "%s,\n", text);
	} else {
		fputs("[\n", f);
	}
	fprintf(f, "%.*s\n]\n", (int)sizeof(pytorch_functions) - 3, pytorch_functions);
	if (in)
		fclose(in);
	free(text);
	return !ferror(f);
}

void python_prepare(struct run *run)
{
	char *path = NULL, *temporary = NULL;
	bool is_written = false;
	FILE *f;
	int fd;

	if (!run->traces_pytorch || asprintf(&path, "%s/.functions.json", run->directory) < 0 ||
	    asprintf(&temporary, "%s.%016llx.%ld", path, (unsigned long long)run->id, (long)getpid()) < 0)
		return;
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f)
		is_written = functions_write(f, run->options.python_functions);
	if (f && fclose(f))
		is_written = false;
	if (is_written && !rename(temporary, path)) {
		run->options.python_functions = path;
	} else {
		say("--pytorch=functions-trace: %s: %s", path, strerror(errno));
		unlink(temporary);
	}
	free(temporary);
}

/* ---- checks ---- */

int python_check(struct run *run)
{
	const struct options *o = &run->options;
	const char *name = o->pytorch != PYTORCH_NONE || run->traces_pytorch ? "pytorch"
			   : options_have_jax(o)			     ? "jax"
			   : o->python_functions			     ? "python-functions-trace"
			   : o->python_calls				     ? "python-calls"
									     : "python-import-time";

	if (o->lines_of && lines_check(o->lines_of))
		return EXIT_USAGE;
	if (o->pytorch == PYTORCH_NONE && !run->traces_pytorch && !o->python_functions && !o->python_calls &&
	    !o->python_import_time && !options_have_jax(o))
		return 0;
	if (!(o->trace & TRACE_NVTX)) {
		say("--%s records NVTX ranges: nvtx is added to --trace", name);
		run->options.trace |= TRACE_NVTX;
	}
	return o->python_functions ? functions_take(run) : 0;
}
