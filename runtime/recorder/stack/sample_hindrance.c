/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions under which there are no CPU samples. */
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/process.h"
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

/* The value of a line; NULL: there is none. */
static const char *status_value(const char *status, const char *key, size_t key_bytes)
{
	const char *at = strstr(status, key);

	return at ? at + key_bytes : NULL;
}

/* As the kernel writes a signal set. */
static uint64_t status_set(const char *digits)
{
	uint64_t set = 0;

	for (; (*digits >= '0' && *digits <= '9') || (*digits >= 'a' && *digits <= 'f'); digits++)
		set = set << 4 | (uint64_t)(*digits <= '9' ? *digits - '0' : *digits - 'a' + 10);
	return set;
}

static int was_traced = -1; /* what was found first */

bool sample_is_traced(uint64_t *ret_handled)
{
	static const char tracer[] = "\nTracerPid:\t", handled[] = "\nSigCgt:\t";
	char status[1024]; /* has both lines, unless the program is in many groups */
	const char *value = NULL;
	bool has_status = sys_read_file("/proc/self/status", status, sizeof(status)) > 0;

	if (has_status)
		value = status_value(status, handled, sizeof(handled) - 1);
	*ret_handled = value && strchr(value, '\n') ? status_set(value) : ~0ull;
	value = has_status ? status_value(status, tracer, sizeof(tracer) - 1) : NULL;
	if (was_traced < 0)
		was_traced = value && *value != '0';
	return value && *value != '0';
}

bool sample_was_traced(void)
{
	uint64_t unused;

	return was_traced < 0 ? sample_is_traced(&unused) : was_traced;
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
	if (sample_is_traced(ret_handled))
		return TF_NOTE_NO_SAMPLES
		    ", the process is traced (debugger, strace), the tracer would see the signals";
	if (process_options.sample == SAMPLE_AUTO && dso_next("io_uring_queue_init"))
		return TF_NOTE_NO_SAMPLES ", the program is linked to liburing, whose waits samples would end";
	return NULL;
}

/* ---- -s auto ---- */

/* The limit is read again now and then, because the program may lower it. */
bool sample_may_begin(void)
{
	enum { MOST_THREADS = 4096, SHARE = 8, READ_AGAIN = 16 };
	uint64_t limit[2]; /* soft and hard */

	if (process_options.sample != SAMPLE_AUTO)
		return true;
	if (process.sampler_count % READ_AGAIN == 0) {
		process.sampler_limit = MOST_THREADS;
		if (!sys_call(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, limit) && limit[0] / SHARE < MOST_THREADS)
			process.sampler_limit = (uint32_t)(limit[0] / SHARE);
	}
	return process.sampler_count < process.sampler_limit;
}

const char *sample_note_no_signal(void)
{
	return process_options.sample == SAMPLE_AUTO
		   ? TF_NOTE_NO_SAMPLES " from here on, the program uses the signal that takes them"
		   : TF_NOTE_NO_SAMPLES " from here on, the program uses all possible signals";
}
