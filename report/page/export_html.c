/* SPDX-License-Identifier: Apache-2.0 */
/* html: the whole report in one self-contained page. The page is in report/page/view/; this file inserts the data. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/page/export_html.h"
#include "report/tables/report.h"
#include "report/tables/run/ledger.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

static const char *title(const struct model *m)
{
	if (m->run_count)
		return m->runs[0].command;
	return m->process_count && m->processes[0].command ? m->processes[0].command : "empty capture";
}

/* ---- the model: JSON, added to the pack in pieces ---- */

static void add_process(struct html_json *j, const struct process *p)
{
	const struct model *m = j->html->model;
	SCOPED(buffer) label = {0};

	process_label(m, p, &label);
	buffer_text(&j->text, "{\"label\":");
	html_json_string(j, label.data);
	buffer_text(&j->text, ",\"command\":");
	html_json_string(j, p->command ? p->command : "?");
	buffer_text(&j->text, ",\"host\":");
	html_json_string(j, m->machines[p->machine].host);
	buffer_text(&j->text, ",\"rank\":");
	html_json_string(j, p->rank);
	buffer_text(&j->text, ",\"ended\":");
	html_json_string(j, p->ended);
	buffer_print(&j->text, ",\"pid\":%" PRIu32 ",\"parent\":%" PRIu32 ",\"start\":%" PRId64 ",\"end\":%" PRId64
		     "%s}", p->pid, p->parent_pid, (int64_t)(p->start_ns - m->origin_ns),
		     (int64_t)(p->end_ns - m->origin_ns),
		     html_is_shim(j->html, (size_t)(p - m->processes)) ? ",\"shim\":true" : "");
	html_json_take(j);
}

static void add_track(struct html_json *j, const struct html_track *t)
{
	static const char *const kinds[] = {"calls", "nvtx", "ranges", "stream", "samples", "counter", "links",
					    "states", "path", "steps", "phases"};

	buffer_print(&j->text, "{\"kind\":\"%s\",\"process\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"label\":%" PRIu32,
		     kinds[t->kind], t->process, t->tid, t->label);
	if (t->kind == HTML_STREAM)
		buffer_print(&j->text, ",\"device\":%" PRIu32, t->group);
	if (t->is_of_machine)
		buffer_print(&j->text, ",\"host\":%" PRIu32, t->group);
	if (t->unit) {
		buffer_text(&j->text, ",\"unit\":");
		json_add(&j->text, t->unit);
	}
	if (t->kind == HTML_LINKS)
		buffer_print(&j->text, ",\"of\":%" PRIu32, t->of);
	if (t->tid && html_is_idle(j->html, t->process, t->tid))
		buffer_text(&j->text, ",\"idle\":true");
	buffer_text(&j->text, "}");
	html_json_take(j);
}

static void add_tables(struct html_json *j)
{
	struct report_context context = *j->html->x->context;
	const char *separator = "";

	context.by = BY_NOTHING;
	array_each(const struct report, r, report_list, report_count) {
		SCOPED(table) table = {0};

		r->run(&context, &table);
		if (table_rows(&table)) {
			buffer_text(&j->text, separator);
			html_json_table(j, r->name, r->title, r->flags & REPORT_HIDDEN, &table);
			separator = ",";
		}
	}
}

/* By the name of a table, its place among the topics. */
static void add_topics(struct html_json *j)
{
	buffer_text(&j->text, "],\"topics\":[");
	for (size_t i = 0; i < REPORT_TOPICS; i++) {
		buffer_text(&j->text, i ? "," : "");
		json_add(&j->text, report_topics[i].title);
	}
	buffer_text(&j->text, "],\"topicOf\":{");
	for (size_t i = 0; i < report_count; i++)
		buffer_print(&j->text, "%s\"%s\":%zu", i ? "," : "", report_list[i].name,
			     report_topic(&report_list[i]));
	buffer_text(&j->text, "}");
}

static void add_profiles(struct html_json *j)
{
	const char *separator = "";

	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		SCOPED(profile) p = {0};
		struct err err;

		if (!profile_make(j->html->x->context, (enum metric)metric, &p, &err) && p.aggregate.count) {
			buffer_text(&j->text, separator);
			html_json_profile(j, &p);
			separator = ",";
		}
	}
}

static void json_add_names(struct html_json *j)
{
	static const struct group_style more[HTML_CATEGORIES] = {
		[HTML_KERNEL] = {"kernel", "Kernel", 212, 70},
		[HTML_COPY] = {"copy", "Copy", 32, 60},
		[HTML_SET] = {"set", "Memset", 14, 40},
		[HTML_GRAPH] = {"graph", "Graph", 236, 44},
		[HTML_MEMORY] = {"memory", "Memory", 338, 40},
		[HTML_SAMPLE] = {"sample", "CPU sample", 30, 50},
		[HTML_WAIT] = {"wait", "Wait", 0, 26},
		[HTML_CRITICAL] = {"critical", "Critical path", 350, 55},
		[HTML_OVERHEAD] = {"overhead", "Overhead", 8, 60},
		[HTML_STEP] = {"step", "Step", 210, 22},
		[HTML_SLOW_STEP] = {"slow", "Slow step", 4, 70},
		[HTML_PHASE + OPERATOR_FORWARD - 1] = {"forward", "Forward", 205, 55},
		[HTML_PHASE + OPERATOR_BACKWARD - 1] = {"backward", "Backward", 265, 45},
		[HTML_PHASE + OPERATOR_UPDATE - 1] = {"optimizer", "Optimizer", 140, 40},
		[HTML_PHASE + OPERATOR_DATA - 1] = {"data", "Data loading", 45, 60},
	};

	buffer_text(&j->text, "\"categories\":[");
	for (int i = 0; i < HTML_CATEGORIES; i++) {
		const struct group_style *style = i < TF_GROUP_COUNT ? &group_styles[i] : &more[i];

		buffer_print(&j->text, "%s{\"name\":\"%s\",\"title\":\"%s\",\"hue\":%d,\"saturation\":%d}",
			     i ? "," : "", style->category, style->title, style->hue, style->saturation);
	}
	buffer_text(&j->text, "],\"names\":[");
	for (size_t i = 0; i < j->html->name_count; i++) {
		buffer_print(&j->text, "%s%" PRIu32 ",%" PRIu32, i ? "," : "", j->html->names[2 * i],
			     j->html->names[2 * i + 1]);
		html_json_take(j);
	}
	buffer_text(&j->text, "]");
}

