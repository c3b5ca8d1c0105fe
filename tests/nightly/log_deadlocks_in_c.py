# SPDX-License-Identifier: Apache-2.0
"""Programs of log_deadlocks.py in C and C++."""
HEAD = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>
static void ready(void) { (void)!write(1, "ready\\n", 6); }
static pthread_mutex_t m[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_t threads[4];
static sem_t s[2];
static int ways[2][2];
static void *shared(size_t size) { return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }
static int made(char kind, int id) /* log.py removes what is left */
{
	int fd = open("system_v", O_WRONLY | O_CREAT | O_APPEND, 0600);
	dprintf(fd, "-%c %d\\n", kind, id);
	close(fd);
	return id;
}
#define semget(...) made('s', semget(__VA_ARGS__))
#define msgget(...) made('q', msgget(__VA_ARGS__))
static int opened(int i) /* of the processes with the same parent */
{
	char name[32];
	snprintf(name, sizeof(name), "%d.%d", getppid(), i);
	return open(name, O_RDWR | O_CREAT, 0600);
}
static int started(int n, void *(*run)(void *))
{
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	ready();
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
static int forked(int n, void (*run)(int))
{
	for (int i = 0; i < n; i++)
		if (!fork()) {
			run(i);
			_exit(0);
		}
	ready();
	while (wait(NULL) > 0)
		;
	return 0;
}
"""
# name -> source of its functions, the last of which is main(); each line that a thread waits in ends with "waits */"
PROGRAMS = {
    "mutexes": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[(long)i]);
	usleep(200000);
	pthread_mutex_lock(&m[1 - (long)i]); /* waits */
	return i;
}
int main(void) { return started(2, run); }
""",
    "mutexes3": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[(long)i]);
	usleep(200000);
	pthread_mutex_lock(&m[((long)i + 1) % 3]); /* waits */
	return i;
}
int main(void) { return started(3, run); }
""",
    "upgrade": """
static void *run(void *i)
{
	pthread_rwlock_rdlock(&rw);
	usleep(200000);
	pthread_rwlock_wrlock(&rw); /* waits */
	return i;
}
int main(void) { return started(2, run); }
""",
    "barrier": """
static void *run(void *i)
{
	pthread_barrier_wait(&barrier); /* waits */
	return i;
}
int main(void)
{
	pthread_barrier_init(&barrier, NULL, 4);
	return started(3, run);
}
""",
    "semaphores": """
static void *run(void *i)
{
	sem_wait(&s[(long)i]); /* waits */
	sem_post(&s[1 - (long)i]);
	return i;
}
int main(void) { return started(2, run); }
""",
    "lost_wakeup": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	if (i) {
		pthread_cond_signal(&changed);
	} else {
		usleep(200000); /* it was signaled before */
		pthread_cond_wait(&changed, &m[0]); /* waits */
	}
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void)
{
	pthread_create(&threads[0], NULL, run, (void *)1);
	pthread_join(threads[0], NULL);
	return started(1, run);
}
""",
    "joins": """
static pthread_t first;
static void *run(void *i)
{
	pthread_join(first, NULL); /* waits */
	return i;
}
int main(void)
{
	first = pthread_self();
	pthread_create(&threads[0], NULL, run, NULL);
	usleep(200000);
	ready();
	pthread_join(threads[0], NULL); /* waits */
	return 0;
}
""",
    "forked_lock": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	usleep(500000);
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void)
{
	pid_t child;
	pthread_create(&threads[0], NULL, run, NULL);
	usleep(200000);
	child = fork();
	if (!child) {
		pthread_mutex_lock(&m[0]); /* waits */
		_exit(0);
	}
	pthread_join(threads[0], NULL);
	ready();
	waitpid(child, NULL, 0);
	return 0;
}
""",
    "full_pipes": """
