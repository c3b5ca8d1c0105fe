/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the calls that the edges between actors follow from. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/causes_build.h"
#include "report/events/stacks/samples.h"
#include "report/events/usage.h"
#include "report/time/own_cost.h"

/* Calls that wait for all streams of a device. */
static bool waits_for_streams(unsigned cuda)
{
	return cuda & CUDA_STREAMS || (cuda & CUDA_FREE && !(cuda & CUDA_ASYNC));
}

static bool waits_for_device(unsigned cuda)
{
	return cuda & CUDA_SYNCHRONIZE ||
	       (!(cuda & (CUDA_ASYNC | CUDA_NODE)) && cuda & (CUDA_COPIES | CUDA_SET | CUDA_FREE));
}

static uint8_t moment_classify(const struct function *f)
{
	if (f->kind.cuda)
		return waits_for_streams(f->kind.cuda)	? MOMENT_SYNC_STREAMS
		       : waits_for_device(f->kind.cuda) ? MOMENT_SYNC
							: MOMENT_NONE;
	if (f->group == TF_GROUP_OPENMP)
		return f->kind.parallel & PARALLEL_TEAM_WAITS ? MOMENT_TEAM : MOMENT_WAIT;
	if (f->group == TF_GROUP_MPI)
		return MOMENT_MPI;
	if (f->group != TF_GROUP_OSRT)
		return MOMENT_NONE;
	if (f->kind.does & FUNCTION_WAKES)
		return MOMENT_WAKE;
	if (f->kind.does & FUNCTION_SPAWNS)
		return MOMENT_SPAWN;
	if (f->kind.does & FUNCTION_CREATES)
		return MOMENT_CREATE;
	if (f->kind.does & FUNCTION_JOINS)
		return MOMENT_JOIN;
	switch (f->kind.role) {
	case ROLE_READ:
		return MOMENT_READ;
	case ROLE_WRITE:
		return MOMENT_WRITE;
	case ROLE_MEET:
		return f->kind.does & FUNCTION_ACCEPTS ? MOMENT_RECEIVE : MOMENT_SEND;
	default:
		break;
	}
	switch (f->kind.waits) {
	case BLOCKED_CHILD:
		return MOMENT_CHILD;
	case BLOCKED_POLL:
		return MOMENT_POLL;
	case BLOCKED_THREAD:
	case BLOCKED_LOCK:
		return MOMENT_WAIT;
	default:
		return MOMENT_NONE;
	}
}

enum {
	OF_DEVICES = 1 << TF_GROUP_CUDA | 1 << TF_GROUP_CUDA_DRIVER,
	GROUPS = 1 << TF_GROUP_OSRT | 1 << TF_GROUP_OPENMP | 1 << TF_GROUP_MPI | OF_DEVICES
};

enum { KNOWN_CHANNELS = 64 };

/* Stretches between calls in which a thread may have waited by system calls of its own, as runtimes of OpenMP, Go and
 * Rust do: they have less CPU time in samples than a part of their length. */
struct hidden {
	struct moment *items;
	size_t count, capacity;
	uint64_t until_ns, sampled_ns; /* the end of the last call; samples since then */
	uint64_t all_ns; /* of long stretches, also of those that compute */
};
enum { HIDDEN_NS = 1000000, HIDDEN_PART = 4 };

struct reading_calls {
	struct linker *linker;
	const struct image *image;
	struct descriptor_search descriptors;
	const uint8_t *kinds;
	uint32_t actor;
	uint64_t wait_ticks; /* CAUSES_WAIT_NS */
	uint64_t polls_ns; /* of the thread, in recorded calls that ask others and never block */
	uint64_t idle_ns; /* since the last call of MPI: in long sleeps and yields */
	struct hidden hidden; /* of the thread */
	bool is_python, has_children; /* the image; its process */
	bool has_found; /* a process that has ended, or data, or it has begun something new, since the last sleep */
	bool has_started; /* likewise, a process or a thread */
	bool has_looked; /* likewise, whether something has happened */
	struct known_channel {
		const struct descriptor *descriptor;
		uint64_t channel;
	} known[2][KNOWN_CHANNELS]; /* of the image: written, read; by descriptor; what was there is forgotten */
};

