/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are sampled from their first instruction on, not from their first recorded call. */
#ifndef PILLION_WRAP_SIGNAL_H
#define PILLION_WRAP_SIGNAL_H

struct start;

/* Before pthread_create: puts ours in front of the thread's function, where samples are taken. NULL: it has not. After
 * a pthread_create that failed, sampled_start_failed() gives the place back. Any thread. */
struct start *sampled_start(void *(**function)(void *), void **argument);
void sampled_start_failed(struct start *s);

#endif
