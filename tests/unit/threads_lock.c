/* SPDX-License-Identifier: Apache-2.0 */
/* sys_lock(): one holder at a time, and no waiter is left asleep. */
#include "runtime/shared/common/sys.h"
#include "threads.h"

enum { ROUNDS = 50000 };

static uint32_t lock;
static struct {
	uint64_t low, high;
} counted; /* together under the lock */
static uint64_t differed;

static void *count(void *number)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		sys_lock(&lock);
		differed += counted.low != counted.high;
		counted.low++;
		/* Yields with the lock held, so that the other threads have to wait. */
		if (i % 1024 == (uintptr_t)number)
			sys_call(SYS_sched_yield, 0, 0, 0, 0);
		counted.high++;
		sys_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	ok(in_threads(count), "threads ran");
	ok(counted.low == (uint64_t)THREADS * ROUNDS && counted.high == counted.low, "each was counted once");
	ok(!differed, "nobody saw half of it");
	ok(!lock, "the lock is free");
	return done();
}
