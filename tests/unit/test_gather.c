/* SPDX-License-Identifier: Apache-2.0 */
/* What `pillion diff` sums of ready-made captures by each kind of name, for the whole run and over the steps of a
 * range, beside tests/golden/gather.txt: "name|alike|count|total|squares of samples".
 * See golden.h. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/diff/gather.h"
#include "golden.h"

static char directory[] = "/tmp/pillion-gather-XXXXXX";
static struct model model;
static struct report_context context = {.model = &model};

static void make(const char *name)
{
	if (!strcmp(name, "job"))
		capture_job(directory);
	else if (!strcmp(name, "example"))
		capture_example(directory);
	else if (!strcmp(name, "together"))
		capture_together(directory);
	else
		capture_ranks(directory, 6, 2, 40);
}

static void print_gathered(FILE *out, const struct gathered *g)
{
	for (size_t i = 0; i < g->count; i++)
		fprintf(out, "%s|%s|%" PRIu64 "|%.15g|%.15g%s\n", aggregate_field(&g->names.rows[i], 0),
			aggregate_field(&g->names.rows[i], 1), g->series[i].count, g->series[i].total,
			g->series[i].sampled, !g->is_foreign ? "" : g->is_foreign[i] ? "|foreign" : "|own");
	for (size_t i = 0; i < g->part_count; i++)
		fprintf(out, "%" PRIu32 " at %s: %" PRIu64 "\n", g->parts[i].row,
			aggregate_field(&g->lines.rows[g->parts[i].line], 0), g->parts[i].ns);
	fprintf(out, "steps %zu, wall %" PRIu64 ", CPU %" PRIu64 ", delay %" PRIu64 "%s\n", g->steps, g->whole.wall_ns,
		g->whole.cpu_ns, g->whole.delay_ns, g->whole.is_sampled ? ", sampled" : "");
}

static void print_all(FILE *out, const char *name, const char *over)
{
	for (enum diff_by by = DIFF_AUTO + 1; by < DIFF_BY_COUNT; by++) {
		struct gathered g;
		struct err err;

		fprintf(out, "== %s %s %s\n", diff_by_names[by], name, over ? over : "");
		if (gather(&context, by, over, &g, &err))
			fprintf(out, "%s\n", err.text);
		else
			print_gathered(out, &g);
		gathered_done(&g);
	}
}

Test(gather, is_as_it_was)
{
	static const struct {
		const char *name, *over;
	} all[] = {{"job", NULL}, {"job", "step"}, {"job", "none"}, {"example", NULL}, {"ranks", NULL},
		  {"together", NULL}};
	char *now = NULL;
	size_t size;
	FILE *out = open_memstream(&now, &size);

	cr_assert_not_null(mkdtemp(directory));
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		make(all[i].name);
		open_capture(&model, directory);
		context.symbols = symbols_new(&model, true);
		fprintf(out, "%s: by %s\n", all[i].name, diff_by_names[gather_default(&model)]);
		print_all(out, all[i].name, all[i].over);
		symbols_free(context.symbols);
		model_done(&model);
		capture_remove(directory);
	}
	fclose(out);
	golden_compare("gather.txt", now);
}
