/* SPDX-License-Identifier: Apache-2.0 */
/* errors: makes calls that fail in each way in which functions of libc report errors, and calls that create descriptors
 * with flags. Prints each call with its result and its error, which must be the same with and without recording. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Errors are kept apart by their name: the result is a descriptor, an error number or -1. */
#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		long result_;                                                                                          \
                                                                                                                       \
		errno = 0;                                                                                             \
		result_ = (long)(call);                                                                                \
		printf("%s = %ld, errno %d\n", #call, result_, errno);                                                 \
	} while (0)

static const struct timespec invalid = {.tv_nsec = 2000000000}, past = {0};
static struct itimerspec timer = {.it_value = {.tv_sec = 3600}};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, checked;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

static void fail_by_errno(void)
{
	char path[] = "/nonexistent/XXXXXX";
	struct stat s;
	int pair[2];
	fd_set set;

	FD_ZERO(&set);
	TRY(rename("/nonexistent/a", "/nonexistent/b"));
	TRY(rename((const char *)(uintptr_t)1, "/nonexistent/b"));
	TRY(mount("none", "/nonexistent", "nosuchfs", 0, NULL));
	TRY(umount2("/nonexistent", 0));
	TRY(nanosleep(&invalid, NULL));
	TRY(stat("/nonexistent/a", &s));
	TRY(mkdir("/proc/self/x", 0700));
	TRY(chdir("/nonexistent"));
	TRY(open("/nonexistent/a", O_RDONLY));
	TRY(mkstemp(path));
	TRY(read(-1, path, 1));
	TRY(dup(-1));
	TRY(close(-1));
	TRY(socketpair(AF_INET, SOCK_STREAM, 0, pair));
	TRY(pipe2(pair, ~0));
	TRY(ppoll(NULL, 0, &invalid, NULL));
	TRY(select(-1, &set, NULL, NULL, NULL));
	TRY(kill(getpid(), 1000));
	TRY(waitpid(-1, NULL, 0));
	TRY(munmap((void *)1, 1));
	TRY((intptr_t)mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	TRY(mlock((void *)-4096l, 4096));
	TRY(msgget(0x70696c, 0));
	TRY((intptr_t)shmat(-1, NULL, 0));
	TRY(sem_trywait(&semaphore));
	TRY(sem_timedwait(&semaphore, &past));
	TRY(fflush(stdin) + fseek(stdin, 0, 77));
}

static void fail_by_result(void)
{
	static char *none[] = {NULL};
	pthread_t self = pthread_self();
	void *value;
	pid_t pid;

	TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &invalid, NULL));
	TRY(posix_fallocate(-1, 0, 1));
	TRY(posix_fadvise(-1, 0, 0, POSIX_FADV_NORMAL));
	TRY(posix_spawn(&pid, "/nonexistent", NULL, NULL, none, none));
	TRY(pthread_mutex_trylock(&mutex));
	TRY(pthread_mutex_trylock(&mutex));
	TRY(pthread_mutex_timedlock(&mutex, &past));
	TRY(pthread_mutex_lock(&checked));
	TRY(pthread_mutex_lock(&checked));
	TRY(pthread_rwlock_wrlock(&lock));
	TRY(pthread_rwlock_tryrdlock(&lock));
	TRY(pthread_rwlock_timedwrlock(&lock, &past));
	TRY(pthread_cond_timedwait(&condition, &mutex, &past));
	TRY(pthread_join(self, &value));
	TRY(pthread_tryjoin_np(self, &value));
	TRY(pthread_kill(self, 1000));
}

static void create(void)
{
	static uint64_t bytes[64];
	sigset_t set;
	int fd, watch;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	TRY(fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
	TRY(timerfd_settime(fd, TFD_TIMER_ABSTIME, &timer, NULL));
	TRY(timerfd_settime(fd, 0, &timer, NULL));
	TRY(timerfd_gettime(fd, &timer));
	TRY(timerfd_create(CLOCK_MONOTONIC, 4));
	TRY(timerfd_settime(0, TFD_TIMER_ABSTIME, &timer, NULL));
	TRY(timerfd_gettime(-1, &timer));
	TRY(fd = inotify_init());
	TRY(fd = inotify_init1(IN_NONBLOCK));
	TRY(watch = inotify_add_watch(fd, "/", IN_CREATE | IN_DELETE | IN_ONLYDIR));
	TRY(inotify_add_watch(fd, "/nonexistent", IN_MODIFY));
	TRY(inotify_rm_watch(fd, watch));
	TRY(inotify_rm_watch(fd, 1000));
	TRY(inotify_init1(1));
	TRY(fd = eventfd(1, EFD_NONBLOCK | EFD_SEMAPHORE));
	TRY(eventfd_read(fd, bytes));
	TRY(eventfd_read(fd, bytes));
	TRY(eventfd_write(fd, 7));
	TRY(eventfd_write(-1, 7));
	TRY(eventfd(0, 2));
	TRY(getrandom(bytes, 32, GRND_NONBLOCK));
	TRY(getrandom(bytes, 32, 64));
	TRY(getentropy(bytes, 32));
	TRY(getentropy(bytes, 257));
	TRY(fd = signalfd(-1, &set, SFD_CLOEXEC));
	TRY(signalfd(fd, &set, 1));
	TRY(epoll_create(1));
	TRY(epoll_create(0));
	TRY(epoll_create1(EPOLL_CLOEXEC));
	TRY(epoll_create1(1));
}

int main(void)
{
	pthread_mutexattr_t kind;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &kind);
	sem_init(&semaphore, 0, 0);
	fail_by_errno();
	fail_by_result();
	create();
	return 0;
}
