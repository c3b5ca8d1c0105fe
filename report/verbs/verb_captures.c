/* SPDX-License-Identifier: Apache-2.0 */
/* captures: the live runs of this user, and the captures of the working directory, of which it removes old ones. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/live/capture_files.h"
#include "report/live/live_table.h"
#include "report/verbs/verb.h"

enum { SECONDS_BYTES = 32 };

struct listed {
	char *name;
	struct capture_files files;
	bool is_live;
};

struct listing {
	struct listed *items; /* by the time when they were made */
	size_t count, capacity;
};

COMPARATOR(by_time, struct listed,
	   order_of((uint64_t)a->files.made.tv_sec, (uint64_t)b->files.made.tv_sec)
	   ?: order_of((uint64_t)a->files.made.tv_nsec, (uint64_t)b->files.made.tv_nsec) ?: strcmp(a->name, b->name))

static bool is_live(const char *name, const struct live_runs *runs)
{
	SCOPED_MEMORY char *path = realpath(name, NULL);
	bool is = false;

	for (size_t i = 0; path && i < runs->count && !is; i++)
		is = !strcmp(path, runs->items[i].capture);
	return is;
}

static void list_directory(struct listing *l, const struct live_runs *runs)
{
	DIR *d = opendir(".");

	for (struct dirent *entry; d && (entry = readdir(d));) {
		const char *name = entry->d_name;
		struct capture_files files;

		if ((!text_ends_with(name, ".pillion") && !text_ends_with(name, ".pillpack")) ||
		    !capture_files_read(name, &files))
			continue;
		list_add(l, (struct listed){mem_copy_text(name, strlen(name)), files, is_live(name, runs)});
	}
	if (d)
		closedir(d);
	array_sort(l->items, l->count, by_time);
}

static void fill_table(const struct listing *l, struct table *t)
{
	table_has(t, COL_CAPTURE, COL_STARTED, COL_STATE);
	table_column_as(t, COL_SIZE_BYTES, COLUMN_COUNT);
	for (size_t i = 0; i < l->count; i++) {
		char when[SECONDS_BYTES];
		struct tm tm;

		localtime_r(&l->items[i].files.made.tv_sec, &tm);
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
		table_cells(t, l->items[i].name, when, l->items[i].is_live ? "live" : "ended", l->items[i].files.bytes);
	}
}

static int show(const struct command_line *l, const struct listing *listing, const struct live_runs *runs)
{
	SCOPED(table) live = {0}, captures = {0};
	static struct work w;
	int status = work_begin_output(&w, l);

	if (status)
		return status;
	live_table(runs, &live);
	fill_table(listing, &captures);
	emit_begin(&w.emit);
	if (runs->count || !format_is_human(w.emit.format))
		work_table(&w, "runs", "Live Runs", &live);
	if (listing->count || !format_is_human(w.emit.format))
		work_table(&w, "captures", "Captures of This Directory", &captures);
	emit_end(&w.emit);
	if (!runs->count && !listing->count && !l->quiet)
		say("no live run, and no capture in this directory");
	return work_end(&w);
}

/* ---- removal ---- */

static bool is_old(const struct listed *c, const struct command_line *l)
{
	time_t now = time(NULL);

	return !c->is_live && now > c->files.newest.tv_sec &&
	       (double)(now - c->files.newest.tv_sec) > l->remove_older_s;
}

/* Whether the user agrees. Without a terminal nobody can. */
static bool is_agreed(const struct command_line *l, size_t count, uint64_t bytes)
{
	int answer;

	if (l->is_agreed)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		say("nothing was removed: give --yes where there is no terminal to ask on");
		return false;
	}
	fprintf(stderr, "Remove %zu capture%s, %.1f MB? [y/N] ", count, count == 1 ? "" : "s", (double)bytes / 1e6);
	fflush(stderr);
	answer = getchar();
	return answer == 'y' || answer == 'Y';
}

static int remove_old(const struct command_line *l, const struct listing *listing)
{
	size_t count = 0, removed = 0;
	uint64_t bytes = 0;
	struct err err;

	for (size_t i = 0; i < listing->count; i++) {
		if (!is_old(&listing->items[i], l))
			continue;
		if (!l->quiet)
			say("%s, %.1f MB", listing->items[i].name, (double)listing->items[i].files.bytes / 1e6);
		bytes += listing->items[i].files.bytes;
		count++;
	}
	if (count && !is_agreed(l, count, bytes))
		return EXIT_UNUSABLE;
	for (size_t i = 0; i < listing->count; i++) {
		if (!is_old(&listing->items[i], l))
			continue;
		if (capture_files_remove(listing->items[i].name, &err))
			say("%s", err.text);
		else
			removed++;
	}
	if (!l->quiet)
		say("%zu capture%s removed", removed, removed == 1 ? "" : "s");
	return removed < count ? EXIT_INCOMPLETE : EXIT_DONE;
}

static int run_captures(const struct command_line *l)
{
	static struct listing listing;
	static struct live_runs runs;
	struct err err;
	int status;

	if (l->capture_count) {
		say("takes no operands: it lists the captures of the working directory");
		return EXIT_UNUSABLE;
	}
	live_find(NULL, &runs, &err);
	list_directory(&listing, &runs);
	status = l->remove_older_s > 0 ? remove_old(l, &listing) : show(l, &listing, &runs);
	return status;
}

const struct verb verb_captures = {
	"captures", "[OPTION]...", "the live runs, and the captures of this directory; removes old ones on request",
	VERB_CAPTURES, run_captures, NULL,
};
