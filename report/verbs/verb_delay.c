/* SPDX-License-Identifier: Apache-2.0 */
/* By how much a run becomes longer if some of its calls do. Both kinds of runs are recorded alike, in turn. Calls at a
 * line are known to the recorder by the keys of frames, which a first run without delay tells. */
#include "report/verbs/verb_delay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/diff/trial.h"
#include "report/base/directory.h"
#include "report/base/launcher.h"
#include "report/causes/saving.h"
#include "report/names/frame_keys.h"
#include "report/time/timeline/timeline.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/output/timed_run.h"
#include "report/verbs/verb.h"
#include "runtime/shared/base/slowed.h"
#include "runtime/shared/base/value.h"

enum { KEYS_MOST = 256 };

/* What is delayed. `slow`: the word of --slow-down for it, before `what` or the keys of frames. */
enum delay_kind { DELAY_CALL, DELAY_COLLECTIVE, DELAY_RANK, DELAY_LINE, DELAY_LOCK };
static const struct {
	const char *word, *slow;
	bool has_keys;
} kinds[] = {
	[DELAY_CALL] = {"call~", "call~", false}, [DELAY_COLLECTIVE] = {"collective~", "call~", false},
	[DELAY_RANK] = {"rank~", "rank~", false}, [DELAY_LINE] = {"line~", "line~", true},
	[DELAY_LOCK] = {"lock~", "lock~", true},
};

struct delaying {
	const struct command_line *line;
	enum delay_kind kind;
	char *what;
	uint64_t delay_ns;
	struct buffer keys;
	char launcher[PATH_MAX], directory[PATH_MAX], capture[PATH_MAX + 16];
	/* by run: whether it has the delay, the time that the recorder took of all its threads, of which the delay is a
	 * part, and the run's time. Of a collective each rank has the delay, so this time is that of one rank. */
	bool *has_delay;
	double *taken_ns, *run_ns;
	size_t count;
	bool is_any; /* the first run has such calls */
	/* of the runs without delay */
	double calls;
	struct {
		bool is_known;
		double slope;
	} predicted;
};

/* ---- what a run has recorded ---- */

struct delayed_calls {
	const struct delaying *delaying;
	struct frame_keys at;
	struct timeline *timeline;
	struct map ranks; /* images with such calls */
	uint64_t calls;
};

/* But for the rank, which the image has. */
static bool is_delayed(struct delayed_calls *c, const struct image *image, const char *name, enum blocked_kind waits,
		       uint32_t stack)
{
	bool is_of_ranks = waits == BLOCKED_MPI || waits == BLOCKED_NCCL;

	switch (c->delaying->kind) {
	case DELAY_CALL:
		return !strcmp(name, c->delaying->what);
	case DELAY_COLLECTIVE:
		return is_of_ranks && !strcmp(name, c->delaying->what);
	case DELAY_RANK:
		return is_of_ranks;
	case DELAY_LOCK:
		return stack && slowed_as_lock(name, trace_definition(image->trace, TF_BLOB_PYTHON_STACK, stack)) &&
		       frame_keys_take(&c->at, image, stack);
	default:
		return !slowed_never_at_line(name) && frame_keys_take(&c->at, image, stack);
	}
}

static bool is_delayed_rank(const struct delaying *d, const struct image *image)
{
	return d->kind != DELAY_RANK || !strcmp(image_rank(image), d->what);
}

static void count_call(void *context, const struct timeline_event *e)
{
	struct delayed_calls *c = context;
	const struct image *image = c->timeline->image;

	if (e->kind != TIMELINE_CALL || !e->function || !is_delayed_rank(c->delaying, image) ||
	    !is_delayed(c, image, e->function->name, e->function->kind.waits,
			event_stack(e->event)))
		return;
	c->calls++;
	map_put(&c->ranks, (uint64_t)(uintptr_t)image, 0, NULL);
}

