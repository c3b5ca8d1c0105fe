/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/summary/summary_deadlock.h"

#include <inttypes.h>
#include <string.h>

#include "report/answers/summary/summary_died.h"
#include "report/answers/summary/summary_time.h"
#include "report/answers/where_text.h"
#include "report/base/text.h"
#include "report/read/job/command.h"

enum { SHOWN = 3, SHOWN_THREADS = 6, NAME_WIDTH = 40 };

static bool is_main(const struct where_item *item)
{
	return item->thread->head.tid == item->process->head.pid;
}

/* A thread's name, unless it is that of its process. */
static void add_thread(const struct where_item *item, struct buffer *out)
{
	const struct look_thread *first = look_thread(item->process, item->process->head.pid);

	if (is_main(item)) {
		buffer_text(out, "the main thread");
		return;
	}
	buffer_print(out, "thread %" PRIu32, item->thread->head.tid);
	if (*item->thread->name && !(first && !strcmp(first->name, item->thread->name))) {
		buffer_text(out, " (");
		text_fit(out, item->thread->name, NAME_WIDTH);
		buffer_text(out, ")");
	}
}

/* " at file:line", or " in function". */
static void add_line(const struct where_item *item, struct buffer *out)
{
	const struct where_frame *frame = where_item_line(item);

	if (!frame)
		return;
	if (frame->line->file) {
		buffer_text(out, " at ");
		text_fit(out, code_line_file(frame->line->file), NAME_WIDTH);
		buffer_print(out, ":%" PRIu32, frame->line->line);
	} else {
		buffer_text(out, " in ");
		text_shorten(out, frame->line->function, NAME_WIDTH);
	}
}

static void add_wait(const struct where_item *item, struct buffer *out)
{
	if (item->wait.kind)
		buffer_print(out, " waits for a %s of ", item->wait.kind);
	else
		buffer_text(out, " waits for the end of ");
}

/* Its threads in the order of waiting, each once. */
static size_t cycle_items(const struct where_place *p, uint32_t cycle, const struct where_item **ret, size_t most)
{
	size_t at = 0, first, count = 0;

	while (at < p->count && p->items[at].cycle != cycle)
		at++;
	first = at;
	do {
		if (at >= p->count)
			return count;
		if (count < most)
			ret[count] = &p->items[at];
		count++;
		at = where_place_find(p, p->items[at].process, p->items[at].wait.owner);
	} while (at != first && count <= p->count);
	return count;
}

static void add_end(const struct model *m, const struct where_item *item, struct buffer *out)
{
	const struct process *lost;

	buffer_print(out, "; process %" PRIu32 " ", item->process->head.pid);
	if (!item->image)
		return;
	text_fit(out, m->processes[item->image->process].command, NAME_WIDTH);
	if (*item->rank) {
		buffer_text(out, ", rank ");
		text_fit(out, item->rank, NAME_WIDTH);
		buffer_text(out, " on ");
		text_fit(out, m->machines[item->image->machine].host, NAME_WIDTH);
	}
	lost = summary_lost_worker(m, &m->processes[item->image->process], NULL);
	if (lost)
		buffer_print(out, ", whose worker %" PRIu32 " was %s", lost->pid, lost->ended);
}

/* Whether a thread is told of first: it has a line of the program, and waits for more than the end of a child. */
static bool is_telling(const struct where_item *item)
{
	const struct where_frame *line = where_item_line(item);

	return line && !line->is_library && item->wait.waits != WAITS_CHILD && item->wait.waits != WAITS_CHILD_ID;
}

/* Its threads, those first that tell something. Returns how many there are. */
static size_t set_items(const struct where_place *p, uint32_t cycle, const struct where_item **ret, size_t most,
			size_t *ret_processes)
{
	const struct look_process *last = NULL;
	size_t count = 0, shown = 0;

	*ret_processes = 0;
	for (int tells = 1; tells >= 0; tells--)
		list_each(const struct where_item, item, p) {
			if (item->cycle != cycle || is_telling(item) != (bool)tells)
				continue;
			count++;
			if (shown < most)
				ret[shown++] = item;
		}
	for (size_t i = 0; i < p->count; i++) {
		if (p->items[i].cycle != cycle)
			continue;
		*ret_processes += p->items[i].process != last;
		last = p->items[i].process;
	}
	return count;
}

