/* SPDX-License-Identifier: Apache-2.0 */
/* shared_files DIRECTORY RANK: what a rank of a job does with files, in known numbers. It writes RANK + 1 blocks of
 * 8192 bytes and 10 of 50 bytes into DIRECTORY/shared, reads DIRECTORY/input in blocks of 4096 bytes, writes one block
 * of 2 MiB into DIRECTORY/own.RANK, and asks 5 times for the attributes of a file that does not exist. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char block[2 << 20];

static int open_in(const char *directory, const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, flags, 0600);
	if (fd < 0)
		exit(1);
	return fd;
}

static void write_block(int fd, size_t size)
{
	if (write(fd, block, size) != (ssize_t)size)
		exit(1);
}

int main(int argc, char **argv)
{
	struct stat st;
	char name[64];
	int fd, rank;

	if (argc != 3)
		return 2;
	rank = atoi(argv[2]);
	fd = open_in(argv[1], "shared", O_WRONLY | O_CREAT);
	for (int i = 0; i <= rank; i++)
		write_block(fd, 8192);
	for (int i = 0; i < 10; i++)
		write_block(fd, 50);
	close(fd);
	fd = open_in(argv[1], "input", O_RDONLY);
	while (read(fd, block, 4096) > 0)
		;
	close(fd);
	snprintf(name, sizeof(name), "own.%d", rank);
	fd = open_in(argv[1], name, O_WRONLY | O_CREAT);
	write_block(fd, sizeof(block));
	close(fd);
	for (int i = 0; i < 5; i++)
		stat("/nonexistent/file", &st);
	return 0;
}
