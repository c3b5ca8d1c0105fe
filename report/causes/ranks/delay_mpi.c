/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of ranks of MPI, and when the ranks that wait and the late ones had last met. */
#include "report/causes/ranks/rank_build.h"

struct mpi_delays {
	struct delays *delays;
	struct map teams; /* hash of the ranks of a collective -> when the last of them arrived at the last one */
	struct map pairs; /* two ranks -> when the later one came to their last wait */
	uint64_t all_ns;  /* likewise of the last collective that all had to enter, on a communicator of every rank */
	size_t most;	  /* ranks of the largest communicator */
};

static uint64_t team_of(const struct mpi_side *sides, size_t count)
{
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ (uintptr_t)sides[i].image) * 0x9e3779b97f4a7c15u;
	return hash;
}

static uint64_t waited_until(const struct mpi_side *waiting, const struct mpi_side *late)
{
	return late->start_ns < waiting->end_ns ? late->start_ns : waiting->end_ns;
}

static void add_wait(struct delays *d, const struct mpi_side *waiting, const struct mpi_side *late, uint64_t since_ns)
{
	delays_wait(d, &(struct rank_wait){.start_ns = waiting->start_ns,
					   .end_ns = waiting->end_ns,
					   .late_ns = waited_until(waiting, late),
					   .since_ns = since_ns < waiting->start_ns ? since_ns : waiting->start_ns,
					   .waiting = delays_lane(d, waiting->image),
					   .late = delays_lane(d, late->image),
					   .group = delays_group(d, waiting->image, waiting->function, waiting->stack),
					   .meeting = d->meetings});
}

/* Of the meeting of the last wait. */
static void add_member(struct delays *d, const struct mpi_side *side)
{
	struct rank_wait w;

	if (!d->wait_count || d->waits[d->wait_count - 1].meeting != d->meetings)
		return;
	w = d->waits[d->wait_count - 1];
	w.start_ns = w.late_ns = side->start_ns;
	w.end_ns = side->end_ns;
	w.waiting = delays_lane(d, side->image);
	delays_wait(d, &w);
}

/* Of a collective that not all have to enter before one of them leaves, and of a message. */
static void visit_pair(void *context, const struct mpi_wait *w)
{
	struct mpi_delays *m = context;
	uint32_t a = delays_lane(m->delays, w->waiting.image), b = delays_lane(m->delays, w->late.image);
	uint64_t *last;

	if (w->is_meeting || w->ns < RANK_WAIT_NS || a == b)
		return;
	last = map_put(&m->pairs, a < b ? a : b, a < b ? b : a, NULL);
	add_wait(m->delays, &w->waiting, &w->late, *last > m->all_ns ? *last : m->all_ns);
	m->delays->meetings++;
	*last = waited_until(&w->waiting, &w->late);
}

static bool is_wait(const struct mpi_side *side, const struct mpi_side *late)
{
	return waited_until(side, late) >= side->start_ns + RANK_WAIT_NS;
}

static void visit_meeting(void *context, const struct mpi_side *sides, size_t count, size_t only)
{
	struct mpi_delays *m = context;
	uint64_t *last = map_put(&m->teams, team_of(sides, count), 0, NULL);
	uint64_t since_ns = *last > m->all_ns ? *last : m->all_ns;
	const struct mpi_side *late = NULL;

	for (size_t i = 0; i < count; i++)
		if (i != only && (!late || sides[i].start_ns > late->start_ns))
			late = &sides[i];
	for (size_t i = 0; i < count; i++)
		if (is_wait(&sides[i], late) && (only == SIZE_MAX || only == i) && sides[i].is_shown)
			add_wait(m->delays, &sides[i], late, since_ns);
	/* those that come nearly as late do not wait */
	for (size_t i = 0; i < count && only == SIZE_MAX; i++)
		if (&sides[i] != late && !is_wait(&sides[i], late))
			add_member(m->delays, &sides[i]);
	m->delays->meetings++;
	if (only != SIZE_MAX)
		return;
	*last = late->start_ns;
	m->most = count > m->most ? count : m->most;
	m->all_ns = count == m->most ? late->start_ns : m->all_ns;
}

void delays_of_mpi(struct delays *d)
{
	struct mpi_delays m = {.delays = d};

	mpi_waits(d->context->model, &m, visit_pair, visit_meeting, NULL, &d->counts);
	map_done(&m.teams);
	map_done(&m.pairs);
}
