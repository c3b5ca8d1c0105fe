/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: files by their paths, pipes and sockets by the processes of the run that have the other end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/where/wait.h"

enum { PATH_BYTES = 128, HOLDERS = 4 };

void where_describe_process(const struct look_process *p, struct buffer *ret)
{
	buffer_print(ret, "PID %u", p->head.pid);
	if (*p->executable)
		buffer_print(ret, " (%s)", path_name(p->executable));
}

/* Two descriptors of one open file, or of one pipe. One that the launcher has open is not alike. */
static bool is_same_link(const struct look_descriptor *a, const struct look_descriptor *b)
{
	if (a->kind == LINK_SOCKET)
		return b->kind == LINK_SOCKET && a->inode == b->inode && a->is_outside == b->is_outside;
	return !strcmp(a->link, b->link);
}

/* Whether the process has it open so, too. */
static bool has_link(const struct look_process *p, const struct look_descriptor *d, bool reads, bool writes)
{
	return array_find(other, p->descriptors, p->descriptor_count,
			  is_same_link(d, other) &&
			  ((reads && other->may_read) || (writes && other->may_write))) != NULL;
}

/* ---- pipes ---- */

/* Who can end the wait: processes that have the same pipe open in the other direction. */
static void describe_pipe(const struct look *l, const struct look_process *self, const struct look_descriptor *d,
			  bool is_read, struct buffer *ret)
{
	const char *what = is_read ? "writing" : "reading";
	size_t count = 0;
	bool is_own = false;

	buffer_text(ret, "a pipe");
	array_each(const struct look_process, p, l->processes, l->count) {
		bool has = has_link(p, d, !is_read, is_read);

		is_own |= has && p == self;
		if (!has || p == self || count++ >= HOLDERS)
			continue;
		buffer_text(ret, count == 1 ? " that " : ", ");
		where_describe_process(p, ret);
	}
	if (count)
		buffer_print(ret, "%s open for %s", count > 1 ? " have" : " has", what);
	else if (is_own)
		buffer_print(ret, " that only this process itself has open for %s", what);
	else
		buffer_print(ret, " that no process of the run has open for %s", what);
}

/* ---- sockets ---- */

/* A line of /proc/net/TABLE. */
struct socket {
	char table[8], local[80], remote[80], path[PATH_BYTES];
	unsigned state;
	unsigned long inode;
};

enum { TCP_LISTEN = 10 };

static bool is_unix(const struct socket *s)
{
	return !strcmp(s->table, "unix");
}

static bool read_socket(const char *line, struct socket *ret)
{
	char text[512];

	*ret = (struct socket){.inode = 0};
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
	if (sscanf(text, "unix %*s %*s %*s %*s %*s %*s %lu %127[^\n]", &ret->inode, ret->path) >= 1) {
		strcpy(ret->table, "unix");
		return true;
	}
	return sscanf(text, "%7s %*s %79s %79s %x %*s %*s %*s %*s %*s %lu", ret->table, ret->local, ret->remote,
		      &ret->state, &ret->inode) == 5;
}

/* The next line; NULL: it was the last one. */
static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : NULL;
}

static bool find_socket(const struct look_process *p, unsigned long inode, struct socket *ret)
{
	for (const char *line = p->sockets; line && *line; line = next_line(line))
		if (read_socket(line, ret) && ret->inode == inode)
			return true;
	return false;
}

/* The inode of the other end; 0: it is not in this process. */
static unsigned long find_peer(const struct look_process *p, const struct socket *s)
{
	struct socket other;

	for (const char *line = p->sockets; line && *line; line = next_line(line)) {
		unsigned long a, b;

		if (is_unix(s)) {
			if (sscanf(line, "peer %lu %lu", &a, &b) == 2 && (a == s->inode || b == s->inode))
				return a == s->inode ? b : a;
		} else if (read_socket(line, &other) && !strcmp(other.table, s->table) &&
			   !strcmp(other.local, s->remote) && !strcmp(other.remote, s->local)) {
			return other.inode;
		}
	}
	return 0;
}

/* ADDRESS:PORT in hexadecimal; each word of the address is in the machine's byte order. */
static void describe_address(const char *text, struct buffer *ret)
{
	unsigned a, b, c, d, port = 0;
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (colon)
		port = (unsigned)strtoul(colon + 1, NULL, 16);
	/* IPv4, also as a mapped IPv6 address. */
	if (length >= 8 && (length == 8 || text_begins_with(text, "0000000000000000FFFF0000")) &&
	    sscanf(text + length - 8, "%2x%2x%2x%2x", &a, &b, &c, &d) == 4)
		buffer_print(ret, "%u.%u.%u.%u:%u", d, c, b, a, port);
	else if (text_begins_with(text, "00000000000000000000000001000000:"))
		buffer_print(ret, "[::1]:%u", port);
	else
		buffer_print(ret, "[%.*s]:%u", (int)length, text, port);
}