/* "a task ended by ValueError: message at job.py:3 parse" */
static bool add_raised_task(const struct where_item *item, struct buffer *out)
{
	array_each(const struct look_task, task, item->process->tasks, item->process->task_count) {
		SCOPED(where_stack) frames = {0};
		SCOPED(exception) raised = {.text = task->raised ? command_mask(task->raised) : NULL};
		const struct where_frame *line = NULL;

		if (!raised.text)
			continue;
		if (item->stack.lines) {
			where_stack_of_task(&item->stack, item->process, task, &frames);
			line = where_stack_line(&frames);
		}
		if (line && line->line->file) {
			raised.file = mem_copy_text(line->line->file, strlen(line->line->file));
			raised.line = line->line->line;
			raised.function = mem_copy_text(line->line->function, strlen(line->line->function));
		}
		buffer_text(out, "a task ended by ");
		exception_print(&raised, out);
		return true;
	}
	return false;
}

/* What ended a thread or a task that the others may wait for: "thread 11 ended by ValueError: ...". */
static bool add_raised(const struct model *m, const struct where_item *item, struct buffer *out)
{
	const struct process *p = item->image && !item->is_recorded ? &m->processes[item->image->process] : NULL;
	SCOPED(exception) e = {0};
	uint64_t seen_ns;

	if (!p)
		return false;
	seen_ns = clock_map_ns(&m->machines[p->machine].clock, item->process->ticks);
	/* A thread that goes on has caught it; one whose frames were still there has merely logged it. */
	if (exception_find(m, p, &e) && e.at_ns <= seen_ns &&
	    (e.tid == p->pid || (e.is_last && !look_thread(item->process, e.tid)))) {
		if (e.tid == p->pid)
			buffer_text(out, "the main thread ended by ");
		else
			buffer_print(out, "thread %" PRIu32 " ended by ", e.tid);
		exception_print(&e, out);
		return true;
	}
	exception_done(&e);
	if (!exception_of_loop(m, p, &e) || e.at_ns > seen_ns)
		return add_raised_task(item, out);
	buffer_text(out, "a task ended by ");
	exception_print(&e, out);
	return true;
}

/* "all 3 threads wait, and nothing else can wake them: the main thread at job.py:3 waits for a semaphore, ...". */
static void add_set(const struct model *m, const struct where_place *p, uint32_t cycle, struct buffer *out)
{
	const struct where_item *items[SHOWN_THREADS];
	size_t processes, count = set_items(p, cycle, items, SHOWN_THREADS, &processes);
	size_t shown = count < SHOWN_THREADS ? count : SHOWN_THREADS;
	SCOPED(buffer) raised = {0};

	buffer_print(out, "%-*s ", SUMMARY_LABEL, "DEADLOCK");
	for (size_t i = 0; i < shown && !raised.size; i++)
		add_raised(m, items[i], &raised);
	if (raised.size)
		buffer_print(out, "after %s,\n%*s ", raised.data, SUMMARY_LABEL, "");
	if (processes > 1)
		buffer_print(out, "all %zu processes wait, and nothing else can wake them: ", processes);
	else if (count > 1)
		buffer_print(out, "all %zu threads wait, and nothing else can wake them: ", count);
	for (size_t i = 0; i < shown; i++) {
		const struct where_item *item = items[i];

		if (i)
			buffer_print(out, ",\n%*s ", SUMMARY_LABEL, "");
		if (processes > 1)
			buffer_print(out, "process %" PRIu32 ", ", item->process->head.pid);
		add_thread(item, out);
		add_line(item, out);
		if (item->wait.kind)
			buffer_print(out, " waits for a %s", item->wait.kind);
		else
			buffer_print(out, " waits for the end of thread %" PRIu32, item->wait.owner);
		if (item->wait.tasks.size)
			buffer_print(out, ", in which %s", item->wait.tasks.data);
	}
	if (count > shown)
		buffer_print(out, " (and %zu threads more)", count - shown);
	if (count == 1)
		buffer_text(out, ", and no other thread is there to wake it");
	add_end(m, items[0], out);
	buffer_text(out, "\n");
}

