/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/rank_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/mpi/mpi_communicator.h"
#include "report/causes/where/stuck.h"
#include "report/names/mpi_form.h"
#include "report/read/operation.h"

enum { RANKS_MOST = 65536, REQUESTS_MOST = 1024, UNKNOWN = -1, ANY = -1, ALL_TAGS = -2, SHOWN = 4 };

/* ---- ranks ---- */

/* One half of a message, or a collective. */
struct rank_half {
	uint8_t kind;	       /* SEND, RECEIVE, PROBE, FOR_ALL, FOR_SOME */
	bool returns_early;    /* it may be over before its partner comes */
	bool is_known;
	size_t communicator;
	int64_t peer, tag;     /* or root */
	uint64_t number;       /* of a collective: of all on that communicator, from 1 */
	const struct mpi_form *form;
};

struct rank_request {
	struct rank_half halves[2];
	size_t count;
	bool is_persistent;
};

struct rank_state {
	struct rank_call *of;
	uint32_t number;      /* in MPI_COMM_WORLD */
	bool is_confused;     /* what it has sent and received is not known */
	bool has_begun;	      /* MPI_Init was recorded, in the capture range `range` */
	uint32_t range;
	bool waits_for_any;   /* of its halves */
	bool is_blocking;     /* the halves are those of the call itself, not of requests */
	struct map requests;  /* tf_request() of a handle -> its position + 1 in `made` */
	struct rank_request *made;
	size_t made_count, made_capacity;
	struct map handles;   /* of a communicator -> its place + 1; 0: not known */
	uint64_t *collectives; /* how many it has called, by communicator */
	struct rank_half *halves;  /* of the call in progress */
	size_t count, capacity;
	bool is_whole;	      /* all of these are known */
};

struct ranks {
	struct rank_state *items;
	size_t count;
	uint32_t *by_number; /* the position of a rank + 1 */
	struct mpi_job job;
	struct mpi_communicators communicators;
	struct map sends, receives; /* (from, to), (communicator, tag) -> how many */
};

static void count_message(struct map *m, int64_t from, uint32_t to, size_t communicator, int64_t tag)
{
	++*map_put(m, (uint64_t)from << 32 | to, (uint64_t)communicator << 32 | (uint32_t)tag, NULL);
	if (tag != ALL_TAGS)
		count_message(m, from, to, communicator, ALL_TAGS);
}

static uint64_t messages(const struct map *m, int64_t from, uint32_t to, size_t communicator, int64_t tag)
{
	const uint64_t *found = map_find(m, (uint64_t)from << 32 | to, (uint64_t)communicator << 32 | (uint32_t)tag);

	return found ? *found : 0;
}

/* The rank of the job; UNKNOWN: any source, no rank. */
static int64_t peer_of(const struct ranks *r, const struct rank_half *h)
{
	const struct mpi_communicator *c = &r->communicators.items[h->communicator];

	return h->peer >= 0 && (size_t)h->peer < c->count ? (int64_t)c->ranks[h->peer] : UNKNOWN;
}

static bool is_collective(const struct rank_half *h)
{
	return h->kind == FOR_ALL || h->kind == FOR_SOME;
}

/* The half has been called. */
static void enter(struct ranks *r, struct rank_state *s, struct rank_half *h)
{
	int64_t peer = h->is_known ? peer_of(r, h) : UNKNOWN;

	if (!h->is_known)
		return;
	if (is_collective(h))
		h->number = ++s->collectives[h->communicator];
	else if (h->kind == SEND && peer >= 0)
		count_message(&r->sends, s->number, (uint32_t)peer, h->communicator, h->tag);
	else if (h->kind == RECEIVE)
		count_message(&r->receives, peer < 0 ? UINT32_MAX : peer, s->number, h->communicator, h->tag);
}

/* ---- calls that have ended ---- */

static struct rank_half half_of(const struct mpi_form *form, uint8_t kind, unsigned how)
{
	return (struct rank_half){.kind = kind, .form = form, .returns_early = how & RETURNS_EARLY};
}

