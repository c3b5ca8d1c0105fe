/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over all events in the order of their ends. What is not matched yet is kept: collectives that some ranks
 * have not entered, messages that were sent or awaited only. */
#include "report/causes/mpi/mpi_wait.h"

#include <stdlib.h>
#include <string.h>

#include "report/causes/mpi/mpi_communicator.h"
#include "report/events/filter.h"
#include "report/events/scan.h"
#include "report/read/merge.h"
#include "report/read/operation.h"

/* Tests of requests that follow each other in so short a time do nothing but wait: work between them takes longer. */
enum { POLL_NS = 1000000 };
enum { OPEN_WAITS = 64, OPEN_MEETINGS = 1 << 20 /* sides of one collective function */ };

/* A collective that not all ranks have left yet. */
struct open_collective {
	struct mpi_side *sides; /* by rank in the communicator; image NULL: not there yet */
	size_t arrived;
	uint32_t root;
};

/* The meetings of one collective function on one communicator, in order. */
struct collective_series {
	uint64_t *numbers; /* by rank in the communicator: of its next one */
	struct open_collective *open; /* from `next` on; that one has number `first` */
	size_t next, count, capacity;
	uint64_t first;
};

/* A message that was only sent, or is only awaited. */
struct half {
	struct mpi_side side;
	bool is_blocking;
};

/* The messages from one rank to another with one tag on one communicator. */
struct channel {
	struct half *halves; /* from `next` on: unmatched, all sends or all receives */
	size_t next, count, capacity;
	bool are_sends;
};

/* A call that waits for requests, and the latest sender for which it waited. */
struct open_wait {
	struct mpi_side side;
	struct mpi_wait best; /* ns 0: none */
};

/* A thread is taken to wait for its own requests if it has begun any. */
struct matched_thread {
	size_t pending;		 /* unmatched nonblocking receives and collectives */
	struct mpi_side arrival; /* the latest of those for whom a request waits; image NULL: none */
	enum mpi_wait_kind arrival_kind;
	struct mpi_side poll;	 /* tests in a row; image NULL: none */
	struct open_wait *waits; /* whose senders may still be unmatched */
	size_t wait_count;
};

struct matched_rank {
	bool receives_unknown, sends_unknown; /* from here on */
	struct matched_thread *threads;	      /* in the order of the trace */
	struct matched_thread *requests;      /* which of them has begun one last; NULL: none */
};

struct matched_job {
	const struct mpi_job *of;
	struct matched_rank *ranks;
	struct mpi_communicators communicators;
	struct collective_series (*teams)[MPI_CLASSES]; /* by communicator */
	struct map by_message; /* (from, to), (communicator, tag) -> channel */
	struct channel *channels;
	size_t channel_count, channel_capacity;
	int64_t proc_null; /* 0: not known */
};

/* Where a call takes place. */
struct rank_place {
	size_t communicator;
	uint32_t rank; /* of the caller, there */
};

struct matching {
	const struct model *model;
	struct matched_job *jobs;
	const uint8_t **classes; /* by image; borrowed */
	void *context;
	void (*visit)(void *context, const struct mpi_wait *wait);
	mpi_visit_meeting *meet;
	mpi_visit_known *known;
	struct mpi_wait_counts *counts;
};

static struct matched_thread *thread_of(const struct matched_job *job, const struct mpi_side *side)
{
	return &job->ranks[side->rank].threads[side->thread - side->image->trace->threads];
}

static struct matched_thread *waits_of(const struct matched_job *job, const struct mpi_side *side)
{
	struct matched_thread *own = thread_of(job, side), *other = job->ranks[side->rank].requests;

	return own->pending || own->arrival.image || !other ? own : other;
}

static void note_request(struct matched_job *job, const struct mpi_side *side)
{
	job->ranks[side->rank].requests = thread_of(job, side);
	job->ranks[side->rank].requests->pending++;
}

static void report(const struct matching *x, enum mpi_wait_kind kind, const struct mpi_side *waiting,
		   const struct mpi_side *late, bool is_meeting)
{
	uint64_t until = late->start_ns < waiting->end_ns ? late->start_ns : waiting->end_ns;

	if (waiting->is_shown && until > waiting->start_ns)
		x->visit(x->context, &(struct mpi_wait){kind, *waiting, *late, until - waiting->start_ns, is_meeting});
}

static void report_wait(const struct matching *x, enum mpi_wait_kind kind, const struct mpi_side *waiting,
			const struct mpi_side *late)
{
	report(x, kind, waiting, late, false);
}

/* ---- waits for requests ---- */

