/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/output/envelope.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report/base/table/json_writer.h"
#include "report/verbs/output/destination.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

/* Of a bounded answer at most. */
enum { MESSAGES = 20 };

#define SCHEMA "pillion-envelope-1"

static struct {
	bool is_open, has_verdict;
	const char *verb, *hint;
	char *const *captures;
	size_t capture_count;
	struct texts messages, tables; /* tables: whose columns are in `keys` */
	struct buffer rows, keys; /* the elements of the array, the members of the object */
	struct buffer reason, ledger, next;
	size_t shown, of; /* rows */
	size_t bytes;	  /* of rows at most; 0: any */
	enum verdict verdict;
} envelope;

void envelope_begin(const char *verb, const char *hint)
{
	envelope.is_open = true;
	envelope.verb = verb;
	envelope.hint = hint;
}

bool envelope_is_open(void)
{
	return envelope.is_open;
}

void envelope_settings(char *const *captures, size_t count, size_t bytes)
{
	envelope.bytes = bytes;
	envelope.captures = captures;
	envelope.capture_count = count;
}

void envelope_message(const char *text)
{
	texts_add(&envelope.messages, "%s", text);
}

/* ---- rows ---- */

/* The columns that tell rows apart: names and ids. */
static void add_keys(const char *name, const struct table *t)
{
	struct json_writer w = {.to = &envelope.keys, .has_value = envelope.keys.size};

	for (size_t i = 0; i < envelope.tables.count; i++)
		if (!strcmp(envelope.tables.items[i], name))
			return;
	texts_add(&envelope.tables, "%s", name);
	json_name(&w, name);
	json_begin(&w, '[');
	for (size_t i = 0; i < t->column_count; i++)
		if (t->columns[i].type == COLUMN_TEXT || t->columns[i].type == COLUMN_ID)
			json_string(&w, t->columns[i].title);
	json_end(&w, ']');
}

void envelope_table(const char *name, const struct table *t, size_t rows)
{
	const struct emit e = {.format = FORMAT_JSON};
	struct buffer *b = &envelope.rows;
	struct json_writer w = {.to = b, .has_value = b->size};

	add_keys(name, t);
	envelope.of += table_rows(t);
	for (size_t i = 0; i < rows * t->column_count; i++) {
		size_t column = i % t->column_count;

		if (!column) {
			if (envelope.bytes && b->size >= envelope.bytes)
				return;
			envelope.shown++;
			json_space(&w, "\n ");
			json_begin(&w, '{');
			json_member_string(&w, "table", name);
		}
		json_name(&w, t->columns[column].title);
		emit_cell(b, &e, t, i, UNIT_NS);
		w.has_value = true;
		if (column + 1 == t->column_count)
			json_end(&w, '}');
	}
}

void envelope_text(const char *name, const char *text)
{
	SCOPED(table) t = {0};

	table_has(&t, COL_LINE_NUMBER, COL_TEXT);
	for (size_t line = 1; *text; line++) {
		size_t length = strcspn(text, "\n");

		table_number(&t, line);
		table_text_part(&t, text, length);
		text += length + (text[length] == '\n');
	}
	envelope_table(name, &t, table_rows(&t));
}

void envelope_file(const char *path)
{
	SCOPED(table) t = {0};
	struct stat s;
	bool is_file = !stat(path, &s) && S_ISREG(s.st_mode);

	table_has(&t, COL_PATH, COL_BYTES);
	table_cells(&t, path, cell_if(is_file, is_file ? (uint64_t)s.st_size : 0));
	envelope_table("written", &t, 1);
}

/* ---- what is beside them ---- */

void envelope_verdict(enum verdict verdict, const char *reason)
{
	if (!envelope.is_open)
		return;
	envelope.has_verdict = true;
	envelope.verdict = verdict;
	buffer_clear(&envelope.reason);
	buffer_text(&envelope.reason, reason);
}

void envelope_ledger(const char *text)
{
	if (!envelope.is_open)
		return;
	buffer_clear(&envelope.ledger);
	buffer_text(&envelope.ledger, text);
}

void envelope_next(const char *command)
{
	if (!envelope.is_open)
		return;
	buffer_clear(&envelope.next);
	buffer_text(&envelope.next, command);
}

