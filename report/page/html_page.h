/* SPDX-License-Identifier: Apache-2.0 */
/* The pages, generated from html/ by join.py. */
#pragma once

#include "report/base/table/sink.h"

/* A page in parts: up to the title, to the second title, to the plain-text summary, to the data, to the end. */
enum { HTML_PARTS = 5 };
extern const char *const html_parts[HTML_PARTS];      /* of export -t html */
extern const char *const html_diff_parts[HTML_PARTS]; /* of diff -f html */

/* Writes the page up to the data. Browsers show the summary if they run no script. */
void html_page_begin(struct sink *out, const char *const *parts, const char *title, const char *summary);
void html_page_end(struct sink *out, const char *const *parts);
