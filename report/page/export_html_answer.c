/* SPDX-License-Identifier: Apache-2.0 */
/* What the page opens with: the tables of the answer, the findings, the text of the sources, and what is folded. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/source.h"
#include "report/page/export_html.h"

/* Maximum of files, and of bytes of all their texts. */
enum { SOURCES = 40, SOURCES_BYTES = 2 << 20 };

/* ---- what is folded ---- */

static void find_folded(struct html *h)
{
	const struct job_time *time = rules_time(&h->answer.rules);

	for (size_t i = 0; i < time->partition.count; i++) {
		const struct thread_time *t = &time->partition.threads[i];

		*map_put(&h->busy, t->process, t->tid, NULL) |= 1 | (time->roles.role_of[i] ? 2 : 0);
	}
}

void html_answer_begin(struct html *h)
{
	answer_whole(h->x->context, &h->answer);
	find_folded(h);
}

void html_answer_end(struct html *h)
{
	answer_done(&h->answer);
	map_done(&h->busy);
}

/* What the partition of time does not have is not folded. */
bool html_is_idle(const struct html *h, uint32_t process, uint32_t tid)
{
	const uint64_t *known = map_find(&h->busy, process, tid);

	return known && *known == 1;
}

bool html_is_shim(struct html *h, size_t process)
{
	return rules_time(&h->answer.rules)->roles.is_shim[process];
}

/* ---- its tables ---- */

static void fill_critical(struct answer *a, struct table *t)
{
	struct causality *causes = costs_causes(a->costs);
	SCOPED(path) path = {0};

	if (!causes)
		return;
	path_find(causes, UINT64_MAX, &path);
	path_table(&path, t);
}

void html_critical(struct html *h)
{
	struct causality *causes = costs_causes(h->answer.costs);
	SCOPED_MEMORY struct path_slice *slices = NULL;
	size_t count = causes && h->model->image_count ? path_slices(causes, &slices) : 0;

	h->image = h->model->images;
	for (size_t i = 0; i < count; i++) {
		struct html_event e = {.start = (int64_t)slices[i].start_ns,
				       .duration = slices[i].end_ns - slices[i].start_ns};
		SCOPED(buffer) words = {0};

		if (e.duration < h->least_ns)
			continue;
		path_slice_words(causes, &slices[i], &words);
		e.name = html_name(h, HTML_CRITICAL, words.data);
		html_add(h, html_process_track(h, HTML_PATH, 0, "critical path"), &e);
	}
	html_flush(h);
}

void html_json_answer(struct html_json *j)
{
	static const enum answer_table which[] = {ANSWER_RUN, ANSWER_ENDED, ANSWER_FIX_FIRST, ANSWER_ROLES,
						  ANSWER_CALLS};
	SCOPED(table) critical = {0};

	for (size_t i = 0; i < sizeof(which) / sizeof(*which); i++) {
		const struct answer_table_names *names = &answer_table_names[which[i]];
		SCOPED(table) table = {0};

		answer_table(&j->html->answer, which[i], &table);
		buffer_print(&j->text, "\"%s\":", names->name);
		html_json_table(j, names->name, names->title, true, &table);
		buffer_text(&j->text, ",");
	}
	fill_critical(&j->html->answer, &critical);
	buffer_text(&j->text, "\"critical\":");
	html_json_table(j, "critical", "Critical Path", true, &critical);
}

/* For browsers that run no script. */
void html_answer_text(struct html *h, struct buffer *ret)
{
	const struct roles *r = &rules_time(&h->answer.rules)->roles;
	size_t processes = h->model->process_count - r->shims;

	buffer_print(ret, "%.*f %s, %zu process%s\n", r->run_ns < 1000000000 ? 0 : 2,
		     (double)r->run_ns / (r->run_ns < 1000000000 ? 1e6 : 1e9), r->run_ns < 1000000000 ? "ms" : "s",
		     processes, processes == 1 ? "" : "es");
	if (h->answer.first.count)
		buffer_print(ret, "FIX FIRST  %s\n", h->answer.first.items->text.data);
	buffer_text(ret, "pillion stats --summary prints the rest.\n");
}

static void add_finding(struct html_json *j, const struct finding *f)
{
	static const char *const verdicts[] = {"clean", "found", "unchecked"};
	SCOPED(buffer) line = {0};

	buffer_print(&j->text, "{\"rule\":\"%s\",\"verdict\":\"%s\",\"cost\":%" PRIu64 ",\"saves\":%" PRIu64
		     ",\"title\":", f->rule->name, verdicts[f->verdict], f->cost_ns, f->saves.saved_ns);
	json_add(&j->text, f->rule->title);
	buffer_text(&j->text, ",\"advice\":");
	json_add(&j->text, f->rule->advice);
	buffer_text(&j->text, ",\"text\":");
	html_json_string(j, buffer_string(&f->text));
	buffer_text(&j->text, ",\"line\":");
	code_line_text(f->line, &line);
	html_json_string(j, buffer_string(&line));
	buffer_text(&j->text, ",\"table\":");
	html_json_table(j, f->rule->name, f->rule->title, false, &f->table);
	buffer_text(&j->text, "}");
}

void html_json_findings(struct html_json *j)
{
	for (size_t i = 0; i < rule_count; i++) {
		buffer_text(&j->text, i ? "," : "");
		add_finding(j, &j->html->answer.found[i]);
	}
}

/* ---- sources ---- */

/* A page is given to others, and a capture may name any file: only a file that the capture has recorded, and that is
 * what it was then, is in it. */
static bool add_source(struct html_json *j, const char *file, bool is_first, size_t *used)
{
	struct report_context c = *j->html->x->context;
	SCOPED(source) source = {0};
	SCOPED(buffer) line = {0};
	struct err err;
	bool is_shown;

	c.source = file;
	c.source_roots = NULL;
	is_shown = !source_open(&source, &c, file, &err) && *used + source.file.is.size <= SOURCES_BYTES;
	if (is_shown) {
		const char *separator = "";

		*used += source.file.is.size;
		buffer_text(&j->text, is_first ? "{\"file\":" : ",{\"file\":");
		html_json_string(j, file);
		buffer_text(&j->text, ",\"lines\":[");
		while (source_next(&source, &line)) {
			buffer_text(&j->text, separator);
			json_add(&j->text, line.data);
			separator = ",";
		}
		buffer_text(&j->text, "]}");
	}
	return is_shown;
}

void html_json_sources(struct html_json *j)
{
	const struct texts *files = lines_files(j->html->x->context);
	size_t used = 0, count = 0;

	for (size_t i = 0; i < files->count && count < SOURCES; i++)
		count += add_source(j, files->items[i], !count, &used);
}
