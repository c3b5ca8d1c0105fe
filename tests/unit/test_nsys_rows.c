/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the rows of nsys's tables for ready-made captures with tests/golden/nsys_rows.CAPTURE.txt: a line
 * "TABLE|value|..." for each row, without the rows that are the same for every capture. See golden.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/tables/nsys/nsys_rows.h"
#include "golden.h"

struct rows {
	struct nsys_output output;
	FILE *file;
	uint64_t begun;
	size_t count, unbegun;
};

static void begin(struct nsys_output *o, enum nsys_table table)
{
	struct rows *r = (struct rows *)o;

	cr_assert_not(r->begun >> table & 1, "%s begins twice", nsys_schemas[table].name);
	r->begun |= (uint64_t)1 << table;
}

static void row(struct nsys_output *o, enum nsys_table table, const int64_t *values)
{
	const struct nsys_schema *schema = &nsys_schemas[table];
	struct rows *r = (struct rows *)o;

	r->count++;
	r->unbegun += !(r->begun >> table & 1);
	fputs(schema->name, r->file);
	for (size_t i = 0; i < schema->count; i++) {
		cr_assert(!schema->columns[i].is_required || values[i] != NSYS_NULL, "%s.%s", schema->name,
			  schema->columns[i].name);
		if (values[i] == NSYS_NULL)
			fputs("|", r->file);
		else if (schema->columns[i].type == NSYS_TEXT)
			fprintf(r->file, "|%s", nsys_text_of(values[i]));
		else if (schema->columns[i].type == NSYS_REAL)
			fprintf(r->file, "|%g", nsys_real_of(values[i]));
		else
			fprintf(r->file, "|%" PRId64, values[i]);
	}
	fputs("\n", r->file);
}

/* Those of meaning, of the environment of the export, and of the ledger, which has its own golden file. */
#define LEFT_OUT                                                                                                     \
	((((uint64_t)2 << NSYS_META) - 1) | (uint64_t)1 << NSYS_META_EXPORT |               \
	 (uint64_t)1 << NSYS_META_CAPTURE | (uint64_t)1 << NSYS_START_TIME | (uint64_t)1 << NSYS_SYSTEM |            \
	 (uint64_t)1 << NSYS_DIAGNOSTIC)

static char *rows_of(const char *kind, uint64_t tables, struct rows *r)
{
	char directory[] = "/tmp/pillion-nsys-XXXXXX", *text = NULL;
	struct aggregate strings = {0};
	struct model model;
	struct report_context context = {.model = &model};
	size_t size;

	cr_assert_not_null(mkdtemp(directory));
	if (!strcmp(kind, "example"))
		capture_example(directory);
	else if (!strcmp(kind, "arguments"))
		capture_arguments(directory);
	else
		cr_assert(capture_kind(directory, kind, 12));
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, true);
	*r = (struct rows){.output = {.begin = begin, .row = row, .tables = tables},
			   .file = open_memstream(&text, &size)};
	cr_assert_eq(nsys_rows(&context, &strings, &r->output), 0);
	fclose(r->file);
	cr_assert_eq(r->unbegun, 0);
	aggregate_done(&strings);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
	return text;
}

struct kind {
	char name[16];
};

ParameterizedTestParameters(nsys_rows, are_as_they_were)
{
	static struct kind kinds[] = {{"example"}, {"arguments"}, {"mpi"}, {"nvtx"}};

	return cr_make_param_array(struct kind, kinds, sizeof(kinds) / sizeof(*kinds));
}

ParameterizedTest(struct kind *k, nsys_rows, are_as_they_were)
{
	char name[64];
	struct rows r;

	snprintf(name, sizeof(name), "nsys_rows.%s.txt", k->name);
	golden_compare(name, rows_of(k->name, NSYS_ALL_TABLES & ~LEFT_OUT, &r));
}

Test(nsys_rows, ids_do_not_depend_on_what_is_wanted)
{
	struct rows all, some;
	char *text = rows_of("example", NSYS_ALL_TABLES, &all);
	char *part = rows_of("example", (uint64_t)1 << NSYS_RUNTIME, &some);

	cr_expect_eq(some.count, 8);
	for (char *line = strtok(part, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_not_null(strstr(text, line), "%s", line);
	cr_expect_eq(some.begun, (uint64_t)1 << NSYS_RUNTIME);
	cr_expect(all.begun & (uint64_t)1 << NSYS_DIAGNOSTIC);
	free(text);
	free(part);
}

Test(nsys_rows, tables_are_found_by_their_names)
{
	SCOPED(buffer) text = {0};

	cr_expect_eq(nsys_table_find("StringIds"), NSYS_STRINGS);
	cr_expect_eq(nsys_table_find("stringids"), NSYS_STRINGS);
	cr_expect_eq(nsys_table_find("ENUM_NSYS_EVENT_TYPE"), 0);
	cr_expect_eq(nsys_table_find("PILLION_COUNTER_VALUE"), NSYS_TABLES - 1);
	cr_expect_eq(nsys_table_find("none"), NSYS_TABLES);
	nsys_declare(&nsys_schemas[NSYS_STRINGS], &text);
	cr_expect_str_eq(text.data, "StringIds(id INTEGER NOT NULL,value TEXT NOT NULL,PRIMARY KEY(id))");
	buffer_clear(&text);
	nsys_declare(&nsys_schemas[NSYS_COUNTER_VALUE], &text);
	cr_expect_str_eq(text.data,
			 "PILLION_COUNTER_VALUE(counterId INTEGER NOT NULL,timestamp INTEGER NOT NULL,value REAL)");
}