static char block[1 << 20];
static void run(int i)
{
	(void)!write(ways[i][1], block, sizeof(block)); /* waits */
	(void)!read(ways[1 - i][0], block, sizeof(block));
}
int main(void)
{
	(void)!pipe(ways[0]);
	(void)!pipe(ways[1]);
	return forked(2, run);
}
""",
    "socketpair": """
static void run(int i)
{
	char byte;
	close(ways[0][1 - i]);
	(void)!read(ways[0][i], &byte, 1); /* waits */
	(void)!write(ways[0][i], "x", 1);
}
int main(void)
{
	socketpair(AF_UNIX, SOCK_STREAM, 0, ways[0]);
	return forked(2, run);
}
""",
    "polls": """
static void run(int i)
{
	struct pollfd one = {.fd = ways[i][0], .events = POLLIN};
	poll(&one, 1, -1); /* waits */
	(void)!write(ways[1 - i][1], "x", 1);
}
int main(void)
{
	(void)!pipe(ways[0]);
	(void)!pipe(ways[1]);
	return forked(2, run);
}
""",
    "flocks": """
static void run(int i)
{
	int a = opened(i), b = opened(1 - i);
	flock(a, LOCK_EX);
	usleep(300000);
	flock(b, LOCK_EX); /* waits */
}
int main(void) { return forked(2, run); }
""",
    "ofd_locks": """
static void run(int i)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int fd = opened(0);
	lock.l_start = i;
	fcntl(fd, F_OFD_SETLKW, &lock);
	usleep(300000);
	lock.l_start = 1 - i;
	fcntl(fd, F_OFD_SETLKW, &lock); /* waits */
}
int main(void) { return forked(2, run); }
""",
    "shared_mutexes": """
static pthread_mutex_t *two;
static void run(int i)
{
	pthread_mutex_lock(&two[i]);
	usleep(300000);
	pthread_mutex_lock(&two[1 - i]); /* waits */
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	two = shared(2 * sizeof(*two));
	pthread_mutex_init(&two[0], &a);
	pthread_mutex_init(&two[1], &a);
	return forked(2, run);
}
""",
    "shared_semaphores": """
static sem_t *two;
static void run(int i)
{
	sem_wait(&two[i]); /* waits */
	sem_post(&two[1 - i]);
}
int main(void)
{
	two = shared(2 * sizeof(*two));
	sem_init(&two[0], 1, 0);
	sem_init(&two[1], 1, 0);
	return forked(2, run);
}
""",
    "flock_twice": """
int main(void)
{
	int a = opened(0), b = opened(0);
	flock(a, LOCK_EX);
	ready();
	flock(b, LOCK_EX); /* waits */
	return 0;
}
""",
    "eventfds": """
static int fds[2];
static void *run(void *i)
{
	uint64_t one = 1;
	(void)!read(fds[(long)i], &one, sizeof(one)); /* waits */
	(void)!write(fds[1 - (long)i], &one, sizeof(one));
	return i;
}
int main(void)
{
	fds[0] = eventfd(0, 0);
	fds[1] = eventfd(0, 0);
	return started(2, run);
}
""",
    "messages": """
static int q[2];
static void run(int i)
{
	struct { long type; char bytes[8]; } one = {1};
	msgrcv(q[i], &one, 8, 0, 0); /* waits */
	msgsnd(q[1 - i], &one, 8, 0);
}
int main(void)
{
	q[0] = msgget(IPC_PRIVATE, 0600);
	q[1] = msgget(IPC_PRIVATE, 0600);
	return forked(2, run);
}
""",
    "mqueues": """
static mqd_t q[2];
static void run(int i)
{
	char one[8];
	mq_receive(q[i], one, sizeof(one), NULL); /* waits */
	mq_send(q[1 - i], one, 1, 0);
}
int main(void)
{
	struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 8}; /* a user may have few bytes of them */
	char name[32];
	snprintf(name, sizeof(name), "/pillion.%d", getpid());
	for (int i = 0; i < 2; i++) {
		q[i] = mq_open(name, O_RDWR | O_CREAT, 0600, &small);
		mq_unlink(name);
	}
	return forked(2, run);
}
""",
    "shared_rwlock": """
