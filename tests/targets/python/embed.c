/* SPDX-License-Identifier: Apache-2.0 */
/* embed LIBPYTHON ROUNDS [SCRIPT]: Python within a program: begun, ended, begun anew, unloaded. Prints what each
 * round's script does. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 0;
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	void (*begin)(int) = library ? (void (*)(int))dlsym(library, "Py_InitializeEx") : NULL;
	int (*run)(const char *) = library ? (int (*)(const char *))dlsym(library, "PyRun_SimpleString") : NULL;
	int (*end)(void) = library ? (int (*)(void))dlsym(library, "Py_FinalizeEx") : NULL;

	if (!begin || !run || !end)
		return 2;
	for (int i = 0; i < rounds; i++) {
		begin(0);
		if (run(argc > 3 ? argv[3] : "import json; print(json.dumps([1]))"))
			return 1;
		if (end())
			return 1;
		close(open("/dev/null", O_RDONLY));
	}
	dlclose(library);
	close(open("/dev/null", O_RDONLY));
	return 0;
}
