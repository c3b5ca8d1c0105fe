/* SPDX-License-Identifier: Apache-2.0 */
/* Every report in some format, of the example capture, against tests/golden/REPORT.FORMAT. Where PILLION_GOLDEN names a
 * directory they are taken from there; with PILLION_GOLDEN_UPDATE set they are written instead. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../report/report.h"
#include "trace_writer.h"

struct golden {
	char report[32];
	enum format format;
	enum by by;
	char suffix[16];
};

ParameterizedTestParameters(golden, report_is_as_it_was)
{
	static struct golden cases[] = {
		{"cuda_api_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_api_sum", FORMAT_COLUMN, BY_NOTHING, ""},
		{"osrt_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"osrt_sum", FORMAT_CSV, BY_PROCESS, ".by_process"},
		{"osrt_sum", FORMAT_CSV, BY_THREAD, ".by_thread"},
		{"osrt_sum", FORMAT_JSON, BY_NOTHING, ""},
		{"osrt_short_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"osrt_short_sum", FORMAT_CSV, BY_THREAD, ".by_thread"},
		{"nvtx_sum", FORMAT_CSV, BY_THREAD, ".by_thread"},
		{"files", FORMAT_CSV, BY_NOTHING, ""},
		{"files", FORMAT_CSV, BY_PROCESS, ".by_process"},
		{"sockets", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_JSON, BY_RANK, ".by_rank"},
		{"nvtx_sum", FORMAT_COLUMN, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_HTML, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_MARKDOWN, BY_NOTHING, ""},
		{"nvtx_pushpop_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_startend_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"processes", FORMAT_CSV, BY_NOTHING, ""},
		{"processes", FORMAT_TABLE, BY_NOTHING, ""},
		{"ledger", FORMAT_CSV, BY_NOTHING, ""},
		{"stacks_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"lines", FORMAT_CSV, BY_NOTHING, ""},
		{"lines", FORMAT_COLUMN, BY_NOTHING, ""},
		{"lines", FORMAT_CSV, BY_THREAD, ".by_thread"},
		{"stacks_sum", FORMAT_TSV, BY_HOST, ".by_host"},
		{"cuda_launch_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_mem_size_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_kern_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_mem_time_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_sum", FORMAT_CSV, BY_DEVICE, ".by_device"},
		{"cuda_gpu_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_trace", FORMAT_COLUMN, BY_NOTHING, ""},
		{"cuda_api_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_api_gpu_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_kern_exec_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_kern_exec_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_names", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_pushpop_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_gpu_proj_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_gpu_proj_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_kern_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"correlated", FORMAT_CSV, BY_NOTHING, ""},
		{"device_facts", FORMAT_CSV, BY_NOTHING, ""},
		{"um_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"um_total_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"um_cpu_page_faults_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"calls_in_progress", FORMAT_CSV, BY_NOTHING, ""},
		{"settings", FORMAT_CSV, BY_NOTHING, ""},
		{"not_recorded", FORMAT_CSV, BY_NOTHING, ""},
	};

	return cr_make_param_array(struct golden, cases, sizeof(cases) / sizeof(*cases));
}

static void golden_path(const struct golden *g, char *path, size_t size)
{
	const char *directory = getenv("PILLION_GOLDEN");
	char here[] = __FILE__;

	if (directory)
		snprintf(path, size, "%s/%s%s.%s", directory, g->report, g->suffix, format_names[g->format]);
	else
		snprintf(path, size, "%s/../golden/%s%s.%s", dirname(here), g->report, g->suffix,
			 format_names[g->format]);
}

static char *made(const struct golden *g)
{
	char directory[] = "/tmp/pillion-golden-XXXXXX", *paths[] = {directory}, *text = NULL;
	struct model model;
	struct report_context context = {.model = &model, .by = g->by};
	struct table table = {0};
	struct emit emit = {.format = g->format};
	struct err err;
	size_t size;

	cr_assert_not_null(mkdtemp(directory));
	capture_example(directory);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	cr_assert_eq(model.problems.count, 0);
	context.symbols = symbols_new(&model, true);
	cr_assert_eq(report_find(g->report)->run(&context, &table, &err), 0);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, g->report, report_find(g->report)->title, &table);
	emit_end(&emit);
	fclose(emit.file);
	table_done(&table);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
	return text;
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 20);

	cr_assert_not_null(f, "%s is missing", path);
	if (fread(text, 1, (1 << 20) - 1, f) == 0)
		text[0] = 0;
	fclose(f);
	return text;
}

ParameterizedTest(struct golden *g, golden, report_is_as_it_was)
{
	char path[4096], *now = made(g), *then;

	golden_path(g, path, sizeof(path));
	if (getenv("PILLION_GOLDEN_UPDATE")) {
		FILE *f = fopen(path, "we");

		cr_assert_not_null(f);
		fputs(now, f);
		fclose(f);
	}
	then = read_file(path);
	cr_assert_str_eq(now, then, "%s differs:\n%s", path, now);
	free(now);
	free(then);
}
