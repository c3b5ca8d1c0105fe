/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/events/stacks/source.h"

static void check_lines(const char *text, size_t size, const char *const *wanted)
{
	struct source s = {.file = {.bytes = mem_copy_text(text, size), .is.size = size}};
	struct buffer line = {0};

	for (; *wanted; wanted++) {
		cr_assert(source_next(&s, &line));
		cr_assert_str_eq(line.data, *wanted);
	}
	cr_assert_not(source_next(&s, &line));
	buffer_done(&line);
	source_done(&s);
}

Test(source, a_source_is_cut_at_its_line_ends)
{
	static const char *const none[] = {NULL}, *const three[] = {"a       b", "", "c d", NULL};

	check_lines("", 0, none);
	check_lines("a\tb\r\n\nc\0d", 9, three);
	check_lines("a\tb\n\nc d\n", 9, three);
}

/* The end of a run must not wait for large files. */
Test(source, records_of_sources_are_bounded)
{
	char directory[] = "/tmp/pillion-source-XXXXXX", path[64];
	const char *const names[] = {"small.py", "large.py", "other.c", "secret"};
	struct source_record record;
	struct buffer text = {0};
	struct texts files = {0};
	struct model model = {0};
	struct source_file f;
	struct err err;

	cr_assert_not_null(mkdtemp(directory));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		file = fopen(path, "w");
		cr_assert_not_null(file);
		fputs(names[i], file);
		if (i == 1)
			cr_assert_eq(ftruncate(fileno(file), (8 << 20) + 1), 0);
		fclose(file);
		texts_add(&files, "%s", path);
	}
	source_records_write(&files, &text);
	texts_add(&model.sources, "%s", buffer_string(&text));
	for (size_t i = 0; i < files.count; i++)
		cr_expect_eq(source_record_find(&model, files.items[i], &record), i == 0 || i == 2, "%s", names[i]);
	cr_assert(source_record_find(&model, files.items[0], &record));
	cr_assert_eq(truncate(files.items[0], 1), 0);
	cr_expect_eq(source_file_read(files.items[0], 1, &f, &err), 0);
	cr_expect_not(source_record_is(&record, &f));
	source_file_done(&f);
	for (size_t i = 0; i < files.count; i++)
		unlink(files.items[i]);
	rmdir(directory);
	texts_done(&files);
	buffer_done(&text);
	model_done(&model);
}