static size_t halves_of_event(const struct ranks *r, const struct rank_state *s, const struct mpi_form *form,
			      unsigned how, const struct tf_operation *op, struct rank_half *ret)
{
	uint8_t kind = how & KIND;
	size_t place = 0;
	uint32_t own;
	bool is_known = mpi_communicator_of(&r->communicators, op, s->number, &place, &own);

	ret[0] = half_of(form, kind == BOTH ? SEND : kind, how | (kind == BOTH ? RETURNS_EARLY : 0));
	ret[1] = half_of(form, RECEIVE, 0);
	for (int i = 0; i < 2; i++) {
		unsigned role = i ? TF_ROLE_B : TF_ROLE_NONE;

		ret[i].communicator = place;
		ret[i].peer = ret[i].tag = ANY;
		ret[i].is_known = is_known && (operation_field(op, TF_FIELD_PEER | role, &ret[i].peer) ||
					       is_collective(&ret[i]));
		operation_field(op, TF_FIELD_TAG | role, &ret[i].tag);
	}
	return kind == BOTH ? 2 : 1;
}

static struct rank_request *request_make(struct rank_state *s, uint32_t request)
{
	uint64_t *place = map_put(&s->requests, request, 0, NULL);

	if (!*place) {
		mem_append(s->made, s->made_count, s->made_capacity, (struct rank_request){0});
		*place = s->made_count;
	}
	return &s->made[*place - 1];
}

static struct rank_request *request_find(const struct rank_state *s, uint32_t request)
{
	const uint64_t *place = map_find(&s->requests, request, 0);

	return place ? &s->made[*place - 1] : NULL;
}

static void take_start(struct ranks *r, struct rank_state *s, const struct event *e, const struct tf_operation *op)
{
	int64_t wanted = 1, started = 0;

	operation_field(op, TF_FIELD_BATCH, &wanted);
	for (uint32_t i = 0; i < e->args_count; i++) {
		struct rank_request *made;

		if (tf_arg_kind(e->args[i]) != TF_ARG_VALUE)
			continue;
		made = request_find(s, (uint32_t)tf_arg_value(e->args[i]));
		for (size_t k = 0; made && k < made->count; k++)
			enter(r, s, &made->halves[k]);
		started += made != NULL;
	}
	s->is_confused |= started < wanted;
}

static void take_made(struct ranks *r, struct rank_state *s, const struct tf_operation *op)
{
	int64_t handle, id;
	const uint64_t *place;

	if (!operation_field(op, TF_FIELD_COMMUNICATOR | TF_ROLE_B, &handle))
		return;
	place = operation_field(op, TF_FIELD_COMMUNICATOR_OF_MPI | TF_ROLE_B, &id)
			? map_find(&r->communicators.by_id, (uint64_t)id, 0)
			: NULL;
	*map_put(&s->handles, (uint64_t)handle, 0, NULL) =
		place && r->communicators.items[*place].known == r->communicators.items[*place].count ? *place + 1 : 0;
}

static void take_event(struct ranks *r, struct rank_state *s, const struct event *e, uint8_t place)
{
	const struct trace *t = s->of->image->trace;
	struct rank_request made = {0};
	struct tf_operation op;
	uint32_t request;
	const struct mpi_form *form;
	int64_t world;
	unsigned how;

	form = mpi_form_at(place, &how);
	if ((how & KIND) == WAIT || (how & KIND) == PROBE || event_arg(e, TF_ARG_RESULT))
		return;
	operation_of(t, e, &op);
	if ((how & KIND) == START) {
		take_start(r, s, e, &op);
		return;
	}
	s->is_confused |= (how & KIND) == CONFUSES;
	if ((how & KIND) == BEGINS) {
		s->has_begun = true;
		if (operation_field(&op, TF_FIELD_COMMUNICATOR | TF_ROLE_B, &world))
			*map_put(&s->handles, (uint64_t)world, 0, NULL) = 1;
		if (operation_field(&op, TF_FIELD_COMMUNICATOR | TF_ROLE_C, &world))
			*map_put(&s->handles, (uint64_t)world, 0, NULL) = 1;
		s->range = image_range(s->of->image, event_start(e));
	}
	if ((how & KIND) >= BEGINS)
		return;
	made.count = halves_of_event(r, s, form, how, &op, made.halves);
	made.is_persistent = how & INIT;
	for (size_t i = 0; i < made.count && !made.is_persistent; i++)
		enter(r, s, &made.halves[i]);
	take_made(r, s, &op);
	request = how & (LATER | INIT) ? tf_operation_request(event_arg(e, TF_ARG_OPERATION)) : 0;
	if (request)
		*request_make(s, request) = made;
	else
		s->is_confused |= made.is_persistent;
}

