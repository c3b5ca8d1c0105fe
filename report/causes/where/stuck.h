/* SPDX-License-Identifier: Apache-2.0 */
/* Which of those that wait can never go on, because they wait for each other. */
#pragma once

#include "report/base/util.h"

/* Any of these can end a wait; nobody can, if there are none. Positions of nodes. */
struct stuck_wait {
	size_t *wakers;
	size_t count, capacity;
};

/* A thread, a process or a rank. It goes on when all its waits have ended. */
struct stuck_node {
	bool may_be; /* it goes on unless one of its waits never ends; false: it goes on */
	struct stuck_wait *waits;
	size_t count, capacity;
	bool is; /* result */
	/* Result: the number, from 1, of a set of nodes that wait for each other and for nobody outside of it. 0: it is
	 * not stuck, or only waits for such a set */
	uint32_t set;
	uint32_t order, low; /* private to stuck.c */
};

/* The caller frees it by stuck_free(). */
struct stuck_node *stuck_new(size_t count);
/* Adds a wait to which stuck_add() adds wakers. */
void stuck_wait(struct stuck_node *node);
void stuck_add(struct stuck_node *node, size_t waker);
/* Returns the number of sets. */
uint32_t stuck_solve(struct stuck_node *nodes, size_t count);
void stuck_free(struct stuck_node *nodes, size_t count);
