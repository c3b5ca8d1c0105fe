/* SPDX-License-Identifier: Apache-2.0 */
/* copies: copies the file `source` of 1 MB in the working directory by each call that copies inside the kernel, and
 * sends messages to itself. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 1000000, PART = 60000, MESSAGES = 5 };

static void expect(int fact)
{
	if (!fact)
		abort();
}

static int create(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	expect(fd >= 0);
	return fd;
}

static void copy(void)
{
	int from = open("source", O_RDONLY), to = create("by_range"), pipes[2][2];
	ssize_t n;

	while ((n = copy_file_range(from, NULL, to, NULL, SIZE, 0)) > 0)
		;
	close(to);
	lseek(from, 0, SEEK_SET);
	to = create("by_sendfile");
	while ((n = sendfile(to, from, NULL, 300000)) > 0)
		;
	close(to);
	lseek(from, 0, SEEK_SET);
	to = create("by_splice");
	expect(!pipe(pipes[0]) && !pipe(pipes[1]));
	n = splice(from, NULL, pipes[0][1], NULL, PART, 0);
	expect(n > 0 && tee(pipes[0][0], pipes[1][1], (size_t)n, 0) == n);
	expect(splice(pipes[0][0], NULL, to, NULL, (size_t)n, 0) == n);
	expect(splice(pipes[1][0], NULL, to, NULL, (size_t)n, 0) == n);
	close(to);
	close(from);
}

static void send_messages(void)
{
	char bytes[MESSAGES][100];
	struct iovec parts[MESSAGES];
	struct mmsghdr messages[MESSAGES] = {0};
	int pair[2];

	expect(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
	for (int i = 0; i < MESSAGES; i++) {
		parts[i] = (struct iovec){bytes[i], 10 + (size_t)i};
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	expect(sendmmsg(pair[0], messages, MESSAGES, 0) == MESSAGES);
	for (int i = 0; i < MESSAGES; i++)
		parts[i].iov_len = sizeof(bytes[i]);
	expect(recvmmsg(pair[1], messages, MESSAGES, 0, NULL) == MESSAGES);
}

int main(void)
{
	copy();
	send_messages();
	return 0;
}