static void take_events(struct ranks *r, struct rank_state *s)
{
	const struct trace *t = s->of->image->trace;
	const uint8_t *classes = functions_classes(t->functions, mpi_form_place);
	size_t threads = 0;

	for (size_t i = 0; i < t->thread_count; i++) {
		const struct trace_thread *thread = &t->threads[i];
		struct cursor c;
		struct event e;

		s->is_confused |= thread->old > 0;
		if (!(thread->groups & 1u << TF_GROUP_MPI))
			continue;
		s->is_confused |= threads++ || thread->tid != s->of->image->pid;
		cursor_init(&c, t, thread);
		while (cursor_next(&c, &e))
			if (e.kind == TF_CALL && e.id < t->functions->count && classes[e.id])
				take_event(r, s, &e, classes[e.id]);
	}
	s->is_confused |= !s->has_begun || !mpi_is_whole(t) ||
			  image_range(s->of->image, image_last_ticks(s->of->image)) != s->range;
}

/* ---- calls in progress ---- */

static void add_half(struct rank_state *s, const struct rank_half *h)
{
	mem_append(s->halves, s->count, s->capacity, *h);
	s->is_whole &= h->is_known;
}

/* SIZE_MAX: not known. */
static size_t communicator_of(const struct rank_state *s, uint64_t word)
{
	enum { MPICH_COMM_WORLD = 0x44000000 };
	const uint64_t *place = map_find(&s->handles, word, 0);

	place = place ? place : map_find(&s->handles, (uint32_t)word, 0);
	if (place)
		return *place ? *place - 1 : SIZE_MAX;
	return (uint32_t)word == MPICH_COMM_WORLD ? 0 : SIZE_MAX;
}

static void add_called(struct ranks *r, struct rank_state *s, const struct mpi_form *form, uint8_t kind, unsigned how,
		       const uint64_t *words, unsigned peer, unsigned tag)
{
	struct rank_half h = half_of(form, kind, how);

	h.communicator = communicator_of(s, words[form->communicator - 1]);
	h.is_known = h.communicator != SIZE_MAX;
	h.peer = peer ? (int32_t)words[peer - 1] : ANY;
	h.tag = tag ? (int32_t)words[tag - 1] : ANY;
	enter(r, s, &h);
	add_half(s, &h);
}

static void add_requests(struct rank_state *s, const struct mpi_form *form, const struct tf_where_arguments *a)
{
	bool is_one = form->peer == 1;
	uint64_t address = a->words[is_one ? 0 : 1], count = is_one ? 1 : a->words[0] & INT32_MAX;
	const struct look_process *p = s->of->item->process;
	uint32_t handles[REQUESTS_MOST * 2] = {0};
	size_t step = 1;

	s->waits_for_any = form->kind & RETURNS_EARLY;
	s->is_whole = count <= REQUESTS_MOST &&
		      ((count > 1 && look_memory(p, address, handles, count * 2 * sizeof(*handles))) ||
		       look_memory(p, address, handles, count * sizeof(*handles)));
	/* Handles are pointers, which have 48 bits, or numbers, whose highest byte is their kind. */
	if (count > 1 && handles[1] < 1 << 16 && handles[3] < 1 << 16)
		step = 2;
	for (size_t i = 0; i < count && s->is_whole; i++) {
		const struct rank_request *made = request_find(s, tf_request(handles[i * step]));

		s->is_whole &= made != NULL;
		for (size_t k = 0; made && k < made->count; k++)
			add_half(s, &made->halves[k]);
	}
}

/* The arguments are those of the call that the page has now. */
static const struct tf_where_arguments *arguments_of(const struct rank_call *rank)
{
	const struct where_item *item = rank->item;
	const struct trace_thread *t = where_trace_thread(item->image, item->thread->head.tid);
	const struct tf_where_arguments *a = look_arguments(item->process, item->thread->head.tid);
	uint64_t call = t && t->page ? __atomic_load_n(&t->page->outer, __ATOMIC_RELAXED) : 0;

	call = call || !t || !t->page ? call : __atomic_load_n(&t->page->current, __ATOMIC_RELAXED);
	return a && call && a->call == call ? a : NULL;
}

