/* SPDX-License-Identifier: Apache-2.0 */
/* How the wrapper of a row of libc times its call, and what a row's `record` means. */
#pragma once

#include "preload/hook/hook.h"
#include "preload/hook/uncaught.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/recorder.h"
#include "runtime/shared/format/trace_flags.h"

/* ---- errors ---- */

/* The type of a row's result states how the function fails, see hook_libc.h. `id` is a constant. */
#define HOOK_IS_ERROR(kind, returns, symbol, ...) || (!__builtin_strcmp(#returns, "error_t") && id == HOOK_##symbol)
#define HOOK_IS_STATUS(kind, returns, symbol, ...) || (!__builtin_strcmp(#returns, "status_t") && id == HOOK_##symbol)
static inline __attribute__((always_inline)) bool hook_returns_error(unsigned id)
{
	return false HOOK_LIBC(HOOK_IS_ERROR);
}
static inline __attribute__((always_inline)) bool hook_returns_status(unsigned id)
{
	return false HOOK_LIBC(HOOK_IS_STATUS);
}
#undef HOOK_IS_ERROR
#undef HOOK_IS_STATUS

static inline __attribute__((always_inline)) int hook_error(unsigned id, bool has_errno, intptr_t result)
{
	if (hook_returns_error(id))
		return result > 0 ? (int)result : 0;
	return has_errno && !hook_returns_status(id) && __builtin_expect(result == -1, 0) ? errno : 0;
}

/* Why the call failed, 0 if it did not. errno must be the one that the call set. Other results than these do not tell
 * an error from the end of a file (char *, wint_t, size_t), or have no errno (struct hostent *). */
#define HOOK_ERROR                                                                                                     \
	hook_error(HOOK_CURRENT, _Generic(result, int: true, long: true, void *: true, default: false),                \
		   (intptr_t)result)

/* ---- arguments ---- */

static inline uint64_t hook_fd_word(int fd, int64_t result)
{
	return tf_arg(TF_ARG_FD, 0, (uint64_t)(fd < 0 || fd > 0xfffe ? 0xffff : fd) | (uint64_t)(uint32_t)result << 16);
}

/* TF_ARG_FD of a call that returned `result`; errno must be the one that the call set. */
static inline uint64_t hook_fd_arg(int fd, int64_t result)
{
	if (__builtin_expect(result == -1, 0))
		result = -(int64_t)errno;
	else if (result > INT32_MAX)
		result = INT32_MAX;
	return hook_fd_word(fd, result);
}

/* TF_ARG_FD of a call that opened a file with these flags. */
static inline uint64_t hook_opened_arg(int flags, int64_t result)
{
	return hook_fd_arg(-1, result) | tf_arg(0, flags & O_TRUNC ? TF_OPENED_EMPTIED : TF_OPENED_KEPT, 0);
}

/* Of the mode of fopen(), what hook_opened_arg() needs. */
static inline int hook_mode_flags(const char *mode)
{
	return *mode == 'w' ? O_TRUNC : 0;
}

/* TF_ARG_TIMEOUT; us < 0: no timeout. */
static inline uint64_t hook_timeout_arg(int64_t us, int64_t result)
{
	if (result == -1)
		result = -(int64_t)errno;
	else if (result > INT16_MAX)
		result = INT16_MAX;
	return tf_arg(TF_ARG_TIMEOUT, 0,
		      (uint64_t)(uint16_t)result | (uint64_t)(uint32_t)(us < 0 || us > UINT32_MAX ? UINT32_MAX : us)
							   << 16);
}

/* What a wait for so many descriptors adds to its argument. */
static inline uint64_t hook_polled(uint64_t n)
{
	return tf_arg(0, n ? TF_POLLED : TF_POLLED_NOTHING, 0);
}

static inline bool hook_is_fault(int64_t result)
{
	return result == -1 && errno == EFAULT;
}

static inline int64_t hook_us(const struct timespec *t)
{
	return !t || t->tv_sec < 0 || t->tv_sec > UINT32_MAX ? -1 : t->tv_sec * 1000000ll + t->tv_nsec / 1000;
}

