/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/live_table.h"

#include <string.h>

#include "report/live/capture_files.h"

/* With what is still in its spool. */
static uint64_t run_bytes(const struct live_run *run)
{
	struct capture_files capture, spool = {0};

	if (!capture_files_read(run->capture, &capture))
		capture.bytes = 0;
	if (strcmp(run->capture, run->directory) != 0)
		capture_files_read(run->directory, &spool);
	return capture.bytes + spool.bytes;
}

void live_table(const struct live_runs *runs, struct table *ret)
{
	table_has(ret, COL_CAPTURE, COL_PID, COL_COMMAND, COL_PROCESSES, COL_RECORDING);
	table_column_as(ret, COL_RANGE, COLUMN_ID);
	table_column_as(ret, COL_SIZE_BYTES, COLUMN_COUNT);
	list_each(const struct live_run, run, runs) {
		uint32_t pid = run->launcher || !run->process_count ? run->launcher : run->processes[0].pid;

		table_cells(ret, run->capture, pid, run->command, run->process_count, run->is_recording ? "yes" : "no",
			    cell_if(run->range, run->range), run_bytes(run));
	}
}
