/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the OS runtime: files, directories, mappings. hook_libc.h explains a row. */
#pragma once

#define HOOK_FILE(X)                                                                                                   \
	/* files */                                                                                                    \
	X(TIMED, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), FD(fd))                                       \
	X(TIMED_AS(read), ssize_t, __read_chk, (int fd, void *p, size_t n, size_t size), (fd, p, n, size), FD(fd))     \
	X(TIMED, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), TEXT(fd, p, n))                        \
	X(TIMED, ssize_t, pread, (int fd, void *p, size_t n, off_t at), (fd, p, n, at), FD(fd))                        \
	X(TIMED_AS(pread), ssize_t, __pread_chk, (int fd, void *p, size_t n, off_t at, size_t size),                   \
	  (fd, p, n, at, size),                                                                                        \
	  FD(fd))                                                                                                      \
	X(TIMED, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), FD(fd))                 \
	X(TIMED, ssize_t, pread64, (int fd, void *p, size_t n, off64_t at), (fd, p, n, at), FD(fd))                    \
	X(TIMED_AS(pread64), ssize_t, __pread64_chk, (int fd, void *p, size_t n, off64_t at, size_t size),             \
	  (fd, p, n, at, size),                                                                                        \
	  FD(fd))                                                                                                      \
	X(TIMED, ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), FD(fd))             \
	X(TIMED, ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), FD(fd))                           \
	X(TIMED, ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), FD(fd))            \
	X(TIMED, ssize_t, preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags), (fd, v, n, at, flags), \
	  FD(fd))                                                                                                      \
	X(TIMED, ssize_t, preadv64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), FD(fd))        \
	X(TIMED, ssize_t, preadv64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),                   \
	  (fd, v, n, at, flags), FD(fd))                                                                               \
	X(TIMED, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), FD(fd))                          \
	X(TIMED, ssize_t, pwritev, (int fd, const struct iovec *v, int n, off_t at), (fd, v, n, at), FD(fd))           \
	X(TIMED, ssize_t, pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags),                       \
	  (fd, v, n, at, flags), FD(fd))                                                                               \
	X(TIMED, ssize_t, pwritev64, (int fd, const struct iovec *v, int n, off64_t at), (fd, v, n, at), FD(fd))       \
	X(TIMED, ssize_t, pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags),                  \
	  (fd, v, n, at, flags), FD(fd))                                                                               \
	X(NAKED, int, open, (const char *path, int flags, mode_t mode), (path, flags, mode), OPENED(path, flags))      \
	X(TIMED_AS(open), int, __open_2, (const char *path, int flags), (path, flags), OPENED(path, flags))            \
	X(NAKED, int, openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode),             \
	  OPENED(path, flags))                                                                                         \
	X(TIMED_AS(openat), int, __openat_2, (int at, const char *path, int flags), (at, path, flags),                 \
	  OPENED(path, flags))                                                                                         \
	X(TIMED, int, creat, (const char *path, mode_t mode), (path, mode), OPENED(path, O_TRUNC))                     \
	X(TIMED, int, mkstemp, (char *path), (path), OPENED(path, 0))                                                  \
	X(TIMED, int, mkostemp, (char *path, int flags), (path, flags), OPENED(path, flags))                           \
	X(TIMED, int, mkstemps, (char *path, int tail), (path, tail), OPENED(path, 0))                                 \
	X(TIMED, int, mkostemps, (char *path, int tail, int flags), (path, tail, flags), OPENED(path, flags))          \
	X(NAKED, int, open64, (const char *path, int flags, mode_t mode), (path, flags, mode), OPENED(path, flags))    \
	X(TIMED_AS(open64), int, __open64_2, (const char *path, int flags), (path, flags), OPENED(path, flags))        \
	X(NAKED, int, openat64, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode),           \
	  OPENED(path, flags))                                                                                         \
	X(TIMED_AS(openat64), int, __openat64_2, (int at, const char *path, int flags), (at, path, flags),             \
	  OPENED(path, flags))                                                                                         \
	X(TIMED, int, creat64, (const char *path, mode_t mode), (path, mode), OPENED(path, O_TRUNC))                   \
	X(TIMED, int, mkstemp64, (char *path), (path), OPENED(path, 0))                                                \
	X(TIMED, int, mkostemp64, (char *path, int flags), (path, flags), OPENED(path, flags))                         \
	X(TIMED, int, mkstemps64, (char *path, int tail), (path, tail), OPENED(path, 0))                               \
	X(TIMED, int, mkostemps64, (char *path, int tail, int flags), (path, tail, flags), OPENED(path, flags))        \
	X(TIMED, int, memfd_create, (const char *name, unsigned flags), (name, flags), NEW)                            \
	X(TIMED, int, close, (int fd), (fd), CLOSED(fd))                                                               \
	X(OWN, int, close_range, (unsigned first, unsigned last, int flags), (first, last, flags), NOTHING)            \
	X(OWN, void, closefrom, (int first), (first), NOTHING)                                                         \
	X(TIMED, int, dup, (int fd), (fd), NEW)                                                                        \
	X(TIMED, int, dup2, (int fd, int to), (fd, to), NEW)                                                           \
	X(TIMED, int, dup3, (int fd, int to, int flags), (fd, to, flags), NEW)                                         \
	X(NAKED, int, fcntl, (int fd, int command, void *argument), (fd, command, argument), FD(fd))                   \
	X(NAKED, int, fcntl64, (int fd, int command, void *argument), (fd, command, argument), FD(fd))                 \
	X(NAKED, int, ioctl, (int fd, unsigned long request, void *argument), (fd, request, argument), FD(fd))         \
	X(TIMED, int, fsync, (int fd), (fd), FD(fd))                                                                   \
	X(TIMED, int, fdatasync, (int fd), (fd), FD(fd))                                                               \
	X(TIMED, int, syncfs, (int fd), (fd), FD(fd))                                                                  \
	X(TIMEDV, void, sync, (void), (), NOTHING)                                                                     \
	X(TIMED, int, sync_file_range, (int fd, off64_t at, off64_t n, unsigned flags), (fd, at, n, flags), FD(fd))    \
	X(TIMED, ssize_t, readahead, (int fd, off64_t at, size_t n), (fd, at, n), FD(fd))                              \
	X(TIMED, int, flock, (int fd, int operation), (fd, operation), FD(fd))                                         \
	X(TIMED, int, lockf, (int fd, int command, off_t n), (fd, command, n), FD(fd))                                 \
	X(TIMED, int, truncate, (const char *path, off_t n), (path, n), CHANGE(AT_FDCWD, path))                        \
	X(TIMED, int, ftruncate, (int fd, off_t n), (fd, n), FD(fd))                                                   \
	X(TIMED, int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n), FD(fd))                     \
	X(TIMED, error_t, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), FD(fd))                           \
	X(TIMED, error_t, posix_fadvise, (int fd, off_t at, off_t n, int advice), (fd, at, n, advice), FD(fd))         \
	X(TIMED, ssize_t, sendfile, (int to, int from, off_t *at, size_t n), (to, from, at, n),                        \
	  COPIED(to, from, inner_read))                                                                                \
	X(TIMED, int, lockf64, (int fd, int command, off64_t n), (fd, command, n), FD(fd))                             \
	X(TIMED, int, truncate64, (const char *path, off64_t n), (path, n), CHANGE(AT_FDCWD, path))                    \
	X(TIMED, int, ftruncate64, (int fd, off64_t n), (fd, n), FD(fd))                                               \
	X(TIMED, int, fallocate64, (int fd, int mode, off64_t at, off64_t n), (fd, mode, at, n), FD(fd))               \
	X(TIMED, error_t, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n), FD(fd))                     \
	X(TIMED, error_t, posix_fadvise64, (int fd, off64_t at, off64_t n, int advice), (fd, at, n, advice), FD(fd))   \
	X(TIMED, ssize_t, sendfile64, (int to, int from, off64_t *at, size_t n), (to, from, at, n),                    \
	  COPIED(to, from, inner_read))                                                                                \
	X(TIMED, ssize_t, copy_file_range, (int from, off64_t *at, int to, off64_t *to_at, size_t n, unsigned flags),  \
	  (from, at, to, to_at, n, flags), COPIED(to, from, inner_read))                                               \
	X(TIMED, ssize_t, splice, (int from, off64_t *at, int to, off64_t *to_at, size_t n, unsigned flags),           \
	  (from, at, to, to_at, n, flags), COPIED(to, from, inner_spliced))                                            \
	X(TIMED, ssize_t, tee, (int from, int to, size_t n, unsigned flags), (from, to, n, flags),                     \
	  COPIED(to, from, inner_spliced))                                                                             \
	X(TIMED, ssize_t, vmsplice, (int fd, const struct iovec *v, size_t n, unsigned flags), (fd, v, n, flags),      \
	  FD(fd))                                                                                                      \
	X(TIMED, int, pipe, (int p[2]), (p), PAIR(p))                                                                  \
	X(TIMED, int, pipe2, (int p[2], int flags), (p, flags), PAIR(p))                                               \
	X(TIMED, int, eventfd, (unsigned value, int flags), (value, flags), CREATED(EVENTFD, flags))                   \
	X(TIMED, int, eventfd_read, (int fd, eventfd_t *value), (fd, value), FD(fd))                                   \
	X(TIMED, int, eventfd_write, (int fd, eventfd_t value), (fd, value), FD(fd))                                   \
	X(TIMED, int, aio_read, (struct aiocb * a), (a), QUEUED(a))                                                    \
	X(TIMED, int, aio_write, (struct aiocb * a), (a), QUEUED(a))                                                   \
	X(TIMED, int, aio_fsync, (int flags, struct aiocb *a), (flags, a), NOTHING)                                    \
	X(TIMED, int, aio_suspend, (const struct aiocb *const a[], int n, const struct timespec *t), (a, n, t),        \
	  TIMEOUT(hook_us(t)))                                                                                         \
	X(TIMED, int, lio_listio, (int mode, struct aiocb *const a[], int n, struct sigevent *e), (mode, a, n, e),     \
	  LISTED((struct aiocb *const *)a, mode == LIO_WAIT || mode == LIO_NOWAIT ? n : 0))			       \
	X(TIMED_AS(aio_read), int, aio_read64, (struct aiocb64 * a), (a), QUEUED(a))                                   \
	X(TIMED_AS(aio_write), int, aio_write64, (struct aiocb64 * a), (a), QUEUED(a))                                 \
	X(TIMED_AS(aio_fsync), int, aio_fsync64, (int flags, struct aiocb64 *a), (flags, a), NOTHING)                  \
	X(TIMED, int, aio_suspend64, (const struct aiocb64 *const a[], int n, const struct timespec *t), (a, n, t),    \
	  TIMEOUT(hook_us(t)))                                                                                         \
	X(TIMED, int, lio_listio64, (int mode, struct aiocb64 *const a[], int n, struct sigevent *e), (mode, a, n, e), \
	  LISTED((struct aiocb *const *)a, mode == LIO_WAIT || mode == LIO_NOWAIT ? n : 0))

