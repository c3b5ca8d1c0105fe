/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's list of objects. All searches of it go through here: the test object_graph forbids other calls of
 * dl_iterate_phdr.
 *
 * dl_iterate_phdr takes a lock of the loader. A signal handler that interrupts the holder of the lock would wait for
 * ever, and so would a child that is forked while another thread holds the lock. Therefore signals are blocked during a
 * search, and fork waits for the end of the search. The program's own searches are not protected:
 * a wrapper of an async-signal-safe function must not search at all, or at most by loader_try_each(). */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Searches in progress, and forks that wait for their end. */
struct loader_state {
	uint32_t searches, forks;
};

/* Keeps the state there: in memory that a fork does not copy, a fork costs no page fault for it. */
void loader_keep_state(struct loader_state *at);

/* As for dl_iterate_phdr: a result other than 0 ends the search. */
typedef int loader_visit(struct dl_phdr_info *info, size_t size, void *data);

/* Returns the last result of visit(). Waits if another thread forks. Not from a signal handler; errno is preserved.
 * visit() may search as well. */
int loader_each(loader_visit *visit, void *data);

/* The same without a wait. False: nothing was visited, because a thread forks or no system call may be made. */
bool loader_try_each(loader_visit *visit, void *data);

/* To be called around fork, in the thread that forks: begin before it; end after it, in both processes, or after its
 * failure. They ensure that the loader's lock is not copied during a search by another thread. The wait usually takes
 * microseconds, at most a second or two; after a wait in vain, searches in the child visit nothing. */
void loader_fork_begin(void);
void loader_fork_end(bool is_child);
