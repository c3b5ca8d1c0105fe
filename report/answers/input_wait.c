/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/input_wait.h"

#include <string.h>

#include "report/events/descriptor.h"

/* What the sockets of a process are. */
struct sockets_used {
	bool has_peers;		/* it may be a client */
	struct texts listening; /* it has clients; ":port" or a path */
	struct texts local;	/* likewise of peers on the same machine */
};

static void sockets_used_done(struct sockets_used *s)
{
	texts_done(&s->listening);
	texts_done(&s->local);
}

/* The words are those of the recorder's socket_describe(). */
static void add_socket(struct sockets_used *s, const char *text)
{
	static const char listening[] = " (listening)";
	const char *port = strrchr(text, ':') ?: text;
	bool is_local = strstr(text, " 127.") || strstr(text, "[::1]:") || strstr(text, "[::ffff:127.");

	if (text_ends_with(text, listening))
		texts_add(&s->listening, "%.*s", (int)(strlen(port) - strlen(listening)), port);
	else if (strpbrk(text, "/@:") && !text_ends_with(text, " (not connected)")) /* a path, a name or a port */
		s->has_peers = true;
	if (is_local && port != text)
		texts_add(&s->local, "%s", port);
}

/* What waits for its clients waits for itself, then, as tests of servers do. */
static bool is_own_client(const struct sockets_used *s)
{
	for (size_t i = 0; i < s->listening.count; i++)
		for (size_t k = 0; k < s->local.count; k++)
			if (!strcmp(s->listening.items[i], s->local.items[k]))
				return true;
	return false;
}

static void add_image(struct sockets_used *s, const struct image *image)
{
	const struct descriptors *all = descriptors_of(image->trace);

	for (size_t i = 0; i < all->count; i++) {
		SCOPED(buffer) text = {0};

		if (all->items[i].kind != TF_DESCRIPTOR_SOCKET)
			continue;
		descriptors_text(all, &all->items[i], &text);
		add_socket(s, buffer_string(&text));
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
	if (sockets.listening.count)
		return is_own_client(&sockets) ? INPUT_NONE : INPUT_CLIENTS;
	return call->kind == BLOCKED_POLL && !sockets.has_peers ? INPUT_DATA : INPUT_NONE;
}
