/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/name.h"
#include "runtime/shared/base/nearest.h"

const char *const diff_verdicts[] = {"not worse", "worse", "cannot judge"};

/* Rows that are compared by their names' spelling at most, the part of a name that may differ, and the factor by which
 * the times of a renamed row may differ. */
enum { RENAMED_MOST = 300, RENAMED_PART = 3, RENAMED_FACTOR = 4 };

struct joining {
	struct diff *d;
	struct aggregate names, lines; /* of all captures */
	struct map parts;	       /* (row, line) -> place in `changes` + 1 */
	struct change {
		uint32_t row, line;
		double sides[2]; /* mean ns of a run, or of a step */
	} *changes;
	size_t change_count, change_capacity;
	uint32_t *top; /* by row: the line with the most time on either side, + 1 */
};

static size_t runs_of(const struct diff *d)
{
	return d->before + d->after;
}

static double scale_of(const struct gathered *g)
{
	return g->steps ? 1 / (double)g->steps : 1;
}

/* ---- the rows of all captures ---- */

static void join_names(struct joining *j)
{
	struct diff *d = j->d;
	size_t runs = runs_of(d);

	for (size_t k = 0; k < runs; k++)
		for (size_t i = 0; i < d->captures[k].count; i++)
			aggregate_row(&j->names, d->captures[k].names.rows[i].key,
				      d->captures[k].names.rows[i].key_size);
	d->count = j->names.count;
	d->rows = mem_alloc((d->count + 1) * sizeof(*d->rows));
	d->judged = mem_alloc((d->count + 1) * sizeof(*d->judged));
	d->times = mem_alloc((d->count * runs + 1) * sizeof(*d->times));
	d->variances = mem_alloc((d->count * runs + 1) * sizeof(*d->variances));
	d->samplings = mem_alloc((d->count * runs + 1) * sizeof(*d->samplings));
	for (size_t i = 0; i < d->count * runs; i++)
		d->variances[i] = -1;
	for (size_t k = 0; k < runs; k++)
		for (size_t i = 0; i < d->captures[k].count; i++) {
			const struct gathered *g = &d->captures[k];
			uint32_t row = aggregate_row(&j->names, g->names.rows[i].key, g->names.rows[i].key_size);
			double share = (double)g->series[i].count / (double)(k < d->before ? d->before : d->after);

			d->times[row * runs + k] = g->series[i].total * scale_of(g);
			d->variances[row * runs + k] = series_variance(&g->series[i]);
			d->samplings[row * runs + k] = series_sampling(&g->series[i]);
			*(k < d->before ? &d->rows[row].before : &d->rows[row].after) += share;
			d->rows[row].is_foreign |= g->is_foreign && g->is_foreign[i];
		}
}

static void join_lines(struct joining *j)
{
	struct diff *d = j->d;

	for (size_t k = 0; k < runs_of(d); k++) {
		const struct gathered *g = &d->captures[k];
		double scale = scale_of(g) / (double)(k < d->before ? d->before : d->after);

		for (size_t i = 0; i < g->part_count; i++) {
			const struct aggregate_row *name = &g->names.rows[g->parts[i].row],
						   *line = &g->lines.rows[g->parts[i].line];
			uint32_t row = aggregate_row(&j->names, name->key, name->key_size),
				 at = aggregate_row(&j->lines, line->key, line->key_size);
			size_t place = map_place(&j->parts, row, at, j->changes, j->change_count, j->change_capacity,
						 (struct change){row, at, {0, 0}});

			j->changes[place].sides[k >= d->before] += (double)g->parts[i].ns * scale;
		}
	}
}

/* ---- renamed rows ---- */

static double side_time(const struct diff *d, size_t row, bool is_after)
{
	double sum = 0;

	for (size_t k = is_after ? d->before : 0; k < (is_after ? runs_of(d) : d->before); k++)
		sum += d->times[row * runs_of(d) + k];
	return sum;
}

static int by_template(size_t a, size_t b, const void *context)
{
	const struct joining *j = context;
	double left = side_time(j->d, a, false) + side_time(j->d, a, true),
	       right = side_time(j->d, b, false) + side_time(j->d, b, true);

	return strcmp(aggregate_field(&j->names.rows[a], 1), aggregate_field(&j->names.rows[b], 1))
		       ?: (left < right) - (left > right);
}

