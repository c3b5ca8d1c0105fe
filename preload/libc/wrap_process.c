/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads: calls that begin or end one, or hide it from us. */
#include <sched.h>
#include <string.h>

#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/hot.h"
#include "runtime/recorder/loader/loader.h"
#include "runtime/shared/common/sys.h"
#include "runtime/recorder/stack/stack.h"
#include "preload/hook/caller.h"
#include "preload/hook/hook_record.h"
#include "preload/hook/terminated.h"
#include "runtime/recorder/recorder.h"

/* ---- beginnings ---- */

/* A macro, because call_begin() needs the wrapper's own frame. */
#define FORK(symbol, parameters, arguments, after)                                                                     \
	pid_t wrap_##symbol parameters                                                                                 \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		bool is_timed;                                                                                         \
		struct call event_;                                                                                    \
		uint64_t begin_ticks;                                                                                  \
		pid_t result;                                                                                          \
                                                                                                                       \
		if (process_gate.groups)                                                                               \
			recorder_before_fork();                                                                        \
		is_timed = event_enabled(TF_GROUP_OSRT) && call_begin(&event_, HOOK_CURRENT);                          \
		begin_ticks = process.generation ? clock_now() : 0;                                                    \
		loader_fork_begin();                                                                                   \
		result = real_##symbol arguments;                                                                      \
		if (result)                                                                                            \
			loader_fork_end(false);                                                                        \
		if (result > 0)                                                                                        \
			after;                                                                                         \
		if (result == 0) {                                                                                     \
			/* Records the child even if it never calls us again. Not by hook_attached(), whose slow path  \
			 * is among code that a child does not execute otherwise: two page faults. */                  \
			process_touch();                                                                               \
			process_wipe_unless_wiped();                                                                   \
			loader_fork_end(true);                                                                         \
			thread_self.created_ticks = begin_ticks;                                                       \
			if (process_gate.groups)                                                                       \
				recorder_attach(&thread_self, hook_function_table());                                  \
		} else if (is_timed && call_end(&event_, HOOK_CURRENT, process_osrt_threshold)) {                      \
			HOOK_RECORD_VALUE(result);                                                                     \
		}                                                                                                      \
		return result;                                                                                         \
	}

FORK(fork, (void), (), (void)0)
FORK(forkpty, (int *fd, char *name, const struct termios *t, const struct winsize *w), (fd, name, t, w),
     descriptor_invalidate(*fd))

/* The parent ends inside it, by an _exit that is not intercepted; the child returns from it. */
int wrap_daemon(int keep_directory, int keep_files)
{
	int result, error, pid = sys_getpid();

	recorder_end(TF_END_EXIT, 0);
	loader_fork_begin();
	result = real_daemon(keep_directory, keep_files);
	error = errno;
	process_wipe_unless_wiped();
	loader_fork_end(sys_getpid() != pid);
	if (process.end)
		recorder_end(TF_END_NONE, 0); /* no child was created */
	else if (process_gate.groups)
		hook_attached();
	errno = error;
	return result;
}

/* What a new thread needs until it has begun. Static, because the program must not see an allocation of ours. */
struct start {
	uint32_t is_used;
	void *(*function)(void *);
	void *argument;
	uint64_t ticks;
};

LARGE static struct start starts[256];

/* A thread is attached when it starts, so that its account begins there, not at its first recorded call. Without room
 * in the table, or while no range is open, it is attached at its first call. */
static void *start_run(void *argument)
{
	struct start *s = argument, own = *s;

	__atomic_store_n(&s->is_used, 0, __ATOMIC_RELEASE);
	thread_self.created_ticks = own.ticks;
	if (process_gate.groups & (*process_gate.recording | PROCESS_SAMPLES))
		hook_attached();
	return own.function(own.argument); /* a jump, so that this frame is in no stack */
}

/* Replaces the thread's function by ours, which calls it. NULL: not replaced. */
static struct start *start_take(void *(**function)(void *), void **argument)
{
	for (size_t i = 0; process_gate.groups && i < sizeof(starts) / sizeof(*starts); i++) {
		struct start *s = &starts[i];

		if (__atomic_load_n(&s->is_used, __ATOMIC_RELAXED) ||
		    __atomic_exchange_n(&s->is_used, 1, __ATOMIC_ACQUIRE))
			continue;
		s->function = *function;
		s->argument = *argument;
		s->ticks = clock_now();
		*function = start_run;
		*argument = s;
		return s;
	}
	return NULL;
}

int wrap_pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	enum { HOOK_CURRENT = HOOK_pthread_create };
	struct start *start;
	struct call event_;
	bool is_timed;
	int result;

	/* With two threads the page of the first one must be in the file, and only that thread can move it there. */
	if (process_gate.groups && hook_attached())
		thread_finish_pending(&thread_self);
	start = start_take(&function, &argument);
	is_timed = event_enabled(TF_GROUP_OSRT) && call_begin(&event_, HOOK_CURRENT);
	result = real_pthread_create(id, attributes, function, argument);
	if (result && start)
		__atomic_store_n(&start->is_used, 0, __ATOMIC_RELEASE);
	if (is_timed && call_end(&event_, HOOK_CURRENT, process_osrt_threshold))
		HOOK_RECORD_NOTHING;
	return result;
}

int wrap_pthread_setname_np(pthread_t id, const char *name)
{
	int result = real_pthread_setname_np(id, name), error = errno;

	if (!result && pthread_equal(id, pthread_self()) && thread_self.generation == process.generation)
		thread_set_name(&thread_self, name);
	errno = error;
	return result;
}

