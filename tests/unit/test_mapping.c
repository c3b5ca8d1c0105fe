/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are created when they are read, two versions of one file, and what cannot be mapped. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/mapping.h"

enum { BLOCK = 64 << 10, KEPT = 64, BLOCKS = KEPT + 6, LAST = 100, PAGE = 4096 };

static char directory[] = "/tmp/pillion-mapping-XXXXXX";
static struct err err;

/* ---- bytes that are created ---- */

static size_t fills, last_size;

static void fill(void *source, size_t block, uint8_t *ret, size_t size)
{
	memset(ret, (int)(block + *(uint8_t *)source), size);
	fills++;
	if (block == BLOCKS)
		last_size = size;
}

/* How many blocks are created by reading the first and the last byte of those from first to last. */
static size_t fills_of(const struct mapping *m, size_t first, size_t last)
{
	size_t before = fills;

	for (size_t i = first; i <= last; i++) {
		size_t end = i * BLOCK + BLOCK - 1 < m->size ? i * BLOCK + BLOCK - 1 : m->size - 1;

		cr_expect_eq(((volatile const uint8_t *)m->data)[i * BLOCK], i + 1);
		cr_expect_eq(((volatile const uint8_t *)m->data)[end], i + 1);
	}
	return fills - before;
}

Test(mapping, the_oldest_blocks_are_created_again)
{
	uint8_t add = 1;
	const struct mapping_source source = {.fill = fill, .source = &add, .block_bytes = BLOCK};
	struct mapping m;

	cr_assert_eq(mapping_open_source(&source, BLOCKS * BLOCK + LAST, &m, &err), 0, "%s", err.text);
	cr_expect_eq(m.size, BLOCKS * BLOCK + LAST);
	cr_expect_eq(fills, 0, "nothing has been read");
	cr_expect_eq(fills_of(&m, 0, BLOCKS), BLOCKS + 1);
	cr_expect_eq(last_size, LAST, "the last block is shorter");
	cr_expect_eq(fills_of(&m, BLOCKS + 1 - KEPT, BLOCKS), 0, "those are still there");
	cr_expect_eq(fills_of(&m, 0, 0), 1);
	cr_expect_eq(fills_of(&m, 0, 0), 0);
	cr_expect_eq(fills_of(&m, BLOCKS + 1 - KEPT, BLOCKS + 1 - KEPT), 1, "it was the oldest one");
	mapping_close(&m);
	cr_expect_null(m.data);
}

Test(mapping, cursors_that_read_alternately_keep_their_blocks)
{
	uint8_t add = 1;
	const struct mapping_source source = {.fill = fill, .source = &add, .block_bytes = BLOCK};
	struct mapping m, none;

	cr_assert_eq(mapping_open_source(&source, BLOCKS * BLOCK, &m, &err), 0, "%s", err.text);
	mapping_keep(&m, BLOCKS - KEPT);
	cr_expect_eq(fills_of(&m, 0, BLOCKS - 1), BLOCKS);
	cr_expect_eq(fills_of(&m, 0, BLOCKS - 1), 0);
	mapping_close(&m);
	cr_assert_eq(mapping_open_source(&source, 0, &none, &err), 0);
	cr_expect_eq(none.size, 0);
	mapping_close(&none);
}

/* ---- files ---- */

static void begin(void)
{
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
}

static void end(void)
{
	const char *const names[] = {"file", "over", "fifo"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(names[i]);
	cr_expect_eq(chdir("/"), 0);
	cr_expect_eq(rmdir(directory), 0);
}

TestSuite(mapped_file, .init = begin, .fini = end);

/* One page for each letter, none for a space. */
static void write_pages(const char *name, const char *letters)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];

	cr_assert_geq(fd, 0);
	for (size_t i = 0; letters[i]; i++) {
		memset(page, letters[i], sizeof(page));
		cr_assert(letters[i] == ' ' || pwrite(fd, page, sizeof(page), (off_t)i * PAGE) == PAGE);
	}
	close(fd);
}

static bool is_later(const void *a, const void *b, size_t size)
{
	cr_expect_leq(size, PAGE);
	return *(const uint8_t *)b >= *(const uint8_t *)a;
}

static void expect_pages(const struct mapping *m, const char *letters)
{
	cr_assert_eq(m->size, strlen(letters) * PAGE);
	for (size_t i = 0; letters[i]; i++)
		cr_expect(m->data[i * PAGE] == letters[i] && m->data[i * PAGE + PAGE - 1] == letters[i],
			  "page %zu is %c, not %c", i, m->data[i * PAGE], letters[i]);
}

Test(mapped_file, the_later_of_two_versions_of_each_page)
{
	struct mapping m;

	write_pages("file", "bbbb");
	write_pages("over", " cab d"); /* none, later, earlier, as late, none, only there */
	cr_assert_eq(mapping_open_over("file", "over", is_later, &m, &err), 0, "%s", err.text);
	cr_assert_eq(m.size, 6 * PAGE);
	cr_expect_eq(m.data[4 * PAGE], 0, "neither has it");
	cr_expect_eq(m.data[5 * PAGE], 'd');
	m.size = 4 * PAGE;
	expect_pages(&m, "bcbb");
	m.size = 6 * PAGE;
	mapping_close(&m);
	cr_expect_eq(mapping_open_over("file", "/nonexistent/over", is_later, &m, &err), -ENOENT);
	cr_expect_str_eq(err.text, "file with /nonexistent/over: No such file or directory");
	cr_expect_eq(mapping_open_over("file", directory, is_later, &m, &err), -EINVAL);
	cr_expect_null(m.data);
}

Test(mapped_file, what_is_none)
{
	struct mapping m;

	write_pages("file", "");
	cr_expect_eq(mapping_open("file", &m, &err), 0, "an empty file");
	cr_expect_eq(m.size, 0);
	mapping_close(&m);
	write_pages("file", "xy");
	cr_assert_eq(mapping_open("file", &m, &err), 0);
	expect_pages(&m, "xy");
	mapping_close(&m);
	cr_expect_eq(mkfifo("fifo", 0600), 0);
	cr_expect_eq(mapping_open("fifo", &m, &err), -EINVAL, "and it does not wait for a writer");
	cr_expect_str_eq(err.text, "fifo: not a regular file");
	cr_expect_eq(mapping_open("absent", &m, &err), -ENOENT);
	cr_expect_str_eq(err.text, "absent: No such file or directory");
}
