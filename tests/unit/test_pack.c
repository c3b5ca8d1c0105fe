/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/export/pack/redact.h"
#include "report/read/pack.h"
#include "report/read/pack_block.h"
#include "report/tables/report.h"
#include "opened.h"

static char directory[] = "/tmp/pillion-pack.XXXXXX";
static struct block_coder *coder;

static void begin(void)
{
	cr_assert(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
	coder = block_coder_new();
}

static void end(void)
{
	block_coder_free(coder);
	cr_assert_eq(system("rm -rf \"$PWD\""), 0);
}

TestSuite(pack, .init = begin, .fini = end);

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11 ^ *seed << 21;
}

static size_t assert_comes_back(const uint8_t *bytes, size_t size)
{
	uint8_t *back = malloc(size + 8);
	size_t packed_size;
	const uint8_t *packed = block_encode(coder, bytes, size, &packed_size);

	memset(back, 0x5a, size + 8);
	cr_assert(block_decode(coder, packed, packed_size, back, size));
	cr_assert_arr_eq(back, bytes, size);
	cr_assert_eq(back[size], 0x5a, "wrote past its end");
	free(back);
	return packed_size;
}

Test(pack, a_block_of_any_bytes_comes_back_the_same)
{
	static const size_t sizes[] = {0, 1, 7, 8, 9, 4095, 4096, BLOCK_BYTES - 1, BLOCK_BYTES};
	uint8_t *bytes = malloc(BLOCK_BYTES);
	uint64_t seed = 1;

	for (size_t i = 0; i < BLOCK_BYTES; i++)
		bytes[i] = (uint8_t)next(&seed);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		assert_comes_back(bytes, sizes[i]);
	memset(bytes, 0xff, BLOCK_BYTES);
	assert_comes_back(bytes, BLOCK_BYTES);
	memset(bytes, 0, BLOCK_BYTES);
	cr_assert_lt(assert_comes_back(bytes, BLOCK_BYTES), 100);
	free(bytes);
}

Test(pack, a_block_of_slots_of_every_kind_comes_back_the_same)
{
	enum { SLOTS = BLOCK_BYTES / 8 };
	uint64_t *slots = malloc(BLOCK_BYTES), seed = 7;

	for (unsigned int round = 0; round < 8; round++) {
		/* Fewer distinct heads each round: from more than a dictionary holds down to two. */
		uint64_t heads = (0xffffull >> (2 * round)) | 31;

		for (size_t i = 0; i < SLOTS; i++)
			slots[i] = (next(&seed) & ~0xffffull) | (next(&seed) & heads);
		assert_comes_back((const uint8_t *)slots, BLOCK_BYTES);
	}
	free(slots);
}

Test(pack, calls_one_after_the_other_take_less_than_their_noise_and_a_half)
{
	enum { SLOTS = BLOCK_BYTES / 8 };
	uint64_t *slots = malloc(BLOCK_BYTES), seed = 7, now = 0;

	/* 8 random bits of duration and 6 of the pause between calls: 1.75 bytes that cannot be compressed. */
	for (size_t i = 0; i < SLOTS; i++) {
		uint64_t duration = 500 + (next(&seed) & 255);

		now += duration + 20 + (next(&seed) & 63);
		slots[i] = tf_event(TF_CALL, 3, now, duration);
	}
	cr_assert_lt(assert_comes_back((const uint8_t *)slots, BLOCK_BYTES), SLOTS * 11 / 4);
	free(slots);
}

Test(pack, a_damaged_block_is_refused)
{
	static uint8_t bytes[4096], back[4096], copy[16384];
	size_t size, refused = 0;
	const uint8_t *packed;
	uint64_t seed = 3;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(next(&seed) & 31);
	packed = block_encode(coder, bytes, sizeof(bytes), &size);
	cr_assert_leq(size, sizeof(copy));
	memcpy(copy, packed, size);
	for (size_t i = 0; i < size; i++) {
		copy[i] ^= 1 << i % 8;
		if (!block_decode(coder, copy, size, back, sizeof(back)))
			refused++;
		else
			cr_assert_arr_eq(back, bytes, sizeof(back));
		copy[i] ^= 1 << i % 8;
	}
	cr_assert_gt(refused, size - 8);
	cr_assert(!block_decode(coder, copy, size - 1, back, sizeof(back)));
	cr_assert(!block_decode(coder, copy, size, back, sizeof(back) - 8), "another size than was packed");
	cr_assert(!block_decode(coder, copy, size, back, sizeof(back) - 1));
}

