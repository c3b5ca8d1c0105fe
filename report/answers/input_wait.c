/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/input_wait.h"

#include <string.h>

#include "report/base/bits.h"
#include "report/events/descriptor.h"

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
		SCOPED(buffer) text = {0};

		descriptors_text(all, d, &text);
		s->has_timer |= !strcmp(buffer_string(&text), "anon_inode:[timerfd]");
		s->has_pipe |= d->is_pipe || d->is_terminal;
	}
}

static void sockets_of(const struct model *m, const struct process *p, struct sockets_used *ret)
{
	for (size_t i = 0; i < m->image_count; i++)
		if (m->images[i].trace && &m->processes[m->images[i].process] == p)
			add_image(ret, &m->images[i]);
}

enum input input_of_wait(const struct report_context *c, const struct role *r, const struct role_call *call)
{
	SCOPED(sockets_used) sockets = {0};

	if (function_kind_of(call->function, TF_GROUP_OSRT).does & FUNCTION_ACCEPTS)
		return INPUT_CLIENTS;
	if (call->end.ns || (call->kind != BLOCKED_PIPE && call->kind != BLOCKED_SOCKET && call->kind != BLOCKED_POLL))
		return INPUT_NONE;
	if (call->kind == BLOCKED_PIPE)
		return INPUT_DATA;
	sockets_of(c->model, r->process, &sockets);
	if (sockets.is_listening)
		return sockets.is_own_client ? INPUT_NONE : INPUT_CLIENTS;
	if (call->is_timed || (sockets.has_timer && !sockets.has_pipe))
		return INPUT_NONE;
	return call->kind == BLOCKED_POLL && !sockets.has_peers ? INPUT_DATA : INPUT_NONE;
}