/* The socket at the other end of a connection; inode 0: it is not within the look. */
static struct look_descriptor peer_of(const struct look *l, const struct socket *s)
{
	struct look_descriptor peer = {.kind = LINK_SOCKET};

	for (size_t i = 0; i < l->count && !peer.inode; i++)
		peer.inode = find_peer(&l->processes[i], s);
	return peer;
}

static void describe_holder(const struct look *l, const struct look_process *self, const struct look_descriptor *d,
			    struct buffer *ret)
{
	array_each(const struct look_process, p, l->processes, d->inode ? l->count : 0) {
		if (!has_link(p, d, true, true))
			continue;
		buffer_text(ret, ", whose other end is in ");
		if (p == self)
			buffer_text(ret, "this process");
		else
			where_describe_process(p, ret);
		return;
	}
}

static void describe_socket(const struct look *l, const struct look_process *self, unsigned long inode,
			    struct buffer *ret)
{
	struct look_descriptor peer;
	struct socket s;

	if (!find_socket(self, inode, &s)) {
		buffer_text(ret, "a socket");
		return;
	}
	if (is_unix(&s)) {
		buffer_print(ret, "a unix socket%s%s", *s.path ? " " : "", s.path);
	} else if (s.state == TCP_LISTEN && s.table[0] == 't') {
		buffer_text(ret, "a connection to the port ");
		describe_address(s.local, ret);
		return;
	} else {
		buffer_print(ret, "%.3s ", s.table);
		describe_address(s.remote, ret);
		buffer_text(ret, " (own address ");
		describe_address(s.local, ret);
		buffer_text(ret, ")");
	}
	peer = peer_of(l, &s);
	describe_holder(l, self, &peer, ret);
}

void where_describe_descriptor(const struct look *l, const struct look_process *p, uint32_t number, bool is_read,
			       struct buffer *ret)
{
	const struct look_descriptor *d = look_descriptor(p, number);

	buffer_print(ret, "descriptor %u", number);
	if (!d)
		return;
	buffer_text(ret, ", ");
	if (d->kind == LINK_PIPE)
		describe_pipe(l, p, d, is_read, ret);
	else if (d->kind == LINK_SOCKET)
		describe_socket(l, p, d->inode, ret);
	else
		buffer_text(ret, d->link);
}

/* ---- who can end a wait ---- */

/* Whether only those who inherited the descriptor can end a wait for it: also of a queue and a FIFO without a name, but
 * not of a terminal that is known by another one elsewhere. */
static bool is_inherited(const struct look_descriptor *d)
{
	bool has_no_name = *d->link == '/' && !text_begins_with(d->link, "/dev/") &&
			   text_ends_with(d->link, " (deleted)");

	return has_no_name || d->kind == LINK_PIPE || d->kind == LINK_EVENTFD;
}

/* Whether the kernel may notify a process by its eventfd: of a device's or of asynchronous operations. */
static bool has_notifier(const struct look_process *p)
{
	for (size_t i = 0; i < p->descriptor_count; i++) {
		const char *link = p->descriptors[i].link;

		if (!strcmp(link, "anon_inode:[io_uring]") ||
		    (text_begins_with(link, "/dev/") && !text_begins_with(link, "/dev/pts/") &&
		     !text_begins_with(link, "/dev/shm/") && strcmp(link, "/dev/null") && strcmp(link, "/dev/tty") &&
		     strcmp(link, "/dev/urandom")))
			return true;
	}
	return array_find(module, p->modules, p->module_count, text_begins_with(module->path, "/[aio]")) != NULL;
}

const char *where_descriptor_kind(const struct look_process *p, uint32_t number)
{
	static const char *const kinds[] = {[LINK_OTHER] = "file", [LINK_PIPE] = "pipe", [LINK_SOCKET] = "socket",
					    [LINK_EVENTFD] = "notification by eventfd"};
	const struct look_descriptor *d = look_descriptor(p, number);

	return d ? kinds[d->kind] : NULL;
}

bool where_descriptor_wakers(const struct look *l, const struct look_process *p, uint32_t number, bool is_read,
			     bool *ret)
{
	const struct look_descriptor *d = look_descriptor(p, number);
	bool is_pipe = d && is_inherited(d), has = false;
	struct look_descriptor peer;
	struct socket s;

	if (!d || d->is_outside || (!is_pipe && d->kind != LINK_SOCKET))
		return false;
	if (!is_pipe) {
		if (!find_socket(p, d->inode, &s) ||
		    (!is_unix(&s) && (s.table[0] != 't' || s.state == TCP_LISTEN)))
			return false;
		peer = peer_of(l, &s);
		if (!peer.inode)
			return false;
		d = &peer;
	}
	for (size_t i = 0; i < l->count; i++)
		if (has_link(&l->processes[i], d, !is_pipe || !is_read, !is_pipe || is_read)) {
			if (d->kind == LINK_EVENTFD && has_notifier(&l->processes[i]))
				return false;
			ret[i] = true;
			has = true;
		}
	return has;
}
