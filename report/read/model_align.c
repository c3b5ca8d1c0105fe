/* SPDX-License-Identifier: Apache-2.0 */
/* Machines placed beside each other by what their ranks did together. Nobody leaves a barrier before the last one came: for a
 * clock that is ahead by x, x <= its exit - the other's entry, and x >= its entry - the other's exit. All leave at about the
 * same time: that is the estimate; the bounds give its error. Only the ranks of one MPI job, recorded from MPI_Init on and
 * without a loss, are sure to count alike; otherwise the machines stay where their time of day places them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "operation.h"

enum { WORLD = 0x44000000 }; /* as trace_format.h says of TF_FIELD_COMMUNICATOR */
enum { MEETINGS = 4096, FEWEST = 3, DRIFT_FEWEST = 12 };
#define DRIFT_SPAN_NS 1e9
#define DRIFT_MOST 0.01 /* more is no clock */
#define OFFSET_MOST_NS 4e18
#define CONTRADICTION_NS 1e6

enum collective { NONE, BARRIER, ALLREDUCE };

/* One collective, of one machine: the last entry, the first exit; ns on its own axis. */
struct meeting {
	uint64_t enter, exit;
	uint32_t ranks;
	uint8_t kind; /* enum collective */
};

/* All that has one clock. */
struct side {
	size_t machine; /* one of them */
	struct meeting meetings[MEETINGS];
};

struct rank {
	const struct image *image;
	const struct trace_thread *thread;
	uint64_t collectives;
};

struct alignment {
	struct model *m;
	struct rank *ranks; /* that can be counted on */
	size_t rank_count, rank_capacity;
	struct side **sides; /* the first is the one by which the others are placed */
	size_t count, capacity;
	uint64_t stride; /* every so many-th collective is kept */
	uint64_t common; /* collectives that every rank has */
	bool is_mixed; /* they do not match */
};

static enum collective collective_of(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL && e->args_count ? trace_function(t, e->id) : NULL;
	enum collective kind = !f || f->group != TF_GROUP_MPI	   ? NONE
			       : !strcmp(f->name, "MPI_Barrier")   ? BARRIER
			       : !strcmp(f->name, "MPI_Allreduce") ? ALLREDUCE
								   : NONE;
	struct tf_operation op;
	int64_t communicator, count;

	if (!kind || !operation_of(t, e, &op) || !operation_field(&op, TF_FIELD_COMMUNICATOR, &communicator) || communicator != WORLD)
		return NONE;
	/* Of nothing it need not wait for anybody. */
	return kind == ALLREDUCE && (!operation_field(&op, TF_FIELD_COUNT, &count) || count <= 0) ? NONE : kind;
}

static bool begins_job(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(t, e->id) : NULL;

	return f && f->group == TF_GROUP_MPI && (!strcmp(f->name, "MPI_Init") || !strcmp(f->name, "MPI_Init_thread"));
}

/* The thread that did all of its rank's collectives; NULL: none, several, or something of it was lost. */
static const struct trace_thread *rank_thread(const struct trace *t, uint64_t *ret_count)
{
	const struct trace_thread *found = NULL;
	bool has_begin = false;

	for (size_t i = 0; t && i < t->thread_count; i++) {
		const struct trace_thread *thread = &t->threads[i];
		uint64_t count = 0;
		struct cursor cursor;
		struct event e;

		if (!(thread->args & 1u << TF_ARG_OPERATION))
			continue;
		cursor_init(&cursor, t, thread);
		while (cursor_next(&cursor, &e)) {
			has_begin |= begins_job(t, &e);
			count += collective_of(t, &e) != NONE;
		}
		if (count && (found || !thread->page || thread->page->lost || cursor.torn || cursor.broken))
			return NULL;
		if (count) {
			found = thread;
			*ret_count = count;
		}
	}
	return has_begin ? found : NULL;
}

/* Keeps every other one: the others' numbers are those of all sides. */
static void thin_out(struct alignment *a)
{
	for (size_t i = 0; i < a->count; i++) {
		struct meeting *all = a->sides[i]->meetings;

		for (size_t k = 0; k < MEETINGS / 2; k++)
			all[k] = all[2 * k];
		memset(all + MEETINGS / 2, 0, MEETINGS / 2 * sizeof(*all));
	}
	a->stride *= 2;
}

