/* SPDX-License-Identifier: Apache-2.0 */
/* line_profile and line_memory: lines of Python functions, added up over threads and processes. */
#include <string.h>

#include "captured.h"
#include "reported.h"
#include "runtime/shared/format/trace_lines.h"

CAPTURED_SUITE(line_profile);

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)
#define PROFILE_HEAD "File,Function,Line,Hits,Time (ns),Per Hit (ns),Time (%),Source\n"
#define MEMORY_HEAD                                                                                                  \
	"File,Function,Line #,Mem usage (MiB),Increment (MiB),Occurrences,Allocator Increment (MiB),Line Contents\n"

enum { FIRST = 1, SECOND, LOST, CUT };

static struct report_context context = {.model = &model};
static struct writer w;
static struct writer_thread t;

static void begin_process(uint64_t nonce, uint32_t pid)
{
	writer_init(&w, nonce, pid, 1, BEGIN);
	writer_thread(&w, &t, pid, "main", 8 * TF_PAGE);
}

static void end_process(void)
{
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static void function(uint32_t id, uint32_t first_line, const char *file, const char *name)
{
	struct {
		struct tf_line_code head;
		char texts[100];
	} code = {.head = {first_line, (uint32_t)strlen(file)}};

	strcat(strcpy(code.texts, file), name);
	writer_blob(&t, TF_BLOB_LINE_CODE, id, &code, sizeof(code.head) + strlen(code.texts));
}

static void put(uint8_t (*numbers)[TF_DATA_BYTES], unsigned number, int64_t value)
{
	memcpy(numbers[number], &value, TF_DATA_BYTES);
}

/* A line of a block and the next one, unless that is of another block: hits, us. */
static void lines(uint32_t id, uint32_t block, uint32_t line, int64_t hits, int64_t us, int64_t next_hits,
		  int64_t next_us)
{
	struct tf_lines l = {0};

	put(l.numbers, TF_LINES_KEY, id | (int64_t)block << 32);
	put(l.numbers, TF_LINES_HITS + line % 32, hits);
	put(l.numbers, TF_LINES_TICKS + line % 32, us * 1000);
	if (line % 32 < 31) {
		put(l.numbers, TF_LINES_HITS + line % 32 + 1, next_hits);
		put(l.numbers, TF_LINES_TICKS + line % 32 + 1, next_us * 1000);
	}
	writer_blob(&t, TF_BLOB_LINES, t.number, &l, sizeof(l));
}

static void read_capture(void)
{
	open_capture(&model, directory);
	cr_assert_eq(model.problems.count, 0);
}

Test(line_profile, adds_threads_and_processes)
{
	begin_process(1, 10);
	function(FIRST, 30, "/job/b.py", "step");
	function(SECOND, 2, "/job/a.py", "C.load");
	lines(FIRST, 0, 30, 4, 100, 4, 300);
	lines(FIRST, 1, 32, 2, 600, 0, 0);
	lines(SECOND, 0, 3, 0, 10, 0, 0);
	lines(FIRST, 0, 30, 1, 0, 0, 0);
	lines(LOST, 0, 3, 9, 9, 9, 9);
	end_process();
	begin_process(2, 20);
	function(FIRST, 30, "/job/b.py", "step");
	function(SECOND, 31, "/job/b.py", "step");
	lines(FIRST, 0, 30, 5, 1000, 0, 0);
	lines(SECOND, 0, 31, 1, 7, 0, 0);
	end_process();
	read_capture();
	EXPECT_REPORT(&context, "line_profile", PROFILE_HEAD
		      "/job/a.py,C.load,3,0,10000,0.0,100.0,\n"
		      "/job/b.py,step,30,10,1100000,110000.0,55.0,\n"
		      "/job/b.py,step,31,4,300000,75000.0,15.0,\n"
		      "/job/b.py,step,32,2,600000,300000.0,30.0,\n"
		      "/job/b.py,step,31,1,7000,7000.0,100.0,\n");
	EXPECT_REPORT(&context, "line_memory",
		      "no memory of lines was recorded: record with --lines-of=FUNC,... --memory=python, native "
		      "or all\n");
}

static void memory(uint32_t id, uint32_t line, int64_t ends, int64_t resident, int64_t allocated, int64_t peak)
{
	struct tf_line_memory l = {0};

	put(l.numbers, TF_LINE_MEMORY_KEY, id);
	put(l.numbers, TF_LINE_MEMORY_ENDS + line, ends);
	put(l.numbers, TF_LINE_MEMORY_RESIDENT + line, resident);
	put(l.numbers, TF_LINE_MEMORY_ALLOCATED + line, allocated);
	put(l.numbers, TF_LINE_MEMORY_PEAK + line, peak);
	writer_blob(&t, TF_BLOB_LINE_MEMORY, t.number, &l, sizeof(l));
}

Test(line_profile, memory_of_the_first_line_is_not_added_up)
{
	begin_process(1, 10);
	function(FIRST, 3, "/job/b.py", "step");
	memory(FIRST, 3, 1, 1024, 512, 2048);
	memory(FIRST, 3, 1, 3072, 256, 1024);
	memory(FIRST, 4, 2, -1024, 1536, 1024);
	memory(FIRST, 4, 3, 4096, -512, 5120);
	end_process();
	read_capture();
	EXPECT_REPORT(&context, "line_memory", MEMORY_HEAD
		      "/job/b.py,step,3,2,3,2,0.5,\n"
		      "/job/b.py,step,4,5,3,5,1,\n");
}

Test(line_profile, says_why_there_is_none)
{
	begin_process(1, 10);
	function(CUT, 3, "/job/b.py", "step");
	writer_text(&t, TF_BLOB_NOTE, 1, "something else");
	end_process();
	read_capture();
	EXPECT_REPORT(&context, "line_profile", "no lines were recorded: --lines-of records them\n");
	model_done(&model);
	begin_process(2, 11);
	writer_text(&t, TF_BLOB_NOTE, 1, "--lines-of: too late");
	end_process();
	read_capture();
	EXPECT_REPORT(&context, "line_profile", "--lines-of: too late\n");
}
