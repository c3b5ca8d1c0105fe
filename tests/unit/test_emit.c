/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit.h"
#include "report/base/text.h"

static struct table table;
static char *out;

static void setup(void)
{
	table_column(&table, "Total Time (ns)", COLUMN_NS);
	table_column(&table, "Num Calls", COLUMN_COUNT);
	table_column(&table, "Avg (ns)", COLUMN_NS_MEAN);
	table_column(&table, "PID", COLUMN_ID);
	table_column(&table, "Name", COLUMN_TEXT);
}

static void teardown(void)
{
	table_done(&table);
	free(out);
	out = NULL;
}

TestSuite(emit, .init = setup, .fini = teardown);

static void add_row(uint64_t total, uint64_t count, double mean, uint64_t pid, const char *name)
{
	table_number(&table, total);
	table_number(&table, count);
	table_real(&table, mean);
	table_number(&table, pid);
	table_text(&table, name);
}

static const char *written(enum format format, enum time_unit unit)
{
	size_t size;
	struct emit e = {.format = format, .unit = unit};

	free(out);
	e.file = open_memstream(&out, &size);
	emit_begin(&e);
	emit_table(&e, "some_sum", "Some Summary", &table);
	emit_end(&e);
	fclose(e.file);
	return out;
}

static void assert_has(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "no <%s> in <%s>", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
	cr_assert_null(strstr(text, part), "<%s> in <%s>", part, text);
}

Test(emit, csv_is_raw_and_quoted)
{
	add_row(1234567, 1000, 1234.567, 4000000, "a,b");
	add_row(1, 2, 0.5, 3, "say \"hi\"");
	add_row(1, 2, 0.5, 3, "two\nlines");
	add_row(1, 2, 0.5, 3, "plain text");
	cr_assert_str_eq(written(FORMAT_CSV, UNIT_MS), "Total Time (ns),Num Calls,Avg (ns),PID,Name\n"
						       "1234567,1000,1234.6,4000000,\"a,b\"\n"
						       "1,2,0.5,3,\"say \"\"hi\"\"\"\n"
						       "1,2,0.5,3,\"two\nlines\"\n"
						       "1,2,0.5,3,plain text\n");
}

/* The names are those of nsys and of the other formats; docs/user/security.md says how a spreadsheet is kept from
 * taking one for a formula. */
Test(emit, a_name_that_a_spreadsheet_takes_for_a_formula_is_as_it_was)
{
	static const char *names[] = {"=HYPERLINK(1)", "+1+cmd|' /C x'!A0", "-2+3", "@SUM(1)", "--range"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		add_row(1, 1, 1, i, names[i]);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char csv[64], tsv[64], json[64];

		snprintf(csv, sizeof(csv), "1,1,1.0,%zu,%s\n", i, names[i]);
		snprintf(tsv, sizeof(tsv), "1\t1\t1.0\t%zu\t%s\n", i, names[i]);
		snprintf(json, sizeof(json), "\"Name\":\"%s\"", names[i]);
		assert_has(written(FORMAT_CSV, UNIT_AUTO), csv);
		assert_has(written(FORMAT_TSV, UNIT_AUTO), tsv);
		assert_has(written(FORMAT_JSON, UNIT_AUTO), json);
	}
}

Test(emit, tsv_keeps_a_row_on_a_line)
{
	add_row(1, 2, 0.5, 3, "a\tb\nc\\d");
	assert_has(written(FORMAT_TSV, UNIT_NS), "1\t2\t0.5\t3\ta\\tb\\nc\\\\d\n");
}

Test(emit, json_is_one_array_of_objects)
{
	add_row(1234567, 1000, 2.25, 3, "q\"\\\n\x01\x7f\xc2\x85");
	cr_assert_str_eq(written(FORMAT_JSON, UNIT_S),
			 "[\n {\"Total Time (ns)\":1234567,\"Num Calls\":1000,\"Avg (ns)\":2.3,\"PID\":3,"
			 "\"Name\":\"q\\\"\\\\\\u000a\\u0001\\u007f\\u0085\"}\n]\n");
}

