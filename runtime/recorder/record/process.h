/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to the state of the current process image (process_state.h). */
#pragma once

#include "runtime/recorder/record/process_state.h"

/* In a forked child. qemu-user 7.2 accepts MADV_WIPEONFORK and does nothing: the child would record as its parent. */
void process_wipe(void);
static inline void process_wipe_unless_wiped(void)
{
	if (__builtin_expect(process.generation != 0, 0))
		process_wipe();
}

/* Sets process.path. False: it does not fit. */
bool process_set_path(void);

/* Size of the names of the functions in a trace, and the names. */
uint32_t process_function_bytes(void);
void process_write_functions(uint8_t *at);

/* Counts events that a thread whose page is not in the file has lost. Negative: its page is now in the file. */
void process_lose(int64_t events);

/* Fills in the header of a new file. */
void process_describe(struct tf_header *header);

/* Stores a pair of clocks in the header, if there is one. */
void process_take_clocks(void);

/* After a permanent failure of the recorder: turns recording off and writes the reason to the index. The target
 * continues. */
void process_fail(const char *why);

/* Records a fact for the ledger. */
void process_note(const char *text);

/* Records an NVTX range that did not match -c nvtx: RANGE or RANGE@DOMAIN. Under a guard. */
void process_seen(const char *range);

/* Appends a `bare` line: a program is started without the recorder, with the reason. "": it was not started at last. */
void process_bare(const char *executable, const char *reason);

/* All descriptors are described again when they are used. */
void process_forget_descriptors(void);

/* The NAME=value strings that a child needs, except LD_PRELOAD; NULL-terminated, valid for the life of the process. */
char *const *process_environment(void);
const char *process_library(void); /* path of the preloaded object, as LD_PRELOAD names it */

/* True in the child of a vfork, which shares the memory of this image. Costs one system call. */
bool process_is_borrowed(void);
