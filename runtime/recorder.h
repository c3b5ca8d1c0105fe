/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder as a whole: start, fork, exec, exit. Any thread; recorder_end() also in a signal handler. errno is kept
 * by the callers. */
#ifndef PILLION_RECORDER_H
#define PILLION_RECORDER_H

#include <stdbool.h>

#include "runtime/record/thread.h"

/* The slow way into a recorded call: attaches the thread, after starting the recorder in this image if that has not
 * been done (at load, at the first call of a forked child, or at a call that comes before our constructor). `functions`
 * lives as long as the process. False: the call is to be forwarded. */
bool recorder_attach(struct thread *t, const struct function_table *functions);

/* What the loader passes to our constructor; before the first recorder_attach(), if at all. */
void recorder_set_arguments(int argc, char **argv, char **environment);

/* Records how the image ends; `end` is an enum tf_end. TF_END_NONE takes it back (an exec that failed). */
void recorder_end(unsigned end, int status);

/* What wait() reported of a child. */
void recorder_child_ended(int pid, int status);

/* The file system as we know it, or our rights in it, are about to go (chroot, setuid, unshare): the calling thread
 * takes a large chunk, the file a reserve, and nothing is opened from here on. With `silent` (a seccomp filter) no
 * system call is made at all. */
void recorder_freeze(bool silent);

#endif
