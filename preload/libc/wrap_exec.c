/* SPDX-License-Identifier: Apache-2.0 */
/* exec and spawn: our library is added to the environment of the new image, or removed from it where it would do harm.
 * All of this may run in the child of a vfork, in the parent's memory, so all data are on the stack. */
#include <alloca.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/foreign_profiler.h"
#include "runtime/shared/common/preloadable.h"
#include "runtime/recorder/stack/sample_mask.h"
#include "runtime/shared/common/sys.h"
#include "preload/hook/hook_record.h"
#include "runtime/recorder/recorder.h"

/* ---- which file execvp would run ---- */

static bool is_executable(const char *path)
{
	return sys_access(path, X_OK) == 0;
}

/* The size of the longest path that find_file() may return. */
static size_t path_bytes(const char *file)
{
	const char *path = identity_variable(environ, "PATH");

	return (path ? strlen(path) : sizeof("/bin:/usr/bin")) + strlen(file) + 2;
}

/* Sets `ret` to the path of the file; empty: not found, and the real call will fail. */
static void find_file(const char *file, char *const *environment, char *ret, size_t size)
{
	const char *path = identity_variable(environment, "PATH");
	size_t length = strlen(file);

	ret[0] = '\0';
	if (length >= size)
		return;
	if (strchr(file, '/')) {
		memcpy(ret, file, length + 1);
		return;
	}
	for (path = path ? path : "/bin:/usr/bin"; *path;) {
		size_t part = strcspn(path, ":");

		if (part + length + 2 <= size) {
			memcpy(ret, path, part);
			ret[part] = '/';
			memcpy(ret + part + !!part, file, length + 1);
			if (is_executable(ret))
				return;
		}
		path += part + (path[part] == ':');
	}
	ret[0] = '\0';
}

/* ---- the environment of the new image ---- */

/* Is `library` one of the items of LD_PRELOAD (separated by spaces and colons)? Returns where, or NULL. */
static const char *find_item(const char *list, const char *library)
{
	size_t length = strlen(library);

	for (const char *at = list; (at = strstr(at, library)); at += length)
		if ((at == list || strchr(" :", at[-1])) && strchr(" :", at[length]))
			return at;
	return NULL;
}

#define PRELOAD "LD_PRELOAD="
#define AUDIT "LD_AUDIT="

static size_t auditor_bytes(void)
{
	return strlen(process_library()) + sizeof(PRELOADABLE_AUDITOR);
}

struct plan {
	char *preload;	     /* new value; NULL: the variable is removed */
	bool keep_preload;   /* unchanged */
	bool complete;	     /* add those of our other variables that are missing */
	char *audit;	     /* LD_AUDIT, likewise */
	bool keep_audit;
	bool bare; /* without our other variables */
};

/* The sanitizer's runtime that precedes us because another program needed it, or NULL. */
static const char *find_runtime(const char *list, const char *at)
{
	const char *start = at;
	size_t length;

	if (at == list || at[-1] != ':')
		return NULL;
	for (start = at - 1; start > list && !strchr(" :", start[-1]); start--)
		;
	length = (size_t)(at - 1 - start);
	return length > 6 && !strncmp(start, "lib", 3) && memmem(start, length, "san.so", 6) &&
			       !memchr(start, '/', length)
		       ? start
		       : NULL;
}

/* LD_PRELOAD's value without `length` bytes at `at`, in `ret`. */
static void list_without(const char *list, const char *at, size_t length, char *ret)
{
	size_t before = (size_t)(at - list);

	while (before && strchr(" :", list[before - 1]))
		before--;
	memcpy(ret, list, before);
	strcpy(ret + before, at + length);
	while (*ret && strchr(" :", *ret))
		memmove(ret, ret + 1, strlen(ret));
}

/* After a chroot, or in a sandbox. */
static bool is_hidden(const char *file)
{
	return sys_access(file, R_OK) != 0;
}

/* Where it is hidden, ld.so would print an error; under a seccomp filter the new image would not know which system
 * calls it must not make. */
static bool is_unwelcome(const struct preloadable *program, const char *file)
{
	return program->kind == PRELOADABLE_HARM || sys_is_silent || is_hidden(file);
}

static bool is_following(void)
{
	return process.generation && process_options.output && process_gate.groups;
}

/* `room` has space for the old value, the library and a sanitizer's name. */
static struct plan make_plan(const struct preloadable *program, const char *list, char *room)
{
	const char *library = process_library(), *at = list ? find_item(list, library) : NULL;