Test(emit, json_of_several_tables_is_an_object)
{
	size_t size;
	struct emit e = {.format = FORMAT_JSON, .is_list = true, .file = open_memstream(&out, &size)};

	emit_begin(&e);
	emit_table(&e, "one", "One", &table);
	emit_table(&e, "two", "Two", &table);
	emit_end(&e);
	fclose(e.file);
	cr_assert_str_eq(out, "{\"one\":[\n],\n\"two\":[\n]}\n");
}

Test(emit, json_of_no_table_is_an_empty_array)
{
	size_t size;
	struct emit e = {.format = FORMAT_JSON, .file = open_memstream(&out, &size)};

	emit_begin(&e);
	emit_end(&e);
	fclose(e.file);
	cr_assert_str_eq(out, "[]\n");
}

Test(emit, html_and_markdown_carry_no_markup_of_the_program)
{
	add_row(1, 2, 0.5, 3, "<script>&\"'|*");
	assert_has(written(FORMAT_HTML, UNIT_NS), "&lt;script&gt;&amp;&quot;&#39;|*");
	assert_has_not(out, "<script");
	assert_has(written(FORMAT_MARKDOWN, UNIT_NS), "\\<script\\>&\"'\\|\\*");
}

Test(emit, terminals_get_no_control_characters)
{
	add_row(1, 2, 0.5, 3, "\x1b[2J\r\xc2\x9b\xe2\x80\xae");
	for (enum format f = FORMAT_COLUMN; f < FORMAT_COUNT; f++) {
		assert_has_not(written(f, UNIT_NS), "\x1b");
		assert_has_not(out, "\xc2\x9b");
		assert_has_not(out, "\xe2\x80\xae");
	}
	assert_has(written(FORMAT_COLUMN, UNIT_NS), "\\x1b[2J\\x0d\\u009b\\u202e");
}

/* The last of the seven-bit ones and the first and the last of the others. */
Test(emit, control_characters_are_shown_by_their_codes)
{
	static const enum format formats[] = {FORMAT_COLUMN, FORMAT_CSV, FORMAT_TSV};

	add_row(1, 2, 0.5, 3, "a\x1f~\x7f\xc2\x80\xc2\x9f\xc2\xa0z");
	for (size_t i = 0; i < 3; i++)
		assert_has(written(formats[i], UNIT_NS), "a\\x1f~\\x7f\\u0080\\u009f\xc2\xa0z");
}

Test(emit, what_is_no_utf8_becomes_a_replacement_in_every_format)
{
	add_row(1, 2, 0.5, 3, "a\xff\xc3(\xe2\x82 \xed\xa0\x80 \xc0\xaf \xf5\x80\x80\x80 \xc3\xa4");
	for (enum format f = FORMAT_COLUMN; f < FORMAT_COUNT; f++) {
		const char *at = written(f, UNIT_NS);

		assert_has(at, "a\xef\xbf\xbd\xef\xbf\xbd");
		assert_has(at, "\xc3\xa4");
		assert_has_not(at, "\xff");
		assert_has_not(at, "\xc0");
	}
}

Test(emit, people_get_units_and_separators)
{
	add_row(1234567890, 1234567, 1234.5, 1234567, "x");
	assert_has(written(FORMAT_COLUMN, UNIT_NS), " 1,234,567,890  1,234,567   1,234.5  1234567  x\n");
	assert_has(written(FORMAT_COLUMN, UNIT_MS), "Total Time (ms)");
	assert_has(out, "1,234.568");
	assert_has(written(FORMAT_TABLE, UNIT_AUTO), "Total Time (s)");
	assert_has(out, "Avg (us)");
	assert_has(out, " 1.235 |");
	assert_has(written(FORMAT_CSV, UNIT_AUTO), "1234567890,1234567,1234.5,1234567,x\n");
}

Test(emit, columns_line_up_whatever_the_script)
{
	table_done(&table);
	table_column(&table, "Name", COLUMN_TEXT);
	table_column(&table, "N", COLUMN_COUNT);
	table_text(&table, "\xe6\xbc\xa2\xe5\xad\x97"); /* two wide ones */
	table_number(&table, 1);
	table_text(&table, "abcd");
	table_number(&table, 22);
	assert_has(written(FORMAT_COLUMN, UNIT_NS), " \xe6\xbc\xa2\xe5\xad\x97   1\n abcd  22\n");
}

