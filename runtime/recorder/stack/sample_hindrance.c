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

bool sample_is_traced(void)
{
	static const char key[] = "\nTracerPid:\t";
	char status[512], *at; /* the line is near the beginning */

	if (sys_read_file("/proc/self/status", status, sizeof(status)) <= 0)
		return false;
	at = strstr(status, key);
	return at && at[sizeof(key) - 1] != '0';
}

const char *sample_hindrance(void)
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
	if (sample_is_traced())
		return TF_NOTE_NO_SAMPLES
			", the process is traced (debugger, strace), the tracer would see the signals";
	if (process_options.sample == SAMPLE_AUTO && dso_next("io_uring_queue_init"))
		return TF_NOTE_NO_SAMPLES ", the program is linked to liburing, whose waits samples would end";
	return NULL;
}

/* ---- -s auto ---- */

bool sample_may_begin(uint32_t sampled_threads)
{
	enum { MOST_THREADS = 4096, SHARE = 8 };
	struct {
		uint64_t soft, hard;
	} limit;

	if (process_options.sample != SAMPLE_AUTO)
		return true;
	return sampled_threads < MOST_THREADS && (sys_call(SYS_prlimit64, 0, RLIMIT_SIGPENDING, NULL, &limit) < 0 ||
						  sampled_threads < limit.soft / SHARE);
}

const char *sample_note_no_signal(void)
{
	return process_options.sample == SAMPLE_AUTO
		   ? TF_NOTE_NO_SAMPLES " from here on, the program uses the signal that takes them"
		   : TF_NOTE_NO_SAMPLES " from here on, the program uses all possible signals";
}
