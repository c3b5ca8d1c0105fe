/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/ring/ring.h"

#include <string.h>

#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* Parts of --ring in a turn. With SIZE, so many turns are kept that they, the one before them, whose definitions they
 * need, and the one that is written have that size at most. */
enum { PARTS = 8, KEPT_BY_SIZE = 5 };

/* A forked child uses that of its parent, whose contents it does not need. */
static struct record_ring *mapped;

/* Empties a table; its memory is used again. In a forked child and in this image, the pages are zero after this. */
static void table_clear(struct intern_table *t)
{
	for (int i = 0; i < INTERN_LEVELS && t->level[i]; i++)
		sys_madvise(t->level[i], ((size_t)INTERN_FIRST_LEVEL << 2 * i) * sizeof(struct intern_entry),
			    MADV_DONTNEED);
}

void ring_begin(struct tf_header *header)
{
	struct record_ring *r = mapped;
	uint64_t now = clock_now();

	if (!options_have_ring(&process_options))
		return;
	if (!r)
		r = mapped = sys_mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!r)
		return;
	for (int i = 0; i < RING_TURNS; i++)
		table_clear(&r->tables[i]);
	memset(r, 0, offsetof(struct record_ring, tables));
	memset(r->classes, 0, offsetof(struct record_ring, pages) - offsetof(struct record_ring, classes));
	r->current = r->used = 1;
	r->kept_ticks = clock_ticks(process_options.ring_ns);
	r->length = r->kept_ticks / PARTS;
	r->turn_bytes = process_options.ring_bytes / PARTS;
	r->begins[0] = now;
	header->ring_ticks = 0;
	__atomic_store_n(&process.ring, r, __ATOMIC_RELEASE);
}

/* ---- turns ---- */

static uint64_t ring_begin_of(const struct record_ring *r, uint32_t turn)
{
	return r->begins[turn % RING_TURNS];
}

/* The first turn that is kept; 0: all are. */
static uint32_t ring_first_kept(const struct record_ring *r, uint64_t now)
{
	uint32_t turn = r->turn;

	if (!r->kept_ticks)
		return turn > KEPT_BY_SIZE ? turn - KEPT_BY_SIZE : 0;
	while (turn && turn + RING_TURNS - 2 > r->turn && ring_begin_of(r, turn) + r->kept_ticks > now)
		turn--;
	return turn;
}

/* The table after the current one gets the memory of the table before the current one, which no thread uses any more,
 * except one that has been interrupted for the length of a turn. What that one adds does no harm: it writes the
 * definition as well. */
static void ring_next_table(struct record_ring *r)
{
	uint32_t next = r->current % (RING_TURNS - 1) + 1, before = r->current > 1 ? r->current - 1 : RING_TURNS - 1;
	struct intern_table *to = &r->tables[next], *from = &r->tables[before];

	for (int i = 0; i < INTERN_LEVELS; i++)
		if (!to->level[i]) {
			to->level[i] = from->level[i];
			__atomic_store_n(&from->level[i], NULL, __ATOMIC_RELEASE);
		}
	table_clear(to);
	__atomic_store_n(&r->current, next, __ATOMIC_RELEASE);
}

/* Descriptors and directories are described again when they are used. */
static void ring_forget_descriptors(void)
{
	process_forget_descriptors();
	for (uint32_t i = 0; i < PROCESS_DIRECTORIES; i++)
		__atomic_store_n(&process.directories[i], 0, __ATOMIC_RELAXED);
}

bool ring_turn(uint64_t now)
{
	struct record_ring *r = process.ring;
	uint32_t place = r->turn % RING_TURNS, first;

	if (r->length ? now < r->begins[place] + r->length : r->taken < r->takens[place] + r->turn_bytes)
		return false;
	place = ++r->turn % RING_TURNS;
	r->begins[place] = now;
	r->takens[place] = r->taken;
	ring_next_table(r);
	__atomic_fetch_add(&process.defined_in, PROCESS_TURN, __ATOMIC_RELEASE);
	ring_forget_descriptors();
	first = ring_first_kept(r, now);
	if (first < 2)
		return true;
	/* before any place that is older is used again */
	__atomic_store_n(&process.header->ring_ticks, ring_begin_of(r, first), __ATOMIC_RELEASE);
	r->reused_before = ring_begin_of(r, first - 1);
	return true;
}

/* ---- places ---- */

static struct ring_class *ring_class_of(struct record_ring *r, uint32_t size)
{
	for (int i = 0; i < RING_CLASSES; i++) {
		if (!r->classes[i].size)
			r->classes[i].size = size;
		if (r->classes[i].size == size)
			return &r->classes[i];
	}
	return NULL;
}

uint64_t ring_take(uint32_t size)
{
	struct record_ring *r = process.ring;
	struct ring_class *c = ring_class_of(r, size);
	struct ring_place *place = c && c->first ? &r->places[c->first] : NULL;
	uint32_t next;

	r->taken += size;
	if (!place || place->ticks >= r->reused_before)
		return 0;
	process.header->ring_bytes += size;
	process.header->ring_events += place->events;
	next = place->next;
	place->next = r->free;
	r->free = c->first;
	c->first = next;
	return place->offset;
}

static struct ring_place *ring_new_place(struct record_ring *r, uint32_t *ret_number)
{
	*ret_number = r->free;
	if (r->free)
		r->free = r->places[r->free].next;
	else if (r->used < RING_PLACES)
		*ret_number = r->used++;
	return *ret_number ? &r->places[*ret_number] : NULL;
}

/* What the ledger states of a place when it is used again. */
static uint32_t count_events(const struct tf_chunk *chunk)
{
	const uint64_t *at = (const uint64_t *)((const char *)chunk + tf_slots_offset(chunk)),
		       *end = (const uint64_t *)((const char *)chunk + chunk->size_bytes);
	uint32_t events = 0;

	for (; at < end; at++)
		events += TF_EVENT_KINDS >> tf_kind(*at) & 1;
	return events;
}

/* The page of the first thread stays: it has what the image recorded before it had a trace file. */
void ring_give(const struct tf_chunk *chunk)
{
	struct record_ring *r = process.ring;
	struct ring_class *c = ring_class_of(r, chunk->size_bytes);
	struct ring_place *place;
	uint32_t number;

	for (uint32_t i = 0; chunk->kind == TF_CHUNK_FIRST && i < r->pages_count; i++)
		if (r->pages[i] == (const struct tf_thread *)chunk)
			r->pages[i] = NULL;
	if (!c || (chunk->kind == TF_CHUNK_FIRST && !chunk->thread) || !(place = ring_new_place(r, &number)))
		return;
	*place = (struct ring_place){.ticks = clock_now(), .offset = chunk->offset, .events = count_events(chunk)};
	if (c->first)
		r->places[c->last].next = number;
	else
		c->first = number;
	c->last = number;
}

void ring_add_page(struct tf_thread *page)
{
	struct record_ring *r = process.ring;
	uint32_t i = 0;

	while (i < r->pages_count && r->pages[i])
		i++;
	if (i == RING_PAGES)
		return;
	r->pages[i] = page;
	r->pages_count += i == r->pages_count;
}
