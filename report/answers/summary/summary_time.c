/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary that divide time. */
#include "report/answers/summary/summary_time.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/input_wait.h"
#include "report/answers/rule.h"
#include "report/base/text.h"
#include "report/events/cuda/untimed.h"

/* DETAILS: calls of a role that have a part of their own, if they take PART_PERCENT of its time; the rest of them are
 * one part. Imports are a part of their own from IMPORT_PERCENT on. ROLE_PERCENT: a role that takes less of all time
 * than this is folded. */
enum { DETAILS = 3, PART_PERCENT = 2, IMPORT_PERCENT = 10, ROLE_PERCENT = 1 };
enum { WORD_WIDTH = 40, PLACE_WIDTH = 100, CAUSES = 3, LABEL_WIDTH = 20, BAR = 20 };

size_t summary_hosts(const struct model *m)
{
	size_t hosts = 0;

	for (size_t i = 0; i < m->machine_count; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(m->machines[i].host, m->machines[k].host) != 0;
		hosts += is_new;
	}
	return hosts;
}

void summary_process(const struct model *m, const struct process *p, struct buffer *ret)
{
	char label[LABEL_WIDTH * 2];

	if (*p->rank) {
		buffer_text(ret, "rank ");
		text_fit(ret, p->rank, LABEL_WIDTH);
		return;
	}
	image_program(process_last_image(m, p), label, sizeof(label));
	text_fit(ret, label, LABEL_WIDTH);
	buffer_print(ret, " (%" PRIu32 ")", p->pid);
}

/* ---- parts of a whole ---- */

COMPARATOR(compare_parts, struct time_part, order_of(b->ns, a->ns))

/* Rounds down, then gives what is missing to those with the largest remainders. */
static void round_percent(const struct time_part *parts, size_t count, uint64_t whole, unsigned *ret)
{
	unsigned sum = 0;
	double left[32] = {0};

	for (size_t i = 0; i < count; i++) {
		double exact = 100 * (double)parts[i].ns / (double)whole;

		ret[i] = (unsigned)exact;
		left[i] = exact - ret[i];
		sum += ret[i];
	}
	while (sum < 100) {
		size_t most = 0;

		for (size_t i = 1; i < count; i++)
			if (left[i] > left[most])
				most = i;
		ret[most]++;
		left[most] = 0;
		sum++;
	}
}

/* Appends the parts in descending order with whole percentages that add up to 100: SUMMARY_PARTS at most, among them
 * one that is kept; the last one is what the others have together. Those of 0 % are omitted. Frees their words. */
static void add_parts(struct time_part *parts, size_t count, struct buffer *ret)
{
	unsigned percent[32] = {0}, shown = 0, left = 100;
	uint64_t whole = array_sum(part, parts, count, part->ns);
	size_t others = 0, largest = SUMMARY_PARTS - 1;

	array_sort(parts, count, compare_parts);
	if (whole)
		round_percent(parts, count, whole, percent);
	for (size_t i = 0; i < count; i++) {
		others += percent[i] != 0;
		if (parts[i].is_kept && percent[i] && i >= SUMMARY_PARTS - 1)
			largest--;
	}
	for (size_t i = 0; i < count; i++) {
		shown += percent[i] != 0;
		if (percent[i] && (shown <= largest || others <= SUMMARY_PARTS || parts[i].is_kept)) {
			buffer_print(ret, "%s%u %% %s", left < 100 ? " · " : "", percent[i],
				     buffer_string(&parts[i].words));
			left -= percent[i];
		}
		buffer_done(&parts[i].words);
	}
	if (left && others)
		buffer_print(ret, " · %u %% other", left);
}

static void part_add(struct time_part *parts, size_t *count, uint64_t ns, const char *words)
{
	parts[*count] = (struct time_part){.ns = ns};
	buffer_text(&parts[(*count)++].words, words);
}

/* ---- roles ---- */

static void add_place(const struct report_context *c, const struct role_call *call, struct buffer *ret)
{
	SCOPED(buffer) place = {0};

	role_place(c, call, &place);
	if (place.size) {
		buffer_text(ret, " ");
		text_fit_sentence(ret, place.data, WORD_WIDTH, PLACE_WIDTH);
	}
}

/* "waits for thread last (nanosleep job.c:12 work) in ", or how much of it is known. Of a sleep it is not known whether
 * it was for others: it may be a look at their work from time to time, or a wait for a server. */
