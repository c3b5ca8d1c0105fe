/* SPDX-License-Identifier: Apache-2.0 */
/* The OS runtime's rows of the hook table.
 *
 * X(kind, returns, symbol, parameters, arguments, record)
 *   TIMED  the wrapper is generated: it times the call and records it if it lasts longer than the threshold
 *   TIMEDV likewise, for a function that returns nothing
 *   OWN    the body is wrap_<symbol>() in a wrap_*.c; the exported symbol is generated
 *   NAKED  the exported symbol itself is in a wrap_*.c or .S: variadic functions and those that never return
 *   REAL   not intercepted: only real_<symbol>, for functions that some libcs do not have in a version up to 2.17
 *   RAW    a system call without a function of its own, made by syscall(): only an id and a name
 *   TIMED_AS(name), OWN_AS(name), NAKED_AS(name): a variant that headers substitute (__read_chk), which has the id
 *          of the row `name`
 *   ALIAS_AS(name): the same function as that of the row `name`, as in libc: memray looks whether it is
 * returns: how a call fails: int, ssize_t, void * by returning -1, with errno; error_t by returning the error number;
 *   status_t in another way. The error is recorded. Other types do not tell an error from the end of a file.
 * record: what is recorded in addition to the times, see hook_record.h.
 * The rows of a function's 64-bit and fortified variants are beside it; the program's headers determine which one it
 * calls.
 */
#pragma once

#include "preload/libc/hook_file.h"
#include "preload/libc/hook_stream.h"
#include "preload/libc/hook_wait.h"

