/* SPDX-License-Identifier: Apache-2.0 */
/* The Pythons on PATH: whether their frames can be recorded. */
#include "report/live/doctor/doctor.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The versions whose frames the recorder reads: runtime/shared/common/pystack_layout.c. */
enum { MINOR_LEAST = 8, MINOR_MOST = 15, CALLS_FREE_THREADED_LEAST = 15, PYTHONS_MOST = 16 };

static const char ask[] =
	"import sys, sysconfig, glob\n"
	"v = sysconfig.get_config_var\n"
	"kind = 'free-threaded' if v('Py_GIL_DISABLED') else 'debug' if v('Py_DEBUG') else 'usual'\n"
	"print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3], kind, sys.executable, sep='\\t')\n"
	"for p in sys.path:\n"
	"    for f in glob.glob(p + '/nvidia/*/lib/libcupti.so.*'): print(f)\n";

/* "python", "python3", "python3.11", "python3.13t" */
static bool is_python(const char *name)
{
	if (!text_begins_with(name, "python"))
		return false;
	name += 6;
	name += strspn(name, "0123456789.");
	return !*name || !strcmp(name, "t");
}

/* Several names, and wrappers such as those of pyenv, may lead to one interpreter. */
static bool is_known(struct texts *known, const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return true;
	for (size_t i = 0; i < known->count; i++)
		if (!strcmp(known->items[i], real))
			return true;
	texts_add(known, "%s", real);
	return false;
}

static void add_interpreter(struct doctor *d, const char *name, const char *version, const char *kind, const char *path)
{
	bool is_usual = !strcmp(kind, "usual");
	struct check *c = check_add(d, "Python", "%s %s%s%s, %s", name, version, is_usual ? "" : " ",
				    is_usual ? "" : kind, path);
	int major = 0, minor = 0;

	sscanf(version, "%d.%d", &major, &minor);
	if (strcmp(name, "cpython") != 0)
		check_worse(c, CHECK_LIMITED, "Python frames are those of CPython: stacks have native frames alone");
	else if (!strcmp(kind, "debug"))
		check_worse(c, CHECK_LIMITED, "debug builds have no Python frames in stacks");
	else if (major != 3 || minor < MINOR_LEAST || minor > MINOR_MOST)
		check_worse(c, CHECK_LIMITED, "no Python frames in stacks: they are recorded of 3.8 to 3.15");
	else if (!is_usual && minor < CALLS_FREE_THREADED_LEAST)
		check_worse(c, CHECK_LIMITED, "no --python-calls: free-threaded builds have it from 3.15 on");
}

/* The last one known is `path`. A name that does not start is a wrapper without an interpreter: no row. */
static void ask_python(struct doctor *d, struct texts *known, const char *path)
{
	char *words[] = {(char *)path, (char *)"-c", (char *)ask, NULL};
	char name[64], version[64], kind[64], executable[PATH_MAX];
	SCOPED(buffer) output = {0};
	char real[PATH_MAX];
	const char *rest;

	if (!doctor_execute(words, false, &output) &&
	    sscanf(buffer_string(&output), "%63s %63s %63s %4095[^\n]", name, version, kind, executable) == 4 &&
	    realpath(executable, real) && (!strcmp(known->items[known->count - 1], real) || !is_known(known, real))) {
		add_interpreter(d, name, version, kind, executable);
		rest = strchr(output.data, '\n');
		buffer_text(&d->cupti, rest ? rest + 1 : "");
	}
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int filter(const struct dirent *entry)
{
	return is_python(entry->d_name);
}

void doctor_python(struct doctor *d)
{
	const char *path = getenv("PATH");
	SCOPED(texts) known = {0};
	size_t before = d->count;

	for (path = path ? path : ""; *path;) {
		size_t length = strcspn(path, ":");
		SCOPED(buffer) directory = {0}, file = {0};
		struct dirent **entries;
		int count;

		buffer_add(&directory, path, length);
		count = scandir(length ? directory.data : ".", &entries, filter, by_name);
		for (int i = 0; i < count; i++) {
			buffer_set(&file, "%s/%s", buffer_string(&directory), entries[i]->d_name);
			if (known.count < PYTHONS_MOST && !access(file.data, X_OK) && !is_known(&known, file.data))
				ask_python(d, &known, file.data);
			free(entries[i]);
		}
		if (count >= 0)
			free(entries);
		path += length + (path[length] == ':');
	}
	if (d->count == before)
		check_add(d, "Python", "none on PATH");
}
