/* SPDX-License-Identifier: Apache-2.0 */
/* Threads stand in for several processes that call cudaProfilerStart and Stop concurrently. */
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/shared/common/range.h"
#include "threads.h"

enum { ROUNDS = 2000 };

static struct tf_range_page *page;

static void *go_in_and_out(void *number)
{
	uint32_t pid = (uint32_t)(uintptr_t)number + 1;

	for (unsigned i = 0; i < ROUNDS; i++) {
		range_start(page, pid, 2 * i + 1);
		range_stop(page, pid, 2 * i + 2);
	}
	return NULL;
}

static bool all_are_closed(void)
{
	for (unsigned i = 0; i < page->begun; i++) {
		if (!page->ranges[i].begin_ticks || !page->ranges[i].end_ticks)
			return false;
	}
	return true;
}

int main(void)
{
	page = mmap(NULL, TF_RANGE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ok(page != MAP_FAILED, "a page");
	ok(in_threads(go_in_and_out), "threads ran");
	ok(page->inside == 0 && page->recording == 0, "nobody is inside");
	ok(page->begun >= 1 && page->begun <= THREADS * ROUNDS, "%u ranges began", page->begun);
	ok(all_are_closed(), "every range has its begin and end");
	return done();
}