/* The channel with the name of that hash on the machine; of SIZE_MAX: between machines. */
static uint64_t channel_number(struct linker *l, uint64_t name, size_t machine)
{
	uint64_t *number = map_put(&l->channels, name, machine, NULL);

	if (!*number)
		*number = l->channels.count;
	return *number;
}

/* From one end of a connection to the other one; 0: the addresses are not known. */
static uint64_t connection_of(struct reading_calls *r, const struct descriptor *d, bool is_read)
{
	const struct socket_description *s = &r->descriptors.of->sockets.items[d->socket];
	const struct socket_address *from = is_read ? &s->peer : &s->own, *to = is_read ? &s->own : &s->peer;
	uint64_t name[] = {from->host, from->port, to->host, to->port};

	if (!from->host || !to->host)
		return 0;
	return channel_number(r->linker, hash_bytes(name, sizeof(name)),
			      from->is_loopback ? r->image->machine : SIZE_MAX);
}

/* The pipe; of what has no name of its own (an eventfd), the descriptor of this process. */
static uint64_t pipe_of(struct reading_calls *r, const struct descriptor *d)
{
	SCOPED(buffer) text = {0};

	descriptors_text(r->descriptors.of, d, &text);
	if (!d->is_pipe)
		buffer_print(&text, " %u of %zu", d->fd, r->image->process);
	return channel_number(r->linker, hash_bytes(text.data, text.size), r->image->machine);
}

static uint64_t channel_of(struct reading_calls *r, const struct descriptor *d, bool is_read)
{
	struct known_channel *known = &r->known[is_read][d->fd % KNOWN_CHANNELS];

	if (known->descriptor != d)
		*known = (struct known_channel){d, d->kind == TF_DESCRIPTOR_SOCKET ? connection_of(r, d, is_read)
										   : pipe_of(r, d)};
	return known->channel;
}

/* Which kind of moment a transfer is: of a pipe, of a socket, or none. */
static enum moment_kind transfer_kind(struct reading_calls *r, const struct event *e, struct moment *m)
{
	const struct descriptor *d = descriptors_find_call(&r->descriptors, e);
	bool is_read = r->kinds[e->id] == MOMENT_READ || r->kinds[e->id] == MOMENT_RECEIVE;

	if (!d)
		return MOMENT_NONE;
	m->result = (int32_t)(tf_arg_value(event_arg(e, TF_ARG_FD)) >> 16);
	if (d->kind == TF_DESCRIPTOR_SOCKET) {
		m->value = is_read || m->result > 0 ? channel_of(r, d, is_read) : 0;
		return is_read ? MOMENT_RECEIVE : MOMENT_SEND;
	}
	if (d->kind != TF_DESCRIPTOR_OTHER || m->result < 0)
		return MOMENT_NONE;
	m->value = channel_of(r, d, is_read);
	return is_read ? MOMENT_READ : MOMENT_WRITE;
}

static void put(struct moments *to, const struct moment *m)
{
	list_add(to, *m);
}

/* Who ended the wait, as --wakes records it; else who held the lock when it began. */
static void take_waker(struct reading_calls *r, const struct event *e, struct moment *m)
{
	uint64_t waker = tf_arg_value(event_arg(e, TF_ARG_WAKER)), ticks = waker & TF_WAKER_TICKS_MOST;

	if (waker) {
		m->waker = (uint32_t)(waker >> TF_WAKER_TICKS_BITS);
		m->woken_ns = causes_ns(r->linker->causes, r->image, e->ticks > ticks ? e->ticks - ticks : 0);
	} else {
		m->waker = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_HOLDER)) & 0xffffff;
		m->woken_ns = m->end_ns - 1;
		m->takes_lock = m->lock && m->waker;
	}
}

