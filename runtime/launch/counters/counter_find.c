/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that exist on this machine. A file that it does not have is listed as missing, and nothing is put in its
 * place. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/launch/counters/counter.h"
#include "runtime/shared/common/sys.h"

/* Scales that depend on the machine: time of CPUs in percent of all CPUs, and pages in bytes. */
#define SCALE_CPUS (-1.0)
#define SCALE_PAGES (-2.0)
#define COLUMN(n) (1u << ((n) - 1))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TOTAL .is_total = true

static const struct node_counter_row proc_rows[] = {
	{"stat", "cpu ", COLUMN(1) | COLUMN(2) | COLUMN(3) | COLUMN(6) | COLUMN(7) | COLUMN(8), NULL, "CPU busy", "%",
	 SCALE_CPUS, TOTAL},
	{"stat", "cpu ", COLUMN(3) | COLUMN(6) | COLUMN(7), NULL, "CPU in the kernel", "%", SCALE_CPUS, TOTAL},
	{"stat", "cpu ", COLUMN(5), NULL, "CPU waiting for I/O", "%", SCALE_CPUS, TOTAL},
	{"stat", "cpu ", COLUMN(8), NULL, "CPU stolen", "%", SCALE_CPUS, TOTAL},
	{"stat", "ctxt ", COLUMN(1), NULL, "Context switches", "1/s", 1, TOTAL},
	{"stat", "procs_running ", COLUMN(1), NULL, "Run queue", "threads", 1},
	{"stat", "procs_blocked ", COLUMN(1), NULL, "Blocked on I/O", "threads", 1},
	{"meminfo", "MemTotal:", COLUMN(1), "MemAvailable:", "Memory in use", "bytes", 1024},
	{"meminfo", "MemAvailable:", COLUMN(1), NULL, "Memory available", "bytes", 1024},
	{"meminfo", "Cached:", COLUMN(1), NULL, "Page cache", "bytes", 1024},
	{"meminfo", "Dirty:", COLUMN(1), NULL, "Dirty pages", "bytes", 1024},
	{"meminfo", "SwapTotal:", COLUMN(1), "SwapFree:", "Swap in use", "bytes", 1024},
	{"vmstat", "pgfault ", COLUMN(1), NULL, "Page faults", "1/s", 1, TOTAL},
	{"vmstat", "pgmajfault ", COLUMN(1), NULL, "Major page faults", "1/s", 1, TOTAL},
	{"vmstat", "pswpin ", COLUMN(1), NULL, "Swapped in", "bytes/s", SCALE_PAGES, TOTAL},
	{"vmstat", "pswpout ", COLUMN(1), NULL, "Swapped out", "bytes/s", SCALE_PAGES, TOTAL},
	{"pressure/cpu", "some ", COLUMN(4), NULL, "Pressure on CPUs", "%", 1e-4, TOTAL},
	{"pressure/memory", "some ", COLUMN(4), NULL, "Pressure on memory", "%", 1e-4, TOTAL},
	{"pressure/memory", "full ", COLUMN(4), NULL, "Pressure on memory, all threads", "%", 1e-4, TOTAL},
	{"pressure/io", "some ", COLUMN(4), NULL, "Pressure on I/O", "%", 1e-4, TOTAL},
	{"pressure/io", "full ", COLUMN(4), NULL, "Pressure on I/O, all threads", "%", 1e-4, TOTAL},
};

/* Sectors of 512 bytes, whatever the disk has. */
static const struct node_counter_row disk_rows[] = {
	{"stat", "", COLUMN(3), NULL, "read", "bytes/s", 512, TOTAL},
	{"stat", "", COLUMN(7), NULL, "written", "bytes/s", 512, TOTAL},
	{"stat", "", COLUMN(10), NULL, "busy", "%", 0.1, TOTAL},
};

static const struct node_counter_row cgroup_rows[] = {
	{"cpu.stat", "usage_usec ", COLUMN(1), NULL, "CPUs in use", "CPUs", 1e-6, TOTAL},
	{"cpu.stat", "throttled_usec ", COLUMN(1), NULL, "CPU throttled", "%", 1e-4, TOTAL},
	{"memory.current", "", COLUMN(1), NULL, "memory", "bytes", 1},
	{"cpu.pressure", "some ", COLUMN(4), NULL, "pressure on CPUs", "%", 1e-4, TOTAL},
	{"memory.pressure", "some ", COLUMN(4), NULL, "pressure on memory", "%", 1e-4, TOTAL},
	{"io.pressure", "some ", COLUMN(4), NULL, "pressure on I/O", "%", 1e-4, TOTAL},
};

/* Of the cgroup and those above it the lowest one counts. */
static const struct node_counter_row cgroup_limits[] = {
	{"cpu.max", "", 0, NULL, "CPU limit", "CPUs", 1e-3, .is_ratio = true},
	{"memory.max", "", COLUMN(1), NULL, "memory limit", "bytes", 1},
};

