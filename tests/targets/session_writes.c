/* SPDX-License-Identifier: Apache-2.0 */
/* session_writes THREADS FILE: each thread writes to /dev/null, the lengths 1, 2, 3, ... and again from 1 after LAST,
 * TOGETHER at a time, until FILE exists. What was recorded without a loss has consecutive lengths. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAST = 60000, MOST_THREADS = 256, TOGETHER = 20 };

static volatile bool is_over;
static int null;
static char bytes[LAST];

static void *write_all(void *unused)
{
	for (size_t length = 1; !is_over; length = length < LAST ? length + 1 : 1) {
		if (write(null, bytes, length) != (ssize_t)length)
			exit(3);
		if (length % TOGETHER == 0)
			usleep(2000);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST_THREADS];
	int count = argc == 3 ? atoi(argv[1]) : 0;

	null = open("/dev/null", O_WRONLY);
	if (null < 0 || count < 1 || count > MOST_THREADS)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, write_all, NULL))
			return 1;
	while (access(argv[2], F_OK))
		usleep(10000);
	is_over = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 7;
}