/* Whether the new row's time is similar enough for it to be the old one's. */
static bool is_similar(const struct diff *d, size_t old, size_t new)
{
	double before = side_time(d, old, false) / (double)d->before,
	       after = side_time(d, new, true) / (double)d->after;

	return before <= RENAMED_FACTOR * after && after <= RENAMED_FACTOR * before;
}

/* Gives the old row the times of the new one, which becomes empty. */
static void rename_row(struct joining *j, size_t old, size_t new)
{
	struct diff *d = j->d;
	size_t runs = runs_of(d);
	struct buffer name = {0};

	for (size_t k = d->before; k < runs; k++) {
		d->times[old * runs + k] = d->times[new * runs + k];
		d->variances[old * runs + k] = d->variances[new * runs + k];
		d->samplings[old * runs + k] = d->samplings[new * runs + k];
		d->times[new * runs + k] = 0;
	}
	d->rows[old].after = d->rows[new].after;
	for (size_t i = 0; i < j->change_count; i++)
		if (j->changes[i].row == new)
			j->changes[i].row = (uint32_t)old;
	buffer_print(&name, "%s -> %s", d->rows[old].name, d->rows[new].name);
	mem_replace_text(&d->rows[old].name, name.data);
}

/* The rows that only one side has. */
static size_t *rows_of_side(const struct diff *d, bool is_after, size_t *ret_count)
{
	size_t *found = mem_alloc((d->count + 1) * sizeof(*found));

	*ret_count = 0;
	for (size_t i = 0; i < d->count; i++)
		if (side_time(d, i, is_after) > 0 && side_time(d, i, !is_after) <= 0)
			found[(*ret_count)++] = i;
	return found;
}

/* Rows that have something in common are matched by their time: instances of a template, lines of a function. */
static void match_same_template(struct joining *j)
{
	size_t *order = places_in_order(j->d->count, by_template, j), next = 0;

	while (next < j->d->count) {
		const char *like = aggregate_field(&j->names.rows[order[next]], 1);
		size_t end = next, old = next, new = next;

		while (end < j->d->count && !strcmp(aggregate_field(&j->names.rows[order[end]], 1), like))
			end++;
		while (*like && old < end && new < end) {
			bool is_old = side_time(j->d, order[old], false) > 0 && side_time(j->d, order[old], true) <= 0,
			     is_new = side_time(j->d, order[new], true) > 0 && side_time(j->d, order[new], false) <= 0;

			if (!is_old) {
				old++;
			} else if (!is_new) {
				new++;
			} else if (is_similar(j->d, order[old], order[new])) {
				rename_row(j, order[old++], order[new++]);
			} else if (old < new) {
				old++; /* it has more time than any that could be the same */
			} else {
				new++;
			}
		}
		next = end;
	}
	free(order);
}

/* An old row and a new one that it may have become. */
struct renaming {
	size_t old, new;
	size_t distance; /* the number of changes from one spelling to the other */
	bool is_same_line; /* the same line launched most of both */
};

struct renamings {
	struct renaming *items;
	size_t count, capacity;
};

PLACE_COMPARATOR(by_likeness, struct renaming,
		 b->is_same_line - a->is_same_line ?: (a->distance > b->distance) - (a->distance < b->distance) ?:
		 order_of(a->old, b->old) ?: order_of(a->new, b->new))

/* Adds the pair if both have the same number of values, and the same line or a similar spelling. */
static void add_renaming(struct renamings *r, const struct joining *j, size_t old, size_t new)
{
	const struct diff_row *before = &j->d->rows[old], *after = &j->d->rows[new];
	size_t left = strlen(before->name), right = strlen(after->name), length = left > right ? left : right;
	struct renaming pair = {old, new, SIZE_MAX, j->top[old] && j->top[old] == j->top[new]};

	if (before->before != after->after)
		return;
	if (length < NEAREST_BYTES)
		pair.distance = nearest_distance(before->name, after->name);
	if (!pair.is_same_line && (pair.distance == SIZE_MAX || pair.distance * RENAMED_PART > length))
		return;
	list_add(r, pair);
}

/* Others by the number of values, and by the line that has launched them or the spelling: the most alike pairs
 * first. */
