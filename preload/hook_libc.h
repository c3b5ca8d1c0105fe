/* SPDX-License-Identifier: Apache-2.0 */
/* The OS runtime's rows of the hook table.
 *
 * X(kind, returns, symbol, parameters, arguments, record)
 *   TIMED  the wrapper is generated: forward if not wanted, else time the call, record what outlasted the threshold
 *   OWN    the body is wrap_<symbol>() in a wrap_*.c; the exported symbol is generated
 *   NAKED  the exported symbol itself stands in a wrap_*.c or .S: variadic functions and those that never return
 *   REAL   not intercepted: just real_<symbol>, for functions that not every libc has under a version of 2.17
 * record: what a row keeps beside the times, see hook.h. A fortified twin (__read_chk) is reported under its plain name.
 * Rows of one function stand together with its 64-bit and fortified twins; glibc alone knows which one a program got. */
#ifndef PILLION_HOOK_LIBC_H
#define PILLION_HOOK_LIBC_H

#define HOOK_LIBC(X)                                                                                                   \
	/* files */                                                                                                    \
	X(TIMED, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), FD(fd))                                       \
	X(TIMED, ssize_t, __read_chk, (int fd, void *p, size_t n, size_t size), (fd, p, n, size), FD(fd))              \
	X(TIMED, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), FD(fd))                                \
	X(TIMED, ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), FD(fd))                        \
	X(TIMED, ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), FD(fd))                    \
	X(TIMED, ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t size), (fd, p, n, at, size), FD(fd)) \
	X(TIMED, ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t size), (fd, p, n, at, size), FD(fd)) \
	X(TIMED, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), FD(fd))                 \
	X(TIMED, ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), FD(fd))             \
	X(TIMED, ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), FD(fd))                           \
	X(TIMED, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), FD(fd))                          \
	X(TIMED, ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), FD(fd))            \
	X(TIMED, ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), FD(fd))        \
	X(TIMED, ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), FD(fd))           \
	X(TIMED, ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), FD(fd))       \
	X(NAKED, int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), FD(-1))                   \
	X(NAKED, int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), FD(-1))                 \
	X(TIMED, int, __open_2, (const char *path, int flags), (path, flags), FD(-1))                                  \
	X(TIMED, int, __open64_2, (const char *path, int flags), (path, flags), FD(-1))                                \
	X(NAKED, int, openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), FD(at))     \
	X(NAKED, int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), FD(at))   \
	X(TIMED, int, __openat_2, (int at, const char *path, int flags), (at, path, flags), FD(at))                    \
	X(TIMED, int, __openat64_2, (int at, const char *path, int flags), (at, path, flags), FD(at))                  \
	X(TIMED, int, creat, (const char *path, mode_t mode), (path, mode), FD(-1))                                    \
	X(TIMED, int, creat64, (const char *path, mode_t mode), (path, mode), FD(-1))                                  \
	X(TIMED, int, close, (int fd), (fd), FD(fd))                                                                   \
	X(TIMED, int, fsync, (int fd), (fd), FD(fd))                                                                   \
	X(TIMED, int, fdatasync, (int fd), (fd), FD(fd))                                                               \
	X(NAKED, int, ioctl, (int fd, unsigned long request, void *argument), (fd, request, argument), FD(fd))         \
	/* standard streams */                                                                                         \
	X(TIMED, FILE *, fopen, (const char *path, const char *mode), (path, mode), NOTHING)                           \
	X(TIMED, FILE *, fopen64, (const char *path, const char *mode), (path, mode), NOTHING)                         \
	X(TIMED, size_t, fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), BYTES(size * result))      \
	X(TIMED, size_t, __fread_chk, (void *p, size_t room, size_t size, size_t n, FILE *f), (p, room, size, n, f), BYTES(size * result)) \
	X(TIMED, size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), BYTES(size * result)) \
	X(TIMED, int, fflush, (FILE * f), (f), NOTHING)                                                                \
	X(TIMED, int, fclose, (FILE * f), (f), NOTHING)                                                                \
	/* waiting for descriptors */                                                                                  \
	X(TIMED, int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms), NOTHING)                                \
	X(TIMED, int, __poll_chk, (struct pollfd * p, nfds_t n, int ms, size_t size), (p, n, ms, size), NOTHING)       \
	X(TIMED, int, ppoll, (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s), (p, n, t, s), NOTHING) \
	X(TIMED, int, __ppoll_chk, (struct pollfd * p, nfds_t n, const struct timespec *t, const sigset_t *s, size_t size), (p, n, t, s, size), NOTHING) \
	X(TIMED, int, select, (int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *t), (n, r, w, e, t), NOTHING)   \
	X(TIMED, int, pselect, (int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *t, const sigset_t *s), (n, r, w, e, t, s), NOTHING) \
	X(TIMED, int, epoll_wait, (int fd, struct epoll_event *v, int n, int ms), (fd, v, n, ms), FD(fd))              \
	X(TIMED, int, epoll_pwait, (int fd, struct epoll_event *v, int n, int ms, const sigset_t *s), (fd, v, n, ms, s), FD(fd)) \
	/* sleeping */                                                                                                 \
	X(TIMED, unsigned, sleep, (unsigned s), (s), NOTHING)                                                          \
	X(TIMED, int, usleep, (useconds_t us), (us), NOTHING)                                                          \
	X(TIMED, int, nanosleep, (const struct timespec *t, struct timespec *left), (t, left), NOTHING)                \
	X(TIMED, int, clock_nanosleep, (clockid_t c, int flags, const struct timespec *t, struct timespec *left), (c, flags, t, left), NOTHING) \
	/* sockets */                                                                                                  \
	X(TIMED, int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), FD(fd))                    \
	X(TIMED, int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), FD(fd))                          \
	X(TIMED, int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), (fd, a, n, flags), FD(fd))       \
	X(TIMED, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), FD(fd))               \
	X(TIMED, ssize_t, sendto, (int fd, const void *p, size_t n, int flags, const struct sockaddr *a, socklen_t l), (fd, p, n, flags, a, l), FD(fd)) \
	X(TIMED, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), FD(fd))                \
	X(TIMED, int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags), FD(fd))         \
	X(TIMED, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), FD(fd))                     \
	X(TIMED, ssize_t, __recv_chk, (int fd, void *p, size_t n, size_t size, int flags), (fd, p, n, size, flags), FD(fd)) \
	X(TIMED, ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, struct sockaddr *a, socklen_t *l), (fd, p, n, flags, a, l), FD(fd)) \
	X(TIMED, ssize_t, __recvfrom_chk, (int fd, void *p, size_t n, size_t size, int flags, struct sockaddr *a, socklen_t *l), (fd, p, n, size, flags, a, l), FD(fd)) \
	X(TIMED, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), FD(fd))                      \
	X(TIMED, int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t), (fd, m, n, flags, t), FD(fd)) \
	/* memory mappings */                                                                                          \
	X(TIMED, void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t from), (at, n, protection, flags, fd, from), MEMORY(n)) \
	X(TIMED, void *, mmap64, (void *at, size_t n, int protection, int flags, int fd, off64_t from), (at, n, protection, flags, fd, from), MEMORY(n)) \
	X(TIMED, int, munmap, (void *at, size_t n), (at, n), MEMORY(n))                                                 \
	/* locks: OWN ones try first and time only what blocks */                                                      \
	X(OWN, int, pthread_mutex_lock, (pthread_mutex_t * m), (m), NOTHING)                                           \
	X(TIMED, int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t), NOTHING)       \
	X(OWN, int, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), NOTHING)                                       \
	X(OWN, int, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), NOTHING)                                       \
	X(TIMED, int, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t), NOTHING)   \
	X(TIMED, int, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t), NOTHING)   \
	X(TIMED, int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m), NOTHING)                    \
	X(TIMED, int, pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *t), (c, m, t), NOTHING) \
	X(TIMED, int, pthread_cond_clockwait, (pthread_cond_t * c, pthread_mutex_t *m, clockid_t k, const struct timespec *t), (c, m, k, t), NOTHING) \
	X(OWN, int, sem_wait, (sem_t * s), (s), NOTHING)                                                               \
	X(TIMED, int, sem_timedwait, (sem_t * s, const struct timespec *t), (s, t), NOTHING)                           \
	X(TIMED, int, sem_clockwait, (sem_t * s, clockid_t k, const struct timespec *t), (s, k, t), NOTHING)           \
	X(REAL, int, pthread_mutex_trylock, (pthread_mutex_t * m), (m), NOTHING)                                       \
	X(REAL, int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), NOTHING)                                   \
	X(REAL, int, pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), NOTHING)                                   \
	X(REAL, int, sem_trywait, (sem_t * s), (s), NOTHING)                                                           \
	X(REAL, void, pthread_testcancel, (void), (), NOTHING)                                                         \
	/* threads */                                                                                                  \
	X(OWN, int, pthread_create, (pthread_t * id, const pthread_attr_t *a, void *(*f)(void *), void *arg), (id, a, f, arg), NOTHING) \
	X(TIMED, int, pthread_join, (pthread_t id, void **ret), (id, ret), NOTHING)                                    \
	X(OWN, int, pthread_setname_np, (pthread_t id, const char *name), (id, name), NOTHING)                         \
	/* signals: CPU samples use one, the program sees it as free. What comes back is real for all others */         \
	X(OWN, int, sigaction, (int signal, const struct sigaction *a, struct sigaction *old), (signal, a, old), NOTHING) \
	X(OWN, sighandler_t, signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)            \
	X(OWN, sighandler_t, ssignal, (int signal, sighandler_t handler), (signal, handler), NOTHING)           \
	X(OWN, sighandler_t, bsd_signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)        \
	X(OWN, sighandler_t, sysv_signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)       \
	X(OWN, sighandler_t, __sysv_signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)     \
	X(OWN, sighandler_t, sigset, (int signal, sighandler_t handler), (signal, handler), NOTHING)            \
	X(OWN, int, sigignore, (int signal), (signal), NOTHING)                                                 \
	X(OWN, int, sigprocmask, (int how, const sigset_t *s, sigset_t *old), (how, s, old), NOTHING)           \
	X(OWN, int, pthread_sigmask, (int how, const sigset_t *s, sigset_t *old), (how, s, old), NOTHING)       \
	X(OWN, int, sigwait, (const sigset_t *s, int *ret), (s, ret), NOTHING)                                  \
	X(OWN, int, sigwaitinfo, (const sigset_t *s, siginfo_t *info), (s, info), NOTHING)                      \
	X(OWN, int, sigtimedwait, (const sigset_t *s, siginfo_t *info, const struct timespec *t), (s, info, t), NOTHING) \
	X(OWN, int, signalfd, (int fd, const sigset_t *s, int flags), (fd, s, flags), NOTHING)                  \
	/* processes; vfork has no row: a C frame cannot return twice from it. The child is met at its exec */         \
	X(OWN, pid_t, fork, (void), (), NOTHING)                                                                       \
	X(OWN, int, daemon, (int keep_directory, int keep_files), (keep_directory, keep_files), NOTHING)               \
	X(OWN, pid_t, wait, (int *status), (status), NOTHING)                                                          \
	X(OWN, pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), NOTHING)                     \
	X(OWN, pid_t, wait3, (int *status, int flags, struct rusage *u), (status, flags, u), NOTHING)                  \
	X(OWN, pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *u), (pid, status, flags, u), NOTHING)  \
	X(OWN, int, waitid, (idtype_t type, id_t id, siginfo_t *info, int flags), (type, id, info, flags), NOTHING)    \
	X(OWN, int, execve, (const char *path, char *const a[], char *const e[]), (path, a, e), NOTHING)               \
	X(OWN, int, execv, (const char *path, char *const a[]), (path, a), NOTHING)                                    \
	X(OWN, int, execvp, (const char *file, char *const a[]), (file, a), NOTHING)                                   \
	X(OWN, int, execvpe, (const char *file, char *const a[], char *const e[]), (file, a, e), NOTHING)              \
	X(OWN, int, fexecve, (int fd, char *const a[], char *const e[]), (fd, a, e), NOTHING)                          \
	X(OWN, int, execveat, (int at, const char *path, char *const a[], char *const e[], int flags), (at, path, a, e, flags), NOTHING) \
	X(NAKED, int, execl, (const char *path, const char *a), (path, a), NOTHING)                                    \
	X(NAKED, int, execle, (const char *path, const char *a), (path, a), NOTHING)                                   \
	X(NAKED, int, execlp, (const char *file, const char *a), (file, a), NOTHING)                                   \
	X(OWN, int, posix_spawn, (pid_t * pid, const char *path, const posix_spawn_file_actions_t *f, const posix_spawnattr_t *s, char *const a[], char *const e[]), (pid, path, f, s, a, e), NOTHING) \
	X(OWN, int, posix_spawnp, (pid_t * pid, const char *file, const posix_spawn_file_actions_t *f, const posix_spawnattr_t *s, char *const a[], char *const e[]), (pid, file, f, s, a, e), NOTHING) \
	X(TIMED, int, system, (const char *command), (command), NOTHING)                                               \
	X(TIMED, FILE *, popen, (const char *command, const char *mode), (command, mode), NOTHING)                     \
	X(TIMED, int, pclose, (FILE * f), (f), NOTHING)                                                                \
	X(NAKED, void, _exit, (int status), (status), NOTHING)                                                           \
	X(NAKED, void, _Exit, (int status), (status), NOTHING)                                                           \
	X(NAKED, void, quick_exit, (int status), (status), NOTHING)                                                      \
	X(NAKED, void, abort, (void), (), NOTHING)                                                                       \
	X(OWN, int, dlclose, (void *handle), (handle), NOTHING)                                                        \
	/* what takes system calls or files away from us */                                                            \
	X(OWN, int, chroot, (const char *path), (path), NOTHING)                                                       \
	X(OWN, int, unshare, (int flags), (flags), NOTHING)                                                            \
	X(OWN, int, setns, (int fd, int type), (fd, type), NOTHING)                                                    \
	X(OWN, int, setuid, (uid_t uid), (uid), NOTHING)                                                               \
	X(OWN, int, seteuid, (uid_t uid), (uid), NOTHING)                                                              \
	X(OWN, int, setreuid, (uid_t real, uid_t effective), (real, effective), NOTHING)                               \
	X(OWN, int, setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved), NOTHING)          \
	X(NAKED, int, prctl, (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d), (option, a, b, c, d), NOTHING) \
	X(NAKED, long, syscall, (long number), (number), NOTHING)                                                      \
	X(OWN, int, sigaltstack, (const stack_t *s, stack_t *old), (s, old), NOTHING)

#endif
