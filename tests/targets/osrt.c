/* SPDX-License-Identifier: Apache-2.0 */
/* osrt ROUNDS: makes each recorded call of the OS runtime ROUNDS times, in a writable working directory. Prints a
 * checksum of the results, which must be the same with and without recording. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

extern char **environ;

static uint64_t sum = 14695981039346656037u;

/* A call's result, or the error that it gave. */
static long saw(const char *what, long result)
{
	for (const char *c = what; *c; c++)
		sum = (sum ^ (unsigned char)*c) * 1099511628211u;
	sum = (sum ^ (uint64_t)(result < 0 ? -errno : result)) * 1099511628211u;
	if (result < 0 && getenv("OSRT_VERBOSE"))
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
	return result;
}

#define SEE(call) saw(#call, (long)(call))
#define SEEN(call) saw(#call, !!(call)) /* only success or failure is deterministic */

static struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec t = {0};

	clock_gettime(clock, &t);
	t.tv_nsec += ms * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static void files(void)
{
	static char bytes[4096] = "one\ntwo\nthree\n";
	struct iovec v = {bytes, sizeof(bytes)};
	off_t from = 0;
	loff_t in = 0;
	int fd = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600), other, p[2];

	SEE(write(fd, bytes, sizeof(bytes)));
	SEE(pwrite(fd, bytes, sizeof(bytes), 0));
	SEE(pread(fd, bytes, sizeof(bytes), 0));
	SEE(writev(fd, &v, 1));
	SEE(pwritev(fd, &v, 1, 0));
	SEE(preadv(fd, &v, 1, 0));
	SEE(pwritev2(fd, &v, 1, 0, 0));
	SEE(preadv2(fd, &v, 1, 0, 0));
	SEE(lseek(fd, 0, SEEK_SET));
	SEE(read(fd, bytes, sizeof(bytes)));
	SEE(readv(fd, &v, 1));
	SEE(ftruncate(fd, 4096));
	SEE(truncate("file", 8192));
	SEE(fallocate(fd, 0, 0, 4096));
	SEE(posix_fallocate(fd, 0, 4096));
	SEE(lockf(fd, F_LOCK, 0));
	SEE(lockf(fd, F_ULOCK, 0));
	SEE(flock(fd, LOCK_EX));
	SEE(flock(fd, LOCK_UN));
	SEE(fdatasync(fd));
	SEE(fsync(fd));
	SEE(sync_file_range(fd, 0, 4096, 0));
	SEE(fcntl(fd, F_GETFL));
	other = openat(AT_FDCWD, "other", O_RDWR | O_CREAT, 0600);
	SEE(sendfile(other, fd, &from, 4096));
	SEE(copy_file_range(fd, &in, other, NULL, 4096, 0));
	close(other);
	other = creat("other", 0600);
	SEE(dup2(fd, other));
	close(other);
	other = SEE(dup(fd));
	SEE(dup3(fd, other, O_CLOEXEC));
	close(other);
	SEE(pipe(p));
	SEE(ioctl(p[0], FIONREAD, &other));
	SEE(splice(fd, &in, p[1], NULL, 16, 0));
	SEE(vmsplice(p[1], &v, 1, 0));
	close(p[0]), close(p[1]);
	SEE(pipe2(p, O_CLOEXEC));
	close(p[0]), close(p[1]);
	close(fd);
	SEE(mkfifo("fifo", 0600));
	unlink("fifo");
	SEE(mkfifoat(AT_FDCWD, "fifo", 0600));
	unlink("fifo");
}

static void streams(void)
{
	char line[256], *more = NULL;
	wchar_t wide[256];
	size_t room = 0;
	FILE *f = fopen("file", "w+");

	SEE(fputs("one\ntwo\nthree\nfour\n", f));
	SEE(fwrite("five\n", 1, 5, f));
	SEE(putc('c', f));
	SEE(fputc('d', f));
	SEE(fflush(f));
	rewind(f);
	SEEN(fgets(line, sizeof(line), f));
	SEE(getline(&more, &room, f));
	SEE(getdelim(&more, &room, '\n', f));
	SEE(fgetc(f));
	SEE(getc(f));
	SEE(fread(line, 1, 4, f));
	free(more);
	f = freopen("wide", "w+", f);
	SEE(fputws(L"alpha\nbeta\n", f));
	SEE(putwc(L'x', f));
	rewind(f);
	SEEN(fgetws(wide, 256, f));
	SEE(getwc(f));
	flockfile(f);
	funlockfile(f);
	SEE(fclose(f));
	f = popen("exit 3", "r");
	SEE(pclose(f));
}