/* -1: the stream has neither output to write nor input to return to the file, so that fflush() does not use it. */
static inline int hook_unflushed_fd(FILE *f)
{
	bool is_clean = f && f->_mode <= 0 && !stream_pending(f) && f->_IO_read_ptr == f->_IO_read_end;

	return is_clean ? -1 : hook_stream_fd(f);
}

/* -1: none. */
static inline int hook_directory_fd(DIR *d)
{
	return d ? dirfd(d) : -1;
}

static inline int hook_number_fd(int fd)
{
	return fd;
}

/* The bytes of `count` messages that sendmmsg or recvmmsg has moved; -1 if that is its result. */
static inline int64_t hook_message_bytes(const struct mmsghdr *messages, int count)
{
	int64_t bytes = count < 0 ? -1 : 0;

	for (int i = 0; i < count; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

/* Records a call with its descriptor and bytes, out of line: for calls that are rare. */
__attribute__((cold)) void hook_record_amount(const struct call *e, unsigned function, int fd, int64_t amount);

/* Records a call that uses a descriptor and has flags. */
__attribute__((cold)) void hook_record_flags(const struct call *e, unsigned function, int fd, int64_t result,
					     uint64_t flags);
#define HOOK_FLAGS(set, flags) tf_arg(TF_ARG_FLAGS, TF_FLAGS_##set, (uint32_t)(flags))

/* Counts what lio_listio is going to request as calls of aio_read and aio_write. */
__attribute__((cold)) void hook_count_listed(struct aiocb *const *blocks, int count);

static inline size_t hook_length(const char *s)
{
	return s ? strlen(s) : 0;
}

/* Calls `real`, stores its result in `result` and records the call as the row's `record` requires. If calls are not
 * recorded, the function returns from here. HOOK_CURRENT is the row's id. For wrappers that are written by hand:
 * preload/libc/generate_exports.py writes the same statements into the others, and both must change together. */
#define HOOK_TIME(real, record)                                                                                        \
	do {                                                                                                           \
		struct call event_;                                                                                    \
		enum call_length length_;                                                                              \
                                                                                                                       \
		HOOK_SECOND(HOOK_BEFORE_##record, (void)0, );                                                          \
		if (!event_enabled(TF_GROUP_OSRT) || !call_begin(&event_, HOOK_CURRENT))                               \
			return real;                                                                                   \
		result = real;                                                                                         \
		HOOK_SECOND(HOOK_AFTER_##record, (void)0, );                                                           \
		length_ = call_finish(&event_, HOOK_CURRENT, process_osrt_threshold);                                  \
		if (length_ == CALL_LONG)                                                                              \
			HOOK_RECORD_##record;                                                                          \
		if (length_ == CALL_SHORT) {                                                                           \
			HOOK_SECOND(HOOK_SHORT_##record, (void)0, );                                                   \
			call_count_down(&event_, HOOK_CURRENT);                                                        \
		}                                                                                                      \
	} while (0)

/* The values of a row's `record`. ENTER, BEFORE and AFTER are executed around every call, however short: they
 * invalidate descriptors. ENTER is executed before the stack is aligned, and declares nothing. RECORD is executed for
 * recorded calls only, SHORT for those below the threshold. Each ENTER, BEFORE, AFTER and SHORT begins with a comma,
 * because a value for which it does nothing has no such macro. */
#define HOOK_DO(phase, ...) HOOK_SECOND(HOOK_##phase##_##__VA_ARGS__, (void)0, )
#define HOOK_RECORD_NOTHING HOOK_RECORD_WORD(0)

/* With this argument, 0: none; and the error, if the call failed. Out of line, except for calls that last some ns. */
#define HOOK_RECORD_WORD(word) call_record_words(&event_, HOOK_CURRENT, HOOK_ERROR, (word), 0)
#define HOOK_RECORD_QUICKLY(words, count)                                                                              \
	do {                                                                                                           \
		const int error_ = HOOK_ERROR;                                                                         \
                                                                                                                       \
		if (__builtin_expect(error_ != 0, 0))                                                                  \
			call_record_words(&event_, HOOK_CURRENT, error_, (count) ? (words)[0] : 0, 0);                 \
		else                                                                                                   \
			call_record(&event_, HOOK_CURRENT, process_osrt_backtrace, (words), (count));                  \
	} while (0)

/* For an argument that contains the error. */
#define HOOK_RECORD_ARG(arg) call_record(&event_, HOOK_CURRENT, process_osrt_backtrace, (uint64_t[]){arg}, 1)

/* TRIED: nothing, of a call that lasts some ns */
#define HOOK_RECORD_TRIED HOOK_RECORD_QUICKLY((uint64_t *)NULL, 0)

/* VALUE, BYTES: one number */
/* inline, because sigaction() would use more of its caller's stack otherwise */
#define HOOK_RECORD_VALUE(number)                                                                                      \
	HOOK_RECORD_QUICKLY(((uint64_t[]){tf_arg(TF_ARG_VALUE, 0, (uint64_t)(number))}), 1)
#define HOOK_RECORD_BYTES(bytes) HOOK_RECORD_WORD(tf_arg(TF_ARG_BYTES, 0, (uint64_t)(bytes)))

/* MEMORY: bytes of a mapping. Only native frames are read, because the call may come from Python's own memory
 * manager */
#define HOOK_SHORT_MEMORY(bytes) , event_.frame |= STACK_NATIVE_ONLY
#define HOOK_RECORD_MEMORY(bytes)                                                                                      \
	do {                                                                                                           \
		event_.frame |= STACK_NATIVE_ONLY;                                                                     \
		HOOK_RECORD_BYTES(bytes);                                                                              \
	} while (0)

/* MAPPED: likewise a mapping of this file, if there is one, whose bytes are counted by descriptor */
#define HOOK_IS_OF_FILE(fd) ((fd) >= 0 && result != MAP_FAILED)
#define HOOK_SHORT_MAPPED(bytes, fd)                                                                                   \
	, do {                                                                                                         \
		event_.frame |= STACK_NATIVE_ONLY;                                                                     \
		if (HOOK_IS_OF_FILE(fd))                                                                               \
			HOOK_SHORT_AMOUNT((fd), (int64_t)(bytes));                                                     \
	} while (0)
__attribute__((cold)) void hook_record_mapped(const struct call *e, unsigned function, int fd, uint64_t bytes);
#define HOOK_RECORD_MAPPED(bytes, fd)                                                                                  \
	do {                                                                                                           \
		event_.frame |= STACK_NATIVE_ONLY;                                                                     \
		if (HOOK_IS_OF_FILE(fd))                                                                               \
			hook_record_mapped(&event_, HOOK_CURRENT, (fd), (uint64_t)(bytes));                            \
		else                                                                                                   \
			HOOK_RECORD_BYTES(bytes);                                                                      \
	} while (0)

/* TIMEOUT: the longest time to wait, and the result. The timeout is not read if the kernel could not read it */
#define HOOK_RECORD_TIMEOUT(us)                                                                                        \
	HOOK_RECORD_ARG(hook_timeout_arg(hook_is_fault((int64_t)result) ? -1 : (int64_t)(us), (int64_t)result))

/* POLLED: likewise, of a wait for so many descriptors */
#define HOOK_RECORD_POLLED(n, us)                                                                                      \
	HOOK_RECORD_ARG(hook_polled(n) | hook_timeout_arg(hook_is_fault((int64_t)result) ? -1 : (int64_t)(us),        \
							  (int64_t)result))

/* READY: the result, of a call that changes its timeout, and waits for descriptors below n */
#define HOOK_RECORD_READY(n) HOOK_RECORD_ARG(hook_polled(n) | hook_fd_arg(-1, (int64_t)result))

/* PATH: asks about the file of this path, relative to the descriptor `at`; CHANGE: changes it. CHDIR: relative paths
 * mean others afterwards */
#define HOOK_SHORT_PATH(at, path) , path_count(&event_, HOOK_CURRENT, (at), (path), (int64_t)result)
#define HOOK_RECORD_PATH(at, path)                                                                                     \
	path_record(&event_, HOOK_CURRENT, (at), (path), (int64_t)result, HOOK_ERROR, false)
#define HOOK_SHORT_CHANGE HOOK_SHORT_PATH
#define HOOK_RECORD_CHANGE(at, path)                                                                                   \
	path_record(&event_, HOOK_CURRENT, (at), (path), (int64_t)result, HOOK_ERROR, true)
#define HOOK_AFTER_CHDIR , directory_changed()
#define HOOK_RECORD_CHDIR HOOK_RECORD_NOTHING

/* LOCKED, CONDITION, SEMAPHORE, BARRIER: waits for what is at this address. TAKEN: gets a semaphore without waiting.
 * WAKES: ends such waits. FUTEX: the arguments of the system call. See wait.h */
#define HOOK_BEFORE_LOCKED(lock, holder, by_writer) , const bool waits_ = wait_begin(lock)
#define HOOK_AFTER_LOCKED(lock, holder, by_writer)                                                                     \
	, if (__builtin_expect(waits_, 0))                                                                             \
	wake_waited(lock)
#define HOOK_RECORD_LOCKED(lock, holder, by_writer)                                                                    \
	wait_record(&event_, HOOK_CURRENT, (lock), (holder), wait_released(&event_, result, (lock), (by_writer)),      \
		    HOOK_ERROR)
#define HOOK_BEFORE_CONDITION(condition, mutex)                                                                        \
	HOOK_BEFORE_SEMAPHORE(condition);                                                                              \
	WAIT_NOTE((mutex), wait_is_shared_mutex(mutex), WAKE_RELEASE)
#define HOOK_AFTER_CONDITION(condition, mutex) HOOK_AFTER_SEMAPHORE(condition)
#define HOOK_RECORD_CONDITION(condition, mutex) HOOK_RECORD_SEMAPHORE(condition)
#define HOOK_BEFORE_SEMAPHORE(semaphore)                                                                               \
	, struct wake wake_ = {0};                                                                                     \
	const bool waits_ = wait_begin(semaphore)
#define HOOK_AFTER_SEMAPHORE(semaphore)                                                                                \
	, if (__builtin_expect(waits_, 0))                                                                             \
	wake_ = wait_end((semaphore), event_.start, result)
#define HOOK_RECORD_SEMAPHORE(semaphore) wait_record(&event_, HOOK_CURRENT, (semaphore), 0, wake_, HOOK_ERROR)
#define HOOK_AFTER_TAKEN(semaphore)                                                                                    \
	, if (!result)                                                                                                 \
	wait_taken(semaphore)
#define HOOK_RECORD_TAKEN(semaphore) HOOK_RECORD_WAKES(semaphore, )
#define HOOK_BEFORE_BARRIER(barrier)                                                                                   \
	, struct wake wake_ = {0};                                                                                     \
	const uint64_t arrived_ = wake_is_on && !wait_is_shared_barrier(barrier) ? wait_arrived(barrier) : 0
#define HOOK_AFTER_BARRIER(barrier)                                                                                    \
	, if (__builtin_expect(arrived_ != 0, 0))                                                                      \
	wake_ = wake_left((barrier), arrived_)
#define HOOK_RECORD_BARRIER(barrier) HOOK_RECORD_SEMAPHORE(barrier)
#define HOOK_BEFORE_WAKES(condition, kind) , WAIT_NOTE((condition), wait_is_shared_condition(condition), (kind))
#define HOOK_RECORD_WAKES(address, kind)                                                                               \
	HOOK_RECORD_QUICKLY(((uint64_t[]){tf_arg(TF_ARG_LOCK, 0, (uintptr_t)(address))}), 1)
#define HOOK_BEFORE_FUTEX(address, operation, count)                                                                   \
	, struct wake wake_ = {0};                                                                                     \
	const bool waits_ = wait_is_wait(operation) && wait_begin(address);                                            \
	if (wait_is_wake(operation))                                                                                   \
	WAIT_NOTE((address), !((operation) & FUTEX_PRIVATE_FLAG), (count) == 1 ? WAKE_ONE : WAKE_ALL)
#define HOOK_AFTER_FUTEX(address, operation, count) HOOK_AFTER_SEMAPHORE(address)
#define HOOK_RECORD_FUTEX(address, operation, count)                                                                   \
	wait_record_value(&event_, HOOK_CURRENT, (address), (uint64_t)((operation) & 0xff), wake_, HOOK_ERROR)

/* FD: uses this descriptor; the result is a number of bytes. DIRECTORY: likewise, without bytes */
#define HOOK_SHORT_FD(fd) , HOOK_SHORT_AMOUNT((fd), hook_returns_error(HOOK_CURRENT) ? 0 : (int64_t)result)
#define HOOK_SHORT_AMOUNT(fd, amount)                                                                                  \
	traffic_count(HOOK_CURRENT, (fd), event_.start, event_.end - event_.start, (amount))
#define HOOK_RECORD_FD(fd)                                                                                             \
	HOOK_RECORD_DESCRIPTOR((fd), HOOK_RECORD_ARG(hook_returns_error(HOOK_CURRENT)                                  \
							     ? hook_fd_word((fd), -(int64_t)result)                    \
							     : hook_fd_arg((fd), (int64_t)result)))
/* TEXT: FD, of what may be an exception of Python, or the end of a rank */
#define HOOK_ENTER_TEXT(fd, bytes, size)                                                                               \
	, if (__builtin_expect(uncaught_may_be(__builtin_return_address(0), (fd)), 0))                                 \
		uncaught_write(__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0), (bytes), (size));   \
	if (__builtin_expect((fd) == recorder_pmi && (fd) > 0, 0))                                                     \
	recorder_pmi_write((uintptr_t)__builtin_frame_address(0), (bytes), (size))
#define HOOK_SHORT_TEXT(fd, bytes, size) HOOK_SHORT_FD(fd)
#define HOOK_RECORD_TEXT(fd, bytes, size) HOOK_RECORD_FD(fd)
#define HOOK_RECORD_AMOUNT(fd, amount) HOOK_RECORD_DESCRIPTOR((fd), HOOK_RECORD_ARG(hook_fd_arg((fd), (amount))))
/* For an amount that does not tell whether the call failed. */
#define HOOK_RECORD_MOVED_BYTES(fd, amount)                                                                            \
	HOOK_RECORD_DESCRIPTOR((fd), HOOK_RECORD_QUICKLY(((uint64_t[]){hook_fd_arg((fd), (amount))}), 1))
#define HOOK_RECORD_DESCRIPTOR(fd, record)                                                                             \
	do {                                                                                                           \
		record;                                                                                                \
		if (__builtin_expect(!descriptor_is_known(fd), 0))                                                     \
			descriptor_describe((fd), event_.start);                                                       \
	} while (0)
/* FLAGGED: uses this descriptor, with these flags of a set (enum tf_flags). FILLED: gets bytes, likewise */
#define HOOK_SHORT_FLAGGED(fd, set, flags) , HOOK_SHORT_AMOUNT((fd), 0)
#define HOOK_RECORD_FLAGGED(fd, set, flags)                                                                            \
	hook_record_flags(&event_, HOOK_CURRENT, (fd), (int64_t)result, HOOK_FLAGS(set, flags))
#define HOOK_RECORD_FILLED(bytes, set, flags)                                                                          \
	call_record_words(&event_, HOOK_CURRENT, HOOK_ERROR, tf_arg(TF_ARG_BYTES, 0, (uint64_t)(bytes)),               \
			  HOOK_FLAGS(set, flags))
/* QUEUED: requests that bytes of this aiocb are read or written, LISTED: those of several. The control block may be
 * freed once the call has been made */
#define HOOK_BEFORE_QUEUED(block)                                                                                      \
	, const int queued_ = (block)->aio_fildes;                                                                     \
	const int64_t wanted_ = (int64_t)(block)->aio_nbytes
#define HOOK_SHORT_QUEUED(block) , HOOK_SHORT_AMOUNT(queued_, result ? 0 : wanted_)
#define HOOK_RECORD_QUEUED(block) hook_record_amount(&event_, HOOK_CURRENT, queued_, result ? -1 : wanted_)
#define HOOK_BEFORE_LISTED(blocks, count) , hook_count_listed((blocks), (count))
#define HOOK_RECORD_LISTED(blocks, count) HOOK_RECORD_NOTHING
/* COPIED: writes the result's bytes to a descriptor and reads them from another one, which is counted as a call of
 * this row. MESSAGES: the result is a number of messages, of which all but one are counted as calls of that row */
#define HOOK_SHORT_COPIED(to, from, inner)                                                                             \
	, do {                                                                                                         \
		HOOK_SHORT_AMOUNT((to), (int64_t)result);                                                              \
		stream_count(HOOK_##inner, (from), event_.start,                                                       \
			     (struct stream_moved){result > 0 ? (uint64_t)result : 0, 1});                             \
	} while (0)
#define HOOK_RECORD_COPIED(to, from, inner)                                                                            \
	do {                                                                                                           \
		HOOK_RECORD_FD(to);                                                                                    \
		stream_count(HOOK_##inner, (from), event_.start,                                                       \
			     (struct stream_moved){result > 0 ? (uint64_t)result : 0, 1});                             \
	} while (0)
#define HOOK_SHORT_MESSAGES(fd, messages, inner)                                                                       \
	, do {                                                                                                         \
		HOOK_SHORT_AMOUNT((fd), hook_message_bytes((messages), result));                                       \
		stream_count(HOOK_##inner, (fd), event_.start,                                                         \
			     (struct stream_moved){0, result > 1 ? (uint32_t)result - 1 : 0});                         \
	} while (0)
#define HOOK_RECORD_MESSAGES(fd, messages, inner)                                                                      \
	do {                                                                                                           \
		HOOK_RECORD_AMOUNT((fd), hook_message_bytes((messages), result));                                      \
		stream_count(HOOK_##inner, (fd), event_.start,                                                         \
			     (struct stream_moved){0, result > 1 ? (uint32_t)result - 1 : 0});                         \
	} while (0)
/* OUTPUT, INPUT: a call of stdio that adds so many bytes to the stream or gets them from it; _BLOCK, _TEXT: enum
 * stream_use. Bytes are those that the kernel moved. A recorded call has those of its direction; those of others, and
 * how often the kernel was called, are counted as calls of inner_read and inner_write */
#define HOOK_BEFORE_OUTPUT(stream, bytes) , const struct stream_output stream_ = stream_output_before(stream)
#define HOOK_SHORT_OUTPUT(stream, bytes) , HOOK_SHORT_STREAM(stream, stream_written, bytes, STREAM_PIECES, inner_write)
#define HOOK_RECORD_OUTPUT(stream, bytes)                                                                              \
	HOOK_RECORD_STREAM(stream, stream_written, bytes, STREAM_PIECES, inner_write, MOVED_BYTES)
#define HOOK_BEFORE_OUTPUT_BLOCK HOOK_BEFORE_OUTPUT
#define HOOK_SHORT_OUTPUT_BLOCK(stream, bytes)                                                                         \
	, HOOK_SHORT_STREAM(stream, stream_written, bytes, STREAM_BLOCK, inner_write)
#define HOOK_RECORD_OUTPUT_BLOCK(stream, bytes)                                                                        \
	HOOK_RECORD_STREAM(stream, stream_written, bytes, STREAM_BLOCK, inner_write, MOVED_BYTES)
#define HOOK_BEFORE_INPUT(stream, bytes) , const struct stream_input stream_ = stream_input_before(stream)
#define HOOK_SHORT_INPUT(stream, bytes) , HOOK_SHORT_STREAM(stream, stream_read, bytes, STREAM_PIECES, inner_read)
#define HOOK_RECORD_INPUT(stream, bytes)                                                                               \
	HOOK_RECORD_STREAM(stream, stream_read, bytes, STREAM_PIECES, inner_read, AMOUNT)
#define HOOK_BEFORE_INPUT_BLOCK(stream, bytes, request)                                                                \
	, struct stream_input stream_ = stream_input_before(stream);                                                   \
	stream_.wanted = (ptrdiff_t)(request)
#define HOOK_SHORT_INPUT_BLOCK(stream, bytes, request)                                                                 \
	, HOOK_SHORT_STREAM(stream, stream_read, bytes, STREAM_BLOCK, inner_read)
#define HOOK_RECORD_INPUT_BLOCK(stream, bytes, request)                                                                \
	HOOK_RECORD_STREAM(stream, stream_read, bytes, STREAM_BLOCK, inner_read, AMOUNT)
#define HOOK_BEFORE_INPUT_TEXT HOOK_BEFORE_INPUT
#define HOOK_SHORT_INPUT_TEXT(stream, bytes) , HOOK_SHORT_STREAM(stream, stream_read, bytes, STREAM_TEXT, inner_read)
#define HOOK_RECORD_INPUT_TEXT(stream, bytes)                                                                          \
	HOOK_RECORD_STREAM(stream, stream_read, bytes, STREAM_TEXT, inner_read, AMOUNT)
#define HOOK_SHORT_STREAM(stream, find, size, use, inner)                                                              \
	do {                                                                                                           \
		const struct stream_moved moved_ = find(&stream_, (stream), (ptrdiff_t)(size), (use));                 \
                                                                                                                       \
		HOOK_SHORT_AMOUNT(hook_stream_fd(stream), 0);                                                          \
		if (__builtin_expect(moved_.calls != 0, 0))                                                            \
			stream_count(HOOK_##inner, hook_stream_fd(stream), event_.start, moved_);                      \
	} while (0)
#define HOOK_RECORD_STREAM(stream, find, size, use, inner, how)                                                        \
	do {                                                                                                           \
		struct stream_moved moved_ = find(&stream_, (stream), (ptrdiff_t)(size), (use));                       \
                                                                                                                       \
		HOOK_RECORD_##how(hook_stream_fd(stream), (int64_t)moved_.bytes);                                      \
		moved_.calls -= moved_.bytes > 0;                                                                      \
		moved_.bytes = 0;                                                                                      \
		stream_count(HOOK_##inner, hook_stream_fd(stream), event_.start, moved_);                              \
	} while (0)
/* FLUSHED: uses the stream's descriptor if its buffer is in use before the call. Shells flush empty streams in each
 * forked child, whose descriptors would be described at the cost of several system calls. Python flushes stdout before
 * it exits: see recorder_python_exit(). MOVED: a call that reads or writes because it moves in the file */
#define HOOK_BEFORE_FLUSHED(stream)                                                                                    \
	, const struct stream_place place_ = stream_place_before(stream);                                              \
	int flushed_ = hook_unflushed_fd(stream);                                                                      \
	if (!(stream))                                                                                                 \
		stream_count_pending(NULL);                                                                            \
	if ((stream) == stdout)                                                                                        \
	recorder_python_exit(__builtin_return_address(0), (uintptr_t)__builtin_frame_address(0))
#define HOOK_SHORT_FLUSHED(stream)                                                                                     \
	, do {                                                                                                         \
		HOOK_SHORT_AMOUNT(flushed_, 0);                                                                        \
		stream_count_place(&place_, (stream), event_.start);                                                   \
	} while (0)
#define HOOK_RECORD_FLUSHED(stream)                                                                                    \
	HOOK_RECORD_MOVED_BYTES(flushed_, (int64_t)stream_flushed(&place_, (stream)))
#define HOOK_BEFORE_MOVED(stream) , const struct stream_place place_ = stream_place_before(stream)
#define HOOK_SHORT_MOVED(stream)                                                                                       \
	, do {                                                                                                         \
		HOOK_SHORT_AMOUNT(place_.fd, 0);                                                                       \
		stream_count_place(&place_, (stream), event_.start);                                                   \
	} while (0)
#define HOOK_RECORD_MOVED(stream)                                                                                      \
	do {                                                                                                           \
		HOOK_RECORD_MOVED_BYTES(place_.fd, 0);                                                                 \
		stream_count_place(&place_, (stream), event_.start);                                                   \
	} while (0)
#define HOOK_SHORT_DIRECTORY(directory) , HOOK_SHORT_AMOUNT(hook_directory_fd(directory), 0)
#define HOOK_RECORD_DIRECTORY(directory) HOOK_RECORD_AMOUNT(hook_directory_fd(directory), 0)

/* NEW: the result is a new descriptor. OPENED: it is of the file with this path, opened with these flags. REOPENED:
 * likewise, and it replaces that of this stream. PAIR: two new descriptors */
#define HOOK_NEW_FD _Generic(result, FILE *: hook_stream_fd, DIR *: hook_directory_fd, int: hook_number_fd)(result)
#define HOOK_AFTER_NEW , descriptor_invalidate(HOOK_NEW_FD)
#define HOOK_RECORD_NEW call_record_words(&event_, HOOK_CURRENT, 0, hook_fd_arg(-1, HOOK_NEW_FD), 0)
/* CREATED: likewise, with these flags */
#define HOOK_AFTER_CREATED(set, flags) HOOK_AFTER_NEW
#define HOOK_RECORD_CREATED(set, flags)                                                                                \
	call_record_words(&event_, HOOK_CURRENT, 0, hook_fd_arg(-1, HOOK_NEW_FD), HOOK_FLAGS(set, flags))
#define HOOK_AFTER_OPENED(path, flags) HOOK_AFTER_NEW
#define HOOK_RECORD_OPENED(path, flags)                                                                                \
	do {                                                                                                           \
		if (HOOK_NEW_FD >= 0) /* before a row of --mode=profile refers to it */                                \
			descriptor_describe_path(HOOK_NEW_FD, event_.end, (path));                                     \
		call_record_words(&event_, HOOK_CURRENT, 0, hook_opened_arg((flags), HOOK_NEW_FD), 0);                 \
	} while (0)
#define HOOK_BEFORE_REOPENED(stream, path, flags)                                                                      \
	, if (stream)                                                                                                  \
		stream_count_pending(stream);                                                                          \
	descriptor_invalidate(hook_stream_fd(stream))
#define HOOK_AFTER_REOPENED(stream, path, flags) HOOK_AFTER_NEW
#define HOOK_RECORD_REOPENED(stream, path, flags)                                                                      \
	do {                                                                                                           \
		if (HOOK_NEW_FD >= 0 && (path))                                                                        \
			descriptor_describe_path(HOOK_NEW_FD, event_.end, (path));                                     \
		call_record_words(&event_, HOOK_CURRENT, 0, hook_opened_arg((flags), HOOK_NEW_FD), 0);                 \
	} while (0)
#define HOOK_AFTER_PAIR(pair)                                                                                          \
	, do {                                                                                                         \
		if (!result) {                                                                                         \
			descriptor_invalidate((pair)[0]);                                                              \
			descriptor_invalidate((pair)[1]);                                                              \
		}                                                                                                      \
	} while (0)
#define HOOK_RECORD_PAIR(pair) HOOK_RECORD_NOTHING

/* CLOSED: this descriptor, determined before the call closes it. CLOSED_STREAM: that of this stream, whose output
 * the call writes. CHANGED, CONNECTED: it
 * refers to something else after the call */
#define HOOK_BEFORE_CLOSED(fd) , HOOK_CLOSING(fd)
#define HOOK_CLOSING(fd)                                                                                               \
	int closed_ = (fd);                                                                                            \
	const uint64_t file_ = profile_closed_word(closed_);                                                           \
                                                                                                                       \
	descriptor_invalidate(closed_)
#define HOOK_RECORD_CLOSED(fd)                                                                                         \
	call_record_words(&event_, HOOK_CURRENT, 0, hook_fd_arg(closed_, (int64_t)result), file_)
#define HOOK_BEFORE_CLOSED_STREAM(stream)                                                                              \
	, const struct stream_closing closing_ = stream_closing_before(stream);                                        \
	HOOK_CLOSING(hook_stream_fd(stream))
#define HOOK_SHORT_CLOSED_STREAM(stream)                                                                               \
	, if (__builtin_expect(closing_.pending && result != -1, 0))                                                   \
	traffic_count_slowly(HOOK_inner_write, closed_, closing_.state, event_.start, 0, (int64_t)closing_.pending)
#define HOOK_RECORD_CLOSED_STREAM(stream)                                                                              \
	call_record_words(&event_, HOOK_CURRENT, 0,                                                                    \
			  hook_fd_arg(closed_, result == -1 ? -1 : (int64_t)closing_.pending), file_)
#define HOOK_AFTER_CHANGED(fd) , descriptor_invalidate(fd)
#define HOOK_RECORD_CHANGED(fd) call_record_words(&event_, HOOK_CURRENT, 0, hook_fd_arg((fd), (int64_t)result), 0)
#define HOOK_AFTER_CONNECTED(fd, address, size) , descriptor_invalidate(fd)
#define HOOK_RECORD_CONNECTED(fd, address, size)                                                                       \
	do {                                                                                                           \
		HOOK_RECORD_CHANGED(fd);                                                                               \
		if (!result || errno == EINPROGRESS || errno == EINTR)                                                 \
			descriptor_describe_peer((fd), event_.start, (address), (size));                               \
	} while (0)
#define HOOK_AFTER_ACCEPTED(fd) , descriptor_invalidate((int)result)
#define HOOK_RECORD_ACCEPTED(fd) HOOK_RECORD_FD(fd)
