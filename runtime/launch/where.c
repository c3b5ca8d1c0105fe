/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `pillion where`, which puts a file .where into the capture's directory:
 *   request=<16 hexadecimal digits>
 *   realtime_ns=<CLOCK_REALTIME when it was written>
 * Each launcher of the capture, on any host, looks for it about once per second, or at once when it receives SIGCHLD.
 * It answers a request once, and only if the file belongs to its own user or root and is not older than STALE_S: what
 * a killed `pillion where` left behind is ignored. The answer is a look in HOST.RUN.where, complete when its END is
 * there.
 *
 * A look is also taken before a signal that may end COMMAND is forwarded, and into processes that are quiet. */
#include "runtime/launch/where.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

enum { INTERVAL_MS = 1000, STALE_S = 60, SIGNAL_LOOKS = 4, PATIENCE_NS = 1000000000 };
enum { DESCRIPTORS = 4096, TEXT_MOST = 4 << 20 };

static struct {
	uint64_t answered; /* the last request */
	uint64_t due_ns;   /* CLOCK_MONOTONIC: when to look for the next one */
	unsigned signal_looks;
} where;

/* ---- the file ---- */

static int file_open(const struct run *run)
{
	struct tf_where_head head = {.magic = TF_WHERE_MAGIC, .run = run->id, .clock = clock_kind};
	char path[PATH_MAX + INDEX_NAME_BYTES], name[INDEX_NAME_BYTES];
	struct stat st;
	int fd;

#if defined(__x86_64__)
	head.machine = EM_X86_64;
#elif defined(__aarch64__)
	head.machine = EM_AARCH64;
#endif
	memcpy(head.boot, run->boot, sizeof(head.boot));
	index_where_name(name, sizeof(name), run->host, run->id);
	snprintf(path, sizeof(path), "%s/%s", run->directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st))
		return fd;
	if (!st.st_size && write(fd, &head, sizeof(head)) != (ssize_t)sizeof(head)) {
		unlink(path);
		close(fd);
		return -1;
	}
	return fd;
}

/* What cannot be written completely is removed again, because later looks would not be found after a part of one. */
static bool file_write(int fd)
{
	struct stat st;
	bool is_whole = !where_out.is_cut && !fstat(fd, &st);
	size_t written = 0;

	while (is_whole && written < where_out.used) {
		ssize_t n = write(fd, where_out.bytes + written, where_out.used - written);

		is_whole = n > 0;
		written += n > 0 ? (size_t)n : 0;
	}
	if (!is_whole && written && ftruncate(fd, st.st_size))
		return false;
	return is_whole;
}

/* ---- a process ---- */

/* A whole file of /proc, NUL-terminated; the caller frees it. */
static char *proc_read(uint32_t pid, const char *name)
{
	struct where_buffer text = {0};
	char path[64], part[16384];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && text.used < TEXT_MOST && (n = read(fd, part, sizeof(part))) > 0)
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

