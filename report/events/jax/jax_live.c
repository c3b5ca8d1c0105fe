/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/jax/jax_live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"

/* What one look found of one item. */
struct live_finding {
	size_t item, look;
	uint64_t buffers, bytes;
};

struct live_scan {
	struct jax_live *live;
	struct attribution *attribution;
	const struct image *image;
	const struct clock_map *clock;
	size_t first_look; /* of the image */
	struct map looks;  /* number -> position, of the image */
	struct map known;  /* (array and devices, stack), ids of the image -> item + 1 */
	struct live_finding *findings;
	size_t count, capacity;
};

/* ---- reading ---- */

static size_t look_of(struct live_scan *s, const struct tf_jax_live *head)
{
	struct jax_live *l = s->live;

	return map_place(&s->looks, head->number, 0, l->looks, l->look_count, l->look_capacity,
			 (struct jax_look){.image = s->image,
					   .number = head->number,
					   .ns = clock_map_ns(s->clock, head->ticks)});
}

static void add_text(const struct live_scan *s, uint32_t id, struct buffer *key)
{
	if (!trace_definition_text(s->image->trace, TF_BLOB_STRING, id, key))
		buffer_text(key, "?");
	buffer_add(key, "", 1);
}

static size_t item_of(struct live_scan *s, const struct tf_jax_buffers *b)
{
	uint64_t *known = map_put(&s->known, (uint64_t)b->array << 32 | b->devices, b->stack, NULL);
	struct jax_live *l = s->live;
	SCOPED(buffer) key = {0};
	size_t number;

	if (*known)
		return *known - 1;
	buffer_print(&key, "%zu%c", (size_t)s->first_look, 0);
	add_text(s, b->array, &key);
	add_text(s, b->devices, &key);
	attribution_text(s->attribution, s->image, b->stack, "", &key);
	number = interner_number(&l->keys, key.data, key.size);
	*known = number + 1;
	if (number == l->count) {
		list_add(l, (struct jax_buffers){.image = s->image,
						 .array = interner_field(&l->keys, number, 1),
						 .devices = interner_field(&l->keys, number, 2),
						 .line = interner_field(&l->keys, number, 3)});
	}
	return number;
}

static void read_part(struct live_scan *s, const struct blob *blob)
{
	const struct trace *t = s->image->trace;
	uint8_t bytes[TF_BLOB_BYTES];
	struct tf_jax_buffers b;
	struct tf_jax_live head;
	size_t size, look;

	size = trace_blob(t, blob, bytes, sizeof(bytes));
	if (size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	if (!filter_shows(t, head.ticks, head.ticks))
		return;
	look = look_of(s, &head);
	for (size_t at = sizeof(head); at + sizeof(b) <= size; at += sizeof(b)) {
		memcpy(&b, bytes + at, sizeof(b));
		s->live->looks[look].buffers += b.count;
		s->live->looks[look].bytes += b.bytes;
		if (!s->attribution)
			continue;
		mem_append(s->findings, s->count, s->capacity,
			   (struct live_finding){item_of(s, &b), look, b.count, b.bytes});
	}
}

/* ---- what was alive at which look ---- */

COMPARATOR(compare_findings, struct live_finding, order_of(a->item, b->item) ?: order_of(a->look, b->look))

/* Findings of one item at one look are one: their lines are the same, though their stacks are not. */
static void fold(struct live_scan *s, size_t first, size_t last)
{
	sort_unless_sorted(s->findings, s->count, sizeof(*s->findings), compare_findings);
	for (size_t i = 0, next; i < s->count; i = next) {
		const struct live_finding *f = &s->findings[i];
		const struct jax_look *look = &s->live->looks[f->look];
		struct jax_buffers *item = &s->live->items[f->item];
		uint64_t buffers = 0, bytes = 0;

		for (next = i; next < s->count && !compare_findings(f, &s->findings[next]); next++) {
			buffers += s->findings[next].buffers;
			bytes += s->findings[next].bytes;
		}
		if (look->is_peak) {
			item->buffers = buffers;
			item->bytes = bytes;
		}
		item->first = f->look == first ? bytes : item->first;
		item->last = f->look == last ? bytes : item->last;
		item->most = bytes > item->most ? bytes : item->most;
	}
}

COMPARATOR(compare_looks, struct jax_look, order_of(a->ns, b->ns) ?: order_of(a->number, b->number))

static void image_end(struct live_scan *s)
{
	struct jax_look *looks = s->live->looks;
	size_t first = s->first_look, last = first, peak = first;

	for (size_t i = s->first_look; i < s->live->look_count; i++) {
		first = compare_looks(&looks[i], &looks[first]) < 0 ? i : first;
		last = compare_looks(&looks[i], &looks[last]) > 0 ? i : last;
		if (looks[i].bytes > looks[peak].bytes ||
		    (looks[i].bytes == looks[peak].bytes && compare_looks(&looks[i], &looks[peak]) < 0))
			peak = i;
	}
	if (s->first_look == s->live->look_count)
		return;
	looks[peak].is_peak = true;
	fold(s, first, last);
	sort_unless_sorted(looks + s->first_look, s->live->look_count - s->first_look, sizeof(*looks), compare_looks);
}

void jax_live_make(const struct model *m, struct attribution *attribution, struct jax_live *ret)
{
	*ret = (struct jax_live){0};
	for (size_t i = 0; i < m->image_count; i++) {
		struct live_scan s = {.live = ret,
				      .attribution = attribution,
				      .image = &m->images[i],
				      .clock = &m->machines[m->images[i].machine].clock,
				      .first_look = ret->look_count};

		blobs_each(b, s.image->trace, TF_BLOB_JAX_LIVE)
			read_part(&s, b);
		image_end(&s);
		free(s.findings);
		map_done(&s.looks);
		map_done(&s.known);
	}
}

void jax_live_done(struct jax_live *l)
{
	free(l->looks);
	free(l->items);
	interner_done(&l->keys);
	*l = (struct jax_live){0};
}