/* ---- files ---- */

static void make_pack(const char *output)
{
	char *captures[] = {(char *)"a.pillion"};
	struct pack_wish wish = {.captures = captures, .count = 1, .output = output};
	struct buffer path = {0};
	struct err err;

	cr_assert_eq(pack_write(&wish, &path, &err), 0, "%s", err.text);
	buffer_done(&path);
}

static char *report_text(const char *capture, const char *name)
{
	char *text = NULL;
	size_t size;
	struct model m;
	struct table table = {0};
	struct report_context context = {.model = &m};
	struct emit emit = {.format = FORMAT_CSV};

	open_capture(&m, capture);
	for (size_t i = 0; i < m.problems.count; i++)
		cr_log_error("%s", m.problems.items[i]);
	cr_assert_eq(m.problems.count, 0);
	context.symbols = symbols_new(&m, false);
	emit.file = open_memstream(&text, &size);
	report_find(name)->run(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	emit_table(&emit, name, name, &table);
	fclose(emit.file);
	table_done(&table);
	symbols_free(context.symbols);
	model_done(&m);
	return text;
}

static void assert_same_report(const char *name)
{
	char *raw = report_text("a.pillion", name), *packed = report_text("a.pillpack", name);

	cr_assert_str_eq(raw, packed);
	cr_assert_gt(strlen(raw), 40);
	free(raw);
	free(packed);
}

Test(pack, reports_of_a_packed_capture_are_those_of_its_directory)
{
	capture_example("a.pillion");
	make_pack("a.pillpack");
	assert_same_report("osrt_sum");
	assert_same_report("processes");
	assert_same_report("nvtx_sum");
}

Test(pack, blocks_that_went_for_others_come_again)
{
	/* More blocks than are cached for eight threads. */
	capture_large("a.pillion", 4000000, 8, 1);
	make_pack("a.pillpack");
	assert_same_report("osrt_sum");
}

Test(pack, mappings_of_one_file_side_by_side_show_the_same)
{
	struct pack *p;
	struct mapping one, two;
	struct err err;
	uint64_t before;
	size_t i = 0;

	capture_large("a.pillion", 4000000, 2, 1);
	make_pack("a.pillpack");
	cr_assert_eq(pack_open("a.pillpack", &p, &err), 0);
	while (strcmp(p->files[i]->name, "capture") == 0)
		i++;
	cr_assert_eq(pack_map(p->files[i], &one, &err), 0);
	cr_assert_eq(pack_map(p->files[i], &two, &err), 0);
	cr_assert_gt(one.size, 100 * BLOCK_BYTES);
	cr_assert_eq(memcmp(one.data, two.data, one.size), 0);
	before = hash_bytes(one.data, one.size);
	mapping_close(&one);
	cr_assert_eq(hash_bytes(two.data, two.size), before);
	mapping_close(&two);
	pack_close(p);
}

static void *load(const char *path, size_t *ret_size)
{
	FILE *f = fopen(path, "r");
	void *data = malloc(1 << 20);

	*ret_size = fread(data, 1, 1 << 20, f);
	fclose(f);
	return data;
}

/* Without O_TRUNC: on ext4 closing a truncated file waits for the disk. */
static void save(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	cr_assert(fd >= 0 && write(fd, data, size) == (ssize_t)size && !ftruncate(fd, (off_t)size));
	close(fd);
}

/* Returns the number of problems reported on opening, or -1 if the file cannot be opened. */
static int problems(const char *path)
{
	char *paths[] = {(char *)path};
	struct model m;
	struct err err;
	int count = -1;

	if (!model_open(&m, paths, 1, &err))
		count = (int)m.problems.count;
	model_done(&m);
	return count;
}

Test(pack, a_file_cut_anywhere_is_read_as_far_as_it_goes_and_said)
{
	size_t size;
	uint8_t *data;

	capture_example("a.pillion");
	make_pack("a.pillpack");
	data = load("a.pillpack", &size);
	cr_assert_eq(problems("a.pillpack"), 0);
	for (size_t cut = 0; cut < size; cut += 7) {
		save("cut.pillpack", data, cut);
		cr_assert_neq(problems("cut.pillpack"), 0, "at %zu of %zu", cut, size);
	}
	free(data);
}

Test(pack, a_byte_changed_anywhere_is_said)
{
	size_t size;
	uint8_t *data;
	char *wanted, *got;

	capture_example("a.pillion");
	make_pack("a.pillpack");
	wanted = report_text("a.pillpack", "osrt_sum");
	data = load("a.pillpack", &size);
	for (size_t at = 0; at < size; at += 7) {
		data[at] ^= 0x41;
		save("bad.pillpack", data, size);
		if (!problems("bad.pillpack")) { /* bytes between records have no meaning */
			got = report_text("bad.pillpack", "osrt_sum");
			cr_assert_str_eq(got, wanted, "changed at %zu", at);
			free(got);
		}
		data[at] ^= 0x41;
	}
	free(wanted);
	/* In the middle of the first trace file's block. */
	data[size / 2] ^= 0x41;
	save("bad.pillpack", data, size);
	cr_assert_gt(problems("bad.pillpack"), 0);
	free(data);
}

/* Returns the offset of the next record of a kind after the one at `behind`, with the same value if that one has the
 * same kind; 0: there is none. */
static size_t record_behind(const uint8_t *data, size_t size, enum pack_kind kind, size_t behind)
{
	struct pack_record r, before = {0};

	if (behind)
		memcpy(&before, data + behind, sizeof(before));
	for (size_t at = (behind ? behind : sizeof(struct pack_head) - PACK_ALIGN) + PACK_ALIGN; at + sizeof(r) <= size;
	     at += PACK_ALIGN) {
		memcpy(&r, data + at, sizeof(r));
		if (r.magic == PACK_RECORD_MAGIC && r.kind == kind && (before.kind != kind || r.value == before.value))
			return at;
	}
	return 0;
}

Test(pack, names_of_functions_stand_in_it_once_and_again)
{
	size_t size, first, second;
	uint8_t *data;
	char *wanted, *got;

	capture_example("a.pillion");
	make_pack("a.pillpack");
	wanted = report_text("a.pillpack", "osrt_sum");
	data = load("a.pillpack", &size);
	first = record_behind(data, size, PACK_TABLE, 0);
	second = record_behind(data, size, PACK_TABLE, first);
	cr_assert(first && second);
	cr_assert_gt(record_behind(data, size, PACK_SHARED, first), first);
	data[first + sizeof(struct pack_record) + 20] ^= 1;
	save("bad.pillpack", data, size);
	cr_assert_eq(problems("bad.pillpack"), 1, "reported, and the other copy is used");
	data[second + sizeof(struct pack_record) + 20] ^= 1;
	save("bad.pillpack", data, size);
	cr_assert_gt(problems("bad.pillpack"), 1, "the files without their names");
	data[first + sizeof(struct pack_record) + 20] ^= 1;
	data[second + sizeof(struct pack_record) + 20] ^= 1;
	save("bad.pillpack", data, size);
	got = report_text("bad.pillpack", "osrt_sum");
	cr_assert_str_eq(got, wanted);
	free(got);
	free(wanted);
	free(data);
}

Test(pack, what_is_extracted_is_what_was_packed)
{
	struct buffer path = {0};
	struct err err;

	capture_example("a.pillion");
	make_pack("a.pillpack");
	cr_assert_eq(pack_extract("a.pillpack", "b.pillion", &path, &err), 0, "%s", err.text);
	cr_assert_eq(system("diff -r a.pillion b.pillion"), 0);
	buffer_clear(&path);
	cr_assert_eq(pack_extract("a.pillpack", "b.pillion", &path, &err), -EEXIST);
	buffer_done(&path);
}

Test(pack, a_directory_gives_its_place_only_to_a_whole_file)
{
	char *captures[] = {(char *)"a.pillion/"};
	struct pack_wish wish = {.captures = captures, .count = 1, .is_replacing = true};
	struct buffer path = {0};
	struct err err;
	struct stat st;

	capture_example("a.pillion");
	cr_assert_eq(mkdir("a.pillion/odd", 0700), 0);
	cr_assert_eq(pack_write(&wish, &path, &err), -EINVAL);
	cr_assert_eq(stat("a.pillion/odd", &st), 0);
	cr_assert_neq(stat("a.pillion.packing", &st), 0);
	cr_assert_eq(rmdir("a.pillion/odd"), 0);
	buffer_clear(&path);
	captures[0] = (char *)"a.pillion//"; /* the file's name has no slashes */
	cr_assert_eq(pack_write(&wish, &path, &err), 0, "%s", err.text);
	cr_assert(!stat("a.pillion", &st) && S_ISREG(st.st_mode));
	cr_assert_eq(st.st_mode & 07777, 0600);
	cr_assert_neq(stat("a.pillion.packing", &st), 0);
	cr_assert_eq(problems("a.pillion"), 0);
	buffer_done(&path);
}

static int pack_of(char **captures, size_t count, const char *output, struct err *err)
{
	struct pack_wish wish = {.captures = captures, .count = count, .output = output};
	struct buffer path = {0};
	int code = pack_write(&wish, &path, err);

	cr_expect(code || !output || !strcmp(path.data, output));
	buffer_done(&path);
	return code;
}

Test(pack, what_is_no_file_is_omitted_and_said)
{
	char *captures[] = {(char *)"a.pillion"};
	struct texts omitted = {0};
	struct pack_wish wish = {.captures = captures, .count = 1, .output = "a.pillpack",
				 .is_forced = true, .left_out = &omitted};
	struct buffer path = {0};
	struct err err;

	capture_example("a.pillion");
	cr_assert_eq(pack_write(&wish, &path, &err), 0, "%s", err.text);
	cr_expect_eq(omitted.count, 0, "%s", omitted.count ? omitted.items[0] : "");
	cr_assert_eq(mkdir("a.pillion/.d", 0755), 0);
	buffer_clear(&path);
	cr_assert_eq(pack_write(&wish, &path, &err), 0, "%s", err.text);
	cr_assert_eq(omitted.count, 1);
	cr_expect_str_eq(omitted.items[0], "a.pillion/.d: not a regular file, omitted");
	texts_done(&omitted);
	buffer_done(&path);
}

Test(pack, several_captures_each_have_a_directory)
{
	char *captures[] = {(char *)"a.pillion", (char *)"b.pillion", (char *)"none"};
	struct buffer path = {0};
	struct err err;

	capture_example("a.pillion");
	capture_job("b.pillion");
	cr_expect_eq(pack_of(captures, 3, "c.pillpack", &err), -ENOENT, "each is looked for");
	cr_expect_str_eq(err.text, "none: No such file or directory");
	cr_assert_eq(pack_of(captures, 2, "c.pillpack", &err), 0, "%s", err.text);
	captures[1] = (char *)"c.pillpack";
	cr_expect_eq(pack_of(captures, 2, "d.pillpack", &err), -ENOTDIR);
	cr_expect_str_eq(err.text, "c.pillpack: is already packed");
	captures[1] = (char *)"a.pillion/capture";
	cr_expect_eq(pack_of(captures, 2, "d.pillpack", &err), -ENOTDIR);
	cr_expect_str_eq(err.text, "a.pillion/capture: not a capture directory");
	cr_assert_eq(pack_extract("c.pillpack", NULL, &path, &err), 0, "%s", err.text);
	cr_expect_str_eq(path.data, "captures");
	cr_expect_eq(system("diff -r a.pillion captures/a.pillion && diff -r b.pillion captures/b.pillion"), 0);
	buffer_clear(&path);
	cr_assert_eq(mkdir("below", 0700), 0);
	cr_assert_eq(rename("c.pillpack", "below/c.pillpack"), 0);
	cr_assert_eq(pack_extract("below/c.pillpack", NULL, &path, &err), 0, "%s", err.text);
	cr_expect_str_eq(path.data, "below/captures");
	buffer_done(&path);
}

/* A file beside the directory, with its name. */
Test(pack, the_name_of_the_file_is_that_of_the_capture)
{
	char *captures[] = {(char *)"a.pillion/"};
	struct pack_wish wish = {.captures = captures, .count = 1};
	struct buffer path = {0};
	struct err err;

	capture_example("a.pillion");
	cr_assert_eq(pack_write(&wish, &path, &err), 0, "%s", err.text);
	cr_expect_str_eq(path.data, "a.pillpack");
	buffer_clear(&path);
	cr_expect_eq(pack_write(&wish, &path, &err), -EEXIST);
	buffer_clear(&path);
	wish.is_forced = true;
	cr_expect_eq(pack_write(&wish, &path, &err), 0);
	buffer_clear(&path);
	cr_assert_eq(rename("a.pillion", "kept"), 0);
	cr_assert_eq(pack_extract("a.pillpack", NULL, &path, &err), 0, "%s", err.text);
	cr_expect_str_eq(path.data, "a.pillion", "and that of the directory is in the file");
	cr_expect_eq(system("diff -r kept a.pillion"), 0);
	buffer_done(&path);
}

/* ---- redacted ---- */

/* As recipes/redact.py: for a file its sizes, its name and its bytes; what comes back has capitals, unless the name
 * begins with '?', which is not known. It ends after `files`. */
static void redact_here(int fd, size_t files)
{
	for (size_t i = 0; i < files; i++) {
		uint64_t sizes[2];
		static char name[64], bytes[1 << 20];
		uint8_t is_known;

		if (recv(fd, sizes, sizeof(sizes), MSG_WAITALL) != sizeof(sizes) || sizes[0] > sizeof(name) ||
		    sizes[1] > sizeof(bytes) || recv(fd, name, sizes[0], MSG_WAITALL) != (ssize_t)sizes[0] ||
		    (sizes[1] && recv(fd, bytes, sizes[1], MSG_WAITALL) != (ssize_t)sizes[1]))
			_exit(1);
		is_known = *name != '?';
		name[0] = 'N';
		for (size_t k = 0; k < sizes[1]; k++)
			bytes[k] ^= 0x20;
		if (send(fd, &is_known, 1, 0) != 1 || send(fd, name, sizes[0], 0) != (ssize_t)sizes[0])
			_exit(2);
		for (size_t done = 0; is_known && done < sizes[1];) { /* in several parts */
			size_t part = sizes[1] - done < 5000 ? sizes[1] - done : 5000;

			if (send(fd, bytes + done, part, 0) != (ssize_t)part)
				_exit(3);
			done += part;
		}
	}
	_exit(0);
}

Test(pack, each_redacted_file_comes_back_in_its_place)
{
	static uint8_t bytes[300000];
	char name[] = "name", unknown[] = "?other";
	struct redactor r = {.fd = -1};
	int sockets[2];
	bool is_known;
	struct err err;

	redactor_done(&r); /* it was not started */
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
	r = (struct redactor){.pid = fork(), .fd = sockets[0]};
	if (!r.pid) {
		close(sockets[0]);
		redact_here(sockets[1], 3);
	}
	close(sockets[1]);
	memset(bytes, 'a', sizeof(bytes));
	is_known = false;
	cr_assert_eq(redact_file(&r, name, bytes, sizeof(bytes) - 1, &is_known, &err), 0, "%s", err.text);
	cr_expect(is_known);
	cr_expect_str_eq(name, "Name");
	for (size_t i = 0; i < sizeof(bytes) - 1; i++)
		cr_assert_eq(bytes[i], 'A', "at %zu", i);
	cr_expect_eq(bytes[sizeof(bytes) - 1], 'a', "it is behind the end");
	cr_assert_eq(redact_file(&r, unknown, bytes, 10, &is_known, &err), 0, "%s", err.text);
	cr_expect_not(is_known);
	cr_expect_str_eq(unknown, "Nother");
	cr_expect_eq(bytes[0], 'A', "what is not known does not come back");
	cr_assert_eq(redact_file(&r, name, NULL, 0, &is_known, &err), 0, "a name alone");
	cr_expect(is_known);
	cr_expect_eq(redact_file(&r, name, bytes, 10, &is_known, &err), -EIO, "the program has ended");
	redactor_done(&r);
	cr_expect_eq(fcntl(sockets[0], F_GETFD), -1, "it is closed");
	cr_expect_eq(waitpid(r.pid, NULL, 0), -1, "it was waited for");
}
