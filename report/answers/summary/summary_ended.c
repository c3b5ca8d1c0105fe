/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_ended.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/summary/summary_deadlock.h"
#include "report/answers/where_text.h"
#include "report/tables/report.h"

const char *const ended_words[ENDED_KINDS] = {"OUT OF MEMORY", "DIED FIRST", "CRASH", "DEADLOCK", "COLLECTIVE",
					       "STALLED"};

/* In which lines ranks that do not go on are named. */
static enum ended_kind kind_of_stall(enum where_stall stall)
{
	enum ended_kind kind = ENDED_DEADLOCK;

	while (strcmp(ended_words[kind], where_text_word(stall)) != 0)
		kind++;
	return kind;
}

static void find_ended(struct rules *r, struct ended *e)
{
	const struct model *m = r->context->model;
	struct died *d = &e->died;
	SCOPED(where_ranks) ranks = {0};
	enum where_stall stall;
	size_t stalled;

	summary_died_find(m, d);
	e->has_ranks = d->has_ranks;
	where_place_read_briefly(&e->place, m, r->context->symbols);
	e->hangs = summary_deadlock(m, &e->place, &e->lines[ENDED_DEADLOCK]);
	stalled = summary_stall_find(m, &e->place, STALLED_NS, &ranks, &stall);
	if (e->hangs + stalled && summary_was_ended(m, d, e->hangs || stall >= WHERE_IN_CALLS)) {
		summary_died_done(d);
		d->process = NULL;
	}
	summary_oom(m, d, &e->lines[ENDED_MEMORY]);
	summary_died(r, d, &e->place, &e->lines[d->is_of_ranks ? ENDED_DIED : ENDED_CRASH]);
	/* Else the other ranks wait for the one that died; mpirun waits until that is said. */
	if (stalled && !(d->is_of_ranks && summary_has_died(d))) {
		summary_stall_text(m, &e->place, &ranks, &e->lines[kind_of_stall(stall)]);
		e->hangs += stalled;
	}
}

bool ended_text(const struct ended *e, struct buffer *out)
{
	size_t before = out->size;

	for (size_t i = 0; i < ENDED_KINDS; i++)
		buffer_text(out, buffer_string(&e->lines[i]));
	return out->size > before;
}

const struct ended *rules_ended(struct rules *r)
{
	if (!r->ended) {
		r->ended = mem_alloc(sizeof(*r->ended));
		find_ended(r, r->ended);
	}
	return r->ended;
}

void ended_free(struct ended *e)
{
	for (size_t i = 0; e && i < ENDED_KINDS; i++)
		buffer_done(&e->lines[i]);
	if (e) {
		where_place_done(&e->place);
		summary_died_done(&e->died);
	}
	free(e);
}

/* ---- the table ---- */

static void add_text(struct table *t, const char *text)
{
	table_cells(t, cell_if(text && *text, text));
}

struct ended_rows {
	struct table *table;
	const struct code_line **lines; /* of each kind the first one */
};

static void line_cell(struct ended_rows *rows, enum ended_kind kind, const struct code_line *line)
{
	code_line_cell(line, NULL, rows->table);
	rows->lines[kind] = rows->lines[kind] ? rows->lines[kind] : line;
}

static void add_death(struct rules *r, const struct died *d, struct ended_rows *rows)
{
	enum ended_kind kind = d->is_of_ranks ? ENDED_DIED : ENDED_CRASH;
	struct table *t = rows->table;
	const struct model *m = r->context->model;
	const struct process *p = d->process;
	SCOPED(buffer) signal = {0};
	const struct code_line *line = NULL;
	struct crash found;
	const struct exception *e = d->exception.image ? &d->exception : NULL;
	bool has = !e && crash_find(m, p, &found);

	if (d->signal)
		crash_signal(d->signal, has ? &found : NULL, &signal);
	if (has && found.what.stack)
		line = rule_line(r, found.image, found.what.stack);
	if (e && e->file)
		line = symbols_line(r->context->symbols, e->function, e->file, e->line);
	table_cells(t, ended_words[kind], p->pid, m->machines[p->machine].host);
	add_text(t, p->rank);
	table_cells(t, cell_if(has || e, e ? e->tid : found.what.tid));
	add_text(t, has && found.thread ? found.thread->name : "");
	table_text(t, e ? e->text : d->signal ? signal.data : p->ended);
	line_cell(rows, kind, line);
	table_nothings(t, 2); /* what it waited for */
	table_number(t, model_since_origin(m, e ? e->at_ns : p->end_ns));
}

static void add_oom(const struct model *m, const struct run_record *run, struct table *t)
{
	SCOPED(buffer) text = {0};

	buffer_print(&text, "the kernel killed %llu processes of cgroup %s", (unsigned long long)run->oom_kills,
		     run->oom_group ? run->oom_group : "");
	table_cells(t, ended_words[ENDED_MEMORY], NO_CELL, m->machines[run->machine].host, NO_CELL, NO_CELL, NO_CELL,
		    text.data);
	table_nothings(t, 4);
}

/* A thread that waits, since when its call began. */
static void add_waiting(struct rules *r, enum ended_kind kind, const struct where_item *item, struct ended_rows *rows)
{
	const struct model *m = r->context->model;
	struct table *t = rows->table;
	const struct where_frame *frame = where_item_line(item);
	const struct code_line *line = frame ? frame->line : NULL;
	const struct image *image = item->image;
	uint64_t seen_ns = !image	       ? 0
			   : item->is_recorded ? m->processes[image->process].end_ns
					       : clock_map_ns(&m->machines[image->machine].clock, item->process->ticks);

	table_cells(t, ended_words[kind], item->process->head.pid);
	add_text(t, image ? m->machines[image->machine].host : "");
	add_text(t, item->rank);
	table_number(t, item->thread->head.tid);
	add_text(t, item->thread->name);
	table_text(t, image ? m->processes[image->process].ended : "");
	/* that of the frame goes with the place */
	line_cell(rows, kind,
		  line ? symbols_line(r->context->symbols, line->function, line->file, line->line) : NULL);
	add_text(t, item->wait.text.data);
	table_cells(t, cell_if(item->wait.owner, item->wait.owner),
		    cell_if(item->has_age && seen_ns, model_since_origin(m, seen_ns - item->age_ns)));
}

static void add_hangs(struct rules *r, const struct where_place *place, struct ended_rows *rows)
{
	SCOPED(where_ranks) ranks = {0};

	for (size_t i = 0; i < place->count; i++)
		if (place->items[i].cycle && where_cycle_is_proved(place, place->items[i].cycle))
			add_waiting(r, ENDED_DEADLOCK, &place->items[i], rows);
	where_ranks_find(place, &ranks);
	for (size_t i = 0; i < ranks.item_count && ranks.least_ns >= STALLED_NS; i++) {
		where_place_stack(place, ranks.items[i]);
		add_waiting(r, kind_of_stall(ranks.stall), ranks.items[i], rows);
	}
}

void summary_ended(struct rules *r, struct table *t, const struct code_line *ret_lines[ENDED_KINDS])
{
	struct ended_rows rows = {t, ret_lines};
	const struct ended *e = rules_ended(r);
	const struct model *m = r->context->model;

	table_has(t, COL_KIND, COL_PID, COL_HOST, COL_RANK, COL_TID, COL_THREAD, COL_ENDED, COL_LINE, COL_WAITS_FOR,
		  COL_OWNER, COL_AT_NS);
	if (e->died.oom)
		add_oom(m, e->died.oom, t);
	if (summary_has_died(&e->died))
		add_death(r, &e->died, &rows);
	add_hangs(r, &e->place, &rows);
}