static void add_cycle(const struct model *m, const struct where_place *p, uint32_t cycle, struct buffer *out)
{
	const struct where_item *items[SHOWN_THREADS];
	size_t count = cycle_items(p, cycle, items, SHOWN_THREADS);
	size_t shown = count < SHOWN_THREADS ? count : SHOWN_THREADS;

	if (where_cycle_is_process(p, cycle)) {
		add_set(m, p, cycle, out);
		return;
	}
	buffer_print(out, "%-*s ", SUMMARY_LABEL, "DEADLOCK");
	if (count == 1) {
		add_thread(items[0], out);
		add_line(items[0], out);
		buffer_print(out, " waits for a %s that it holds itself",
			     items[0]->wait.kind ? items[0]->wait.kind : "lock");
		add_end(m, items[0], out);
		buffer_text(out, "\n");
		return;
	}
	add_thread(items[0], out);
	add_line(items[0], out);
	for (size_t i = 0; i < shown; i++) {
		if (i)
			buffer_print(out, ",\n%*s which", SUMMARY_LABEL, "");
		add_wait(items[i], out);
		add_thread(items[(i + 1) % shown], out);
		if (i + 1 < shown)
			add_line(items[i + 1], out);
	}
	if (count > shown)
		buffer_print(out, " (and %zu threads more)", count - shown);
	add_end(m, items[0], out);
	buffer_text(out, "\n");
}

size_t summary_deadlock(const struct model *m, const struct where_place *place, struct buffer *out)
{
	size_t proved = 0;

	for (uint32_t cycle = 1; cycle <= place->cycles; cycle++)
		if (where_cycle_is_proved(place, cycle) && proved++ < SHOWN)
			add_cycle(m, place, cycle, out);
	if (proved > SHOWN)
		buffer_print(out, "%-*s %zu more\n", SUMMARY_LABEL, "DEADLOCK", proved - SHOWN);
	return proved;
}

void deadlock_places(const struct where_place *place, struct texts *ret)
{
	list_each(const struct where_item, item, place) {
		const struct where_frame *frame = item->cycle && where_cycle_is_proved(place, item->cycle)
							  ? where_item_line(item)
							  : NULL;
		SCOPED(buffer) text = {0};

		if (frame && code_line_place(frame->line, &text))
			texts_add(ret, "%s", text.data);
	}
}

static bool has_rank(const struct where_place *place, const char *rank)
{
	return list_find(item, place, !strcmp(item->rank, rank) && item->image->end != TF_END_EXIT) != NULL;
}

/* NULL: none, of the ranks that all others wait for. */
static const struct process *first_ended(const struct model *m, const struct where_place *place)
{
	return array_find(p, m->processes, m->process_count,
			  !p->is_running && p->exit_status >= 0 && *p->rank && !has_rank(place, p->rank));
}

size_t summary_stall_find(const struct model *m, const struct where_place *place, uint64_t least_ns,
			  struct where_ranks *ret, enum where_stall *ret_stall)
{
	size_t named;

	where_ranks_find(place, ret);
	named = ret->stall && ret->least_ns >= least_ns ? ret->item_count : 0;
	*ret_stall = named && ret->stall == WHERE_IN_CALLS && first_ended(m, place) ? WHERE_MISSING : ret->stall;
	return named;
}

void summary_stall_text(const struct model *m, const struct where_place *place, const struct where_ranks *ranks,
			struct buffer *out)
{
	const struct process *ended = ranks->stall == WHERE_IN_CALLS ? first_ended(m, place) : NULL;
	bool names_missing = ranks->stall == WHERE_LATE || ranks->stall == WHERE_MISSING;

	if (ended) {
		buffer_print(out, "%-*s all ranks that are left, %zu, are in %s; rank ", SUMMARY_LABEL, "COLLECTIVE",
			     ranks->in, ranks->name);
		text_fit(out, ended->rank, NAME_WIDTH);
		buffer_print(out, ", PID %u, has ended: %s\n", ended->pid, ended->ended);
		return;
	}
	for (size_t i = 0; i < ranks->item_count && i < SHOWN; i++) {
		where_place_stack(place, ranks->items[i]);
		buffer_print(out, "%-*s ", SUMMARY_LABEL, i && !names_missing ? "" : where_text_word(ranks->stall));
		if (names_missing) {
			where_text_missing(ranks, ranks->items[i], out);
		} else {
			if (!i)
				buffer_print(out, "%s: ", where_text_stall(ranks->stall));
			where_text_rank(ranks->items[i], out);
		}
		buffer_text(out, "\n");
	}
	if (ranks->item_count > SHOWN)
		buffer_print(out, "%*s and %zu more ranks\n", SUMMARY_LABEL, "", ranks->item_count - SHOWN);
}

size_t summary_stall(const struct model *m, const struct where_place *place, uint64_t least_ns,
		     enum where_stall *ret_stall, struct buffer *out)
{
	SCOPED(where_ranks) ranks = {0};
	size_t named = summary_stall_find(m, place, least_ns, &ranks, ret_stall);

	if (named)
		summary_stall_text(m, place, &ranks, out);
	return named;
}