#define HOOK_NAME(X)                                                                                                   \
	/* names of files */                                                                                           \
	X(TIMED, int, stat, (const char *path, struct stat *s), (path, s), PATH(AT_FDCWD, path))                       \
	X(TIMED, int, lstat, (const char *path, struct stat *s), (path, s), PATH(AT_FDCWD, path))                      \
	X(TIMED, int, fstat, (int fd, struct stat *s), (fd, s), FD(fd))                                                \
	X(TIMED, int, fstatat, (int at, const char *path, struct stat *s, int flags), (at, path, s, flags),            \
	  PATH(at, path))                                                                                              \
	X(TIMED_AS(stat), int, __xstat, (int version, const char *path, struct stat *s), (version, path, s),           \
	  PATH(AT_FDCWD, path))                                                                                        \
	X(TIMED_AS(lstat), int, __lxstat, (int version, const char *path, struct stat *s), (version, path, s),         \
	  PATH(AT_FDCWD, path))                                                                                        \
	X(TIMED_AS(fstat), int, __fxstat, (int version, int fd, struct stat *s), (version, fd, s), FD(fd))             \
	X(TIMED_AS(fstatat), int, __fxstatat, (int version, int at, const char *path, struct stat *s, int flags),      \
	  (version, at, path, s, flags), PATH(at, path))                                                               \
	X(TIMED, int, statfs, (const char *path, struct statfs *s), (path, s), PATH(AT_FDCWD, path))                   \
	X(TIMED, int, fstatfs, (int fd, struct statfs *s), (fd, s), FD(fd))                                            \
	X(TIMED, int, stat64, (const char *path, struct stat64 *s), (path, s), PATH(AT_FDCWD, path))                   \
	X(TIMED, int, lstat64, (const char *path, struct stat64 *s), (path, s), PATH(AT_FDCWD, path))                  \
	X(TIMED, int, fstat64, (int fd, struct stat64 *s), (fd, s), FD(fd))                                            \
	X(TIMED, int, fstatat64, (int at, const char *path, struct stat64 *s, int flags), (at, path, s, flags),        \
	  PATH(at, path))                                                                                              \
	X(TIMED_AS(stat64), int, __xstat64, (int version, const char *path, struct stat64 *s), (version, path, s),     \
	  PATH(AT_FDCWD, path))                                                                                        \
	X(TIMED_AS(lstat64), int, __lxstat64, (int version, const char *path, struct stat64 *s), (version, path, s),   \
	  PATH(AT_FDCWD, path))                                                                                        \
	X(TIMED_AS(fstat64), int, __fxstat64, (int version, int fd, struct stat64 *s), (version, fd, s), FD(fd))       \
	X(TIMED_AS(fstatat64), int, __fxstatat64,                                                                      \
	  (int version, int at, const char *path, struct stat64 *s, int flags),                                        \
	  (version, at, path, s, flags), PATH(at, path))                                                               \
	X(TIMED, int, statfs64, (const char *path, struct statfs64 *s), (path, s), PATH(AT_FDCWD, path))               \
	X(TIMED, int, fstatfs64, (int fd, struct statfs64 *s), (fd, s), FD(fd))                                        \
	X(TIMED, int, statx, (int at, const char *path, int flags, unsigned mask, struct statx *s),                    \
	  (at, path, flags, mask, s), PATH(at, path))                                                                  \
	X(TIMED, int, access, (const char *path, int mode), (path, mode), PATH(AT_FDCWD, path))                        \
	X(TIMED, int, faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags),             \
	  PATH(at, path))                                                                                              \
	X(TIMED, ssize_t, readlink, (const char *path, char *p, size_t n), (path, p, n), PATH(AT_FDCWD, path))         \
	X(TIMED, ssize_t, readlinkat, (int at, const char *path, char *p, size_t n), (at, path, p, n), PATH(at, path)) \
	X(TIMED, int, unlink, (const char *path), (path), CHANGE(AT_FDCWD, path))                                      \
	X(TIMED, int, unlinkat, (int at, const char *path, int flags), (at, path, flags), CHANGE(at, path))            \
	X(TIMED, int, rename, (const char *path, const char *to), (path, to), CHANGE(AT_FDCWD, path))                  \
	X(TIMED, int, renameat, (int at, const char *path, int to_at, const char *to), (at, path, to_at, to),          \
	  CHANGE(at, path))                                                                                            \
	X(TIMED, int, renameat2, (int at, const char *path, int to_at, const char *to, unsigned flags),                \
	  (at, path, to_at, to, flags), CHANGE(at, path))                                                              \
	X(TIMED, int, link, (const char *path, const char *to), (path, to), CHANGE(AT_FDCWD, path))                    \
	X(TIMED, int, linkat, (int at, const char *path, int to_at, const char *to, int flags),                        \
	  (at, path, to_at, to, flags), CHANGE(at, path))                                                              \
	X(TIMED, int, symlink, (const char *target, const char *path), (target, path), CHANGE(AT_FDCWD, path))         \
	X(TIMED, int, symlinkat, (const char *target, int at, const char *path), (target, at, path), CHANGE(at, path)) \
	X(TIMED, int, mkfifo, (const char *path, mode_t mode), (path, mode), CHANGE(AT_FDCWD, path))                   \
	X(TIMED, int, mkfifoat, (int at, const char *path, mode_t mode), (at, path, mode), CHANGE(at, path))           \
	X(TIMED, int, acct, (const char *path), (path), NOTHING)                                                       \
	X(TIMED, int, mount,                                                                                           \
	  (const char *what, const char *path, const char *type, unsigned long flags, const void *data),               \
	  (what, path, type, flags, data), NOTHING)                                                                    \
	X(TIMED, int, umount2, (const char *path, int flags), (path, flags), NOTHING)                                  \
	/* directories */                                                                                              \
	X(TIMED, int, mkdir, (const char *path, mode_t mode), (path, mode), CHANGE(AT_FDCWD, path))                    \
	X(TIMED, int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), CHANGE(at, path))            \
	X(TIMED, int, chmod, (const char *path, mode_t mode), (path, mode), CHANGE(AT_FDCWD, path))                    \
	X(TIMED, int, fchmodat, (int at, const char *path, mode_t mode, int flags), (at, path, mode, flags),           \
	  CHANGE(at, path))                                                                                            \
	X(TIMED, int, chdir, (const char *path), (path), CHDIR)                                                        \
	X(TIMED, int, fchdir, (int fd), (fd), CHDIR)                                                                   \
	X(TIMED, int, rmdir, (const char *path), (path), CHANGE(AT_FDCWD, path))                                       \
	X(TIMED, DIR *, opendir, (const char *path), (path), OPENED(path, 0))                                          \
	X(TIMED, struct dirent *, readdir, (DIR * d), (d), DIRECTORY(d))                                               \
	X(TIMED, struct dirent64 *, readdir64, (DIR * d), (d), DIRECTORY(d))                                           \
	X(TIMED, int, closedir, (DIR * d), (d), CLOSED(hook_directory_fd(d)))