/* How many ranks a delay of a collective is in. */
static double ranks_of(const struct delayed_calls *c)
{
	return c->delaying->kind == DELAY_COLLECTIVE && c->ranks.count ? (double)c->ranks.count : 1;
}

/* By the replay of a run without delay, in which each call takes longer. */
static void predict(struct delaying *d, struct report_context *context, struct delayed_calls *c)
{
	struct causality *s = c->calls ? causes_find(context) : NULL;
	uint8_t *calls, *actors;
	SCOPED(edit) edit = {0};

	if (!s)
		return;
	edit_init(&edit, s);
	calls = mem_alloc(s->editables.count + 1);
	actors = mem_alloc(s->actor_count + 1);
	for (size_t i = 0; i < s->editables.count; i++) {
		const struct editable *e = &s->editables.items[i];

		calls[i] = e->kind == EDITABLE_CALL && is_delayed(c, e->image, e->name, e->waits, e->stack);
	}
	for (size_t i = 0; i < s->actor_count; i++)
		actors[i] = is_delayed_rank(d, s->actors[i].image);
	edit_delay(&edit, s, calls, actors, (double)d->delay_ns);
	d->predicted.slope = -saving_only(s, &edit) / ((double)(c->calls * d->delay_ns) / ranks_of(c));
	d->predicted.is_known = true;
	free(calls);
	causes_free(s);
}

/* The time of the delays as they were: a sleep ends late on a loaded machine. */
static uint64_t taken_time(const struct model *m)
{
	uint64_t sum = 0;

	array_each(const struct image, image, m->images, m->image_count) {
		for (size_t k = 0; image->trace && k < image->trace->thread_count; k++) {
			const struct tf_thread *page = image->trace->threads[k].page;

			sum += page ? clock_map_duration(&m->machines[image->machine].clock, page->slow_ticks) : 0;
		}
	}
	return sum;
}

static uint64_t run_time(const struct model *m)
{
	uint64_t last = m->origin_ns;

	for (size_t i = 0; i < m->process_count; i++)
		last = m->processes[i].end_ns > last ? m->processes[i].end_ns : last;
	return last - m->origin_ns;
}

struct measured {
	double calls, taken_ns, run_ns;
};

static void keep_keys(struct delaying *d, const struct frame_keys *at)
{
	for (size_t i = 0; i < at->count && i < KEYS_MOST; i++)
		buffer_print(&d->keys, "%s%016llx", i ? "," : "", (unsigned long long)at->keys[i]);
}

/* Reads the capture of a run. 0 or the exit status. */
static int read_run(struct delaying *d, bool has_delay, struct measured *ret)
{
	static const struct timeline_printer printer = {.parts = {PART_THREADS}, .event = count_call};
	struct delayed_calls c = {.delaying = d, .at.place = d->what};
	struct report_context context = {0};
	SCOPED(model) model = {0};
	char *path = d->capture;
	struct err err;

	if (model_open(&model, &path, 1, &err)) {
		say("%s", err.text);
		return EXIT_UNUSABLE;
	}
	context.model = &model;
	context.symbols = c.at.symbols = symbols_new(&model, true);
	c.timeline = mem_alloc(sizeof(*c.timeline));
	timeline_visit(c.timeline, &context, &printer, &c);
	free(c.timeline);
	if (!has_delay && !d->predicted.is_known)
		predict(d, &context, &c);
	if (kinds[d->kind].has_keys && !d->keys.size)
		keep_keys(d, &c.at);
	*ret = (struct measured){(double)c.calls, (double)taken_time(&model) / ranks_of(&c), (double)run_time(&model)};
	map_done(&c.ranks);
	frame_keys_done(&c.at);
	symbols_free(context.symbols);
	return 0;
}

/* ---- runs ---- */

