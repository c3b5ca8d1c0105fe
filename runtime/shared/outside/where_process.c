/* SPDX-License-Identifier: Apache-2.0 */
/* A process: its mappings, descriptors and sockets, beside its threads and Python frames. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/outside/process_stat.h"
#include "runtime/shared/outside/where.h"

enum { LINK_BYTES = PATH_MAX + 32 };

/* A whole file of /proc, NUL-terminated; the caller frees it. */
static char *proc_read(uint32_t pid, const char *name)
{
	struct where_buffer text = {0};
	char path[64], part[16384];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && text.used < WHERE_TEXT_MOST && (n = read(fd, part, sizeof(part))) > 0)
		where_add(&text, part, (size_t)n);
	if (fd >= 0)
		close(fd);
	where_add(&text, "", 1);
	return text.bytes;
}

/* The descriptors that an epoll descriptor watches: the lines "tfd: N ..." of its fdinfo. */
static void add_watched(struct where_buffer *b, uint32_t pid, unsigned fd)
{
	char name[32], word[32], *text, *at;

	snprintf(name, sizeof(name), "fdinfo/%u", fd);
	text = proc_read(pid, name);
	for (at = text; at && (at = strstr(at, "tfd:")); at += 4) {
		snprintf(word, sizeof(word), " tfd %u", (unsigned)strtoul(at + 4, NULL, 10));
		where_add_text(b, word);
	}
	free(text);
}

/* Reads what a descriptor refers to. Links of eventfd(2) are alike: the number in their fdinfo follows. */
static bool link_read(int directory, uint32_t pid, const char *number, char ret[LINK_BYTES])
{
	ssize_t n = readlinkat(directory, number, ret, PATH_MAX - 1);
	char name[32], *text, *at;

	if (n < 0)
		return false;
	ret[n] = '\0';
	if (strcmp(ret, "anon_inode:[eventfd]") != 0)
		return true;
	snprintf(name, sizeof(name), "fdinfo/%.10s", number);
	text = proc_read(pid, name);
	at = text ? strstr(text, "eventfd-id:") : NULL;
	if (at)
		snprintf(ret + n, LINK_BYTES - (size_t)n, " id %u",
			 (unsigned)strtoul(at + strlen("eventfd-id:"), NULL, 10));
	free(text);
	return true;
}

/* Whether this process has what processes share by inheritance open as well, and inherited it or will pass it on. */
static bool is_outside(const char *link)
{
	static const char *const kinds[] = {"pipe:[", "socket:[", "anon_inode:[eventfd] id "};
	bool may_be = false, is_own = false;
	char own[LINK_BYTES];
	DIR *d;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		may_be |= !strncmp(link, kinds[i], strlen(kinds[i]));
	d = may_be ? opendir("/proc/self/fd") : NULL;
	for (struct dirent *e; d && !is_own && (e = readdir(d));)
		is_own = link_read(dirfd(d), (uint32_t)getpid(), e->d_name, own) && !strcmp(own, link);
	if (d)
		closedir(d);
	return is_own;
}

/* The permissions of a link of /proc/PID/fd are the access mode of the descriptor. */
static void add_descriptor(struct where_buffer *b, int directory, uint32_t pid, unsigned fd)
{
	char name[16], link[LINK_BYTES], line[LINK_BYTES + 64];
	struct stat st;

	snprintf(name, sizeof(name), "%u", fd);
	if (!link_read(directory, pid, name, link) || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	for (char *c = link; *c; c++)
		if (*c == '\n')
			*c = '?';
	snprintf(line, sizeof(line), "%u %s%s %s", fd, st.st_mode & S_IRUSR ? "r" : "", st.st_mode & S_IWUSR ? "w" : "",
		 link);
	where_add_text(b, line);
	if (!strcmp(link, "anon_inode:[eventpoll]"))
		add_watched(b, pid, fd);
	if (is_outside(link))
		where_add_text(b, " outside");
	where_add_text(b, "\n");
}

/* Sorted inodes of the sockets in a text of descriptors. */
struct inodes {
	unsigned long items[WHERE_DESCRIPTORS];
	size_t count;
};

static int inode_order(const void *left, const void *right)
{
	const unsigned long *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static struct inodes own_sockets; /* of the process that is being recorded */

static bool is_own_socket(unsigned long inode)
{
	return bsearch(&inode, own_sockets.items, own_sockets.count, sizeof(inode), inode_order);
}

static void inodes_find(const char *text, struct inodes *ret)
{
	ret->count = 0;
	while ((text = strstr(text, " socket:[")) && ret->count < WHERE_DESCRIPTORS) {
		text += strlen(" socket:[");
		ret->items[ret->count++] = strtoul(text, NULL, 10);
	}
	qsort(ret->items, ret->count, sizeof(*ret->items), inode_order);
}

/* The lines of one table that have these inodes, which are word number `column` of each line, from 0. */
static void add_sockets(struct where_buffer *b, uint32_t pid, const char *table, int column,
			const struct inodes *inodes)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, table);
	f = fopen(path, "re");
	while (f && getline(&line, &size, f) > 0) {
		unsigned long inode;
		const char *at = line;

		for (int i = 0; i < column; i++) {
			at += strspn(at, " ");
			at += strcspn(at, " ");
		}
		inode = strtoul(at, NULL, 10);
		if (!bsearch(&inode, inodes->items, inodes->count, sizeof(inode), inode_order))
			continue;
		where_add_text(b, table);
		where_add_text(b, " ");
		where_add_text(b, line);
	}
	free(line);
	if (f)
		fclose(f);
}