/* A thread of Python that waits for the interpreter asks for it again every 5 ms. */
enum { SWITCHED_NS = 10000000 };

static bool takes_interpreter(const struct function *f)
{
	return f->kind.does & FUNCTION_CONDITION && f->kind.does & FUNCTION_TIMED;
}

/* Of a process that has started others. */
static uint32_t call_of(struct reading_calls *r, enum moment_kind kind, const struct event *e)
{
	if (!r->has_children || (kind != MOMENT_SPAWN && kind != MOMENT_CHILD && kind != MOMENT_READ &&
				 kind != MOMENT_POLL))
		return NODE_NONE;
	return editable_call(&r->linker->causes->editables, r->image, e->id, event_stack(e));
}

bool event_timed_out(const struct event *e, bool is_poll)
{
	uint64_t polled = e->args_count ? event_arg(e, TF_ARG_TIMEOUT) : 0,
		 of_epoll = e->args_count && is_poll ? event_arg(e, TF_ARG_FD) : 0;

	if (of_epoll)
		return !(int32_t)(tf_arg_value(of_epoll) >> 16);
	if (polled)
		return !(uint16_t)tf_arg_value(polled);
	return e->args_count && tf_arg_value(event_arg(e, TF_ARG_RESULT)) == ETIMEDOUT;
}

/* enum openmp_class. */
static uint64_t openmp_class_of(const struct reading_calls *r, const struct event *e)
{
	const struct function *f = trace_function(r->image->trace, e->id);

	return f->group == TF_GROUP_OPENMP ? f->kind.match : OPENMP_NOTHING;
}

/* What threads of OpenMP wait for: the beginning of a region, the end of anything else. */
static void construct_add(struct reading_calls *r, const struct event *e)
{
	struct moment m = {.actor = r->actor, .lock = openmp_class_of(r, e)};
	uint64_t ticks = m.lock == OPENMP_REGION ? event_start(e) : e->ticks;

	m.start_ns = m.end_ns = causes_ns(r->linker->causes, r->image, ticks);
	if (m.lock)
		put(&r->linker->of[MOMENT_WAKE], &m);
}

bool function_only_asks(const struct function *f)
{
	return f && f->group == TF_GROUP_OSRT && f->kind.does & FUNCTION_POLLS && !(f->kind.does & FUNCTION_AWAITS);
}

static bool is_sleep(const struct function *f)
{
	return f->group == TF_GROUP_OSRT && f->kind.waits == BLOCKED_SLEEP;
}

static bool is_idle(const struct function *f)
{
	return is_sleep(f) || (f->group == TF_GROUP_OSRT && f->kind.does & FUNCTION_POLLS);
}

/* Between sleeps, and calls that look, there is so much else at most, or a quarter of the time since the first of them:
 * a thread that looks again and again waits for a CPU, too. Sleeps and yields between looks are a part of them. Other
 * short calls in a row count as one. */
enum { LOOK_NS = 1000000, LOOK_PART = 4 };

static bool is_next(const struct row_of_calls *last, const struct row_of_calls *c, uint64_t idle_ns)
{
	uint64_t ns = c->start_ns > last->end_ns ? c->start_ns - last->end_ns : 0;

	if (c->kind == CALL_LONG || last->kind != c->kind)
		return false;
	if (c->kind == CALLS_SHORT)
		return ns < CAUSES_WAIT_NS;
	ns = ns > idle_ns ? ns - idle_ns : 0;
	return ns < LOOK_NS || ns * LOOK_PART < last->end_ns - last->start_ns;
}

