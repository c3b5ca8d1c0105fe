/* SPDX-License-Identifier: Apache-2.0 */
/* Plays back a recording of a real GPU: the interface between the program, libcudart and libcuda of this folder.
 *
 * PILLION_REPLAY names the recording, a text file (format: tests/data/replay/README.md). Its calls and device records
 * are played in the recorded order, slowed down by the factor PILLION_REPLAY_STRETCH (default 1). If the machine is
 * late with a call, the recording's clock stops until the call is made: order and durations of device records stay the
 * same, only idle times grow. */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdbool.h>
#include <stddef.h>

enum replay_kind {
	REPLAY_END, REPLAY_LAUNCH, REPLAY_COPY, REPLAY_SET, REPLAY_LAUNCH_EX, REPLAY_SYNCHRONIZE, REPLAY_WAIT_EVENT
};

struct replay_call {
	enum replay_kind kind;
	int copy_kind;		/* cudaMemcpyKind */
	size_t bytes;
	unsigned grid[3], block[3];
};

int replay_threads(void);
/* Waits until this thread's next call is due. REPLAY_END: it has no more. */
struct replay_call replay_next(int thread);
/* The body of that call: takes as long as the recorded one. */
void replay_call(unsigned cbid, const char *name);
/* Waits for the device after all threads are done. */
void replay_finish(void);

#endif
