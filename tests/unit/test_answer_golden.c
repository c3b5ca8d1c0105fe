/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what is said of ready-made captures with tests/golden/answer.CAPTURE.txt: the summary, the tables of the
 * answer, the critical path, and what edits save. See golden.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/answer_tables.h"
#include "report/answers/summary/summary.h"
#include "report/causes/path.h"
#include "report/causes/price.h"
#include "golden.h"

enum { NARROW = 60 };

static const char *const edits[] = {
	"line~train.py=0", "call~read=0", "call~read=0.5", "call~.*=0x", "kernel~.*=0.5", "kernel~none=0", "copy=0",
	"no-sync~.*", "overlap~.*", "lock~.*=0", "workers=2", "workers=1.5", "rank~2=median", "rank~2=0.5",
	"rank~77=0", "gap~input=0", "gap~other=0", "interpreter=0", "interpreter=1", "cpus=4", "function~train=0",
	"call~read", "call~read=-1", "call~read=1001", "call~(=0", "nothing=0",
};

static void print_table(FILE *out, const char *name, const struct table *t)
{
	struct emit emit = {.file = out, .format = FORMAT_CSV};

	fprintf(out, "== %s\n", name);
	if (table_rows(t))
		emit_table(&emit, name, NULL, t);
}

static void print_answer(FILE *out, const struct report_context *c)
{
	struct answer answer;
	struct causality *causes;

	answer_whole(c, &answer);
	for (int i = 0; i < ANSWER_TABLES; i++) {
		struct table t = {0};

		answer_table(&answer, (enum answer_table)i, &t);
		print_table(out, answer_table_names[i].name, &t);
		table_done(&t);
	}
	causes = costs_causes(answer.costs);
	for (size_t i = 0; causes && i < sizeof(edits) / sizeof(*edits); i++) {
		struct saving s;
		struct err err;

		if (price_find(causes, edits[i], &s, &err))
			fprintf(out, "%s: %s\n", edits[i], err.text);
		else
			fprintf(out, "%s: saves %" PRIu64 ", %" PRIu64 " to %" PRIu64 " ns\n", edits[i], s.saved_ns,
				s.low_ns, s.high_ns);
	}
	if (causes) {
		struct table t = {0};
		struct path path;

		path_find(causes, UINT64_MAX, &path);
		path_table(&path, &t);
		print_table(out, "critical", &t);
		table_done(&t);
		path_done(&path);
	}
	answer_done(&answer);
}

static void make(const char *name, const char *directory)
{
	if (!strcmp(name, "example"))
		capture_example(directory);
	else if (!strcmp(name, "ranks"))
		capture_ranks(directory, 6, 2, 40);
	else if (!strcmp(name, "arguments"))
		capture_arguments(directory);
	else if (!strcmp(name, "together"))
		capture_together(directory);
	else if (!strcmp(name, "sums"))
		capture_sums(directory);
	else
		capture_job(directory);
}

struct made {
	char name[16];
};

ParameterizedTestParameters(answer, is_as_it_was)
{
	static struct made all[] = {{"example"}, {"job"}, {"ranks"}, {"arguments"}, {"sums"}, {"together"}};

	return cr_make_param_array(struct made, all, sizeof(all) / sizeof(*all));
}

ParameterizedTest(struct made *g, answer, is_as_it_was)
{
	char directory[] = "/tmp/pillion-answer-XXXXXX", name[64], *now = NULL;
	struct model model;
	struct report_context context = {.model = &model};
	SCOPED(buffer) summary = {0}, narrow = {0};
	size_t size;
	FILE *out = open_memstream(&now, &size);

	cr_assert_not_null(mkdtemp(directory));
	make(g->name, directory);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, true);
	summary_text(&context, "made.pillion", NULL, 0, &summary);
	summary_text(&context, "made.pillion", NULL, NARROW, &narrow);
	fprintf(out, "%s== in %d columns\n%s", buffer_string(&summary), NARROW, buffer_string(&narrow));
	print_answer(out, &context);
	fclose(out);
	snprintf(name, sizeof(name), "answer.%s.txt", g->name);
	golden_compare(name, now);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}
