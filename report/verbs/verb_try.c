/* SPDX-License-Identifier: Apache-2.0 */
/* try: runs two commands in turn, and judges whether the second one is slower. */
#include <math.h>
#include <stdlib.h>

#include "report/answers/diff/trial.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/output/timed_run.h"
#include "report/verbs/verb.h"

enum { EXIT_SLOWER = 1, EXIT_UNCLEAR = 2 };

static const char *const sides[] = {"A", "B"};

struct trying {
	const struct command_line *line;
	double *times; /* ns, those of A first */
};

/* 0, or the exit status. */
static int run_one(const struct trying *t, int side, double *ret_ns)
{
	char *argv[] = {"/bin/sh", "-c", t->line->captures[side], NULL};
	SCOPED(buffer) failure = {0};
	struct timed_run run;
	struct err err;
	int code = timed_run(argv, false, &run, &err);

	if (code) {
		say("%s", err.text);
		return EXIT_UNCLEAR;
	}
	*ret_ns = (double)run.ns;
	if (!run.status)
		return 0;
	timed_run_failure(run.status, &failure);
	say("cannot judge: %s %s: %s", sides[side], buffer_string(&failure), t->line->captures[side]);
	return EXIT_UNCLEAR;
}

/* A B, B A, A B, ...: what changes steadily, such as the temperature of the machine, concerns both alike. The first
 * round, which fills caches, does not count. */
static int run_all(struct trying *t)
{
	const uint32_t runs = t->line->runs;
	double warm_up;
	int status = 0;

	progress_begin("running", 2 * (uint64_t)(runs + 1));
	for (uint32_t round = 0; round <= runs && !status; round++)
		for (int i = 0; i < 2 && !status; i++) {
			int side = (int)(round % 2) ^ i;

			status = run_one(t, side,
					 round ? &t->times[(uint32_t)side * runs + round - 1] : &warm_up);
			progress_add(1);
		}
	progress_clear();
	return status;
}

COMPARATOR(by_size, double, (*a > *b) - (*a < *b))

static void add_side(struct table *table, const struct trying *t, int side, const struct trial *trial)
{
	const uint32_t runs = t->line->runs;
	double *times = t->times + (uint32_t)side * runs, mean = array_sum(time, times, runs, *time / runs);
	double squares = array_sum(time, times, runs, (*time - mean) * (*time - mean));

	qsort(times, runs, sizeof(*times), by_size);
	table_cells(table, sides[side], runs, mean, (times[(runs - 1) / 2] + times[runs / 2]) / 2, (uint64_t)times[0],
		    (uint64_t)times[runs - 1], sqrt(squares / (runs - 1)));
	if (side) {
		table_cells(table, trial_rounded(trial->ratio), trial_rounded(trial->low), trial_rounded(trial->high));
	} else {
		table_nothings(table, 3);
	}
	table_text(table, t->line->captures[side]);
}

static int show(const struct trying *t, const struct trial *trial)
{
	static const enum verdict verdicts[] = {VERDICT_CLEAN, VERDICT_FOUND, VERDICT_UNCHECKED};
	static const int statuses[] = {EXIT_DONE, EXIT_SLOWER, EXIT_UNCLEAR};
	SCOPED(table) table = {0};
	SCOPED(buffer) reason = {0};
	static struct work w;
	int status = work_begin_output(&w, t->line);

	if (status)
		return status;
	table_has(&table, COL_NAME, COL_RUNS, COL_AVG_NS, COL_MED_NS, COL_MIN_NS, COL_MAX_NS, COL_STDDEV_NS,
		  COL_RATIO, COL_RATIO_LOW, COL_RATIO_HIGH, COL_COMMAND);
	for (int side = 0; side < 2; side++)
		add_side(&table, t, side, trial);
	trial_reason(trial, &reason);
	envelope_verdict(verdicts[trial->verdict], buffer_string(&reason));
	emit_begin(&w.emit);
	work_table(&w, "try", "Runs of Two Commands", &table);
	if (!t->line->quiet)
		emit_remark(&w.emit, buffer_string(&reason));
	emit_end(&w.emit);
	status = work_end(&w);
	return status ? status : statuses[trial->verdict];
}

static int run_try(const struct command_line *l)
{
	static struct trying t;
	struct trial trial = {.runs = l->runs, .gate = l->gate};
	int status;

	if (l->capture_count != 2) {
		say("two commands are compared: pillion try 'COMMAND A' 'COMMAND B'");
		return EXIT_UNUSABLE;
	}
	t.line = l;
	trial.times = t.times = mem_alloc(2 * (size_t)l->runs * sizeof(*t.times));
	status = run_all(&t);
	if (!status) {
		trial_judge(&trial);
		status = show(&t, &trial);
	}
	if (timed_run_signal())
		timed_run_die();
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nEach command is a line for /bin/sh. Both run in turn, first one run each that does not\n"
		      "count; nothing is recorded. Their standard input is empty, their standard output is\n"
		      "discarded, their standard error is shown. The time is the wall time, of the shell, too.\n"
		      "\nThe ratio is the time of B divided by that of A, with an interval that has it with 95 %\n"
		      "probability. B is slower if its time is longer by the gate or more and the interval is above\n"
		      "1; it is not slower if the interval is below 1 and the gate.\n");
}

const struct verb verb_try = {
	"try", "[OPTION]... 'COMMAND A' 'COMMAND B'", "run two commands in turn, and judge which one is slower",
	VERB_TRY, run_try, more_help,
	"0 B is not slower, 1 B is slower, 2 cannot judge, a command failed, or wrong usage",
};
