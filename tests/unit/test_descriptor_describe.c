/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder describes a descriptor once, and again when its number refers to another file. */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/recorder/record/descriptor.h"
#include "recorder.h"

RECORDER_FUNCTIONS({"alpha", TF_GROUP_OSRT});

static void start(void)
{
	cr_assert(recording_begin());
	cr_assert(hook_attached());
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(descriptor_describe, .init = start, .fini = clean);

/* Reads the text of the last descriptor blob from the trace file; it may contain a NUL. */
static const char *told_bytes(size_t *ret_size)
{
	static char text[TF_BLOB_BYTES + 1], bytes[1 << 20];
	FILE *f = fopen(process.path, "re");
	size_t size = f ? fread(bytes, 1, sizeof(bytes), f) : 0;

	memset(text, 0, sizeof(text));
	if (f)
		fclose(f);
	for (size_t at = 0; at + 8 <= size; at += 8) {
		uint64_t slot;
		unsigned length, done = 0;

		memcpy(&slot, bytes + at, 8);
		if (tf_kind(slot) != TF_BLOB || tf_blob_kind(slot) != TF_BLOB_DESCRIPTOR ||
		    tf_blob_id(slot) != process.descriptor_texts)
			continue;
		length = tf_blob_length(slot);
		for (size_t i = at + 8; done < length && i + 8 <= size && (bytes[i] & 31) == TF_DATA; i += 8)
			for (unsigned k = 1; k < 8 && done < length; k++)
				text[done++] = bytes[i + k];
		text[done] = '\0';
		*ret_size = done - sizeof(struct tf_descriptor);
	}
	return text + sizeof(struct tf_descriptor);
}

static const char *told(void)
{
	size_t size;

	return told_bytes(&size);
}

Test(descriptor_describe, is_told_once_until_it_is_forgotten)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	cr_assert_not(descriptor_is_known(fd));
	descriptor_describe(fd, 1);
	cr_assert(descriptor_is_known(fd));
	cr_assert_str_eq(told(), "/etc/passwd");
	descriptor_describe(fd, 2);
	cr_assert_eq(process.descriptor_texts, 1);
	descriptor_invalidate(fd);
	cr_assert_not(descriptor_is_known(fd));
	descriptor_describe_path(fd, 3, "/given/path");
	cr_assert_str_eq(told(), "/given/path");
	descriptor_invalidate_range(0, ~0u);
	cr_assert_not(descriptor_is_known(fd));
	descriptor_describe_path(fd, 3, "passwd");
	cr_assert_str_eq(told(), "/etc/passwd");
}

Test(descriptor_describe, a_number_that_is_not_open_is_told_to_be_nothing)
{
	descriptor_describe(1000, 1);
	cr_assert(descriptor_is_known(1000));
	cr_assert_str_eq(told(), "");
	cr_assert(descriptor_is_known(65535));
	cr_assert(descriptor_is_known(-1));
	descriptor_invalidate(-1);
	descriptor_invalidate(1 << 30);
	descriptor_describe(-1, 1);
}

Test(descriptor_describe, peers_are_written_as_their_readers_write_them)
{
	static const struct {
		const char *address, *text;
	} cases[] = {
		{"::", "tcp [::]:80"},
		{"::1", "tcp [::1]:80"},
		{"2001:db8::8:0:0:1", "tcp [2001:db8::8:0:0:1]:80"},
		{"2001:db8:0:1:1:1:1:1", "tcp [2001:db8:0:1:1:1:1:1]:80"},
		{"fe80:0:0:1::", "tcp [fe80:0:0:1::]:80"},
		{"::ffff:10.0.0.1", "tcp [::ffff:10.0.0.1]:80"},
	};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(65535), .sin_addr.s_addr = htonl(0x7f000001)};

	if (fd < 0)
		cr_skip_test("no IPv6");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(80)};

		cr_assert_eq(inet_pton(AF_INET6, cases[i].address, &a.sin6_addr), 1);
		descriptor_invalidate(fd);
		descriptor_describe_peer(fd, 1, (struct sockaddr *)&a, sizeof(a));
		cr_assert_str_eq(told(), cases[i].text);
	}
	descriptor_invalidate(fd);
	descriptor_describe_peer(fd, 1, (struct sockaddr *)&in, sizeof(in));
	cr_assert_str_eq(told(), "tcp 127.0.0.1:65535");
	descriptor_invalidate(fd);
	descriptor_describe(fd, 1);
	cr_assert_str_eq(told(), "tcp [::]:0 (not connected)");
}

Test(descriptor_describe, both_ends_of_a_connection_tell_the_same_addresses)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
	socklen_t size = sizeof(in);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), accepted;
	char ends[2][64];
	const char *text;

	cr_assert(!bind(server, (struct sockaddr *)&in, size) && !listen(server, 1));
	cr_assert(!getsockname(server, (struct sockaddr *)&in, &size));
	cr_assert(!connect(client, (struct sockaddr *)&in, size));
	accepted = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	descriptor_describe(client, 1);
	text = told();
	snprintf(ends[0], sizeof(ends[0]), "%s", text);
	snprintf(ends[1], sizeof(ends[1]), "%s", text + strlen(text) + 1);
	descriptor_describe(accepted, 1);
	text = told();
	cr_assert_str_eq(text, ends[1]);
	cr_assert_str_eq(text + strlen(text) + 1, ends[0]);
	close(accepted);
	close(client);
	close(server);
}

Test(descriptor_describe, only_a_peer_with_a_port_is_followed_by_the_own_address)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "test_descriptor.socket"};
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static const char expected[] = "unix test_descriptor.socket";
	const char *text;

	unlink(to.sun_path);
	cr_assert(!bind(server, (struct sockaddr *)&to, sizeof(to)) && !listen(server, 1));
	cr_assert(!connect(client, (struct sockaddr *)&to, sizeof(to)));
	for (int is_given = 0; is_given < 2; is_given++) {
		size_t size;

		descriptor_invalidate(client);
		if (is_given)
			descriptor_describe_peer(client, 1, (struct sockaddr *)&to, sizeof(to));
		else
			descriptor_describe(client, 1);
		text = told_bytes(&size);
		cr_assert_eq(size, strlen(expected));
		cr_assert(!memcmp(text, expected, size));
	}
	unlink(to.sun_path);
	close(client);
	close(server);
}

Test(descriptor_describe, a_forked_child_tells_its_own)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), status;
	pid_t child;

	descriptor_describe(fd, 1);
	child = fork();
	if (!child)
		_exit(descriptor_is_known(fd) ? 1 : 0);
	waitpid(child, &status, 0);
	cr_assert_eq(status, 0);
}
