/* SPDX-License-Identifier: Apache-2.0 */
/* Which file a descriptor referred to at a given time. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/events/descriptor.h"
#include "trace_writer.h"

static struct writer w;
static struct writer_thread t;
static struct trace *trace;
static const struct descriptors *d;
static struct descriptor_search search;

static void start(void)
{
	writer_init(&w, 0xd1, 1, 0, 1000);
	writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, 1, "one", TF_PAGE);
}

static void read_back(void)
{
	struct err err;
	size_t size;
	const uint8_t *bytes = writer_bytes(&w, &size);

	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0);
	d = descriptors_of(trace);
	search = descriptor_search(trace);
}

static void done(void)
{
	reader_close(trace);
	writer_done(&w);
}

TestSuite(descriptor, .init = start, .fini = done);

static void assert_was(uint64_t fd, uint64_t ticks, const char *text)
{
	const struct descriptor *found = descriptors_find(&search, fd, ticks);
	struct buffer b = {0};

	if (!text) {
		cr_assert_null(found);
		return;
	}
	cr_assert_not_null(found);
	descriptors_text(d, found, &b);
	cr_assert_str_eq(b.data ? b.data : "", text);
	buffer_done(&b);
}

Test(descriptor, is_what_was_told_last_before_the_call)
{
	writer_descriptor(&t, 2, 3, 2000, TF_DESCRIPTOR_FILE, "/b");
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 3, 4, 1500, TF_DESCRIPTOR_SOCKET, "tcp 127.0.0.1:1");
	read_back();
	assert_was(3, 999, NULL);
	assert_was(3, 1000, "/a");
	assert_was(3, 1999, "/a");
	assert_was(3, 2000, "/b");
	assert_was(3, UINT64_MAX, "/b");
	assert_was(4, 1499, NULL);
	assert_was(4, 1600, "tcp 127.0.0.1:1");
	assert_was(5, 1600, NULL);
	assert_was(2, 1600, NULL);
}

static const struct socket_description *socket_of(uint64_t fd)
{
	return &d->sockets.items[descriptors_find(&search, fd, 1000)->socket];
}

Test(descriptor, the_own_address_of_a_socket_follows_its_peer)
{
	/* a NUL is read as 0xff, which names of Unix may have */
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_SOCKET, "tcp 127.0.0.1:1\xff" "tcp 127.0.0.1:2");
	writer_descriptor(&t, 2, 4, 1000, TF_DESCRIPTOR_SOCKET, "unix /a\xff" "b");
	read_back();
	assert_was(3, 1000, "tcp 127.0.0.1:1");
	assert_was(4, 1000, "unix /a\xff" "b");
	cr_assert_eq(socket_of(4)->own.host, 0);
	cr_assert_eq(socket_of(3)->own.port, 2);
	cr_assert_eq(socket_of(3)->own.host, socket_of(3)->peer.host);
}

Test(descriptor, a_socket_has_addresses_and_a_state)
{
	static const struct {
		const char *text;
		enum socket_state state;
		uint32_t port; /* 0: it has no address */
		bool is_loopback;
		int like; /* the socket before with the same host; -1: none */
	} all[] = {
		{"tcp 127.0.0.1:80", SOCKET_NAMED, 80, true, -1},
		{"tcp [::ffff:127.0.0.1]:81", SOCKET_NAMED, 81, true, 0},
		{"udp [::1]:53", SOCKET_NAMED, 53, true, -1},
		{"tcp [::]:8080 (listening)", SOCKET_LISTENING, 8080, false, -1},
		{"tcp 0.0.0.0:0 (not connected)", SOCKET_UNCONNECTED, 0, false, -1},
		{"tcp 10.1.27.1:80", SOCKET_NAMED, 80, false, -1},
		{"tcp [::1270]:9", SOCKET_NAMED, 9, false, -1},
		{"ip [fe80::1:2]:0", SOCKET_NAMED, 0, false, -1},
		{"tcp 783.4.2.9:91234", SOCKET_NAMED, 91234, false, -1}, /* redacted */
		{"unix /run/127.0.0.1:80", SOCKET_NAMED, 0, false, -1},
		{"unix @name (listening)", SOCKET_LISTENING, 0, false, -1},
		{"unix pair", SOCKET_UNNAMED, 0, false, -1},
		{"netlink", SOCKET_UNNAMED, 0, false, -1},
		{"tcp [:", SOCKET_NAMED, 0, false, -1},
		{"tcp [::ffff:80", SOCKET_NAMED, 80, false, -1},
		{"tcp :", SOCKET_NAMED, 0, false, -1},
		{"tcp ", SOCKET_UNNAMED, 0, false, -1},
	};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		writer_descriptor(&t, i + 1, (uint16_t)i, 1000, TF_DESCRIPTOR_SOCKET, all[i].text);
	read_back();
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct socket_description *s = socket_of(i);

		cr_expect_eq(s->state, all[i].state, "%s", all[i].text);
		cr_expect_eq(s->peer.port, all[i].port, "%s", all[i].text);
		cr_expect_eq(s->peer.is_loopback, all[i].is_loopback, "%s", all[i].text);
		for (unsigned k = 0; k < i && s->peer.host; k++)
			cr_expect_eq(socket_of(k)->peer.host == s->peer.host, all[i].like == (int)k, "%s", all[i].text);
	}
	cr_assert_neq(socket_of(0)->peer.host, 0);
	cr_assert_eq(socket_of(9)->peer.host, 0);
	cr_assert_eq(socket_of(13)->peer.host, 0);
}