static void add_left_out(struct html_json *j)
{
	const struct html *h = j->html;
	SCOPED(texts) notes = {0};

	if (h->left_out)
		texts_add(&notes,
			  "The timeline omits %" PRIu64 " of %" PRIu64
			  " events: calls and device operations shorter than %" PRIu64
			  " ns. Tables and flame graphs count them all. --filter-time and --filter-nvtx select "
			  "a part of the capture for a page of its own.",
			  h->left_out, h->left_out + h->event_count, h->least_ns);
	html_json_texts(j, &notes, false);
}

static void add_remarks(struct html_json *j)
{
	SCOPED(buffer) line = {0};
	SCOPED(texts) remarks = {0};
	bool has_devices = array_find(track, j->html->tracks, j->html->track_count, track->kind == HTML_STREAM);

	ledger_line(j->html->model, &line);
	buffer_text(&j->text, ",\"ledger\":");
	json_add(&j->text, buffer_string(&line));
	buffer_clear(&line);
	device_remark(j->html->model, &line);
	if (has_devices)
		texts_add(&remarks, "%s", line.data);
	buffer_text(&j->text, ",\"remarks\":[");
	html_json_texts(j, &remarks, false);
	buffer_text(&j->text, "],\"leftOut\":[");
	add_left_out(j);
	buffer_text(&j->text, "],\"problems\":[");
	html_json_texts(j, &j->html->model->problems, false);
	buffer_text(&j->text, "]");
}

/* Strings are last, because everything before may add some. */
static void add_model(struct html_json *j)
{
	struct html *h = j->html;
	struct recorded recorded = recorded_find(h->model);

	buffer_text(&j->text, "{\"version\":\"" PILLION_VERSION "\",\"title\":");
	html_json_string(j, title(h->model));
	buffer_print(&j->text, ",\"realtime\":%" PRIu64 ",\"events\":%" PRIu64,
		     h->model->origin_ns / 1000000, h->event_count);
	buffer_print(&j->text, ",\"recorded\":{\"ns\":%" PRIu64 ",\"ranges\":%zu},\"processes\":[", recorded.ns,
		     recorded.is_part ? recorded.ranges : 0);
	for (size_t i = 0; i < h->model->process_count; i++) {
		buffer_text(&j->text, i ? "," : "");
		add_process(j, &h->model->processes[i]);
	}
	buffer_text(&j->text, "],\"tracks\":[");
	for (size_t i = 0; i < h->track_count; i++) {
		buffer_text(&j->text, i ? "," : "");
		add_track(j, &h->tracks[i]);
	}
	buffer_text(&j->text, "],");
	json_add_names(j);
	add_remarks(j);
	buffer_text(&j->text, ",\"tables\":[");
	add_tables(j);
	add_topics(j);
	buffer_text(&j->text, ",\"answer\":{");
	html_json_answer(j);
	buffer_text(&j->text, "},\"findings\":[");
	html_json_findings(j);
	buffer_text(&j->text, "],\"sources\":[");
	html_json_sources(j);
	buffer_text(&j->text, "],\"profiles\":[");
	add_profiles(j);
	buffer_text(&j->text, "],\"details\":[");
	html_json_texts(j, &h->details, true);
	buffer_text(&j->text, "],\"strings\":[");
	html_json_texts(j, &h->strings, false);
	buffer_text(&j->text, "]}");
	pack_take(h->pack, &j->text);
	buffer_done(&j->text);
}

/* ---- the page ---- */

static int add_data(struct html *h, struct err *err)
{
	struct html_json json = {.html = h};

	h->pack = pack_begin(h->x->out, "events", PACK_FAST);
	if (h->pack) {
		html_events(h);
		pack_end(h->pack);
		h->pack = pack_begin(h->x->out, "model", PACK_SMALL);
	}
	if (!h->pack)
		return err_set(err, -ENOMEM, "zlib: cannot start");
	add_model(&json);
	pack_end(h->pack);
	return 0;
}

int export_html(struct export *x, struct err *err)
{
	SCOPED(html) h = {.x = x, .model = x->context->model};
	SCOPED(buffer) summary = {0};
	int code;

	html_answer_begin(&h);
	html_answer_text(&h, &summary);
	html_page_begin(x->out, html_parts, title(h.model), buffer_string(&summary));
	code = add_data(&h, err);
	if (!code)
		html_page_end(x->out, html_parts);
	html_answer_end(&h);
	return code;
}
