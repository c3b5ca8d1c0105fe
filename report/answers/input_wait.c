/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/input_wait.h"

#include <stdlib.h>

#include "report/base/bits.h"
#include "report/events/traffic.h"
#include "report/read/job/process_tree.h"
#include "runtime/shared/format/trace_flags.h"

/* What the sockets of a process are. */
struct sockets_used {
	bool has_peers;	   /* it may be a client */
	bool is_listening; /* it has clients */
	bool is_own_client; /* what waits for its clients waits for itself, as tests of servers do */
	bool has_timer, has_pipe; /* timerfd_create(); a pipe or a terminal */
	struct bits listening, local; /* ports: where it listens, and of peers on the same machine */
};

static void sockets_used_done(struct sockets_used *s)
{
	bits_done(&s->listening);
	bits_done(&s->local);
}

static void add_socket(struct sockets_used *s, const struct socket_description *socket)
{
	const struct socket_address *a = &socket->peer;
	bool is_listening = socket->state == SOCKET_LISTENING, is_named = socket->state == SOCKET_NAMED;

	s->is_listening |= is_listening;
	s->has_peers |= is_named;
	if (!a->host || a->port > UINT16_MAX)
		return;
	if (is_listening)
		bits_set(&s->listening, a->port);
	if (is_named && a->is_loopback)
		bits_set(&s->local, a->port);
	s->is_own_client |= bits_get(&s->listening, a->port) && bits_get(&s->local, a->port);
}

static void add_image(struct sockets_used *s, const struct image *image)
{
	const struct descriptors *all = descriptors_of(image->trace);

	list_each(const struct socket_description, socket, &all->sockets)
		add_socket(s, socket);
	list_each(const struct descriptor, d, all) {
		s->has_timer |= d->is_timer;
		s->has_pipe |= d->is_pipe || d->is_terminal;
	}
}

/* A forked process has the sockets of its parent, and one of them alone may have made calls with them. */
static bool shares_sockets(const struct model *m, const struct image *image, const struct process *p)
{
	const struct process *owner = &m->processes[image->process];

	return (image->via == TF_VIA_FORK && process_parent(m, owner) == p) ||
	       (m->images[p->first_image].via == TF_VIA_FORK && process_parent(m, p) == owner);
}

static void sockets_of(const struct model *m, const struct process *p, bool of_relatives, struct sockets_used *ret)
{
	array_each(const struct image, image, m->images, m->image_count)
		if (image->trace &&
		    (&m->processes[image->process] == p || (of_relatives && shares_sockets(m, image, p))))
			add_image(ret, image);
}

static bool is_input(const struct trace *t, uint32_t function, const struct descriptor *d)
{
	const struct function *f = trace_function(t, function);

	return f && f->kind.role == ROLE_READ && d && !d->fd && (d->is_pipe || d->is_terminal);
}

static bool is_listen(const struct trace *t, uint32_t function)
{
	const struct function *f = trace_function(t, function);

	return f && f->kind.does & FUNCTION_LISTENS;
}

/* What was found out about a process: it is asked for each of its waits. */
struct process_input {
	struct sockets_used *sockets[2]; /* its own; with those of its relatives. NULL: not asked yet */
	bool is_known;			 /* and of its calls: */
	bool has_input;			 /* it reads its standard input, a pipe or a terminal */
	bool listens;			 /* on a socket, which has no description while nobody has connected to it */
	bool sleeps;			 /* in waits for no descriptor */
	size_t pollers;			 /* threads that wait for descriptors */
};

struct input_search {
	struct descriptor_search descriptors;
	struct process_input *found;
};

static void visit_traffic(void *context, const struct traffic *traffic)
{
	struct input_search *s = context;

	s->found->has_input |= is_input(s->descriptors.of->trace, traffic->function,
					traffic_descriptor(&s->descriptors, traffic));
}

static bool is_for_nothing(const struct event *e)
{
	return e->args_count && (tf_arg_small(event_arg(e, TF_ARG_TIMEOUT)) == TF_POLLED_NOTHING ||
				 tf_arg_small(event_arg(e, TF_ARG_FD)) == TF_POLLED_NOTHING);
}

