/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/descriptor.h"

#include <stdlib.h>
#include <string.h>

COMPARATOR(compare_descriptors, struct descriptor,
	   order_of(a->fd, b->fd) ?: order_of(a->from_ticks, b->from_ticks) ?: order_of(a->blob->id, b->blob->id))

/* How long the text is up to the NUL, which is read as 0xff, before the own address of a socket. Names of Unix may have
 * any byte. */
static size_t text_end(const struct descriptor *item, const struct buffer *all)
{
	const size_t head = sizeof(struct tf_descriptor);
	const char *end = item->kind == TF_DESCRIPTOR_SOCKET && all->size > head + 5 &&
					  memcmp(all->data + head, "unix ", 5)
				  ? memchr(all->data + head, 0xff, all->size - head)
				  : NULL;

	return end ? (size_t)(end - all->data) : all->size;
}

/* "tcp 127.0.0.1:80", "udp [::1]:80 (not connected)". IPv4 in a socket of IPv6 is "[::ffff:127.0.0.1]:80". */
static struct socket_address address_of(const char *text)
{
	const char *host = text + strcspn(text, " "), *end = strrchr(text, ':');
	struct socket_address ret = {0};

	if (!end || !text_any(text_begins_with, text, "tcp ", "udp ", "ip "))
		return ret;
	ret.port = (uint32_t)strtoul(end + 1, NULL, 10);
	host++;
	if (*host == '[') {
		host += text_begins_with(host, "[::ffff:") ? strlen("[::ffff:") : 1;
		end--;
	}
	ret.host = end > host ? hash_bytes(host, (size_t)(end - host)) : 0;
	ret.is_loopback = text_any(text_begins_with, host, "127.", "::1]");
	return ret;
}

/* The words are those of the recorder's socket_describe(). `own`: "" if it was not recorded. */
static struct socket_description socket_of(const char *text, const char *own)
{
	return (struct socket_description){
		.state = text_ends_with(text, " (listening)")	    ? SOCKET_LISTENING
			 : text_ends_with(text, " (not connected)") ? SOCKET_UNCONNECTED
			 : strpbrk(text, "/@:")		    ? SOCKET_NAMED /* by a path, a name or a port */
								    : SOCKET_UNNAMED,
		.peer = address_of(text),
		.own = address_of(own),
	};
}

/* The slots in which the texts are, behind the head. */
static bool is_same_text(const struct trace *t, const struct blob *a, const struct blob *b)
{
	const size_t head = sizeof(struct tf_descriptor),
		     from = head / TF_DATA_BYTES * TF_SLOT + TF_SLOT - TF_DATA_BYTES + head % TF_DATA_BYTES,
		     end = (a->length + TF_DATA_BYTES - 1u) / TF_DATA_BYTES * TF_SLOT;

	return a->length == b->length && !memcmp(t->bytes.data + a->offset + from, t->bytes.data + b->offset + from,
						 end - from);
}

static void describe(struct descriptors *d, struct descriptor *of)
{
	SCOPED(buffer) all = {0};
	const char *text;
	size_t end;

	trace_text(d->trace, of->blob, &all);
	text = buffer_string(&all) + sizeof(struct tf_descriptor);
	end = text_end(of, &all);
	of->text = interner_number(&d->texts, text, end - sizeof(struct tf_descriptor));
	if (of->kind == TF_DESCRIPTOR_SOCKET) {
		of->socket = (uint32_t)d->sockets.count;
		list_add(&d->sockets, socket_of(d->texts.items[of->text].text,
						end < all.size ? buffer_string(&all) + end + 1 : ""));
	}
	of->is_pipe = of->kind == TF_DESCRIPTOR_OTHER && text_begins_with(text, "pipe:");
	of->is_timer = of->kind == TF_DESCRIPTOR_OTHER && !strcmp(text, "anon_inode:[timerfd]");
	of->is_terminal = of->kind == TF_DESCRIPTOR_FILE && text_any(text_begins_with, text, "/dev/pts/", "/dev/tty");
}

/* Most are of what the one before them is of: a loop opens the same file again and again. */
static void add_descriptor(struct descriptors *d, const struct blob *b)
{
	const struct descriptor *last = d->count ? &d->items[d->count - 1] : NULL;
	struct descriptor of = {0};
	struct tf_descriptor head;
	bool is_same;

	if (trace_blob(d->trace, b, &head, sizeof(head)) < sizeof(head))
		return;
	is_same = last && last->kind == head.kind && head.kind != TF_DESCRIPTOR_SOCKET &&
		  is_same_text(d->trace, last->blob, b);
	if (is_same)
		of = *last;
	of.blob = b;
	of.from_ticks = head.from_ticks;
	of.fd = head.fd;
	of.kind = head.kind;
	of.generation = head.generation;
	if (!is_same)
		describe(d, &of);
	list_add(d, of);
}

