/* SPDX-License-Identifier: Apache-2.0 */
/* Device times from CUPTI's activity records: what wrappers and the recorder call.
 *
 * CUPTI is opened in the process's own copy, and only after the program's own calls have initialised the driver: a
 * driver that we had initialised would not survive the program's forks. Only the activity interface is used, no
 * subscription. A forked child of a process that has opened CUPTI does not use it.
 *
 * cupti_follow() and cupti_succeeded() are called by the wrappers of CUDA calls, cupti_flush() where an image ends. */
#ifndef PILLION_CUPTI_H
#define PILLION_CUPTI_H

#include "runtime/device/cupti_state.h"

/* Out of line: opens CUPTI, pauses it or resumes it. has_driver: this thread has returned from a call of the driver
 * without an error, so libcuda has been loaded completely. */
void cupti_change(bool is_wanted, bool has_driver);

/* Before a CUDA call; is_wanted: it is to be recorded. Two loads where nothing changes. While another thread opens
 * CUPTI this one waits. */
static inline void cupti_follow(bool is_wanted)
{
	if (__builtin_expect(is_wanted ? !cupti_phase_has(CUPTI_SETTLED) : cupti_phase_has(CUPTI_RECORDS), 0))
		cupti_change(is_wanted, false);
}

/* After a recorded CUDA call that returned no error. */
static inline void cupti_succeeded(void)
{
	if (__builtin_expect(!cupti_phase_has(CUPTI_SETTLED), 0))
		cupti_change(true, true);
}

/* The CUDA driver has loaded us by CUDA_INJECTION64_PATH, within the program's cuInit. Opens CUPTI if recording is
 * wanted. */
void cupti_driver_starts(void);

/* At the end of the image: adds a note to the ledger if the driver was initialised and no call of CUDA was seen. */
void cupti_note_unseen(void);

/* Reads the records that CUPTI still holds. In a signal handler nothing is read, and the ledger says so. */
void cupti_flush(void);

/* Around a call that may destroy contexts, and with them the records of their work: `context`, or (NULL) all contexts
 * of `device`, or (device < 0) the current one. */
void cupti_context_ends(void *context, int device);
void cupti_context_ended(int device);

/* ---- for cupti_handover.c ---- */

/* Do the options ask for CUPTI, and can it still be used? */
bool cupti_is_asked_for(void);

/* Reads what CUPTI holds and switches off all that we have switched on. */
void cupti_let_go(void);

#endif
