/* SPDX-License-Identifier: Apache-2.0 */
/* Spools: what is moved when, by its launcher and by another process. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/shared/spool/spool.h"

enum { CHUNK = 65536, CHUNKS = 3, FILE_BYTES = TF_PAGE * 2 + CHUNK * CHUNKS };
static const uint64_t nonce = 0x1234;

static char directory[64];
static struct spool mine = {.fd = -1};
static char *trace; /* what its writer has written */

static void ignore(const char *format, ...)
{
	(void)format;
}

static void make_of(const char *boot)
{
	strcpy(directory, "/tmp/pillion-unit.XXXXXX");
	cr_assert(mkdtemp(directory));
	mine = (struct spool){.fd = -1, .run = 0x77, .host = "here", .say = ignore};
	strcpy(mine.boot, boot);
	snprintf(mine.capture, sizeof(mine.capture), "%s/capture", directory);
	cr_assert(!mkdir(mine.capture, 0700));
	cr_assert(!spool_create(&mine, directory));
	trace = calloc(1, FILE_BYTES);
}

static void make(void)
{
	make_of("boot");
}

static void make_of_this_boot(void)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	char boot[40] = "";

	cr_assert(f && fscanf(f, "%39s", boot) == 1);
	fclose(f);
	make_of(boot);
}

static void clean(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	cr_assert(!system(command));
	spool_close(&mine);
	free(trace);
}

TestSuite(spool, .init = make, .fini = clean);
TestSuite(spool_of_this_boot, .init = make_of_this_boot, .fini = clean);

static void write_text(const char *in, const char *name, const void *text, size_t size)
{
	char path[PATH_MAX + NAME_MAX + 2];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", in, name);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	close(fd);
}

static size_t read_text(const char *in, const char *name, void *ret, size_t size)
{
	char path[PATH_MAX + NAME_MAX + 2];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", in, name);
	fd = open(path, O_RDONLY);
	cr_assert(fd >= 0, "%s", path);
	n = read(fd, ret, size);
	cr_assert(n >= 0);
	close(fd);
	return (size_t)n;
}

static struct tf_chunk *chunk_at(int i)
{
	return (struct tf_chunk *)(trace + 2 * TF_PAGE + (size_t)i * CHUNK);
}

static void chunk_begin(int i)
{
	*chunk_at(i) = (struct tf_chunk){
		.magic = TF_CHUNK_MAGIC, .kind = TF_CHUNK_SLOTS, .nonce = nonce, .size_bytes = CHUNK};
}

/* Slots up to `bytes` of the chunk. */
static void chunk_fill(int i, size_t bytes)
{
	uint64_t *slots = (uint64_t *)(chunk_at(i) + 1);

	for (size_t k = 0; k < (bytes - sizeof(struct tf_chunk)) / sizeof(*slots); k++)
		slots[k] = ((uint64_t)(i + 1) << 32) + k + 1;
	chunk_at(i)->full = bytes == CHUNK;
}

/* Through a descriptor of its own, as the mapping of the writer does; what was moved is not written again. */
static void trace_write(int first)
{
	struct tf_header header = {.magic = TF_MAGIC, .nonce = nonce, .function_bytes = 100};
	char path[PATH_MAX + 16];
	int fd;

	memcpy(trace, &header, sizeof(header));
	memset(trace + TF_PAGE, 'f', 100);
	snprintf(path, sizeof(path), "%s/a.trace", mine.path);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	cr_assert(fd >= 0);
	cr_assert(pwrite(fd, trace, 2 * TF_PAGE, 0) == 2 * TF_PAGE);
	for (int i = first; i < CHUNKS; i++)
		cr_assert(pwrite(fd, chunk_at(i), CHUNK, 2 * TF_PAGE + (off_t)i * CHUNK) == CHUNK);
	close(fd);
}

static void trace_write_chunk(int i)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/a.trace", mine.path);
	fd = open(path, O_WRONLY);
	cr_assert(fd >= 0 && pwrite(fd, chunk_at(i), CHUNK, 2 * TF_PAGE + (off_t)i * CHUNK) == CHUNK);
	close(fd);
}

static bool trace_is_moved(void)
{
	static char have[FILE_BYTES];

	memset(have, 0, sizeof(have));
	read_text(mine.capture, "a.trace", have, sizeof(have));
	return !memcmp(have, trace, FILE_BYTES);
}

