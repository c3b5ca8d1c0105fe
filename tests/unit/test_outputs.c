/* SPDX-License-Identifier: Apache-2.0 */
/* Compares all that is said of recorded captures with tests/golden/outputs.CAPTURE.txt: the summary, what `analyze`
 * finds, the answer's tables, the critical path and what edits save, every report (also by process, rank, ...), the
 * rows of nsys's tables, exports, and the rows that `diff` compares. Of a long text the first lines are there, and the
 * number and a sum of the others. tests/data/recorded/README.md says how the captures were made. See golden.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/answer_tables.h"
#include "report/answers/diff/diff.h"
#include "report/answers/summary/summary.h"
#include "report/causes/path.h"
#include "report/causes/price.h"
#include "report/export/export.h"
#include "report/tables/nsys/nsys_rows.h"
#include "report/tables/report.h"
#include "golden.h"

enum { NARROW = 60, LINES = 4, MOST_BYTES = 160 };

/* The first lines are for a reader; the sum (FNV-1a) notices a change of any other. */
static void section(FILE *out, const char *title, const char *text, size_t lines)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (const char *at = text; *at; at++)
		sum = (sum ^ (unsigned char)*at) * 0x100000001b3;
	fprintf(out, "== %s: %zu bytes, sum %016" PRIx64 "\n", title, strlen(text), sum);
	for (; *text && lines; lines--) {
		size_t length = strcspn(text, "\n");

		fprintf(out, "%.*s\n", length < MOST_BYTES ? (int)length : MOST_BYTES, text);
		text += length + (text[length] == '\n');
	}
}

static void table_section(FILE *out, const char *title, const struct table *t, enum format format, size_t lines)
{
	struct emit emit = {.format = format};
	char *text = NULL;
	size_t size;

	if (!table_rows(t) && !t->lacks)
		return;
	emit.file = open_memstream(&text, &size);
	if (table_rows(t))
		emit_table(&emit, title, NULL, t);
	else
		fputs(t->lacks, emit.file);
	fclose(emit.file);
	section(out, title, text, lines);
	free(text);
}

static void print_summary(FILE *out, const struct report_context *c)
{
	SCOPED(buffer) whole = {0}, narrow = {0};

	summary_text(c, "made.pillion", NULL, 0, &whole);
	summary_text(c, "made.pillion", NULL, NARROW, &narrow);
	fprintf(out, "== summary\n%s", buffer_string(&whole));
	fprintf(out, "== summary in %d columns\n%s", NARROW, buffer_string(&narrow));
}

static void print_path(FILE *out, struct causality *causes)
{
	struct table t = {0};
	struct prices prices;
	struct path path;

	path_find(causes, UINT64_MAX, &path);
	path_table(&path, &t);
	table_section(out, "critical", &t, FORMAT_CSV, LINES);
	table_done(&t);
	prices_rank(causes, &path, &prices);
	fprintf(out, "== edits\n");
	for (size_t i = 0; i < prices.count && i < LINES; i++)
		fprintf(out, "%s: %.0f ns of the path, saves %" PRIu64 ", %" PRIu64 " to %" PRIu64 " ns\n",
			prices.items[i].edit, prices.items[i].path_ns, prices.items[i].saves.saved_ns,
			prices.items[i].saves.low_ns, prices.items[i].saves.high_ns);
	prices_done(&prices);
	path_done(&path);
}

static void print_finding(FILE *out, const struct finding *f)
{
	table_section(out, f->rule->name, &f->table, FORMAT_CSV, LINES);
	fprintf(out, "%s", f->text.data);
	if (f->line)
		fprintf(out, " at %s", line_text(f->line));
	if (f->called_from.size)
		fprintf(out, " from %s", f->called_from.data);
	if (f->edit.size)
		fprintf(out, ", as %s", f->edit.data);
	fprintf(out, "\ncosts %" PRIu64 ", saves %" PRIu64 ", %" PRIu64 " to %" PRIu64 " ns\n", f->cost_ns,
		f->saves.saved_ns, f->saves.low_ns, f->saves.high_ns);
}

static void print_answer(FILE *out, const struct report_context *c)
{
	struct answer answer;
	struct causality *causes;

	answer_whole(c, &answer);
	for (size_t i = 0; i < answer.found_count; i++) {
		const struct finding *f = &answer.found[i];

		if (f->verdict == VERDICT_FOUND)
			print_finding(out, f);
		else if (f->verdict == VERDICT_UNCHECKED)
			fprintf(out, "== %s: %s\n", f->rule->name, f->text.data);
	}
	for (int i = 0; i < ANSWER_TABLES; i++) {
		struct table t = {0};

		answer_table(&answer, (enum answer_table)i, &t);
		table_section(out, answer_table_names[i].name, &t, FORMAT_CSV, LINES);
		table_done(&t);
	}
	causes = costs_causes(answer.costs);
	if (causes)
		print_path(out, causes);
	answer_done(&answer);
}

static void print_report(FILE *out, const struct report *report, const struct report_context *context)
{
	char title[64];

	for (enum by by = BY_NOTHING; by < BY_COUNT; by++) {
		unsigned needs = by == BY_NOTHING ? 0 : by == BY_DEVICE ? REPORT_BY | REPORT_DEVICE : REPORT_BY;
		struct report_context c = *context;
		struct table t = {0};

		if ((report->flags & needs) != needs)
			continue;
		c.by = by;
		report->run(&c, &t);
		snprintf(title, sizeof(title), "%s%s%s", report->name, by == BY_NOTHING ? "" : " by ",
			 by == BY_NOTHING ? "" : by_names[by]);
		if (by == BY_NOTHING || table_rows(&t))
			table_section(out, title, &t, FORMAT_CSV, by == BY_NOTHING ? LINES : 0);
		if (by == BY_NOTHING && table_rows(&t))
			table_section(out, "for people", &t, FORMAT_COLUMN, 0);
		table_done(&t);
	}
}