static void add_meeting(struct alignment *a, struct side *s, uint64_t number, enum collective kind, uint64_t enter, uint64_t exit)
{
	struct meeting *m;

	while (number / a->stride >= MEETINGS)
		thin_out(a);
	if (number % a->stride)
		return;
	m = &s->meetings[number / a->stride];
	a->is_mixed |= m->ranks && m->kind != kind;
	m->kind = (uint8_t)kind;
	m->enter = !m->ranks || enter > m->enter ? enter : m->enter;
	m->exit = !m->ranks || exit < m->exit ? exit : m->exit;
	m->ranks++;
}

static bool same_clock(const struct machine *a, const struct machine *b)
{
	return a == b || (a->boot[0] ? !strcmp(a->boot, b->boot) : !strcmp(a->host, b->host));
}

static struct side *side_of(struct alignment *a, size_t machine)
{
	for (size_t i = 0; i < a->count; i++)
		if (same_clock(&a->m->machines[a->sides[i]->machine], &a->m->machines[machine]))
			return a->sides[i];
	a->sides = mem_grow(a->sides, a->count, &a->capacity, sizeof(*a->sides));
	a->sides[a->count] = mem_alloc(sizeof(struct side));
	a->sides[a->count]->machine = machine;
	return a->sides[a->count++];
}

static void add_rank(struct alignment *a, const struct rank *r)
{
	const struct axis *axis = &a->m->machines[r->image->machine].axis;
	struct side *s = side_of(a, r->image->machine);
	uint64_t number = 0;
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, r->image->trace, r->thread);
	while (cursor_next(&cursor, &e)) {
		enum collective kind = collective_of(r->image->trace, &e);

		if (kind)
			add_meeting(a, s, number++, kind, axis_ns(axis, event_start(&e)), axis_ns(axis, e.ticks));
	}
	if (r->collectives < a->common)
		a->common = r->collectives;
}

/* ---- one clock beside another ---- */

struct fit {
	double at[MEETINGS], ahead[MEETINGS], least[MEETINGS], most[MEETINGS]; /* ns since the first meeting; at that time */
	double sorted[MEETINGS];
	size_t count;
	uint64_t since;
	double offset, drift, error, contradiction;
};

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static double median(struct fit *f, const double *values, size_t from, size_t to)
{
	size_t count = to - from;

	memcpy(f->sorted, values + from, count * sizeof(*values));
	qsort(f->sorted, count, sizeof(*values), compare_doubles);
	return (f->sorted[(count - 1) / 2] + f->sorted[count / 2]) / 2;
}

static double less(uint64_t a, uint64_t b)
{
	return (double)(int64_t)(a - b);
}

static void collect(struct alignment *a, const struct side *base, const struct side *s, struct fit *f)
{
	uint64_t most = (a->common + a->stride - 1) / a->stride;

	f->count = 0;
	f->since = base->meetings[0].exit;
	for (size_t i = 0; i < most && i < MEETINGS; i++) {
		const struct meeting *x = &base->meetings[i], *y = &s->meetings[i];

		a->is_mixed |= x->kind != y->kind;
		if (!x->ranks || !y->ranks)
			continue;
		f->at[f->count] = less(x->exit, f->since);
		f->ahead[f->count] = less(y->exit, x->exit);
		f->least[f->count] = less(y->enter, x->exit);
		f->most[f->count] = less(y->exit, x->enter);
		f->count++;
	}
}

static void find_drift(struct fit *f)
{
	size_t third = f->count / 3;
	double span;

	f->drift = 0;
	if (f->count < DRIFT_FEWEST || f->at[f->count - 1] - f->at[0] < DRIFT_SPAN_NS)
		return;
	span = median(f, f->at, f->count - third, f->count) - median(f, f->at, 0, third);
	if (span < DRIFT_SPAN_NS / 2)
		return;
	f->drift = (median(f, f->ahead, f->count - third, f->count) - median(f, f->ahead, 0, third)) / span;
	for (size_t i = 0; i < f->count; i++) {
		f->ahead[i] -= f->drift * f->at[i];
		f->least[i] -= f->drift * f->at[i];
		f->most[i] -= f->drift * f->at[i];
	}
}