static void take_call(struct ranks *r, struct rank_state *s)
{
	const struct tf_where_arguments *a = s->of->item ? arguments_of(s->of) : NULL;
	const struct function *f =
		a ? trace_function(s->of->image->trace, (uint32_t)(a->call >> TF_CURRENT_SHIFT) - 1) : NULL;
	uint8_t place = f ? mpi_form_place(f) : 0;
	const struct mpi_form *form;
	unsigned how, kind;

	if (!place || s->is_confused)
		return;
	form = mpi_form_at(place, &how);
	kind = how & KIND;
	s->is_whole = true;
	s->of->is_collective = kind == FOR_ALL || kind == FOR_SOME;
	if (kind == WAIT) {
		add_requests(s, form, a);
		return;
	}
	s->is_blocking = true;
	if (kind == SEND || kind == BOTH)
		add_called(r, s, form, SEND, kind == BOTH ? RETURNS_EARLY : 0, a->words, form->peer, form->tag);
	if (kind == BOTH)
		add_called(r, s, form, RECEIVE, 0, a->words, form->source, form->source_tag);
	else if (kind == RECEIVE || kind == PROBE || s->of->is_collective)
		add_called(r, s, form, (uint8_t)kind, 0, a->words, form->peer, form->tag);
	s->is_whole &= s->count || kind == FINALIZE;
}

/* ---- who waits for whom ---- */

/* Whether the other half of a message has not been called. */
static bool is_unmatched(const struct ranks *r, const struct rank_state *s, const struct rank_half *h, uint32_t peer)
{
	uint64_t sent, received;

	if (h->kind == SEND) {
		sent = messages(&r->sends, s->number, peer, h->communicator, h->tag);
		received = 0;
		for (int i = 0; i < 4; i++)
			received += messages(&r->receives, i & 1 ? UINT32_MAX : s->number, peer, h->communicator,
					     i & 2 ? ANY : h->tag);
		return received < sent;
	}
	sent = messages(&r->sends, peer, s->number, h->communicator, h->tag == ANY ? ALL_TAGS : h->tag);
	received = messages(&r->receives, peer, s->number, h->communicator, h->tag == ANY ? ALL_TAGS : h->tag);
	return sent < received + (h->kind == PROBE);
}

/* The collective that a rank itself is in. */
static const struct rank_half *collective_of(const struct rank_state *s)
{
	return s->is_blocking && s->count == 1 && is_collective(&s->halves[0]) ? &s->halves[0] : NULL;
}

static bool has_come(const struct rank_state *s, const struct rank_half *h)
{
	const struct rank_half *own = collective_of(s);

	if (s->collectives[h->communicator] < h->number)
		return false;
	return !own || own->communicator != h->communicator || own->number != h->number ||
	       (own->form == h->form && own->peer == h->peer);
}

/* Adds those who have not called the half. False: it may end. */
static bool add_absent(const struct ranks *r, const struct rank_state *s, const struct rank_half *h,
		       struct stuck_node *node, bool each)
{
	const struct mpi_communicator *c = &r->communicators.items[h->communicator];
	int64_t peer = is_collective(h) ? UNKNOWN : peer_of(r, h);
	size_t absent = 0;

	if (!is_collective(h)) {
		if (peer < 0 || !r->by_number[peer] || r->items[r->by_number[peer] - 1].is_confused ||
		    !is_unmatched(r, s, h, (uint32_t)peer))
			return false;
		if (each)
			stuck_wait(node);
		stuck_add(node, r->by_number[peer] - 1);
		return true;
	}
	for (size_t i = 0; i < c->count; i++) {
		uint32_t place = c->ranks[i] < r->job.count ? r->by_number[c->ranks[i]] : 0;

		if (place && (r->items[place - 1].is_confused || has_come(&r->items[place - 1], h)))
			continue;
		if (!place && !each)
			return false; /* nothing is known of it */
		if (!place)
			continue;
		if (each)
			stuck_wait(node);
		stuck_add(node, place - 1);
		absent++;
	}
	return absent;
}

/* Whether it surely has not ended if nobody has come. */
static bool is_sure(const struct rank_state *s, const struct rank_half *h)
{
	return h->kind == RECEIVE || h->kind == PROBE || h->kind == FOR_ALL ||
	       (h->kind == SEND && (!h->returns_early || (s->is_blocking && s->count == 1)));
}

/* One wait for each half that surely has not ended. Else, or if the call waits for any of them, one of its halves has
 * not ended, and any of those who have not come ends it. */
static void add_waits(const struct ranks *r, const struct rank_state *s, struct stuck_node *node)
{
	size_t known = 0;

	for (size_t i = 0; i < s->count && !s->waits_for_any; i++)
		if (s->halves[i].is_known && is_sure(s, &s->halves[i]))
			add_absent(r, s, &s->halves[i], node, true);
	if (node->count || !s->is_whole || !s->count)
		return;
	stuck_wait(node);
	for (size_t i = 0; i < s->count; i++)
		known += add_absent(r, s, &s->halves[i], node, false);
	if (known < s->count) /* one may end without them */
		free(node->waits[--node->count].wakers);
}

