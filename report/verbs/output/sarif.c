/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/sarif.h"

#include <string.h>

#include "report/base/table/json_writer.h"
#include "report/base/text.h"
#include "report/names/frame.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

static void add_uri(struct json_writer *w, const char *file)
{
	const char *path = text_path(file);
	struct buffer uri = {0};

	buffer_text(&uri, *path == '/' ? "file://" : "");
	for (const char *c = path; *c; c++) {
		bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
				strchr("/._~-", *c);

		if (is_plain)
			buffer_add(&uri, c, 1);
		else
			buffer_print(&uri, "%%%02X", (unsigned char)*c);
	}
	json_member_string(w, "uri", uri.data);
	buffer_done(&uri);
}

static void add_location(struct json_writer *w, const struct buffer *line)
{
	struct frame frame;

	frame_split(buffer_string(line), &frame);
	json_name(w, "locations");
	json_begin(w, '[');
	if (frame.file && frame.line) {
		json_begin(w, '{');
		json_name(w, "physicalLocation");
		json_begin(w, '{');
		json_name(w, "artifactLocation");
		json_begin(w, '{');
		add_uri(w, frame.file);
		json_end(w, '}');
		json_name(w, "region");
		json_begin(w, '{');
		json_member_number(w, "startLine", frame.line);
		json_end(w, '}');
		json_end(w, '}');
		json_end(w, '}');
	}
	json_end(w, ']');
	frame_done(&frame);
}

static void add_result(struct json_writer *w, const char *rule, const char *level, const struct buffer *text,
		       const struct buffer *line, const char *advice, uint64_t saves_ns)
{
	struct buffer message = {0};

	buffer_print(&message, "%s.%s%s", buffer_string(text), advice ? " " : "", advice ? advice : "");
	json_begin(w, '{');
	json_member_string(w, "ruleId", rule);
	json_member_string(w, "level", level);
	json_name(w, "message");
	json_begin(w, '{');
	json_member_string(w, "text", message.data);
	json_end(w, '}');
	add_location(w, line);
	json_name(w, "properties");
	json_begin(w, '{');
	json_member_number(w, "savesNs", saves_ns);
	json_end(w, '}');
	json_end(w, '}');
	json_space(w, "\n");
	buffer_done(&message);
}

static void add_rules(struct json_writer *w)
{
	json_name(w, "rules");
	json_begin(w, '[');
	for (size_t i = 0; i < rule_count; i++) {
		json_begin(w, '{');
		json_member_string(w, "id", rule_list[i].name);
		json_name(w, "shortDescription");
		json_begin(w, '{');
		json_member_string(w, "text", rule_list[i].title);
		json_end(w, '}');
		json_end(w, '}');
	}
	json_end(w, ']');
}

static bool is_cause(const struct answer *a, const struct finding *f)
{
	for (size_t i = 0; i < a->first.count; i++)
		if (a->first.items[i].finding == f)
			return true;
	return false;
}

void sarif_write(const struct answer *a, struct buffer *ret)
{
	struct json_writer w = {.to = ret};

	json_begin(&w, '{');
	json_member_string(&w, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	json_member_string(&w, "version", "2.1.0");
	json_name(&w, "runs");
	json_begin(&w, '[');
	json_begin(&w, '{');
	json_name(&w, "tool");
	json_begin(&w, '{');
	json_name(&w, "driver");
	json_begin(&w, '{');
	json_member_string(&w, "name", "pillion");
	json_member_string(&w, "version", PILLION_VERSION);
	add_rules(&w);
	json_end(&w, '}');
	json_end(&w, '}');
	json_name(&w, "results");
	json_begin(&w, '[');
	for (size_t i = 0; i < a->found_count; i++) {
		const struct finding *f = &a->found[i];

		if (finding_is_end(f))
			add_result(&w, f->rule->name, "error", &f->text, &f->line, f->rule->advice, 0);
	}
	for (size_t i = 0; i < a->first.count; i++) {
		const struct fix_first_cause *c = &a->first.items[i];

		add_result(&w, c->rule, c->is_bound ? "note" : "warning", &c->text, &c->line,
			   c->finding ? c->finding->rule->advice : NULL, c->saves.saved_ns);
	}
	for (size_t i = 0; i < a->found_count; i++) {
		const struct finding *f = &a->found[i];

		if (f->verdict == VERDICT_FOUND && !finding_is_end(f) && !is_cause(a, f))
			add_result(&w, f->rule->name, "note", &f->text, &f->line, f->rule->advice, f->saves.saved_ns);
	}
	json_end(&w, ']');
	json_end(&w, '}');
	json_end(&w, ']');
	json_end(&w, '}');
	buffer_text(ret, "\n");
}
