/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the graph of a capture: reads the events of each thread in order, and divides its time into calls and what is
 * between them. */
#include <stdlib.h>
#include <string.h>

#include "report/causes/causes_build.h"
#include "report/causes/replay.h"
#include "report/causes/written.h"
#include "report/events/stacks/samples.h"

/* Calls and samples that a later, longer call may still turn out to contain. */
enum { PENDING = 1 << 18 };

/* A stretch of computing with at least so many samples is divided by its own. */
enum { OWN_SAMPLES = 8 };

/* A shorter call with a stack is hardly longer than those without one, which are shorter than 80 us by default. */
enum { SHORT_STACK_NS = 320000 };

/* Of a thread with so many calls, a wait without a source that is a smaller part of its time keeps its length as work
 * does: the memory for its nodes is bounded. */
enum { MANY_EVENTS = 100000, WAIT_PARTS = 50000 };

/* A call, or a sample. */
struct thread_piece {
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns; /* of a sample */
	uint32_t what;
	uint32_t of;	/* what the time of a call belongs to, unless it waited: the call, or the pool of short ones */
	uint32_t stack; /* of a sample; 0: it has none that the calls' stacks could be compared with */
	enum graph_alone alone;
	bool is_sample, has_edge;
};

/* Answers of the maps of editables that were given last, by a few bits of the question. */
enum { KNOWN_ANSWERS = 64 };

struct known_answer {
	const struct image *image; /* NULL: none */
	uint32_t a, b, answer;
};

struct builder {
	struct causality *causes;
	const struct linker *linker;
	struct known_answer calls[KNOWN_ANSWERS], pools[KNOWN_ANSWERS];
	uint32_t actor;
	const struct image *image;
	struct thread_piece *pending; /* by start; those inside of others are not in it; and room for one more */
	size_t count;
	/* what was not added to the graph yet: samples since the end of the last call */
	struct thread_piece *samples;
	size_t sample_count, sample_capacity;

	struct written written;
	uint64_t wait_ns; /* a shorter wait without a source is work */
	uint32_t before;  /* the last call that was added */
	uint32_t rest;	  /* see editable_rest */
};

/* What does not wait for anything that an edge could tell. */
static bool is_wait(enum blocked_kind kind)
{
	switch (kind) {
	case BLOCKED_CHILD:
	case BLOCKED_THREAD:
	case BLOCKED_LOCK:
	case BLOCKED_POLL:
	case BLOCKED_PIPE:
	case BLOCKED_SOCKET:
	case BLOCKED_MPI:
	case BLOCKED_NCCL:
	case BLOCKED_GPU:
		return true;
	default:
		return false;
	}
}

static struct known_answer *known_answer(struct known_answer *all, const struct image *image, uint32_t a, uint32_t b,
					 bool *ret_known)
{
	struct known_answer *known = &all[(a * 31 + b) % KNOWN_ANSWERS];

	*ret_known = known->image == image && known->a == a && known->b == b;
	*known = (struct known_answer){image, a, b, known->answer};
	return known;
}

static uint32_t call_of(struct builder *b, uint32_t function, uint32_t stack)
{
	bool is_known;
	struct known_answer *known = known_answer(b->calls, b->image, function, stack, &is_known);

	if (!is_known)
		known->answer = editable_call(&b->causes->editables, b->image, function, stack);
	return known->answer;
}

static uint32_t pool_of(struct builder *b, uint32_t after)
{
	bool is_known;
	struct known_answer *known = known_answer(b->pools, b->image, b->before, after, &is_known);

	if (!is_known)
		known->answer = editable_pool(&b->causes->editables, b->rest, b->before, after);
	return known->answer;
}

/* ---- pieces to nodes ---- */

/* The time between two calls: by its own samples if there are many, else by those of all stretches between the same
 * two calls. */
