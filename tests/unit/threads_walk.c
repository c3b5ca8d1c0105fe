/* SPDX-License-Identifier: Apache-2.0 */
/* Threads walk their stacks with one shared table of rules, which one of them invalidates repeatedly. */
#include <dlfcn.h>
#include <stdlib.h>

#include "threads.h"

#ifdef HAVE_UNWIND
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/walk.h"
#include "stack_bounds.h"

enum { ROUNDS = 3000, DEEPEST = 24, FRAMES = 64 };

static struct walker {
	uintptr_t low, high;
	struct walk_memo *memo;
	void *noted[DEEPEST + 1]; /* return address of go_down, by remaining depth */
	unsigned walks, wrong, by_memo;
} walkers[THREADS];

__attribute__((noinline)) static void look(struct walker *w, int depth)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint64_t walked, compared = 0;
	void *frames[FRAMES];
	int result = walk_from(frames, FRAMES, w->low, w->high, frame, &walked), count = result & WALK_COUNT, first = 0;

	w->walks++;
	while (first < count && frames[first] != w->noted[0])
		first++;
	for (int i = 0; i <= depth; i++)
		if (first + i >= count || frames[first + i] != w->noted[i]) {
			w->wrong++;
			return;
		}
	if (walk_memo_hash(w->memo, FRAMES, w->low, w->high, frame, true, &compared)) {
		w->by_memo++;
		w->wrong += compared != walked;
	}
}

__attribute__((noinline)) static void go_down(struct walker *w, int left, int depth)
{
	volatile char room[16];

	room[0] = (char)left;
	w->noted[left] = __builtin_return_address(0);
	if (left)
		go_down(w, left - 1, depth);
	else
		look(w, depth);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void *walk_often(void *number)
{
	unsigned self = (unsigned)(uintptr_t)number;
	struct walker *w = &walkers[self];

	stack_bounds(&w->low, &w->high);
	w->memo = calloc(1, WALK_MEMO_BYTES);
	for (int i = 0; i < ROUNDS && w->memo; i++) {
		go_down(w, i % DEEPEST, i % DEEPEST);
		if (self == 0)
			walk_invalidate();
	}
	free(w->memo);
	return NULL;
}

int main(void)
{
	unsigned walks = 0, wrong = 0, by_memo = 0;

	object_init(dlsym(RTLD_DEFAULT, "_dl_find_object"));
	ok(in_threads(walk_often), "threads ran");
	for (unsigned i = 0; i < THREADS; i++) {
		walks += walkers[i].walks;
		wrong += walkers[i].wrong;
		by_memo += walkers[i].by_memo;
	}
	ok(walks == THREADS * ROUNDS, "%u walks", walks);
	ok(!wrong, "%u of them without a frame that is there, or with another hash by the memo", wrong);
#ifdef __x86_64__
	ok(by_memo == walks, "%u compared by the memo", by_memo);
#endif
	return done();
}
#else
int main(void)
{
	puts("1..0 # SKIP built without libunwind's reader of unwind tables");
	return 0;
}
#endif