	if (is_unwelcome(program, library)) {
		if (!at)
			return (struct plan){.keep_preload = true};
		list_without(list, at, strlen(library), room);
		return (struct plan){.preload = *room ? room : NULL};
	}
	if (!is_following() || (!at && !process_options.follow_clean_env))
		return (struct plan){.keep_preload = true};
	if (at && !program->runtime[0] && find_runtime(list, at)) {
		const char *runtime = find_runtime(list, at);

		list_without(list, runtime, (size_t)(at - runtime), room);
		return (struct plan){.preload = room, .complete = process_options.follow_clean_env};
	}
	if (at && !(program->runtime[0] && !strstr(list, program->runtime)))
		return (struct plan){.keep_preload = true, .complete = process_options.follow_clean_env};
	room[0] = '\0';
	if (program->runtime[0])
		strcat(strcpy(room, program->runtime), ":");
	if (!at) {
		strcat(room, library);
		if (list && *list)
			strcat(room, ":");
	}
	if (list)
		strcat(room, list);
	return (struct plan){.preload = room, .complete = process_options.follow_clean_env};
}

/* The loader's auditor, which is in the directory of the library. `room` has space for its path and for the variable's
 * name, the path and the old value. */
static void plan_audit(const struct preloadable *program, const char *list, char *room, struct plan *plan)
{
	const char *library = process_library(), *slash = strrchr(library, '/'), *at;
	char *auditor = room, *value = room + auditor_bytes() + strlen(AUDIT);

	plan->keep_audit = true;
	if (!process_options.ld_audit || !slash)
		return;
	strcpy(mempcpy(auditor, library, (size_t)(slash + 1 - library)), PRELOADABLE_AUDITOR);
	at = list ? find_item(list, auditor) : NULL;
	if (is_unwelcome(program, auditor)) {
		plan->keep_audit = !at;
		if (at)
			list_without(list, at, strlen(auditor), value);
	} else if (!at && process_options.follow_clean_env && is_following()) {
		plan->keep_audit = false;
		strcpy(value, auditor);
		if (list && *list)
			strcat(strcat(value, ":"), list);
	}
	plan->audit = plan->keep_audit || !*value ? NULL : value;
}

static size_t count_strings(char *const *strings)
{
	size_t n = 0;

	while (strings && strings[n])
		n++;
	return n;
}

static bool has_variable(char *const *environment, const char *assignment)
{
	size_t length = strcspn(assignment, "=") + 1;

	for (; *environment; environment++)
		if (!strncmp(*environment, assignment, length))
			return true;
	return false;
}

/* Writes the variable's name in front of a planned value, where space is reserved for it. */
static char *assignment(const char *name, char *value)
{
	return memcpy(value - strlen(name), name, strlen(name));
}

static bool is_ours(const char *assignment)
{
	for (char *const *ours = process_environment(); *ours; ours++)
		if (!strcmp(assignment, *ours))
			return true;
	return false;
}

/* CUDA_INJECTION64_PATH with our library, which a program that nsys or ncu starts must not get. */
static bool is_our_injection(const char *assignment)
{
	static const char name[] = "CUDA_INJECTION64_PATH=";

	return !strncmp(assignment, name, sizeof(name) - 1) &&
	       !strcmp(assignment + sizeof(name) - 1, process_library());
}

/* `ret` has space for both environments and two more variables. */
static void merge_environment(char *const *old, const struct plan *plan, char **ret)
{
	bool is_profiled = foreign_profiler_is_named(old);
	char **out = ret;

	if (plan->preload)
		*out++ = assignment(PRELOAD, plan->preload);
	if (plan->audit)
		*out++ = assignment(AUDIT, plan->audit);
	for (; old && *old; old++)
		if ((plan->keep_preload || strncmp(*old, PRELOAD, strlen(PRELOAD)) != 0) &&
		    (plan->keep_audit || strncmp(*old, AUDIT, strlen(AUDIT)) != 0) &&
		    !(is_profiled && is_our_injection(*old)) && !(plan->bare && is_ours(*old)))
			*out++ = *old;
	*out = NULL;
	if (!plan->complete)
		return;
	for (char *const *ours = process_environment(); *ours; ours++) {
		if (!has_variable(ret, *ours) && !(is_profiled && is_our_injection(*ours))) {
			*out++ = *ours;
			*out = NULL;
		}
	}
}

