/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `diff -f html`: the verdict, the rows, and the stacks of both sides. */
#pragma once

#include "report/answers/diff/diff.h"
#include "report/events/scan.h"

struct diff_page;

/* NULL if this build has no zlib, without which there are no pages. */
struct diff_page *diff_page_new(void);
void diff_page_free(struct diff_page *p);

/* Keeps the stacks of a capture, which is open only now. */
void diff_page_capture(struct diff_page *p, const struct report_context *context, const char *name, bool is_after);

/* `title`: of the table. 0, or -errno. */
int diff_page_write(struct diff_page *p, const struct diff *d, const char *title, int fd, struct err *err);