Test(emit, an_absent_value_is_no_zero)
{
	table_nothing(&table);
	table_number(&table, 1);
	table_nothing(&table);
	table_nothing(&table);
	table_nothing(&table);
	assert_has(written(FORMAT_CSV, UNIT_NS), "\n,1,,,\n");
	assert_has(written(FORMAT_JSON, UNIT_NS), "\"Total Time (ns)\":null,\"Num Calls\":1");
}

Test(emit, a_column_has_one_id_for_each_title_and_type)
{
	for (size_t i = COL_NONE + 1; i < COLUMN_IDS; i++)
		for (size_t k = i + 1; k < COLUMN_IDS; k++)
			cr_assert(strcmp(column_kinds[i].title, column_kinds[k].title) ||
					  column_kinds[i].type != column_kinds[k].type,
				  "%s", column_kinds[i].title);
}

Test(emit, the_title_of_a_column_of_times_ends_with_its_unit)
{
	for (size_t i = COL_NONE + 1; i < COLUMN_IDS; i++) {
		const char *title = column_kinds[i].title, *unit = strrchr(title, '(');

		cr_assert_eq(unit && !strcmp(unit, "(ns)"),
			     column_kinds[i].type == COLUMN_NS || column_kinds[i].type == COLUMN_NS_MEAN, "%s", title);
	}
}

Test(emit, a_cell_is_found_by_the_id_of_its_column)
{
	table_done(&table);
	table_has(&table, COL_PID, COL_NONE, COL_NAME, COL_NUM_CALLS);
	table_number(&table, 7);
	table_text(&table, "read");
	table_number(&table, 3);
	cr_assert_eq(table.column_count, 3);
	cr_assert_str_eq(table_cell(&table, 0, COL_NAME)->text, "read");
	cr_assert_eq(table_cell(&table, 0, COL_NUM_CALLS)->count, 3);
	cr_assert_eq(table_find(&table, COL_LINE), table.column_count);
}

Test(emit, empty_columns_are_left_out_for_people)
{
	table_done(&table);
	table_column(&table, "Device", COLUMN_ID);
	table_column(&table, "Total (ns)", COLUMN_NS);
	table_column(&table, "Lost", COLUMN_COUNT);
	table_column(&table, "Range", COLUMN_TEXT);
	table_column(&table, "Stream", COLUMN_ID);
	for (size_t i = 0; i < 2; i++) {
		table_number(&table, 0);
		table_number(&table, i * 7);
		table_number(&table, 0);
		table_text(&table, "");
		table_nothing(&table);
	}
	assert_has(written(FORMAT_COLUMN, UNIT_NS), "Device  Total (ns)  Lost\n");
	table.hides_zeros = true;
	assert_has(written(FORMAT_COLUMN, UNIT_NS), "Device  Total (ns)\n");
	assert_has(written(FORMAT_CSV, UNIT_NS), "Device,Total (ns),Lost,Range,Stream\n0,0,0,,\n");
	table.keeps_empty = true;
	assert_has(written(FORMAT_COLUMN, UNIT_NS), "Device  Total (ns)  Lost  Range  Stream\n");
}

Test(emit, a_table_of_empty_columns_has_them_all)
{
	table_done(&table);
	table_column(&table, "Range", COLUMN_TEXT);
	table_column(&table, "Stream", COLUMN_ID);
	table_text(&table, "");
	table_nothing(&table);
	assert_has(written(FORMAT_COLUMN, UNIT_NS), "Range  Stream\n");
}

Test(emit, long_names_of_cpp_are_short_for_people_while_they_stay_different)
{
	static const char *const rows[] = {
		"k::f<int, a_name_that_is_long_enough_to_be_cut, one>(int)",
		"k::f<int, a_name_that_is_long_enough_to_be_cut, two>(int)",
		"k::f<unsigned, a_name_that_is_long_enough_to_be_cut, one>(int)",
	};

	table_done(&table);
	table_column(&table, "Name", COLUMN_TEXT);
	for (size_t i = 0; i < 3; i++)
		table_text(&table, rows[i]);
	assert_has(written(FORMAT_COLUMN, UNIT_NS), rows[0]);
	assert_has(out, rows[1]);
	assert_has(out, " k::f<unsigned, ...>(int)\n");
	assert_has(written(FORMAT_CSV, UNIT_NS), rows[2]);
}

