/* SPDX-License-Identifier: Apache-2.0 */
/* Closes, reuses and inherits descriptors in every way that a program may, and writes to each file the number of bytes
 * in the file's name. */
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char bytes[65536];

static void put(int fd, size_t n)
{
	if (write(fd, bytes, n) != (ssize_t)n)
		exit(9);
}

static int file(const char *name)
{
	return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* Reuses one descriptor number: each write counts for the file that the number referred to at that time. */
static void reuse(void)
{
	int fd = file("100"), other;
	FILE *f;

	put(fd, 100);
	close(fd);
	fd = file("200");
	put(fd, 200);
	syscall(SYS_close, fd);
	fd = (int)syscall(SYS_openat, AT_FDCWD, "300", O_RDWR | O_CREAT | O_TRUNC, 0600);
	put(fd, 300);
	other = file("400");
	dup2(other, fd);
	close(other);
	put(fd, 400);
	other = file("500");
	syscall(SYS_dup3, other, fd, 0);
	close(other);
	put(fd, 500);
	close(fd);
	f = fopen("600", "w");
	fwrite(bytes, 1, 600, f);
	fclose(f);
	fd = file("700");
	put(fd, 700);
	close_range((unsigned)fd, (unsigned)fd, 0);
	f = fopen("800", "w");
	f = freopen("900", "w", f);
	fwrite(bytes, 1, 900, f);
	fclose(f);
	fd = file("1000");
	put(fd, 1000);
	syscall(SYS_close_range, fd, fd, 0);
	fd = file("1100");
	put(fd, 1100);
	other = fcntl(fd, F_DUPFD, 40);
	put(other, 1100);
	close(other);
	other = openat(AT_FDCWD, "1200", O_RDWR | O_CREAT | O_TRUNC, 0600);
	put(other, 1200);
	close(other);
	close(fd);
	closedir(opendir("."));
	fd = file("1300");
	put(fd, 1300);
	close(fd);
}

/* A child's changes to its descriptors do not affect the parent's. */
static void children(void)
{
	int fd = file("2000"), other = file("2100"), status;
	pid_t child;

	put(fd, 1000);
	child = vfork();
	if (!child) {
		dup2(other, fd);
		if (write(fd, bytes, 2100) != 2100)
			_exit(9);
		_exit(0);
	}
	waitpid(child, &status, 0);
	put(fd, 1000);
	child = fork();
	if (!child) {
		put(other, 0);
		put(file("2200"), 2200);
		_exit(0);
	}
	waitpid(child, &status, 0);
	close(fd);
	close(other);
}

static void connections(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un u = {.sun_family = AF_UNIX, .sun_path = "socket"};
	socklen_t size = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0), client, peer, pair[2];

	if (bind(server, (struct sockaddr *)&a, sizeof(a)) || listen(server, 5) ||
	    getsockname(server, (struct sockaddr *)&a, &size))
		exit(9);
	client = socket(AF_INET, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)&a, sizeof(a));
	peer = accept(server, NULL, NULL);
	send(client, bytes, 3000, 0);
	recv(peer, bytes, 3000, MSG_WAITALL);
	close(client), close(peer), close(server);
	printf("port %d\n", ntohs(a.sin_port));
	unlink(u.sun_path);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *)&u, sizeof(u)) || listen(server, 5))
		exit(9);
	client = socket(AF_UNIX, SOCK_STREAM, 0);
	connect(client, (struct sockaddr *)&u, sizeof(u));
	peer = accept(server, NULL, NULL);
	send(client, bytes, 3100, 0);
	recv(peer, bytes, 3100, MSG_WAITALL);
	close(client), close(peer), close(server);
	client = socket(AF_INET6, SOCK_DGRAM, 0);
	sendto(client, bytes, 1, 0,
	       (struct sockaddr *)&(struct sockaddr_in6){
		   .sin6_family = AF_INET6, .sin6_port = htons(9), .sin6_addr = IN6ADDR_LOOPBACK_INIT},
	       sizeof(struct sockaddr_in6));
	close(client);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		exit(9);
	put(pair[0], 3200);
	close(pair[0]), close(pair[1]);
	if (pipe(pair))
		exit(9);
	put(pair[1], 3300);
	close(pair[0]), close(pair[1]);
}

int main(void)
{
	reuse();
	children();
	connections();
	return 0;
}
