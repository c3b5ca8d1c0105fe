/* SPDX-License-Identifier: Apache-2.0 */
/* Paths are read from /proc/self/fd, peers from the socket itself. */
#include "runtime/recorder/record/descriptor.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/base/text.h"
#include "runtime/shared/common/sys.h"

/* Longer texts are truncated. The longest of a socket is that of a Unix one, 108 bytes and a few words. */
enum { ROOM = 512, SHORT_ROOM = 192 };

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

struct description {
	int fd;
	uint16_t state;
	uint64_t from_ticks;
	bool is_borrowed; /* in the child of a vfork, whose descriptors are not this image's */
};

/* ---- the blob ---- */

static __attribute__((noinline)) bool description_write_one(const struct description *t, unsigned kind,
							     const char *text, size_t size)
{
	struct tf_descriptor head = {.from_ticks = t->from_ticks, .fd = (uint16_t)t->fd, .kind = (uint16_t)kind,
				     .generation = descriptor_generation(t->state)};

	return event_blob_of_two(TF_BLOB_DESCRIPTOR,
				 1 + __atomic_fetch_add(&process.descriptor_texts, 1, __ATOMIC_RELAXED), &head,
				 sizeof(head), text, size);
}

static void description_set_known(const struct description *t)
{
	uint32_t last = __atomic_load_n(&process.descriptor_last, __ATOMIC_RELAXED);
	uint16_t state = t->state;

	while (last < (uint32_t)t->fd && !__atomic_compare_exchange_n(&process.descriptor_last, &last, (uint32_t)t->fd,
								      false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (!t->is_borrowed)
		__atomic_compare_exchange_n(&process.descriptors[t->fd], &state, t->state | 1, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

/* With --mode=profile, a text is written once, and rows refer to it. */
static __attribute__((noinline, cold)) void description_intern(const struct description *t, unsigned kind,
								 const char *text, size_t size)
{
	struct tf_descriptor head = {.fd = TF_NO_DESCRIPTOR, .kind = (uint16_t)kind};
	uint64_t key = intern_hash(TF_BLOB_DESCRIPTOR << 8 | kind, text, size);
	bool is_new = false;
	uint32_t id = 0;

	/* A call that has closed it asks as well, and belongs to what it was before. */
	if (t->is_borrowed || kind == TF_DESCRIPTOR_UNKNOWN)
		return;
	if (profile_is_full() || profile_keeps_rest())
		id = intern_find(&process.interned, key);
	else if (!intern_add(&process.interned, key, &id, &is_new))
		return;
	if (is_new)
		event_blob_of_two(TF_BLOB_DESCRIPTOR, id, &head, sizeof(head), text, size);
	if (profile_follows(t->fd, descriptor_generation(t->state), t->from_ticks))
		description_write_one(t, kind, text, size);
	profile_describe(t->fd, descriptor_generation(t->state), id);
	description_set_known(t);
}

/* The state is set after the blob is written, because a handler may leave by longjmp in between. If the blob makes the
 * trace file of --mode=profile, the next call describes the descriptor once more, for rows. */
static void description_write(const struct description *t, unsigned kind, const char *text, size_t size)
{
	size = size < ROOM ? size : ROOM;
	if (__builtin_expect(process.profile != NULL, 0))
		description_intern(t, kind, text, size);
	else if (description_write_one(t, kind, text, size) && !process.profile)
		description_set_known(t);
}

/* False: described already, or must not be described, or not now: without room, each call would try again. */
static bool description_begin(struct description *t, int fd, uint64_t from_ticks)
{
	if (descriptor_is_known(fd) || thread_has_no_room(&thread_self))
		return false;
	*t = (struct description){fd, __atomic_load_n(&process.descriptors[fd], __ATOMIC_RELAXED), from_ticks,
				  process_is_borrowed()};
	if (t->is_borrowed && !(t->state & 1))
		description_write(t, TF_DESCRIPTOR_UNKNOWN, "", 0);
	return !t->is_borrowed && !(t->state & 1);
}

/* ---- sockets ---- */

static __attribute__((cold)) void address_add_port(struct text *t, uint16_t port)
{
	text_char(t, ':');
	text_number(t, ntohs(port));
}

static __attribute__((cold)) void address_add_ipv4(struct text *t, const uint8_t *a)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			text_char(t, '.');
		text_number(t, a[i]);
	}
}

/* In the form of RFC 5952: the longest run of zeros is omitted. */
static __attribute__((cold)) void address_add_ipv6(struct text *t, const uint8_t *a)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	int best = 8, longest = 1;

	if (!memcmp(a, mapped, sizeof(mapped))) {
		text_add(t, "::ffff:");
		address_add_ipv4(t, a + 12);
		return;
	}
	for (int i = 0, run = 0; i < 8; i++) {
		run = a[2 * i] || a[2 * i + 1] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			best = i - run + 1;
		}
	}
	for (int i = 0; i < 8; i++) {
		if (i == best) {
			text_add(t, "::");
			i += longest - 1;
			continue;
		}
		if (i && i != best + longest)
			text_char(t, ':');
		text_hex(t, (uint64_t)a[2 * i] << 8 | a[2 * i + 1], 1);
	}
}

