/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the OS runtime: waiting, signals, sockets, message queues. hook_libc.h explains a row. */
#pragma once

#define HOOK_WAIT(X)                                                                                                   \
	/* waiting for descriptors; SAMPLE_MASK_WAITING: runtime/recorder/stack/sample_mask.h */                       \
	X(TIMED, int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms), POLLED(n, ms * 1000ll))                 \
	X(TIMED_AS(poll), int, __poll_chk, (struct pollfd * p, nfds_t n, int ms, size_t size), (p, n, ms, size),       \
	  POLLED(n, ms * 1000ll))                                                                                      \
	X(TIMED, int, ppoll, (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s),            \
	  (p, n, t, SAMPLE_MASK_WAITING(s)), POLLED(n, hook_us(t)))                                                    \
	X(TIMED_AS(ppoll), int, __ppoll_chk,                                                                           \
	  (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s, size_t size),                     \
	  (p, n, t, SAMPLE_MASK_WAITING(s), size), POLLED(n, hook_us(t)))                                              \
	X(TIMED, int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t), READY(n))  \
	X(TIMED, int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *s),  \
	  (n, r, w, e, t, SAMPLE_MASK_WAITING(s)), POLLED(n, hook_us(t)))                                              \
	X(TIMED, int, epoll_create, (int size), (size), NEW)                                                           \
	X(TIMED, int, epoll_create1, (int flags), (flags), CREATED(EPOLL, flags))                                      \
	X(TIMED, int, epoll_wait, (int fd, struct epoll_event *v, int n, int ms), (fd, v, n, ms), FD(fd))              \
	X(TIMED, int, epoll_pwait, (int fd, struct epoll_event *v, int n, int ms, const sigset_t *s),                  \
	  (fd, v, n, ms, SAMPLE_MASK_WAITING(s)), FD(fd))                                                              \
	X(TIMED, int, epoll_pwait2,                                                                                    \
	  (int fd, struct epoll_event *v, int n, const struct timespec *t, const sigset_t *s),                         \
	  (fd, v, n, t, SAMPLE_MASK_WAITING(s)), FD(fd))                                                               \
	X(TIMED, int, epoll_ctl, (int fd, int operation, int what, struct epoll_event *v), (fd, operation, what, v),   \
	  FD(fd))                                                                                                      \
	/* timers and changes of files, as descriptors */                                                              \
	X(TIMED, int, timerfd_create, (clockid_t clock, int flags), (clock, flags), CREATED(TIMERFD, flags))           \
	X(TIMED, int, timerfd_settime, (int fd, int flags, const struct itimerspec *t, struct itimerspec *old),        \
	  (fd, flags, t, old), FLAGGED(fd, TIMER, flags))                                                              \
	X(TIMED, int, timerfd_gettime, (int fd, struct itimerspec *t), (fd, t), FD(fd))                                \
	X(TIMED, int, inotify_init, (void), (), NEW)                                                                   \
	X(TIMED, int, inotify_init1, (int flags), (flags), CREATED(INOTIFY, flags))                                    \
	X(TIMED, int, inotify_add_watch, (int fd, const char *path, uint32_t events), (fd, path, events),              \
	  FLAGGED(fd, WATCH, events))                                                                                  \
	X(TIMED, int, inotify_rm_watch, (int fd, int watch), (fd, watch), FD(fd))                                      \
	/* sleeping, and waiting for signals */                                                                        \
	X(TIMED, unsigned, sleep, (unsigned s), (s), TIMEOUT(s * 1000000ll))                                           \
	X(TIMED, int, usleep, (useconds_t us), (us), TIMEOUT(us))                                                      \
	X(TIMED, int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left), NOTHING)                \
	X(TIMED, error_t, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *left),  \
	  (c, flags, t, left), NOTHING)                                                                                \
	X(TIMED, int, sched_yield, (void), (), TRIED)                                                                  \
	X(TIMED, int, pause, (void), (), NOTHING)                                                                      \
	X(TIMED, int, sigsuspend, (const sigset_t *s), (SAMPLE_MASK_WAITING(s)), NOTHING)                              \
	X(TIMED, unsigned, alarm, (unsigned s), (s), NOTHING)                                                          \
	X(TIMED, int, kill, (pid_t pid, int signal), (pid, signal), VALUE(signal))                                     \
	X(TIMED, int, killpg, (pid_t group, int signal), (group, signal), VALUE(signal))                               \
	X(TIMED, int, tgkill, (pid_t group, pid_t tid, int signal), (group, tid, signal), VALUE(signal))               \
	X(TIMED, error_t, pthread_kill, (pthread_t id, int signal), (id, signal), VALUE(signal))                       \
	/* sockets */                                                                                                  \
	X(TIMED, int, socket, (int family, int type, int protocol), (family, type, protocol), NEW)                     \
	X(TIMED, int, socketpair, (int family, int type, int protocol, int p[2]), (family, type, protocol, p),         \
	  PAIR(p))                                                                                                     \
	X(TIMED, int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), CHANGED(fd))                  \
	X(TIMED, int, listen, (int fd, int n), (fd, n), CHANGED(fd))                                                   \
	X(TIMED, int, shutdown, (int fd, int how), (fd, how), FD(fd))                                                  \
	X(TIMED, int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), CONNECTED(fd, a, n))       \
	X(TIMED, int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), ACCEPTED(fd))                    \
	X(TIMED, int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags), ACCEPTED(fd)) \
	X(TIMED, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), FD(fd))               \
	X(TIMED, ssize_t, sendto, (int fd, const void *p, size_t n, int flags, const struct sockaddr *a, socklen_t l), \
	  (fd, p, n, flags, a, l), FD(fd))                                                                             \
	X(TIMED, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), FD(fd))                \
	X(TIMED, int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags),                 \
	  MESSAGES(fd, m, inner_write))                                                                                \
	X(TIMED, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), FD(fd))                     \
	X(TIMED_AS(recv), ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t size, int flags),                    \
	  (fd, p, n, size, flags),                                                                                     \
	  FD(fd))                                                                                                      \
	X(TIMED, ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *a, socklen_t *l),          \
	  (fd, p, n, flags, a, l), FD(fd))                                                                             \
	X(TIMED_AS(recvfrom), ssize_t, __recvfrom_chk,                                                                 \
	  (int fd, void *p, size_t n, size_t size, int flags, struct sockaddr *a, socklen_t *l),                       \
	  (fd, p, n, size, flags, a, l), FD(fd))                                                                       \
	X(TIMED, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), FD(fd))                      \
	X(TIMED, int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),                \
	  (fd, m, n, flags, t), MESSAGES(fd, m, inner_read))                                                           \
	/* names of hosts */                                                                                           \
	X(TIMED, status_t, getaddrinfo,                                                                                \
	  (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret),                \
	  (name, service, hints, ret), NOTHING)                                                                        \
	X(TIMED, status_t, getnameinfo,                                                                                \
	  (const struct sockaddr *a, socklen_t n, char *host, socklen_t host_size, char *service,                      \
	   socklen_t service_size, int flags),                                                                         \
	  (a, n, host, host_size, service, service_size, flags), NOTHING)                                              \
	X(TIMED, struct hostent *, gethostbyname, (const char *name), (name), NOTHING)                                 \
	X(TIMED, struct hostent *, gethostbyname2, (const char *name, int family), (name, family), NOTHING)            \
	X(TIMED, struct hostent *, gethostbyaddr, (const void *a, socklen_t n, int family), (a, n, family), NOTHING)   \
	X(TIMED, error_t, gethostbyname_r,                                                                             \
	  (const char *name, struct hostent *h, char *p, size_t n, struct hostent **ret, int *ret_error),              \
	  (name, h, p, n, ret, ret_error), NOTHING)                                                                    \
	X(TIMED, error_t, gethostbyname2_r,                                                                            \
	  (const char *name, int family, struct hostent *h, char *p, size_t n, struct hostent **ret, int *ret_error),  \
	  (name, family, h, p, n, ret, ret_error), NOTHING)                                                            \
	/* message queues, semaphores and shared memory */                                                             \
	X(NAKED, mqd_t, mq_open, (const char *name, int flags, mode_t mode, struct mq_attr *a),                        \
	  (name, flags, mode, a), NEW)                                                                                 \
	X(TIMED, int, mq_close, (mqd_t q), (q), CLOSED(q))                                                             \
	X(TIMED, int, mq_notify, (mqd_t q, const struct sigevent *e), (q, e), FD(q))                                   \
	X(TIMED, int, mq_send, (mqd_t q, const char *p, size_t n, unsigned priority), (q, p, n, priority), FD(q))      \
	X(TIMED, int, mq_timedsend, (mqd_t q, const char *p, size_t n, unsigned priority, const struct timespec *t),   \
	  (q, p, n, priority, t), FD(q))                                                                               \
	X(TIMED, ssize_t, mq_receive, (mqd_t q, char *p, size_t n, unsigned *priority), (q, p, n, priority), FD(q))    \
	X(TIMED, ssize_t, mq_timedreceive, (mqd_t q, char *p, size_t n, unsigned *priority, const struct timespec *t), \
	  (q, p, n, priority, t), FD(q))                                                                               \
	X(TIMED, int, msgget, (key_t key, int flags), (key, flags), NOTHING)                                           \
	X(TIMED, int, msgctl, (int id, int command, struct msqid_ds *m), (id, command, m), NOTHING)                    \
	X(TIMED, int, msgsnd, (int id, const void *p, size_t n, int flags), (id, p, n, flags), BYTES(n))               \
	X(TIMED, ssize_t, msgrcv, (int id, void *p, size_t n, long type, int flags), (id, p, n, type, flags),          \
	  BYTES(result < 0 ? 0 : result))                                                                              \
	X(TIMED, int, semget, (key_t key, int n, int flags), (key, n, flags), NOTHING)                                 \
	X(NAKED, int, semctl, (int id, int number, int command, void *argument), (id, number, command, argument),      \
	  NOTHING)                                                                                                     \
	X(TIMED, int, semop, (int id, struct sembuf *s, size_t n), (id, s, n), NOTHING)                                \
	X(TIMED, int, semtimedop, (int id, struct sembuf *s, size_t n, const struct timespec *t), (id, s, n, t),       \
	  TIMEOUT(hook_us(t)))                                                                                         \
	X(TIMED, int, shmget, (key_t key, size_t n, int flags), (key, n, flags), BYTES(n))                             \
	X(TIMED, void *, shmat, (int id, const void *at, int flags), (id, at, flags), NOTHING)                         \
	X(TIMED, int, shmdt, (const void *at), (at), NOTHING)                                                          \
	X(TIMED, int, shmctl, (int id, int command, struct shmid_ds *s), (id, command, s), NOTHING)