static void find_offset(struct fit *f)
{
	double least = -INFINITY, most = INFINITY;

	f->offset = median(f, f->ahead, 0, f->count);
	for (size_t i = 0; i < f->count; i++) {
		least = fmax(least, f->least[i]);
		most = fmin(most, f->most[i]);
	}
	f->contradiction = f->drift > -DRIFT_MOST && f->drift < DRIFT_MOST ? fmax(0, least - most) : INFINITY;
	if (least > most) {
		f->offset = (least + most) / 2;
		f->error = least - most;
	} else {
		f->offset = fmin(fmax(f->offset, least), most);
		f->error = fmax(f->offset - least, most - f->offset);
	}
}

static void place(struct alignment *a, const struct side *s, const struct fit *f)
{
	static const char by_day[] = "its time of day, and others by it";
	struct machine *base = &a->m->machines[a->sides[0]->machine];

	for (size_t i = 0; i < a->m->machine_count; i++) {
		struct machine *machine = &a->m->machines[i];
		struct buffer text = {0};

		if (!same_clock(machine, &a->m->machines[s->machine]))
			continue;
		if (f->contradiction > CONTRADICTION_NS || fabs(f->offset) > OFFSET_MOST_NS || f->error > OFFSET_MOST_NS) {
			buffer_print(&text, "its time of day: MPI collectives contradict each other by %.0f ns", f->contradiction);
		} else {
			/* Drift as of this clock's own ns. */
			machine->axis.drift = f->drift / (1 + f->drift);
			machine->axis.ahead_ns = f->offset;
			machine->axis.since_ns = f->since + (uint64_t)(int64_t)f->offset;
			machine->axis.error_ns = (uint64_t)f->error;
			buffer_print(&text, "%zu MPI collectives: it was %.0f ns ahead of %s, and %.3f us more each second", f->count,
				     f->offset, base->host, f->drift * 1e6);
			mem_replace_text(&base->placed, mem_copy_text(by_day, sizeof(by_day) - 1));
		}
		mem_replace_text(&machine->placed, text.data);
	}
}

static void find_ranks(struct alignment *a)
{
	for (size_t i = 0; i < a->m->image_count; i++) {
		struct rank r = {.image = &a->m->images[i]};

		r.thread = rank_thread(r.image->trace, &r.collectives);
		if (!r.thread)
			continue;
		a->ranks = mem_grow(a->ranks, a->rank_count, &a->rank_capacity, sizeof(*a->ranks));
		a->ranks[a->rank_count++] = r;
	}
}

/* False: there is a rank twice. */
static bool is_one_job(const struct alignment *a)
{
	struct map known = {0};
	bool is_one = true;

	for (size_t i = 0; i < a->rank_count && is_one; i++)
		if (image_rank(a->ranks[i].image)[0])
			map_put(&known, strtoull(image_rank(a->ranks[i].image), NULL, 10), 0, &is_one);
	map_done(&known);
	return is_one;
}

static bool are_several(const struct model *m)
{
	for (size_t i = 1; i < m->machine_count; i++)
		if (!same_clock(&m->machines[0], &m->machines[i]))
			return true;
	return false;
}

/* By the machine of rank 0, or of the first. */
static void place_all(struct alignment *a)
{
	struct fit *f = mem_alloc(sizeof(*f));

	for (size_t i = 0; i < a->rank_count; i++)
		if (!strcmp(image_rank(a->ranks[i].image), "0"))
			side_of(a, a->ranks[i].image->machine);
	for (size_t i = 0; i < a->rank_count; i++)
		add_rank(a, &a->ranks[i]);
	for (size_t i = 1; i < a->count; i++) {
		collect(a, a->sides[0], a->sides[i], f);
		if (a->is_mixed || f->count < FEWEST)
			continue;
		find_drift(f);
		find_offset(f);
		place(a, a->sides[i], f);
	}
	free(f);
}

void model_align(struct model *m)
{
	struct alignment a = {.m = m, .stride = 1, .common = UINT64_MAX};

	if (!are_several(m))
		return;
	find_ranks(&a);
	if (is_one_job(&a))
		place_all(&a);
	for (size_t i = 0; i < a.count; i++)
		free(a.sides[i]);
	free(a.sides);
	free(a.ranks);
}
