/* SPDX-License-Identifier: Apache-2.0 */
/* The messages between processes that each read a part of a capture: what each part writes, and what it makes of what
 * it reads. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/share.h"

enum { GATHER = 1, BROADCAST, PRINTED };

static int output[2], input[2], out_before;
static struct share *share;

/* Standard input and output are pipes until end(), because Criterion writes to the latter. */
static void begin_part(size_t self, size_t count)
{
	struct err err;

	fflush(stdout);
	out_before = dup(STDOUT_FILENO);
	cr_assert_eq(pipe(output), 0);
	cr_assert_eq(pipe(input), 0);
	dup2(input[0], STDIN_FILENO);
	dup2(output[1], STDOUT_FILENO);
	close(output[1]);
	close(input[0]);
	cr_assert_eq(share_new(self, count, &share, &err), 0, "%s", err.text);
}

static int end_part(struct err *err)
{
	int code = share_end(share, err);

	fflush(stdout);
	dup2(out_before, STDOUT_FILENO);
	close(out_before);
	return code;
}

static void send(uint64_t kind, const char *text)
{
	const uint64_t head[] = {kind, strlen(text)};

	cr_assert_eq(write(input[1], head, sizeof(head)), (ssize_t)sizeof(head));
	cr_assert_eq(write(input[1], text, strlen(text)), (ssize_t)strlen(text));
}

static void expect_sent(uint64_t kind, const char *text)
{
	uint64_t head[2] = {0};
	char bytes[256] = "";

	cr_assert_eq(read(output[0], head, sizeof(head)), (ssize_t)sizeof(head));
	cr_expect_eq(head[0], kind);
	cr_assert_eq(head[1], strlen(text));
	cr_assert(!head[1] || read(output[0], bytes, head[1]) == (ssize_t)head[1]);
	cr_expect_str_eq(bytes, text);
}

static char taken[256];

static void take(void *context, size_t from, struct buffer *theirs)
{
	snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), "%s%zu:%s;", (const char *)context, from,
		 buffer_string(theirs));
}

Test(share, the_first_part_takes_from_all_and_prints)
{
	struct buffer mine = {0};
	struct err err;

	begin_part(0, 3);
	cr_expect_eq(share_count(share), 3);
	cr_expect_eq(share_self(share), 0);
	buffer_text(&mine, "mine");
	send(GATHER, "one");
	send(GATHER, "");
	share_gather(share, &mine, take, "part ");
	cr_expect_str_eq(taken, "part 1:one;part 2:;");
	share_broadcast(share, &mine);
	printf("table\n");
	cr_expect_null(share_failure(share));
	cr_expect_eq(end_part(&err), 0);
	expect_sent(GATHER, "");
	expect_sent(BROADCAST, "mine");
	expect_sent(PRINTED, "table\n");
	buffer_done(&mine);
}

Test(share, the_others_send_and_print_nothing)
{
	struct buffer mine = {0};
	struct err err;

	begin_part(2, 3);
	cr_expect_eq(share_self(share), 2);
	buffer_text(&mine, "mine");
	share_gather(share, &mine, take, "");
	cr_expect_str_eq(taken, "");
	send(BROADCAST, "from the first");
	share_broadcast(share, &mine);
	cr_expect_str_eq(mine.data, "from the first");
	printf("table\n");
	cr_expect_eq(end_part(&err), 0);
	expect_sent(GATHER, "mine");
	cr_expect_eq(read(output[0], taken, 1), 0, "nothing more");
	buffer_done(&mine);
}

Test(share, a_message_of_another_kind_is_a_failure)
{
	struct buffer mine = {0};
	struct err err;

	begin_part(0, 3);
	send(BROADCAST, "x");
	share_gather(share, &mine, take, "");
	cr_expect_str_eq(taken, "");
	cr_expect_str_eq(share_failure(share), "--partial: standard input is not of another part");
	share_broadcast(share, &mine);
	cr_expect_eq(end_part(&err), -EIO);
	cr_expect_str_eq(err.text, "--partial: standard input is not of another part");
	expect_sent(GATHER, "");
	cr_expect_eq(read(output[0], taken, 1), 0, "nothing after the failure");
}

Test(share, a_part_that_ends_is_a_failure)
{
	struct buffer mine = {0};
	struct err err;

	begin_part(1, 2);
	close(input[1]);
	share_broadcast(share, &mine);
	cr_expect_str_eq(share_failure(share), "--partial: another part has ended");
	cr_expect_eq(end_part(&err), -EIO);
}

Test(share, one_process_has_no_parts)
{
	struct buffer mine = {0};
	struct err err;

	cr_expect_eq(share_count(NULL), 1);
	cr_expect_eq(share_self(NULL), 0);
	cr_expect_null(share_failure(NULL));
	share_gather(NULL, &mine, take, "");
	share_broadcast(NULL, &mine);
	cr_expect_eq(share_end(NULL, &err), 0);
}
