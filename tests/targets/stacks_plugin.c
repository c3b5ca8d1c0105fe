/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_plugin PLUGIN|DIRECTORY...: loads each plugin in turn, lets it sleep and unloads it, so that all use the same
 * addresses; changes to each directory. Built with SLEEPER it is such a plugin; plugins differ only in that name. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#ifdef SLEEPER
__attribute__((noinline)) static int SLEEPER(int us)
{
	return usleep((useconds_t)us) + us;
}

__attribute__((visibility("default"))) int plugin_sleep(int us)
{
	return SLEEPER(us) + 1;
}
#else
int main(int argc, char **argv)
{
	void *at = NULL;
	int moved = 0;

	for (int i = 1; i < argc; i++) {
		int (*plugin_sleep)(int);
		void *plugin;

		if (!chdir(argv[i]))
			continue;
		plugin = dlopen(argv[i], RTLD_NOW);
		plugin_sleep = plugin ? (int (*)(int))dlsym(plugin, "plugin_sleep") : NULL;
		if (!plugin_sleep || plugin_sleep(300) != 301)
			return 1;
		moved += at && at != (void *)plugin_sleep;
		at = (void *)plugin_sleep;
		if (dlclose(plugin))
			return 1;
	}
	printf("%d moved\n", moved);
	return 0;
}
#endif