static void descriptors_done(void *state)
{
	struct descriptors *d = state;

	free(d->items);
	free(d->sockets.items);
	interner_done(&d->texts);
}

static const struct attachment_kind kind = {sizeof(struct descriptors), descriptors_done};

const struct descriptors *descriptors_of(const struct trace *t)
{
	static const struct descriptors none;
	struct descriptors *d = t ? attachment_find(&t->attachments, &kind) : NULL;

	if (d || !t)
		return d ?: &none;
	d = attachment_get((struct attachments *)&t->attachments, &kind);
	d->trace = t;
	blobs_each(b, t, TF_BLOB_DESCRIPTOR)
		add_descriptor(d, b);
	sort_unless_sorted(d->items, d->count, sizeof(*d->items), compare_descriptors);
	return d;
}

static bool is_after(const struct descriptor *d, uint64_t fd, uint64_t ticks)
{
	return d->fd > fd || (d->fd == fd && d->from_ticks > ticks);
}

static bool is_answer(const struct descriptors *d, size_t i, uint64_t fd, uint64_t ticks)
{
	return (i == d->count || is_after(&d->items[i], fd, ticks)) && (!i || !is_after(&d->items[i - 1], fd, ticks));
}

/* The first description of `fd` after that tick, or of a higher one. */
static size_t descriptors_after(struct descriptor_search *s, uint64_t fd, uint64_t ticks)
{
	const struct descriptors *d = s->of;

	if (!is_answer(d, s->last, fd, ticks) && (s->last == d->count || !is_answer(d, ++s->last, fd, ticks)))
		s->last = first_place(i, 0, d->count, !is_after(&d->items[i], fd, ticks));
	return s->last;
}

struct descriptor_search descriptor_search(const struct trace *t)
{
	return (struct descriptor_search){.of = descriptors_of(t)};
}

const struct descriptor *descriptors_find(struct descriptor_search *s, uint64_t fd, uint64_t ticks)
{
	size_t after = descriptors_after(s, fd, ticks);

	return after && s->of->items[after - 1].fd == fd ? &s->of->items[after - 1] : NULL;
}

const struct descriptor *descriptors_find_call(struct descriptor_search *s, const struct event *e)
{
	uint64_t arg = e->args_count ? event_arg(e, TF_ARG_FD) : 0, fd = tf_arg_value(arg) & 0xffff;

	return arg && fd != TF_NO_DESCRIPTOR ? descriptors_find(s, fd, e->ticks) : NULL;
}

/* Generations are repeated after 32768 changes, so only the nearest descriptions may be the one. */
const struct descriptor *descriptors_find_generation(struct descriptor_search *s, uint64_t fd, uint32_t generation,
						     uint64_t ticks)
{
	const struct descriptors *d = s->of;
	size_t after = descriptors_after(s, fd, ticks);

	for (size_t i = after ? after - 1 : 0; i <= after && i < d->count; i++)
		if (d->items[i].fd == fd && d->items[i].generation == generation)
			return &d->items[i];
	return NULL;
}

const struct descriptor *descriptors_find_id(const struct descriptors *d, uint32_t id)
{
	for (size_t i = d->count; i > 0 && d->items[i - 1].fd == TF_NO_DESCRIPTOR; i--)
		if (d->items[i - 1].blob->id == id && d->items[i - 1].kind != TF_DESCRIPTOR_DIRECTORY)
			return &d->items[i - 1];
	return NULL;
}

/* There are 256 at most, after all others. */
const struct descriptor *descriptors_find_directory(const struct descriptors *d, uint32_t number)
{
	enum { DIRECTORIES = 256 };

	for (size_t i = d->count; i > 0 && i + DIRECTORIES > d->count && d->items[i - 1].fd == TF_NO_DESCRIPTOR; i--)
		if (d->items[i - 1].generation == number && d->items[i - 1].kind == TF_DESCRIPTOR_DIRECTORY)
			return &d->items[i - 1];
	return NULL;
}

void descriptors_text(const struct descriptors *d, const struct descriptor *item, struct buffer *ret)
{
	buffer_add(ret, d->texts.items[item->text].text, d->texts.items[item->text].size);
}
