/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/symbol_map.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than MAP_BYTES are not read. */
enum { MAP_BYTES = 256 << 20, READ_BYTES = 1 << 16 };

struct map_entry {
	uint64_t start, size;
	char *name; /* in the text */
	struct symbol_line line;
	bool is_split;
};

struct symbol_map {
	struct buffer text;
	struct map_entry *entries; /* by start, then as written */
	size_t count, capacity;
};

/* ---- names ---- */

/* The number after the last colon of the text, which is cut off. 0: there is none. */
static int take_number(char *text)
{
	char *colon = strrchr(text, ':');
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	int number = digits && digits < 10 && !colon[1 + digits] ? atoi(colon + 1) : 0;

	if (number)
		*colon = '\0';
	return number;
}

/* Where the name of the file begins: after a space, as of V8, or after "::", as of LuaJIT. */
static char *find_file(char *name)
{
	char *space = strrchr(name, ' '), *colons = strstr(name, "::");

	return space ? space + 1 : colons ? colons + 2 : NULL;
}

/* V8 has the kind of the code, and how far it is optimized: "JS:*", "Function:~", "LazyCompile:^". */
static const char *without_kind(const char *name)
{
	const char *at = name;

	while (isalpha((unsigned char)*at))
		at++;
	return at > name && *at == ':' && at[1] && strchr("*~^+", at[1]) ? at + 2 : name;
}

/* Splits such a name, which it changes, into the parts that are in it: "JS:*work /srv/job.js:12:7" is the function work
 * at /srv/job.js:12. */
static void split_name(char *name, struct symbol_line *ret)
{
	static const char scheme[] = "file://";
	char *copy = mem_copy_text(name, strlen(name)), *file;
	int line = take_number(copy), before = line ? take_number(copy) : 0;

	*ret = (struct symbol_line){.name = name};
	file = line ? find_file(copy) : NULL;
	if (file && *file) {
		file = name + (file - copy);
		name[strlen(copy)] = '\0';
		file[file[-1] == ' ' ? -1 : -2] = '\0';
		ret->file = !strncmp(file, scheme, strlen(scheme)) ? file + strlen(scheme) : file;
		ret->line = before ? before : line;
		ret->name = without_kind(name);
		if (!*ret->name)
			ret->name = "anonymous";
	}
	free(copy);
}

/* ---- the file ---- */

static bool is_the_processes(int fd, uint64_t from_ns, uint64_t to_ns)
{
	struct stat st;
	uint64_t ns;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_uid != geteuid() && geteuid()))
		return false;
	ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	return ns >= from_ns && ns <= to_ns;
}

static void read_all(int fd, struct buffer *ret)
{
	char bytes[READ_BYTES];
	ssize_t n;

	while (ret->size < MAP_BYTES && (n = read(fd, bytes, sizeof(bytes))) > 0)
		buffer_add(ret, bytes, (size_t)n);
}

static void add_line(struct symbol_map *m, char *line)
{
	struct map_entry e = {0};
	char *end;

	e.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	line = end + 1;
	e.size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return;
	e.name = end + 1;
	mem_append(m->entries, m->count, m->capacity, e);
}

/* Names are in the order in which they were written. */
COMPARATOR(by_start, struct map_entry, order_of(a->start, b->start) ?: order_of((uintptr_t)a->name, (uintptr_t)b->name))

struct symbol_map *symbol_map_open(const char *path, uint64_t from_ns, uint64_t to_ns)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct symbol_map *m;

	if (fd < 0)
		return NULL;
	m = mem_alloc(sizeof(*m));
	if (is_the_processes(fd, from_ns, to_ns))
		read_all(fd, &m->text);
	close(fd);
	for (char *line = m->text.data; line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		add_line(m, line);
		line = end ? end + 1 : NULL;
	}
	sort_unless_sorted(m->entries, m->count, sizeof(*m->entries), by_start);
	if (m->count)
		return m;
	symbol_map_close(m);
	return NULL;
}

void symbol_map_close(struct symbol_map *m)
{
	if (!m)
		return;
	buffer_done(&m->text);
	free(m->entries);
	free(m);
}

/* Of code that lay at one address in succession, the one that was compiled last. */
bool symbol_map_find(struct symbol_map *m, uint64_t address, struct symbol_line *ret)
{
	size_t after = first_place(i, 0, m->count, m->entries[i].start <= address);
	struct map_entry *e = after ? &m->entries[after - 1] : NULL;

	if (!e || address - e->start >= e->size)
		return false;
	if (!e->is_split)
		split_name(e->name, &e->line);
	e->is_split = true;
	*ret = e->line;
	return true;
}