static void add_computing(struct builder *b, uint64_t until_ns, uint32_t after)
{
	struct causality *s = b->causes;
	uint64_t from_ns = s->graph.now_ns;
	uint32_t pool;

	if (until_ns > from_ns && graph_has_edge(&s->graph, b->actor, until_ns)) {
		/* it waited by system calls of its own */
		graph_call(&s->graph, until_ns, editable_cpu(&s->editables, b->image, 0), GRAPH_WAITS);
	} else if (until_ns > from_ns && b->linker->only_polls[b->actor]) {
		graph_call(&s->graph, until_ns,
			   b->sample_count ? b->samples[0].what : editable_cpu(&s->editables, b->image, 0),
			   GRAPH_ASSUMED);
	} else if (until_ns > from_ns && b->sample_count >= OWN_SAMPLES) {
		for (size_t i = 0; i < b->sample_count; i++) {
			const struct thread_piece *p = &b->samples[i];
			bool is_last = i + 1 == b->sample_count;

			s->editables.items[p->what].samples++;
			graph_work(&s->graph, is_last || p->end_ns > until_ns ? until_ns : p->end_ns, p->what);
		}
	} else if (until_ns > from_ns) {
		pool = pool_of(b, after);
		for (size_t i = 0; i < b->sample_count; i++)
			editable_pool_sample(&s->editables, pool, b->samples[i].what, b->samples[i].cpu_ns);
		graph_work(&s->graph, until_ns, pool);
	}
	b->sample_count = 0;
}

static void add_piece(struct builder *b, const struct thread_piece *p)
{
	struct causality *s = b->causes;

	if (p->is_sample) {
		mem_append(b->samples, b->sample_count, b->sample_capacity, *p);
		return;
	}
	add_computing(b, p->start_ns, p->what);
	if (p->has_edge || p->alone >= GRAPH_TIMER || (p->alone && p->end_ns - p->start_ns >= b->wait_ns))
		graph_call(&s->graph, p->end_ns, p->what, p->alone);
	else
		graph_work(&s->graph, p->end_ns, p->of);
	b->before = p->what;
}

/* The first `count` pieces cannot be inside of a later call any more. */
static void flush(struct builder *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_piece(b, &b->pending[i]);
	b->count -= count;
	memmove(b->pending, b->pending + count, b->count * sizeof(*b->pending));
}

static void push(struct builder *b, const struct thread_piece *p)
{
	if (b->count == PENDING)
		flush(b, PENDING / 2);
	b->pending[b->count++] = *p;
}

/* Likewise the piece that was written behind the last one, where it need not be copied. */
static void push_behind(struct builder *b)
{
	struct thread_piece p;

	if (b->count < PENDING) {
		b->count++;
		return;
	}
	p = b->pending[b->count];
	push(b, &p);
}

/* The call contains the pieces from the `first`-th on. What ended by an edge stays; the rest is of the call. */
static void enclose(struct builder *b, const struct thread_piece *behind, size_t first)
{
	const struct thread_piece copy = *behind, *call = &copy;
	struct thread_piece inner[16];
	size_t count = 0;
	struct thread_piece part = copy;

	for (size_t i = first; i < b->count && count < sizeof(inner) / sizeof(*inner); i++)
		if (b->pending[i].has_edge && !b->pending[i].is_sample)
			inner[count++] = b->pending[i];
	b->count = first;
	/* a library of MPI waits for messages, of which the call is */
	for (size_t i = 0; i < count && !call->has_edge &&
			   b->causes->editables.items[call->what].waits != BLOCKED_MPI; i++) {
		part.end_ns = inner[i].start_ns;
		part.alone = GRAPH_WORKS;
		if (part.end_ns > part.start_ns)
			push(b, &part);
		push(b, &inner[i]);
		part.start_ns = inner[i].end_ns;
		part.end_ns = call->end_ns;
	}
	if (part.end_ns > part.start_ns)
		push(b, &part);
}

/* A call that is too short for a stack: samples in such calls tell which lines make them. */
static void take_short_call(struct builder *b, struct thread_piece *call, uint32_t function, size_t first)
{
	struct editables *all = &b->causes->editables;

	call->of = editable_short_call(all, b->rest, call->what, call->end_ns - call->start_ns);
	for (size_t i = first; i < b->count; i++) {
		const struct thread_piece *p = &b->pending[i];

		if (p->is_sample && p->stack) {
			uint32_t what = editable_call(all, b->image, function, p->stack);

			editable_pool_sample(all, call->of, what, p->cpu_ns);
			editable_add_stack(all, what, b->image, p->stack, p->cpu_ns);
		}
	}
}

