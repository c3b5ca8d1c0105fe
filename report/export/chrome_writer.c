/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of export_chrome write with: texts that are made once, and the members of an event. */

#include "report/base/table/json_writer.h"
#include "report/export/export_chrome.h"

const struct buffer *chrome_text(struct chrome *w, enum timeline_text kind, uint64_t number,
				 void (*make)(struct chrome *w, enum timeline_text kind, uint64_t number,
					      struct buffer *json))
{
	uint64_t *slot = timeline_slot(&w->timeline, kind, number);
	struct buffer json = {0};

	if (*slot)
		return &w->texts[*slot - 1];
	make(w, kind, number, &json);
	mem_append(w->texts, w->text_count, w->text_capacity, json);
	*timeline_slot(&w->timeline, kind, number) = w->text_count;
	return &w->texts[w->text_count - 1];
}

static void make_string(struct chrome *w, enum timeline_text kind, uint64_t number, struct buffer *json)
{
	SCOPED(buffer) text = {0};

	timeline_text(&w->timeline, kind, number, &text);
	json_add(json, buffer_string(&text));
}

const struct buffer *chrome_string(struct chrome *w, uint32_t number)
{
	return chrome_text(w, TEXT_STRING, number, make_string);
}

void chrome_begin(struct chrome *w)
{
	sink_add(w->out, ",\n", w->has_events ? 2 : 0);
	w->has_events = true;
}

void chrome_time(struct chrome *w, uint64_t ns)
{
	sink_text(w->out, ",\"ts\":");
	sink_us(w->out, (int64_t)(ns - w->timeline.model->origin_ns));
}

void chrome_meta(struct chrome *w, uint32_t pid, uint32_t tid, const char *what, const char *key, const char *value)
{
	chrome_begin(w);
	sink_text(w->out, "{\"ph\":\"M\",\"name\":\"");
	sink_text(w->out, what);
	chrome_number(w, "\",\"pid\":", pid);
	chrome_number(w, ",\"tid\":", tid);
	sink_text(w->out, ",\"ts\":0,\"args\":{\"");
	sink_text(w->out, key);
	sink_text(w->out, "\":");
	sink_text(w->out, value);
	sink_text(w->out, "}}");
}