/* The new value of LD_PRELOAD or LD_AUDIT, with what plan_audit() needs. */
static size_t room_bytes(const char *list)
{
	return sizeof(PRELOAD) + (list ? strlen(list) : 0) + 2 * auditor_bytes() +
	       sizeof(((struct preloadable *)0)->runtime);
}

static size_t merged_count(char *const *old)
{
	return count_strings(old) + count_strings(process_environment()) + 3;
}

static size_t merged_bytes(char *const *old)
{
	return merged_count(old) * sizeof(char *) + room_bytes(identity_variable(old, "LD_PRELOAD")) +
	       room_bytes(identity_variable(old, "LD_AUDIT"));
}

/* The environment for `program`, in merged_bytes(). If `bare`, which is the program's path: without what is ours. */
static char *const *merge(char *const *old, struct preloadable *program, const char *bare, char **ret)
{
	const char *preload = identity_variable(old, "LD_PRELOAD");
	char *room = (char *)(ret + merged_count(old));
	struct plan plan;

	if (bare) {
		program->kind = PRELOADABLE_HARM;
		process_bare(bare, "length");
	}
	plan = make_plan(program, preload, room + strlen(PRELOAD));
	plan.bare = bare;
	plan_audit(program, identity_variable(old, "LD_AUDIT"), room + room_bytes(preload), &plan);
	merge_environment(old, &plan, ret);
	return ret;
}

/* The program cleaned the environment, and the user does not want us to restore it (--follow-clean-env=false). */
static bool loses_environment(char *const *environment)
{
	return !process_options.follow_clean_env && !identity_variable(environment, "PILLION_OUTPUT");
}

/* Why any program would not be recorded; NULL: it would be. */
static const char *reason_not_to_follow(char *const *environment)
{
	if (is_following() && loses_environment(environment))
		return "environment";
	return !sys_is_silent && is_hidden(process_library()) ? "hidden" : NULL;
}

/* The kernel answers addresses that cannot be read with EFAULT: such a call is made as it is. */
static bool is_readable(const char *path, char *const *arguments, char *const *environment)
{
	return sys_is_silent ||
	       (readable_string(path) && readable_strings(arguments) && readable_strings(environment));
}

/* The child of a vfork has read with its own counts of the kernel, but in its parent's memory. */
static void forget_reading(const struct sys_moved *before)
{
	if (process_is_borrowed())
		sys_moved = *before;
}

/* Shared by calls with the program's path and calls with its descriptor. */
#define PREPARE(check, shown, arguments, environment)                                                                  \
	char *const *const given_ = (environment), *const *environment_ = given_;                                      \
	const char *const shown_ = (shown);                                                                            \
	struct preloadable program_ = {0};                                                                             \
	do {                                                                                                           \
		const struct sys_moved moved_ = sys_get_moved();                                                       \
                                                                                                                       \
		if (!process.generation && process_gate.groups)                                                        \
			hook_attached(); /* a child of forkpty or daemon */                                            \
		/* A recorder that has failed, as where the capture is hidden, still removes a hidden library. */      \
		if (!process_inherited.is_configured || !process_options.output ||                                     \
		    !is_readable(shown_, arguments, given_))                                                           \
			break;                                                                                         \
		if (is_following())                                                                                    \
			check;                                                                                         \
		preloadable_check_listing(arguments, given_, &program_);                                               \
		if (!program_.reason)                                                                                  \
			program_.reason = reason_not_to_follow(given_);                                                \
		if (program_.reason)                                                                                   \
			process_bare(shown_, program_.reason);                                                         \
		environment_ = merge(given_, &program_, NULL, alloca(merged_bytes(given_)));                           \
		forget_reading(&moved_);                                                                               \
	} while (0)

static bool is_too_long(int result)
{
	return result == E2BIG || (result < 0 && errno == E2BIG);
}

/* The kernel limits the environment and the arguments in all. Where they are too long only because of what is ours, the
 * program starts without it, and is listed before that: an exec does not return. A macro, because the real calls
 * differ. */
#define START(call)                                                                                                    \
	({                                                                                                             \
		int result_ = (call);                                                                                  \
                                                                                                                       \
		if (is_too_long(result_) && environment_ != given_) {                                                  \
			environment_ = merge(given_, &program_, shown_, alloca(merged_bytes(given_)));                 \
			result_ = (call);                                                                              \
			if (result_)                                                                                   \
				process_bare(shown_, "");                                                              \
		}                                                                                                      \
		result_;                                                                                               \
	})

/* ---- the calls ---- */

static void about_to_exec(const char *path)
{
	sample_mask_show();
	if (!path || is_executable(path))
		recorder_end(TF_END_EXEC, 0);
}