static void close_waits(const struct matching *x, struct matched_thread *t, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (t->waits[i].best.ns)
			report_wait(x, t->waits[i].best.kind, &t->waits[i].side, &t->waits[i].best.late);
	t->wait_count -= count;
	if (t->wait_count)
		memmove(t->waits, t->waits + count, t->wait_count * sizeof(*t->waits));
}

static void improve_wait(struct open_wait *w, const struct mpi_side *sender, enum mpi_wait_kind kind)
{
	uint64_t ns = sender->start_ns > w->side.start_ns ? sender->start_ns - w->side.start_ns : 0;

	if (sender->start_ns <= w->side.end_ns && ns > w->best.ns) {
		w->best.ns = ns;
		w->best.late = *sender;
		w->best.kind = kind;
	}
}

/* A nonblocking receive was matched, or all have begun a nonblocking collective. The wait that was in progress when the
 * sender, or the last of them, began may come later. NULL: it has to wait for nobody. */
static void note_arrival(const struct matching *x, struct matched_thread *t, const struct mpi_side *late,
			 enum mpi_wait_kind kind)
{
	if (late && (!t->arrival.image || late->start_ns > t->arrival.start_ns)) {
		t->arrival = *late;
		t->arrival_kind = kind;
	}
	for (size_t i = 0; late && i < t->wait_count; i++)
		improve_wait(&t->waits[i], late, kind);
	if (!--t->pending)
		close_waits(x, t, t->wait_count);
}

static void note_wait(const struct matching *x, struct matched_thread *t, const struct mpi_side *side)
{
	struct open_wait w = {.side = *side};

	if (t->arrival.image)
		improve_wait(&w, &t->arrival, t->arrival_kind);
	if (!w.best.ns && !t->pending)
		return;
	if (!t->waits)
		t->waits = mem_alloc(OPEN_WAITS * sizeof(*t->waits));
	if (t->wait_count == OPEN_WAITS)
		close_waits(x, t, 1);
	t->waits[t->wait_count++] = w;
	if (!t->pending)
		close_waits(x, t, t->wait_count);
}

static void end_poll(const struct matching *x, struct matched_thread *t)
{
	if (t->poll.image)
		note_wait(x, t, &t->poll);
	t->poll.image = NULL;
}

static void note_poll(const struct matching *x, struct matched_thread *t, const struct mpi_side *side)
{
	if (t->poll.image && side->start_ns > t->poll.end_ns + POLL_NS)
		end_poll(x, t);
	if (!t->poll.image)
		t->poll = *side;
	t->poll.end_ns = side->end_ns;
	if (side->stack)
		t->poll.stack = side->stack;
}

/* ---- collectives ---- */

static const struct mpi_side *last_of(const struct open_collective *m, size_t ranks, size_t except)
{
	const struct mpi_side *last = NULL;

	for (size_t i = 0; i < ranks; i++)
		if (i != except && (!last || m->sides[i].start_ns > last->start_ns))
			last = &m->sides[i];
	return last;
}

/* Of a nonblocking collective: who waits for requests from then on may wait for the last one. */
static void finish_later(const struct matching *x, struct matched_job *job, size_t ranks, uint8_t class,
			 const struct open_collective *m)
{
	for (size_t i = 0; i < ranks; i++) {
		bool is_root = i == m->root;
		const struct mpi_side *late = class < MPI_FROM_ROOT || (class >= MPI_TO_ROOT && is_root)
						      ? last_of(m, ranks, i)
					      : class < MPI_TO_ROOT && !is_root && m->root < ranks
						      ? &m->sides[m->root]
						      : NULL;

		note_arrival(x, thread_of(job, &m->sides[i]), late, MPI_LATE_IN_COLLECTIVE);
	}
}

static void finish_meeting(const struct matching *x, struct matched_job *job, size_t ranks, uint8_t class,
			   const struct open_collective *m)
{
	const struct mpi_side *late;

	x->counts->collectives++;
	if (class >= MPI_LATER) {
		finish_later(x, job, ranks, class - MPI_LATER, m);
		return;
	}
	if (x->meet && (class < MPI_FROM_ROOT || (class >= MPI_TO_ROOT && m->root < ranks)))
		x->meet(x->context, m->sides, ranks, class < MPI_FROM_ROOT ? SIZE_MAX : m->root);
	if (class < MPI_FROM_ROOT) {
		late = last_of(m, ranks, SIZE_MAX);
	} else if (m->root >= ranks) {
		return;
	} else if (class >= MPI_TO_ROOT) {
		report(x, MPI_LATE_IN_COLLECTIVE, &m->sides[m->root], last_of(m, ranks, m->root), true);
		return;
	} else {
		late = &m->sides[m->root];
	}
	for (size_t i = 0; i < ranks; i++)
		report(x, MPI_LATE_IN_COLLECTIVE, &m->sides[i], late, class < MPI_FROM_ROOT);
}

