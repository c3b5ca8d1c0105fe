/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the symbols of libraries and programs that may be gone when a report is made: those of an archive that unpacks
 * itself (PyInstaller, AppImage), copied plugins, memfd. They are copied while a process that maps them lives, at
 * growing intervals: a process that ends sooner has no names for them. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/base/object_name.h"
#include "runtime/shared/common/clock.h"

/* FIRST_MS: the age at which a process is looked at first. REST_MS: while there is no new one. COST_SHARE: of the
 * launcher's time, as in usage.c. FILE_BYTES, ALL_BYTES: of what is copied. */
enum { FIRST_MS = 200, REST_MS = 1000, DOUBLINGS = 6, COST_SHARE = 200, SECTIONS = 4096 };
enum { FILE_BYTES = 64 << 20, ALL_BYTES = 256 << 20, COPY_BYTES = 64 << 10 };

struct mapped_file {
	uint64_t device, inode;
};

static struct {
	struct mapped_file *seen;
	size_t count, room;
	uint64_t bytes, due_ns, pause_ms;
	uint64_t copied_ns; /* time in which files were copied: each is once */
} objects;

static bool is_within(const char *path, const char *directory)
{
	size_t length = directory ? strlen(directory) : 0;

	return length > 1 && !strncmp(path, directory, length) && path[length] == '/';
}

static bool is_gone(const char *path)
{
	static const char end[] = " (deleted)";
	size_t length = strlen(path), wanted = sizeof(end) - 1;

	return length > wanted && !strcmp(path + length - wanted, end);
}

/* The recorder is not looked into: its frames are left out. */
static bool is_own(const char *path)
{
	const char *base = strrchr(path, '/');

	return base && !strncmp(base + 1, "libpillion", strlen("libpillion"));
}

static bool may_vanish(const char *path)
{
	if (is_own(path))
		return false;
	return is_within(path, getenv("TMPDIR")) || is_within(path, "/tmp") || is_within(path, "/var/tmp") ||
	       is_within(path, "/dev/shm") || is_within(path, "/run") || is_gone(path);
}

/* Each file once. */
static bool is_new(uint64_t device, uint64_t inode)
{
	for (size_t i = 0; i < objects.count; i++)
		if (objects.seen[i].device == device && objects.seen[i].inode == inode)
			return false;
	if (objects.count == objects.room) {
		struct mapped_file *more = realloc(objects.seen, (objects.room * 2 + 64) * sizeof(*more));

		if (!more)
			return false;
		objects.seen = more;
		objects.room = objects.room * 2 + 64;
	}
	objects.seen[objects.count++] = (struct mapped_file){device, inode};
	return true;
}

/* ---- copying ---- */

struct copy {
	int in, out;
	uint64_t size, bytes; /* of the file; copied */
	uint8_t build_id[20];
	size_t id_length;
};

static bool copy_range(struct copy *c, uint64_t from, uint64_t size)
{
	static char bytes[COPY_BYTES];

	if (from > c->size || size > c->size - from || c->bytes + size > FILE_BYTES)
		return false;
	c->bytes += size;
	while (size) {
		ssize_t n = pread(c->in, bytes, size < sizeof(bytes) ? (size_t)size : sizeof(bytes), (off_t)from);

		if (n <= 0 || pwrite(c->out, bytes, (size_t)n, (off_t)from) != n)
			return false;
		from += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return true;
}

/* Symbols, notes and debug information; not code and data, nor an archive that a program has in a section. */
static bool is_wanted(const struct copy *c, const ElfW(Ehdr) *head, const ElfW(Shdr) *sections, unsigned i)
{
	const uint64_t names = head->e_shstrndx < head->e_shnum ? sections[head->e_shstrndx].sh_offset : 0;
	char name[12] = "";

	if (sections[i].sh_type != SHT_PROGBITS)
		return sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM ||
		       sections[i].sh_type == SHT_STRTAB || sections[i].sh_type == SHT_NOTE ||
		       sections[i].sh_type == SHT_DYNAMIC;
	if (!names || pread(c->in, name, sizeof(name) - 1, (off_t)(names + sections[i].sh_name)) <= 0)
		return false;
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".zdebug_", 8) || !strncmp(name, ".gnu_debug", 10);
}

static void find_build_id(struct copy *c, const ElfW(Shdr) *section)
{
	uint8_t bytes[1024];
	ssize_t size = pread(c->in, bytes, section->sh_size < sizeof(bytes) ? section->sh_size : sizeof(bytes),
			     (off_t)section->sh_offset);

	if (size > 0)
		c->id_length = perf_build_id(bytes, bytes + size, c->build_id) ?: c->id_length;
}

static ElfW(Shdr) *read_sections(const struct copy *c, const ElfW(Ehdr) *head)
{
	size_t size = head->e_shnum * sizeof(ElfW(Shdr));
	ElfW(Shdr) *sections = NULL;

	if (!memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_shentsize == sizeof(*sections) && head->e_shnum &&
	    head->e_shnum <= SECTIONS)
		sections = malloc(size);
	if (sections && pread(c->in, sections, size, (off_t)head->e_shoff) == (ssize_t)size)
		return sections;
	free(sections);
	return NULL;
}