/* `idle_ns`: in which the thread slept or yielded before it; UINT64_MAX: it begins a row. */
static void row_add(const struct reading_calls *r, struct rows_of_calls *all, struct row_of_calls c, uint64_t idle_ns)
{
	struct row_of_calls *last = all->count > all->first[r->actor] ? &all->items[all->count - 1] : NULL;

	if (last && idle_ns != UINT64_MAX && last->stack == c.stack && is_next(last, &c, idle_ns)) {
		last->end_ns = c.end_ns;
		last->last_start_ns = c.start_ns;
		last->looks |= c.looks;
		last->count++;
	} else {
		list_add(all, c);
	}
}

static void mpi_add(struct reading_calls *r, const struct event *e)
{
	const struct function *f = trace_function(r->image->trace, e->id);
	struct row_of_calls c = {.start_ns = causes_ns(r->linker->causes, r->image, event_start(e)),
				 .end_ns = causes_ns(r->linker->causes, r->image, e->ticks),
				 .kind = f->kind.does & FUNCTION_POLLS	? CALLS_POLL
					 : e->duration >= r->wait_ticks ? CALL_LONG
									: CALLS_SHORT,
				 .is_alone = (f->kind.parallel & PARALLEL_ALONE) != 0};

	row_add(r, &r->linker->mpi, c, r->idle_ns);
	r->idle_ns = 0;
}

/* What looks between sleeps may be too short to be recorded. */
static void sleep_add(struct reading_calls *r, uint64_t start_ns, uint64_t end_ns, uint32_t stack)
{
	struct row_of_calls c = {.start_ns = start_ns, .end_ns = end_ns, .kind = CALLS_SLEEP, .stack = stack,
				 .count = 1, .looks = r->has_looked || r->has_started, .has_started = r->has_started,
				 .first_end_ns = end_ns, .last_start_ns = start_ns};

	row_add(r, &r->linker->sleeps, c, r->has_found ? UINT64_MAX : 0);
	r->has_found = r->has_looked = r->has_started = false;
}

/* Whether it asks if something has happened: for events, for the name of a file. */
static bool is_look(const struct function *f)
{
	return f->group == TF_GROUP_OSRT && (f->kind.waits == BLOCKED_POLL || f->kind.does & FUNCTION_STATS);
}

static void moment_add(struct reading_calls *r, const struct event *e)
{
	enum moment_kind kind = r->kinds[e->id];
	struct moment m = {.actor = r->actor, .what = NODE_NONE};

	if (kind == MOMENT_MPI) {
		mpi_add(r, e);
		kind = MOMENT_NONE;
	} else if (r->linker->mpi.count && is_idle(trace_function(r->image->trace, e->id))) {
		r->idle_ns += causes_ns(r->linker->causes, r->image, e->ticks) -
			      causes_ns(r->linker->causes, r->image, event_start(e));
	}
	if (function_only_asks(trace_function(r->image->trace, e->id)))
		r->polls_ns += causes_ns(r->linker->causes, r->image, e->ticks) -
			       causes_ns(r->linker->causes, r->image, event_start(e));
	r->has_looked |= is_look(trace_function(r->image->trace, e->id));
	if (e->duration < r->wait_ticks && (!kind || kind >= MOMENT_POLL))
		return;
	if (kind >= MOMENT_READ && kind <= MOMENT_SEND)
		kind = transfer_kind(r, e, &m);
	else if (e->args_count)
		m.value = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	if (!kind && e->duration < r->wait_ticks)
		return; /* such as a short write to a file */
	m.start_ns = causes_ns(r->linker->causes, r->image, event_start(e));
	m.end_ns = causes_ns(r->linker->causes, r->image, e->ticks);
	if ((kind == MOMENT_WAIT || kind == MOMENT_WAKE) && e->args_count)
		m.lock = tf_arg_value(event_arg(e, TF_ARG_LOCK));
	if (kind == MOMENT_WAIT && e->args_count)
		take_waker(r, e, &m);
	if (kind == MOMENT_WAIT && !m.lock)
		m.lock = openmp_class_of(r, e);
	if (kind == MOMENT_WAIT && r->is_python && m.end_ns - m.start_ns < SWITCHED_NS)
		m.is_interpreter = takes_interpreter(trace_function(r->image->trace, e->id));
	if (kind == MOMENT_SPAWN || m.end_ns - m.start_ns >= CAUSES_WAIT_NS)
		m.what = call_of(r, kind, e);
	r->has_started |= kind == MOMENT_SPAWN || kind == MOMENT_CREATE;
	r->has_found |= r->has_started || (kind == MOMENT_CHILD && m.value) ||
			(kind >= MOMENT_READ && kind <= MOMENT_SEND);
	if (is_sleep(trace_function(r->image->trace, e->id)))
		sleep_add(r, m.start_ns, m.end_ns, event_stack(e));
	if (m.end_ns - m.start_ns >= CAUSES_WAIT_NS) {
		list_add(&r->linker->long_calls, (struct actor_call){m.start_ns, m.end_ns});
		if (m.what != NODE_NONE)
			put(&r->linker->of[MOMENT_AWAIT], &m);
	}
	if ((kind == MOMENT_WAIT || kind == MOMENT_POLL) && !m.is_interpreter &&
	    event_timed_out(e, kind == MOMENT_POLL))
		return;
	if (kind && (kind < MOMENT_POLL || m.end_ns - m.start_ns >= CAUSES_WAIT_NS))
		put(&r->linker->of[kind], &m);
}

