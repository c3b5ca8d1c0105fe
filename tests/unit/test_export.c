/* SPDX-License-Identifier: Apache-2.0 */
/* Compares exports of the example capture, of the one with all arguments (.arguments) or of three in one (.together)
 * with tests/golden/export_TYPE[.METRIC].EXTENSION, and tests where exports are written. See golden.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/export/export.h"
#include "golden.h"

struct opened {
	char directory[64];
	struct model model;
	struct report_context context;
	struct export x;
	struct err err;
};

static void open_made(struct opened *o, void (*make)(const char *directory))
{
	char *paths[] = {o->directory};

	*o = (struct opened){.directory = "/tmp/pillion-export-XXXXXX"};
	cr_assert_not_null(mkdtemp(o->directory));
	make(o->directory);
	cr_assert_eq(model_open(&o->model, paths, 1, &o->err), 0, "%s", o->err.text);
	o->context = (struct report_context){.model = &o->model, .symbols = symbols_new(&o->model, true)};
	o->x.context = &o->context;
}

static void open_example(struct opened *o)
{
	open_made(o, capture_example);
}

static void close_example(struct opened *o)
{
	symbols_free(o->context.symbols);
	model_done(&o->model);
	capture_remove(o->directory);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

struct golden {
	char type[16], metric[8], extension[32];
};

ParameterizedTestParameters(export, is_as_it_was)
{
	static struct golden cases[] = {
		{"folded", "", "folded"},   {"folded", "gpu", "folded"},   {"folded", "off-cpu", "folded"},
		{"speedscope", "", "json"}, {"speedscope", "gpu", "json"}, {"chrome", "", "json"},
		{"chrome", "", "arguments.json"}, {"folded", "", "together.folded"},
		{"speedscope", "gpu", "together.json"},
	};

	return cr_make_param_array(struct golden, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct golden *g, export, is_as_it_was)
{
	char name[128], made[] = "/tmp/pillion-export-made-XXXXXX";
	struct opened o;
	int fd = mkstemp(made);

	open_made(&o, text_begins_with(g->extension, "arguments")  ? capture_arguments
		      : text_begins_with(g->extension, "together") ? capture_together
								   : capture_example);
	o.x.is_metric_given = *g->metric;
	for (enum metric i = 0; i < METRIC_COUNT; i++)
		if (!strcmp(metrics[i].name, g->metric))
			o.x.metric = i;
	cr_assert_eq(export_write(&o.x, export_find(g->type), made, true, &o.err), 0, "%s", o.err.text);
	snprintf(name, sizeof(name), "export_%s%s%s.%s", g->type, *g->metric ? "." : "", g->metric, g->extension);
	golden_compare(name, read_file(made));
	close(fd);
	unlink(made);
	close_example(&o);
}

/* ---- tables in columns: files that pyarrow has read, and found equal to the rows of nsys_rows.arguments.txt ---- */

static size_t read_bytes(const char *path, uint8_t *ret, size_t most)
{
	FILE *f = fopen(path, "re");
	size_t size;

	cr_assert_not_null(f, "%s is missing", path);
	size = fread(ret, 1, most, f);
	cr_assert_lt(size, most);
	fclose(f);
	return size;
}

static void compare_columns(const char *made, const char *type, const char *table, const char *extension)
{
	static uint8_t now[1 << 16], then[1 << 16];
	char path[4200], name[128];
	size_t size;

	snprintf(path, sizeof(path), "%s/%s%s", made, table, extension);
	size = read_bytes(path, now, sizeof(now));
	snprintf(name, sizeof(name), "export_%s.%s%s", type, table, extension);
	golden_path(name, path, sizeof(path));
	golden_update(path, now, size);
	cr_assert_eq(read_bytes(path, then, sizeof(then)), size, "%s", path);
	cr_assert_arr_eq(now, then, size, "%s", path);
}

