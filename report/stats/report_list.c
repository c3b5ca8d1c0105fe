/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stats/report_list.h"

#include <string.h>

#include "report/stats/report.h"

#define ROW(name, alias, title, flags) {#name, alias, title, flags, report_##name},
const struct report report_list[] = {REPORTS(ROW)};
const size_t report_count = sizeof(report_list) / sizeof(*report_list);

bool report_is_in(const struct report *report, const struct model *m)
{
	return !m->has_profile || report->flags & (REPORT_SUMS | REPORT_DUMP);
}

const struct report *report_find(const char *name)
{
	for (size_t i = 0; i < report_count; i++) {
		const struct report *r = &report_list[i];

		if (!strcmp(r->name, name) || (r->alias && !strcmp(r->alias, name)))
			return r;
	}
	return NULL;
}
