/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a page around its data. */
#include "report/page/html_page.h"

#include "report/base/text.h"

static void html_escaped(struct sink *out, const char *text)
{
	SCOPED(buffer) safe = {0};

	text_escape(&safe, text, "\n");
	for (const char *p = safe.data; p && *p; p++)
		switch (*p) {
		case '<':
			sink_text(out, "&lt;");
			break;
		case '>':
			sink_text(out, "&gt;");
			break;
		case '&':
			sink_text(out, "&amp;");
			break;
		case '"':
			sink_text(out, "&quot;");
			break;
		default:
			sink_add(out, p, 1);
		}
}

void html_page_begin(struct sink *out, const char *const *parts, const char *title, const char *summary)
{
	for (int i = 0; i < 2; i++) {
		sink_text(out, parts[i]);
		html_escaped(out, title);
	}
	sink_text(out, parts[2]);
	html_escaped(out, summary);
	sink_text(out, parts[3]);
}

void html_page_end(struct sink *out, const char *const *parts)
{
	sink_text(out, parts[4]);
}