/* Drops what is finished, and the oldest ones if there are too many: some rank does not take part any more. */
static void close_meetings(struct collective_series *t, size_t ranks)
{
	while (t->next < t->count &&
	       (t->open[t->next].arrived == ranks || (t->count - t->next) * ranks > OPEN_MEETINGS)) {
		free(t->open[t->next++].sides);
		t->first++;
	}
	if (t->next == t->count || (t->next > 64 && t->next * 2 > t->count)) {
		t->count -= t->next;
		if (t->count)
			memmove(t->open, t->open + t->next, t->count * sizeof(*t->open));
		t->next = 0;
	}
}

static void enter_collective(const struct matching *x, struct matched_job *job, const struct rank_place *at,
			     uint8_t class, const struct mpi_side *side, int64_t root)
{
	struct collective_series *t = &job->teams[at->communicator][class];
	size_t ranks = job->communicators.items[at->communicator].count;
	uint64_t number;
	struct open_collective *m;

	if (!t->numbers)
		t->numbers = mem_alloc(ranks * sizeof(*t->numbers));
	number = t->numbers[at->rank]++;
	if (number < t->first)
		return;
	while (t->first + (t->count - t->next) <= number) {
		mem_append(t->open, t->count, t->capacity,
			   (struct open_collective){.sides = mem_alloc(ranks * sizeof(struct mpi_side))});
	}
	m = &t->open[t->next + (number - t->first)];
	m->sides[at->rank] = *side;
	m->root = root >= 0 && (size_t)root < ranks ? (uint32_t)root : UINT32_MAX;
	if (class >= MPI_LATER)
		note_request(job, side);
	if (++m->arrived == ranks)
		finish_meeting(x, job, ranks, class, m);
	close_meetings(t, ranks);
}

/* ---- messages ---- */

static struct channel *channel_of(struct matched_job *job, size_t communicator, uint32_t from, uint32_t to, int64_t tag)
{
	size_t place = map_place(&job->by_message, (uint64_t)from << 32 | to,
				 (uint64_t)communicator << 32 | (uint32_t)tag, job->channels, job->channel_count,
				 job->channel_capacity, (struct channel){0});

	return &job->channels[place];
}

static void match_message(const struct matching *x, struct matched_job *job, const struct half *sent,
			  const struct half *received)
{
	x->counts->messages++;
	if (received->is_blocking)
		report_wait(x, MPI_LATE_SENDER, &received->side, &sent->side);
	else
		note_arrival(x, thread_of(job, &received->side), &sent->side, MPI_LATE_SENDER);
	/* A send that returned before does not wait for the receiver. */
	if (sent->is_blocking && received->side.start_ns <= sent->side.end_ns)
		report_wait(x, MPI_LATE_RECEIVER, &sent->side, &received->side);
}

static void add_half(struct channel *c, const struct half *half, bool is_send)
{
	if (c->next == c->count) {
		c->next = c->count = 0;
	} else if (c->next > 64 && c->next * 2 > c->count) {
		memmove(c->halves, c->halves + c->next, (c->count - c->next) * sizeof(*c->halves));
		c->count -= c->next;
		c->next = 0;
	}
	c->are_sends = is_send;
	mem_append(c->halves, c->count, c->capacity, *half);
}

/* One half of the message between the rank of `half` and its peer. */
static void take_half(const struct matching *x, struct matched_job *job, const struct rank_place *at,
		      const struct half *half, bool is_send, int64_t peer, int64_t tag)
{
	const struct mpi_communicator *communicator = &job->communicators.items[at->communicator];
	uint32_t rank = half->side.rank, other_rank, to, from;
	struct channel *c;

	if ((size_t)peer >= communicator->count)
		return;
	other_rank = communicator->ranks[peer];
	to = is_send ? other_rank : rank;
	from = is_send ? rank : other_rank;
	if (job->ranks[to].receives_unknown || job->ranks[from].sends_unknown)
		return;
	c = channel_of(job, at->communicator, from, to, tag);
	if (!is_send && !half->is_blocking)
		note_request(job, &half->side);
	if (c->next < c->count && c->are_sends != is_send) {
		struct half other = c->halves[c->next++];

		match_message(x, job, is_send ? half : &other, is_send ? &other : half);
	} else {
		add_half(c, half, is_send);
	}
}