Test(descriptor, a_call_without_one_has_none)
{
	const uint64_t of_three = tf_arg(TF_ARG_FD, 0, (uint64_t)5 << 16 | 3),
		       of_none = tf_arg(TF_ARG_FD, 0, TF_NO_DESCRIPTOR);
	struct event e = {.kind = TF_CALL, .ticks = 1500};

	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 2, TF_NO_DESCRIPTOR, 1000, TF_DESCRIPTOR_DIRECTORY, "/directory/");
	read_back();
	cr_assert_null(descriptors_find_call(&search, &e));
	e.args_count = 1;
	e.args = &of_three;
	cr_assert_eq(descriptors_find_call(&search, &e), descriptors_find(&search, 3, 1500));
	cr_assert_not_null(descriptors_find_call(&search, &e));
	e.args = &of_none; /* as of an open that failed: not the directory that was described last */
	cr_assert_null(descriptors_find_call(&search, &e));
}

Test(descriptor, told_twice_at_once_is_the_later_one)
{
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 2, 3, 1000, TF_DESCRIPTOR_UNKNOWN, "");
	read_back();
	assert_was(3, 1000, "");
}

Test(descriptor, told_again_and_again_is_of_its_own_text)
{
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 2, 3, 1100, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 3, 4, 1200, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 4, 3, 1300, TF_DESCRIPTOR_FILE, "/b");
	writer_descriptor(&t, 5, 3, 1400, TF_DESCRIPTOR_FILE, "/b2");
	writer_descriptor(&t, 6, 3, 1500, TF_DESCRIPTOR_OTHER, "pipe:[1]");
	writer_descriptor(&t, 7, 3, 1600, TF_DESCRIPTOR_FILE, "pipe:[1]");
	writer_descriptor(&t, 8, 3, 1700, TF_DESCRIPTOR_UNKNOWN, "");
	writer_descriptor(&t, 9, 3, 1800, TF_DESCRIPTOR_UNKNOWN, "");
	read_back();
	assert_was(3, 1100, "/a");
	assert_was(4, 1200, "/a");
	assert_was(3, 1300, "/b");
	assert_was(3, 1400, "/b2");
	cr_assert(descriptors_find(&search, 3, 1500)->is_pipe);
	assert_was(3, 1600, "pipe:[1]");
	cr_assert_not(descriptors_find(&search, 3, 1600)->is_pipe);
	assert_was(3, 1800, "");
	cr_assert_eq(d->texts.count, 5);
}

Test(descriptor, has_another_end_by_its_name)
{
	static const struct {
		unsigned kind;
		const char *text;
		bool is_pipe, is_timer, is_terminal;
	} all[] = {{TF_DESCRIPTOR_OTHER, "pipe:[4711]", true, false, false},
		   {TF_DESCRIPTOR_OTHER, "pipe", false, false, false},
		   {TF_DESCRIPTOR_SOCKET, "pipe:[4711]", false, false, false},
		   {TF_DESCRIPTOR_FILE, "/dev/pts/0", false, false, true},
		   {TF_DESCRIPTOR_FILE, "/dev/tty", false, false, true},
		   {TF_DESCRIPTOR_FILE, "/dev/pts", false, false, false},
		   {TF_DESCRIPTOR_OTHER, "/dev/tty1", false, false, false},
		   {TF_DESCRIPTOR_OTHER, "anon_inode:[timerfd]", false, true, false},
		   {TF_DESCRIPTOR_OTHER, "anon_inode:[timerfd]x", false, false, false},
		   {TF_DESCRIPTOR_FILE, "anon_inode:[timerfd]", false, false, false}};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		writer_descriptor(&t, i + 1, (uint16_t)i, 1000, (uint16_t)all[i].kind, all[i].text);
	read_back();
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct descriptor *found = descriptors_find(&search, i, 1000);

		cr_expect_eq(found->is_pipe, all[i].is_pipe, "%s", all[i].text);
		cr_expect_eq(found->is_timer, all[i].is_timer, "%s", all[i].text);
		cr_expect_eq(found->is_terminal, all[i].is_terminal, "%s", all[i].text);
	}
}

Test(descriptor, too_short_to_be_one_is_left_out)
{
	writer_blob(&t, TF_BLOB_DESCRIPTOR, 1, "1234567", 7);
	read_back();
	cr_assert_eq(d->count, 0);
}
