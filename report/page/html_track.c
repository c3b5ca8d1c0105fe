/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, names, details and tracks of a page by index, and the blocks of its events. */
#include <stdlib.h>
#include <string.h>

#include "report/base/text.h"
#include "report/base/varint.h"
#include "report/page/export_html.h"

uint32_t html_string(struct html *h, const char *text)
{
	SCOPED(buffer) safe = {0};
	uint64_t *place, hash;

	text_escape(&safe, text, "");
	buffer_text(&safe, "");
	for (hash = hash_bytes(safe.data, safe.size);; hash++) {
		place = map_put(&h->by_string, hash, 0, NULL);
		if (!*place) {
			texts_add(&h->strings, "%s", safe.data);
			*place = h->strings.count;
		}
		if (!strcmp(h->strings.items[*place - 1], safe.data))
			break;
	}
	return (uint32_t)*place - 1;
}

uint32_t html_name(struct html *h, unsigned int category, const char *text)
{
	uint32_t string = html_string(h, text);
	bool is_new;
	uint64_t *place = map_put(&h->by_name, string, category, &is_new);

	if (is_new) {
		*place = h->name_count;
		h->names = mem_grow(h->names, h->name_count, &h->name_capacity, 2 * sizeof(*h->names));
		h->names[2 * h->name_count] = string;
		h->names[2 * h->name_count++ + 1] = category;
	}
	return (uint32_t)*place;
}

uint32_t html_detail(struct html *h, uint64_t key, void (*make)(struct html *h, const void *from, struct buffer *json),
		     const void *from)
{
	bool is_new;
	uint64_t *place = map_put(&h->by_detail, key, (uint64_t)(h->image - h->model->images), &is_new);

	if (is_new) {
		buffer_set(&h->scratch, "{");
		make(h, from, &h->scratch);
		buffer_text(&h->scratch, "}");
		texts_add(&h->details, "%s", h->scratch.data);
		*place = h->details.count;
	}
	return (uint32_t)*place;
}

struct html_track *html_track(struct html *h, enum html_track_kind kind, uint64_t a, uint64_t b, bool *ret_new)
{
	bool is_new;
	uint64_t *place = map_put(&h->by_track, a, b << 4 | kind, &is_new);

	if (ret_new)
		*ret_new = is_new;
	if (is_new) {
		*place = h->track_count;
		mem_append(h->tracks, h->track_count, h->track_capacity,
			   (struct html_track){.kind = kind, .process = (uint32_t)h->image->process});
	}
	return &h->tracks[*place];
}

static void track_flush_block(struct html *h, struct html_track *t)
{
	if (!t->count)
		return;
	buffer_clear(&h->scratch);
	buffer_varint(&h->scratch, (uint64_t)(t - h->tracks));
	buffer_varint(&h->scratch, t->used);
	buffer_varint(&h->scratch, t->count);
	pack_take(h->pack, &h->scratch);
	for (int i = 0; i < HTML_COLUMNS; i++)
		if (t->used & 1u << i)
			pack_take(h->pack, &t->columns[i]);
	for (int i = 0; i < HTML_COLUMNS; i++)
		buffer_done(&t->columns[i]);
	t->count = t->used = 0;
	t->last_start = t->last_link = 0;
}

/* A column is created with its first nonzero value; the zeros before it are added then. */
static void track_put_number(struct html_track *t, enum html_column column, uint64_t number)
{
	static const char zeros[256];

	if (!number && !(t->used & 1u << column))
		return;
	if (!(t->used & 1u << column)) {
		t->used |= 1u << column;
		for (uint32_t left = t->count; left;) {
			uint32_t piece = left < sizeof(zeros) ? left : (uint32_t)sizeof(zeros);

			buffer_add(&t->columns[column], zeros, piece);
			left -= piece;
		}
	}
	buffer_varint(&t->columns[column], number);
}

/* Differences of times from a damaged file may wrap. */
void html_add(struct html *h, struct html_track *t, const struct html_event *e)
{
	track_put_number(t, HTML_START, zigzag((int64_t)((uint64_t)e->start - (uint64_t)t->last_start)));
	track_put_number(t, HTML_DURATION, e->duration);
	track_put_number(t, HTML_NAME, e->name);
	track_put_number(t, HTML_DETAIL, e->detail);
	track_put_number(t, HTML_VALUE, zigzag(e->value));
	track_put_number(t, HTML_LINK, zigzag((int64_t)(e->link - t->last_link)));
	t->last_start = e->start;
	t->last_link = e->link;
	h->event_count += t->kind < HTML_COUNTER;
	if (++t->count == HTML_BLOCK_EVENTS)
		track_flush_block(h, t);
}

void html_flush(struct html *h)
{
	for (size_t i = 0; i < h->track_count; i++)
		track_flush_block(h, &h->tracks[i]);
}

void html_done(struct html *h)
{
	for (size_t i = 0; i < h->track_count; i++)
		for (int k = 0; k < HTML_COLUMNS; k++)
			buffer_done(&h->tracks[i].columns[k]);
	free(h->tracks);
	free(h->names);
	texts_done(&h->strings);
	texts_done(&h->details);
	map_done(&h->by_string);
	map_done(&h->by_name);
	map_done(&h->by_detail);
	map_done(&h->by_track);
	buffer_done(&h->scratch);
	buffer_done(&h->operations);
}