/* The permissions of a link of /proc/PID/fd are the access mode of the descriptor. */
static void add_descriptor(struct where_buffer *b, int directory, uint32_t pid, unsigned fd)
{
	char name[16], link[PATH_MAX], line[PATH_MAX + 64];
	struct stat st;
	ssize_t n;

	snprintf(name, sizeof(name), "%u", fd);
	n = readlinkat(directory, name, link, sizeof(link) - 1);
	if (n < 0 || fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	link[n] = '\0';
	for (char *c = link; *c; c++)
		if (*c == '\n')
			*c = '?';
	snprintf(line, sizeof(line), "%u %s%s %s", fd, st.st_mode & S_IRUSR ? "r" : "", st.st_mode & S_IWUSR ? "w" : "",
		 link);
	where_add_text(b, line);
	if (!strcmp(link, "anon_inode:[eventpoll]"))
		add_watched(b, pid, fd);
	where_add_text(b, "\n");
}

/* Sorted inodes of the sockets in a text of descriptors. */
struct inodes {
	unsigned long items[DESCRIPTORS];
	size_t count;
};

static int inode_order(const void *left, const void *right)
{
	const unsigned long *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void inodes_find(const char *text, struct inodes *ret)
{
	ret->count = 0;
	while ((text = strstr(text, " socket:[")) && ret->count < DESCRIPTORS) {
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

static void record_descriptors(uint32_t pid)
{
	static const struct {
		const char *name;
		int inode;
	} tables[] = {{"tcp", 9}, {"tcp6", 9}, {"udp", 9}, {"udp6", 9}, {"unix", 6}};
	static struct inodes inodes;
	struct where_buffer text = {0}, sockets = {0};
	struct dirent *entry;
	unsigned count = 0;
	char path[32];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	d = opendir(path);
	while (d && count < DESCRIPTORS && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		add_descriptor(&text, dirfd(d), pid, (unsigned)strtoul(entry->d_name, NULL, 10));
		count++;
	}
	if (d)
		closedir(d);
	record_text(TF_WHERE_DESCRIPTORS, &text);
	where_add(&text, "", 1);
	inodes_find(text.bytes ? text.bytes : "", &inodes);
	for (size_t i = 0; inodes.count && i < sizeof(tables) / sizeof(*tables); i++)
		add_sockets(&sockets, pid, tables[i].name, tables[i].inode, &inodes);
	record_text(TF_WHERE_SOCKETS, &sockets);
	free(text.bytes);
	free(sockets.bytes);
}

static bool is_process(uint32_t pid, uint64_t start, struct process_stat *ret)
{
	return process_stat_read(pid, ret) && ret->start == start && ret->state != 'Z' && ret->state != 'X';
}

static void process_record(uint32_t pid, uint64_t start, uint64_t patience_ns, bool is_quiet)
{
	struct tf_where_process head = {.pid = pid, .start = start};
	struct where_process p = {.pid = pid, .patience_ns = patience_ns, .is_quiet = is_quiet};
	char link[32], executable[PATH_MAX], *maps;
	struct process_stat stat;
	size_t begin = where_out.used, at = begin + sizeof(struct tf_where_record);
	ssize_t n;
	int error;

	if (!is_process(pid, start, &stat))
		return;
	head.parent_pid = stat.parent_pid;
	snprintf(link, sizeof(link), "/proc/%u/exe", pid);
	n = readlink(link, executable, sizeof(executable));
	maps = proc_read(pid, "maps");
	p.maps = maps ? maps : "";
	where_record(TF_WHERE_PROCESS, &head, sizeof(head), executable, n > 0 ? (size_t)n : 0);
	where_record(TF_WHERE_MAPS, NULL, 0, p.maps, strlen(p.maps));
	p.threads = calloc(WHERE_THREADS, sizeof(*p.threads));
	error = p.threads ? where_threads(&p) : -ENOMEM;
	if (error && !where_out.is_cut)
		((struct tf_where_process *)(where_out.bytes + at))->error = error;
	record_descriptors(pid);
	if (!error)
		where_python(&p);
	free(p.threads);
	free(maps);
	/* It has ended meanwhile, and its PID may be another process's. */
	if (!is_process(pid, start, &stat))
		where_out.used = begin;
}

/* ---- looks ---- */

static void look(struct run *run, uint64_t request, int signal)
{
	struct tf_where_begin begin = {request, clock_now(), clock_realtime_ns(), (uint32_t)signal, TF_WHERE_ASKED};
	/* A signal is forwarded without waiting. */
	uint64_t patience_ns = signal ? 0 : clock_monotonic_ns() + PATIENCE_NS;
	struct living *list;
	size_t count = living_processes(run, &list);
	int fd = file_open(run);

	if (fd < 0)
		return;
	where_out = (struct where_buffer){0};
	where_record(TF_WHERE_BEGIN, &begin, sizeof(begin), NULL, 0);
	for (size_t i = 0; i < count; i++)
		process_record(list[i].pid, list[i].start, patience_ns, false);
	where_record(TF_WHERE_END, &begin, sizeof(begin), NULL, 0);
	file_write(fd);
	free(where_out.bytes);
	close(fd);
}

static uint64_t hash_of(const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

size_t where_look_quiet(struct run *run, struct living *p)
{
	struct tf_where_begin begin = {0, clock_now(), clock_realtime_ns(), 0, TF_WHERE_QUIET};
	struct tf_where_process head = {.pid = p->pid, .start = p->start};
	size_t first, written = 0;
	int fd = file_open(run);

	if (fd < 0)
		return 0;
	where_out = (struct where_buffer){0};
	where_record(TF_WHERE_BEGIN, &begin, sizeof(begin), NULL, 0);
	first = where_out.used;
	process_record(p->pid, p->start, 0, true);
	if (where_out.used > first) {
		uint64_t hash = hash_of(where_out.bytes + first, where_out.used - first);

		if (hash == p->quiet.hash) {
			where_out.used = first;
			where_record(TF_WHERE_SAME, &head, sizeof(head), NULL, 0);
		}
		where_record(TF_WHERE_END, &begin, sizeof(begin), NULL, 0);
		p->quiet.hash = file_write(fd) ? hash : 0;
		written = where_out.used;
	}
	free(where_out.bytes);
	close(fd);
	return written;
}

/* The request in the file; 0: it is not valid, or too old. */
static uint64_t request_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	unsigned long long request = 0, written = 0;
	uint64_t now = clock_realtime_ns(), apart;
	struct stat st;
	char text[256];
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !st.st_uid))
		n = read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	if (sscanf(text, "request=%16llx\nrealtime_ns=%llu\n", &request, &written) != 2)
		return 0;
	apart = now > written ? now - written : written - now;
	return apart < STALE_S * 1000000000ull ? request : 0;
}

int where_tick(struct run *run)
{
	uint64_t request, now = clock_monotonic_ns();
	char path[PATH_MAX + 8];

	if (now < where.due_ns)
		return (int)((where.due_ns - now) / 1000000) + 1;
	where.due_ns = now + INTERVAL_MS * 1000000ull;
	snprintf(path, sizeof(path), "%s/.where", run->directory);
	request = access(path, F_OK) ? 0 : request_read(path);
	if (request && request != where.answered) {
		where.answered = request;
		look(run, request, 0);
	}
	return INTERVAL_MS;
}

void where_signal(struct run *run, int signal)
{
	bool may_end = signal == SIGTERM || signal == SIGINT || signal == SIGQUIT || signal == SIGHUP ||
		       signal == SIGABRT || signal == SIGALRM || signal == SIGXCPU;

	if (signal == SIGCHLD)
		where.due_ns = 0;
	if (may_end && where.signal_looks++ < SIGNAL_LOOKS)
		look(run, 0, signal);
}
