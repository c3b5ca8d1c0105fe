/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of symbol look-ups.
 *   cuda_lookups probe              names of CUDA and others, by RTLD_DEFAULT, RTLD_NEXT and the program's handle
 *   cuda_lookups two LIBRARY...     cudaMalloc of each, by the same code, in turn
 *   cuda_lookups plugin LIBRARY N [MODE]   plugin_main(N) of a library with local scope; MODE: deep (RTLD_DEEPBIND),
 *                                   deeplazy, space (dlmopen)
 *   cuda_lookups plugins N LIBRARY...      of several, by concurrent threads; plugins_deep, plugins_deeplazy: in that
 *                                   mode
 *   cuda_lookups real LIBRARY NAME...      calls these functions of a library with zeroes
 *   cuda_lookups many LIBRARY N     N copies of a look-up, by concurrent threads */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void probe(void *handle, const char *what)
{
	static const char *const names[] = {
	    "cudaMalloc", "cuInit",        "cuMemAlloc_v2", "__cudaRegisterFunction", "cuptiActivityRegisterCallbacks",
	    "cuNothing",  "interposer_id", "printf"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *error;
		void *found;

		dlerror();
		found = dlsym(handle, names[i]);
		error = dlerror();
		/* The look-up names no version, so the version is left out of the output. */
		printf("%s %s: %s %.*s\n", what, names[i], found ? "found" : "none",
		       error ? (int)strcspn(error, ",") : 0, error ? error : "");
	}
}

static int two(int count, char **paths)
{
	int (*allocate[8])(void **, size_t);
	void *p = NULL;

	for (int i = 0; i < count && i < 8; i++) {
		void *handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);

		if (!handle)
			return fprintf(stderr, "%s\n", dlerror()), 1;
		*(void **)&allocate[i] = dlsym(handle, "cudaMalloc");
		if ((void *)allocate[i] != dlsym(handle, "cudaMalloc"))
			return printf("the same question, another answer\n"), 1;
	}
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < count; i++)
			printf("%d %zu\n", allocate[i](&p, 1), (size_t)p);
	return 0;
}

static int mode_of(const char *name)
{
	return !strcmp(name, "deep")       ? RTLD_NOW | RTLD_DEEPBIND
	       : !strcmp(name, "deeplazy") ? RTLD_LAZY | RTLD_DEEPBIND
					   : RTLD_NOW;
}

static int mode = RTLD_NOW;
static bool has_space;

static int plugin(char **argv)
{
	char *arguments[] = {argv[0], argv[1], NULL};
	void *handle = has_space ? dlmopen(LM_ID_NEWLM, argv[0], mode) : dlopen(argv[0], mode);
	int (*run)(int, char **);

	if (!handle)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	*(void **)&run = dlsym(handle, "plugin_main");
	return run(2, arguments);
}

static void *run_one(void *given)
{
	return (void *)(intptr_t)plugin(given);
}

static int plugins(int count, char **argv)
{
	pthread_t threads[8];
	char *arguments[8][3];
	int status = 0;

	for (int i = 1; i < count && i < 8; i++) {
		memcpy(arguments[i], (char *[]){argv[i], argv[0], NULL}, sizeof(arguments[i]));
		pthread_create(&threads[i], NULL, run_one, arguments[i]);
	}
	for (int i = 1; i < count && i < 8; i++) {
		void *result;

		pthread_join(threads[i], &result);
		status |= (int)(intptr_t)result;
	}
	return status;
}

static int real(int count, char **argv)
{
	void *handle = dlopen(argv[0], RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return fprintf(stderr, "%s\n", dlerror()), 1;
	for (int i = 1; i < count; i++) {
		unsigned (*f)(void *, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
		char room[4096] = {0};

		*(void **)&f = dlsym(handle, argv[i]);
		if (f)
			printf("%s %u\n", argv[i], f(room, 64, 0, 0, 0, 0));
		else
			printf("%s none\n", argv[i]);
	}
	return 0;
}

static void *look_up(void *handle)
{
	void *first = dlsym(handle, "cudaMalloc");

	for (int i = 0; i < 1000; i++)
		if (dlsym(handle, "cudaMalloc") != first || dlsym(handle, "cudaNothing") || !dlsym(handle, "cudaFree"))
			return NULL;
	return first;
}

static int many(const char *path, int count)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *found, *all = NULL;
	pthread_t threads[64];

	for (int i = 0; i < count && i < 64; i++)
		pthread_create(&threads[i], NULL, look_up, handle);
	for (int i = 0; i < count && i < 64; i++) {
		pthread_join(threads[i], &found);
		if (!found || (all && found != all))
			return puts("threads differ"), 1;
		all = found;
	}
	return puts("all the same"), 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "probe")) {
		probe(RTLD_DEFAULT, "default");
		probe(RTLD_NEXT, "next");
		probe(dlopen(NULL, RTLD_NOW), "program");
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "two"))
		return two(argc - 2, argv + 2);
	if (argc > 3 && !strcmp(argv[1], "plugin")) {
		mode = mode_of(argc > 4 ? argv[4] : "");
		has_space = argc > 4 && !strcmp(argv[4], "space");
		return plugin(argv + 2);
	}
	if (argc > 3 && !strncmp(argv[1], "plugins", 7)) {
		mode = mode_of(argv[1][7] ? argv[1] + 8 : "");
		return plugins(argc - 2, argv + 2);
	}
	if (argc > 3 && !strcmp(argv[1], "real"))
		return real(argc - 2, argv + 2);
	if (argc > 3 && !strcmp(argv[1], "many"))
		return many(argv[2], atoi(argv[3]));
	return 2;
}
