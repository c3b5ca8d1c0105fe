/* SPDX-License-Identifier: Apache-2.0 */
/* The export pstats: how often Python functions were called and how long they took, as cProfile counts it. */
#include <unistd.h>

#include "captured.h"
#include "report/export/export.h"

#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { MAIN = 1, LOAD, STEP, NOT_A_FUNCTION };

static struct writer w;
static struct writer_thread t;

static void name_add(uint8_t *blob, size_t *size, const char *name)
{
	uint16_t length = (uint16_t)strlen(name);

	memcpy(blob + *size, &length, sizeof(length));
	memcpy(blob + *size + sizeof(length), name, length);
	*size += sizeof(length) + length;
}

/* The text of a range that is a call of a Python function. */
static void function(uint32_t text, const char *name, const char *file, uint32_t first_line)
{
	const struct tf_nvtx head = {.kind = TF_NVTX_FUNCTION, .id = first_line, .count = 2};
	uint8_t blob[256];
	size_t size = sizeof(head);
	char range[64];

	snprintf(range, sizeof(range), "call of %s", name);
	memcpy(blob, &head, sizeof(head));
	name_add(blob, &size, range);
	name_add(blob, &size, name);
	name_add(blob, &size, file);
	writer_text(&t, TF_BLOB_STRING, text, range);
	writer_blob(&t, TF_BLOB_NVTX, text, blob, size);
}

static void begin_calls(void)
{
	captured_begin();
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 16 * TF_PAGE);
	function(MAIN, "main", "/home/u/job.py", 1);
	function(LOAD, "Loader.load", "/home/u/load.py", 70000);
	function(STEP, "step", "~", 0);
	writer_text(&t, TF_BLOB_STRING, NOT_A_FUNCTION, "epoch");
}

TestSuite(pstats, .init = begin_calls, .fini = captured_end);

static void enter(uint64_t ms, uint32_t text)
{
	writer_event(&t, TF_PUSH, 0, BEGIN + ms * MS, text);
}

static void leave(uint64_t ms)
{
	writer_event(&t, TF_POP, 0, BEGIN + ms * MS, 0);
}

/* Appends the value of Python's marshal format at `at` as Python writes it; a dict has one pair in each line. */
static const uint8_t *decode(const uint8_t *at, unsigned depth, struct buffer *ret)
{
	int32_t word = 0;
	double real;

	if (*at != '{' && *at != '0')
		memcpy(&word, at + 1, sizeof(word));
	switch (*at++) {
	case 'i':
		buffer_print(ret, "%d", word);
		return at + sizeof(word);
	case 'l': /* digits of 15 bits */
		buffer_text(ret, "long");
		for (int32_t i = word; i--;) {
			uint16_t digit;

			memcpy(&digit, at + sizeof(word) + (size_t)i * sizeof(digit), sizeof(digit));
			buffer_print(ret, " %u", digit);
		}
		return at + sizeof(word) + (size_t)word * sizeof(uint16_t);
	case 'g':
		memcpy(&real, at, sizeof(real));
		buffer_print(ret, "%g", real);
		return at + sizeof(real);
	case 'u':
		buffer_print(ret, "%.*s", word, at + sizeof(word));
		return at + sizeof(word) + word;
	case '(':
		at += sizeof(word);
		buffer_text(ret, "(");
		for (int32_t i = 0; i < word; i++) {
			buffer_text(ret, i ? " " : "");
			at = decode(at, depth, ret);
		}
		buffer_text(ret, ")");
		return at;
	case '{':
		while (*at != '0') {
			buffer_print(ret, depth ? "\n    " : "%s", "");
			at = decode(at, depth + 1, ret);
			buffer_text(ret, ": ");
			at = decode(at, depth + 1, ret);
			buffer_text(ret, depth ? "" : "\n");
		}
		return at + 1;
	default:
		cr_assert_fail("not a value that the export writes: %d", at[-1]);
		return at;
	}
}

/* The exported dict, or the error. */
static const char *exported(void)
{
	static struct buffer text;
	struct report_context context = {.model = &model};
	struct export x = {.context = &context};
	char path[] = "/tmp/pillion-pstats-XXXXXX";
	struct err err = {.text = ""};
	char *bytes;
	int fd = mkstemp(path), code;

	cr_assert_geq(fd, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	code = export_write(&x, export_find("pstats"), path, true, &err);
	bytes = read_file(path);
	buffer_clear(&text);
	if (code)
		buffer_text(&text, err.text);
	else
		decode((const uint8_t *)bytes, 0, &text);
	free(bytes);
	close(fd);
	unlink(path);
	return buffer_string(&text);
}

#define EXPECT_EXPORT(wanted)                                                   \
	do {                                                                    \
		const char *exported_text = exported();                         \
                                                                                \
		cr_expect_str_eq(exported_text, wanted, "%s", exported_text);   \
	} while (0)

/* (file, first line, name): (primitive calls, calls, own time, time, callers); of callers the calls come first.
 * main takes 50 ms, of which 30 are those of two loads, the second of which calls step for 5 ms. */
Test(pstats, own_and_whole_times_and_who_called)
{
	enter(0, MAIN);
	enter(5, LOAD);
	leave(15);
	enter(20, LOAD);
	enter(30, STEP);
	leave(35);
	leave(40);
	leave(50);
	EXPECT_EXPORT("(/home/u/job.py 1 main): (1 1 0.02 0.05 )\n"
		      "(/home/u/load.py 70000 load): (2 2 0.025 0.03 \n"
		      "    (/home/u/job.py 1 main): (2 2 0.025 0.03))\n"
		      "(~ 0 step): (1 1 0.005 0.005 \n"
		      "    (/home/u/load.py 70000 load): (1 1 0.005 0.005))\n");
}

/* A call while another one of the same function is in progress is not primitive, and its time is in that one's. */
Test(pstats, recursion)
{
	enter(0, MAIN);
	enter(10, MAIN);
	enter(20, MAIN);
	leave(30);
	leave(50);
	leave(60);
	EXPECT_EXPORT("(/home/u/job.py 1 main): (1 3 0.06 0.06 \n"
		      "    (/home/u/job.py 1 main): (2 1 0.04 0.04))\n");
}

/* A range that is not a call takes no time from the call that it is in. */
Test(pstats, other_ranges_are_none)
{
	enter(0, MAIN);
	enter(10, NOT_A_FUNCTION);
	enter(20, STEP);
	leave(30);
	leave(40);
	leave(50);
	EXPECT_EXPORT("(/home/u/job.py 1 main): (1 1 0.04 0.05 )\n"
		      "(~ 0 step): (1 1 0.01 0.01 \n"
		      "    (/home/u/job.py 1 main): (1 1 0.01 0.01))\n");
}

/* The program ended, after 100 ms, in two calls; and a pop without a push. */
Test(pstats, calls_in_progress_end_with_the_process)
{
	leave(0);
	enter(10, MAIN);
	enter(40, STEP);
	EXPECT_EXPORT("(/home/u/job.py 1 main): (1 1 0.03 0.09 )\n"
		      "(~ 0 step): (1 1 0.06 0.06 \n"
		      "    (/home/u/job.py 1 main): (1 1 0.06 0.06))\n");
}

Test(pstats, without_calls)
{
	enter(10, NOT_A_FUNCTION);
	leave(20);
	EXPECT_EXPORT("pstats: the captures have no calls of Python functions: record with --python-calls=all");
}