static pthread_rwlock_t *one;
static void run(int i)
{
	pthread_rwlock_rdlock(one);
	usleep(300000);
	pthread_rwlock_wrlock(one); /* waits */
}
int main(void)
{
	pthread_rwlockattr_t a;
	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	one = shared(sizeof(*one));
	pthread_rwlock_init(one, &a);
	return forked(2, run);
}
""",
    "shared_condition": """
static struct { pthread_mutex_t lock; pthread_cond_t changed; } *two;
static void run(int i)
{
	pthread_mutex_lock(&two->lock);
	pthread_cond_wait(&two->changed, &two->lock); /* waits */
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_condattr_t b;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_condattr_init(&b);
	pthread_condattr_setpshared(&b, PTHREAD_PROCESS_SHARED);
	two = shared(sizeof(*two));
	pthread_mutex_init(&two->lock, &a);
	pthread_cond_init(&two->changed, &b);
	return forked(2, run);
}
""",
    "system_v_mutexes": """
static int set;
static void run(int i)
{
	struct sembuf take = {.sem_num = i, .sem_op = -1, .sem_flg = SEM_UNDO};
	semop(set, &take, 1);
	usleep(300000);
	take.sem_num = 1 - i;
	semop(set, &take, 1); /* waits */
}
int main(void)
{
	set = semget(IPC_PRIVATE, 2, 0600);
	semctl(set, 0, SETVAL, 1);
	semctl(set, 1, SETVAL, 1);
	return forked(2, run);
}
""",
    "posix_locks": """
static void run(int i)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int own = opened(i), other = opened(1 - i);
	fcntl(own, F_SETLKW, &lock);
	usleep(300000);
	if (i) /* the kernel finds cycles of these locks alone */
		(void)!read(ways[0][0], &lock, 1); /* waits */
	fcntl(other, F_SETLKW, &lock); /* waits */
}
int main(void)
{
	(void)!pipe(ways[0]);
	return forked(2, run);
}
""",
    "system_v": """
static int set;
static void run(int i)
{
	struct sembuf take = {.sem_num = i, .sem_op = -1}, give = {.sem_num = 1 - i, .sem_op = 1};
	semop(set, &take, 1); /* waits */
	semop(set, &give, 1);
}
int main(void)
{
	set = semget(IPC_PRIVATE, 2, 0600);
	return forked(2, run);
}
""",
}
CPP_PROGRAMS = {
    "futures": """
int main()
{
	std::promise<int> one, two;
	std::thread t([&] {
		two.set_value(one.get_future().get()); // waits
	});
	std::future<int> answer = two.get_future();
	ready();
	one.set_value(answer.get()); // waits
	t.join();
}
""",
    "conditions": """
static std::mutex lock;
static std::condition_variable changed;
static bool is_done;
static void run()
{
	std::unique_lock<std::mutex> held(lock);
	changed.wait(held, [] { return is_done; }); // waits
}
int main()
{
	std::thread t(run), u(run);
	ready();
	t.join();
	u.join();
}
""",
    "scoped": """
static std::recursive_mutex one, two;
static void both(std::recursive_mutex &a, std::recursive_mutex &b)
{
	std::lock_guard<std::recursive_mutex> first(a);
	std::this_thread::sleep_for(std::chrono::milliseconds(200));
	std::lock_guard<std::recursive_mutex> second(b); // waits
}
int main()
{
	auto t = std::async(std::launch::async, [] { both(one, two); });
	ready();
	both(two, one);
}
""",
    "shared_mutex": """
static std::shared_mutex lock;
int main()
{
	std::shared_lock<std::shared_mutex> reads(lock);
	ready();
	std::thread t([] {
		std::unique_lock<std::shared_mutex> writes(lock); // waits
	});
	t.join();
}
""",
}
CPP_HEAD = """
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
static void ready() { (void)!write(1, "ready\\n", 6); }
"""
