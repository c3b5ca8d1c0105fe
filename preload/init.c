/* SPDX-License-Identifier: Apache-2.0 */
/* The order of initialisation in the target. Another library's constructor may make a call before ours runs: the hook
 * then starts the recorder without the program's arguments. */
#include <stdlib.h>

#include "runtime/device/cupti.h"
#include "runtime/record/process.h"
#include "runtime/record/thread.h"
#include "preload/heap/heap.h"
#include "preload/python/annotate.h"
#include "preload/lookup/lookup.h"
#include "preload/hook/hook.h"
#include "preload/nvtx/nvtx_tool.h"
#include "runtime/recorder.h"

/* on_exit passes the exit status, which atexit does not. The handler is registered first, so it runs last. */
static void at_exit(int status, void *unused)
{
	(void)unused;
	cupti_note_unseen();
	lookup_note_unseen();
	recorder_end(TF_END_EXIT, status);
}

__attribute__((constructor)) static void load(int argc, char **argv, char **environment)
{
	int error = errno;

	recorder_set_arguments(argc, argv, environment);
	hook_resolve();
	thread_init();
	if (hook_attached()) {
		if (nvtx_filter_is_needed())
			nvtx_filter_init();
		on_exit(at_exit, NULL);
	}
	heap_init();
	annotate_init();
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
