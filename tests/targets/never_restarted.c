/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a handler's return never restarts (signal(7)), over and over, with work before each so that a sample
 * comes near it: none may end early. Prints how many did, and how many rounds there were. never_restarted [SECONDS] */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long interrupted, rounds;
static int epoll, pair[2], queue, semaphores;
static sem_t semaphore;

static void check(const char *name, int result)
{
	if (result < 0 && errno == EINTR) {
		interrupted++;
		fprintf(stderr, "%s: EINTR\n", name);
	}
}

/* So long that a tick of the clock falls anywhere into it and the call after it. */
static void work(unsigned turns)
{
	volatile unsigned long x = 1;

	for (unsigned i = 0; i < turns; i++)
		x = x * 6364136223846793005ul + 1;
}

static struct timespec in_a_moment(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 100000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

static void one_round(unsigned turns)
{
	const struct timespec moment = {0, 100000};
	struct timespec until, left;
	struct timeval short_time = {0, 100};
	struct pollfd p = {pair[0], POLLIN, 0};
	struct epoll_event event;
	struct sembuf down = {0, -1, 0};
	sigset_t none, some;
	fd_set set;
	char byte[64];

	sigemptyset(&none);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	work(turns);
	check("poll", poll(&p, 1, 1));
	work(turns);
	check("ppoll", ppoll(&p, 1, &moment, &none));
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	work(turns);
	check("select", select(pair[0] + 1, &set, NULL, NULL, &short_time));
	FD_ZERO(&set);
	FD_SET(pair[0], &set);
	work(turns);
	check("pselect", pselect(pair[0] + 1, &set, NULL, NULL, &moment, &none));
	work(turns);
	check("epoll_wait", epoll_wait(epoll, &event, 1, 1));
	work(turns);
	check("epoll_pwait", epoll_pwait(epoll, &event, 1, 1, &none));
	work(turns);
	check("nanosleep", nanosleep(&moment, &left));
	work(turns);
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, &left);
	check("clock_nanosleep", errno ? -1 : 0);
	work(turns);
	check("usleep", usleep(100));
	until = in_a_moment();
	work(turns);
	check("sem_timedwait", sem_timedwait(&semaphore, &until));
	work(turns);
	check("semtimedop", semtimedop(semaphores, &down, 1, &moment));
	work(turns);
	check("sigtimedwait", sigtimedwait(&some, NULL, &moment));
	work(turns);
	check("recv", (int)recv(pair[0], byte, sizeof(byte), 0)); /* with SO_RCVTIMEO */
	work(turns);
	check("msgrcv", (int)msgrcv(queue, byte, sizeof(byte) - sizeof(long), 0, IPC_NOWAIT));
	rounds++;
}

/* All signals blocked, but while waiting: a signal that had waited for that would end the call. */
static void masked_round(unsigned turns)
{
	const struct timespec moment = {0, 100000};
	sigset_t all, none, before;
	struct pollfd p = {pair[0], POLLIN, 0};

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, &all, &before);
	work(turns * 4);
	check("masked ppoll", ppoll(&p, 1, &moment, &none));
	work(turns * 4);
	check("masked pselect", pselect(0, NULL, NULL, NULL, &moment, &none));
	work(turns * 4);
	check("masked sigtimedwait", sigtimedwait(&all, NULL, &moment) > 0 ? (errno = EINTR, -1) : 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv)
{
	struct timeval short_time = {0, 100};
	struct epoll_event event = {.events = EPOLLIN};
	struct timespec now, end;
	unsigned seed = 1;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += argc > 1 ? atoi(argv[1]) : 2;
	epoll = epoll_create1(0);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	sem_init(&semaphore, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || epoll < 0 || queue < 0 || semaphores < 0)
		return 2;
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof(short_time));
	epoll_ctl(epoll, EPOLL_CTL_ADD, pair[0], &event);
	do {
		seed = seed * 1103515245 + 12345;
		one_round(seed >> 12 & 0x3ffff);
		masked_round(seed >> 12 & 0x3ffff);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	printf("%lu interrupted\n", interrupted);
	fprintf(stderr, "%lu rounds\n", rounds);
	return interrupted != 0;
}