#define HOOK_LIBC(X)                                                                                                   \
	HOOK_FILE(X)                                                                                                   \
	HOOK_NAME(X)                                                                                                   \
	HOOK_STREAM(X)                                                                                                 \
	HOOK_FORMAT(X)                                                                                                 \
	HOOK_MEMORY(X)                                                                                                 \
	HOOK_WAIT(X)                                                                                                   \
	/* locks: OWN rows try first and time only calls that block */                                                 \
	X(NAKED, error_t, pthread_mutex_lock, (pthread_mutex_t * m), (m), NOTHING)                                     \
	X(TIMED, error_t, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t),            \
	  LOCKED(m, 0, false))                                                                                         \
	X(NAKED, error_t, pthread_rwlock_rdlock, (pthread_rwlock_t * l), (l), NOTHING)                                 \
	X(NAKED, error_t, pthread_rwlock_wrlock, (pthread_rwlock_t * l), (l), NOTHING)                                 \
	X(TIMED, error_t, pthread_rwlock_timedrdlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t),        \
	  LOCKED(l, 0, true))                                                                                          \
	X(TIMED, error_t, pthread_rwlock_timedwrlock, (pthread_rwlock_t * l, const struct timespec *t), (l, t),        \
	  LOCKED(l, 0, false))                                                                                         \
	X(TIMED, error_t, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t * m), (c, m), CONDITION(c, m))       \
	X(TIMED, error_t, pthread_cond_timedwait, (pthread_cond_t * c, pthread_mutex_t * m, const struct timespec *t), \
	  (c, m, t), CONDITION(c, m))                                                                                  \
	X(TIMED, error_t, pthread_cond_clockwait,                                                                      \
	  (pthread_cond_t * c, pthread_mutex_t * m, clockid_t k, const struct timespec *t), (c, m, k, t),              \
	  CONDITION(c, m))                                                                                             \
	X(OWN, int, sem_wait, (sem_t * s), (s), NOTHING)                                                               \
	X(TIMED, int, sem_timedwait, (sem_t * s, const struct timespec *t), (s, t), SEMAPHORE(s))                      \
	X(TIMED, int, sem_clockwait, (sem_t * s, clockid_t k, const struct timespec *t), (s, k, t), SEMAPHORE(s))      \
	X(TIMED, error_t, pthread_mutex_trylock, (pthread_mutex_t * m), (m), TRIED)                                    \
	X(TIMED, error_t, pthread_rwlock_tryrdlock, (pthread_rwlock_t * l), (l), TRIED)                                \
	X(TIMED, error_t, pthread_rwlock_trywrlock, (pthread_rwlock_t * l), (l), TRIED)                                \
	X(TIMED, int, sem_trywait, (sem_t * s), (s), TAKEN(s))                                                         \
	X(REAL, void, pthread_testcancel, (void), (), NOTHING)                                                         \
	X(TIMED, error_t, pthread_cond_signal, (pthread_cond_t * c), (c), WAKES(c, WAKE_ONE))                          \
	X(TIMED, error_t, pthread_cond_broadcast, (pthread_cond_t * c), (c), WAKES(c, WAKE_ALL))                       \
	X(TIMED, error_t, pthread_barrier_wait, (pthread_barrier_t * b), (b), BARRIER(b))                              \
	X(NAKED, error_t, pthread_spin_lock, (pthread_spinlock_t * l), (l), NOTHING)                                   \
	X(TIMED, error_t, pthread_rwlock_clockrdlock, (pthread_rwlock_t * l, clockid_t k, const struct timespec *t),   \
	  (l, k, t), LOCKED(l, 0, true))                                                                               \
	X(TIMED, error_t, pthread_rwlock_clockwrlock, (pthread_rwlock_t * l, clockid_t k, const struct timespec *t),   \
	  (l, k, t), LOCKED(l, 0, false))                                                                              \
	X(TIMED, error_t, pthread_mutex_clocklock, (pthread_mutex_t * m, clockid_t k, const struct timespec *t),       \
	  (m, k, t), LOCKED(m, 0, false))                                                                              \
	X(TIMED, error_t, pthread_spin_trylock, (pthread_spinlock_t * l), (l), TRIED)                                  \
	/* not recorded: they note who ends a wait, with --wakes (wrap_lock.c) */                                      \
	X(NAKED, error_t, pthread_mutex_unlock, (pthread_mutex_t * m), (m), NOTHING)                                   \
	X(NAKED, error_t, pthread_rwlock_unlock, (pthread_rwlock_t * l), (l), NOTHING)                                 \
	X(NAKED, error_t, pthread_spin_unlock, (pthread_spinlock_t * l), (l), NOTHING)                                 \
	X(NAKED, int, sem_post, (sem_t * s), (s), NOTHING)                                                             \
	/* threads */                                                                                                  \
	X(OWN, error_t, pthread_create, (pthread_t * id, const pthread_attr_t *a, void *(*f)(void *), void *arg),      \
	  (id, a, f, arg), NOTHING)                                                                                    \
	X(TIMED, error_t, pthread_join, (pthread_t id, void **ret), (id, ret), NOTHING)                                \
	X(TIMED, error_t, pthread_timedjoin_np, (pthread_t id, void **ret, const struct timespec *t), (id, ret, t),    \
	  NOTHING)                                                                                                     \
	X(TIMED, error_t, pthread_clockjoin_np, (pthread_t id, void **ret, clockid_t k, const struct timespec *t),     \
	  (id, ret, k, t), NOTHING)                                                                                    \
	X(TIMED, error_t, pthread_tryjoin_np, (pthread_t id, void **ret), (id, ret), NOTHING)                          \
	X(TIMED, error_t, pthread_cancel, (pthread_t id), (id), NOTHING)                                               \
	X(OWN, error_t, pthread_setname_np, (pthread_t id, const char *name), (id, name), NOTHING)                     \
	/* signals: CPU samples use one, which the program sees as unused */                                           \
	X(OWN, int, sigaction, (int signal, const struct sigaction *a, struct sigaction *old), (signal, a, old),       \
	  NOTHING)                                                                                                     \
	X(OWN, sighandler_t, signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)                   \
	X(OWN, sighandler_t, ssignal, (int signal, sighandler_t handler), (signal, handler), NOTHING)                  \
	X(OWN, sighandler_t, bsd_signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)               \
	X(OWN, sighandler_t, sysv_signal, (int signal, sighandler_t handler), (signal, handler), NOTHING)              \
	X(OWN_AS(sysv_signal), sighandler_t, __sysv_signal, (int signal, sighandler_t handler), (signal, handler),     \
	  NOTHING)                                                                                                     \
	X(OWN, sighandler_t, sigset, (int signal, sighandler_t handler), (signal, handler), NOTHING)                   \
	X(OWN, int, sigignore, (int signal), (signal), NOTHING)                                                        \
	X(OWN, int, sigprocmask, (int how, const sigset_t *s, sigset_t *old), (how, s, old), NOTHING)                  \
	X(OWN, error_t, pthread_sigmask, (int how, const sigset_t *s, sigset_t *old), (how, s, old), NOTHING)          \
	X(OWN, int, sighold, (int signal), (signal), NOTHING)                                                          \
	X(OWN, int, sigrelse, (int signal), (signal), NOTHING)                                                         \
	X(OWN, error_t, sigwait, (const sigset_t *s, int *ret), (s, ret), NOTHING)                                     \
	X(OWN, int, sigwaitinfo, (const sigset_t *s, siginfo_t *info), (s, info), NOTHING)                             \
	X(OWN, int, sigtimedwait, (const sigset_t *s, siginfo_t *info, const struct timespec *t), (s, info, t),        \
	  NOTHING)                                                                                                     \
	X(OWN, int, signalfd, (int fd, const sigset_t *s, int flags), (fd, s, flags), NOTHING)                         \
	/* timers on CPU time, with which -s auto takes no samples */                                                  \
	X(OWN, int, setitimer, (enum __itimer_which which, const struct itimerval *t, struct itimerval *old),          \
	  (which, t, old), NOTHING)                                                                                    \
	X(OWN, int, timer_create, (clockid_t clock, struct sigevent * e, timer_t * ret), (clock, e, ret), NOTHING)     \
	/* processes; vfork has no row: it cannot be called from a C frame. Its child is recorded at its exec */       \
	X(OWN, pid_t, fork, (void), (), NOTHING)                                                                       \
	X(OWN, int, daemon, (int keep_directory, int keep_files), (keep_directory, keep_files), NOTHING)               \
	X(OWN, pid_t, wait, (int *status), (status), NOTHING)                                                          \
	X(OWN, pid_t, waitpid, (pid_t pid, int *status, int flags), (pid, status, flags), NOTHING)                     \
	X(OWN, pid_t, wait3, (int *status, int flags, struct rusage *u), (status, flags, u), NOTHING)                  \
	X(OWN, pid_t, wait4, (pid_t pid, int *status, int flags, struct rusage *u), (pid, status, flags, u), NOTHING)  \
	X(OWN, int, waitid, (idtype_t type, id_t id, siginfo_t * info, int flags), (type, id, info, flags), NOTHING)   \
	X(OWN, int, execve, (const char *path, char *const a[], char *const e[]), (path, a, e), NOTHING)               \
	X(OWN, int, execv, (const char *path, char *const a[]), (path, a), NOTHING)                                    \
	X(OWN, int, execvp, (const char *file, char *const a[]), (file, a), NOTHING)                                   \
	X(OWN, int, execvpe, (const char *file, char *const a[], char *const e[]), (file, a, e), NOTHING)              \
	X(OWN, int, fexecve, (int fd, char *const a[], char *const e[]), (fd, a, e), NOTHING)                          \
	X(OWN, int, execveat, (int at, const char *path, char *const a[], char *const e[], int flags),                 \
	  (at, path, a, e, flags), NOTHING)                                                                            \
	X(NAKED, int, execl, (const char *path, const char *a), (path, a), NOTHING)                                    \
	X(NAKED, int, execle, (const char *path, const char *a), (path, a), NOTHING)                                   \
	X(NAKED, int, execlp, (const char *file, const char *a), (file, a), NOTHING)                                   \
	X(OWN, error_t, posix_spawn,                                                                                   \
	  (pid_t * pid, const char *path, const posix_spawn_file_actions_t *f, const posix_spawnattr_t *s,             \
	   char *const a[], char *const e[]),                                                                          \
	  (pid, path, f, s, a, e), NOTHING)                                                                            \
	X(OWN, error_t, posix_spawnp,                                                                                  \
	  (pid_t * pid, const char *file, const posix_spawn_file_actions_t *f, const posix_spawnattr_t *s,             \
	   char *const a[], char *const e[]),                                                                          \
	  (pid, file, f, s, a, e), NOTHING)                                                                            \
	X(OWN, int, forkpty, (int *fd, char *name, const struct termios *t, const struct winsize *w),                  \
	  (fd, name, t, w), NOTHING)                                                                                   \
	X(NAKED, long, ptrace, (enum __ptrace_request request, pid_t pid, void *at, void *data),                       \
	  (request, pid, at, data), NOTHING)                                                                           \
	X(TIMED, int, system, (const char *command), (command), NOTHING)                                               \
	X(TIMED, FILE *, popen, (const char *command, const char *mode), (command, mode), NEW)                         \
	X(TIMED, int, pclose, (FILE * f), (f), CLOSED_STREAM(f))                                                       \
	X(NAKED, void, _exit, (int status), (status), NOTHING)                                                         \
	X(NAKED, void, _Exit, (int status), (status), NOTHING)                                                         \
	X(NAKED, void, quick_exit, (int status), (status), NOTHING)                                                    \
	X(NAKED, void, abort, (void), (), NOTHING)                                                                     \
	X(OWN, status_t, dlclose, (void *handle), (handle), NOTHING)                                                   \
	/* calls after which we may not be able to make system calls or open files */                                  \
	X(OWN, int, chroot, (const char *path), (path), NOTHING)                                                       \
	X(OWN, int, unshare, (int flags), (flags), NOTHING)                                                            \
	X(OWN, int, setns, (int fd, int type), (fd, type), NOTHING)                                                    \
	X(OWN, int, setuid, (uid_t uid), (uid), NOTHING)                                                               \
	X(OWN, int, seteuid, (uid_t uid), (uid), NOTHING)                                                              \
	X(OWN, int, setreuid, (uid_t real, uid_t effective), (real, effective), NOTHING)                               \
	X(OWN, int, setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved), NOTHING)          \
	X(NAKED, int, prctl, (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d),         \
	  (option, a, b, c, d), NOTHING)                                                                               \
	/* made by syscall() only, see wrap_syscall.c */                                                               \
	X(RAW, long, futex, (void), (), NOTHING)                                                                       \
	X(RAW, long, io_uring_enter, (void), (), NOTHING)                                                              \
	X(RAW, long, membarrier, (void), (), NOTHING)                                                                  \
	X(NAKED, long, syscall, (long number), (number), NOTHING)                                                      \
	/* alternate signal stacks, which CPU samples replace by ours in the kernel */                                 \
	X(OWN, int, sigaltstack, (const stack_t *s, stack_t *old), (s, old), NOTHING)                                  \
	X(REAL, void, siglongjmp, (struct __jmp_buf_tag buffer[1], int value), (buffer, value), NOTHING)               \
	X(NAKED_AS(siglongjmp), void, __longjmp_chk, (struct __jmp_buf_tag * buffer, int value), (buffer, value),      \
	  NOTHING)
