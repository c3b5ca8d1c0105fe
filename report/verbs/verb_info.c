/* SPDX-License-Identifier: Apache-2.0 */
/* info: calls in progress, processes, batch jobs, settings, the ledger. */
#include <string.h>

#include "report/verbs/verb.h"

/* Most runs are not in a batch job and do not crash, and then there is no line about it. */
static bool is_optional(const struct report *r)
{
	return !strcmp(r->name, "jobs") || !strcmp(r->name, "crashes");
}

static int run_info(const struct command_line *l)
{
	static const char *const parts[] = {"crashes", "calls_in_progress", "processes", "jobs",
					    "settings", "not_recorded", "ledger"};
	static struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	w.emit.is_list = true;
	emit_begin(&w.emit);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct report *r = report_find(parts[i]);
		SCOPED(table) table = {0};
		SCOPED(buffer) text = {0};

		r->run(&w.context, &table);
		progress_clear();
		buffer_print(&text, "** %s: none", r->title);
		if (table_rows(&table) || (!format_is_human(l->format) && !is_optional(r)))
			work_table(&w, r->name, r->title, &table);
		else if (!is_optional(r))
			emit_remark(&w.emit, text.data);
	}
	emit_end(&w.emit);
	return work_end(&w);
}

const struct verb verb_info = {
	"info", "[OPTION]... [CAPTURE]...", "calls in progress, processes, settings, the ledger", VERB_INFO, run_info,
	NULL,
};