static bool is_finalizing(const struct rank_call *rank)
{
	const char *name = rank->item ? rank->item->wait.collective : NULL;

	return name && function_kind_of(name, TF_GROUP_MPI).parallel & PARALLEL_ENDS;
}

/* ---- the whole ---- */

static void state_begin(struct ranks *r, struct rank_call *rank, struct rank_state *s)
{
	*s = (struct rank_state){.of = rank,
			    .number = rank_number(rank->name, NULL),
			    .collectives = mem_alloc((r->communicators.count + 1) * sizeof(*s->collectives))};
}

static void state_done(struct rank_state *s)
{
	map_done(&s->requests);
	map_done(&s->handles);
	free(s->made);
	free(s->collectives);
	free(s->halves);
}

/* False: these are not the ranks of one job. */
static bool job_find(struct ranks *r, const struct rank_call *ranks, size_t count)
{
	const char *step = NULL, *its_step;

	for (size_t i = 0; i < count; i++) {
		uint32_t number = rank_number(ranks[i].name, &its_step);

		if (number >= RANKS_MOST || (step && strcmp(step, its_step) != 0) || !ranks[i].image ||
		    !ranks[i].image->trace)
			return false;
		step = its_step;
		r->job.count = number >= r->job.count ? number + 1 : r->job.count;
	}
	r->by_number = mem_alloc((r->job.count + 1) * sizeof(*r->by_number));
	r->job.ranks = mem_alloc((r->job.count + 1) * sizeof(*r->job.ranks));
	for (size_t i = 0; i < count; i++) {
		uint32_t number = rank_number(ranks[i].name, NULL);

		r->by_number[number] = (uint32_t)i + 1;
		r->job.ranks[number] = ranks[i].image;
	}
	return true;
}

static void say_waits(struct rank_call *ranks, size_t i, const struct stuck_node *n)
{
	struct rank_call *rank = &ranks[i];
	size_t shown[SHOWN + 1], count = 0, at = 0;

	for (size_t k = 0; k < n->count; k++)
		for (size_t w = 0; w < n->waits[k].count; w++) {
			size_t other = n->waits[k].wakers[w], same = 0;

			ranks[other].is_needed = true;
			while (same < count && shown[same] != other)
				same++;
			if (same < count || count > SHOWN || at >= sizeof(rank->waits_for))
				continue;
			shown[count++] = other;
			at += (size_t)snprintf(rank->waits_for + at, sizeof(rank->waits_for) - at, "%s%s",
					       count > 1 ? ", " : "rank ", count > SHOWN ? "..." : ranks[other].name);
		}
}

static uint32_t solve(struct ranks *r, struct rank_call *ranks)
{
	struct stuck_node *nodes = stuck_new(r->count);
	uint32_t sets;

	for (size_t i = 0; i < r->count; i++) {
		struct rank_state *s = &r->items[i];
		bool is_over = is_finalizing(s->of);

		s->of->is_known = (s->is_whole && s->count) || is_over;
		if (!is_over && s->count)
			add_waits(r, s, &nodes[i]);
		else if (is_over)
			stuck_wait(&nodes[i]); /* it comes to nothing any more */
		nodes[i].may_be = nodes[i].count;
	}
	sets = stuck_solve(nodes, r->count);
	for (size_t i = 0; i < r->count; i++) {
		ranks[i].is_stuck = nodes[i].is;
		ranks[i].set = nodes[i].set;
		say_waits(ranks, i, &nodes[i]);
	}
	stuck_free(nodes, r->count);
	return sets;
}

uint32_t rank_calls_find(struct rank_call *ranks, size_t count)
{
	struct ranks r = {.count = count};
	uint32_t sets = 0;

	if (count && job_find(&r, ranks, count)) {
		mpi_communicators_find(&r.job, &r.communicators);
		r.items = mem_alloc(count * sizeof(*r.items));
		for (size_t i = 0; i < count; i++) {
			state_begin(&r, &ranks[i], &r.items[i]);
			take_events(&r, &r.items[i]);
		}
		for (size_t i = 0; i < count; i++)
			take_call(&r, &r.items[i]);
		sets = solve(&r, ranks);
		for (size_t i = 0; i < count; i++)
			state_done(&r.items[i]);
		mpi_communicators_done(&r.communicators);
	}
	free(r.items);
	free(r.by_number);
	free(r.job.ranks);
	map_done(&r.sends);
	map_done(&r.receives);
	return sets;
}
