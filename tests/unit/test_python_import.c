/* SPDX-License-Identifier: Apache-2.0 */
/* Tests python_import_sum with captures written here: domain 3 is the domain of imports. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/tables/report.h"
#include "opened.h"

enum { IMPORTS = 3, OTHER = 4, START = 1000 };

static void name_all(struct writer_thread *t)
{
	writer_text(t, TF_BLOB_DOMAIN, IMPORTS, "python import");
	writer_text(t, TF_BLOB_DOMAIN, OTHER, "another");
	writer_text(t, TF_BLOB_STRING, 1, "json");
	writer_text(t, TF_BLOB_STRING, 2, "re");
	writer_text(t, TF_BLOB_STRING, 3, "enum");
}

/* Imports json, which imports re, which imports enum; then enum again. If `is_killed`, re has no end. */
static void imports(struct writer *w, const char *directory, uint64_t nonce, bool is_killed)
{
	struct writer_thread t;

	writer_init(w, nonce, (uint32_t)nonce, 1, START);
	writer_thread(w, &t, (uint32_t)nonce, "python", TF_PAGE * 4);
	name_all(&t);
	writer_event(&t, TF_PUSH, IMPORTS, START + 100, 1);
	writer_event(&t, TF_PUSH, OTHER, START + 110, 2);
	writer_event(&t, TF_PUSH, IMPORTS, START + 200, 2);
	writer_event(&t, TF_POP, OTHER, START + 250, 0);
	writer_event(&t, TF_PUSH, IMPORTS, START + 300, 3);
	writer_event(&t, TF_POP, IMPORTS, START + 600, 0);
	if (!is_killed) {
		writer_event(&t, TF_POP, IMPORTS, START + 700, 0);
		writer_event(&t, TF_POP, IMPORTS, START + 1100, 0);
		writer_event(&t, TF_PUSH, IMPORTS, START + 2000, 3);
		writer_event(&t, TF_POP, IMPORTS, START + 2010, 0);
		writer_event(&t, TF_POP, IMPORTS, START + 2020, 0); /* one too many */
	}
	writer_end(w, TF_END_EXIT, 0, START + 5000);
	writer_save(w, directory);
	writer_done(w);
}

static char *report_of(const char *directory, enum by by, enum row_sort sort)
{
	char *text = NULL;
	struct model model;
	struct report_context context = {.model = &model, .by = by, .sort = sort};
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	size_t size;

	open_capture(&model, directory);
	report_find("python_import_sum")->run(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, "x", "x", &table);
	emit_end(&emit);
	fclose(emit.file);
	table_done(&table);
	model_done(&model);
	return text;
}

static void check_sorted(bool second, bool is_killed, enum by by, enum row_sort sort, const char *wanted)
{
	char directory[] = "/tmp/pillion-import-XXXXXX", *got;
	struct writer w;

	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	imports(&w, directory, 7, is_killed);
	if (second)
		imports(&w, directory, 8, false);
	got = report_of(directory, by, sort);
	cr_expect_str_eq(got, wanted, "%s", got);
	free(got);
	capture_remove(directory);
}

static void check(bool second, bool is_killed, enum by by, const char *wanted)
{
	check_sorted(second, is_killed, by, SORT_TREE, wanted);
}

Test(python_import, the_largest_own_time_comes_first)
{
	check_sorted(true, false, BY_NOTHING, SORT_DEFAULT,
		     "Self (ns),Cumulative (ns),Instances,Depth,Module\n1000,2000,2,0,json\n600,600,2,2,enum\n"
		     "400,1000,2,1,re\n20,20,2,0,enum\n");
	check_sorted(false, true, BY_NOTHING, SORT_DEFAULT,
		     "Self (ns),Cumulative (ns),Instances,Depth,Module\n4500,4800,1,1,re\n300,300,1,2,enum\n"
		     "100,4900,1,0,json\n");
	check_sorted(true, false, BY_PROCESS, SORT_CUMULATIVE,
		     "PID,Self (ns),Cumulative (ns),Instances,Depth,Module\n7,500,1000,1,0,json\n7,200,500,1,1,re\n"
		     "7,300,300,1,2,enum\n7,10,10,1,0,enum\n8,500,1000,1,0,json\n8,200,500,1,1,re\n"
		     "8,300,300,1,2,enum\n8,10,10,1,0,enum\n");
}

Test(python_import, a_module_stands_below_the_one_that_imported_it)
{
	check(false, false, BY_NOTHING,
	      "Self (ns),Cumulative (ns),Instances,Depth,Module\n500,1000,1,0,json\n200,500,1,1,  re\n300,300,1,2,    "
	      "enum\n10,10,1,0,enum\n");
}

Test(python_import, trees_of_several_processes_are_one)
{
	check(true, false, BY_NOTHING,
	      "Self (ns),Cumulative (ns),Instances,Depth,Module\n1000,2000,2,0,json\n400,1000,2,1,  re\n600,600,2,2,   "
	      " enum\n20,20,2,0,enum\n");
}

Test(python_import, by_process_they_are_several)
{
	check(true, false, BY_PROCESS,
	      "PID,Self (ns),Cumulative (ns),Instances,Depth,Module\n7,500,1000,1,0,json\n7,200,500,1,1,  "
	      "re\n7,300,300,1,2,    enum\n7,10,10,1,0,enum\n"
	      "8,500,1000,1,0,json\n8,200,500,1,1,  re\n8,300,300,1,2,    enum\n8,10,10,1,0,enum\n");
}

Test(python_import, what_was_being_imported_when_the_process_ended_ends_with_it)
{
	check(false, true, BY_NOTHING,
	      "Self (ns),Cumulative (ns),Instances,Depth,Module\n100,4900,1,0,json\n4500,4800,1,1,  re\n300,300,1,2,   "
	      " enum\n");
}