static void record_text(enum tf_where_kind kind, const struct where_buffer *b)
{
	if (b->used)
		where_record(kind, NULL, 0, b->bytes, b->used);
}

/* A zombie does nothing any more. */
static void record_children(const struct where_process *p)
{
	struct where_buffer text = {0};

	for (size_t i = 0; i < p->count; i++) {
		char name[40], word[16], *children, *at, *end;

		snprintf(name, sizeof(name), "task/%u/children", p->threads[i].tid);
		children = proc_read(p->pid, name);
		for (at = children; at && *at; at = end) {
			unsigned long pid = strtoul(at, &end, 10);
			struct process_stat stat;

			if (end == at)
				break;
			if (!process_stat_read((uint32_t)pid, &stat) || stat.state == 'Z' || stat.state == 'X')
				continue;
			snprintf(word, sizeof(word), "%lu ", pid);
			where_add_text(&text, word);
		}
		free(children);
	}
	where_add(&text, "", 1);
	record_text(TF_WHERE_CHILDREN, &text);
	free(text.bytes);
}

static void record_descriptors(const struct where_process *p)
{
	static const struct {
		const char *name;
		int inode;
	} tables[] = {{"tcp", 9}, {"tcp6", 9}, {"udp", 9}, {"udp6", 9}, {"unix", 6}};
	struct where_buffer text = {0}, sockets = {0};
	uint32_t pid = p->pid;
	struct dirent *entry;
	unsigned count = 0;
	char path[32];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	d = opendir(path);
	while (d && count < WHERE_DESCRIPTORS && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		add_descriptor(&text, dirfd(d), pid, (unsigned)strtoul(entry->d_name, NULL, 10));
		count++;
	}
	if (d)
		closedir(d);
	record_text(TF_WHERE_DESCRIPTORS, &text);
	where_add(&text, "", 1);
	inodes_find(text.bytes ? text.bytes : "", &own_sockets);
	for (size_t i = 0; own_sockets.count && i < sizeof(tables) / sizeof(*tables); i++)
		add_sockets(&sockets, pid, tables[i].name, tables[i].inode, &own_sockets);
	if (sockets.used && memmem(sockets.bytes, sockets.used, "unix ", 5))
		where_unix_peers(&sockets, is_own_socket);
	where_file_locks(&sockets, p);
	where_ipc(&sockets, p);
	record_text(TF_WHERE_SOCKETS, &sockets);
	free(text.bytes);
	free(sockets.bytes);
}

static uint64_t signals_between(int first, int last)
{
	return (2ull << (last - 1)) - (1ull << (first - 1));
}

/* See struct tf_where_process. The C library uses the first two real-time signals. */
static uint32_t handled_signals(uint32_t pid)
{
	static const char name[] = "\nSigCgt:";
	char *status = proc_read(pid, "status");
	const char *line = status ? strstr(status, name) : NULL;
	uint32_t handled = 0;

	if (line) {
		uint64_t set = strtoull(line + strlen(name), NULL, 16);
		uint64_t others = signals_between(32, 64) & ~signals_between(32, 33) &
				  ~signals_between(TF_SAMPLER_SIGNAL_LAST, TF_SAMPLER_SIGNAL_FIRST);

		handled = (uint32_t)(set << 1) | !(set & others);
	}
	free(status);
	return handled;
}

static bool is_process(uint32_t pid, uint64_t start, struct process_stat *ret)
{
	return process_stat_read(pid, ret) && ret->start == start && ret->state != 'Z' && ret->state != 'X';
}

int where_process_record(uint32_t pid, uint64_t start, uint64_t patience_ns, unsigned flags)
{
	struct tf_where_process head = {.pid = pid, .start = start};
	struct where_process p = {.patience_ns = patience_ns, .flags = flags};
	char link[32], executable[PATH_MAX], *maps;
	struct process_stat stat;
	size_t begin = where_out.used, at = begin + sizeof(struct tf_where_record);
	ssize_t n;
	int error;

	if (!is_process(pid, start, &stat))
		return -ESRCH;
	p.pid = stat.reader;
	head.parent_pid = stat.parent_pid;
	head.handled = handled_signals(pid);
	snprintf(link, sizeof(link), "/proc/%u/exe", p.pid);
	n = readlink(link, executable, sizeof(executable));
	maps = proc_read(p.pid, "maps");
	p.maps = maps ? maps : "";
	p.strings = process_strings(p.pid);
	where_record(TF_WHERE_PROCESS, &head, sizeof(head), executable, n > 0 ? (size_t)n : 0);
	where_record(TF_WHERE_MAPS, NULL, 0, p.maps, strlen(p.maps));
	p.threads = calloc(WHERE_THREADS, sizeof(*p.threads));
	error = p.threads ? where_threads(&p) : -ENOMEM;
	if (error && !where_out.is_cut)
		((struct tf_where_process *)(where_out.bytes + at))->error = error;
	if (!(flags & WHERE_WITHOUT_FILES)) {
		record_descriptors(&p);
		record_children(&p);
	}
	if (!error)
		where_python(&p, where_tasks);
	free(p.threads);
	free(maps);
	/* It has ended meanwhile, and its PID may be another process's. */
	if (!is_process(pid, start, &stat))
		where_out.used = begin;
	return error;
}