static void match_others(struct joining *j)
{
	size_t old_count, new_count, *old = rows_of_side(j->d, false, &old_count),
				     *new = rows_of_side(j->d, true, &new_count), *order;
	SCOPED_MEMORY bool *is_matched = mem_alloc((j->d->count + 1) * sizeof(*is_matched));
	struct renamings all = {0};

	for (size_t i = 0; i < old_count && i < RENAMED_MOST; i++)
		for (size_t k = 0; k < new_count && k < RENAMED_MOST; k++)
			add_renaming(&all, j, old[i], new[k]);
	order = places_in_order(all.count, by_likeness, all.items);
	for (size_t i = 0; i < all.count; i++) {
		const struct renaming *pair = &all.items[order[i]];

		if (is_matched[pair->old] || is_matched[pair->new])
			continue;
		is_matched[pair->old] = is_matched[pair->new] = true;
		rename_row(j, pair->old, pair->new);
	}
	free(order);
	free(all.items);
	free(old);
	free(new);
}

/* ---- lines ---- */

static void find_top(struct joining *j)
{
	SCOPED_MEMORY double *most = mem_alloc((j->d->count + 1) * sizeof(*most));

	j->top = mem_alloc((j->d->count + 1) * sizeof(*j->top));
	array_each(const struct change, c, j->changes, j->change_count) {
		if (c->sides[0] + c->sides[1] > most[c->row]) {
			most[c->row] = c->sides[0] + c->sides[1];
			j->top[c->row] = c->line + 1;
		}
	}
}

/* The line whose time changed most in the direction in which the row's did. */
static void name_lines(struct joining *j)
{
	struct diff *d = j->d;
	SCOPED_MEMORY double *most = mem_alloc((d->count + 1) * sizeof(*most));

	array_each(const struct change, c, j->changes, j->change_count) {
		double change = c->sides[1] - c->sides[0];
		const char *line = aggregate_field(&j->lines.rows[c->line], 0);

		if (d->judged[c->row].after < d->judged[c->row].before)
			change = -change;
		if (d->rows[c->row].line && change <= most[c->row])
			continue;
		most[c->row] = change;
		mem_replace_text(&d->rows[c->row].line, mem_copy_text(line, strlen(line)));
	}
}

/* The lines of a function are a group, any other row is one alone. */
static void find_groups(struct joining *j)
{
	SCOPED(aggregate) functions = {0};

	for (size_t i = 0; i < j->d->count; i++) {
		const char *like = aggregate_field(&j->names.rows[i], 1);

		j->d->judged[i].group = j->d->by == DIFF_LINE ? aggregate_row(&functions, like, strlen(like) + 1) : i;
	}
}

/* ---- the whole runs ---- */

static const char *const whole_names[WHOLE_COUNT] = {[WHOLE_WALL] = "wall time", [WHOLE_CPU] = "CPU time"};

static void judge_whole(struct diff *d, struct diff_whole *w, bool is_cpu)
{
	size_t runs = runs_of(d);

	w->times = mem_alloc(runs * sizeof(*w->times));
	w->variances = mem_alloc(runs * sizeof(*w->variances));
	w->is_known = true;
	for (size_t k = 0; k < runs; k++) {
		const struct whole_run *whole = &d->captures[k].whole;

		w->times[k] = (double)(is_cpu ? whole->cpu_ns : whole->wall_ns);
		w->variances[k] = -1; /* one value of a run does not show how much it varies */
		w->is_known &= w->times[k] > 0;
	}
	w->judged = (struct judged){.times = w->times, .variances = w->variances, .samplings = w->variances};
	judge(&w->judged, 1, d->before, d->after, d->gate, &w->judgement);
}

/* Lines and calls without samples are only what blocked. Kernels are not the host's work, whose threads poll. */
static bool is_unsampled(const struct diff *d)
{
	for (size_t k = 0; k < runs_of(d) && (d->by == DIFF_API || d->by == DIFF_LINE); k++) {
		const struct whole_run *w = &d->captures[k].whole;

		if (!w->is_sampled && w->cpu_ns && w->cpu_ns + w->delay_ns > w->wall_ns / 2)
			return true;
	}
	return false;
}

static void judge_wholes(struct diff *d)
{
	bool is_worse = false;

	for (int i = 0; i < WHOLE_COUNT; i++) {
		judge_whole(d, &d->whole[i], i == WHOLE_CPU);
		if (d->whole[i].is_known && d->whole[i].judgement.verdict == DIFF_WORSE)
			is_worse = true;
	}
	d->is_worse_as_whole = is_worse && d->judgement.verdict != DIFF_WORSE;
	if (d->is_worse_as_whole)
		d->judgement.verdict = DIFF_WORSE;
	d->is_unsampled = is_unsampled(d);
	if (d->is_unsampled && d->judgement.verdict == DIFF_NOT_WORSE)
		d->judgement.verdict = DIFF_UNCLEAR;
}

