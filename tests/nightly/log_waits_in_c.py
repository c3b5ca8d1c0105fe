# SPDX-License-Identifier: Apache-2.0
"""Programs of log_waits.py in C."""
PROGRAMS = {
    "c_epoll": """
int main(void)
{
	struct epoll_event e = {.events = EPOLLIN};
	int all = epoll_create1(0), one = socket(AF_INET, SOCK_STREAM, 0);
	listen(one, 5);
	epoll_ctl(all, EPOLL_CTL_ADD, one, &e);
	ready();
	return epoll_wait(all, &e, 1, -1);
}
""",
    "c_timerfd": """
int main(void)
{
	struct itimerspec in = {.it_value = {20, 0}};
	struct pollfd one = {.fd = timerfd_create(CLOCK_MONOTONIC, 0), .events = POLLIN};
	timerfd_settime(one.fd, 0, &in, NULL);
	ready();
	return poll(&one, 1, -1);
}
""",
    "c_timerfd_read": """
int main(void)
{
	struct itimerspec in = {.it_value = {20, 0}};
	uint64_t times;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(fd, 0, &in, NULL);
	ready();
	return read(fd, &times, sizeof(times)) < 0;
}
""",
    "c_eventfd": """
static int fd;
static void *run(void *i)
{
	uint64_t one = 1;
	if (i)
		sleep(20);
	return (void *)(i ? write(fd, &one, sizeof(one)) : read(fd, &one, sizeof(one)));
}
int main(void)
{
	fd = eventfd(0, 0);
	return started(2, run);
}
""",
    "c_signalfd": """
int main(void)
{
	struct signalfd_siginfo one;
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ready();
	return read(signalfd(-1, &set, 0), &one, sizeof(one)) < 0;
}
""",
    "c_inotify": """
int main(void)
{
	char one[4096];
	int fd = inotify_init();
	inotify_add_watch(fd, ".", IN_MOVE_SELF);
	ready();
	return read(fd, one, sizeof(one)) < 0;
}
""",
    "c_pool": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	pthread_cond_wait(&changed, &m[0]);
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void)
{
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	ready();
	sleep(20);
	pthread_cond_broadcast(&changed);
	return 0;
}
""",
    "c_pool_server": """
static void *run(void *i)
{
	sem_wait(&s[0]);
	return i;
}
int main(void)
{
	int one = socket(AF_INET, SOCK_STREAM, 0);
	listen(one, 5);
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	ready();
	return accept(one, NULL, NULL);
}
""",
    "c_signal_thread": """
static void *run(void *i)
{
	sigset_t set;
	int number;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigwait(&set, &number);
	return i;
}
int main(void) { return started(1, run); }
""",
    "c_condition_often": """
static void *run(void *i)
{
	struct timespec at;
	pthread_mutex_lock(&m[0]);
	for (int k = 0; k < 60; k++) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_sec += i ? 1 : 2;
		pthread_cond_timedwait(&changed, &m[0], &at);
	}
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void) { return started(2, run); }
""",
    "c_supervisor": """
static void run(int i) { sleep(20 + i); }
int main(void) { return forked(3, run); }
""",
    "c_semop_key": """
int main(void)
{
	struct sembuf take = {.sem_op = -1};
	int set = semget(0x70696c, 1, 0600 | IPC_CREAT); /* anybody may give */
	ready();
	alarm(60);
	return semop(set, &take, 1);
}
""",
    "c_semop_held": """
static int set;
static void run(int i)
{
	struct sembuf take = {.sem_op = -1, .sem_flg = SEM_UNDO};
	usleep(i * 200000);
	semop(set, &take, 1);
	sleep(20);
}
int main(void)
{
	set = semget(IPC_PRIVATE, 1, 0600);
	semctl(set, 0, SETVAL, 1);
	return forked(2, run);
}
""",
    "c_msgrcv_key": """
int main(void)
{
	struct { long type; char bytes[8]; } one;
	int q = msgget(0x70696c, 0600 | IPC_CREAT);
	ready();
	return msgrcv(q, &one, 8, 0, 0) < 0;
}
""",
    "c_msgrcv_late": """
static int q;
static void run(int i)
{
	struct { long type; char bytes[8]; } one = {1};
	if (i)
		sleep(20);
	i ? msgsnd(q, &one, 8, 0) : msgrcv(q, &one, 8, 0, 0);
}
int main(void)
{
	q = msgget(IPC_PRIVATE, 0600);
	return forked(2, run);
}
""",
    "c_mqueue": """
int main(void)
{
	struct mq_attr small = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char one[8];
	mqd_t q = mq_open("/pillion-waits", O_RDWR | O_CREAT, 0600, &small);
	ready();
	return mq_receive(q, one, sizeof(one), NULL) < 0;
}
""",
    "c_named_semaphore": """
int main(void)
{
	sem_t *one = sem_open("/pillion-waits", O_CREAT, 0600, 0);
	ready();
	return sem_wait(one);
}
""",
    "c_barrier_late": """
static void *run(void *i)
{
	if (i == (void *)2)
		sleep(20);
	pthread_barrier_wait(&barrier);
	return i;
}
int main(void)
{
	pthread_barrier_init(&barrier, NULL, 3);
	return started(3, run);
}
""",
    "c_shared_late": """
static pthread_mutex_t *one;
static void run(int i)
{
	usleep(i * 200000);
	pthread_mutex_lock(one);
	sleep(20);
	pthread_mutex_unlock(one);
}
int main(void)
{
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	one = shared(sizeof(*one));
	pthread_mutex_init(one, &a);
	return forked(3, run);
}
""",
    "c_sleeps_with_lock": """
static void *run(void *i)
{
	pthread_mutex_lock(&m[0]);
	sleep(20);
	pthread_mutex_unlock(&m[0]);
	return i;
}
int main(void) { return started(3, run); }
""",
}