/* The call that the thread was in at its end: it did nothing else. So ends the last barrier of a thread of OpenMP. */
static void add_current(struct reading_calls *r, const struct actor *a)
{
	struct moment m = {.actor = r->actor, .what = NODE_NONE, .end_ns = a->end_ns};
	uint32_t function;
	uint64_t start;

	if (!thread_current(a->thread, &function, &start))
		return;
	m.start_ns = causes_ns(r->linker->causes, r->image, start);
	if (m.start_ns + CAUSES_WAIT_NS <= m.end_ns)
		list_add(&r->linker->long_calls, (struct actor_call){m.start_ns, m.end_ns});
	if (function < a->image->trace->functions->count && r->kinds[function] == MOMENT_TEAM)
		put(&r->linker->of[MOMENT_TEAM], &m);
}

/* The stretch from the last call until then. */
static void hidden_stretch(struct reading_calls *r, uint64_t end_ns)
{
	struct hidden *h = &r->hidden;
	uint64_t ns = h->until_ns && end_ns > h->until_ns ? end_ns - h->until_ns : 0;

	if (ns < HIDDEN_NS)
		return;
	h->all_ns += ns;
	if (h->sampled_ns * HIDDEN_PART < ns)
		list_add(h, (struct moment){.actor = r->actor, .what = NODE_NONE, .start_ns = h->until_ns,
					    .end_ns = end_ns});
}

static void hidden_add(struct reading_calls *r, const struct event *e)
{
	struct hidden *h = &r->hidden;
	uint64_t start_ns = causes_ns(r->linker->causes, r->image, event_start(e));

	if (e->kind == TF_SAMPLE)
		h->sampled_ns += samples_ns(e);
	if (e->kind != TF_CALL)
		return;
	for (; h->count && h->items[h->count - 1].start_ns >= start_ns; h->count--) /* it was inside of this call */
		h->all_ns -= h->items[h->count - 1].end_ns - h->items[h->count - 1].start_ns;
	hidden_stretch(r, start_ns);
	h->until_ns = causes_ns(r->linker->causes, r->image, e->ticks);
	h->sampled_ns = 0;
}

COMPARATOR(compare_moments, struct moment, order_of(a->end_ns, b->end_ns))
COMPARATOR(compare_calls, struct actor_call, order_of(a->end_ns, b->end_ns))