static void maps(void)
{
	char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	SEE(mprotect(p, 65536, PROT_READ));
	SEE(msync(p, 65536, MS_ASYNC));
	SEE(mlock(p, 65536));
	p = mremap(p, 65536, 131072, MREMAP_MAYMOVE);
	SEE(munmap(p, 131072));
}

static void *serve(void *address)
{
	char byte;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), peer;

	unlink(((struct sockaddr_un *)address)->sun_path);
	bind(fd, address, sizeof(struct sockaddr_un));
	listen(fd, 5);
	syscall(SYS_gettid);
	((char *)address)[sizeof(struct sockaddr_un)] = 1;
	peer = accept(fd, NULL, NULL);
	while (recv(peer, &byte, 1, 0) == 1)
		;
	close(peer);
	close(fd);
	return NULL;
}

static void sockets(void)
{
	static char room[sizeof(struct sockaddr_un) + 1];
	struct sockaddr_un *address = (struct sockaddr_un *)room;
	char bytes[64] = "";
	struct iovec v = {bytes, 1};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct mmsghdr many = {.msg_hdr = m};
	pthread_t thread;
	int fd, p[2];

	*address = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "socket"};
	room[sizeof(*address)] = 0;
	pthread_create(&thread, NULL, serve, room);
	while (!__atomic_load_n(&room[sizeof(*address)], __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	SEE(connect(fd, (struct sockaddr *)address, sizeof(*address)));
	SEE(send(fd, bytes, 1, 0));
	SEE(sendto(fd, bytes, 1, 0, NULL, 0));
	SEE(sendmsg(fd, &m, 0));
	SEE(shutdown(fd, SHUT_WR));
	pthread_join(thread, NULL);
	close(fd);
	SEE(socketpair(AF_UNIX, SOCK_DGRAM, 0, p));
	for (int i = 0; i < 4; i++)
		SEE(sendmmsg(p[0], &many, 1, 0));
	SEE(recv(p[1], bytes, 1, 0));
	SEE(recvfrom(p[1], bytes, 1, 0, NULL, NULL));
	SEE(recvmsg(p[1], &m, 0));
	SEE(recvmmsg(p[1], &many, 1, 0, NULL));
	close(p[0]), close(p[1]);
}

static void *write_late(void *fd)
{
	struct timespec t = {0, 4000000};

	syscall(SYS_nanosleep, &t, NULL);
	return write(*(int *)fd, "x", 1) == 1 ? fd : NULL;
}

static void waits(void)
{
	struct timespec t = {0, 3000000}, left;
	struct timeval tv = {0, 3000};
	struct epoll_event e = {.events = EPOLLIN};
	sigset_t set;
	pthread_t thread;
	char byte;
	int p[2], ep = epoll_create1(0), word = 1;
	struct pollfd pf;

	SEE(pipe(p));
	pf = (struct pollfd){.fd = p[0], .events = POLLIN};
	SEE(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e));
	SEE(poll(&pf, 1, 3));
	SEE(ppoll(&pf, 1, &t, NULL));
	SEE(select(0, NULL, NULL, NULL, &tv));
	SEE(epoll_wait(ep, &e, 1, 3));
	SEE(epoll_pwait(ep, &e, 1, 3, NULL));
	SEE(usleep(3000));
	SEE(nanosleep(&t, &left));
	SEE(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL));
	SEE(syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &t, NULL, 0));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SEE(sigtimedwait(&set, NULL, &t));
	SEE(kill(getpid(), SIGUSR1));
	SEE(sigwaitinfo(&set, NULL));
	SEE(sched_yield());
	pthread_create(&thread, NULL, write_late, &p[1]);
	SEE(read(p[0], &byte, 1));
	SEE(pthread_join(thread, NULL));
	close(p[0]), close(p[1]), close(ep);
}

static struct shared {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	pthread_cond_t cond;
	pthread_barrier_t barrier;
	sem_t semaphore;
	int ready, tried, is_at_rwlock, tid;
} shared;

/* Checked by raw system calls, which are not recorded. */
static int sleeps(int tid)
{
	char path[64], text[512] = "", *state;
	int fd;
	long n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	n = syscall(SYS_read, fd, text, sizeof(text) - 1);
	syscall(SYS_close, fd);
	state = n > 0 ? strrchr(text, ')') : NULL;
	return !state || state[2] == 'S';
}