/* An open that truncates a file is a consequence of the writes. */
static void take_file_call(struct builder *b, const struct event *e, bool has_stack, struct thread_piece *call)
{
	struct editables *all = &b->causes->editables;
	enum traffic_role role = all->items[call->what].role;
	uint32_t by = role == ROLE_OPEN ? written_open(&b->written, e, has_stack) : WRITTEN_NOTHING;

	if (role == ROLE_WRITE)
		written_write(&b->written, e, call->of);
	if (by == WRITTEN_NOTHING)
		return;
	call->of = editable_consequence(all, b->rest, call->what, by);
	all->items[call->what].calls--; /* it is one of these */
}

/* The first piece that began at that time or later: a call that began then contains it. */
static size_t first_inside(const struct builder *b, uint64_t start_ns)
{
	size_t first = b->count;

	while (first && b->pending[first - 1].start_ns >= start_ns)
		first--;
	return first;
}

/* What a thread does on the CPU while it waits for what a device executes is a part of that wait, and no line computes
 * it. */
static void take_sync(struct builder *b, const struct thread_piece *call, size_t first)
{
	struct editable *item = &b->causes->editables.items[call->what];
	uint64_t ns = call->end_ns - call->start_ns,
		 device_ns = linker_device_ns(b->linker, b->image, call->start_ns, call->end_ns);

	item->sync_ns += ns;
	item->device_ns += device_ns;
	if (device_ns * 2 <= ns)
		return;
	for (size_t i = first; i < b->count; i++) {
		const struct thread_piece *p = &b->pending[i];

		if (p->is_sample)
			editable_drop_stack(&b->causes->editables, p->what, b->image, p->stack, p->cpu_ns);
	}
}

/* The last of sleeps after which the end of a process is found: they waited until then. When the rest begins. */
static uint64_t take_sleep(struct builder *b, uint32_t what, uint64_t start_ns, uint64_t end_ns)
{
	const struct row_of_calls *row = linker_sleeps(b->linker, b->actor, end_ns);
	struct thread_piece p;

	if (!row || row->found_ns <= start_ns || row->found_ns >= end_ns)
		return start_ns;
	p = (struct thread_piece){
		.start_ns = row->start_ns, .end_ns = row->found_ns, .what = what, .of = what, .has_edge = true};
	b->count = first_inside(b, p.start_ns);
	push(b, &p);
	return row->found_ns;
}

/* What a sleep was for may end later than the sleep: see link_started(). */
static void await_started(struct builder *b, uint32_t what, uint64_t slept_ns)
{
	struct thread_piece p = {
		.start_ns = slept_ns, .end_ns = slept_ns + 1, .what = what, .of = what,
		.alone = GRAPH_ASSUMED, .has_edge = true};

	if (graph_has_edge(&b->causes->graph, b->actor, p.end_ns))
		push(b, &p);
}