static void add_wait(const struct report_context *c, const struct roles *roles, const struct role *r,
		     const struct role_call *call, struct buffer *ret)
{
	bool is_for_others = roles->count > 1 && r->is_main && call->kind != BLOCKED_SLEEP;
	static const char *const inputs[] = {"", "waits for its input in ", "waits for its clients in "};
	const struct role *awaited = role_waited_for(roles, r, call);
	enum input input = awaited ? INPUT_NONE : input_of_wait(c, r, call);
	SCOPED(buffer) end = {0};

	role_awaited_words(c, roles, r, call, &end);
	if (end.size)
		buffer_print(ret, "waits for %s in ", end.data);
	else if (input == INPUT_CLIENTS || (input && r->is_main))
		buffer_text(ret, inputs[input]);
	else
		buffer_text(ret, is_for_others ? "waits for others in " : "waits in ");
}

static size_t role_parts(const struct report_context *c, const struct roles *roles, const struct role *r,
			 struct time_part *parts)
{
	size_t count = 0, details = 0;
	struct role_cpu cpu = role_cpu(r);
	SCOPED(buffer) line = {0};
	bool is_of_imports = cpu.import_ns > cpu.work_ns;
	uint64_t others = 0;

	part_add(parts, &count, r->delay_ns, "waits for a CPU");
	if (cpu.import_ns * 100 < r->lifetime_ns * IMPORT_PERCENT) {
		cpu.work_ns += cpu.import_ns;
		cpu.import_ns = 0;
	}
	part_add(parts, &count, cpu.work_ns, "CPU");
	role_hot_line(c, r, &line);
	if (line.size && is_of_imports && !cpu.import_ns) { /* the line is not theirs */
		buffer_text(&parts[1].words, ", mostly in imports");
	} else if (line.size) {
		buffer_text(&parts[1].words, " ");
		text_fit_sentence(&parts[1].words, line.data, WORD_WIDTH, PLACE_WIDTH);
		parts[1].is_kept = true;
	}
	part_add(parts, &count, cpu.import_ns, "CPU in imports");
	part_add(parts, &count, cpu.polling_ns, "polling for others");
	if (r->polls.count)
		add_place(c, &r->polls.items[0], &parts[count - 1].words);
	part_add(parts, &count, r->stopped_ns, "stopped");
	part_add(parts, &count, r->unexplained_ns, "other waits");
	part_add(parts, &count, r->unsure_ns, "waits for a CPU, or other waits");
	part_add(parts, &count, r->unknown_ns, "not accounted");
	array_each(const struct role_call, call, r->calls, r->call_count) {
		bool waits = role_call_waits(r, call->kind, call->ns, call->count);

		if (details == DETAILS || call->ns * 100 < r->lifetime_ns * PART_PERCENT) {
			others += call->ns;
			continue;
		}
		details++;
		part_add(parts, &count, call->ns, "");
		if (waits || call->end.ns || input_of_wait(c, r, call))
			add_wait(c, roles, r, call, &parts[count - 1].words);
		buffer_text(&parts[count - 1].words, call->function);
		add_place(c, call, &parts[count - 1].words);
	}
	part_add(parts, &count, others, "other calls");
	return count;
}

/* What it computes, and how long it waits for a CPU. */
static void add_bar(const struct role *r, struct buffer *ret)
{
	uint64_t cpu_ns = r->cpu_ns - role_cpu(r).polling_ns;
	double one = r->lifetime_ns ? (double)BAR / (double)r->lifetime_ns : 0;
	double busy = (double)cpu_ns * one, ready = (double)(cpu_ns + r->delay_ns) * one;

	for (int i = 0; i < BAR; i++)
		buffer_text(ret, i + 0.5 < busy ? "█" : i + 0.5 < ready ? "▒" : "·");
	buffer_text(ret, " ");
}

/* Parts of a job that differ, as a part of the run. */
enum { UNEQUAL_PERCENT = 10 };

/* ", 0.2 to 1.8 s of CPU time each", where that differs: their sum would say that all had as much to do. Of the run it
 * is a part with the waits for a CPU that it brings. */
static void add_range(const struct roles *roles, const struct role *r, struct buffer *ret)
{
	double elapsed = r->cpu_ns ? 1 + (double)r->delay_ns / (double)r->cpu_ns : 1; /* for each second of CPU time */
	double differs_ns = (double)(r->most_ns - r->least_ns) * elapsed;

	if (r->threads < 2 || r->unknown_ns || differs_ns * 100 < (double)roles->wall_ns * UNEQUAL_PERCENT ||
	    r->most_ns < 2 * r->least_ns)
		return;
	buffer_text(ret, ", ");
	rule_time(ret, r->least_ns);
	buffer_text(ret, " to ");
	rule_time(ret, r->most_ns);
	buffer_text(ret, " of CPU time each");
}