static bool copy_sections(struct copy *c, const ElfW(Ehdr) *head, const ElfW(Shdr) *sections)
{
	bool is_whole = !ftruncate(c->out, (off_t)c->size) && copy_range(c, 0, sizeof(*head)) &&
			copy_range(c, head->e_phoff, (uint64_t)head->e_phnum * head->e_phentsize) &&
			copy_range(c, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections));

	for (unsigned i = 0; is_whole && i < head->e_shnum; i++)
		if (is_wanted(c, head, sections, i))
			is_whole = copy_range(c, sections[i].sh_offset, sections[i].sh_size);
	return is_whole;
}

static void object_write(struct run *run, struct copy *c, const ElfW(Ehdr) *head, const ElfW(Shdr) *sections,
			 uint64_t mtime_ns)
{
	char name[OBJECT_NAME_BYTES], path[PATH_MAX + OBJECT_NAME_BYTES], made[PATH_MAX + OBJECT_NAME_BYTES];
	bool is_whole;

	object_name(name, c->build_id, c->id_length, c->size, mtime_ns);
	snprintf(path, sizeof(path), "%s/%s", run->directory, name);
	snprintf(made, sizeof(made), "%s/.object.%d", run->directory, (int)getpid());
	c->out = access(path, F_OK) ? open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	if (c->out < 0)
		return;
	is_whole = copy_sections(c, head, sections);
	if (close(c->out) || !is_whole || rename(made, path))
		unlink(made);
	objects.bytes += c->bytes;
	if (objects.bytes > ALL_BYTES)
		capture_line_note(run, "symbols of further files that may be gone are not kept: 256 MiB are");
}

static void object_keep(struct run *run, int fd)
{
	struct copy c = {.in = fd};
	ElfW(Shdr) *sections;
	ElfW(Ehdr) head;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return;
	c.size = (uint64_t)st.st_size;
	sections = read_sections(&c, &head);
	for (unsigned i = 0; sections && i < head.e_shnum; i++)
		if (sections[i].sh_type == SHT_NOTE)
			find_build_id(&c, &sections[i]);
	if (sections)
		object_write(run, &c, &head, sections,
			     (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
	free(sections);
}

/* ---- looking ---- */

/* map_files has the file that is mapped, whatever lies at its path; it needs a capability. */
static int mapped_open(uint32_t pid, uint64_t start, uint64_t end, const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	char name[PATH_MAX + 64];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)start,
		 (unsigned long long)end);
	fd = open(name, flags);
	if (fd >= 0 || is_gone(path))
		return fd;
	snprintf(name, sizeof(name), "/proc/%u/root%s", pid, path);
	return open(name, flags);
}

static void process_look(struct run *run, uint32_t pid)
{
	char name[32], *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	f = fopen(name, "re");
	while (f && (n = getline(&line, &size, f)) > 0 && objects.bytes <= ALL_BYTES) {
		unsigned long long start, end, inode;
		unsigned major, minor;
		int at = 0, fd;
		char mode[5];

		line[n - 1] = '\0';
		if (sscanf(line, "%llx-%llx %4s %*x %x:%x %llu %n", &start, &end, mode, &major, &minor, &inode, &at) <
			    6 || !at || mode[2] != 'x' || line[at] != '/' || !may_vanish(line + at) ||
		    !is_new((uint64_t)major << 32 | minor, inode))
			continue;
		fd = mapped_open(pid, start, end, line + at);
		if (fd >= 0) {
			uint64_t began = clock_monotonic_ns();

			object_keep(run, fd);
			objects.copied_ns += clock_monotonic_ns() - began;
			close(fd);
		}
	}
	free(line);
	if (f)
		fclose(f);
}

int objects_tick(struct run *run)
{
	uint64_t now = clock_monotonic_ns(), copied = objects.copied_ns, cost_ms;
	struct living *list;
	bool has_looked = false;
	size_t count;

	if (now < objects.due_ns)
		return (int)((objects.due_ns - now) / 1000000) + 1;
	count = objects.due_ns ? living_processes(run, &list) : 0;
	for (size_t i = 0; i < count; i++) {
		struct living *p = &list[i];

		if (p->has_ended || p->objects.due_ns > now)
			continue;
		process_look(run, p->pid);
		p->objects.due_ns = now + (FIRST_MS * 1000000ull << p->objects.looks);
		p->objects.looks += p->objects.looks < DOUBLINGS;
		has_looked = true;
	}
	cost_ms = (clock_monotonic_ns() - now - (objects.copied_ns - copied)) * COST_SHARE / 1000000;
	objects.pause_ms = has_looked || !objects.due_ns ? FIRST_MS : REST_MS;
	objects.pause_ms = objects.pause_ms > cost_ms ? objects.pause_ms : cost_ms;
	objects.due_ns = now + objects.pause_ms * 1000000;
	return (int)objects.pause_ms;
}
