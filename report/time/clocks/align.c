/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/clocks/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEETINGS = 4096, MEETINGS_LEAST = 64, FEWEST = 3 };
#define MEETINGS_BYTES ((size_t)256 << 20) /* of all teams together */
#define OFFSET_MOST_NS 4e18
#define CONTRADICTION_NS 1e6

static const char *const source_names[ALIGN_SOURCES] = {[ALIGN_MPI] = "MPI", [ALIGN_NCCL] = "NCCL"};

/* One meeting as one side saw it: its last entry and its first exit. */
struct meeting {
	uint64_t enter, exit;
	uint32_t ranks, kind;
};

/* The part of a team that is on one side. */
struct team_part {
	size_t side;
	uint64_t error_ns;
	struct meeting *meetings;
};

struct team {
	enum align_source source;
	struct team_part *parts;
	size_t count, capacity;
	struct map by_side;  /* part + 1 */
	struct map ranks;    /* number -> its image */
	uint64_t common;     /* number of meetings that all ranks have */
	uint64_t stride;     /* every stride-th meeting is kept */
	size_t kept;	     /* number of meetings kept */
	const char *trouble; /* NULL: none */
};

/* All machines that share one clock. */
struct side {
	size_t machine; /* any of them */
	struct clock_offset offset;
	uint64_t error_ns;
	size_t root;	   /* the side whose CLOCK_REALTIME is the common time; may be the side itself */
	bool is_placed, is_refused, is_followed;
	struct buffer how;
};

struct align {
	struct model *m;
	struct side *sides;
	size_t side_count, side_capacity;
	size_t *side_of; /* by machine */
	size_t base;	 /* the side of rank 0; SIZE_MAX: not known */
	struct team **teams;
	size_t team_count, team_capacity;
	struct map by_id; /* source and id -> team + 1 */
	struct align_bound *bounds;
	size_t bound_capacity;
};

/* ---- participants ---- */

static bool same_clock(const struct machine *a, const struct machine *b)
{
	return a == b || (a->boot[0] ? !strcmp(a->boot, b->boot) : !strcmp(a->host, b->host));
}

static void find_sides(struct align *a)
{
	const struct model *m = a->m;

	a->side_of = mem_alloc((m->machine_count + 1) * sizeof(*a->side_of));
	for (size_t i = 0; i < m->machine_count; i++) {
		size_t k = 0;

		while (k < a->side_count && !same_clock(&m->machines[a->sides[k].machine], &m->machines[i]))
			k++;
		a->side_of[i] = k;
		if (k < a->side_count)
			continue;
		mem_append(a->sides, a->side_count, a->side_capacity, (struct side){.machine = i});
	}
}

static struct team *find_team(const struct align *a, enum align_source source, uint64_t id)
{
	const uint64_t *place = map_find(&a->by_id, id, source);

	return place ? a->teams[*place - 1] : NULL;
}

static struct team *team_of(struct align *a, enum align_source source, uint64_t id)
{
	uint64_t *place = map_put(&a->by_id, id, source, NULL);

	if (*place)
		return a->teams[*place - 1];
	a->teams = mem_grow(a->teams, a->team_count, &a->team_capacity, sizeof(*a->teams));
	a->teams[a->team_count] = mem_alloc(sizeof(struct team));
	*a->teams[a->team_count] = (struct team){.source = source, .common = UINT64_MAX};
	*place = ++a->team_count;
	return a->teams[*place - 1];
}

static struct team_part *find_part(const struct team *t, size_t side)
{
	const uint64_t *place = map_find(&t->by_side, side, 0);

	return place ? &t->parts[*place - 1] : NULL;
}

static struct team_part *team_part_of(struct team *t, size_t side)
{
	uint64_t *place = map_put(&t->by_side, side, 0, NULL);

	if (*place)
		return &t->parts[*place - 1];
	mem_append(t->parts, t->count, t->capacity, (struct team_part){.side = side});
	*place = t->count;
	return &t->parts[*place - 1];
}

void align_join(struct align *a, enum align_source source, const struct align_rank *r)
{
	struct team *t = team_of(a, source, r->team);
	size_t side = a->side_of[r->image->machine];
	struct team_part *p = team_part_of(t, side);

	p->error_ns = r->error_ns > p->error_ns ? r->error_ns : p->error_ns;
	t->common = r->meetings < t->common ? r->meetings : t->common;
	if (r->number >= 0) {
		bool is_new;
		uint64_t *image = map_put(&t->ranks, (uint64_t)r->number, 0, &is_new);

		if (!is_new && *image != (uintptr_t)r->image)
			t->trouble = "belong to several jobs";
		*image = (uintptr_t)r->image;
	}
	if (a->base == SIZE_MAX && !strcmp(image_rank(r->image), "0"))
		a->base = side;
}

/* ---- meetings ---- */

