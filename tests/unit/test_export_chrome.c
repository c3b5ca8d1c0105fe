/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the flow arrows of autograd and the critical path in the Chrome trace export. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/export/export.h"
#include "opened.h"

#define US 1000ull
#define MS 1000000ull

struct range {
	size_t thread;
	const char *text;
	uint64_t start_us, end_us;
};

static char *exported_trace(struct writer *w, bool has_critical_path)
{
	struct model model;
	struct report_context context = {.model = &model};
	struct export x = {.context = &context, .has_critical_path = has_critical_path};
	struct sink sink;
	struct err err = {""};
	char *text = calloc(1, 1 << 16);
	int fd = memfd_create("chrome", MFD_CLOEXEC);

	open_written(&model, w);
	context.symbols = symbols_new(&model, false);
	cr_assert_eq(sink_open(&sink, fd, false, &err), 0);
	x.out = &sink;
	cr_assert_eq(export_chrome(&x, &err), 0, "%s", err.text);
	cr_assert_eq(sink_close(&sink), 0);
	cr_assert_gt(pread(fd, text, (1 << 16) - 1, 0), 0);
	symbols_free(context.symbols);
	model_done(&model);
	writer_done(w);
	close(fd);
	return text;
}

/* Exports a process whose threads 100 and 101 have these ranges, ordered by start. */
static char *exported(const struct range *ranges, size_t count)
{
	struct writer w;
	struct writer_thread threads[2];

	writer_init(&w, 1, 100, 90, 1000 * US);
	for (uint32_t i = 0; i < 2; i++)
		writer_thread(&w, &threads[i], 100 + i, "thread", 4096);
	for (uint64_t us = 1000; us < 2000; us++)
		for (size_t i = 0; i < count; i++) {
			if (ranges[i].end_us == us)
				writer_event(&threads[ranges[i].thread], TF_POP, 0, us * US, 0);
			if (ranges[i].start_us != us)
				continue;
			writer_text(&threads[ranges[i].thread], TF_BLOB_STRING, (uint32_t)i + 1, ranges[i].text);
			writer_event(&threads[ranges[i].thread], TF_PUSH, 0, us * US, i + 1);
		}
	return exported_trace(&w, false);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		count++;
	return count;
}

static size_t arrows(const char *text)
{
	return count_of(text, "\"cat\":\"fwdbwd\"");
}

Test(export_chrome, draws_an_arrow_from_the_innermost_forward_operator_to_the_engine)
{
	static const struct range ranges[] = {
		{0, "aten::linear, seq = 7", 1100, 1200},
		{0, "aten::addmm, seq = 7, op_id = 2, sizes = [[2]]", 1110, 1190},
		{0, "aten::detach", 1120, 1130},
		{0, "aten::relu, seq = 8", 1210, 1220}, /* without a backward */
		{1, "autograd::engine::evaluate_function: AddmmBackward0, seq = 7", 1300, 1400},
		{1, "AddmmBackward0, seq = 7", 1310, 1390},
		{1, "MulBackward0, seq = 9", 1410, 1420}, /* without a forward */
	};
	char *text = exported(ranges, sizeof(ranges) / sizeof(*ranges));

	cr_expect_eq(arrows(text), 2, "%s", text);
	cr_expect(strstr(text, "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":100,\"tid\":100,"
			       "\"ts\":110.000}"),
		  "%s", text);
	cr_expect(strstr(text, "{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":1,\"pid\":100,"
			       "\"tid\":101,\"ts\":300.000}"),
		  "%s", text);
	free(text);
}

Test(export_chrome, draws_none_where_two_threads_have_the_number)
{
	static const struct range ranges[] = {
		{0, "aten::mul, seq = 1", 1100, 1110},
		{1, "aten::mul, seq = 1", 1120, 1130},
		{1, "MulBackward0, seq = 1", 1200, 1210},
		{0, "no number, seq = x", 1300, 1310},
		{0, "a number, seq = 99999999999999999999", 1400, 1410},
	};
	char *text = exported(ranges, sizeof(ranges) / sizeof(*ranges));

	cr_expect_eq(arrows(text), 0, "%s", text);
	free(text);
}