Test(export, columns_are_as_they_were)
{
	static const char *const types[][2] = {{"parquetdir", ".parquet"}, {"arrow", ".arrow"}},
			  *const tables[] = {"NVTX_EVENTS", "OSRT_API", "StringIds"};
	char directory[] = "/tmp/pillion-export-columns-XXXXXX", made[64], note[80], command[128];
	struct opened o;

	cr_assert_not_null(mkdtemp(directory));
	open_made(&o, capture_arguments);
	for (size_t i = 0; i < 2; i++) {
		snprintf(made, sizeof(made), "%s/%s", directory, types[i][0]);
		cr_assert_eq(export_write(&o.x, export_find(types[i][0]), made, false, &o.err), 0, "%s", o.err.text);
		for (size_t k = 0; k < sizeof(tables) / sizeof(*tables); k++)
			compare_columns(made, types[i][0], tables[k], types[i][1]);
		/* A directory with nothing else may be replaced. */
		cr_expect_eq(export_write(&o.x, export_find(types[i][0]), made, false, &o.err), -EEXIST);
		cr_expect_eq(export_write(&o.x, export_find(types[i][0]), made, true, &o.err), 0, "%s", o.err.text);
		compare_columns(made, types[i][0], tables[0], types[i][1]);
		snprintf(note, sizeof(note), "%s/notes.txt", made);
		write_file(note, "mine");
		cr_expect_eq(export_write(&o.x, export_find(types[i][0]), made, true, &o.err), -EEXIST);
		cr_expect_eq(access(note, F_OK), 0);
	}
	close_example(&o);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	cr_assert_eq(system(command), 0);
}

Test(export, names_its_file_after_the_capture)
{
	static const char *const cases[][2] = {
	    {"report1.pillion", "report1.sqlite"},
	    {"a/b.pillion//", "a/b.sqlite"},
	    {".pillion", ".pillion.sqlite"},
	    {"x", "x.sqlite"},
	    {"/", "/.sqlite"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer name = {0};

		export_name(cases[i][0], export_find("sqlite"), &name);
		cr_expect_str_eq(name.data, cases[i][1]);
		buffer_done(&name);
	}
}

Test(export, leaves_a_file_that_is_there_unless_forced)
{
	char path[] = "/tmp/pillion-export-there-XXXXXX", *text;
	const struct export_type *folded = export_find("folded");
	struct opened o;

	close(mkstemp(path));
	write_file(path, "old");
	open_example(&o);
	cr_assert_eq(export_write(&o.x, folded, path, false, &o.err), -EEXIST);
	text = read_file(path);
	cr_assert_str_eq(text, "old");
	free(text);
	o.x.metric = METRIC_CPU;
	o.x.is_metric_given = true;
	cr_assert_eq(export_write(&o.x, folded, path, true, &o.err), -ENODATA);
	text = read_file(path);
	cr_assert_str_eq(text, "old", "one that cannot be made replaces nothing");
	free(text);
	o.x.metric = METRIC_CALLS;
	cr_assert_eq(export_write(&o.x, folded, path, true, &o.err), 0);
	text = read_file(path);
	cr_assert_neq(strstr(text, ";cudaMemcpy 520000\n"), NULL);
	free(text);
	cr_expect_eq(o.x.remarks.count, 0);
	o.x.is_metric_given = false;
	cr_assert_eq(export_write(&o.x, folded, path, true, &o.err), 0);
	cr_assert_eq(o.x.remarks.count, 1);
	cr_expect_str_eq(o.x.remarks.items[0],
			 "folded: time in OS and CUDA calls; --metric takes also gpu, off-cpu, host",
			 "it has neither CPU samples nor allocations of device memory");
	unlink(path);
	close_example(&o);
}

Test(export, writes_through_a_link_and_tells_a_full_disk)
{
	char directory[] = "/tmp/pillion-export-link-XXXXXX", link_path[64], file_path[64], *text;
	struct stat st;
	struct opened o;

	cr_assert_not_null(mkdtemp(directory));
	snprintf(link_path, sizeof(link_path), "%s/link", directory);
	snprintf(file_path, sizeof(file_path), "%s/file", directory);
	write_file(file_path, "old");
	cr_assert_eq(symlink("file", link_path), 0);
	open_example(&o);
	cr_assert_eq(export_write(&o.x, export_find("folded"), link_path, true, &o.err), 0);
	cr_assert(!lstat(link_path, &st) && S_ISLNK(st.st_mode));
	text = read_file(file_path);
	cr_assert_str_neq(text, "old");
	free(text);
	for (size_t i = 0; i < EXPORT_COUNT; i++) {
		/* The example has no calls of Python functions. */
		int full = strcmp(export_list[i].name, "pstats") ? -ENOSPC : -ENODATA;

		if (export_list[i].run)
			cr_expect_eq(export_write(&o.x, &export_list[i], "/dev/full", false, &o.err),
				     export_list[i].flags & EXPORT_DIRECTORY ? -EEXIST : full, "%s",
				     export_list[i].name);
	}
	cr_expect_eq(export_write(&o.x, export_find("folded"), directory, true, &o.err), -EISDIR);
	cr_expect_eq(export_write(&o.x, export_find("folded"), "/nonexistent/x", true, &o.err), -ENOENT);
	close_example(&o);
	unlink(link_path);
	unlink(file_path);
	cr_assert_eq(rmdir(directory), 0, "nothing unfinished is left");
}
