#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Functions of files that are gone when the report is made have names: of an archive that unpacks itself, of a plugin
# that is copied and unlinked, of a memfd, of a program that removes itself; also without a build id, with lines where
# there is debug information, in a packed capture, and where several processes map the same file.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
command -v cc >/dev/null || skip_all 'no compiler'

cat >plugin.c <<'END'
#include <time.h>
static volatile unsigned long x;
__attribute__((noinline)) static void NAME(void) { for (int i = 0; i < 1000000; i++) x += i; }
void plugin(void)
{
	struct timespec t, end;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	end.tv_sec += 2;
	do {
		NAME();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec < end.tv_sec || (t.tv_sec == end.tv_sec && t.tv_nsec < end.tv_nsec));
}
END
cat >host.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int memory_of(const char *path)
{
	static char bytes[1 << 20];
	int from = open(path, O_RDONLY), to = memfd_create("plugin", 0);
	ssize_t n = read(from, bytes, sizeof(bytes));

	return n > 0 && write(to, bytes, n) == n ? to : -1;
}
int main(int argc, char **argv)
{
	char path[64];
	void (*plugin)(void);
	void *handle;

	if (!strcmp(argv[1], "memfd"))
		snprintf(path, sizeof(path), "/proc/self/fd/%d", memory_of(argv[2]));
	handle = dlopen(!strcmp(argv[1], "memfd") ? path : argv[2], RTLD_NOW);
	if (!handle) {
		puts(dlerror());
		return 1;
	}
	plugin = (void (*)(void))dlsym(handle, "plugin");
	if (!strcmp(argv[1], "unlink"))
		unlink(argv[2]);
	if (!strcmp(argv[1], "itself"))
		unlink(argv[0]);
	if (!strcmp(argv[1], "fork") && !fork()) {
		plugin();
		return 0;
	}
	plugin();
	wait(NULL);
	return 0;
}
END
cat >archive <<'END'
#!/bin/sh
directory=$(mktemp -d)
cp host plugin.so "$directory"
"$directory/host" archive "$directory/plugin.so"
rm -r "$directory"
END
chmod +x archive
cc -O1 -o host host.c -ldl || skip_all 'the compiler does not work'
named() { # NAME: the share of its function in the samples, in whole percents
	report stats -q -r sample_sum -f csv "$1.pillion" 2>/dev/null |
		awk -F, '/spins_here/ { sum += $1 } END { print int(sum) }'
}
is_named() { [ "$(named "$1")" -ge 80 ]; }

for id in sha1 none; do
	cc -O1 -g -Wl,--build-id=$id -shared -fPIC -DNAME=spins_here -o plugin.so plugin.c
	pillion -f -o archive -s cpu ./archive >out 2>err
	is "$? $(cat out)" '0 ' "archive, build id $id: runs"
	ok "archive, build id $id: the function has its name" is_named archive
	like "$(report stats -q -r lines -f csv archive.pillion)" 'plugin\.c:3' "archive, build id $id: and its line"
	unlike "$(report stats -q -r ledger -f csv archive.pillion)" 'plugin\.so cannot be opened' \
		"archive, build id $id: the ledger does not miss it"
	pillion -f -o fork -s cpu ./host fork "$PWD/plugin.so" >out 2>err
	is "$(find fork.pillion -name '*.object' | wc -l)" "$(find fork.pillion -name '*.object' | sort -u | wc -l)" \
		"two processes, build id $id: one copy"
	report pack -q -f -o archive.pillpack archive.pillion >out 2>err
	mv archive.pillion elsewhere
	like "$(report stats -q -r sample_sum -f csv archive.pillpack)" spins_here "archive, build id $id: packed"
	rm -rf elsewhere
done
cc -O1 -g -Wl,--build-id=sha1 -shared -fPIC -DNAME=spins_here -o plugin.so plugin.c
for how in unlink itself memfd; do
	range=$(head -n 1 /proc/$$/maps | cut -d ' ' -f 1)
	if ! head -c 1 "/proc/$$/map_files/$range" >/dev/null 2>&1; then
		skip "$how: the function has its name" 'no capability to open /proc/PID/map_files'
		continue
	fi
	cp plugin.so copy.so
	cp host host_itself
	pillion -f -o gone -s cpu ./host_itself $how "$PWD/copy.so" >out 2>err
	rm -f copy.so host_itself
	ok "$how: the function has its name" is_named gone
done
is "$(find gone.pillion -name '.object*' | wc -l)" 0 'nothing unfinished is left'
done_testing
