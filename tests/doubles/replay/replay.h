/* SPDX-License-Identifier: Apache-2.0 */
/* A recording of a real GPU, played back: what the program, libcudart and libcuda of this folder share.
 *
 * A recording is a text (tests/data/replay/README.md has its format); PILLION_REPLAY names it. Its calls and its device
 * records are played in the recorded order, PILLION_REPLAY_STRETCH (1) times as slowly. Where the machine is late with
 * a call, the recording's clock stands still until it is made: order and durations of device records are those of the
 * recording, only idle times grow. */
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
/* All threads are done: waits for the device. */
void replay_finish(void);

#endif
