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
}

static void done(void)
{
	reader_close(trace);
	writer_done(&w);
}

TestSuite(descriptor, .init = start, .fini = done);

static void assert_was(uint64_t fd, uint64_t ticks, const char *text)
{
	const struct descriptor *found = descriptors_find(d, fd, ticks);
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

Test(descriptor, the_own_address_of_a_socket_follows_its_peer)
{
	struct buffer own = {0};

	/* a NUL is read as 0xff, which names of Unix may have */
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_SOCKET, "tcp 127.0.0.1:1\xff" "tcp 127.0.0.1:2");
	writer_descriptor(&t, 2, 4, 1000, TF_DESCRIPTOR_SOCKET, "unix /a\xff" "b");
	read_back();
	assert_was(3, 1000, "tcp 127.0.0.1:1");
	assert_was(4, 1000, "unix /a\xff" "b");
	descriptors_own_address(d, descriptors_find(d, 4, 1000), &own);
	cr_assert_eq(own.size, 0);
	descriptors_own_address(d, descriptors_find(d, 3, 1000), &own);
	cr_assert_str_eq(buffer_string(&own), "tcp 127.0.0.1:2");
	buffer_done(&own);
}

Test(descriptor, told_twice_at_once_is_the_later_one)
{
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor(&t, 2, 3, 1000, TF_DESCRIPTOR_UNKNOWN, "");
	read_back();
	assert_was(3, 1000, "");
}

Test(descriptor, has_another_end_by_its_name)
{
	static const struct {
		unsigned kind;
		const char *text;
		bool is_pipe, is_terminal;
	} all[] = {{TF_DESCRIPTOR_OTHER, "pipe:[4711]", true, false},
		   {TF_DESCRIPTOR_OTHER, "pipe", false, false},
		   {TF_DESCRIPTOR_SOCKET, "pipe:[4711]", false, false},
		   {TF_DESCRIPTOR_FILE, "/dev/pts/0", false, true},
		   {TF_DESCRIPTOR_FILE, "/dev/tty", false, true},
		   {TF_DESCRIPTOR_FILE, "/dev/pts", false, false},
		   {TF_DESCRIPTOR_OTHER, "/dev/tty1", false, false}};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		writer_descriptor(&t, i + 1, (uint16_t)i, 1000, (uint16_t)all[i].kind, all[i].text);
	read_back();
	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct descriptor *found = descriptors_find(d, i, 1000);

		cr_expect_eq(found->is_pipe, all[i].is_pipe, "%s", all[i].text);
		cr_expect_eq(found->is_terminal, all[i].is_terminal, "%s", all[i].text);
	}
}

Test(descriptor, too_short_to_be_one_is_left_out)
{
	writer_blob(&t, TF_BLOB_DESCRIPTOR, 1, "1234567", 7);
	read_back();
	cr_assert_eq(d->count, 0);
}