static const struct node_counter_row interface_rows[] = {
	{"dev", NULL, COLUMN(1), NULL, "received", "bytes/s", 1, TOTAL},
	{"dev", NULL, COLUMN(9), NULL, "sent", "bytes/s", 1, TOTAL},
	{"dev", NULL, COLUMN(3) | COLUMN(4) | COLUMN(11) | COLUMN(12), NULL, "errors and drops", "1/s", 1, TOTAL},
};

/* Words of 4 bytes. */
static const struct node_counter_row infiniband_rows[] = {
	{"port_rcv_data", "", COLUMN(1), NULL, "received", "bytes/s", 4, TOTAL},
	{"port_xmit_data", "", COLUMN(1), NULL, "sent", "bytes/s", 4, TOTAL},
	{"port_xmit_wait", "", COLUMN(1), NULL, "waits to send", "ticks/s", 1, TOTAL},
};

static void missing_add_text(struct node_counter_set *set, const char *text)
{
	size_t used = strlen(set->missing), length = strlen(text);

	if (strstr(set->missing, text))
		return;
	if (used + length + sizeof(", ...") > sizeof(set->missing)) {
		text = "...";
		if (strstr(set->missing, text))
			return;
	}
	snprintf(set->missing + used, sizeof(set->missing) - used, "%s%s", used ? ", " : "", text);
}

static void missing_add(struct node_counter_set *set, const char *of, const char *separator, const char *file)
{
	char text[PATH_MAX];

	snprintf(text, sizeof(text), "%s%s%s", of, separator, file);
	missing_add_text(set, text);
}

static double scale_of(const struct node_counter_row *row)
{
	if (row->scale == SCALE_CPUS)
		return 100.0 / (double)sysconf(_SC_CLK_TCK) / (double)sysconf(_SC_NPROCESSORS_ONLN);
	return row->scale == SCALE_PAGES ? (double)sysconf(_SC_PAGESIZE) : row->scale;
}

/* Adds the counters of an object, whose files are in `directory`. `label`: the beginning of their names; `key`: of
 * their lines, where the row has none. */
static void rows_add(struct node_counter_set *set, const char *directory, const char *label, const char *key,
		     const struct node_counter_row *rows, size_t count)
{
	char path[PATH_MAX];
	int fd = -1;

	for (size_t i = 0; i < count; i++) {
		struct node_counter *c = &set->items[set->count];
		bool is_next = !i || strcmp(rows[i].file, rows[i - 1].file) != 0;

		if (is_next) {
			snprintf(path, sizeof(path), "%s/%s", directory, rows[i].file);
			fd = set->file_count < COUNTER_FILES ? open(path, O_RDONLY | O_CLOEXEC) : -1;
			if (fd >= 0)
				set->files[set->file_count++] = fd;
			else
				missing_add(set, *label ? label : directory, *label ? " " : "/", rows[i].file);
		}
		if (fd < 0 || set->count == COUNTERS)
			continue;
		*c = (struct node_counter){.row = &rows[i], .scale = scale_of(&rows[i])};
		c->file = (uint16_t)(set->file_count - 1);
		snprintf(c->name, sizeof(c->name), "%s%s%s", label, *label ? " " : "", rows[i].name);
		snprintf(c->key, sizeof(c->key), "%s", rows[i].key ? rows[i].key : key);
		set->count++;
	}
}

/* The names in a directory, sorted, but for those that begin with a dot. */
static size_t names_read(const char *directory, struct dirent ***ret)
{
	int count = scandir(directory, ret, NULL, alphasort);
	size_t kept = 0;

	for (int i = 0; i < count; i++)
		if ((*ret)[i]->d_name[0] == '.')
			free((*ret)[i]);
		else
			(*ret)[kept++] = (*ret)[i];
	if (count < 0)
		*ret = NULL;
	return kept;
}

static void names_done(struct dirent **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* Devices that others are made of: those without a device of their own (loop, dm, md) would count a byte twice. */
static void disks_add(const char *root, struct node_counter_set *set)
{
	char directory[64], path[PATH_MAX], label[COUNTER_NAME_BYTES];
	struct dirent **names;
	size_t count;

	snprintf(directory, sizeof(directory), "%s/sys/block", root);
	count = names_read(directory, &names);
	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s/device", directory, names[i]->d_name);
		if (access(path, F_OK))
			continue;
		*strrchr(path, '/') = '\0';
		snprintf(label, sizeof(label), "Disk %.40s", names[i]->d_name);
		rows_add(set, path, label, "", disk_rows, COUNT(disk_rows));
	}
	names_done(names, count);
}

/* ---- cgroup v2 ---- */

