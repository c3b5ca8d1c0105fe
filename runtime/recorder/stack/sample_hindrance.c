/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions under which there are no CPU samples. */
#include <string.h>
#include <sys/utsname.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/capture.h"
#include "runtime/recorder/record/identity.h"
#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/stack/sample.h"
#include "runtime/shared/common/sys.h"

/* Is the kernel at least this version? "6.1.0" is at least 5.9. */
static bool is_kernel(unsigned major, unsigned minor)
{
	struct utsname name;
	unsigned number[2] = {0, 0};
	const char *at = name.release;

	if (sys_call(SYS_uname, &name, 0, 0, 0))
		return false;
	for (int i = 0; i < 2; i++, at++)
		for (; *at >= '0' && *at <= '9'; at++)
			number[i] = number[i] * 10 + (unsigned)(*at - '0');
	return number[0] > major || (number[0] == major && number[1] >= minor);
}

/* ---- /proc/self/status ---- */

/* As the kernel writes a signal set. */
static uint64_t status_set(const char *digits)
{
	uint64_t set = 0;

	for (; (*digits >= '0' && *digits <= '9') || (*digits >= 'a' && *digits <= 'f'); digits++)
		set = set << 4 | (uint64_t)(*digits <= '9' ? *digits - '0' : *digits - 'a' + 10);
	return set;
}

/* "USED/LIMIT" of the signals that the user's processes may have queued. */
static uint64_t status_left(const char *value)
{
	const char *slash = strchr(value, '/');
	uint64_t used = identity_number(value), limit = slash ? identity_number(slash + 1) : 0;

	return limit > used ? limit - used : 0;
}

/* The value of a line with this key, or NULL. */
static const char *status_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	return *line == *key && !strncmp(line, key, length) ? line + length : NULL;
}

/* False: this is the last line of those that matter. */
static bool status_line(const char *line, struct sample_status *s)
{
	const char *value;

	if ((value = status_value(line, "TracerPid:\t")))
		s->is_traced = *value != '0';
	else if ((value = status_value(line, "SigQ:\t")))
		s->signals_left = status_left(value);
	else if ((value = status_value(line, "SigCgt:\t")))
		s->handled = status_set(value);
	else if ((value = status_value(line, "Seccomp_filters:\t")))
		s->filters = (uint32_t)identity_number(value);
	return !value || *line != 'S' || line[1] != 'e';
}

/* In pieces: a user may be in many groups. */
bool sample_read_status(struct sample_status *ret)
{
	int fd = sys_open("/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	char text[1024], *line, *end;
	size_t used = 0;
	bool goes_on = fd >= 0;
	long n;

	*ret = (struct sample_status){.handled = ~0ull, .signals_left = UINT64_MAX};
	while (goes_on && (n = sys_read(fd, text + used, sizeof(text) - 1 - used)) > 0) {
		text[used += (size_t)n] = '\0';
		for (line = text; goes_on && (end = strchr(line, '\n')); line = end + 1)
			goes_on = status_line(line, ret);
		used = line == text ? 0 : strlen(line);
		memmove(text, line, used);
	}
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

/* ---- at the start ---- */

static struct sample_status at_start;
static bool has_start;

static const struct sample_status *status_at_start(void)
{
	if (!has_start)
		has_start = sample_read_status(&at_start);
	return &at_start;
}

bool sample_was_traced(void)
{
	return status_at_start()->is_traced;
}

const char *sample_hindrance(uint64_t *ret_handled)
{
#if !defined(__x86_64__)
	return TF_NOTE_NO_SAMPLES " on this architecture yet, where timers may interrupt system calls";
#endif
	if (!is_kernel(5, 9))
		return TF_NOTE_NO_SAMPLES " before Linux 5.9, where timers may interrupt system calls";
	if (!dso_next("_dl_find_object"))
		return TF_NOTE_NO_SAMPLES " with glibc before 2.35, which cannot find a module without a lock";
	if (sys_is_under_valgrind())
		return TF_NOTE_NO_SAMPLES " under valgrind, which does not support their timers";
	*ret_handled = status_at_start()->handled;
	if (at_start.is_traced)
		return TF_NOTE_NO_SAMPLES
		    ", the process is traced (debugger, strace), the tracer would see the signals";
	if (at_start.filters > capture_filters && (capture_filters >= 0 || process_options.sample == SAMPLE_AUTO) &&
	    at_start.filters)
		return TF_NOTE_NO_SAMPLES ", a seccomp filter may forbid the system calls that they need";
	if (process_options.sample == SAMPLE_AUTO && dso_next("io_uring_queue_init"))
		return TF_NOTE_NO_SAMPLES ", the program is linked to liburing, whose waits samples would end";
	return NULL;
}

/* ---- later ---- */

enum sample_change sample_look(void)
{
	struct sample_status now;
	bool has_status = sample_read_status(&now);

	if (now.is_traced)
		return SAMPLE_TRACED;
	return now.filters > at_start.filters || (has_start && !has_status) ? SAMPLE_FILTERED : SAMPLE_UNCHANGED;
}

/* ---- -s auto ---- */

/* What the user has left is read again after so many threads that it cannot have changed much by them. A forked child
 * relies on what its parent has read, unless that was little. */
bool sample_may_begin(void)
{
	enum { MOST_THREADS = 4096, SHARE = 8, UNREAD_SHARE = 256 };
	static uint32_t limit;
	static uint64_t read_at;
	static bool was_read;
	struct sample_status now = at_start;

	if (process_options.sample != SAMPLE_AUTO)
		return true;
	if (process.sampler_count >= read_at) {
		if (was_read)
			sample_read_status(&now);
		was_read = true;
		limit = now.signals_left / SHARE < MOST_THREADS ? (uint32_t)(now.signals_left / SHARE) : MOST_THREADS;
		read_at = process.sampler_count + now.signals_left / UNREAD_SHARE;
	}
	return process.sampler_count < limit;
}

const char *sample_note_no_signal(void)
{
	return process_options.sample == SAMPLE_AUTO
		   ? TF_NOTE_NO_SAMPLES " from here on, the program uses the signal that takes them"
		   : TF_NOTE_NO_SAMPLES " from here on, the program uses all possible signals";
}
