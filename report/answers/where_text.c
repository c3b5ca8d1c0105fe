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
	if (item->wait.text.size) {
		buffer_text(ret, *call ? ": " : "");
		text_escape(ret, item->wait.text.data, "");
	}
	if (!*call && !item->wait.text.size)
		buffer_text(ret, "blocked in the kernel");
}

void where_text_line(const struct where_item *item, struct buffer *ret)
{
	const struct where_frame *line = where_item_line(item);

	if (!line)
		return;
	buffer_text(ret, item->is_recorded ? ", last recorded at " : " at ");
	code_line_text(line->line, ret);
}

void where_text_missing(const struct where_ranks *r, const struct where_item *item, struct buffer *ret)
{
	buffer_print(ret, "%zu of %zu ranks are in %s; ", r->in, r->count, r->name);
	if (!item->stack.is_complete && !item->wait.collective) { /* it may be in the collective as well */
		buffer_print(ret, "the stack of rank %s, PID %u, is not known: ask again", item->rank,
			     item->process->head.pid);
		return;
	}
	buffer_print(ret, "rank %s, PID %u, is not: ", item->rank, item->process->head.pid);
	where_text_state(item, ret);
	where_text_line(item, ret);
}

void where_text_rank(const struct where_item *item, struct buffer *ret)
{
	buffer_print(ret, "rank %s, PID %u: %s", item->rank, item->process->head.pid,
		     item->name ? item->name : item->wait.collective);
	if (item->has_age) {
		buffer_text(ret, " for ");
		rule_time(ret, item->age_ns);
	}
	where_text_line(item, ret);
}

const char *where_text_stall(enum where_stall stall)
{
	switch (stall) {
	case WHERE_MISMATCH:
		return "the ranks are in calls that do not match";
	case WHERE_NOBODY_SENDS:
		return "every rank receives, and none sends";
	case WHERE_NOBODY_RECEIVES:
		return "every rank sends, and none receives";
	case WHERE_NO_STALL:
	case WHERE_MISSING:
		break;
	}
	return "";
}
