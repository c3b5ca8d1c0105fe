/* SPDX-License-Identifier: Apache-2.0 */
/* html: the changes between captures in one self-contained page. The page is in report/page/view/, from diff.html. */
#include "report/page/html_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit.h"
#include "report/page/export_html.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

/* Rows of the table in a browser that runs no script. */
enum { PLAIN_ROWS = 30 };

struct diff_page {
	struct html html; /* only its strings */
	struct html_json captures;
	struct buffer title;
	size_t count, of_side;
	bool has_after;
};

struct diff_page *diff_page_new(void)
{
	struct diff_page *p = mem_alloc(sizeof(*p));

	p->captures.html = &p->html;
	return p;
}

void diff_page_free(struct diff_page *p)
{
	if (!p)
		return;
	html_done(&p->html);
	buffer_done(&p->captures.text);
	buffer_done(&p->title);
	free(p);
}

void diff_page_capture(struct diff_page *p, const struct report_context *context, const char *name, bool is_after)
{
	struct buffer *text = &p->captures.text;
	const char *separator = "";

	if (!p->count || is_after != p->has_after)
		p->of_side = 0;
	if (p->of_side < 2)
		buffer_print(&p->title, "%s%s", p->of_side ? ", " : p->count ? " \342\206\222 " : "",
			     p->of_side ? "\342\200\246" : name);
	p->of_side++;
	p->has_after = is_after;
	buffer_print(text, "%s{\"isAfter\":%s,\"name\":", p->count++ ? "," : "", is_after ? "true" : "false");
	json_add(text, name);
	buffer_text(text, ",\"profiles\":[");
	for (int metric = 0; metric < METRIC_COUNT; metric++) {
		SCOPED(profile) profile = {0};
		struct err err;

		if (!profile_make(context, (enum metric)metric, &profile, &err) && profile.aggregate.count) {
			buffer_text(text, separator);
			html_json_profile(&p->captures, &profile);
			separator = ",";
		}
	}
	buffer_text(text, "]}");
}

static void add_real(struct buffer *b, const char *name, double value)
{
	if (isfinite(value))
		buffer_print(b, ",\"%s\":%.9g", name, value);
	else
		buffer_print(b, ",\"%s\":null", name);
}

static void add_judgement(struct buffer *b, const struct diff *d)
{
	const struct judgement *j = &d->judgement;
	SCOPED(buffer) reason = {0};

	diff_reason(d, &reason);
	buffer_print(b, "{\"version\":\"" PILLION_VERSION "\",\"verdict\":\"%s\",\"reason\":",
		     diff_verdicts[j->verdict]);
	json_add(b, buffer_string(&reason));
	buffer_print(b, ",\"by\":\"%s\",\"compared\":%zu,\"isPair\":%s", diff_by_names[d->by], j->compared,
		     j->is_pair ? "true" : "false");
	add_real(b, "gate", d->gate);
	add_real(b, "before", j->before);
	add_real(b, "after", j->after);
	add_real(b, "change", expm1(j->change));
	add_real(b, "noise", expm1(j->noise));
	add_real(b, "common", expm1(j->common));
	add_real(b, "explained", j->explained);
}

/* Strings are last, because the table adds some. */
static void add_page_data(struct diff_page *p, const struct diff *d, const char *title, const struct table *table)
{
	struct html_json j = {.html = &p->html};

	add_judgement(&j.text, d);
	buffer_text(&j.text, ",\"table\":");
	html_json_table(&j, "diff", title, false, table);
	buffer_text(&j.text, ",\"captures\":[");
	pack_take(p->html.pack, &j.text);
	pack_take(p->html.pack, &p->captures.text);
	buffer_text(&j.text, "],\"strings\":[");
	html_json_texts(&j, &p->html.strings, false);
	buffer_text(&j.text, "]}");
	pack_take(p->html.pack, &j.text);
	buffer_done(&j.text);
}

/* The verdict and the first rows as text. */
static void plain_text(const struct diff *d, const char *title, const struct table *table, struct buffer *ret)
{
	SCOPED_MEMORY char *text = NULL;
	size_t size;
	struct emit emit = {.file = open_memstream(&text, &size), .rows = PLAIN_ROWS};

	diff_reason(d, ret);
	buffer_text(ret, "\n");
	if (!emit.file)
		return;
	emit_begin(&emit);
	emit_table(&emit, "diff", title, table);
	emit_end(&emit);
	if (!fclose(emit.file))
		buffer_text(ret, text);
}

int diff_page_write(struct diff_page *p, const struct diff *d, const char *title, int fd, struct err *err)
{
	SCOPED(buffer) plain = {0};
	SCOPED(table) table = {0};
	struct sink sink;
	int code = sink_open(&sink, fd, false, err), failed;

	if (code)
		return code;
	diff_table(d, &table);
	plain_text(d, title, &table, &plain);
	html_page_begin(&sink, html_diff_parts, buffer_string(&p->title), buffer_string(&plain));
	p->html.pack = pack_begin(&sink, "model", PACK_SMALL);
	if (p->html.pack) {
		add_page_data(p, d, title, &table);
		pack_end(p->html.pack);
	} else {
		code = err_set(err, -ENOMEM, "zlib: cannot start");
	}
	html_page_end(&sink, html_diff_parts);
	failed = sink_close(&sink);
	return code ?: failed ? err_set(err, failed, "%s", strerror(-failed)) : 0;
}
