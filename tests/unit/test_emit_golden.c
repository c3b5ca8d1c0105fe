/* SPDX-License-Identifier: Apache-2.0 */
/* Compares each report, in some format, of the example capture, the job (.job), the arguments (.arguments), the sums
 * (.sums), the first three in one run (.together), the messages (.mpi), the late rank (.ranks) or the calls that
 * concern names of files (.metadata) with tests/golden/REPORT.FORMAT; a table without rows fails. See golden.h. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/rule.h"
#include "report/tables/report.h"
#include "golden.h"

#define JOB ".job"
#define ARGUMENTS ".arguments"
#define SUMS ".sums"
#define MPI ".mpi"
#define METADATA ".metadata"
#define RANKS ".ranks"
#define TOGETHER ".together"
#define ALL "reports" /* each report that has rows */

struct golden {
	char report[32];
	enum format format;
	enum by by;
	char suffix[32];
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
		{"files", FORMAT_COLUMN, BY_NOTHING, ""},
		{"osrt_short_line_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"files", FORMAT_CSV, BY_PROCESS, ".by_process"},
		{"files_rank_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"files_size_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"files_size_sum", FORMAT_CSV, BY_PROCESS, ".by_process"},
		{"files_meta_sum", FORMAT_CSV, BY_NOTHING, METADATA},
		{"sockets", FORMAT_CSV, BY_NOTHING, ""},
		{"sockets", FORMAT_COLUMN, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_JSON, BY_RANK, ".by_rank"},
		{"nvtx_sum", FORMAT_COLUMN, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_HTML, BY_NOTHING, ""},
		{"nvtx_sum", FORMAT_MARKDOWN, BY_NOTHING, ""},
		{"nvtx_pushpop_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"nvtx_startend_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"processes", FORMAT_CSV, BY_NOTHING, ""},
		{"processes", FORMAT_TABLE, BY_NOTHING, ""},
		{"jobs", FORMAT_CSV, BY_NOTHING, ""},
		{"ledger", FORMAT_CSV, BY_NOTHING, ""},
		{"stacks_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"time_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"time_sum", FORMAT_COLUMN, BY_NOTHING, ""},
		{"time_sum", FORMAT_CSV, BY_PROCESS, ".by_process"},
		{"time_sum", FORMAT_JSON, BY_RANK, ".by_rank"},
		{"time_sum", FORMAT_CSV, BY_HOST, ".by_host"},
		{"lines", FORMAT_CSV, BY_NOTHING, ""},
		{"lines", FORMAT_COLUMN, BY_NOTHING, ""},
		{"line_shares", FORMAT_CSV, BY_NOTHING, ""},
		{"lines", FORMAT_CSV, BY_THREAD, ".by_thread"},
		{"stacks_sum", FORMAT_TSV, BY_HOST, ".by_host"},
		{"cuda_launch_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_mem_size_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_kern_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_gpu_kern_gb_sum", FORMAT_CSV, BY_NOTHING, ""},
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
		{"nvtx_gpu_proj_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"nvtx_gpu_proj_trace", FORMAT_CSV, BY_NOTHING, JOB},
		{"nvtx_kern_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"correlated", FORMAT_CSV, BY_NOTHING, ""},
		{"device_facts", FORMAT_CSV, BY_NOTHING, ""},
		{"um_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"um_total_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"um_cpu_page_faults_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"calls_in_progress", FORMAT_CSV, BY_NOTHING, ""},
		{"settings", FORMAT_CSV, BY_NOTHING, ""},
		{"not_recorded", FORMAT_CSV, BY_NOTHING, ""},
		{"cuda_mem_usage", FORMAT_CSV, BY_NOTHING, JOB},
		{"cuda_mem_usage", FORMAT_COLUMN, BY_NOTHING, JOB},
		{"cuda_mem_peak", FORMAT_CSV, BY_NOTHING, JOB},
		{"cuda_mem_leaks", FORMAT_CSV, BY_NOTHING, JOB},
		{"steps", FORMAT_CSV, BY_NOTHING, JOB},
		{"cuda_mem_failures", FORMAT_CSV, BY_NOTHING, JOB},
		{"cuda_mem_failures", FORMAT_JSON, BY_NOTHING, JOB},
		{"blas_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"blas_sum", FORMAT_JSON, BY_NOTHING, JOB},
		{"cudnn_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"nccl_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"nccl_sum", FORMAT_COLUMN, BY_NOTHING, JOB},
		{"mpi_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_sum", FORMAT_COLUMN, BY_NOTHING, MPI},
		{"mpi_peer_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_comm_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_line_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_msg_size_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_event_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_event_trace", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_matrix", FORMAT_CSV, BY_NOTHING, MPI},
		{"mpi_overlap_sum", FORMAT_CSV, BY_NOTHING, MPI},
		{"rank_cause_sum", FORMAT_CSV, BY_NOTHING, RANKS},
		{"pop_sum", FORMAT_CSV, BY_NOTHING, RANKS},
		{"pop_steps", FORMAT_CSV, BY_NOTHING, RANKS},
		{"sample_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"sample_sum", FORMAT_COLUMN, BY_NOTHING, JOB},
		{"sample_line_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"sample_thread_sum", FORMAT_JSON, BY_NOTHING, JOB},
		{"lines", FORMAT_CSV, BY_NOTHING, JOB},
		{"lines", FORMAT_COLUMN, BY_NOTHING, JOB},
		{"osrt_error_sum", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"cuda_gpu_trace", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"cuda_devices", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"nvtx_names", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"nvtx_startend_sum", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"nvtx_sum", FORMAT_CSV, BY_THREAD, ARGUMENTS},
		{"openmp_sum", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"hdf5_sum", FORMAT_CSV, BY_NOTHING, ARGUMENTS},
		{"mem_alloc_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"mem_usage_sum", FORMAT_CSV, BY_NOTHING, ""},
		{"mem_usage_trace", FORMAT_CSV, BY_NOTHING, ""},
		{"mpi_wait_sum", FORMAT_CSV, BY_NOTHING, RANKS},
		{"steps_sum", FORMAT_CSV, BY_NOTHING, JOB},
		{"nvtx_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"nvtx_pushpop_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"nvtx_startend_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"osrt_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"files", FORMAT_CSV, BY_NOTHING, SUMS},
		{"ledger", FORMAT_CSV, BY_NOTHING, SUMS},
		{"steps_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"stacks_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"sample_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"time_sum", FORMAT_CSV, BY_NOTHING, SUMS},
		{"analyze", FORMAT_CSV, BY_NOTHING, JOB},
		{"analyze", FORMAT_COLUMN, BY_NOTHING, JOB},
		{"analyze", FORMAT_JSON, BY_NOTHING, JOB},
		{ALL, FORMAT_CSV, BY_NOTHING, TOGETHER},
		{ALL, FORMAT_CSV, BY_PROCESS, TOGETHER ".by_process"},
		{ALL, FORMAT_CSV, BY_RANK, TOGETHER ".by_rank"},
		{ALL, FORMAT_CSV, BY_DEVICE, TOGETHER ".by_device"},
		{ALL, FORMAT_CSV, BY_RANGE, TOGETHER ".by_range"},
	};

	return cr_make_param_array(struct golden, cases, sizeof(cases) / sizeof(*cases));
}

static void emit_report(struct emit *e, const struct report_context *c, const char *name)
{
	struct table table = {0};

	report_find(name)->run(c, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_gt(table_rows(&table), 0, "%s has no rows: choose a capture in which it has", name);
	emit_table(e, name, report_find(name)->title, &table);
	table_done(&table);
}

/* By something: those that can be. */
static void emit_reports(struct emit *e, const struct report_context *c)
{
	unsigned needed = c->by == BY_NOTHING ? 0 : c->by == BY_DEVICE ? REPORT_BY | REPORT_DEVICE : REPORT_BY;

	for (size_t i = 0; i < report_count; i++) {
		struct table table = {0};

		if ((report_list[i].flags & needed) != needed)
			continue;
		report_list[i].run(c, &table);
		if (!table.lacks && table_rows(&table))
			emit_table(e, report_list[i].name, report_list[i].title, &table);
		table_done(&table);
	}
}

/* The output has the rule's finding beside its rows: the text and the source line. */
static void emit_rules(struct emit *e, const struct report_context *c)
{
	struct rules rules = {.context = c};

	for (size_t i = 0; i < rule_count; i++) {
		struct finding f;

		rule_run(&rules, &rule_list[i], &f);
		emit_table(e, rule_list[i].name, rule_list[i].title, &f.table);
		if (f.text.size)
			emit_remark(e, f.text.data);
		if (f.line)
			emit_remark(e, line_text(f.line));
		finding_done(&f);
	}
	rules_done(&rules);
}

static char *made(const struct golden *g)
{
	char directory[] = "/tmp/pillion-golden-XXXXXX", *text = NULL;
	struct model model;
	struct report_context context = {.model = &model, .by = g->by};
	bool is_analyze = !strcmp(g->report, "analyze");
	struct emit emit = {.format = g->format, .is_list = is_analyze || !strcmp(g->report, ALL)};
	size_t size;

	cr_assert_not_null(mkdtemp(directory));
	if (!strcmp(g->suffix, JOB))
		capture_job(directory);
	else if (!strcmp(g->suffix, ARGUMENTS))
		capture_arguments(directory);
	else if (!strcmp(g->suffix, SUMS))
		capture_sums(directory);
	else if (!strcmp(g->suffix, MPI) || !strcmp(g->suffix, METADATA))
		cr_assert(capture_kind(directory, g->suffix + 1, 40));
	else if (text_begins_with(g->suffix, TOGETHER))
		capture_together(directory);
	else if (!strcmp(g->suffix, RANKS))
		capture_ranks(directory, 6, 1, 40);
	else
		capture_example(directory);
	open_capture(&model, directory);
	cr_assert_eq(model.problems.count, 0);
	context.symbols = symbols_new(&model, true);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	if (is_analyze)
		emit_rules(&emit, &context);
	else if (!strcmp(g->report, ALL))
		emit_reports(&emit, &context);
	else
		emit_report(&emit, &context, g->report);
	emit_end(&emit);
	fclose(emit.file);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
	return text;
}

ParameterizedTest(struct golden *g, golden, report_is_as_it_was)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s.%s", g->report, g->suffix, format_names[g->format]);
	golden_compare(name, made(g));
}
