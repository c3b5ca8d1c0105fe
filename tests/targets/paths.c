/* SPDX-License-Identifier: Apache-2.0 */
/* paths N: makes known numbers of calls on paths in the working directory, absolute, relative, relative to a descriptor
 * and after chdir(): in one/ N of stat, 7 of them of files that do not exist, in two/ 5 changes, in three/ one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect(int fact)
{
	if (!fact)
		abort();
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 20, at;
	char path[5000], here[4000];
	struct stat s;

	expect(getcwd(here, sizeof(here)) != NULL);
	expect(!mkdir("one", 0700) && !mkdir("two", 0700) && !mkdir("three", 0700));
	at = open("two", O_RDONLY | O_DIRECTORY);
	expect(at >= 0 && !mkdirat(at, "a", 0700) && !mkdir("two/b", 0700) && !rename("two/a", "two/c"));
	snprintf(path, sizeof(path), "%s/two/c", here);
	expect(!rmdir(path) && unlink("two/none"));
	close(open("one/file", O_WRONLY | O_CREAT, 0600));
	snprintf(path, sizeof(path), "%s/one/file", here);
	for (int i = 0; i < 7; i++)
		expect(stat("one/none", &s));
	for (int i = 7; i < n; i++)
		expect(!stat(i % 2 ? path : "./one/file", &s));
	expect(!chdir("three") && !symlink("x", "./file"));
	close(at);
	/* The kernel refuses the flags before it reads the path. */
	expect(unlinkat(AT_FDCWD, (const char *)8, 0x7fff0000) && errno == EINVAL);
	return 0;
}