static void take_receive(const struct matching *x, struct matched_job *job, const struct rank_place *at,
			 const struct half *half, int64_t peer, int64_t tag)
{
	if (peer < 0 && peer == job->proc_null)
		return;
	if (peer < 0 || tag < 0) /* MPI_ANY_SOURCE, MPI_ANY_TAG */
		job->ranks[half->side.rank].receives_unknown = true;
	else
		take_half(x, job, at, half, false, peer, tag);
}

/* ---- calls ---- */

static bool is_collective(uint8_t class)
{
	return class >= MPI_ALL_TO_ALL;
}

static bool is_both(uint8_t class)
{
	return class == MPI_SEND_AND_RECEIVE || class == MPI_SEND_AND_RECEIVE_LATER;
}

static bool is_send(uint8_t class)
{
	return class == MPI_SEND || class == MPI_SEND_LATER || is_both(class);
}

/* The receiving half of MPI_Sendrecv, which returns when it has the message. */
static void take_second_half(const struct matching *x, struct matched_job *job, const struct rank_place *at,
			     uint8_t class, const struct tf_operation *op, const struct mpi_side *side)
{
	const struct half half = {*side, class == MPI_SEND_AND_RECEIVE};
	int64_t source = 0, tag = 0;

	if (operation_field(op, TF_FIELD_PEER | TF_ROLE_B, &source) &&
	    operation_field(op, TF_FIELD_TAG | TF_ROLE_B, &tag))
		take_receive(x, job, at, &half, source, tag);
	else
		job->ranks[side->rank].receives_unknown = true;
}

/* Whether messages with the peer are still matched. */
static bool is_known_message(const struct matched_job *job, const struct rank_place *at, uint8_t class, int64_t peer)
{
	const struct mpi_communicator *c = &job->communicators.items[at->communicator];
	const struct matched_rank *own = &job->ranks[c->ranks[at->rank]], *other;

	if (peer < 0 || (size_t)peer >= c->count)
		return peer == job->proc_null;
	other = &job->ranks[c->ranks[peer]];
	return is_send(class) ? !own->sends_unknown && !other->receives_unknown
			      : !own->receives_unknown && !other->sends_unknown;
}

/* Whether it is known for whom the call waits. */
static bool match_call(const struct matching *x, struct matched_job *job, uint8_t class, const struct tf_operation *op,
		       const struct mpi_side *side)
{
	struct half half = {*side, class == MPI_SEND || class == MPI_RECEIVE};
	struct matched_rank *rank = &job->ranks[side->rank];
	struct matched_thread *thread = waits_of(job, side);
	int64_t peer = -1, tag = 0;
	struct rank_place at;

	if (class == MPI_POLL) {
		note_poll(x, thread, side);
		return false; /* its length is not known yet */
	}
	end_poll(x, thread);
	if (class == MPI_WAIT) {
		note_wait(x, thread, side);
		return !rank->receives_unknown && !rank->sends_unknown;
	}
	rank->sends_unknown |= class == MPI_START;
	rank->receives_unknown |= class == MPI_START || class == MPI_RECEIVE_UNKNOWN;
	if (!mpi_communicator_of(&job->communicators, op, side->rank, &at.communicator, &at.rank))
		return false;
	if (!operation_field(op, TF_FIELD_PEER, &peer) && !is_collective(class))
		return false;
	operation_field(op, TF_FIELD_TAG, &tag);
	if (is_collective(class))
		enter_collective(x, job, &at, class, side, peer);
	else if (class == MPI_RECEIVE || class == MPI_RECEIVE_LATER)
		take_receive(x, job, &at, &half, peer, tag);
	else if (is_send(class) && peer >= 0)
		take_half(x, job, &at, &half, true, peer, tag);
	else if (is_send(class))
		job->proc_null = peer; /* the only negative one to which a rank can send */
	if (is_both(class))
		take_second_half(x, job, &at, class, op, side);
	/* those with a root pass messages on, in trees of the ranks */
	return is_collective(class) ? class % MPI_LATER < MPI_FROM_ROOT : is_known_message(job, &at, class, peer);
}