static bool chunk_is_hole(int i)
{
	static char have[FILE_BYTES];

	read_text(mine.path, "a.trace", have, sizeof(have));
	for (size_t k = 0; k < CHUNK; k++)
		if (have[2 * TF_PAGE + (size_t)i * CHUNK + k])
			return false;
	return true;
}

Test(spool, open_chunks_are_copied_and_full_ones_moved)
{
	chunk_begin(0);
	chunk_fill(0, CHUNK);
	chunk_begin(1);
	chunk_fill(1, 20000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
	cr_assert(chunk_is_hole(0));
	cr_assert(!chunk_is_hole(1));
	chunk_fill(1, 50000);
	trace_write(1);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
}

Test(spool, slots_behind_a_gap_are_copied)
{
	chunk_begin(0);
	chunk_fill(0, 60000);
	memset((char *)chunk_at(0) + 8192, 0, 20000); /* reserved, and not stored yet */
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
	chunk_fill(0, 60000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
}

Test(spool, chunks_behind_one_without_a_head_are_copied)
{
	chunk_begin(1);
	chunk_fill(1, CHUNK);
	chunk_begin(2);
	chunk_fill(2, 20000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
	cr_assert(chunk_is_hole(1));
	chunk_begin(0); /* its thread describes it now */
	chunk_fill(0, 30000);
	chunk_fill(2, 30000);
	trace_write(2);
	trace_write_chunk(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
}

Test(spool, counters_that_change_in_place_are_copied)
{
	chunk_begin(0);
	chunk_fill(0, 50000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	((uint64_t *)chunk_at(0))[1000]++;
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	cr_assert(trace_is_moved());
}

Test(spool, another_process_continues)
{
	struct spool other;

	chunk_begin(0);
	chunk_fill(0, CHUNK);
	chunk_begin(1);
	chunk_fill(1, 20000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);

	cr_assert_eq(spool_open(&other, mine.path), 0);
	other.say = ignore;
	cr_assert_str_eq(other.capture, mine.capture);
	cr_assert_eq(other.run, 0x77);
	cr_assert(!spool_is_of(&other, mine.capture), "the capture has no range file of this run");
	write_text(mine.capture, "here.0000000000000077.range", "", 0);
	cr_assert(spool_is_of(&other, mine.capture));
	cr_assert_eq(spool_lock(&other), -EWOULDBLOCK, "its launcher is alive");
	spool_close(&mine);
	cr_assert_eq(spool_lock(&other), 0);
	cr_assert(!spool_has_writers(&other), "another boot");
	chunk_fill(1, CHUNK);
	chunk_begin(2);
	chunk_fill(2, 30000);
	trace_write(1);
	cr_assert_eq(spool_move(&other, false, 0), 0);
	cr_assert(trace_is_moved(), "finds the chunks behind the one that was moved");
	cr_assert(chunk_is_hole(1));
	chunk_fill(2, 40000);
	trace_write(2);
	cr_assert_eq(spool_move(&other, true, 0), 0);
	cr_assert(trace_is_moved());
	spool_remove(&other);
	cr_assert(access(mine.path, F_OK));
	spool_close(&other);
}

Test(spool, an_older_version_replaces_nothing)
{
	struct spool other;

	chunk_begin(0);
	chunk_fill(0, 50000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	memset((char *)chunk_at(0) + 12000, 0, CHUNK - 12000);
	trace_write(0);
	spool_close(&mine);
	cr_assert_eq(spool_open(&other, mine.path), 0);
	other.say = ignore;
	cr_assert_eq(spool_move(&other, true, 0), 0);
	chunk_fill(0, 50000);
	cr_assert(trace_is_moved());
	spool_close(&other);
}

/* Moves the spool as another process, which finds the launcher killed. */
static void adopt(void)
{
	struct spool other;

	spool_close(&mine);
	cr_assert_eq(spool_open(&other, mine.path), 0);
	other.say = ignore;
	cr_assert_eq(spool_move(&other, true, 0), 0);
	spool_close(&other);
}

/* A thread's page has a call in progress when it is copied, and none, but larger counters, afterwards. */
Test(spool_of_this_boot, a_page_that_is_mapped_replaces_a_fuller_one)
{
	chunk_begin(0);
	chunk_fill(0, 50000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	memset((char *)chunk_at(0) + 12000, 0, 200);
	((uint64_t *)chunk_at(0))[2000]++;
	trace_write(0);
	adopt();
	cr_assert(trace_is_moved());
}

Test(spool_of_this_boot, a_hole_replaces_nothing)
{
	static const char zeros[CHUNK];
	char path[PATH_MAX + 16];
	int fd;

	chunk_begin(0);
	chunk_fill(0, 50000);
	trace_write(0);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	snprintf(path, sizeof(path), "%s/a.trace", mine.path);
	fd = open(path, O_WRONLY);
	cr_assert(fd >= 0 && pwrite(fd, zeros, TF_PAGE, 2 * TF_PAGE + 2 * TF_PAGE) == TF_PAGE);
	close(fd);
	adopt();
	cr_assert(trace_is_moved());
}

Test(spool, lines_are_appended_once)
{
	static const char first[] = "process\tpid=1\nprocess\tpid=2\n";
	static const char all[] = "process\tpid=1\nprocess\tpid=2\nend\tpid=1\n";
	static const char cut[] = "launch\tpid=9\nprocess\tpid=1\nprocess\tpid=2\nen";
	char have[256] = "";
	struct spool other;

	write_text(mine.path, "h.b.index", first, sizeof(first) - 1);
	write_text(mine.capture, "h.b.index", "launch\tpid=9\n", 13);
	cr_assert_eq(spool_move(&mine, false, 0), 0);
	read_text(mine.capture, "h.b.index", have, sizeof(have));
	cr_assert_str_eq(have, "launch\tpid=9\nprocess\tpid=1\nprocess\tpid=2\n");

	write_text(mine.path, "h.b.index", all, sizeof(all) - 1);
	write_text(mine.capture, "h.b.index", cut, sizeof(cut) - 1); /* its launcher was killed in the middle */
	spool_close(&mine);
	cr_assert_eq(spool_open(&other, mine.path), 0);
	other.say = ignore;
	cr_assert_eq(spool_move(&other, true, 0), 0);
	read_text(mine.capture, "h.b.index", have, sizeof(have));
	cr_assert_str_eq(have, "launch\tpid=9\nprocess\tpid=1\nprocess\tpid=2\nen\nend\tpid=1\n");
	spool_close(&other);
}

Test(spool, states_until_when_it_was_moved)
{
	struct tf_range_page page = {.magic = TF_RANGE_MAGIC, .run = 0x77};

	write_text(mine.path, "here.0000000000000077.range", &page, sizeof(page));
	cr_assert_eq(spool_move(&mine, false, 555), 0);
	read_text(mine.capture, "here.0000000000000077.range", &page, sizeof(page));
	cr_assert_eq(page.spool_ticks, 555u);
	cr_assert_eq(spool_move(&mine, true, 0), 0);
	read_text(mine.capture, "here.0000000000000077.range", &page, sizeof(page));
	cr_assert_eq(page.spool_ticks, TF_SPOOL_MOVED);
}

Test(spool, what_cannot_be_moved_is_counted_and_the_time_stays)
{
	struct tf_range_page page = {.magic = TF_RANGE_MAGIC, .run = 0x77};
	char path[PATH_MAX + 16];

	write_text(mine.path, "here.0000000000000077.range", &page, sizeof(page));
	cr_assert_eq(spool_move(&mine, false, 555), 0);
	write_text(mine.path, "x.usage", "", 0);
	snprintf(path, sizeof(path), "%s/x.usage", mine.capture);
	cr_assert(!mkdir(path, 0700)); /* in its way */
	cr_assert_eq(spool_move(&mine, false, 777), 1);
	read_text(mine.capture, "here.0000000000000077.range", &page, sizeof(page));
	cr_assert_eq(page.spool_ticks, 555u);
}

Test(spool_parts, lines_moved)
{
	static const char spooled[] = "a\nb\nc\n";

	cr_assert_eq(spool_lines_moved(spooled, 6, "", 0), 0u);
	cr_assert_eq(spool_lines_moved(spooled, 6, "x\na\ny\nb\n", 8), 4u, "lines of others between");
	cr_assert_eq(spool_lines_moved(spooled, 6, "a\nb\nc", 5), 4u, "a line that is not complete");
	cr_assert_eq(spool_lines_moved(spooled, 5, "a\nb\nc\n", 6), 4u);
	cr_assert_eq(spool_lines_moved(spooled, 6, "b\nc\n", 4), 0u);
	cr_assert_eq(spool_lines_moved(spooled, 6, "a\nb\nc\n", 6), 6u);
}

Test(spool_parts, open_refuses)
{
	struct spool s;

	cr_assert_eq(spool_open(&s, "/nonexistent/spool"), -ENOENT);
	cr_assert_eq(spool_open(&s, "/tmp"), -EINVAL);
}
