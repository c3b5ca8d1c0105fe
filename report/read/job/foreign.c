/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/job/foreign.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>


/* The first match counts: of the ending, or of the first bytes. */
static const struct {
	const char *ending, *begin, *what, *command; /* command: what reads it; its name follows */
	bool is_program;
} kinds[] = {
	{".nsys-rep", NULL, "a report of Nsight Systems", "nsys stats ", false},
	{".qdrep", NULL, "a report of Nsight Systems", "nsys stats ", false},
	{".prof", NULL, "a profile of cProfile", "python3 -m pstats ", false},
	{".pstats", NULL, "a profile of cProfile", "python3 -m pstats ", false},
	{".ncu-rep", NULL, "a report of Nsight Compute", "ncu --import ", false},
	{".py", NULL, "a program", "pillion python3 ", false},
	{NULL, "SQLite format 3", "a database", "pillion ops ", false},
	{NULL, "PERFILE2", "a file of perf", "perf report -i ", false},
	{".sqlite", NULL, "a database", "pillion ops ", false},
	{NULL, "<!DOCTYPE", "a page for a browser", "xdg-open ", false},
	{NULL, "#!", "a program", "pillion ", true},
	{NULL, "\x7f" "ELF", "a program", "pillion ", true},
	{NULL, "{", "JSON", "python3 -m json.tool ", false},
};

/* Of chrome://tracing, as PyTorch, JAX and many others write it. */
static bool is_timeline(int fd)
{
	static const char word[] = "\"traceEvents\"";
	struct stat st;
	void *bytes = MAP_FAILED;
	bool ret;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ret = bytes != MAP_FAILED && memmem(bytes, (size_t)st.st_size, word, strlen(word));
	if (bytes != MAP_FAILED)
		munmap(bytes, (size_t)st.st_size);
	return ret;
}

static bool is_text(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)bytes[i] < ' ' && (!bytes[i] || !strchr("\t\n\r\f", bytes[i])))
			return false;
	return size > 0;
}

void foreign_words(const char *path, struct buffer *ret)
{
	char bytes[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
	size_t size = got > 0 ? (size_t)got : 0;
	bool is_shown = text_ends_with(path, ".json") && fd >= 0 && is_timeline(fd);

	if (fd >= 0)
		close(fd);
	if (is_shown) {
		buffer_text(ret, ", but a timeline: https://ui.perfetto.dev and chrome://tracing show it");
		return;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = kinds[i].begin ? strlen(kinds[i].begin) : 0;

		if (kinds[i].ending ? !text_ends_with(path, kinds[i].ending)
				    : size < length || memcmp(bytes, kinds[i].begin, length) != 0)
			continue;
		buffer_print(ret, ", but %s; type: %s%s%s", kinds[i].what, kinds[i].command,
			     kinds[i].is_program && !strchr(path, '/') ? "./" : "", path);
		return;
	}
	if (is_text(bytes, size))
		buffer_text(ret, ", but text; type: pillion COMMAND, which makes a capture");
}
