/* SPDX-License-Identifier: Apache-2.0 */
/* The few lines that a run ends with. */
#include <inttypes.h>
#include <string.h>

#include "report.h"
#include "text.h"

enum { TOP = 3, NAME_WIDTH = 70 };

static void add_time(struct buffer *b, double ns)
{
	if (ns >= 1e9)
		buffer_print(b, "%.3f s", ns / 1e9);
	else if (ns >= 1e6)
		buffer_print(b, "%.3f ms", ns / 1e6);
	else
		buffer_print(b, "%.3f us", ns / 1e3);
}

/* A name safe for a terminal, cut to one line. */
static void add_name(struct buffer *b, const char *text)
{
	struct buffer safe = {0};
	const char *at;
	size_t width = 0;

	text_escape(&safe, text, "");
	for (at = safe.data; at && *at && width < NAME_WIDTH; width++)
		text_add_code(b, text_next(&at));
	if (at && *at)
		buffer_text(b, "...");
	buffer_done(&safe);
}

/* The first rows of a table of sums: total in column `total`, count behind it, name in the last column. Returns how many
 * it has. */
static size_t top(const struct report_context *c, struct buffer *out, const char *title, size_t total, bool in_bytes,
		int (*run)(const struct report_context *, struct table *, struct err *))
{
	struct table t = {0};
	struct buffer sum = {0};
	struct err err;
	size_t rows;

	run(c, &t, &err);
	rows = table_rows(&t);
	if (rows)
		buffer_print(out, " %s\n", title);
	for (size_t i = 0; i < rows && i < TOP; i++) {
		const union cell *cells = t.cells + i * t.column_count;

		buffer_clear(&sum);
		if (in_bytes)
			buffer_print(&sum, "%.3f MB", cells[total].real / 1e6);
		else
			add_time(&sum, (double)cells[total].count);
		buffer_print(out, "  %12s %9" PRIu64 " x  ", sum.data, cells[total + 1].count);
		add_name(out, cells[t.column_count - 1].text);
		if (i + 1 == TOP && rows > TOP)
			buffer_print(out, "  (%zu more)", rows - TOP);
		buffer_text(out, "\n");
	}
	buffer_done(&sum);
	table_done(&t);
	return rows;
}

static void head(const struct model *m, struct buffer *out)
{
	uint64_t end = m->origin_ns;
	size_t hosts = 0, threads = 0;

	for (size_t i = 0; i < m->process_count; i++)
		if (m->processes[i].end_ns > end)
			end = m->processes[i].end_ns;
	for (size_t i = 0; i < m->image_count; i++)
		for (size_t k = 0; m->images[i].trace && k < m->images[i].trace->thread_count; k++) {
			const struct tf_thread *page = m->images[i].trace->threads[k].page;

			threads += !page || !page->window.is_tool;
		}
	for (size_t i = 0; i < m->machine_count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(m->machines[i].host, m->machines[k].host) != 0;
		hosts += is_new;
	}
	buffer_text(out, " wall ");
	add_time(out, (double)(end - m->origin_ns));
	buffer_print(out, ", %zu process%s, %zu thread%s with events, %zu host%s\n", m->process_count,
		     m->process_count == 1 ? "" : "es", threads, threads == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
}

/* Those that did not just exit 0. */
static void ends(const struct model *m, struct buffer *out)
{
	size_t shown = 0, others = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		if (!strcmp(p->ended, "exit 0") || !strcmp(p->ended, "exec"))
			continue;
		if (shown++ >= TOP) {
			others++;
			continue;
		}
		buffer_print(out, " process %" PRIu32 " %s: ", p->pid, p->ended);
		add_name(out, p->command ? p->command : "");
		buffer_text(out, "\n");
	}
	if (others)
		buffer_print(out, " %zu more did not exit 0\n", others);
}

/* -c nvtx whose range never came: nothing was recorded, and this is why. */
static void range_never_seen(const struct model *m, struct buffer *out)
{
	for (size_t i = 0; i < m->ranges_count; i++)
		if (m->ranges[i].mode != TF_RANGE_NVTX || m->ranges[i].count)
			return;
	if (!m->ranges_count)
		return;
	buffer_text(out, " --nvtx-capture: range never seen; ");
	buffer_text(out, m->seen.count ? "seen were: " : "nor any other");
	for (size_t i = 0; i < m->seen.count; i++) {
		buffer_text(out, i ? ", " : "");
		add_name(out, m->seen.items[i]);
	}
	buffer_text(out, "\n");
}

void summary_text(const struct report_context *c, struct buffer *ret)
{
	head(c->model, ret);
	range_never_seen(c->model, ret);
	ends(c->model, ret);
	top(c, ret, "CUDA API", 1, false, report_cuda_api_sum);
	if (!top(c, ret, "GPU", 1, false, report_cuda_gpu_sum))
		top(c, ret, "copies", 0, true, report_cuda_gpu_mem_size_sum);
	top(c, ret, "OS calls", 1, false, report_osrt_sum);
	top(c, ret, "NVTX ranges", 1, false, report_nvtx_sum);
	buffer_text(ret, " ");
	ledger_line(c->model, ret);
	buffer_text(ret, "\n");
}
