/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "report/names/code_line.h"

static struct code_lines lines;

static void teardown(void)
{
	code_lines_done(&lines);
}

TestSuite(code_line, .fini = teardown);

static void check(void (*add)(const struct code_line *, struct buffer *), const struct code_line *line,
		  const char *wanted)
{
	struct buffer text = {0};

	add(line, &text);
	cr_expect_str_eq(buffer_string(&text), wanted);
	buffer_done(&text);
}

/* A function without a file may still have a number, of a table that is not there. */
Test(code_line, compares_places_of_lines_without_a_file)
{
	const struct code_line *f = code_lines_of(&lines, "f", NULL, 3), *g = code_lines_of(&lines, "g", NULL, 3);

	cr_expect_eq(f->line, 0);
	cr_expect(code_line_is_same_place(f, f));
	cr_expect(!code_line_is_same_place(f, g));
	cr_expect(code_line_is_same_place(code_lines_of(&lines, "f", "a.c", 3), code_lines_of(&lines, "g", "a.c", 3)));
}

Test(code_line, is_one_object_for_equal_parts)
{
	const struct code_line *line = code_lines_of(&lines, "f", "a.c", 3);

	cr_expect_eq(code_lines_of(&lines, "f", "a.c", 3), line);
	cr_expect_neq(code_lines_of(&lines, "f", "a.c", 4), line);
	cr_expect_neq(code_lines_of(&lines, "f", "b.c", 3), line);
	cr_expect_neq(code_lines_of(&lines, "g", "a.c", 3), line);
	cr_expect_neq(code_lines_of(&lines, "f", NULL, 3), code_lines_of(&lines, "f", "", 3));
	cr_expect_neq(code_lines_of(&lines, "f (a.c:3)", NULL, 0), line, "not by its text");
	for (uint32_t i = 0; i < 1000; i++)
		code_lines_of(&lines, "many", "a.c", i);
	cr_expect_eq(code_lines_of(&lines, "f", "a.c", 3), line);
	cr_expect_str_eq(line->function, "f");
	cr_expect_str_eq(line->file, "a.c");
	cr_expect_eq(line->line, 3);
}

Test(code_line, as_text)
{
	const struct code_line *load = code_lines_of(&lines, "load", "/x/proj (1)/job.py", 3),
			       *box = code_lines_of(&lines, "Box<void (*)(int)>::second", "a b:c).cc", 7),
			       *bare = code_lines_of(&lines, "operator()(int)", NULL, 0),
			       *unsafe = code_lines_of(&lines, "x\x1b\xff", "y\n.c", 1);
	struct buffer none = {0};

	check(code_line_text, load, "load (/x/proj (1)/job.py:3)");
	check(code_line_text, box, "Box<void (*)(int)>::second (a b:c).cc:7)");
	check(code_line_text, bare, "operator()(int)");
	check(code_line_text, unsafe, "x\\x1b\xef\xbf\xbd (y\\x0a.c:1)");
	check(code_line_text, NULL, "");
	check(code_line_short, load, "job.py:3 load");
	check(code_line_short, box, "a b:c).cc:7 Box::second");
	check(code_line_short, bare, "operator()(int)");
	check(code_line_short, code_lines_of(&lines, CODE_LINE_UNKNOWN, NULL, 0), CODE_LINE_NO_NAMES);
	check(code_line_short, NULL, "");
	cr_expect(!code_line_place(bare, &none) && !code_line_place(NULL, &none) && !none.size);
	cr_expect(code_line_place(load, &none));
	cr_expect_str_eq(none.data, "/x/proj (1)/job.py:3");
	buffer_done(&none);
}

Test(code_line, is_at_a_place_that_a_person_writes)
{
	static const struct {
		const char *file, *place;
		bool is_there;
	} cases[] = {
		{"/x/proj (1)/job.py", "job.py:3", true},	 {"/x/proj (1)/job.py", "proj (1)/job.py:3", true},
		{"/x/proj (1)/job.py", "/x/proj (1)/job.py:3", true}, {"/x/proj (1)/job.py", "1)/job.py:3", false},
		{"/x/proj (1)/job.py", "job.py:33", false},	 {"/x/proj (1)/job.py", "job.py", false},
		{"/x/proj (1)/job.py", "job.py:", false},	 {"a:b.c", "a:b.c:3", true},
		{"a:b.c", "b.c:3", false},			 {"b.c", "/b.c:3", false},
		{NULL, "b.c:3", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(code_line_is_at(cases[i].file, 3, cases[i].place), cases[i].is_there, "%s",
			     cases[i].place);
}

Test(code_line, causes_at_one_line_are_at_the_same_place)
{
	const struct code_line *f = code_lines_of(&lines, "f", "a.c", 3), *bare = code_lines_of(&lines, "f", NULL, 0);

	cr_expect(code_line_is_same_place(f, code_lines_of(&lines, "lambda", "a.c", 3)));
	cr_expect_not(code_line_is_same_place(f, code_lines_of(&lines, "f", "a.c", 4)));
	cr_expect_not(code_line_is_same_place(f, code_lines_of(&lines, "f", "b.c", 3)));
	cr_expect(code_line_is_same_place(bare, bare));
	cr_expect_not(code_line_is_same_place(bare, code_lines_of(&lines, "g", NULL, 0)));
	cr_expect_not(code_line_is_same_place(code_lines_of(&lines, "f", "a.c", 0),
					      code_lines_of(&lines, "g", "a.c", 0)));
	cr_expect_not(code_line_is_same_place(f, NULL));
}
