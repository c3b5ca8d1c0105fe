/* SPDX-License-Identifier: Apache-2.0 */
/* /tmp/perf-PID.map: names of code that was compiled at run time, as V8, LuaJIT, CPython and JVMs write them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/names/symbol_map.h"

static char path[] = "/tmp/pillion-map-XXXXXX";
static struct symbol_map *map;

static void begin(void)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	close(fd);
}

static void end(void)
{
	symbol_map_close(map);
	unlink(path);
}

TestSuite(symbol_map, .init = begin, .fini = end);

static void write_map(const char *text)
{
	FILE *f = fopen(path, "we");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

static void read_map(const char *text)
{
	write_map(text);
	map = symbol_map_open(path, 0, UINT64_MAX);
	cr_assert_not_null(map);
}

/* file: "": none. */
static void expect(uint64_t address, const char *name, const char *file, int line)
{
	struct symbol_line l;

	cr_assert(symbol_map_find(map, address, &l), "%#lx", (unsigned long)address);
	cr_expect_str_eq(l.name, name);
	cr_expect_str_eq(l.file ? l.file : "", file);
	cr_expect_eq(l.line, line, "%s: %d", name, l.line);
}

Test(symbol_map, has_the_code_from_its_start_to_its_end)
{
	struct symbol_line l;

	read_map("2000 10 later\n1000 20 first\n1020 8 next to it\n");
	cr_expect_not(symbol_map_find(map, 0xfff, &l));
	expect(0x1000, "first", "", 0);
	expect(0x101f, "first", "", 0);
	expect(0x1020, "next to it", "", 0);
	expect(0x1027, "next to it", "", 0);
	cr_expect_not(symbol_map_find(map, 0x1028, &l));
	expect(0x2000, "later", "", 0);
	expect(0x200f, "later", "", 0);
	cr_expect_not(symbol_map_find(map, 0x2010, &l));
}

Test(symbol_map, the_last_one_at_a_place_is_valid)
{
	read_map("1000 20 old\n1000 20 new\n");
	expect(0x1010, "new", "", 0);
}

Test(symbol_map, names_may_have_a_file_and_a_line)
{
	read_map("1000 10 JS:*work /srv/job.js:12:7\n"
		 "1010 10 LazyCompile:~load file:///srv/a.js:3:1\n"
		 "1020 10 TRACE_1::/srv/game.lua:45\n"
		 "1030 10 Function:^ /srv/b.js:9\n"
		 "1040 10 py::f:/srv/c.py\n"
		 "1050 10 Builtin:Array:0\n"
		 "1060 10 Ljava/lang/String;::length\n"
		 "1070 10 a b:12345678901\n"
		 "1080 10 nothing:12\n");
	expect(0x1000, "work", "/srv/job.js", 12);
	expect(0x1000, "work", "/srv/job.js", 12);
	expect(0x1010, "load", "/srv/a.js", 3);
	expect(0x1020, "TRACE_1", "/srv/game.lua", 45);
	expect(0x1030, "anonymous", "/srv/b.js", 9);
	expect(0x1040, "py::f:/srv/c.py", "", 0);
	expect(0x1050, "Builtin:Array:0", "", 0);
	expect(0x1060, "Ljava/lang/String;::length", "", 0);
	expect(0x1070, "a b:12345678901", "", 0);
	expect(0x1080, "nothing:12", "", 0);
}

Test(symbol_map, lines_that_are_damaged_are_left_out)
{
	struct symbol_line l;

	read_map("x 10 none\n1000\n1000 \n1000 y none\n1000 10\n1000 10 \n1100 10 good\n1200 10 last");
	cr_expect_not(symbol_map_find(map, 0x1000, &l));
	expect(0x1100, "good", "", 0);
}

Test(symbol_map, one_without_a_name_is_none)
{
	cr_expect_null(symbol_map_open(path, 0, UINT64_MAX));
	write_map("1000 10\n");
	cr_expect_null(symbol_map_open(path, 0, UINT64_MAX));
}

Test(symbol_map, of_another_time_or_no_file_is_none)
{
	write_map("1000 10 name\n");
	cr_expect_null(symbol_map_open("/nonexistent/map", 0, UINT64_MAX));
	cr_expect_null(symbol_map_open("/dev/null", 0, UINT64_MAX), "it is no file");
	cr_expect_null(symbol_map_open(path, 0, 1000), "it was written later");
	cr_expect_null(symbol_map_open(path, UINT64_MAX, UINT64_MAX), "it was written before");
}