static int run_one(struct delaying *d, bool has_delay, bool counts)
{
	const struct command_line *l = d->line;
	SCOPED_MEMORY char **argv = mem_alloc((l->capture_count + 11) * sizeof(*argv));
	SCOPED(buffer) slow = {0}, failure = {0};
	struct timed_run run = {0};
	struct err err;
	struct measured measured = {0};
	size_t n = 0;
	int status;

	buffer_print(&slow, "--slow-down=%s%s=%lluns", kinds[d->kind].slow,
		     kinds[d->kind].has_keys ? buffer_string(&d->keys) : d->what,
		     has_delay ? (unsigned long long)d->delay_ns : 0ull);
	argv[n++] = d->launcher;
	argv[n++] = "-o";
	argv[n++] = d->capture;
	argv[n++] = "-f";
	argv[n++] = "true";
	argv[n++] = "--stats=false";
	argv[n++] = "--wakes"; /* for the replay */
	argv[n++] = slow.data;
	argv[n++] = "--";
	for (size_t i = 0; i < l->capture_count; i++)
		argv[n++] = l->captures[i];
	status = timed_run(argv, true, &run, &err) ? EXIT_UNUSABLE : 0;
	if (status)
		say("%s", err.text);
	else if (run.status) {
		timed_run_failure(run.status, &failure);
		say("cannot tell: COMMAND %s", buffer_string(&failure));
		status = EXIT_INCOMPLETE;
	} else {
		status = read_run(d, has_delay, &measured);
	}
	directory_remove(d->capture);
	if (!status && counts) {
		d->has_delay[d->count] = has_delay;
		d->run_ns[d->count] = measured.run_ns;
		d->taken_ns[d->count++] = measured.taken_ns;
		d->calls += has_delay ? 0 : measured.calls / l->runs;
	}
	d->is_any |= measured.calls > 0;
	return status;
}

static int run_all(struct delaying *d)
{
	int status = run_one(d, false, false);

	if (!status && d->is_any)
		status = run_one(d, true, false);
	for (uint32_t round = 1; round <= d->line->runs && d->is_any && !status; round++)
		for (uint32_t i = 0; i < 2 && !status; i++)
			status = run_one(d, round % 2 ? !i : i, true);
	return status;
}

/* ---- the answer ---- */

static enum verdict judge_slope(const struct slope *s)
{
	return s->low > 0 ? VERDICT_FOUND : s->high < 0.5 ? VERDICT_CLEAN : VERDICT_UNCHECKED;
}

static void slope_reason(const struct delaying *d, const struct slope *s, struct buffer *ret)
{
	buffer_print(ret, "each second of delay makes the run %.2f s longer (%.2f to %.2f with 95 %% probability): ",
		     s->slope, s->low, s->high);
	if (judge_slope(s) == VERDICT_UNCHECKED)
		buffer_text(ret, "cannot tell; a longer delay or more runs (-n) narrow the interval");
	else if (s->low <= 0)
		buffer_print(ret, "%s has slack", d->what);
	else
		buffer_print(ret, "%s is %s the critical path", d->what, s->high < 0.9 ? "partly on" : "on");
	if (d->predicted.is_known)
		buffer_print(ret, "; the replay predicts %.2f", d->predicted.slope);
}

static double mean_of(const struct delaying *d, const double *values, bool has_delay)
{
	double sum = 0;

	for (size_t i = 0; i < d->count; i++)
		sum += d->has_delay[i] == has_delay ? values[i] : 0;
	return sum / d->line->runs;
}

