/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/where_text.h"

#include "report/answers/rule.h"
#include "report/base/text.h"

void where_text_state(const struct where_item *item, struct buffer *ret)
{
	const char *call = item->name ? item->name : item->wait.call;

	call = call ? call : "";
	text_escape(ret, call, "");
	if (item->has_age) {
		buffer_text(ret, " for ");
		rule_time(ret, item->age_ns);
	}
	if (where_item_exits(item))
		buffer_text(ret, " as it exits");
	if (item->wait.text.size) {
		buffer_text(ret, *call ? ": " : "");
		text_escape(ret, item->wait.text.data, "");
	}
	if (!*call && !item->wait.text.size)
		buffer_text(ret, "blocked in the kernel");
}

void where_text_line(const struct where_item *item, struct buffer *ret)
{
	const struct where_frame *last = where_item_last_line(item), *line = last ? last : where_item_line(item);

	if (!line)
		return;
	buffer_text(ret, item->is_recorded || last ? ", last recorded at " : " at ");
	code_line_text(line->line, ret);
}

/* "sleep for 3 s", or "computes", and where. */
static void add_place(const struct where_item *item, struct buffer *ret)
{
	bool computes = !item->name && item->thread->head.flags & TF_WHERE_IS_RUNNING;

	if (computes)
		buffer_text(ret, "computes");
	else
		where_text_state(item, ret);
	where_text_line(item, ret);
}

void where_text_missing(const struct where_ranks *r, const struct where_item *item, struct buffer *ret)
{
	buffer_print(ret, "%zu of %zu ranks are in %s; rank %s, PID %u, ", r->in, r->count, r->name, item->rank,
		     item->process->head.pid);
	if (r->stall != WHERE_LATE) {
		buffer_text(ret, "is not: ");
		add_place(item, ret);
		return;
	}
	buffer_text(ret, "has not come");
	if (r->least_ns) {
		buffer_text(ret, " for ");
		rule_time(ret, r->least_ns);
	}
	buffer_text(ret, ": ");
	if (item->stack.count && !item->stack.is_complete) /* it may be in the collective as well */
		buffer_text(ret, "its stack is not known completely; ");
	add_place(item, ret);
}

void where_text_rank(const struct where_item *item, struct buffer *ret)
{
	buffer_print(ret, "rank %s, PID %u: %s", item->rank, item->process->head.pid, item->wait.collective);
	if (item->has_age) {
		buffer_text(ret, " for ");
		rule_time(ret, item->age_ns);
	}
	where_text_line(item, ret);
	if (*item->waits_for)
		buffer_print(ret, ", waits for %s", item->waits_for);
}

const char *where_text_word(enum where_stall stall)
{
	return stall <= WHERE_IN_CALLS ? "STALLED" : stall == WHERE_MISSING ? "COLLECTIVE" : "DEADLOCK";
}

const char *where_text_stall(enum where_stall stall)
{
	switch (stall) {
	case WHERE_IN_CALLS:
		return "every rank is in a call, and none has ended since";
	case WHERE_MISMATCH:
		return "the ranks are in calls that do not match";
	case WHERE_NOBODY_SENDS:
		return "every rank receives, and none sends";
	case WHERE_NOBODY_RECEIVES:
		return "every rank sends, and none receives";
	case WHERE_EACH_OTHER:
		return "ranks wait for each other";
	case WHERE_NO_STALL:
	case WHERE_LATE:
	case WHERE_MISSING:
		break;
	}
	return "";
}
