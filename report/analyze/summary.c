/* SPDX-License-Identifier: Apache-2.0 */
/* The few lines that a run ends with. */
#include <inttypes.h>
#include <string.h>

#include "../derive/gap.h"
#include "../derive/memory.h"
#include "../stats/report.h"
#include "rule.h"
#include "../base/text.h"
#include "summary.h"

enum { TOP = 3, FEW = 2, NAME_WIDTH = 70, LINES = 24 }; /* with the launcher's own: 25 */

/* Beyond that the end of a run would keep its user waiting for what `pillion analyze` tells as well. */
#define ANALYZE_BYTES (64ull << 20)

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
static size_t top(const struct report_context *c, struct buffer *out, size_t shown, const char *title, size_t total, bool in_bytes,
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
	for (size_t i = 0; i < rows && i < shown; i++) {
		const union cell *cells = t.cells + i * t.column_count;

		buffer_clear(&sum);
		if (in_bytes)
			buffer_print(&sum, "%.3f MB", cells[total].real / 1e6);
		else
			add_time(&sum, (double)cells[total].count);
		buffer_print(out, "  %12s %9" PRIu64 " x  ", sum.data, cells[total + 1].count);
		add_name(out, cells[t.column_count - 1].text);
		if (i + 1 == shown && rows > shown)
			buffer_print(out, "  (%zu more)", rows - shown);
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

/* Busy for any process: the sum over processes of one device may exceed its time where they share it. */
static void busy(const struct gaps *g, struct buffer *out)
{
	uint64_t least = UINT64_MAX, most = 0;
	double sum = 0;

	for (size_t i = 0; i < g->device_count; i++) {
		const struct gap_device *d = &g->devices[i];

		sum += d->wall_ns ? (double)d->busy_ns / (double)d->wall_ns : 0;
		least = d->busy_ns < least ? d->busy_ns : least;
		most = d->busy_ns > most ? d->busy_ns : most;
	}
	if (!g->device_count)
		return;
	buffer_print(out, " GPU busy %.1f %% of the time", 100 * sum / (double)g->device_count);
	if (g->device_count > 1) {
		buffer_print(out, " on average, over %zu pairs of process and device: ", g->device_count);
		add_time(out, (double)least);
		buffer_text(out, " to ");
		add_time(out, (double)most);
	}
	buffer_text(out, "\n");
}

static const char *rank_of(const struct process *p)
{
	return p->rank ? p->rank : "";
}

/* How far apart the ranks' lengths are. */
static void ranks(const struct model *m, struct buffer *out)
{
	const struct process *shortest = NULL, *longest = NULL;
	struct sums known = {0};
	size_t count = 0;

	for (size_t i = 0; i < m->process_count; i++) {
		const struct process *p = &m->processes[i];

		/* The rank's first process is the rank; the others are its children. */
		if (!*rank_of(p) || sums_row(&known, rank_of(p), strlen(rank_of(p))) < count)
			continue;
		count++;
		shortest = !shortest || rule_wall(p) < rule_wall(shortest) ? p : shortest;
		longest = !longest || rule_wall(p) > rule_wall(longest) ? p : longest;
	}
	sums_done(&known);
	if (count < 2)
		return;
	buffer_print(out, " %zu ranks: ", count);
	add_time(out, (double)rule_wall(shortest));
	buffer_text(out, " (rank ");
	add_name(out, rank_of(shortest));
	buffer_text(out, ") to ");
	add_time(out, (double)rule_wall(longest));
	buffer_text(out, " (rank ");
	add_name(out, rank_of(longest));
	buffer_text(out, ")\n");
}

static void memory_peak(const struct model *m, struct buffer *out)
{
	uint64_t most = 0;
	const struct image *of = NULL;

	for (size_t i = 0; i < m->image_count; i++) {
		struct memory memory;

		memory_replay(m, &m->images[i], &memory, NULL, NULL);
		for (size_t k = 0; k < memory.use_count; k++)
			if (!memory.uses[k].kind && memory.uses[k].peak > most) {
				most = memory.uses[k].peak;
				of = &m->images[i];
			}
		memory_done(&memory);
	}
	if (of)
		buffer_print(out, " GPU memory peak %.3f MB in process %" PRIu32 "\n", (double)most / 1e6, of->pid);
}

static void findings(struct rules *rules, struct buffer *out)
{
	struct finding worst[TOP];
	size_t count = rules_worst(rules, worst, TOP);

	for (size_t i = 0; i < count; i++) {
		buffer_print(out, " %s: ", worst[i].rule->name);
		add_name(out, worst[i].text.data ? worst[i].text.data : worst[i].rule->title);
		if (worst[i].line.size) {
			buffer_text(out, "; ");
			add_name(out, worst[i].line.data);
		}
		buffer_text(out, "\n");
		finding_done(&worst[i]);
	}
}

static size_t lines(const struct buffer *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->size; i++)
		n += b->data[i] == '\n';
	return n;
}

void summary_text(const struct report_context *context, struct buffer *ret)
{
	struct report_context totals = *context;
	const struct report_context *c = &totals;
	struct rules rules = {.context = c};
	bool is_small = c->model->trace_bytes <= ANALYZE_BYTES;
	struct buffer found = {0}, kernels = {0};
	size_t shown;

	totals.totals_only = true;
	shown = top(c, &kernels, FEW, "GPU", 1, false, report_cuda_gpu_kern_sum) ? FEW : TOP;
	head(c->model, ret);
	range_never_seen(c->model, ret);
	ranks(c->model, ret);
	ends(c->model, ret);
	if (is_small) {
		busy(rules_gaps(&rules), ret);
		memory_peak(c->model, ret);
		findings(&rules, &found);
	}
	top(c, ret, shown, "CUDA API", 1, false, report_cuda_api_sum);
	buffer_add(ret, kernels.data, kernels.size);
	top(c, ret, shown, "copies", 0, true, report_cuda_gpu_mem_size_sum);
	top(c, ret, shown, "OS calls", 1, false, report_osrt_sum);
	if (lines(ret) + lines(&found) + 1 + shown < LINES)
		top(c, ret, shown, "NVTX ranges", 1, false, report_nvtx_sum);
	buffer_add(ret, found.data, found.size);
	if (!is_small)
		buffer_text(ret, " findings: a large capture, pillion analyze looks for them\n");
	buffer_text(ret, " ");
	ledger_line(c->model, ret);
	buffer_text(ret, "\n");
	buffer_done(&found);
	buffer_done(&kernels);
	rules_done(&rules);
}