void diff_compare(struct diff *d)
{
	struct joining j = {.d = d};
	size_t runs = runs_of(d);

	join_names(&j);
	join_lines(&j);
	find_top(&j);
	for (size_t i = 0; i < d->count; i++) {
		const char *name = aggregate_field(&j.names.rows[i], 0);

		d->rows[i].name = mem_copy_text(name, strlen(name));
		d->judged[i] = (struct judged){.times = d->times + i * runs,
					       .variances = d->variances + i * runs,
					       .samplings = d->samplings + i * runs};
	}
	find_groups(&j);
	match_same_template(&j);
	if (d->by == DIFF_KERNEL)
		match_others(&j);
	judge(d->judged, d->count, d->before, d->after, d->gate, &d->judgement);
	judge_wholes(d);
	name_lines(&j);
	aggregate_done(&j.names);
	aggregate_done(&j.lines);
	map_done(&j.parts);
	free(j.changes);
	free(j.top);
}

void diff_done(struct diff *d)
{
	for (size_t i = 0; i < d->count; i++) {
		free(d->rows[i].name);
		free(d->rows[i].line);
	}
	free(d->rows);
	free(d->judged);
	free(d->times);
	free(d->variances);
	free(d->samplings);
	for (int i = 0; i < WHOLE_COUNT; i++) {
		free(d->whole[i].times);
		free(d->whole[i].variances);
	}
}

/* ---- output ---- */

static double percent_of(double change)
{
	return 100 * (exp(change) - 1);
}

/* all: the change of the sum, that of which the row's is a share; 0: of none. */
static void row_cells(double all, const struct judged *r, struct table *table)
{
	table_cells(table, cell_if(r->before > 0 && r->after > 0, percent_of(log(r->after / r->before))),
		    cell_if(r->noise >= 0, percent_of(r->noise)), cell_if(all != 0, 100 * (r->after - r->before) / all),
		    r->before, r->after);
}

/* The lines of the program first. */
static int by_change(size_t a, size_t b, const void *context)
{
	const struct diff *d = context;
	const struct judged *all = d->judged;
	double left = fabs(all[a].after - all[a].before), right = fabs(all[b].after - all[b].before);

	return d->rows[a].is_foreign - d->rows[b].is_foreign ?: (left < right) - (left > right);
}

/* A change of two runs is not known to be more than noise. */
static enum row_verdict whole_verdict(const struct diff *d, const struct diff_whole *w)
{
	if (w->judgement.verdict == DIFF_WORSE)
		return ROW_SLOWER;
	return w->judged.verdict == ROW_FASTER ? ROW_FASTER : runs_of(d) == 2 ? ROW_FEW : ROW_NOISE;
}

static void whole_cells(const struct diff_whole *w, const char *word, const char *name, struct table *table)
{
	row_cells(0, &w->judged, table);
	table_cells(table, NO_CELL, NO_CELL, word, name, NO_CELL);
}

void diff_table(const struct diff *d, struct table *table)
{
	static const char *const words[] = {"noise", "too few", "slower", "faster", "new", "vanished"};
	const struct judgement *all = &d->judgement;
	struct judged sum = {.before = all->before, .after = all->after, .noise = all->noise};
	SCOPED_MEMORY size_t *order = places_in_order(d->count, by_change, d);

	table_has(table, COL_CHANGE_PERCENT, COL_NOISE_PERCENT, COL_SHARE_PERCENT, COL_BEFORE_NS, COL_AFTER_NS,
		  COL_COUNT_BEFORE, COL_COUNT_AFTER, COL_VERDICT, COL_NAME, COL_LINE);
	row_cells(all->after - all->before, &sum, table);
	table_cells(table, NO_CELL, NO_CELL, diff_verdicts[all->verdict], "(total)", NO_CELL);
	for (int i = 0; i < WHOLE_COUNT; i++)
		if (d->whole[i].is_known)
			whole_cells(&d->whole[i], words[whole_verdict(d, &d->whole[i])], whole_names[i], table);
	for (size_t i = 0; i < d->count; i++) {
		const struct judged *r = &d->judged[order[i]];
		const struct diff_row *row = &d->rows[order[i]];

		if (r->before <= 0 && r->after <= 0)
			continue;
		row_cells(all->after - all->before, r, table);
		table_cells(table, (uint64_t)(row->before + 0.5), (uint64_t)(row->after + 0.5), words[r->verdict],
			    row->name, cell_if(row->line, row->line));
	}
}