static void visit_event(const struct matching *x, const struct mpi_jobs *jobs, const struct merge_event *e)
{
	size_t image = (size_t)(e->image - x->model->images);
	const struct trace *t = e->image->trace;
	uint8_t class = e->event.kind == TF_CALL && x->classes[image] && e->event.id < t->functions->count
				? x->classes[image][e->event.id]
				: MPI_NOTHING;
	const struct clock_map *clock = &x->model->machines[e->image->machine].clock;
	uint64_t start = event_start(&e->event);
	uint32_t rank = jobs->rank_of[image];
	struct tf_operation op;
	struct matched_job *job;
	struct mpi_side side;

	if (!class)
		return;
	job = &x->jobs[jobs->job_of[image] - 1];
	if (image_range(e->image, start) != job->of->ranges[rank])
		return;
	operation_of(t, &e->event, &op);
	side = (struct mpi_side){.image = e->image,
				 .thread = e->thread,
				 .rank = rank,
				 .function = e->event.id,
				 .stack = (uint32_t)tf_arg_value(
					 e->event.args_count ? event_arg(&e->event, TF_ARG_STACK) : 0),
				 .start_ns = clock_map_ns(clock, start),
				 .end_ns = e->ns,
				 .is_shown = filter_shows(t, start, e->event.ticks)};
	if (match_call(x, job, class, &op, &side) && x->known)
		x->known(x->context, &side);
}

/* ---- the whole ---- */

static void team_done(struct collective_series *t)
{
	for (size_t i = t->next; i < t->count; i++)
		free(t->open[i].sides);
	free(t->open);
	free(t->numbers);
}

static void job_done(const struct matching *x, struct matched_job *job)
{
	for (size_t i = 0; job->ranks && i < job->of->count; i++) {
		size_t count = job->of->ranks[i]->trace->thread_count;

		array_each(struct matched_thread, t, job->ranks[i].threads, count) {
			end_poll(x, t);
			close_waits(x, t, t->wait_count);
			free(t->waits);
		}
		free(job->ranks[i].threads);
	}
	for (size_t i = 0; i < job->communicators.count * MPI_CLASSES; i++)
		team_done(&job->teams[i / MPI_CLASSES][i % MPI_CLASSES]);
	free(job->teams);
	mpi_communicators_done(&job->communicators);
	array_free(channel, job->channels, job->channel_count, free(channel->halves));
	free(job->ranks);
	map_done(&job->by_message);
}

static uint8_t match_of(const struct function *f)
{
	return f->group == TF_GROUP_MPI ? f->kind.match : MPI_NOTHING;
}

static void match_jobs(struct matching *x, const struct mpi_jobs *jobs)
{
	struct merge *merge = merge_new(x->model, SIZE_MAX);
	const struct merge_event *e;

	for (size_t i = 0; i < jobs->count; i++) {
		x->jobs[i].of = &jobs->items[i];
		if (!jobs->items[i].count)
			continue;
		x->jobs[i].ranks = mem_alloc(jobs->items[i].count * sizeof(struct matched_rank));
		for (size_t k = 0; k < jobs->items[i].count; k++)
			x->jobs[i].ranks[k].threads = mem_alloc(jobs->items[i].ranks[k]->trace->thread_count *
								sizeof(struct matched_thread));
		mpi_communicators_find(&jobs->items[i], &x->jobs[i].communicators);
		x->jobs[i].teams = mem_alloc(x->jobs[i].communicators.count * sizeof(*x->jobs[i].teams));
		x->jobs[i].proc_null = mpi_proc_null(jobs->items[i].ranks[0]);
		x->counts->jobs++;
		x->counts->ranks += jobs->items[i].count;
	}
	for (size_t i = 0; i < x->model->image_count; i++)
		if (jobs->job_of[i])
			x->classes[i] = functions_classes(x->model->images[i].trace->functions, match_of);
	while (x->counts->jobs && (e = merge_next(merge)))
		visit_event(x, jobs, e);
	merge_free(merge);
	for (size_t i = 0; i < jobs->count; i++)
		job_done(x, &x->jobs[i]);
}

void mpi_waits(const struct model *m, void *context, void (*visit)(void *context, const struct mpi_wait *wait),
	       mpi_visit_meeting *meet, mpi_visit_known *known, struct mpi_wait_counts *ret)
{
	struct matching x = {.model = m, .context = context, .visit = visit, .meet = meet, .known = known,
			     .counts = ret};
	SCOPED(mpi_jobs) jobs = {0};

	*ret = (struct mpi_wait_counts){0};
	mpi_jobs_find(m, &jobs);
	ret->reason = jobs.reason;
	x.jobs = mem_alloc((jobs.count + 1) * sizeof(*x.jobs));
	x.classes = mem_alloc((m->image_count + 1) * sizeof(*x.classes));
	match_jobs(&x, &jobs);
	free(x.jobs);
	free(x.classes);
}
