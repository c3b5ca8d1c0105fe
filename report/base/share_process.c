/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is, and whether it has ended. */
#include "report/base/share_process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* When the process started, in clock ticks since boot; 0: there is no such process. */
static unsigned long long process_start(int pid)
{
	char path[64], text[1024], *after;
	unsigned long long start = 0;
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	size = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[size] = '\0';
	after = strrchr(text, ')');
	for (int field = 2; after && field < 22; field++)
		after = strchr(after + 1, ' ');
	if (after)
		sscanf(after, "%llu", &start);
	return start;
}

void process_text(char *ret, size_t size)
{
	char host[65] = "", boot[40] = "", space[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	ssize_t length = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);

	if (f) {
		if (!fgets(boot, sizeof(boot), f))
			boot[0] = '\0';
		fclose(f);
	}
	boot[strcspn(boot, "\n")] = '\0';
	space[length > 0 ? length : 0] = '\0';
	gethostname(host, sizeof(host) - 1);
	snprintf(ret, size, "%s %s %s %d %llu", host[0] ? host : "?", boot[0] ? boot : "?", space[0] ? space : "?",
		 (int)getpid(), process_start((int)getpid()));
}

bool process_has_ended(const char *self, const char *text, struct buffer *where)
{
	char host[65], boot[40], space[64], own[2][65];
	unsigned long long start;
	int pid;

	if (sscanf(text, "%64s %39s %63s %d %llu", host, boot, space, &pid, &start) != 5 ||
	    sscanf(self, "%*s %64s %64s", own[0], own[1]) != 2)
		return false;
	buffer_print(where, "PID %d on %s", pid, host);
	return !strcmp(boot, own[0]) && !strcmp(space, own[1]) && process_start(pid) != start;
}