static void print_reports(FILE *out, const struct report_context *c)
{
	for (size_t i = 0; i < report_count; i++)
		if (report_is_in(&report_list[i], c->model))
			print_report(out, &report_list[i], c);
}

static void print_export(FILE *out, struct export *x, const char *type)
{
	char made[] = "/tmp/pillion-outputs-XXXXXX", title[64];
	int fd = mkstemp(made);
	struct err err;

	cr_assert_geq(fd, 0);
	close(fd);
	snprintf(title, sizeof(title), "export %s %s", type, x->is_metric_given ? metrics[x->metric].name : "");
	if (export_write(x, export_find(type), made, true, &err)) {
		section(out, title, err.text, LINES);
	} else {
		char *text = read_file(made);

		section(out, title, text, LINES);
		free(text);
	}
	unlink(made);
}

static void print_exports(FILE *out, const struct report_context *c)
{
	struct export x = {.context = c, .has_critical_path = true};

	print_export(out, &x, "chrome");
	print_export(out, &x, "pstats");
	x = (struct export){.context = c, .is_metric_given = true};
	for (x.metric = 0; x.metric < METRIC_COUNT; x.metric++) {
		print_export(out, &x, "speedscope");
		print_export(out, &x, "folded");
	}
}

struct rows {
	struct nsys_output output;
	FILE *file;
};

static void begin_rows(struct nsys_output *o, enum nsys_table table)
{
	(void)o;
	(void)table;
}

static void add_row(struct nsys_output *o, enum nsys_table table, const int64_t *values)
{
	const struct nsys_schema *schema = &nsys_schemas[table];
	struct rows *r = (struct rows *)o;

	fputs(schema->name, r->file);
	for (size_t i = 0; i < schema->count; i++) {
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

/* Those of meaning, and of the environment of the export. */
#define LEFT_OUT                                                                                                     \
	((((uint64_t)2 << NSYS_META) - 1) | (uint64_t)1 << NSYS_META_EXPORT |               \
	 (uint64_t)1 << NSYS_META_CAPTURE | (uint64_t)1 << NSYS_START_TIME | (uint64_t)1 << NSYS_SYSTEM)

static void print_rows(FILE *out, const struct report_context *c)
{
	for (int table = 0; table < NSYS_TABLES; table++) {
		struct aggregate strings = {0};
		char *text = NULL;
		size_t size;
		struct rows r = {.output = {.begin = begin_rows, .row = add_row, .tables = (uint64_t)1 << table}};

		if (LEFT_OUT >> table & 1)
			continue;
		r.file = open_memstream(&text, &size);
		nsys_rows(c, &strings, &r.output);
		fclose(r.file);
		if (*text)
			section(out, nsys_schemas[table].name, text, 2);
		aggregate_done(&strings);
		free(text);
	}
}

/* The capture compared with itself. */
static void print_diff(FILE *out, const struct report_context *c)
{
	for (enum diff_by by = DIFF_KERNEL; by < DIFF_BY_COUNT; by++) {
		struct gathered both[2];
		struct diff d = {by, .gate = 0.03, .captures = both, .before = 1, .after = 1};
		SCOPED(buffer) reason = {0};
		char title[32];
		struct table t = {0};
		struct err err;

		if (gather(c, by, NULL, &both[0], &err)) {
			fprintf(out, "== diff by %s: %s\n", diff_by_names[by], err.text);
			gathered_done(&both[0]);
			continue;
		}
		cr_assert_eq(gather(c, by, NULL, &both[1], &err), 0);
		diff_compare(&d);
		diff_reason(&d, &reason);
		diff_table(&d, &t);
		snprintf(title, sizeof(title), "diff by %s", diff_by_names[by]);
		table_section(out, title, &t, FORMAT_CSV, LINES);
		fprintf(out, "%s\n", buffer_string(&reason));
		table_done(&t);
		diff_done(&d);
		gathered_done(&both[0]);
		gathered_done(&both[1]);
	}
}

static char *outputs(const char *path)
{
	struct model model;
	struct report_context context = {.model = &model};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	open_capture(&model, path);
	context.symbols = symbols_new(&model, false);
	print_summary(out, &context);
	print_answer(out, &context);
	print_reports(out, &context);
	print_rows(out, &context);
	print_exports(out, &context);
	print_diff(out, &context);
	fclose(out);
	symbols_free(context.symbols);
	model_done(&model);
	return text;
}

struct recorded_capture {
	char name[16];
};

ParameterizedTestParameters(outputs, are_as_they_were)
{
	static struct recorded_capture all[] = {
		{"causes"}, {"crash"}, {"gpu"}, {"graphs"}, {"hdf5"}, {"jax"}, {"libraries"}, {"linesof"},
		{"memory"}, {"mpi"}, {"mpicalls"}, {"nccl"}, {"nvtx"}, {"omp"}, {"profile"}, {"python"},
		{"threads"}, {"torch"},
	};

	return cr_make_param_array(struct recorded_capture, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct recorded_capture *r, outputs, are_as_they_were)
{
	char name[64], path[4096];

	snprintf(name, sizeof(name), "../data/recorded/%s.pillpack", r->name);
	golden_path(name, path, sizeof(path));
	snprintf(name, sizeof(name), "outputs.%s.txt", r->name);
	golden_compare(name, outputs(path));
}
