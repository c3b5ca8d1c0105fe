/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder as a whole: start, fork, exec, exit. Any thread; recorder_end() also in a signal handler. The callers
 * preserve errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/thread_state.h"
#include "runtime/shared/common/hot.h"

/* The slow path of a recorded call: attaches the thread. If the recorder has not been started in this image yet, it
 * is started first: at load, at the first call of a forked child, or at a call before our constructor has run.
 * `functions` must be valid for the life of the process. Returns false if the call must only be forwarded. */
bool recorder_attach(struct thread *t, const struct function_table *functions);

/* The arguments that the loader passes to our constructor. To be called before the first recorder_attach(), if at
 * all. */
void recorder_set_arguments(int argc, char **argv, char **environment);

/* To be called before a fork, so that the child need not map a file. */
void recorder_before_fork(void);

/* Records how the image ends; `end` is an enum tf_end. TF_END_NONE cancels it (an exec that failed). */
void recorder_end(unsigned end, int status);

/* Likewise TF_END_EXIT, and where a rank exits with another status than 0. `frame`: as in stack_take(). */
void recorder_exit(int status, uintptr_t frame);

/* In a call of fflush(stdout) by `caller`: where a SystemExit was raised that ends a rank, with another status than 0.
 * The record that recorder_exit() makes of the same end follows. errno is preserved. */
__attribute__((cold)) ALIGNS_STACK void recorder_python_exit(const void *caller, uintptr_t frame);

/* The descriptor by which a rank talks to Hydra or Slurm, of PMI_FD; 0: none. */
extern int recorder_pmi HIDDEN;

/* Before a write to it: MPICH asks there to end the job after a fatal error, and is killed at once. Where that was is
 * recorded, and said by the launcher before. errno is preserved. */
__attribute__((cold)) ALIGNS_STACK void recorder_pmi_write(uintptr_t frame, const char *bytes, size_t size);

/* Records the wait status of a child. */
void recorder_child_ended(int pid, int status);

/* To be called before the file system view or the permissions of the process change (chroot, setuid, unshare): the
 * calling thread allocates a large chunk, the file is extended in advance, and no file is opened from here on. With
 * `silent` (a seccomp filter) the recorder makes no system call at all from here on. */
void recorder_freeze(bool silent);

/* To be called after that with the same `silent`. `note`, for the ledger: what has changed; NULL: nothing, so the
 * recorder continues as before. `unsampled`: with `silent`, the note that there are no more CPU samples. */
void recorder_freeze_end(bool silent, const char *note, const char *unsampled);

/* To be called when the calling thread has begun, after recorder_freeze_end(), or ended to have the kernel dispatch its
 * system calls to the program (prctl(PR_SET_SYSCALL_USER_DISPATCH)): at the end the recorder continues. A forked child
 * begins without it. */
void recorder_set_dispatch(bool is_on);
