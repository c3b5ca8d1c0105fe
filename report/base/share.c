/* SPDX-License-Identifier: Apache-2.0 */
/* A message is a struct head and its bytes. Part 0 writes a head without bytes when it waits for one message of each of
 * the others, so that whoever carries the messages needs to know nothing about the work. The format is that of
 * report/recipes/parts.py. */
#include "report/base/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum message_kind { MESSAGE_GATHER = 1, MESSAGE_BROADCAST, MESSAGE_PRINTED };

struct head {
	uint64_t kind, size;
};

struct share {
	size_t self, count;
	int input, output;
	FILE *printed;
	struct err failure;
	bool has_failed;
};

int share_new(size_t self, size_t count, struct share **ret, struct err *err)
{
	struct share *r = mem_alloc(sizeof(*r));

	r->self = self;
	r->count = count;
	r->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	r->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	r->printed = tmpfile();
	*ret = r;
	if (r->input < 0 || r->output < 0 || !r->printed || dup2(fileno(r->printed), STDOUT_FILENO) < 0)
		return err_set(err, -errno, "--partial: %s", strerror(errno));
	return 0;
}

size_t share_count(const struct share *r)
{
	return r ? r->count : 1;
}

size_t share_self(const struct share *r)
{
	return r ? r->self : 0;
}

const char *share_failure(const struct share *r)
{
	return r && r->has_failed ? r->failure.text : NULL;
}

/* ---- messages ---- */

static void fail(struct share *r, const char *reason)
{
	if (r->has_failed)
		return;
	err_set(&r->failure, 0, "--partial: %s", reason);
	r->has_failed = true;
}

static void write_all(struct share *r, const void *data, size_t size)
{
	const char *at = data;

	while (size && !r->has_failed) {
		ssize_t done = write(r->output, at, size);

		if (done < 0 && errno != EINTR)
			fail(r, strerror(errno));
		at += done > 0 ? done : 0;
		size -= done > 0 ? (size_t)done : 0;
	}
}

static void read_all(struct share *r, void *ret, size_t size)
{
	char *at = ret;

	while (size && !r->has_failed) {
		ssize_t done = read(r->input, at, size);

		if (!done)
			fail(r, "another part has ended");
		else if (done < 0 && errno != EINTR)
			fail(r, strerror(errno));
		at += done > 0 ? done : 0;
		size -= done > 0 ? (size_t)done : 0;
	}
}

static void send_message(struct share *r, enum message_kind kind, const struct buffer *b)
{
	struct head head = {kind, b->size};

	write_all(r, &head, sizeof(head));
	write_all(r, b->data, b->size);
}

/* Replaces *ret. */
static void receive_message(struct share *r, enum message_kind kind, struct buffer *ret)
{
	static const size_t piece = 1 << 16;
	struct head head = {0};
	SCOPED_MEMORY char *bytes = mem_alloc(piece);

	buffer_clear(ret);
	read_all(r, &head, sizeof(head));
	if (head.kind != kind)
		fail(r, "standard input is not of another part");
	while (head.size && !r->has_failed) {
		size_t size = head.size < piece ? head.size : piece;

		read_all(r, bytes, size);
		buffer_add(ret, bytes, size);
		head.size -= size;
	}
}

void share_gather(struct share *r, const struct buffer *mine,
		  void (*take)(void *context, size_t from, struct buffer *theirs), void *context)
{
	SCOPED(buffer) theirs = {0};

	if (!r || r->has_failed)
		return;
	send_message(r, MESSAGE_GATHER, r->self ? mine : &theirs);
	for (size_t i = 1; i < r->count && !r->self && !r->has_failed; i++) {
		receive_message(r, MESSAGE_GATHER, &theirs);
		if (!r->has_failed)
			take(context, i, &theirs);
	}
}

void share_broadcast(struct share *r, struct buffer *b)
{
	if (!r || r->has_failed)
		return;
	if (r->self)
		receive_message(r, MESSAGE_BROADCAST, b);
	else
		send_message(r, MESSAGE_BROADCAST, b);
}

static void send_printed(struct share *r)
{
	SCOPED(buffer) all = {0};
	char piece[1 << 12];
	size_t size;

	fflush(stdout);
	rewind(r->printed);
	while ((size = fread(piece, 1, sizeof(piece), r->printed)) > 0)
		buffer_add(&all, piece, size);
	if (ferror(r->printed))
		fail(r, strerror(errno));
	send_message(r, MESSAGE_PRINTED, &all);
}

int share_end(struct share *r, struct err *err)
{
	int code = 0;

	if (!r)
		return 0;
	if (!r->self && !r->has_failed)
		send_printed(r);
	if (r->has_failed)
		code = err_set(err, -EIO, "%s", r->failure.text);
	if (r->printed)
		fclose(r->printed);
	close(r->input);
	close(r->output);
	free(r);
	return code;
}
