/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a file that is no capture. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/read/job/foreign.h"
#include "trace_writer.h"

static char directory[] = "/tmp/pillion-foreign-XXXXXX";

static void begin(void)
{
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
}

static void end(void)
{
	capture_remove(directory);
}

TestSuite(foreign, .init = begin, .fini = end);

/* bytes: NULL: there is no such file. */
static void expect(const char *name, const char *bytes, size_t size, const char *wanted)
{
	SCOPED(buffer) text = {0};

	if (bytes)
		capture_file(directory, name, bytes, size);
	foreign_words(name, &text);
	cr_expect_str_eq(buffer_string(&text), wanted, "%s: %s", name, buffer_string(&text));
}
#define EXPECT(name, bytes, wanted) expect(name, bytes, sizeof(bytes) - 1, wanted)

Test(foreign, files_are_known_by_their_names)
{
	EXPECT("a.nsys-rep", "", ", but a report of Nsight Systems; type: nsys stats a.nsys-rep");
	EXPECT("a.qdrep", "\1", ", but a report of Nsight Systems; type: nsys stats a.qdrep");
	EXPECT("a.prof", "\1", ", but a profile of cProfile; type: python3 -m pstats a.prof");
	EXPECT("a.ncu-rep", "\1", ", but a report of Nsight Compute; type: ncu --import a.ncu-rep");
	EXPECT("a.py", "import os\n", ", but a program; type: pillion python3 a.py");
	EXPECT("a.sqlite", "\1", ", but a database; type: pillion ops a.sqlite");
	expect("absent.py", NULL, 0, ", but a program; type: pillion python3 absent.py");
	expect("absent", NULL, 0, "");
}

Test(foreign, files_are_known_by_their_first_bytes)
{
	EXPECT("a", "SQLite format 3\0", ", but a database; type: pillion ops a");
	EXPECT("a", "SQLite format ", ", but text; type: pillion COMMAND, which makes a capture");
	EXPECT("a", "PERFILE2\1", ", but a file of perf; type: perf report -i a");
	EXPECT("a", "<!DOCTYPE html>", ", but a page for a browser; type: xdg-open a");
	EXPECT("a", "#!/bin/sh\n", ", but a program; type: pillion ./a");
	EXPECT("./a", "\x7f" "ELF\2", ", but a program; type: pillion ./a");
	EXPECT("a", "{\"a\": 1}", ", but JSON; type: python3 -m json.tool a");
}

Test(foreign, a_timeline_is_shown_by_others)
{
	EXPECT("a.json", "{\"traceEvents\": []}",
	       ", but a timeline: https://ui.perfetto.dev and chrome://tracing show it");
	EXPECT("b.json", "{\"traceEvent\": []}", ", but JSON; type: python3 -m json.tool b.json");
	EXPECT("a", "{\"traceEvents\": []}", ", but JSON; type: python3 -m json.tool a");
	EXPECT("c.json", "", "");
}

Test(foreign, text_is_told_from_other_bytes)
{
	EXPECT("a", "one\ttwo\r\n\f \xc3\xa4", ", but text; type: pillion COMMAND, which makes a capture");
	EXPECT("a", "one\1two", "");
	EXPECT("a", "one\0two", "");
	EXPECT("a", "\x1f", "");
	EXPECT("a", "", "");
	expect(".", NULL, 0, "");
}