/* As role_polls(), of calls that never block. Whoever yields waits for a CPU mostly in such calls. */
static bool only_polls(const struct reading_calls *r, const struct actor *a, const struct usage_of *u)
{
	uint64_t ns = own_cost_polls(r->linker->causes->context->model, a->image, a->thread), delay_ns = u->delay_ns;
	uint64_t on_cpu_ns = ns + (r->polls_ns > delay_ns ? r->polls_ns - delay_ns : 0);

	if (!u->ticks || u->cpu_ns == TF_USAGE_UNKNOWN || delay_ns == TF_USAGE_UNKNOWN || !(ns + r->polls_ns))
		return false;
	return on_cpu_ns * 100 >= u->cpu_ns * POLLS_PERCENT ||
	       (ns + r->polls_ns) * 100 >= (u->cpu_ns + delay_ns) * POLLS_PERCENT;
}

/* The thread has waited in them if they are more than the CPU time and the time for which it waited for a CPU. */
static void hidden_end(struct reading_calls *r, const struct usages *usages, const struct actor *a, size_t first_wait)
{
	struct linker *l = r->linker;
	struct moments *waits = &l->of[MOMENT_WAIT];
	size_t first_call = l->long_calls.first[r->actor];
	struct usage_of u = usages_recorded(usages, a->image, a->thread->tid, 0, UINT64_MAX);
	uint32_t function;
	uint64_t start;
	bool waited;

	hidden_stretch(r, thread_current(a->thread, &function, &start) ? causes_ns(l->causes, r->image, start)
									: a->end_ns);
	l->only_polls[r->actor] = only_polls(r, a, &u);
	l->delays_ns[r->actor] = u.ticks && u.delay_ns != TF_USAGE_UNKNOWN ? u.delay_ns : 0;
	waited = u.ticks && u.delay_ns != TF_USAGE_UNKNOWN && (u.cpu_ns + u.delay_ns) * 2 < r->hidden.all_ns;

	for (size_t i = 0; waited && i < r->hidden.count; i++) {
		put(waits, &r->hidden.items[i]);
		list_add(&l->long_calls, (struct actor_call){r->hidden.items[i].start_ns, r->hidden.items[i].end_ns});
	}
	if (waited && waits->count > first_wait)
		qsort(waits->items + first_wait, waits->count - first_wait, sizeof(*waits->items), compare_moments);
	if (waited && l->long_calls.count > first_call)
		qsort(l->long_calls.items + first_call, l->long_calls.count - first_call,
		      sizeof(*l->long_calls.items), compare_calls);
	free(r->hidden.items);
	r->hidden = (struct hidden){0};
}

/* Rounded down. */
static uint64_t ticks_of(const struct causality *s, const struct image *image, uint64_t ns)
{
	const struct clock_map *clock = &s->context->model->machines[image->machine].clock;

	return clock->scale ? (uint64_t)(((unsigned __int128)ns << 32) / clock->scale) : 0;
}