int wrap_dlclose(void *handle)
{
	int result = real_dlclose(handle);

	stack_module_unloaded();
	caller_unloaded();
	return result;
}

/* ---- ends ---- */

HOOK_EXPORT ALIGNS_STACK void _exit(int status)
{
	recorder_exit(status, (uintptr_t)__builtin_frame_address(0));
	real__exit(status);
	__builtin_unreachable();
}

HOOK_EXPORT ALIGNS_STACK void _Exit(int status)
{
	recorder_exit(status, (uintptr_t)__builtin_frame_address(0));
	real__Exit(status);
	__builtin_unreachable();
}

HOOK_EXPORT ALIGNS_STACK void quick_exit(int status)
{
	recorder_exit(status, (uintptr_t)__builtin_frame_address(0));
	real_quick_exit(status);
	__builtin_unreachable();
}

HOOK_EXPORT ALIGNS_STACK void abort(void)
{
	terminated_note(__builtin_return_address(0));
	recorder_end(TF_END_ABORT, 0);
	real_abort();
	__builtin_unreachable();
}

/* ---- waiting for children ---- */

static void saw_child(pid_t pid, int status)
{
	int error = errno;

	if (pid > 0 && (WIFEXITED(status) || WIFSIGNALED(status)))
		recorder_child_ended(pid, status);
	errno = error;
}

/* The child that was waited for; if there was none, the error is recorded in its place. */
#define HOOK_RECORD_CHILD(pid) HOOK_RECORD_WORD((pid) < 0 ? 0 : tf_arg(TF_ARG_VALUE, 0, (uint64_t)(pid)))

#define WAIT(symbol, parameters, arguments)                                                                            \
	pid_t wrap_##symbol parameters                                                                                 \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		int own_status = 0;                                                                                    \
		pid_t result;                                                                                          \
                                                                                                                       \
		if (!status)                                                                                           \
			status = &own_status;                                                                          \
		result = timed_##symbol arguments;                                                                     \
		if (result > 0)                                                                                        \
			saw_child(result, *status);                                                                    \
		return result;                                                                                         \
	}
#define TIMED_WAIT(symbol, parameters, arguments)                                                                      \
	static pid_t timed_##symbol parameters                                                                         \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		pid_t result;                                                                                          \
                                                                                                                       \
		HOOK_TIME(real_##symbol arguments, CHILD(result));                                                     \
		return result;                                                                                         \
	}                                                                                                              \
	WAIT(symbol, parameters, arguments)

TIMED_WAIT(wait, (int *status), (status))
TIMED_WAIT(waitpid, (pid_t pid, int *status, int flags), (pid, status, flags))
TIMED_WAIT(wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage))
TIMED_WAIT(wait4, (pid_t pid, int *status, int flags, struct rusage *usage), (pid, status, flags, usage))

static int timed_waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	enum { HOOK_CURRENT = HOOK_waitid };
	int result;

	HOOK_TIME(real_waitid(type, id, info, flags), VALUE(result ? 0 : info->si_pid));
	return result;
}

int wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
	siginfo_t own = {0};
	int result;

	if (!info)
		info = &own;
	result = timed_waitid(type, id, info, flags);
	if (!result && !(flags & WNOWAIT)) {
		if (info->si_code == CLD_EXITED)
			saw_child(info->si_pid, (info->si_status & 0xff) << 8);
		else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
			saw_child(info->si_pid, (info->si_status & 0x7f) | (info->si_code == CLD_DUMPED ? 0x80 : 0));
	}
	return result;
}

/* ---- calls that take files away ---- */

/* Each of these freezes the recorder before the call, because afterwards the trace file may not be accessible. */
static int frozen_call(int result)
{
	recorder_freeze_end(false, result ? NULL
					  : "chroot, setuid or unshare: children are not recorded, and programs that "
					    "it starts only if they reach the capture",
			    NULL);
	return result;
}

int wrap_chroot(const char *path)
{
	recorder_freeze(false);
	return frozen_call(real_chroot(path));
}

enum { NEW_TIME = 0x80 }; /* CLONE_NEWTIME of Linux 5.6 */

int wrap_unshare(int flags)
{
	if (flags & NEW_TIME)
		clock_expect_namespace();
	if (!(flags & (CLONE_NEWNS | CLONE_NEWUSER)))
		return real_unshare(flags);
	recorder_freeze(false);
	return frozen_call(real_unshare(flags));
}

int wrap_setns(int fd, int type)
{
	recorder_freeze(false);
	return frozen_call(real_setns(fd, type));
}

static bool is_other_user(uid_t effective)
{
	return effective != (uid_t)-1 && effective != geteuid();
}

int wrap_setuid(uid_t uid)
{
	if (!is_other_user(uid))
		return real_setuid(uid);
	recorder_freeze(false);
	return frozen_call(real_setuid(uid));
}

int wrap_seteuid(uid_t uid)
{
	if (!is_other_user(uid))
		return real_seteuid(uid);
	recorder_freeze(false);
	return frozen_call(real_seteuid(uid));
}

int wrap_setreuid(uid_t real, uid_t effective)
{
	if (!is_other_user(effective))
		return real_setreuid(real, effective);
	recorder_freeze(false);
	return frozen_call(real_setreuid(real, effective));
}

int wrap_setresuid(uid_t real, uid_t effective, uid_t saved)
{
	if (!is_other_user(effective))
		return real_setresuid(real, effective, saved);
	recorder_freeze(false);
	return frozen_call(real_setresuid(real, effective, saved));
}
