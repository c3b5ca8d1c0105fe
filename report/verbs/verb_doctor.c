/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: what can be recorded on this machine, and what to change. */
#include <string.h>

#include "report/base/text.h"
#include "report/live/doctor/doctor.h"
#include "report/verbs/output/colour.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

enum { NAME_COLUMNS = 13, STATE_COLUMNS = 9 };

static void fill_table(const struct doctor *d, struct table *t)
{
	table_has(t, COL_CHECK, COL_STATE, COL_FOUND, COL_ADVICE);
	array_each(const struct check, c, d->checks, d->count)
		table_cells(t, c->name, check_state_names[c->state], buffer_string(&c->found),
			    buffer_string(&c->advice));
}

static void write_lines(const struct doctor *d, FILE *file)
{
	static const enum colour colours[CHECK_STATES] = {COLOUR_GOOD, COLOUR_WARNING, COLOUR_BAD};
	SCOPED(buffer) text = {0};

	array_each(const struct check, c, d->checks, d->count) {
		const char *state = check_state_names[c->state];

		buffer_clear(&text);
		text_escape(&text, buffer_string(&c->found), "");
		fprintf(file, "%s%-*s%s%-*s%s\n", colour_begin(colours[c->state]), STATE_COLUMNS, state,
			colour_end(), NAME_COLUMNS, c->name, text.data);
		if (c->advice.size)
			fprintf(file, "%*s-> %s\n", STATE_COLUMNS + NAME_COLUMNS, "", c->advice.data);
	}
}

/* "a plain recording works; limited: perf_event, ptrace; missing: CUDA driver" */
static void write_verdict(const struct doctor *d, struct buffer *ret)
{
	buffer_text(ret, d->is_recording ? "a plain recording works" : "a plain recording does not work");
	for (int state = CHECK_LIMITED; state < CHECK_STATES; state++) {
		const char *before = "", *last = "";

		array_each(const struct check, c, d->checks, d->count) {
			if ((int)c->state != state || !strcmp(c->name, last))
				continue;
			if (!*before)
				buffer_print(ret, "; %s: ", check_state_names[state]);
			buffer_print(ret, "%s%s", before, c->name);
			before = ", ";
			last = c->name;
		}
	}
}

/* The directory of a capture named by -o. */
static void directory_of(const char *output, struct buffer *ret)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	size_t length = slash ? (size_t)(slash - output) : 0;

	if (slash == output && slash)
		buffer_text(ret, "/");
	else if (length)
		buffer_add(ret, output, length);
	else
		buffer_text(ret, ".");
}

static int run_doctor(const struct command_line *l)
{
	struct command_line line = *l;
	SCOPED(buffer) directory = {0}, verdict = {0};
	static struct doctor d;
	SCOPED(table) table = {0};
	static struct work w;
	int status;

	if (l->capture_count) {
		say("takes no operands");
		return EXIT_UNUSABLE;
	}
	line.output = NULL; /* it names a capture, not where the table goes */
	status = work_begin_output(&w, &line);
	if (status)
		return status;
	directory_of(l->output, &directory);
	d.directory = directory.data;
	doctor_trial(&d);
	doctor_system(&d);
	doctor_python(&d);
	doctor_cuda(&d);
	fill_table(&d, &table);
	write_verdict(&d, &verdict);
	if (!envelope_is_open() && l->format == FORMAT_COLUMN) {
		write_lines(&d, w.emit.file);
		fprintf(w.emit.file, "\n%s\n", verdict.data);
	} else {
		emit_begin(&w.emit);
		work_table(&w, "doctor", "What Can Be Recorded Here", &table);
		emit_end(&w.emit);
	}
	if (envelope_is_open())
		envelope_verdict(strchr(verdict.data, ';') || !d.is_recording ? VERDICT_FOUND : VERDICT_CLEAN,
				 verdict.data);
	if (!d.is_recording)
		w.status = EXIT_INCOMPLETE;
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	text_add(ret,
		 "\nEach line is ok, limited or missing, with what was found; below it, what to\n"
		 "change. `true` is recorded once as a trial, where the capture would be. Limited\n"
		 "and missing things are needed by some recordings only. No GPU is initialised,\n"
		 "and nothing is changed.\n");
}

const struct verb verb_doctor = {
	"doctor", "[OPTION]...", "what can be recorded on this machine, and what to change", VERB_DOCTOR, run_doctor,
	more_help, "0 a plain recording works, 1 it does not, 2 wrong usage",
};
