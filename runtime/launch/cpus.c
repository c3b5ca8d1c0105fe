/* SPDX-License-Identifier: Apache-2.0 */
/* Reads affinity masks and CPU quotas. */
#include "runtime/launch/cpus.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/shared/common/sys.h"

enum { MASK_CPUS = 16384 }; /* more than any kernel is configured for: a smaller buffer may be refused */

static uint64_t hash_bytes(const unsigned char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

void cpus_affinity(uint32_t tid, struct tf_usage_cpus *ret)
{
	unsigned long mask[MASK_CPUS / 8 / sizeof(unsigned long)];
	long size = sys_call(SYS_sched_getaffinity, tid, sizeof(mask), mask, 0);

	ret->cpus = 0;
	ret->mask = 0;
	if (size <= 0)
		return;
	for (size_t i = 0; i < (size_t)size / sizeof(*mask); i++)
		ret->cpus += (uint32_t)__builtin_popcountl(mask[i]);
	ret->mask = hash_bytes((const unsigned char *)mask, (size_t)size);
}

/* ---- cgroups ---- */

/* The first number of the file, and the second one if there is one; false: it has none, or is "max" or -1. */
static bool read_numbers(const char *directory, const char *file, unsigned long long *a, unsigned long long *b)
{
	char path[PATH_MAX], text[1024];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", directory, file) < sizeof(path) &&
	       sys_read_file(path, text, sizeof(text)) > 0 && text[0] != '-' && sscanf(text, "%llu %llu", a, b) >= 1;
}

/* The quota of one cgroup; TF_USAGE_UNKNOWN: it has none. */
static uint64_t group_quota(const char *directory, bool is_v2)
{
	unsigned long long quota = 0, period = 100000, unused;

	if (is_v2 ? !read_numbers(directory, "cpu.max", &quota, &period)
		  : !read_numbers(directory, "cpu.cfs_quota_us", &quota, &unused) ||
			    !read_numbers(directory, "cpu.cfs_period_us", &period, &unused))
		return TF_USAGE_UNKNOWN;
	return period ? (uint64_t)((double)quota / (double)period * 1e9) : TF_USAGE_UNKNOWN;
}

static uint64_t group_throttled(const char *directory, bool is_v2)
{
	const char *key = is_v2 ? "throttled_usec " : "throttled_time ";
	char path[PATH_MAX], text[2048];
	const char *at;

	if ((size_t)snprintf(path, sizeof(path), "%s/cpu.stat", directory) >= sizeof(path) ||
	    sys_read_file(path, text, sizeof(text)) <= 0 || !(at = strstr(text, key)))
		return TF_USAGE_UNKNOWN;
	return strtoull(at + strlen(key), NULL, 10) * (is_v2 ? 1000 : 1);
}

/* From the cgroup up to the root. In a container the path may be the host's, and only the root exists. */
static void ancestors_quota(char *directory, size_t root_length, bool is_v2, struct tf_usage_cpus *ret)
{
	for (;;) {
		uint64_t quota = group_quota(directory, is_v2);
		char *slash = strrchr(directory, '/');

		if (quota < ret->quota_ns) {
			ret->quota_ns = quota;
			ret->throttled_ns = group_throttled(directory, is_v2);
		}
		if (!slash || slash < directory + root_length)
			return;
		*slash = '\0';
	}
}

/* Whether "cpu" is one of the controllers, a list separated by commas. */
static bool has_cpu(const char *list, size_t length)
{
	for (const char *at = list, *end = list + length; at < end; at += strcspn(at, ",:") + 1)
		if (strcspn(at, ",:") == 3 && !strncmp(at, "cpu", 3))
			return true;
	return false;
}

/* Lines are "N:CONTROLLERS:PATH"; that of version 2 is "0::PATH". */
void cpus_quota(const char *root, const char *groups, struct tf_usage_cpus *ret)
{
	char directory[PATH_MAX];
	bool is_v1 = false;
	const char *path = NULL, *next;
	size_t root_length;

	ret->quota_ns = ret->throttled_ns = TF_USAGE_UNKNOWN;
	for (const char *line = groups; *line && !is_v1; line = *next ? next + 1 : next) {
		const char *list = strchr(line, ':'), *colon = list ? strchr(list + 1, ':') : NULL;

		next = line + strcspn(line, "\n");
		if (!colon || colon > next)
			continue;
		is_v1 = has_cpu(list + 1, (size_t)(colon - list - 1));
		if (is_v1 || colon == list + 1)
			path = colon + 1;
	}
	if (!path || snprintf(directory, sizeof(directory), "%s%s", root, is_v1 ? "/cpu" : "") >= PATH_MAX)
		return;
	root_length = strlen(directory);
	next = path + strcspn(path, "\n");
	if (root_length + (size_t)(next - path) >= sizeof(directory))
		return;
	memcpy(directory + root_length, path, (size_t)(next - path));
	directory[root_length + (size_t)(next - path)] = '\0';
	ancestors_quota(directory, root_length, !is_v1, ret);
}
