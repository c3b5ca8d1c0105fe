/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the energy counters of CPU packages and their parts (RAPL, of Intel and AMD). Since Linux 5.10 they are
 * readable by root only, unless the administrator permits it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/counters/energy.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

static bool text_read(const char *directory, const char *file, char *ret, size_t size)
{
	char path[PATH_MAX];
	long n;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	n = sys_read_file(path, ret, size);
	if (n <= 0)
		return false;
	ret[strcspn(ret, "\n")] = '\0';
	return true;
}

/* intel-rapl:0 is a package, intel-rapl:0:1 a part of it: its name then has the package's before it. */
static bool domain_describe(const char *root, const char *entry, struct energy_meter *ret)
{
	char directory[PATH_MAX], text[64], package[40] = "";
	const char *part = strchr(entry, ':');

	part = part ? strchr(part + 1, ':') : NULL;
	snprintf(directory, sizeof(directory), "%s/%s", root, entry);
	if (!text_read(directory, "name", text, sizeof(text)))
		return false;
	*ret = (struct energy_meter){.kind = TF_ENERGY_CPU, .counter = -1};
	snprintf(ret->id, sizeof(ret->id), "%s", entry);
	if (part) {
		snprintf(directory, sizeof(directory), "%s/%.*s", root, (int)(part - entry), entry);
		if (text_read(directory, "name", package, sizeof(package) - 1))
			strcat(package, " ");
		snprintf(directory, sizeof(directory), "%s/%s", root, entry);
	}
	snprintf(ret->name, sizeof(ret->name), "%s%s", package, text);
	if (text_read(directory, "max_energy_range_uj", text, sizeof(text)))
		ret->fixed.counter_range_uj = strtoull(text, NULL, 10);
	snprintf(directory + strlen(directory), sizeof(directory) - strlen(directory), "/energy_uj");
	ret->counter = open(directory, O_RDONLY | O_CLOEXEC);
	return true;
}

static int compare_sources(const void *a, const void *b)
{
	return strcmp(((const struct energy_meter *)a)->id, ((const struct energy_meter *)b)->id);
}

/* intel-rapl-mmio has the packages a second time. */
size_t energy_rapl_find(const char *root, struct energy_meter *list, size_t room, size_t *ret_denied)
{
	DIR *d = opendir(root);
	struct dirent *entry;
	size_t found = 0;

	*ret_denied = 0;
	while (d && found < room && (entry = readdir(d))) {
		if (strncmp(entry->d_name, "intel-rapl:", 11) != 0 ||
		    !domain_describe(root, entry->d_name, &list[found]))
			continue;
		*ret_denied += list[found].counter < 0;
		found += list[found].counter >= 0;
	}
	if (d)
		closedir(d);
	qsort(list, found, sizeof(*list), compare_sources);
	return found;
}

void energy_rapl_read(const struct energy_meter *s, struct tf_energy_sample *ret)
{
	char text[32];
	ssize_t n = pread(s->counter, text, sizeof(text) - 1, 0);

	ret->ticks = clock_now();
	if (n > 0) {
		text[n] = '\0';
		ret->energy_uj = strtoull(text, NULL, 10);
	}
}