/* Called once all ranks have joined. */
void align_choose_meetings(struct align *a)
{
	size_t parts = array_sum(one, a->teams, a->team_count, (*one)->count > 1 ? (*one)->count : 0), most = MEETINGS;

	while (most > MEETINGS_LEAST && parts * most * sizeof(struct meeting) > MEETINGS_BYTES)
		most /= 2;
	for (size_t i = 0; i < a->team_count; i++) {
		struct team *t = a->teams[i];

		if (t->count < 2 || t->trouble || t->common < 1)
			continue;
		t->stride = (t->common - 1) / most + 1;
		t->kept = (size_t)((t->common - 1) / t->stride + 1);
		for (size_t k = 0; k < t->count; k++)
			t->parts[k].meetings = mem_alloc(t->kept * sizeof(struct meeting));
	}
}

bool align_wants(const struct align *a, enum align_source source, uint64_t team, uint64_t number)
{
	const struct team *t = find_team(a, source, team);

	return t && t->kept && number < t->common && number % t->stride == 0;
}

void align_meet(struct align *a, enum align_source source, uint64_t team, const struct image *image,
		const struct align_meeting *m)
{
	struct team *t = find_team(a, source, team);
	struct team_part *p = t && t->kept ? find_part(t, a->side_of[image->machine]) : NULL;
	struct meeting *to;

	if (!p || !align_wants(a, source, team, m->number))
		return;
	to = &p->meetings[m->number / t->stride];
	if (to->ranks && to->kind != m->kind)
		t->trouble = "do not match";
	to->kind = m->kind;
	to->enter = !to->ranks || m->enter > to->enter ? m->enter : to->enter;
	to->exit = !to->ranks || m->exit < to->exit ? m->exit : to->exit;
	to->ranks++;
}

static void check_kinds(struct team *t)
{
	for (size_t i = 0; i < t->kept; i++) {
		const struct meeting *first = NULL;

		for (size_t k = 0; k < t->count; k++) {
			const struct meeting *m = &t->parts[k].meetings[i];

			if (!m->ranks)
				continue;
			if (first && first->kind != m->kind)
				t->trouble = "do not match";
			first = m;
		}
	}
}

/* ---- placing one side relative to another ---- */

static double difference_ns(uint64_t a, uint64_t b)
{
	return (double)(int64_t)(a - b);
}

/* Bounds on how far `y` is ahead of the common time, from its meetings with `x`, which is already placed. */
static size_t add_bounds(struct align *a, const struct team *t, const struct team_part *x, const struct team_part *y,
			 size_t count, uint64_t *since)
{
	const struct clock_offset *offset = &a->sides[x->side].offset;
	double error = (double)x->error_ns + (double)y->error_ns;

	for (size_t i = 0; i < t->kept; i++) {
		const struct meeting *mx = &x->meetings[i], *my = &y->meetings[i];
		uint64_t enter = clock_offset_remove(offset, mx->enter), exit = clock_offset_remove(offset, mx->exit);

		if (!mx->ranks || !my->ranks)
			continue;
		if (!count)
			*since = exit;
		mem_append(a->bounds, count, a->bound_capacity,
			   (struct align_bound){.at = difference_ns(exit, *since),
						.ahead = difference_ns(my->exit, exit),
						.least = difference_ns(my->enter, exit) - error,
						.most = difference_ns(my->exit, enter) + error});
	}
	return count;
}

static const char *host_name(const struct align *a, size_t side)
{
	return a->m->machines[a->sides[side].machine].host;
}

static void align_refuse_side(struct side *s, const char *source, double contradiction)
{
	s->is_refused = true;
	buffer_set(&s->how, "its CLOCK_REALTIME: %s collectives contradict each other by %.0f ns", source,
		   contradiction);
}

static void align_place_side(struct align *a, enum align_source source, size_t by, struct side *s,
			     const struct align_fit *f, uint64_t since)
{
	s->is_placed = true;
	s->root = a->sides[by].root;
	a->sides[s->root].is_followed = true;
	/* The drift per ns of this clock. */
	s->offset.drift = f->drift / (1 + f->drift);
	s->offset.ahead_ns = f->offset;
	s->offset.since_ns = since + (uint64_t)(int64_t)f->offset;
	s->error_ns = (uint64_t)f->error;
	buffer_set(&s->how, "%zu %s collectives: %.0f ns ahead of %s, drifting by %.3f us per second", f->count,
		   source_names[source], f->offset, host_name(a, s->root), f->drift * 1e6);
	if (by != s->root)
		buffer_print(&s->how, ", through %s", host_name(a, by));
}