static void *hold(void *arg)
{
	struct timespec t = {0, 4000000};

	pthread_mutex_lock(&shared.mutex);
	pthread_rwlock_wrlock(&shared.rwlock);
	__atomic_store_n(&shared.ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared.tried, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	syscall(SYS_nanosleep, &t, NULL);
	pthread_mutex_unlock(&shared.mutex);
	/* Ensures that the other thread waits for the lock, even on a busy machine. */
	while (!__atomic_load_n(&shared.is_at_rwlock, __ATOMIC_ACQUIRE) || !sleeps(shared.tid))
		syscall(SYS_nanosleep, &t, NULL);
	pthread_rwlock_unlock(&shared.rwlock);
	t.tv_nsec = 8000000;
	syscall(SYS_nanosleep, &t, NULL);
	sem_post(&shared.semaphore);
	pthread_barrier_wait(&shared.barrier);
	return arg;
}

static void locks(void)
{
	pthread_t thread;
	struct timespec t;

	shared.ready = shared.tried = shared.is_at_rwlock = 0;
	shared.tid = (int)syscall(SYS_gettid);
	pthread_mutex_init(&shared.mutex, NULL);
	pthread_rwlock_init(&shared.rwlock, NULL);
	pthread_spin_init(&shared.spin, 0);
	pthread_cond_init(&shared.cond, NULL);
	pthread_barrier_init(&shared.barrier, NULL, 2);
	sem_init(&shared.semaphore, 0, 0);
	SEE(pthread_create(&thread, NULL, hold, NULL));
	while (!__atomic_load_n(&shared.ready, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	SEE(pthread_mutex_trylock(&shared.mutex));
	SEE(pthread_rwlock_tryrdlock(&shared.rwlock));
	__atomic_store_n(&shared.tried, 1, __ATOMIC_RELEASE);
	SEE(pthread_mutex_lock(&shared.mutex));
	__atomic_store_n(&shared.is_at_rwlock, 1, __ATOMIC_RELEASE);
	SEE(pthread_rwlock_rdlock(&shared.rwlock));
	t = in_ms(CLOCK_REALTIME, 3);
	SEE(pthread_cond_timedwait(&shared.cond, &shared.mutex, &t));
	SEE(pthread_cond_signal(&shared.cond));
	SEE(pthread_cond_broadcast(&shared.cond));
	pthread_mutex_unlock(&shared.mutex);
	pthread_rwlock_unlock(&shared.rwlock);
	t = in_ms(CLOCK_REALTIME, 10000);
	SEE(sem_timedwait(&shared.semaphore, &t));
	SEE(sem_trywait(&shared.semaphore));
	SEEN(pthread_barrier_wait(&shared.barrier) + 2);
	SEE(pthread_join(thread, NULL));
	SEE(pthread_spin_trylock(&shared.spin));
	pthread_spin_unlock(&shared.spin);
}

static void queues(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 64};
	struct {
		long type;
		char text[64];
	} m = {1, "x"};
	struct sembuf one = {0, -1, 0};
	struct timespec t = {0, 3000000}, at;
	char name[64];
	void *p;
	mqd_t q;
	int id;

	snprintf(name, sizeof(name), "/pillion-osrt-%d", getpid());
	q = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	if (q != (mqd_t)-1) {
		SEE(mq_send(q, "x", 1, 0));
		SEE(mq_receive(q, m.text, 64, NULL));
		at = in_ms(CLOCK_REALTIME, 3);
		SEE(mq_timedreceive(q, m.text, 64, NULL, &at));
		mq_close(q);
		mq_unlink(name);
	}
	id = msgget(IPC_PRIVATE, 0600);
	SEE(msgsnd(id, &m, 1, 0));
	SEE(msgrcv(id, &m, 64, 0, 0));
	SEE(msgctl(id, IPC_RMID, NULL));
	id = semget(IPC_PRIVATE, 1, 0600);
	SEE(semtimedop(id, &one, 1, &t));
	one.sem_op = 1;
	SEE(semop(id, &one, 1));
	SEE(semctl(id, 0, IPC_RMID));
	id = shmget(IPC_PRIVATE, 4096, 0600);
	p = shmat(id, NULL, 0);
	SEE(shmdt(p));
	SEE(shmctl(id, IPC_RMID, NULL));
}

static void processes(void)
{
	char *const arguments[] = {"true", NULL};
	pid_t child;
	int status;

	SEEN(child = fork());
	if (!child) {
		struct timespec t = {0, 3000000};

		syscall(SYS_nanosleep, &t, NULL);
		syscall(SYS_exit_group, 5);
	}
	SEEN(waitpid(child, &status, 0) == child);
	SEE(status);
	SEE(posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ));
	SEEN(waitpid(child, &status, 0) == child);
	SEE(system("exit 4"));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		files();
		streams();
		maps();
		sockets();
		waits();
		locks();
		queues();
		processes();
	}
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
