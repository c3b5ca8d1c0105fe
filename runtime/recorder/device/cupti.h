/* SPDX-License-Identifier: Apache-2.0 */
/* Device times from CUPTI's activity records: the interface for wrappers and the recorder.
 *
 * The process's own copy of CUPTI is used, and it is opened only after the program's calls have initialised the
 * driver: a driver that we had initialised would not survive the program's forks. Only the activity interface is
 * used, no subscription. A forked child of a process that has opened CUPTI does not use it.
 *
 * The wrappers of CUDA calls call cupti_follow() and cupti_succeeded(); cupti_flush() is called when an image ends. */
#pragma once

#include "runtime/recorder/device/cupti_state.h"

/* The slow path: opens, pauses or resumes CUPTI. has_driver: this thread has returned from a driver call without an
 * error, so libcuda has been loaded completely. */
void cupti_change(bool is_wanted, bool has_driver);

/* Adds a note to the ledger if this process has no driver, although a call has succeeded that needs one. */
void cupti_check_driver(void);

/* To be called before a CUDA call; is_wanted: the call is recorded. Three loads if nothing changes. Waits while
 * another thread opens CUPTI. */
static inline void cupti_follow(bool is_wanted)
{
	bool has_changed = is_wanted ? !cupti_phase_has(CUPTI_SETTLED) || (cupti_may_record() && cupti_is_asked())
				     : cupti_phase_has(CUPTI_RECORDS);

	if (__builtin_expect(has_changed, 0))
		cupti_change(is_wanted, false);
}

/* Reads the records that are complete: to be called before a range ends in this process, because the launcher may end
 * the process at once. */
void cupti_range_ends(void);

/* To be called after a recorded CUDA call that returned no error; needs_driver: none succeeds without a driver. */
static inline void cupti_succeeded(bool needs_driver)
{
	if (__builtin_expect(!cupti_phase_has(CUPTI_SETTLED), 0)) {
		cupti_change(true, true);
		if (needs_driver)
			cupti_check_driver();
	}
}

/* The slow paths of the next two. */
void cupti_count_launch(void *stream);
void cupti_flush_waited(void);

/* After a recorded launch that returned no error. */
static inline void cupti_launched(void *stream)
{
	if (__builtin_expect(cupti_state.counts_launches, 0))
		cupti_count_launch(stream);
}

/* After a recorded call that waited for the device and returned no error: reads complete records if a flush
 * is due, because CUPTI's own periodic flush returns full buffers only. */
static inline void cupti_waited(void)
{
	if (cupti_phase_has(CUPTI_RECORDS))
		cupti_flush_waited();
}

/* The CUDA driver has loaded our library by CUDA_INJECTION64_PATH, within the program's cuInit. Opens CUPTI if
 * recording is requested. */
void cupti_driver_starts(void);

/* The next two are called at the end of each image. Most have nothing to do with CUDA, and the page fault for the code
 * of this folder would cost them more than all that it does. */
extern uint64_t cupti_injected_in; /* generation of the image in which the driver has loaded our library */
void cupti_look_for_unseen(void);
void cupti_flush_now(void);

/* Adds a note to the ledger if the driver was initialised but no CUDA call was seen. */
static inline void cupti_note_unseen(void)
{
	if (cupti_injected_in && cupti_injected_in == process.generation)
		cupti_look_for_unseen();
}

/* Reads the records that CUPTI still holds. In a signal handler nothing is read; the ledger then says so. */
static inline void cupti_flush(void)
{
	if (__atomic_load_n(&cupti_phase_word, __ATOMIC_RELAXED))
		cupti_flush_now();
}

/* Around a call that may destroy contexts, and with them the records of their operations: `context`, or (NULL) all
 * contexts of `device`, or (device < 0) the current one. */
void cupti_context_ends(void *context, int device);
void cupti_context_ended(int device);

/* ---- for cupti_handover.c ---- */

/* Do the options request CUPTI, and can it still be used? */
bool cupti_is_requested(void);

/* Reads the records that CUPTI holds and disables all that we have enabled. A subscription beside the program's
 * stays. */
void cupti_stop(void);

/* With the claim: subscribes beside the program, which is about to subscribe by that name, so that both record. False:
 * not possible, and nothing has changed but that recording has stopped. */
bool cupti_join(const char *name);

/* With the claim: the program has no subscription any more, so ours ends, too. The next recorded call resumes. */
void cupti_disable(void);
