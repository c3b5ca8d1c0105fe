/* SPDX-License-Identifier: Apache-2.0 */
/* Two processes that each open a part of the traces of one capture have the same model, that of one process alone. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "captured.h"
#include "report/base/share.h"

CAPTURED_SUITE(model_share);


/* Each image with the number of its events, then the problems. */
static void describe(const struct model *m, struct buffer *ret)
{
	for (size_t i = 0; i < m->image_count; i++) {
		const struct image *image = &m->images[i];
		size_t events = 0;

		for (size_t k = 0; image->trace && k < image->trace->thread_count; k++) {
			struct cursor c;
			struct event e;

			cursor_init(&c, image->trace, &image->trace->threads[k]);
			while (cursor_next(&c, &e))
				events++;
		}
		buffer_print(ret, "%u: %zu threads, %zu events\n", image->pid,
			     image->trace ? image->trace->thread_count : 0, events);
	}
	for (size_t i = 0; i < m->problems.count; i++)
		buffer_print(ret, "%s\n", m->problems.items[i]);
}

struct part {
	int input, output; /* its own, at the test's end */
	int told;	   /* its description */
	pid_t pid;
};

static struct part begin_part(size_t self)
{
	char *paths[] = {directory};
	int in[2], out[2], told[2];
	struct share *share;
	struct err err;
	struct buffer text = {0};
	pid_t pid;

	cr_assert(!pipe(in) && !pipe(out) && !pipe(told));
	pid = fork();
	if (pid) {
		close(in[0]);
		close(out[1]);
		close(told[1]);
		return (struct part){in[1], out[0], told[0], pid};
	}
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	close(in[1]);
	if (share_new(self, 2, &share, &err) || model_open_shared(&model, paths, 1, share, &err) ||
	    share_failure(share))
		_exit(1);
	describe(&model, &text);
	for (size_t i = 0; i < model.image_count; i++)
		if (model.images[i].trace)
			buffer_print(&text, "%u read by part %zu\n", model.images[i].pid, model.images[i].trace->owner);
	_exit(write(told[1], text.data, text.size) != (ssize_t)text.size || share_end(share, &err));
}

static void read_all(int fd, void *ret, size_t size)
{
	for (size_t at = 0; at < size;) {
		ssize_t count = read(fd, (char *)ret + at, size - at);

		cr_assert_gt(count, 0);
		at += (size_t)count;
	}
}

/* A message whose head has been read. */
static void carry(const uint64_t head[2], const struct part *from, const struct part *to)
{
	char *bytes = mem_alloc(head[1] + 1);

	read_all(from->output, bytes, head[1]);
	cr_assert_eq(write(to->input, head, 2 * sizeof(*head)), (ssize_t)(2 * sizeof(*head)));
	cr_assert_eq(write(to->input, bytes, head[1]), (ssize_t)head[1]);
	free(bytes);
}

/* As recipes/parts.py: what the first part sends, and a message of the second one where the first asks for it. */
static void carry_all(const struct part parts[2])
{
	enum { GATHER = 1, BROADCAST };
	uint64_t head[2]; /* kind, size */

	for (;;) {
		read_all(parts[0].output, head, sizeof(head));
		if (head[0] == BROADCAST) {
			carry(head, &parts[0], &parts[1]);
		} else if (head[0] == GATHER) {
			read_all(parts[1].output, head, sizeof(head));
			carry(head, &parts[1], &parts[0]);
		} else {
			return;
		}
	}
}

static void end_part(const struct part *part, char ret[4096])
{
	ssize_t size = read(part->told, ret, 4095);
	int status;

	cr_assert_gt(size, 0);
	ret[size] = '\0';
	cr_assert_eq(waitpid(part->pid, &status, 0), part->pid);
	cr_assert_eq(status, 0);
}

Test(model_share, both_parts_have_the_model_of_one)
{
	struct part parts[2];
	struct buffer alone = {0};
	char told[2][4096];

	capture_example(directory);
	capture_file(directory, "node1.bad.trace", "nothing", 7);
	parts[0] = begin_part(0);
	parts[1] = begin_part(1);
	carry_all(parts);
	open_capture(&model, directory);
	describe(&model, &alone);
	buffer_text(&alone, "100 read by part 0\n101 read by part 1\n");
	for (int i = 0; i < 2; i++) {
		end_part(&parts[i], told[i]);
		cr_expect_str_eq(told[i], alone.data, "part %d", i);
	}
	cr_expect_not_null(strstr(alone.data, "100: 1 threads, 32 events\n"));
	cr_expect_not_null(strstr(alone.data, "/node1.bad.trace: not a trace file\n"));
	buffer_done(&alone);
}
