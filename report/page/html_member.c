/* SPDX-License-Identifier: Apache-2.0 */
/* Members of the JSON of a detail, and the tracks that several parts of the timeline add to. */
#include <inttypes.h>

#include "report/page/export_html.h"

void html_member(struct buffer *json, const char *name)
{
	buffer_print(json, "%s\"%s\":", json->data[json->size - 1] == '{' ? "" : ",", name);
}

void html_member_text(struct buffer *json, const char *name, const char *text)
{
	html_member(json, name);
	json_add(json, text);
}

void html_member_number(struct buffer *json, const char *name, uint64_t number)
{
	html_member(json, name);
	buffer_print(json, "\"%" PRIu64 "\"", number);
}

void html_member_handle(struct buffer *json, const char *name, uint64_t handle)
{
	html_member(json, name);
	buffer_print(json, "\"0x%" PRIx64 "\"", handle);
}

void html_member_shape(struct buffer *json, const uint32_t *grid, const uint32_t *block)
{
	html_member(json, "grid");
	buffer_print(json, "\"%u × %u × %u\"", grid[0], grid[1], grid[2]);
	html_member(json, "block");
	buffer_print(json, "\"%u × %u × %u\"", block[0], block[1], block[2]);
}

struct html_track *html_thread_track(struct html *h, enum html_track_kind kind, const struct trace_thread *thread)
{
	bool is_main = thread->tid == h->image->pid;
	uint64_t image = (uint64_t)(h->image - h->model->images);
	struct html_track *t = html_track(h, kind, is_main ? h->image->process << 1 : image << 1 | 1,
					  is_main ? 0 : thread->number, NULL);
	SCOPED(buffer) name = {0};

	if (t->labelled == h->image)
		return t;
	t->labelled = h->image;
	thread_label(thread, &name);
	t->label = html_string(h, name.data);
	t->tid = thread->tid;
	return t;
}

struct html_track *html_process_track(struct html *h, enum html_track_kind kind, uint64_t which, const char *label)
{
	bool is_new;
	struct html_track *t = html_track(h, kind, h->image->process << 1, which, &is_new);

	if (is_new)
		t->label = html_string(h, label);
	return t;
}