static void take_call(struct builder *b, const struct event *e)
{
	struct causality *s = b->causes;
	uint32_t stack = event_stack(e);
	uint32_t what = call_of(b, e->id, stack);
	const struct function *f = trace_function(b->image->trace, e->id);
	uint64_t start_ns = causes_ns(s, b->image, event_start(e)), end_ns = causes_ns(s, b->image, e->ticks);
	struct thread_piece *p;
	size_t first;

	if (s->editables.items[what].waits == BLOCKED_SLEEP)
		start_ns = take_sleep(b, what, start_ns, end_ns);
	p = &b->pending[b->count];
	*p = (struct thread_piece){.start_ns = start_ns, .end_ns = end_ns, .what = what};
	if (p->end_ns - p->start_ns >= CAUSES_WAIT_NS && is_wait(s->editables.items[p->what].waits))
		p->alone = event_timed_out(e, s->editables.items[p->what].waits == BLOCKED_POLL) ? GRAPH_TIMER
												  : GRAPH_WAITS;
	if (b->linker->only_polls[b->actor] && function_only_asks(f))
		p->alone = GRAPH_ASSUMED;
	p->has_edge = graph_has_edge(&s->graph, b->actor, p->end_ns);
	if (p->has_edge)
		p->start_ns = mpi_waits_since(b->linker, b->actor, p->start_ns, p->end_ns);
	p->of = p->what;
	first = first_inside(b, p->start_ns);
	if (stack || p->has_edge || p->alone)
		s->editables.items[p->what].calls++;
	else
		take_short_call(b, p, e->id, first);
	if (stack && !p->has_edge && p->end_ns - p->start_ns < SHORT_STACK_NS)
		editable_stacked_call(&s->editables, b->rest, call_of(b, e->id, 0), p->what);
	editable_add_stack(&s->editables, p->what, b->image, stack, p->end_ns - p->start_ns);
	take_file_call(b, e, stack != 0, p);
	if (f && f->kind.cuda & CUDA_SYNCHRONIZE)
		take_sync(b, p, first);
	if (first < b->count)
		enclose(b, p, first);
	else
		push_behind(b);
	if (s->editables.items[what].waits == BLOCKED_SLEEP)
		await_started(b, what, end_ns);
}

/* `image`: whose trace has the sample's stack. */
static void take_sample(struct builder *b, const struct image *image, const struct event *e)
{
	struct causality *s = b->causes;
	uint32_t stack = event_stack(e);
	uint64_t ns = causes_ns(s, image, e->ticks);
	struct thread_piece p = {.start_ns = ns, .end_ns = ns, .cpu_ns = samples_ns(e), .is_sample = true,
			  .stack = image == b->image ? stack : 0,
			  .what = editable_cpu(&s->editables, image, stack)};

	editable_add_stack(&s->editables, p.what, image, stack, p.cpu_ns);
	push(b, &p);
}

/* The samples of a thread that were taken from outside, in the image that the launcher observed. */
struct observed {
	const struct image *image; /* NULL: none are left */
	struct cursor cursor;
	struct event next;
};

static void observed_next(struct observed *o)
{
	bool is_any = false;

	while (o->image && !is_any) {
		is_any = cursor_next(&o->cursor, &o->next);
		if (!is_any)
			o->image = NULL;
		is_any = is_any && o->next.kind == TF_SAMPLE;
	}
}

static void observed_find(const struct causality *s, const struct actor *a, struct observed *ret)
{
	const struct model *m = s->context->model;
	const struct process *p = &m->processes[a->image->process];

	ret->image = NULL;
	for (size_t k = p->first_image; k < p->first_image + p->image_count && !ret->image; k++) {
		const struct image *image = &m->images[k];

		for (size_t i = 0; image != a->image && samples_by_perf(image) && i < image->trace->thread_count; i++)
			if (image->trace->threads[i].tid == a->thread->tid) {
				ret->image = image;
				cursor_init(&ret->cursor, image->trace, &image->trace->threads[i]);
			}
	}
	observed_next(ret);
}

/* Those before `until_ns`. */
static void take_observed(struct builder *b, const struct actor *a, struct observed *o, uint64_t until_ns)
{
	while (o->image && causes_ns(b->causes, o->image, o->next.ticks) <= until_ns) {
		if (causes_ns(b->causes, o->image, o->next.ticks) >= a->start_ns)
			take_sample(b, o->image, &o->next);
		observed_next(o);
	}
}

/* The call that the thread was in at its end. */
static void take_current(struct builder *b, const struct actor *a)
{
	struct causality *s = b->causes;
	uint32_t function;
	uint64_t start;
	struct thread_piece p;

	if (!thread_current(a->thread, &function, &start))
		return;
	p = (struct thread_piece){.start_ns = causes_ns(s, b->image, start), .end_ns = a->end_ns, .alone = GRAPH_WAITS,
			   .what = editable_call(&s->editables, b->image, function, 0)};
	p.of = p.what;
	if (p.start_ns < p.end_ns)
		push(b, &p);
}

