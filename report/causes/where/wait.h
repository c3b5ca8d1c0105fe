/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of a look waits for, and in which cycles threads wait for each other. */
#pragma once

#include "report/causes/where/stack.h"

/* What a system call that blocks waits for. */
enum where_call { WAITS_OTHER, WAITS_READ, WAITS_WRITE, WAITS_ACCEPT, WAITS_FUTEX, WAITS_CHILD, WAITS_CHILD_ID,
		  WAITS_POLL, WAITS_SELECT, WAITS_EPOLL, WAITS_TIME, WAITS_SIGNAL, WAITS_LOCK, WAITS_SYSTEM_V };

struct where_wait {
	struct buffer text;	/* "waits for the mutex 0x1234, held by thread 12"; "" if nothing is known */
	struct buffer tasks;	/* of asyncio's: "3 tasks wait at job.py:7 store"; "": there are none */
	enum where_call waits;
	const char *call;	/* name of the system call; "" if it is in none; borrowed */
	char *collective;	/* function of MPI, NCCL or c10d that the thread is in; NULL: none */
	char lock[64];		/* the lock that it waits for, "" if none */
	/* Of what it waits for: "mutex", "threading.Lock", "pipe". NULL: the end of a thread, or not known. */
	const char *kind;
	uint32_t owner;		/* TID of the thread that it waits for, of the same process; 0: none or not known */
	bool is_timed;		/* the wait ends by itself after a time */
	bool is_within;		/* only a thread of the same process can end it */
};

/* `name`: of the recorded call in progress, NULL: none. The caller frees it by where_wait_done(). */
void where_wait_find(const struct look *l, const struct look_process *p, const struct look_thread *t,
		     const struct where_stack *stack, const char *name, struct where_wait *ret);
/* Of a thread that nobody looked into: only what the name tells. */
void where_wait_recorded(const char *name, struct where_wait *ret);
void where_wait_done(struct where_wait *w);

/* Of the system call that the thread is in. */
enum where_call where_call_kind(const struct look *l, const struct tf_where_thread *t);
/* Whether the system call sends or receives a message of a queue. */
bool where_is_message(int64_t call);

/* ---- descriptor_text.c ---- */

/* Appends what a descriptor refers to, and who has the other end: "pipe, which PID 12 (cat) has open for writing".
 * `is_read`: the thread waits for data from it, else to write to it. */
void where_describe_descriptor(const struct look *l, const struct look_process *p, uint32_t number, bool is_read,
			       struct buffer *ret);

/* "pipe", "socket", "file". */
const char *where_descriptor_kind(const struct look_process *p, uint32_t number);
/* Sets `ret` of each process of the look that can make a wait for the descriptor end. False: something else can. */
bool where_descriptor_wakers(const struct look *l, const struct look_process *p, uint32_t number, bool is_read,
			     bool *ret);

/* Appends "PID 12 (program)". */
void where_describe_process(const struct look_process *p, struct buffer *ret);