static void search_call(struct input_search *s, const struct event *e, bool *ret_polls)
{
	const struct function *f = trace_function(s->descriptors.of->trace, e->id);
	bool polls = f && f->kind.waits == BLOCKED_POLL, polls_nothing = polls && is_for_nothing(e);

	s->found->has_input = s->found->has_input || is_input(s->descriptors.of->trace, e->id,
							      descriptors_find_call(&s->descriptors, e));
	s->found->listens |= is_listen(s->descriptors.of->trace, e->id);
	s->found->sleeps |= polls_nothing;
	*ret_polls |= polls && !polls_nothing;
}

static void search_image(const struct image *image, struct process_input *found)
{
	const struct trace *t = image->trace;
	struct input_search s = {.descriptors = descriptor_search(t), .found = found};
	struct cursor cursor;
	struct event e;

	traffic_each(t, visit_traffic, &s);
	found->listens |= array_find(counter, t->counters, t->counter_count, is_listen(t, counter->function)) != NULL;
	for (size_t i = 0; i < t->thread_count; i++) {
		bool polls = false;

		cursor_init(&cursor, t, &t->threads[i]);
		cursor.call_args = 1u << TF_ARG_FD | 1u << TF_ARG_TIMEOUT;
		while (cursor_next(&cursor, &e))
			if (e.kind == TF_CALL)
				search_call(&s, &e, &polls);
		found->pollers += polls;
	}
}

struct inputs {
	struct process_input *of; /* by process */
	size_t count;
};

static void inputs_done(void *state)
{
	struct inputs *all = state;

	for (size_t i = 0; i < 2 * all->count; i++) {
		struct sockets_used *s = all->of[i / 2].sockets[i % 2];

		if (s)
			sockets_used_done(s);
		free(s);
	}
	free(all->of);
}

static struct process_input *input_of_process(const struct model *m, const struct process *p)
{
	static const struct attachment_kind kind = {sizeof(struct inputs), inputs_done};
	struct inputs *all = attachment_get((struct attachments *)&m->attachments, &kind);

	if (!all->of) {
		all->count = m->process_count;
		all->of = mem_alloc(all->count * sizeof(*all->of));
	}
	return &all->of[p - m->processes];
}

static const struct sockets_used *known_sockets(const struct model *m, const struct process *p, bool of_relatives)
{
	struct sockets_used **known = &input_of_process(m, p)->sockets[of_relatives];

	if (!*known) {
		*known = mem_alloc(sizeof(**known));
		sockets_of(m, p, of_relatives, *known);
	}
	return *known;
}

static const struct process_input *known_input(const struct model *m, const struct process *p)
{
	struct process_input *known = input_of_process(m, p);

	array_each(const struct image, image, m->images, m->image_count)
		if (!known->is_known && image->trace && &m->processes[image->process] == p)
			search_image(image, known);
	known->is_known = true;
	return known;
}

enum input input_of_wait(const struct report_context *c, const struct role *r, const struct role_call *call)
{
	const struct process_input *calls;
	const struct sockets_used *sockets;

	if (function_kind_of(call->function, TF_GROUP_OSRT).does & FUNCTION_ACCEPTS)
		return INPUT_CLIENTS;
	if (call->end.ns || (call->kind != BLOCKED_PIPE && call->kind != BLOCKED_SOCKET && call->kind != BLOCKED_POLL))
		return INPUT_NONE;
	if (call->kind == BLOCKED_PIPE)
		return INPUT_DATA;
	sockets = known_sockets(c->model, r->process, call->is_timed);
	if (sockets->is_listening)
		return sockets->is_own_client ? INPUT_NONE : INPUT_CLIENTS;
	calls = call->is_timed ? known_input(c->model, r->process) : NULL;
	/* what waits beside a thread that waits for clients may wait for anything, or sleep */
	if (calls && calls->listens && !sockets->has_peers && calls->pollers < 2 && !calls->sleeps)
		return INPUT_CLIENTS;
	/* what waits for its input until a timer ends the wait looks at the time, too, or draws */
	if (calls ? !calls->has_input : sockets->has_timer && !sockets->has_pipe)
		return INPUT_NONE;
	return call->kind == BLOCKED_POLL && !sockets->has_peers ? INPUT_DATA : INPUT_NONE;
}