/* As Kineto writes them; a text that could break the JSON does not. */
Test(export_chrome, operators_have_bare_names_and_their_fields)
{
	static const struct range ranges[] = {
		{0, "aten::addmm, seq = 7, op_id = 2, sizes = [[20, 3, 4], []], input_op_ids = [(0,-1)]", 1100, 1190},
		{0, "detach, op_id = 3", 1110, 1120},
		{0, "Optimizer.step#SGD.step, op_id = 4", 1200, 1290},
		{0, "forward, op_id = 5, sizes = []", 1210, 1220},
		{0, "aten::odd, seq = -1, op_id = 6, sizes = [[1], \"}]", 1230, 1240},
		{0, "aten::zeros, sizes = [01]", 1241, 1242},
		{0, "aten::lists, sizes = [1,]", 1243, 1244},
		{0, "aten::closed, sizes = []]", 1245, 1246},
		{0, "solver::step", 1250, 1260},
	};
	char *text = exported(ranges, sizeof(ranges) / sizeof(*ranges));

	cr_expect(strstr(text, "\"cat\":\"cpu_op\",\"name\":\"aten::addmm\","), "%s", text);
	cr_expect(strstr(text, ",\"args\":{\"External id\":2,\"Sequence number\":7,\"Input Dims\":[[20, 3, 4], []]}}"),
		  "%s", text);
	cr_expect(strstr(text, "\"cat\":\"cpu_op\",\"name\":\"detach\","), "%s", text);
	cr_expect(strstr(text, "\"cat\":\"user_annotation\",\"name\":\"Optimizer.step#SGD.step\","), "%s", text);
	cr_expect(strstr(text, "\"cat\":\"user_annotation\",\"name\":\"forward\","), "%s", text);
	cr_expect(strstr(text, ",\"args\":{\"External id\":6}}"), "%s", text);
	for (const char *name = "zeros\0lists\0closed\0"; *name; name += strlen(name) + 1) {
		const char *at = strstr(text, name);

		cr_expect(at && !strncmp(strchr(at, '{'), "{\"External id\":0}}", 18), "%s: %s", name, text);
	}
	cr_expect(strstr(text, "\"cat\":\"user_annotation\",\"name\":\"solver::step\","), "%s", text);
	free(text);
}

/* A thread works from 5 to 220 ms of 300, and the main one waits for it from 10 ms on. */
static char *exported_path(bool has_critical_path)
{
	const uint64_t begin = 1000 * MS;
	struct writer_thread host, worker;
	struct writer w;
	uint16_t wait;

	writer_init(&w, 1, 10, 1, begin);
	wait = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	writer_thread(&w, &host, 10, "main", 4096);
	writer_thread(&w, &worker, 11, "worker", 4096);
	writer_page(&worker)->start_ticks = begin + 5 * MS;
	writer_page(&worker)->end_ticks = begin + 220 * MS;
	writer_call(&host, wait, begin + 220 * MS, 210 * MS, NULL, 0);
	writer_end(&w, TF_END_EXIT, 0, begin + 300 * MS);
	return exported_trace(&w, has_critical_path);
}

/* The sum of the times of these stretches of the path, in us. */
static double stretches(const char *text, const char *name)
{
	SCOPED(buffer) begin = {0};
	double sum = 0;

	buffer_print(&begin, "\"cat\":\"critical_path\",\"name\":\"%s\",", name);
	for (const char *at = text; (at = strstr(at, begin.data)) != NULL; at++)
		sum += strtod(strstr(at, "\"dur\":") + strlen("\"dur\":"), NULL);
	return sum;
}

Test(export_chrome, the_critical_path_is_a_process)
{
	char *text = exported_path(true), *without = exported_path(false);

	cr_expect_float_eq(stretches(text, "CPU, main [10]"), 5000 + 80000, 0.01);
	cr_expect_float_eq(stretches(text, "CPU, worker [11]"), 215000, 0.01);
	cr_expect_eq(count_of(text, "\"args\":{\"name\":\"critical path\"}"), 1);
	cr_expect_eq(count_of(text, "\"name\":\"thread_name\",\"pid\":9000000"), 2, "a row for each thread on it");
	cr_expect_eq(count_of(text, "\"ph\":\"s\",\"cat\":\"critical_path\""), 2, "to the worker and back");
	cr_expect_not_null(strstr(text, "\"ph\":\"s\",\"cat\":\"critical_path\",\"name\":\"critical_path\",\"id\":1,"
					"\"pid\":9000000,\"tid\":1,\"ts\":0.000}"));
	cr_expect_eq(count_of(without, "critical"), 0);
	free(text);
	free(without);
}