static int exec_failed(int result)
{
	int error = errno;

	sample_mask_hide();
	if (process.end == TF_END_EXEC)
		recorder_end(TF_END_NONE, 0);
	errno = error;
	return result;
}

int wrap_execve(const char *path, char *const arguments[], char *const environment[])
{
	PREPARE(preloadable_check(path, &program_), path, arguments, environment);
	about_to_exec(path);
	return exec_failed(START(real_execve(path, arguments, environment_)));
}

int wrap_execv(const char *path, char *const arguments[])
{
	return wrap_execve(path, arguments, environ);
}

int wrap_execvpe(const char *file, char *const arguments[], char *const environment[])
{
	size_t size = path_bytes(file);
	char *path = alloca(size);

	find_file(file, environ, path, size);
	PREPARE(preloadable_check(path, &program_), path[0] ? path : file, arguments, environment);
	about_to_exec(path);
	return exec_failed(START(real_execvpe(file, arguments, environment_)));
}

int wrap_execvp(const char *file, char *const arguments[])
{
	return wrap_execvpe(file, arguments, environ);
}

int wrap_fexecve(int fd, char *const arguments[], char *const environment[])
{
	PREPARE(preloadable_check_fd(fd, &program_), "(descriptor)", arguments, environment);
	about_to_exec(NULL);
	return exec_failed(START(real_fexecve(fd, arguments, environment_)));
}

int wrap_execveat(int at, const char *path, char *const arguments[], char *const environment[], int flags)
{
	int fd = is_following() && !sys_is_silent && !(flags & AT_EMPTY_PATH)
			 ? sys_openat(at, path, O_RDONLY | O_CLOEXEC, 0)
			 : at;

	PREPARE(preloadable_check_fd(fd, &program_), path, arguments, environment);
	if (fd >= 0 && fd != at)
		sys_close(fd);
	about_to_exec(NULL);
	return exec_failed(START(real_execveat(at, path, arguments, environment_, flags)));
}

static int spawn(__typeof__(real_posix_spawn) real, int HOOK_CURRENT, const char *found, pid_t *pid, const char *file,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const arguments[], char *const environment[])
{
	int result;

	PREPARE(preloadable_check(found, &program_), found == file || found[0] ? found : file, arguments, environment);
	HOOK_TIME(START(real(pid, file, actions, attributes, arguments, environment_)), NOTHING);
	return result;
}

int wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		     const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	return spawn(real_posix_spawn, HOOK_posix_spawn, path, pid, path, actions, attributes, arguments, environment);
}

int wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	size_t size = path_bytes(file);
	char *path = alloca(size);

	find_file(file, environ, path, size);
	return spawn(real_posix_spawnp, HOOK_posix_spawnp, path, pid, file, actions, attributes, arguments,
		     environment);
}

/* ---- lists of arguments ---- */

/* The first argument may be NULL, although the header declares it nonnull; the compiler must not rely on that. */
#define ARGUMENTS(last)                                                                                                \
	va_list list_, again_;                                                                                         \
	const char *first_ = (last);                                                                                   \
	char **arguments;                                                                                              \
	size_t count_ = 1;                                                                                             \
                                                                                                                       \
	__asm__("" : "+r"(first_));                                                                                    \
	va_start(list_, last);                                                                                         \
	va_copy(again_, list_);                                                                                        \
	while (first_ && va_arg(list_, char *))                                                                        \
		count_++;                                                                                              \
	va_end(list_);                                                                                                 \
	arguments = alloca((count_ + 1) * sizeof(*arguments));                                                         \
	arguments[0] = (char *)first_;                                                                                 \
	for (size_t i_ = 1; first_ && i_ <= count_; i_++)                                                              \
		arguments[i_] = va_arg(again_, char *)

HOOK_EXPORT ALIGNS_STACK int execl(const char *path, const char *argument, ...)
{
	ARGUMENTS(argument);
	va_end(again_);
	return wrap_execve(path, arguments, environ);
}

HOOK_EXPORT ALIGNS_STACK int execlp(const char *file, const char *argument, ...)
{
	ARGUMENTS(argument);
	va_end(again_);
	return wrap_execvpe(file, arguments, environ);
}

HOOK_EXPORT ALIGNS_STACK int execle(const char *path, const char *argument, ...)
{
	char *const *environment;

	ARGUMENTS(argument);
	environment = va_arg(again_, char *const *);
	va_end(again_);
	return wrap_execve(path, arguments, environment);
}