/* Where cgroup v2 is mounted; false: nowhere. */
static bool cgroup_mount(const char *root, char *ret, size_t size)
{
	char text[1 << 16], path[PATH_MAX], *mark, *line;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
	if (sys_read_file(path, text, sizeof(text)) <= 0)
		return false;
	mark = strstr(text, " - cgroup2 ");
	if (!mark)
		return false;
	for (line = mark; line > text && line[-1] != '\n';)
		line--;
	return sscanf(line, "%*s %*s %*s %*s %4000s", path) == 1 &&
	       snprintf(ret, size, "%s%s", root, path) < (int)size;
}

/* The cgroup of this process; a container may see another path than it has mounted. */
static bool cgroup_find(const char *root, const char *mount, char *ret, size_t size)
{
	char text[8192], path[PATH_MAX], *at;

	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	if (sys_read_file(path, text, sizeof(text)) <= 0)
		return false;
	at = !strncmp(text, "0::", 3) ? text : strstr(text, "\n0::");
	if (!at)
		return false;
	at = strchr(at, ':') + 2;
	at[strcspn(at, "\n")] = '\0';
	if (!strcmp(at, "/"))
		*at = '\0';
	if (snprintf(ret, size, "%s%s", mount, at) >= (int)size || access(ret, F_OK))
		snprintf(ret, size, "%s", mount);
	return true;
}

/* No limit is no counter. */
static void limit_add(struct node_counter_set *set, const char *mount, const char *group,
		      const struct node_counter_row *row)
{
	char at[PATH_MAX], path[PATH_MAX + 32], text[64], least[PATH_MAX] = "";
	struct node_counter c = {.row = row};
	uint64_t value, lowest = UINT64_MAX;

	snprintf(at, sizeof(at), "%s", group);
	while (strlen(at) >= strlen(mount)) {
		snprintf(path, sizeof(path), "%s/%s", at, row->file);
		if (sys_read_file(path, text, sizeof(text)) > 0 && counter_parse(&c, text, &value) &&
		    value < lowest) {
			lowest = value;
			strcpy(least, at);
		}
		*strrchr(at, '/') = '\0';
	}
	if (*least)
		rows_add(set, least, "Cgroup", "", row, 1);
}

static void cgroup_add(const char *root, struct node_counter_set *set)
{
	char mount[PATH_MAX], group[PATH_MAX];

	if (!cgroup_mount(root, mount, sizeof(mount)) || !cgroup_find(root, mount, group, sizeof(group))) {
		missing_add_text(set, "cgroup v2");
		return;
	}
	rows_add(set, group, "Cgroup", "", cgroup_rows, COUNT(cgroup_rows));
	for (size_t i = 0; i < COUNT(cgroup_limits); i++)
		limit_add(set, mount, group, &cgroup_limits[i]);
}

void counter_find_host(const char *root, struct node_counter_set *set)
{
	char directory[PATH_MAX];

	snprintf(directory, sizeof(directory), "%s/proc", root);
	rows_add(set, directory, "", "", proc_rows, COUNT(proc_rows));
	disks_add(root, set);
	cgroup_add(root, set);
}

/* ---- networks ---- */

static void infiniband_add(const char *root, struct node_counter_set *set)
{
	char path[PATH_MAX], label[COUNTER_NAME_BYTES];
	struct dirent **devices, **ports;
	size_t device_count, port_count;

	snprintf(path, sizeof(path), "%s/sys/class/infiniband", root);
	device_count = names_read(path, &devices);
	for (size_t i = 0; i < device_count; i++) {
		snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports", root, devices[i]->d_name);
		port_count = names_read(path, &ports);
		for (size_t k = 0; k < port_count; k++) {
			snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/%s/counters", root,
				 devices[i]->d_name, ports[k]->d_name);
			snprintf(label, sizeof(label), "%.32s/%.8s", devices[i]->d_name, ports[k]->d_name);
			rows_add(set, path, label, "", infiniband_rows, COUNT(infiniband_rows));
		}
		names_done(ports, port_count);
	}
	names_done(devices, device_count);
}

/* The file is opened for each interface, which keeps counter_read() simple; there are few. */
static void interfaces_add(const char *root, struct node_counter_set *set)
{
	char directory[PATH_MAX], path[PATH_MAX + 8], label[COUNTER_NAME_BYTES], key[COUNTER_NAME_BYTES];
	char text[1 << 16];

	snprintf(directory, sizeof(directory), "%s/proc/net", root);
	snprintf(path, sizeof(path), "%s/dev", directory);
	if (sys_read_file(path, text, sizeof(text)) <= 0) {
		missing_add_text(set, path);
		return;
	}
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *colon = strchr(line, ':');

		line += strspn(line, " ");
		if (!colon)
			continue;
		*colon = '\0';
		snprintf(label, sizeof(label), "%.32s", line);
		snprintf(key, sizeof(key), "%.32s:", line);
		rows_add(set, directory, label, key, interface_rows, COUNT(interface_rows));
	}
}

void counter_find_net(const char *root, struct node_counter_set *set)
{
	interfaces_add(root, set);
	infiniband_add(root, set);
}
