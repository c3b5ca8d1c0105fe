/* SPDX-License-Identifier: Apache-2.0 */
#include "report/envelope.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/base/text.h"
#include "report/destination.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

/* Of a bounded answer at most. */
enum { MESSAGES = 20 };

#define SCHEMA "pillion-envelope-1"
#define HEAD "{\"schema\":\"" SCHEMA "\",\"version\":\"" PILLION_VERSION "\""

static struct {
	bool is_open, has_verdict;
	const char *verb, *hint;
	char *const *captures;
	size_t capture_count;
	struct texts messages;
	struct buffer rows, keys, reason, ledger, next;
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
	struct buffer *b = &envelope.keys, quoted = {0};
	size_t count = 0;
	bool is_known;

	json_add(&quoted, name);
	buffer_text(&quoted, ":[");
	is_known = b->size && strstr(b->data, quoted.data);
	if (!is_known)
		buffer_print(b, "%s%s", b->size ? "," : "", quoted.data);
	buffer_done(&quoted);
	if (is_known)
		return;
	for (size_t i = 0; i < t->column_count; i++) {
		if (t->columns[i].type != COLUMN_TEXT && t->columns[i].type != COLUMN_ID)
			continue;
		buffer_text(b, count++ ? "," : "");
		json_add(b, t->columns[i].title);
	}
	buffer_text(b, "]");
}

void envelope_table(const char *name, const struct table *t, size_t rows)
{
	const struct emit e = {.format = FORMAT_JSON};
	struct buffer *b = &envelope.rows;

	add_keys(name, t);
	envelope.of += table_rows(t);
	for (size_t i = 0; i < rows * t->column_count; i++) {
		size_t column = i % t->column_count;

		if (!column) {
			if (envelope.bytes && b->size >= envelope.bytes)
				return;
			envelope.shown++;
			buffer_text(b, b->size ? ",\n {\"table\":" : "\n {\"table\":");
			json_add(b, name);
		}
		buffer_text(b, ",");
		json_add(b, t->columns[column].title);
		buffer_text(b, ":");
		emit_cell(b, &e, t, i, UNIT_NS);
		if (column + 1 == t->column_count)
			buffer_text(b, "}");
	}
}

void envelope_text(const char *name, const char *text)
{
	struct table t = {0};

	table_has(&t, COL_LINE_NUMBER, COL_TEXT);
	for (size_t line = 1; *text; line++) {
		size_t length = strcspn(text, "\n");

		table_number(&t, line);
		table_text_part(&t, text, length);
		text += length + (text[length] == '\n');
	}
	envelope_table(name, &t, table_rows(&t));
	table_done(&t);
}

void envelope_file(const char *path)
{
	struct table t = {0};
	struct stat s;
	bool is_file = !stat(path, &s) && S_ISREG(s.st_mode);

	table_has(&t, COL_PATH, COL_BYTES);
	table_text(&t, path);
	table_number_if(&t, is_file, is_file ? (uint64_t)s.st_size : 0);
	envelope_table("written", &t, 1);
	table_done(&t);
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

static void add_text(struct buffer *b, const char *name, const char *text)
{
	buffer_print(b, ",\n\"%s\":", name);
	if (text)
		json_add(b, text);
	else
		buffer_text(b, "null");
}

static void add_texts(struct buffer *b, const char *name, char *const *texts, size_t count)
{
	size_t most = envelope.bytes && count > MESSAGES ? MESSAGES : count;

	buffer_print(b, ",\n\"%s\":[", name);
	for (size_t i = 0; i < most; i++) {
		buffer_text(b, i ? "," : "");
		json_add(b, texts[i]);
	}
	if (most < count)
		buffer_print(b, ",\"and %zu more\"", count - most);
	buffer_text(b, "]");
}

static void add_error(struct buffer *b)
{
	add_text(b, "error", envelope.messages.count ? envelope.messages.items[0] : "failed");
	add_text(b, "hint", envelope.hint);
	if (envelope.messages.count > 1)
		add_texts(b, "messages", envelope.messages.items + 1, envelope.messages.count - 1);
}

static void add_answer(struct buffer *b, int status)
{
	static const char *const verdicts[] = {"clean", "found", "could_not_check"};

	decide(status);
	if (envelope.shown < envelope.of && !envelope.next.size)
		envelope_next("the same with a larger --top, or of a part of the run: --filter-time, --filter-nvtx");
	add_text(b, "verdict", verdicts[envelope.verdict]);
	add_text(b, "reason", buffer_string(&envelope.reason));
	buffer_print(b, ",\n\"rows\":[%s", buffer_string(&envelope.rows));
	buffer_print(b, "]");
	buffer_print(b, ",\n\"row_key\":{%s}", buffer_string(&envelope.keys));
	add_texts(b, "capture", envelope.captures, envelope.capture_count);
	add_text(b, "ledger", envelope.ledger.size ? envelope.ledger.data : NULL);
	if (envelope.shown < envelope.of)
		buffer_print(b, ",\n\"truncated\":{\"shown\":%zu,\"of\":%zu}", envelope.shown, envelope.of);
	else
		buffer_text(b, ",\n\"truncated\":null");
	add_text(b, "next", envelope.next.size ? envelope.next.data : NULL);
	add_texts(b, "messages", envelope.messages.items, envelope.messages.count);
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

static void envelope_done(void)
{
	texts_done(&envelope.messages);
	buffer_done(&envelope.rows);
	buffer_done(&envelope.keys);
	buffer_done(&envelope.reason);
	buffer_done(&envelope.ledger);
	buffer_done(&envelope.next);
	envelope.is_open = false;
}

int envelope_end(int status, const char *path)
{
	struct buffer b = {0};

	buffer_text(&b, HEAD);
	add_text(&b, "verb", envelope.verb);
	buffer_print(&b, ",\n\"status\":%d", status);
	if (status == 2 && !envelope.has_verdict && !envelope.shown)
		add_error(&b);
	else
		add_answer(&b, status);
	buffer_text(&b, "}\n");
	if (print_to(path, &b))
		status = 2;
	buffer_done(&b);
	envelope_done();
	return status;
}

void envelope_abandon(void)
{
	fputs(HEAD ",\"verb\":null,\"status\":2,\"error\":\"out of memory\",\"hint\":\"use --filter-time or --top\"}\n",
	      stdout);
	fflush(stdout);
}