Test(emit, widths_count_columns_of_a_terminal)
{
	cr_assert_eq(text_width("abc"), 3);
	cr_assert_eq(text_width("\xe6\xbc\xa2"), 2);
	cr_assert_eq(text_width("e\xcc\x81"), 1);
	cr_assert_eq(text_width("\xff"), 1);
	cr_assert_eq(text_width("\xd7\xa9\xd6\xb8"), 1, "a Hebrew letter and its vowel");
	cr_assert_eq(text_width("\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"), 2, "a Korean syllable in its parts");
	cr_assert_eq(text_width("\xe0\xb8\x81\xe0\xb8\xb4"), 1, "a Thai letter and its vowel");
}

Test(emit, cuts_long_names_in_the_middle_where_the_terminal_is_narrow)
{
	struct emit e = {.format = FORMAT_COLUMN, .columns = 80};
	size_t size;

	add_row(5, 1, 5, 7, "the_first_words_and_then_a_very_long_middle_part_and_the_last_words");
	add_row(5, 1, 5, 8, "\xe6\x97\xa5\xe6\x9c\xac short");
	free(out);
	e.file = open_memstream(&out, &size);
	emit_table(&e, "some_sum", "Some Summary", &table);
	fclose(e.file);
	for (char *line = strtok(strchr(out, '\n'), "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_leq(text_width(line), 80, "%s", line);
}

Test(emit, titles_take_two_lines_where_one_is_too_wide)
{
	struct emit e = {.format = FORMAT_COLUMN, .columns = 60};
	size_t size;

	add_row(5, 1, 5, 7, "a name that is shown in the same ");
	free(out);
	e.file = open_memstream(&out, &size);
	emit_table(&e, "some_sum", "Some Summary", &table);
	e.columns = 200;
	emit_table(&e, "some_sum", "Some Summary", &table);
	fclose(e.file);
	assert_has(out, "     Total    Num   Avg       \n Time (ns)  Calls  (ns)  PID  Name\n ---------  -----  ----  "
			"---  ----");
	assert_has(out, " Total Time (ns)  Num Calls  Avg (ns)  PID  Name\n");
	for (char *line = strtok(strchr(out, '\n'), "\n"); line && !strstr(line, "Total Time");
	     line = strtok(NULL, "\n"))
		cr_expect_leq(text_width(line), 60, "%s", line);
}

/* The largest numbers, in a terminal too narrow for one line: a row takes several lines, and no number is split. */
Test(emit, rows_take_several_lines_where_one_is_too_narrow)
{
	static const char *const whole[] = {"999,999,999,999,999,999", "1,000,000,000", "123,456,789,012,345.5",
					    "4294967295"};
	static const enum format formats[] = {FORMAT_COLUMN, FORMAT_TABLE};
	size_t size;

	add_row(999999999999999999, 1000000000, 123456789012345.5, 4294967295,
		"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
		"std::array<char*, 3ul> >(int)");
	add_row(1, 2, 3, 4, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e e\xcc\x81");
	for (size_t i = 0; i < 2; i++)
		for (size_t columns = 34; columns <= 200; columns++) {
			struct emit e = {.format = formats[i], .columns = columns};

			free(out);
			e.file = open_memstream(&out, &size);
			emit_table(&e, "some_sum", "Some Summary", &table);
			fclose(e.file);
			for (size_t k = 0; k < sizeof(whole) / sizeof(*whole); k++)
				assert_has(out, whole[k]);
			assert_has(out, "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e e\xcc\x81");
			for (char *line = strtok(strchr(out, '\n'), "\n"); line; line = strtok(NULL, "\n"))
				cr_expect_leq(text_width(line), columns, "%zu: %s", columns, line);
		}
}

Test(emit, a_row_of_several_lines_is_indented)
{
	struct emit e = {.format = FORMAT_COLUMN, .columns = 30};
	size_t size;

	add_row(123456789, 1, 5, 7, "a name that has the last line");
	free(out);
	e.file = open_memstream(&out, &size);
	emit_table(&e, "some_sum", "Some Summary", &table);
	fclose(e.file);
	assert_has(out, " 123,456,789      1   5.0    7\n     a name that \xe2\x80\xa6he last line\n");
}

Test(emit, keeps_both_ends_of_a_cut_name)
{
	struct buffer b = {0};

	cr_expect_eq(text_shorten(&b, "abcdefghijklmnop", 9), 9);
	cr_expect_str_eq(b.data, "abcd\xe2\x80\xa6mnop");
	buffer_clear(&b);
	cr_expect_eq(text_shorten(&b, "abcdefghi", 9), 9);
	cr_expect_str_eq(b.data, "abcdefghi");
	buffer_clear(&b);
	cr_expect_leq(text_shorten(&b, "\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac\xe6\x97\xa5\xe6\x9c\xac", 7),
		      7);
	buffer_clear(&b);
	text_fit_sentence(&b, "grows by 40 MB: examples/tutorials/leak.py:12", 11, 80);
	cr_expect_str_eq(b.data, "grows by 40 MB: examp\xe2\x80\xa6py:12");
	buffer_clear(&b);
	text_fit_sentence(&b, "a bc def ghij", 3, 9);
	cr_expect_str_eq(b.data, "a bc\xe2\x80\xa6 g\xe2\x80\xa6j");
	buffer_done(&b);
}

Test(emit, keeps_figures_with_their_unit_on_a_line)
{
	struct buffer b = {0};

	text_wrap(&b, "main computes 68 % of the time, 1.36 s", 35, 2);
	cr_expect_str_eq(b.data, "main computes 68 % of the time,\n  1.36 s");
	buffer_clear(&b);
	text_wrap(&b, "it saves 1 of 20 ms", 15, 0);
	cr_expect_str_eq(b.data, "it saves 1 of\n20 ms");
	buffer_done(&b);
}

Test(emit, keeps_the_last_part_of_a_path_and_its_line)
{
	struct buffer b = {0};

	text_shorten(&b, "/home/user/projects/a/long/way/trainer_of_models.py:1234", 35);
	cr_expect_str_eq(b.data, "/home/us…/trainer_of_models.py:1234");
	buffer_clear(&b);
	text_cut(&b, "inner <- middle <- outer", 18);
	cr_expect_str_eq(b.data, "inner <- middle <…");
	buffer_done(&b);
}

Test(emit, documents_have_names_first_and_units_but_for_nsys)
{
	struct emit e = {.format = FORMAT_MARKDOWN};
	struct table t = {0};
	size_t size;

	table_has(&t, COL_TIME_PERCENT, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME);
	table_real(&t, 100);
	table_number(&t, 1500000);
	table_number(&t, 3);
	table_text(&t, "read");
	for (int is_nsys = 0; is_nsys < 2; is_nsys++) {
		free(out);
		e.is_nsys = is_nsys;
		e.file = open_memstream(&out, &size);
		emit_table(&e, "x", NULL, &t);
		fclose(e.file);
		e.emitted = 0;
		assert_has(out, is_nsys ? "| Time (%) | Total Time (ns) | Num Calls | Name |"
					: "| Name | Total Time | Time (%) | Num Calls |");
		assert_has(out, is_nsys ? "| 1,500,000 |" : "| read | 1.50 ms |");
	}
	table_done(&t);
}

Test(emit, terminals_have_no_rows_of_0_and_no_frames_of_libc)
{
	struct emit e = {.format = FORMAT_COLUMN, .is_screen = true, .columns = 100};
	struct table t = {0};
	size_t size;

	table_has(&t, COL_TOTAL_TIME_NS, COL_NUM_CALLS, COL_NAME, COL_STACK);
	table_number(&t, 1500000);
	table_number(&t, 3);
	table_text(&t, "read");
	table_text(&t, "work (/src/a/work.c:12) <- main (/src/a/main.c:7) <- __libc_start_main (x.c:3) <- _start");
	table_number(&t, 0);
	table_number(&t, 0);
	table_text(&t, "write");
	table_text(&t, "");
	free(out);
	e.file = open_memstream(&out, &size);
	emit_table(&e, "x", NULL, &t);
	fclose(e.file);
	assert_has(out, "work (work.c:12) <- main (main.c:7)\n");
	assert_has_not(out, "write");
	table_done(&t);
}