/* `width`: of the column of labels. */
static void role_line(const struct report_context *c, const struct roles *roles, const struct role *r, size_t width,
		      struct buffer *ret)
{
	struct time_part parts[DETAILS + 10];
	size_t from = ret->size;

	text_fit(ret, r->label, width);
	buffer_print(ret, "%*s", (int)(width + 1 - text_width(ret->data + from)), "");
	add_bar(r, ret);
	rule_time(ret, r->lifetime_ns);
	if (r->threads > 1)
		buffer_print(ret, " of %zu %s", r->threads, r->processes > 1 ? "processes" : "threads");
	add_range(roles, r, ret);
	buffer_text(ret, ": ");
	add_parts(parts, role_parts(c, roles, r, parts), ret);
	buffer_text(ret, "\n");
}

static void folded_line(const struct roles *r, size_t roles, struct buffer *ret)
{
	const char *join = "";

	if (!roles && !r->idle_threads)
		return;
	buffer_print(ret, "%-*s ", SUMMARY_LABEL, "not shown");
	if (r->idle_threads) {
		buffer_print(ret, "%zu idle helper%s", r->idle_threads, r->idle_threads == 1 ? "" : "s");
		join = ", ";
	}
	if (roles)
		buffer_print(ret, "%s%zu other%s that used less", join, roles, roles == 1 ? "" : "s");
	buffer_text(ret, "\n");
}

/* `shown`: how many roles are. */
static bool is_shown(const struct role *r, size_t shown, size_t lines, uint64_t all_ns)
{
	return shown + 1 < lines && (!shown || r->is_main || r->lifetime_ns * 100 >= all_ns * ROLE_PERCENT);
}

void summary_roles(const struct report_context *c, const struct roles *roles, size_t lines, struct buffer *ret)
{
	size_t shown = 0, width = SUMMARY_LABEL;
	uint64_t all = array_sum(item, roles->items, roles->count, item->lifetime_ns);

	list_each(const struct role, r, roles) {
		if (!is_shown(r, shown, lines, all))
			continue;
		if (text_width(r->label) > width)
			width = text_width(r->label);
		shown++;
	}
	width = width < LABEL_WIDTH ? width : LABEL_WIDTH;
	shown = 0;
	if (roles->count)
		buffer_print(ret, "%-*s █ computes, ▒ waits for a CPU, · waits for something else\n", (int)width,
			     "time");
	list_each(const struct role, r, roles) {
		if (!is_shown(r, shown, lines, all))
			continue;
		role_line(c, roles, r, width, ret);
		shown++;
	}
	folded_line(roles, roles->count - shown, ret);
}

/* ---- devices ---- */

struct device_kinds {
	uint64_t ns[TF_DEVICE_GRAPH + 1], all;
};

static void device_visit(struct scan *s, const struct device_record *r)
{
	struct device_kinds *k = s->more;
	struct tf_device_operation operation;

	if (!device_operation(s->image->trace, r->operation, &operation) || operation.kind > TF_DEVICE_GRAPH)
		return;
	k->ns[operation.kind] += r->duration_ns;
	k->all += r->duration_ns;
}

/* With capture ranges: idle time outside of them. */
static bool is_unrecorded(const struct gap_sum *s)
{
	return s->cause == GAP_NOT_RECORDED || s->cause == GAP_NOT_STARTED || s->cause == GAP_ENDED;
}

/* The causes of idle time over all devices, the largest first. */
static void idle_causes(const struct gaps *g, bool has_ranges, struct buffer *ret)
{
	struct {
		const struct gap_sum *sum;
		uint64_t ns;
	} worst[CAUSES] = {0};
	const char *join = " (";

	for (size_t i = 0; i < g->sum_count; i++) {
		size_t at = CAUSES;

		while (at && g->sums[i].total_ns > worst[at - 1].ns)
			at--;
		if (at == CAUSES || (has_ranges && is_unrecorded(&g->sums[i])))
			continue;
		memmove(worst + at + 1, worst + at, (CAUSES - 1 - at) * sizeof(*worst));
		worst[at].sum = &g->sums[i];
		worst[at].ns = g->sums[i].total_ns;
	}
	for (size_t i = 0; i < CAUSES && worst[i].sum; i++) {
		buffer_text(ret, join);
		gap_words(worst[i].sum, ret);
		buffer_text(ret, " ");
		rule_time(ret, worst[i].ns);
		join = " · ";
	}
	if (worst[0].sum)
		buffer_text(ret, ")");
}

