/* SPDX-License-Identifier: Apache-2.0 */
/* critical: what the end of the run waited for, back to its start. */
#include "report/derive/causes/path.h"
#include "report/derive/events/filter.h"
#include "report/verb.h"

static int run_critical(const struct command_line *l)
{
	struct table table = {0};
	struct causality *s;
	struct path path;
	struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	emit_begin(&w.emit);
	s = causes_find(&w.context);
	if (s) {
		path_find(s, 0, UINT64_MAX, &path);
		path_table(&path, &table);
		path_done(&path);
		work_table(&w, "critical", "Critical Path", &table);
	} else {
		say("nothing was recorded");
		w.status = EXIT_INCOMPLETE;
	}
	causes_free(s);
	table_done(&table);
	work_ledger(&w);
	emit_end(&w.emit);
	return work_end(&w);
}

const struct verb verb_critical = {
	"critical", "[OPTION]... [CAPTURE]...", "what the end of the run waited for, back to its start", VERB_CRITICAL,
	run_critical, NULL, NULL,
};