static bool is_surely_slower(const struct diff *d, size_t row)
{
	return d->judged[row].verdict == ROW_SLOWER || d->judged[row].verdict == ROW_NEW;
}

static bool adds_more(const struct diff *d, size_t a, size_t b)
{
	if (is_surely_slower(d, a) != is_surely_slower(d, b))
		return is_surely_slower(d, a);
	if (d->rows[a].is_foreign != d->rows[b].is_foreign)
		return d->rows[b].is_foreign;
	return d->judged[a].after - d->judged[a].before > d->judged[b].after - d->judged[b].before;
}

/* The row that adds the most time: of those whose change is no noise, and of the program's lines, if there are any. */
static size_t worst_row(const struct diff *d)
{
	size_t worst = SIZE_MAX;

	for (size_t i = 0; i < d->count; i++)
		if (d->judged[i].after > d->judged[i].before && (worst == SIZE_MAX || adds_more(d, i, worst)))
			worst = i;
	return worst;
}

static void add_why_unclear(const struct diff *d, struct buffer *ret)
{
	const struct judgement *j = &d->judgement;

	if (d->is_damaged)
		buffer_text(ret, "; a capture is damaged");
	else if (j->before <= 0 || j->after <= 0)
		buffer_text(ret, "; there is nothing to compare");
	else if (d->is_unsampled)
		return;
	else if (!j->is_pair)
		buffer_text(ret, "; the runs of a side differ too much among each other: give more of them");
	else if (j->change >= log1p(d->gate))
		buffer_print(ret, "; %s, as on a slower machine: give several captures of each side",
			     j->compared ? "no row is known to differ from what the others have in common"
					 : "no row has enough values");
	else
		buffer_text(ret, "; the noise is larger than the gate: give several captures of each side");
}

static void add_wholes(const struct diff *d, const char *separator, struct buffer *ret)
{
	for (int i = 0; i < WHOLE_COUNT; i++)
		if (d->whole[i].is_known)
			buffer_print(ret, "%s%s %+.1f %%", i ? "; " : separator, whole_names[i],
				     percent_of(d->whole[i].judgement.change));
}

void diff_reason(const struct diff *d, struct buffer *ret)
{
	const struct judgement *j = &d->judgement;
	size_t worst = d->is_worse_as_whole ? SIZE_MAX : worst_row(d);

	buffer_print(ret, "%s: ", diff_verdicts[j->verdict]);
	if (d->is_worse_as_whole) {
		add_wholes(d, "", ret);
		buffer_print(ret, "; %s ", d->by == DIFF_API ? "the recorded calls" : "the rows");
	}
	if (j->before > 0 && j->after > 0)
		buffer_print(ret, "%+.1f %% (noise %.1f %%, gate %.1f %%)", percent_of(j->change), percent_of(j->noise),
			     100 * d->gate);
	if (j->is_pair && fabs(j->common) >= 0.005)
		buffer_print(ret, "; %+.1f %% is common to all rows", percent_of(j->common));
	if (j->explained >= d->gate)
		buffer_print(ret, "; %+.1f %% by rows whose change is no noise", 100 * j->explained);
	if (!d->is_worse_as_whole)
		add_wholes(d, "; ", ret);
	if (d->is_unsampled)
		buffer_text(ret, "; most of a run is CPU time without samples: record with -s cpu");
	if (j->verdict == DIFF_UNCLEAR)
		add_why_unclear(d, ret);
	if (j->verdict != DIFF_NOT_WORSE && worst != SIZE_MAX && j->before > 0) {
		const struct judged *r = &d->judged[worst];

		buffer_text(ret, ". The most is added by ");
		name_shorten(ret, d->rows[worst].name);
		if (d->rows[worst].line)
			buffer_print(ret, " at %s", d->rows[worst].line);
		buffer_print(ret, ": %.1f %%", 100 * (r->after - r->before) / j->before);
	}
}
