/* SPDX-License-Identifier: Apache-2.0 */
/* The order of initialisation in the target. Another library's constructor may make a call before ours runs: the hook
 * then starts the recorder without the program's arguments. */

#include "preload/heap/heap.h"
#include "preload/hook/hook.h"
#include "preload/hook/stream.h"
#include "preload/lookup/lookup.h"
#include "preload/nvtx/nvtx_tool.h"
#include "preload/openmp/openmp.h"
#include "preload/python/annotate.h"
#include "runtime/recorder/device/cupti.h"
#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/record/usage.h"
#include "runtime/recorder/recorder.h"

/* Of the calling thread; 0: it does not record. */
static uint64_t slow_ticks(void)
{
	return thread_self.generation == process.generation ? thread_self.page->slow_ticks : 0;
}

static __attribute__((cold, noinline)) void note_no_openmp(void)
{
	struct thread_guard guard;

	thread_guard_enter(&thread_self, &guard);
	process_note("no OpenMP: -t openmp requires libpillion-openmp.so in LD_PRELOAD");
	thread_guard_leave(&thread_self, &guard);
}

/* on_exit passes the exit status, which atexit does not. The handler is registered first, so it runs last. exit()
 * passes its caller's alignment on. */
static ALIGNS_STACK void at_exit(int status, void *unused)
{
	(void)unused;
	cupti_note_unseen();
	lookup_note_unseen();
	usage_expect_written(stream_count_pending(NULL)); /* libc writes it after this */
	recorder_exit(status, (uintptr_t)__builtin_frame_address(0));
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
	uint64_t begin_ns = clock_monotonic_ns(), slow;
	int error = errno;

	process_touch();
	slow = slow_ticks();
	recorder_set_arguments(argc, argv, environment);
	dso_keep_next();
	hook_resolve();
	thread_init();
	if (hook_attached()) {
		if (nvtx_filter_is_needed())
			nvtx_filter_init();
		on_exit(at_exit, NULL);
		if (process_gate.groups & 1u << TF_GROUP_OPENMP)
			(openmp_init ?: note_no_openmp)();
	}
	heap_init();
	annotate_init();
	/* What was measured within it is a part of it. */
	if (slow_ticks() && !slow_down_is_on)
		thread_self.page->slow_ticks = slow + clock_ticks(clock_monotonic_ns() - begin_ns);
	errno = error;
}

/* Called by the CUDA driver in the library that CUDA_INJECTION64_PATH names. */
HOOK_EXPORT int InitializeInjection(void);
int InitializeInjection(void)
{
	int error = errno;

	if (hook_attached())
		cupti_driver_starts();
	errno = error;
	return 1;
}