static __attribute__((cold)) bool address_add_unix(struct text *t, const struct sockaddr_un *a, socklen_t size)
{
	size_t length =
	    size > offsetof(struct sockaddr_un, sun_path) ? size - offsetof(struct sockaddr_un, sun_path) : 0;

	if (!length)
		return false;
	text_add(t, "unix ");
	if (a->sun_path[0]) {
		text_bytes(t, a->sun_path, strnlen(a->sun_path, length));
	} else {
		text_char(t, '@');
		text_bytes(t, a->sun_path + 1, length - 1);
	}
	return true;
}

static int socket_option(int fd, int name)
{
	int value = -1;
	socklen_t size = sizeof(value);

	return sys_call6(SYS_getsockopt, fd, SOL_SOCKET, name, (long)&value, (long)&size, 0) ? -1 : value;
}

enum socket_name { NO_ADDRESS, NO_NAME, NAMED, HAS_PORT };

static __attribute__((cold)) enum socket_name address_add(struct text *t, int fd, const union address *a,
							   socklen_t size)
{
	if (a->any.sa_family == AF_UNIX)
		return address_add_unix(t, &a->un, size) ? NAMED : NO_NAME;
	if (a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6) {
		int type = socket_option(fd, SO_TYPE);

		text_add(t, type == SOCK_STREAM ? "tcp " : type == SOCK_DGRAM ? "udp " : "ip ");
		if (a->any.sa_family == AF_INET) {
			address_add_ipv4(t, (const uint8_t *)&a->in.sin_addr);
			address_add_port(t, a->in.sin_port);
		} else {
			text_char(t, '[');
			address_add_ipv6(t, (const uint8_t *)&a->in6.sin6_addr);
			text_char(t, ']');
			address_add_port(t, a->in6.sin6_port);
		}
		return HAS_PORT;
	}
	text_add(t, a->any.sa_family == AF_NETLINK ? "netlink" : "family ");
	if (a->any.sa_family != AF_NETLINK)
		text_number(t, a->any.sa_family);
	return NAMED;
}

/* call: SYS_getpeername or SYS_getsockname. */
static __attribute__((noinline, cold)) enum socket_name address_add_of(struct text *t, int fd, long call)
{
	union address a = {0};
	socklen_t size = sizeof(a);

	if (sys_call(call, fd, &a, &size, 0) || !size)
		return NO_ADDRESS;
	return address_add(t, fd, &a, size);
}

/* Behind a NUL: both addresses together are those of one connection. A profile has one text for all of a peer. */
static __attribute__((noinline, cold)) void own_address_add(struct text *t, int fd, enum socket_name peer)
{
	if (process.profile || peer != HAS_PORT)
		return;
	text_char(t, '\0');
	address_add_of(t, fd, SYS_getsockname);
}

static __attribute__((noinline)) void socket_describe(struct text *t, int fd)
{
	enum socket_name peer = address_add_of(t, fd, SYS_getpeername);

	if (peer >= NAMED) {
		own_address_add(t, fd, peer);
		return;
	}
	/* Accepted from an unnamed client, listening, or not connected yet. */
	if (address_add_of(t, fd, SYS_getsockname) < NAMED) {
		text_add(t, "unix pair");
		return;
	}
	if (!peer && socket_option(fd, SO_ACCEPTCONN) == 1)
		text_add(t, " (listening)");
	else if (!peer && socket_option(fd, SO_TYPE) == SOCK_STREAM)
		text_add(t, " (not connected)");
}