#define HOOK_MEMORY(X)                                                                                                 \
	/* memory mappings */                                                                                          \
	X(TIMED, void *, mmap, (void *at, size_t n, int protection, int flags, int fd, off_t from),                    \
	  (at, n, protection, flags, fd, from), MAPPED(n, flags & MAP_ANONYMOUS ? -1 : fd))                            \
	X(ALIAS_AS(mmap), void *, mmap64, (void *at, size_t n, int protection, int flags, int fd, off64_t from),       \
	  (at, n, protection, flags, fd, from), NOTHING)                                                               \
	X(TIMED, int, munmap, (void *at, size_t n), (at, n), MEMORY(n))                                                \
	X(NAKED, void *, mremap, (void *at, size_t n, size_t size, int flags, void *to), (at, n, size, flags, to),     \
	  MEMORY(size))                                                                                                \
	X(TIMED, int, mprotect, (void *at, size_t n, int protection), (at, n, protection), MEMORY(n))                  \
	X(TIMED, int, madvise, (void *at, size_t n, int advice), (at, n, advice), MEMORY(n))                           \
	X(TIMED, int, msync, (void *at, size_t n, int flags), (at, n, flags), BYTES(n))                                \
	X(TIMED, int, mlock, (const void *at, size_t n), (at, n), BYTES(n))                                            \
	X(TIMED, int, mlock2, (const void *at, size_t n, unsigned flags), (at, n, flags), BYTES(n))                    \
	X(TIMED, int, mlockall, (int flags), (flags), NOTHING)                                                         \
	X(TIMED, ssize_t, process_vm_readv,                                                                            \
	  (pid_t pid, const struct iovec *v, unsigned long n, const struct iovec *w, unsigned long m,                  \
	    unsigned long flags),                                                                                      \
	  (pid, v, n, w, m, flags), BYTES(result < 0 ? 0 : result))                                                    \
	X(TIMED, ssize_t, process_vm_writev,                                                                           \
	  (pid_t pid, const struct iovec *v, unsigned long n, const struct iovec *w, unsigned long m,                  \
	    unsigned long flags),                                                                                      \
	  (pid, v, n, w, m, flags), BYTES(result < 0 ? 0 : result))                                                    \
	X(TIMED, int, shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode), NEW)                  \
	X(TIMED, int, shm_unlink, (const char *name), (name), NOTHING)                                                 \
	/* random bytes */                                                                                             \
	X(TIMED, ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags),                               \
	  FILLED(result < 0 ? 0 : result, RANDOM, flags))                                                              \
	X(TIMED, int, getentropy, (void *p, size_t n), (p, n), BYTES(result ? 0 : n))