static int show(const struct delaying *d)
{
	const struct slope s = slope_fit(d->taken_ns, d->run_ns, d->count);
	const double delay = mean_of(d, d->taken_ns, true) - mean_of(d, d->taken_ns, false);
	struct command_line none = *d->line;
	SCOPED(table) table = {0};
	SCOPED(buffer) reason = {0};
	static struct work w;
	int status;

	none.capture_count = 0;
	status = work_begin_output(&w, &none);
	if (status)
		return status;
	table_has(&table, COL_EDIT, COL_RUNS, COL_NUM_CALLS, COL_DELAY_NS);
	table_column_as(&table, COL_BEFORE_NS, COLUMN_NS);
	table_column_as(&table, COL_AFTER_NS, COLUMN_NS);
	table_has(&table, COL_SLOPE, COL_SLOPE_LOW, COL_SLOPE_HIGH, COL_PREDICTED_SLOPE);
	table_cells(&table, d->line->delay, d->line->runs, (uint64_t)(d->calls + 0.5), delay > 0 ? (uint64_t)delay : 0,
		    (uint64_t)mean_of(d, d->run_ns, false), (uint64_t)mean_of(d, d->run_ns, true),
		    trial_rounded(s.slope), trial_rounded(s.low), trial_rounded(s.high),
		    cell_if(d->predicted.is_known, trial_rounded(d->predicted.slope)));
	slope_reason(d, &s, &reason);
	envelope_verdict(judge_slope(&s), buffer_string(&reason));
	emit_begin(&w.emit);
	work_table(&w, "delay", "Runs With and Without Delay", &table);
	if (!d->line->quiet)
		emit_remark(&w.emit, buffer_string(&reason));
	emit_end(&w.emit);
	return work_end(&w);
}

/* ---- begin and end ---- */

/* "call~fsync=2ms", "line~job.py:12=2ms" */
static bool parse_delay(struct delaying *d)
{
	const char *text = d->line->delay, *time = strrchr(text, '=');
	size_t length = 0;

	for (d->kind = DELAY_CALL; d->kind < sizeof(kinds) / sizeof(*kinds); d->kind++) {
		length = strlen(kinds[d->kind].word);
		if (!strncmp(text, kinds[d->kind].word, length))
			break;
	}
	if (d->kind == sizeof(kinds) / sizeof(*kinds) || !time || time <= text + length ||
	    !value_duration(time + 1, &d->delay_ns) || !d->delay_ns)
		return false;
	d->what = mem_copy_text(text + length, (size_t)(time - text) - length);
	return !kinds[d->kind].has_keys || strchr(d->what, ':');
}

static int begin(struct delaying *d)
{
	const char *place = getenv("TMPDIR");

	if (!parse_delay(d)) {
		say("--delay takes call~NAME, line~FILE:N, lock~FILE:N, rank~N or collective~NAME, and a time, such as "
		    "call~fsync=2ms, not '%s'", d->line->delay);
		return EXIT_UNUSABLE;
	}
	if (!d->line->capture_count) {
		say("a command is missing: pillion whatif --delay 'call~fsync=2ms' COMMAND [ARG]...");
		return EXIT_UNUSABLE;
	}
	if (!launcher_find(d->launcher)) {
		say("pillion-launch is not beside pillion-report");
		return EXIT_UNUSABLE;
	}
	snprintf(d->directory, sizeof(d->directory), "%s/pillion-delay.XXXXXX", place && *place ? place : "/tmp");
	if (!mkdtemp(d->directory)) {
		say("%s: %s", d->directory, strerror(errno));
		return EXIT_UNUSABLE;
	}
	snprintf(d->capture, sizeof(d->capture), "%s/run.pillion", d->directory);
	return 0;
}

int verb_delay(const struct command_line *l)
{
	static struct delaying delaying, *const d = &delaying;
	int status;

	d->line = l;
	d->has_delay = mem_alloc(2 * (size_t)l->runs * sizeof(*d->has_delay));
	d->taken_ns = mem_alloc(2 * (size_t)l->runs * sizeof(*d->taken_ns));
	d->run_ns = mem_alloc(2 * (size_t)l->runs * sizeof(*d->run_ns));
	status = begin(d);
	if (!status) {
		status = run_all(d);
		rmdir(d->directory);
	}
	if (!status && d->calls < 1) {
		say("cannot tell: no call of %s%s was recorded", d->kind == DELAY_RANK ? "MPI or NCCL by rank " : "",
		    d->what);
		status = EXIT_INCOMPLETE;
	} else if (!status) {
		status = show(d);
	}
	if (timed_run_signal())
		timed_run_die();
	return status;
}
