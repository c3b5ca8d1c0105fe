/* SPDX-License-Identifier: Apache-2.0 */
/* The values of names are those of the headers: they are the same on all architectures that are recorded. */
#include "report/events/os_names.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#define ERRORS(X)                                                                                                      \
	X(EPERM) X(ENOENT) X(ESRCH) X(EINTR) X(EIO) X(ENXIO) X(E2BIG) X(ENOEXEC) X(EBADF) X(ECHILD) X(EAGAIN)          \
	X(ENOMEM) X(EACCES) X(EFAULT) X(ENOTBLK) X(EBUSY) X(EEXIST) X(EXDEV) X(ENODEV) X(ENOTDIR) X(EISDIR)            \
	X(EINVAL) X(ENFILE) X(EMFILE) X(ENOTTY) X(ETXTBSY) X(EFBIG) X(ENOSPC) X(ESPIPE) X(EROFS) X(EMLINK)             \
	X(EPIPE) X(EDOM) X(ERANGE) X(EDEADLK) X(ENAMETOOLONG) X(ENOLCK) X(ENOSYS) X(ENOTEMPTY) X(ELOOP)                \
	X(ENOMSG) X(EIDRM) X(ECHRNG) X(EL2NSYNC) X(EL3HLT) X(EL3RST) X(ELNRNG) X(EUNATCH) X(ENOCSI) X(EL2HLT)          \
	X(EBADE) X(EBADR) X(EXFULL) X(ENOANO) X(EBADRQC) X(EBADSLT) X(EBFONT) X(ENOSTR) X(ENODATA) X(ETIME)            \
	X(ENOSR) X(ENONET) X(ENOPKG) X(EREMOTE) X(ENOLINK) X(EADV) X(ESRMNT) X(ECOMM) X(EPROTO) X(EMULTIHOP)           \
	X(EDOTDOT) X(EBADMSG) X(EOVERFLOW) X(ENOTUNIQ) X(EBADFD) X(EREMCHG) X(ELIBACC) X(ELIBBAD) X(ELIBSCN)           \
	X(ELIBMAX) X(ELIBEXEC) X(EILSEQ) X(ERESTART) X(ESTRPIPE) X(EUSERS) X(ENOTSOCK) X(EDESTADDRREQ)                 \
	X(EMSGSIZE) X(EPROTOTYPE) X(ENOPROTOOPT) X(EPROTONOSUPPORT) X(ESOCKTNOSUPPORT) X(EOPNOTSUPP)                   \
	X(EPFNOSUPPORT) X(EAFNOSUPPORT) X(EADDRINUSE) X(EADDRNOTAVAIL) X(ENETDOWN) X(ENETUNREACH) X(ENETRESET)         \
	X(ECONNABORTED) X(ECONNRESET) X(ENOBUFS) X(EISCONN) X(ENOTCONN) X(ESHUTDOWN) X(ETOOMANYREFS)                   \
	X(ETIMEDOUT) X(ECONNREFUSED) X(EHOSTDOWN) X(EHOSTUNREACH) X(EALREADY) X(EINPROGRESS) X(ESTALE)                 \
	X(EUCLEAN) X(ENOTNAM) X(ENAVAIL) X(EISNAM) X(EREMOTEIO) X(EDQUOT) X(ENOMEDIUM) X(EMEDIUMTYPE)                  \
	X(ECANCELED) X(ENOKEY) X(EKEYEXPIRED) X(EKEYREVOKED) X(EKEYREJECTED) X(EOWNERDEAD) X(ENOTRECOVERABLE)          \
	X(ERFKILL) X(EHWPOISON)

void os_error_name(uint32_t error, struct buffer *ret)
{
#define ERROR_ROW(name) [name] = #name,
	static const char *const names[] = {ERRORS(ERROR_ROW)};
#undef ERROR_ROW

	if (error < sizeof(names) / sizeof(*names) && names[error])
		buffer_text(ret, names[error]);
	else
		buffer_print(ret, "%" PRIu32, error);
}

/* Of getrandom(), which a libc before 2.25 does not declare. */
enum { GRND_NONBLOCK = 1, GRND_RANDOM = 2, GRND_INSECURE = 4 };

struct flag_name {
	uint32_t bit;
	const char *name;
};

enum { FLAG_NAMES = 20 };

#define F(name) {name, #name}
static const struct flag_name flag_names[][FLAG_NAMES] = {
	[TF_FLAGS_EVENTFD] = {F(EFD_CLOEXEC), F(EFD_NONBLOCK), F(EFD_SEMAPHORE)},
	[TF_FLAGS_SIGNALFD] = {F(SFD_CLOEXEC), F(SFD_NONBLOCK)},
	[TF_FLAGS_TIMERFD] = {F(TFD_CLOEXEC), F(TFD_NONBLOCK)},
	[TF_FLAGS_TIMER] = {F(TFD_TIMER_ABSTIME), F(TFD_TIMER_CANCEL_ON_SET)},
	[TF_FLAGS_EPOLL] = {F(EPOLL_CLOEXEC)},
	[TF_FLAGS_INOTIFY] = {F(IN_CLOEXEC), F(IN_NONBLOCK)},
	[TF_FLAGS_WATCH] = {F(IN_ACCESS), F(IN_MODIFY), F(IN_ATTRIB), F(IN_CLOSE_WRITE), F(IN_CLOSE_NOWRITE),
			    F(IN_OPEN), F(IN_MOVED_FROM), F(IN_MOVED_TO), F(IN_CREATE), F(IN_DELETE),
			    F(IN_DELETE_SELF), F(IN_MOVE_SELF), F(IN_ONLYDIR), F(IN_DONT_FOLLOW), F(IN_EXCL_UNLINK),
			    F(IN_MASK_CREATE), F(IN_MASK_ADD), F(IN_ISDIR), F(IN_ONESHOT)},
	[TF_FLAGS_RANDOM] = {F(GRND_NONBLOCK), F(GRND_RANDOM), F(GRND_INSECURE)},
};
#undef F

void os_flags_text(unsigned int set, uint32_t flags, struct buffer *ret)
{
	const size_t sets = sizeof(flag_names) / sizeof(*flag_names);
	const struct flag_name *names = flag_names[set < sets ? set : 0];
	const char *separator = "";

	for (size_t i = 0; i < FLAG_NAMES && names[i].name; i++) {
		if (!(flags & names[i].bit))
			continue;
		buffer_print(ret, "%s%s", separator, names[i].name);
		flags &= ~names[i].bit;
		separator = "|";
	}
	if (flags)
		buffer_print(ret, "%s0x%" PRIx32, separator, flags);
	else if (!*separator)
		buffer_text(ret, "0");
}