/* Of the run: graphs that take less are not worth another recording. */
enum { GRAPHS_PERCENT = 5 };

const char *const device_share_names[DEVICE_SHARES] = {"kernels", "copies", "graphs", "idle"};

void summary_device_shares(const struct report_context *c, const struct gaps *g, bool has_ranges,
			   struct device_shares *ret)
{
	struct device_kinds kinds = {0};
	uint64_t busy = 0, wall = 0;

	*ret = (struct device_shares){0};
	for (size_t i = 0; i < g->device_count; i++) {
		busy += g->devices[i].busy_ns;
		wall += g->devices[i].wall_ns;
	}
	for (size_t i = 0; has_ranges && i < g->sum_count; i++)
		if (is_unrecorded(&g->sums[i]))
			wall -= g->sums[i].total_ns;
	ret->wall_ns = wall > busy ? wall : busy;
	if (!ret->wall_ns)
		return;
	device_scan(&(struct scan){.context = c, .more = &kinds}, device_visit, NULL);
	ret->ns[DEVICE_KERNELS] = kinds.ns[TF_DEVICE_KERNEL];
	ret->ns[DEVICE_COPIES] = kinds.ns[TF_DEVICE_COPY] + kinds.ns[TF_DEVICE_SET];
	ret->ns[DEVICE_GRAPHS] = kinds.ns[TF_DEVICE_GRAPH];
	/* Operations overlap: each has its share of the time in which the device was busy. */
	for (size_t i = 0; i < DEVICE_IDLE; i++)
		ret->ns[i] = kinds.all ? (uint64_t)((double)busy * (double)ret->ns[i] / (double)kinds.all) : 0;
	ret->ns[DEVICE_IDLE] = ret->wall_ns - busy;
}

void summary_devices(const struct report_context *c, const struct gaps *g, bool has_ranges, struct buffer *ret)
{
	struct device_shares shares;

	summary_device_shares(c, g, has_ranges, &shares);
	if (!shares.wall_ns)
		return;
	buffer_print(ret, "%-*s ", SUMMARY_LABEL, "GPU");
	for (size_t i = 0; i < DEVICE_SHARES; i++)
		if (shares.ns[i] || i == DEVICE_IDLE)
			buffer_print(ret, "%s %.1f %%%s", device_share_names[i],
				     100 * (double)shares.ns[i] / (double)shares.wall_ns,
				     i == DEVICE_IDLE ? "" : " · ");
	if (g->device_count > 1)
		buffer_print(ret, " of %zu pairs of process and device", g->device_count);
	idle_causes(g, has_ranges, ret);
	buffer_text(ret, "\n");
	if (shares.ns[DEVICE_GRAPHS] * 100 >= shares.wall_ns * GRAPHS_PERCENT)
		buffer_print(ret, "%-*s recorded as a whole: --cuda-graph-trace=node shows kernels and lines\n",
			     SUMMARY_LABEL, "graphs");
}

static void untimed_line(const char *text, size_t count, struct buffer *ret)
{
	buffer_print(ret, "%-*s %s", SUMMARY_LABEL, "GPU", text);
	if (count > 1)
		buffer_print(ret, " (%zu processes)", count);
	buffer_text(ret, "\n");
}

void summary_untimed(const struct report_context *c, struct buffer *ret)
{
	const struct model *m = c->model;
	const char *first = NULL;
	size_t notes = 0, images = 0;
	uint64_t calls = 0;
	struct buffer text = {0};

	for (size_t i = 0; i < m->note_count; i++)
		if (m->notes[i].code == NOTE_NO_DEVICE_TIMES && !notes++)
			first = m->notes[i].text;
	for (size_t i = 0; i < m->image_count; i++) {
		uint64_t more = untimed_calls(c, &m->images[i]);

		images += more != 0;
		calls += more;
	}
	if (notes)
		untimed_line(first, notes, ret);
	if (images) {
		buffer_text(&text, TF_NOTE_NO_DEVICE_TIMES);
		untimed_text(calls, &text);
		untimed_line(text.data, images, ret);
		buffer_done(&text);
	}
}