void moments_read(struct linker *l)
{
	const struct causality *s = l->causes;
	struct reading_calls r = {.linker = l};
	/* nobody beside a single thread can have ended what it waits for, but a device */
	uint32_t groups = s->actor_count > 1 ? GROUPS : OF_DEVICES;
	struct usages *usages = usages_new(s->context->model);
	size_t first_wait;

	l->delays_ns = mem_alloc((s->actor_count + 1) * sizeof(*l->delays_ns));
	l->only_polls = mem_alloc((s->actor_count + 1) * sizeof(*l->only_polls));
	l->long_calls.first = mem_alloc((s->actor_count + 1) * sizeof(*l->long_calls.first));
	l->mpi.first = mem_alloc((s->actor_count + 1) * sizeof(*l->mpi.first));
	l->sleeps.first = mem_alloc((s->actor_count + 1) * sizeof(*l->sleeps.first));
	for (size_t i = 0; i < s->actor_count; i++) {
		const struct actor *a = &s->actors[i];
		struct cursor cursor;
		struct event e;

		l->long_calls.first[i] = l->long_calls.count;
		l->mpi.first[i] = l->mpi.count;
		l->sleeps.first[i] = l->sleeps.count;
		r.has_found = r.has_started = false;
		r.polls_ns = 0;
		if (a->is_main && a->image->trace) {
			r.descriptors = descriptor_search(a->image->trace);
			r.kinds = functions_classes(a->image->trace->functions, moment_classify);
			memset(r.known, 0, sizeof(r.known));
			r.is_python = attribution_is_python_program(a->image);
			r.has_children = s->context->model->processes[a->image->process].children;
		}
		if (!a->thread)
			continue;
		r.image = a->image;
		r.wait_ticks = ticks_of(s, a->image, CAUSES_WAIT_NS);
		r.actor = (uint32_t)i;
		cursor_init(&cursor, a->image->trace, a->thread);
		first_wait = l->of[MOMENT_WAIT].count;
		r.hidden.until_ns = a->is_main ? 0 : a->start_ns;
		while (a->thread->groups & groups && cursor_next(&cursor, &e)) {
			hidden_add(&r, &e);
			if (e.kind == TF_CALL && e.id < a->image->trace->functions->count)
				moment_add(&r, &e);
			else if (e.kind == TF_CONSTRUCT && e.id < a->image->trace->functions->count)
				construct_add(&r, &e);
		}
		hidden_end(&r, usages, a, first_wait);
		add_current(&r, a);
	}
	l->long_calls.first[s->actor_count] = l->long_calls.count;
	l->mpi.first[s->actor_count] = l->mpi.count;
	l->sleeps.first[s->actor_count] = l->sleeps.count;
	usages_free(usages);
}

size_t linker_long_call(const struct linker *l, uint32_t actor, uint64_t ns)
{
	const struct actor_calls *all = &l->long_calls;

	return first_place(i, all->first[actor], all->first[actor + 1], all->items[i].end_ns < ns);
}

enum { NEAR = 8 };

/* The call that the last search found, or a near one: the waits of a thread are in the order of time. */
static size_t near_call(const struct linker *l, size_t *places, uint32_t actor, uint64_t ns)
{
	const struct actor_call *all = l->long_calls.items;
	size_t first = l->long_calls.first[actor], end = l->long_calls.first[actor + 1];
	size_t at = places[actor] < first ? first : places[actor], near = at + NEAR;

	while (at < end && at < near && all[at].end_ns < ns)
		at++;
	if ((at == near && at < end && all[at].end_ns < ns) || (at > first && all[at - 1].end_ns >= ns))
		at = linker_long_call(l, actor, ns);
	places[actor] = at;
	return at;
}

struct row_of_calls *linker_sleeps(const struct linker *l, uint32_t actor, uint64_t ns)
{
	const struct rows_of_calls *all = &l->sleeps;
	size_t at = first_place(i, all->first[actor], all->first[actor + 1], all->items[i].start_ns < ns);

	return at > all->first[actor] ? &all->items[at - 1] : NULL;
}

uint64_t linker_last_running(const struct linker *l, size_t *places, uint32_t actor, uint64_t ns)
{
	size_t at = places ? near_call(l, places, actor, ns) : linker_long_call(l, actor, ns);
	const struct actor_call *call = &l->long_calls.items[at];

	return at < l->long_calls.first[actor + 1] && call->start_ns < ns ? call->start_ns : ns - 1;
}

void linker_done(struct linker *l)
{
	free(l->long_calls.items);
	free(l->long_calls.first);
	free(l->sleeps.items);
	free(l->delays_ns);
	free(l->only_polls);
	free(l->sleeps.first);
	free(l->mpi.items);
	free(l->mpi.first);
	for (size_t i = 0; i < MOMENT_KINDS; i++)
		free(l->of[i].items);
	map_done(&l->channels);
	free(l->operations.items);
	free(l->last_of);
}