/* Places the side relative to `by` unless the other source gave a smaller error. */
static void place_relative_to(struct align *a, enum align_source source, size_t by, size_t side)
{
	struct side *s = &a->sides[side];
	struct align_fit f;
	uint64_t since = 0;
	size_t count = 0;

	for (size_t i = 0; i < a->team_count; i++) {
		const struct team *t = a->teams[i];
		const struct team_part *x = t->kept && !t->trouble && t->source == source ? find_part(t, by) : NULL;
		const struct team_part *y = x ? find_part(t, side) : NULL;

		if (y)
			count = add_bounds(a, t, x, y, count, &since);
	}
	if (count < FEWEST)
		return;
	f = align_fit(a->bounds, count);
	f.error += (double)a->sides[by].error_ns;
	if (f.contradiction > CONTRADICTION_NS || fabs(f.offset) > OFFSET_MOST_NS || f.error > OFFSET_MOST_NS) {
		if (!s->is_placed)
			align_refuse_side(s, source_names[source], f.contradiction);
	} else if (!s->is_placed || f.error < (double)s->error_ns) {
		align_place_side(a, source, by, s, &f, since);
	}
}

/* Places all sides that met the root, then those that met them, and so on. */
static void propagate_offsets_from(struct align *a, size_t root, size_t *queue)
{
	size_t count = 0;

	a->sides[root].is_placed = true;
	a->sides[root].root = root;
	queue[count++] = root;
	for (size_t next = 0; next < count; next++)
		for (size_t i = 0; i < a->side_count; i++) {
			if (a->sides[i].is_placed || a->sides[i].is_refused)
				continue;
			for (enum align_source source = 0; source < ALIGN_SOURCES; source++)
				place_relative_to(a, source, queue[next], i);
			if (a->sides[i].is_placed)
				queue[count++] = i;
		}
}

/* Begins with the machine of rank 0. */
static void place_all(struct align *a)
{
	SCOPED_MEMORY size_t *queue = mem_alloc(a->side_count * sizeof(*queue));

	if (a->base != SIZE_MAX)
		propagate_offsets_from(a, a->base, queue);
	for (size_t i = 0; i < a->side_count; i++)
		if (!a->sides[i].is_placed && !a->sides[i].is_refused)
			propagate_offsets_from(a, i, queue);
}

/* ---- results ---- */

/* For sides that could not be placed. */
static void describe_trouble(struct align *a)
{
	for (size_t i = 0; i < a->team_count; i++) {
		const struct team *t = a->teams[i];

		for (size_t k = 0; t->trouble && t->count > 1 && k < t->count; k++) {
			struct side *s = &a->sides[t->parts[k].side];

			if (!s->how.size && !s->is_followed)
				buffer_print(&s->how, "its CLOCK_REALTIME: %s collectives %s", source_names[t->source],
					     t->trouble);
		}
	}
}

/* State kept with a model: how each of its machines was placed. */
struct methods {
	char **items; /* NULL: by its CLOCK_REALTIME */
	size_t count;
};

static void methods_done(void *state)
{
	struct methods *methods = state;

	array_free(item, methods->items, methods->count, free(*item));
}

static const struct attachment_kind methods_kind = {sizeof(struct methods), methods_done};

const char *align_method(const struct model *m, size_t machine)
{
	const struct methods *methods = attachment_find(&m->attachments, &methods_kind);

	return methods && machine < methods->count ? methods->items[machine] : NULL;
}

static void place_clocks(struct align *a)
{
	static const char followed[] = "its CLOCK_REALTIME, the reference of other machines";
	struct methods *methods = attachment_get(&a->m->attachments, &methods_kind);
	bool has_moved = false;

	methods_done(methods);
	methods->items = mem_alloc(a->m->machine_count * sizeof(*methods->items));
	methods->count = a->m->machine_count;
	for (size_t i = 0; i < a->m->machine_count; i++) {
		const struct side *s = &a->sides[a->side_of[i]];

		if (s->is_followed)
			methods->items[i] = mem_copy_text(followed, sizeof(followed) - 1);
		else if (s->how.size)
			methods->items[i] = mem_copy_text(s->how.data, s->how.size);
		if (!s->is_placed || s->root == a->side_of[i])
			continue;
		has_moved = true;
		clock_map_place(&a->m->machines[i].clock, &s->offset, s->error_ns);
	}
	if (has_moved)
		model_order(a->m);
}

struct align *align_begin(struct model *m)
{
	struct align *a = mem_alloc(sizeof(*a));

	*a = (struct align){.m = m, .base = SIZE_MAX};
	find_sides(a);
	return a;
}

bool align_is_needed(const struct align *a)
{
	return a->side_count > 1;
}

void align_place(struct align *a)
{
	for (size_t i = 0; i < a->team_count; i++)
		check_kinds(a->teams[i]);
	place_all(a);
	describe_trouble(a);
	place_clocks(a);
}

void align_end(struct align *a)
{
	for (size_t i = 0; i < a->team_count; i++) {
		array_free(part, a->teams[i]->parts, a->teams[i]->count, free(part->meetings));
		map_done(&a->teams[i]->by_side);
		map_done(&a->teams[i]->ranks);
		free(a->teams[i]);
	}
	array_free(one, a->sides, a->side_count, buffer_done(&one->how));
	free(a->teams);
	free(a->side_of);
	free(a->bounds);
	map_done(&a->by_id);
	free(a);
}
