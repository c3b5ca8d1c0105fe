/* SPDX-License-Identifier: Apache-2.0 */
/* Opens argv[1] with RTLD_LOCAL, as Python opens its extensions, and has it call its libraries argv[2] times; with
 * an argv[3], with RTLD_DEEPBIND. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | (argc > 3 ? RTLD_DEEPBIND : 0)) : NULL;
	int (*calls)(int);

	if (!plugin) {
		fprintf(stderr, "%s\n", argc > 2 ? dlerror() : "usage: library_local PLUGIN ROUNDS");
		return 2;
	}
	*(void **)&calls = dlsym(plugin, "library_calls");
	return calls(atoi(argv[2]));
}