static void build_thread(struct builder *b, const struct actor *a)
{
	struct cursor cursor;
	struct observed observed;
	struct event e;

	b->image = a->image;
	b->rest = editable_rest(&b->causes->editables, a->image);
	b->count = b->sample_count = 0;
	b->before = UINT32_MAX;
	b->wait_ns = a->thread && a->thread->events > MANY_EVENTS ? (a->end_ns - a->start_ns) / WAIT_PARTS : 0;
	written_begin(&b->written, a->image->trace);
	if (a->thread) {
		cursor_init(&cursor, a->image->trace, a->thread);
		observed_find(b->causes, a, &observed);
		while (cursor_next(&cursor, &e)) {
			if (observed.image && e.kind == TF_CALL)
				take_observed(b, a, &observed, causes_ns(b->causes, a->image, e.ticks));
			if (e.kind == TF_CALL)
				take_call(b, &e);
			else if (e.kind == TF_SAMPLE)
				take_sample(b, a->image, &e);
		}
		take_observed(b, a, &observed, a->end_ns);
		take_current(b, a);
	}
	flush(b, b->count);
	if (a->thread)
		add_computing(b, a->end_ns, UINT32_MAX);
	else
		graph_work(&b->causes->graph, a->end_ns,
			   editable_named(&b->causes->editables, EDITABLE_PROGRAM,
					  a->image->executable ? a->image->executable : "", a->image, 0));
}

static void build_stream(struct causality *s, const struct linker *l, uint32_t actor)
{
	const struct operations *all = &l->operations;
	size_t at = first_place(i, 0, all->count, all->items[i].actor < actor);

	graph_begin(&s->graph, actor, 0);
	for (; at < all->count && all->items[at].actor == actor; at++)
		graph_operation(&s->graph, all->items[at].start_ns, all->items[at].end_ns, all->items[at].what);
	graph_end(&s->graph, false);
}

/* ---- the whole ---- */

/* The run ends with the processes that no recorded process started. */
static bool is_root(const struct linker *l, uint32_t actor)
{
	const struct actor *a = &l->causes->actors[actor];

	return a->is_main && l->last_of[a->image->process] == actor &&
	       linker_parent(l, a->image->process) == SIZE_MAX;
}

static void number_pools(struct causality *s)
{
	editables_finish(&s->editables);
	for (size_t i = 0; i < s->graph.part_count; i++)
		s->graph.parts[i].what = editable_of_pool(&s->editables, s->graph.parts[i].what);
}

static void build(struct causality *s, const struct linker *l)
{
	struct builder b = {.causes = s, .linker = l, .pending = mem_resize(NULL, (PENDING + 1) * sizeof(*b.pending))};

	for (uint32_t i = 0; i < s->actor_count; i++) {
		const struct actor *a = &s->actors[i];

		if (a->is_stream) {
			build_stream(s, l, i);
			continue;
		}
		b.actor = i;
		graph_begin(&s->graph, i, a->start_ns);
		build_thread(&b, a);
		graph_end(&s->graph, is_root(l, i));
	}
	free(b.pending);
	free(b.samples);
	written_done(&b.written);
	number_pools(s);
	graph_finish(&s->graph);
}

struct causality *causes_find(const struct report_context *c)
{
	struct causality *s = mem_alloc(sizeof(*s));
	SCOPED(linker) l = {.causes = s};
	uint32_t last;

	s->context = c;
	s->delay_ns = s->unseen_ns = -1;
	editables_init(&s->editables, c->symbols);
	actors_find(s);
	moments_read(&l);
	link_processes(&l);
	link_threads(&l);
	link_transfers(&l);
	link_devices(&l);
	link_mpi(&l);
	link_openmp(&l);
	link_only_causes(&l);
	link_looks(&l);
	graph_edges_done(&s->graph);
	build(s, &l);
	last = replay_last(&s->graph);
	if (last == NODE_NONE) {
		causes_free(s);
		return NULL;
	}
	s->run_ns = s->graph.nodes[last].end_ns;
	return s;
}

void causes_free(struct causality *s)
{
	if (!s)
		return;
	graph_done(&s->graph);
	editables_done(&s->editables);
	free(s->actors);
	free(s->first_of_image);
	free(s->awaited_by);
	free(s->savings);
	map_done(&s->priced);
	free(s);
}
