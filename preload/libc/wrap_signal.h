/* SPDX-License-Identifier: Apache-2.0 */
/* Threads are sampled from their first instruction on, not from their first recorded call. */
#ifndef PILLION_WRAP_SIGNAL_H
#define PILLION_WRAP_SIGNAL_H

struct start;

/* Before pthread_create: replaces the thread's function by ours, which calls it, if samples are taken. NULL: not
 * replaced. After a pthread_create that failed, sampled_start_failed() releases the entry. Any thread. */
struct start *sampled_start(void *(**function)(void *), void **argument);
void sampled_start_failed(struct start *s);

#endif
