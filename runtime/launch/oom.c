/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that the kernel kills because the cgroup has reached its limit on memory: cgroup v1 and v2 count them.
 * COMMAND is in the launcher's cgroup; the limit may be that of one above it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/sys.h"

enum { CGROUP_BYTES = 512 };

static const struct version {
	const char *mount, *counter, *limit;
} versions[] = {
	{"/sys/fs/cgroup/memory", "memory.oom_control", "memory.limit_in_bytes"},
	{"/sys/fs/cgroup", "memory.events", "memory.max"},
};

static struct {
	const struct version *version; /* NULL: there is no such count */
	char group[CGROUP_BYTES];      /* its path below the mount */
	uint64_t kills;		       /* before the run */
	uint64_t told;		       /* of the run, in the last line */
} oom;

static bool file_read(const char *group, const char *name, char *ret, size_t size)
{
	char path[CGROUP_BYTES + 64];

	snprintf(path, sizeof(path), "%s%s/%s", oom.version->mount, group, name);
	return sys_read_file(path, ret, size) > 0;
}

static bool kills_read(uint64_t *ret)
{
	char text[1024], *at;

	if (!file_read(oom.group, oom.version->counter, text, sizeof(text)))
		return false;
	at = strstr(text, "oom_kill ");
	*ret = at ? strtoull(at + strlen("oom_kill "), NULL, 10) : 0;
	return at;
}

/* The smallest limit of the cgroup and those above it; moves `group` to that one. UINT64_MAX: none is known. */
static uint64_t limit_read(char *group)
{
	char at[CGROUP_BYTES], text[64];
	uint64_t least = UINT64_MAX;

	strcpy(at, group);
	do {
		char *slash = strrchr(at, '/');
		uint64_t limit = 0;

		if (file_read(at, oom.version->limit, text, sizeof(text)))
			limit = strtoull(text, NULL, 10); /* 0: "max" */
		if (limit && limit < least) {
			least = limit;
			strcpy(group, at);
		}
		if (!slash)
			break;
		*slash = '\0';
	} while (true);
	return least;
}

/* The path after `key` in the text of /proc/self/cgroup; a container may see another path than it has mounted. */
static bool version_try(const struct version *version, const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += strlen(key);
	oom.version = version;
	snprintf(oom.group, sizeof(oom.group), "%.*s", (int)strcspn(at, "\n"), at);
	if (!strcmp(oom.group, "/"))
		oom.group[0] = '\0';
	if (kills_read(&oom.kills))
		return true;
	oom.group[0] = '\0';
	if (kills_read(&oom.kills))
		return true;
	oom.version = NULL;
	return false;
}

uint64_t oom_kills(void)
{
	uint64_t kills;

	return oom.version && kills_read(&kills) && kills > oom.kills ? kills - oom.kills : 0;
}

void oom_begin(void)
{
	char text[4096];

	if (sys_read_file("/proc/self/cgroup", text, sizeof(text)) <= 0)
		return;
	if (!version_try(&versions[0], text, ":memory:"))
		version_try(&versions[1], text, "0::");
}

/* The line in the index: oom run= kills= limit= cgroup=, the limit in bytes. */
void oom_note(struct run *run)
{
	char buffer[2048], group[CGROUP_BYTES];
	struct index_writer line;
	uint64_t kills, limit;

	if (!oom.version || !kills_read(&kills) || kills - oom.kills <= oom.told)
		return;
	oom.told = kills - oom.kills;
	strcpy(group, oom.group);
	limit = limit_read(group);
	index_begin(&line, buffer, sizeof(buffer), "oom");
	index_hex(&line, "run", run->id);
	index_number(&line, "kills", oom.told);
	index_number(&line, "limit", limit);
	index_text(&line, "cgroup", *group ? group : "/");
	index_append(&line, run->directory, run->index);
}