/* ---- descriptions ---- */

static unsigned descriptor_kind(const char *text)
{
	if (text[0] == '/')
		return TF_DESCRIPTOR_FILE;
	return strncmp(text, "socket:", 7) ? TF_DESCRIPTOR_OTHER : TF_DESCRIPTOR_SOCKET;
}

/* The text may be truncated. Returns its length, or -errno, with an empty text. */
static long link_read(int fd, char *bytes, size_t room)
{
	struct text text = text_init(bytes, room);
	long size;

	text_add(&text, "/proc/self/fd/");
	text_number(&text, (uint64_t)fd);
	size = sys_readlink(bytes, bytes, room - 1); /* reads the name of the link before it stores the target */
	bytes[size > 0 ? size : 0] = '\0';
	return size;
}

static void link_write(const struct description *t, const char *bytes)
{
	description_write(t, *bytes ? descriptor_kind(bytes) : TF_DESCRIPTOR_UNKNOWN, bytes, strlen(bytes));
}

static __attribute__((noinline)) void link_write_long(void *description)
{
	const struct description *t = description;
	char bytes[ROOM + 1];

	link_read(t->fd, bytes, sizeof(bytes));
	link_write(t, bytes);
}

/* The caller's stack may be small: one buffer at a time is on it, because these functions are not inlined, and long
 * texts are read on a spare stack. False: a socket, of which /proc has the number only. */
static __attribute__((noinline)) bool description_write_link(struct description *t)
{
	char bytes[SHORT_ROOM];
	long size = link_read(t->fd, bytes, sizeof(bytes));

	if (descriptor_kind(bytes) == TF_DESCRIPTOR_SOCKET)
		return false;
	if (size < SHORT_ROOM - 1)
		link_write(t, bytes);
	else if (!spare_stack_run(link_write_long, t))
		link_write_long(t);
	return true;
}

static __attribute__((noinline)) void description_write_socket(const struct description *t)
{
	char bytes[SHORT_ROOM];
	struct text text = text_init(bytes, sizeof(bytes));

	socket_describe(&text, t->fd);
	description_write(t, TF_DESCRIPTOR_SOCKET, bytes, text_length(&text));
}

void descriptor_describe(int fd, uint64_t from_ticks)
{
	struct description t;

	if (description_begin(&t, fd, from_ticks) && !description_write_link(&t))
		description_write_socket(&t);
}

static __attribute__((noinline)) void description_write_path(int fd, uint64_t from_ticks, const char *path)
{
	struct description t;

	if (description_begin(&t, fd, from_ticks))
		description_write(&t, TF_DESCRIPTOR_FILE, path, strlen(path));
}

void descriptor_describe_path(int fd, uint64_t from_ticks, const char *path)
{
	/* /dev/stdin, /dev/fd/3 and the like are names of another file. Reading a link costs 3 us. */
	if (path[0] != '/' || !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/std", 8) ||
	    !strncmp(path, "/dev/fd/", 8))
		descriptor_describe(fd, from_ticks);
	else
		description_write_path(fd, from_ticks, path);
}

static __attribute__((noinline)) enum socket_name peer_add(struct text *t, int fd, const struct sockaddr *address,
							    socklen_t size)
{
	union address a = {0};

	memcpy(&a, address, size);
	return address_add(t, fd, &a, size);
}

void descriptor_describe_peer(int fd, uint64_t from_ticks, const struct sockaddr *address, socklen_t size)
{
	char bytes[SHORT_ROOM];
	struct text text = text_init(bytes, sizeof(bytes));
	struct description t;
	enum socket_name peer;

	if (!address || size < sizeof(address->sa_family) || size > sizeof(union address) ||
	    !description_begin(&t, fd, from_ticks))
		return;
	peer = peer_add(&text, fd, address, size);
	if (peer < NAMED)
		return;
	own_address_add(&text, fd, peer);
	description_write(&t, TF_DESCRIPTOR_SOCKET, bytes, text_length(&text));
}

void descriptor_invalidate_range(unsigned first, unsigned last)
{
	uint32_t last_described = __atomic_load_n(&process.descriptor_last, __ATOMIC_RELAXED);

	for (unsigned fd = first; fd <= last && fd <= last_described; fd++)
		descriptor_invalidate((int)fd);
}
