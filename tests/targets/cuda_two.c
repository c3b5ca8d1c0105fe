/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_two [deep] CALLS PLUGIN...: loads each plugin and runs it CALLS times, then all once more in turn, then
 * unloads, loads and runs them in the opposite order. Prints which CUDA runtime each one called. deep: opened with
 * RTLD_DEEPBIND; each then also makes a call whose return address is outside of the plugin. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLUGINS = 8 };

static void *handles[PLUGINS];
static int mode = RTLD_NOW | RTLD_LOCAL;

static int run(const char *path, int i, int calls)
{
	int (*plugin_run)(int), (*plugin_jump)(void **, size_t);
	void *p = NULL;

	if (!handles[i])
		handles[i] = dlopen(path, mode);
	if (!handles[i])
		return fprintf(stderr, "%s\n", dlerror()), exit(1), 0;
	*(void **)&plugin_run = dlsym(handles[i], "plugin_run");
	*(void **)&plugin_jump = dlsym(handles[i], "plugin_jump");
	if (mode & RTLD_DEEPBIND && !plugin_jump(&p, 1))
		printf("%zu ", (size_t)p / 1000);
	return plugin_run(calls);
}

int main(int argc, char **argv)
{
	int calls, count;

	if (argc > 1 && !strcmp(argv[1], "deep")) {
		mode |= RTLD_DEEPBIND;
		argc--;
		argv++;
	}
	calls = argc > 1 ? atoi(argv[1]) : 1;
	count = argc - 2;
	for (int i = 0; i < count && i < PLUGINS; i++)
		printf("%d ", run(argv[2 + i], i, calls));
	for (int i = 0; i < count && i < PLUGINS; i++)
		printf("%d ", run(argv[2 + i], i, 1));
	for (int i = 0; i < count && i < PLUGINS; i++) {
		dlclose(handles[i]);
		handles[i] = NULL;
	}
	for (int i = count - 1; i >= 0 && i < PLUGINS; i--) {
		printf("%d ", run(argv[2 + i], i, 1));
		dlclose(handles[i]);
		handles[i] = NULL;
	}
	putchar('\n');
	return 0;
}