static void decide(int status)
{
	if (envelope.has_verdict)
		return;
	envelope.verdict = envelope.shown ? VERDICT_FOUND : status ? VERDICT_UNCHECKED : VERDICT_CLEAN;
	if (envelope.verdict == VERDICT_FOUND)
		buffer_print(&envelope.reason, "%zu row%s", envelope.of, envelope.of == 1 ? "" : "s");
	else if (envelope.messages.count)
		buffer_text(&envelope.reason, envelope.messages.items[0]);
	else
		buffer_text(&envelope.reason, "no rows");
}

/* A member on a line of its own, whose value follows. */
static void add_name(struct json_writer *w, const char *name)
{
	json_space(w, "\n");
	json_name(w, name);
}

static void add_text(struct json_writer *w, const char *name, const char *text)
{
	add_name(w, name);
	json_string(w, text);
}

static void add_texts(struct json_writer *w, const char *name, char *const *texts, size_t count)
{
	size_t most = envelope.bytes && count > MESSAGES ? MESSAGES : count;

	add_name(w, name);
	json_begin(w, '[');
	for (size_t i = 0; i < most; i++)
		json_string(w, texts[i]);
	if (most < count) {
		SCOPED(buffer) more = {0};

		buffer_print(&more, "and %zu more", count - most);
		json_string(w, more.data);
	}
	json_end(w, ']');
}

static void add_error(struct json_writer *w)
{
	add_text(w, "error", envelope.messages.count ? envelope.messages.items[0] : "failed");
	add_text(w, "hint", envelope.hint);
	if (envelope.messages.count > 1)
		add_texts(w, "messages", envelope.messages.items + 1, envelope.messages.count - 1);
}

static void add_rows(struct json_writer *w)
{
	add_name(w, "rows");
	json_begin(w, '[');
	json_ready(w, buffer_string(&envelope.rows));
	json_end(w, ']');
	add_name(w, "row_key");
	json_begin(w, '{');
	json_ready(w, buffer_string(&envelope.keys));
	json_end(w, '}');
}

static void add_truncated(struct json_writer *w)
{
	add_name(w, "truncated");
	if (envelope.shown >= envelope.of) {
		json_null(w);
		return;
	}
	json_begin(w, '{');
	json_member_number(w, "shown", envelope.shown);
	json_member_number(w, "of", envelope.of);
	json_end(w, '}');
}

static void add_answer(struct json_writer *w, int status)
{
	static const char *const verdicts[] = {"clean", "found", "could_not_check"};

	decide(status);
	if (envelope.shown < envelope.of && !envelope.next.size)
		envelope_next("the same with a larger --top, or of a part of the run: --filter-time, --filter-nvtx");
	add_text(w, "verdict", verdicts[envelope.verdict]);
	add_text(w, "reason", buffer_string(&envelope.reason));
	add_rows(w);
	add_texts(w, "capture", envelope.captures, envelope.capture_count);
	add_text(w, "ledger", envelope.ledger.size ? envelope.ledger.data : NULL);
	add_truncated(w);
	add_text(w, "next", envelope.next.size ? envelope.next.data : NULL);
	add_texts(w, "messages", envelope.messages.items, envelope.messages.count);
}

static int print_to(const char *path, const struct buffer *text)
{
	FILE *file = path ? private_file(path) : stdout;
	int code = 0;

	if (!file || fwrite(text->data, 1, text->size, file) != text->size || fflush(file))
		code = errno ? errno : EIO;
	if (file && path && fclose(file) && !code)
		code = errno;
	if (code)
		fprintf(stderr, "pillion: %s: %s\n", path ? path : "standard output", strerror(code));
	return code;
}

int envelope_end(int status, const char *path)
{
	SCOPED(buffer) b = {0};
	struct json_writer w = {.to = &b};

	json_begin(&w, '{');
	json_member_string(&w, "schema", SCHEMA);
	json_member_string(&w, "version", PILLION_VERSION);
	add_text(&w, "verb", envelope.verb);
	add_name(&w, "status");
	json_signed(&w, status);
	if (status == 2 && !envelope.has_verdict && !envelope.shown)
		add_error(&w);
	else
		add_answer(&w, status);
	json_end(&w, '}');
	buffer_text(&b, "\n");
	if (print_to(path, &b))
		status = 2;
	envelope.is_open = false;
	return status;
}

void envelope_abandon(void)
{
	fputs("{\"schema\":\"" SCHEMA "\",\"version\":\"" PILLION_VERSION "\",\"verb\":null,\"status\":2,"
	      "\"error\":\"out of memory\",\"hint\":\"use --filter-time or --top\"}\n",
	      stdout);
	fflush(stdout);
}
