/* SPDX-License-Identifier: Apache-2.0 */
/* For builds without zlib. */
#include "report/page/html_diff.h"

#include <errno.h>

struct diff_page *diff_page_new(void)
{
	return NULL;
}

void diff_page_free(struct diff_page *p)
{
	(void)p;
}

void diff_page_capture(struct diff_page *p, const struct report_context *context, const char *name, bool is_after)
{
	(void)p;
	(void)context;
	(void)name;
	(void)is_after;
}

int diff_page_write(struct diff_page *p, const struct diff *d, const char *title, int fd, struct err *err)
{
	(void)p;
	(void)d;
	(void)title;
	(void)fd;
	return err_set(err, -ENOTSUP, "this build has no zlib");
}
