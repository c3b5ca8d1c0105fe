/* SPDX-License-Identifier: Apache-2.0 */
/* A walk that is answered from the memo gives the same result as a full walk. */
#include <alloca.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef HAVE_UNWIND
#include "runtime/recorder/stack/walk.h"
#include "stack_bounds.h"

enum { FRAMES = 64 };

static struct walk_memo *memo;
static uintptr_t low, high;
static unsigned long walks, told;
static unsigned dice;

static unsigned roll(void)
{
	dice = dice * 1103515245 + 12345;
	return dice >> 16;
}

/* Walks the stack as a wrapper does, in full and by the memo, and compares the results. */
__attribute__((noinline)) static void compare(int size)
{
	void *frames[FRAMES];
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint64_t walked, compared = 0;
	int count = walk_from(frames, size, low, high, frame, &walked) & ~WALK_CUT;
	int same = walk_memo_hash(memo, size, low, high, frame, true, &compared);

	walks++;
	if (!same)
		return;
	told++;
	cr_assert_eq(same, count);
	cr_assert_eq(compared, walked, "of %d frames", count);
}

/* Call paths that differ in their callers, frame sizes and depths. */
__attribute__((noinline)) static void down(int left);

__attribute__((noinline)) static void wide(int left)
{
	volatile char *room = alloca(16 + roll() % 8 * 64);

	room[0] = (char)left;
	down(left - 1);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void realigned(int left)
{
	volatile char room[64] __attribute__((aligned(64)));

	room[0] = (char)left;
	down(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
}

static int by_order(const void *a, const void *b)
{
	(void)a;
	(void)b;
	down(*(const int *)a);
	return 0;
}

static void through_the_c_library(int left)
{
	int items[2] = {left - 1, 0};

	qsort(items, 2, sizeof(*items), by_order);
}

__attribute__((noinline)) static void down(int left)
{
	if (left <= 0) {
		compare(roll() % 4 ? FRAMES : 1 + (int)(roll() % (FRAMES - 1)));
		return;
	}
	switch (roll() % 5) {
	case 0:
		wide(left);
		break;
	case 1:
		realigned(left);
		break;
	case 2:
		through_the_c_library(left);
		break;
	case 3:
		down(left - 1);
		__asm__ volatile("nop" ::: "memory");
		break;
	default:
		down(left - 1);
	}
	__asm__ volatile("" ::: "memory");
}

static void begin(void)
{
	stack_bounds(&low, &high);
	memo = calloc(1, WALK_MEMO_BYTES);
	walks = told = 0;
}

TestSuite(walk_memo, .init = begin);

Test(walk_memo, tells_what_a_walk_tells_of_stacks_that_come_again_and_of_new_ones)
{
	for (unsigned i = 0; i < 20000; i++) {
		dice = i % 3 ? i % 50 : i;
		down((int)(i % 3 ? i % 29 : i % 31));
	}
#ifdef __x86_64__
	cr_assert_eq(told, walks);
#endif
}

Test(walk_memo, goes_on_after_the_rules_were_forgotten)
{
	for (unsigned i = 0; i < 500; i++) {
		dice = i % 10;
		down(15);
		if (i % 50 == 0)
			walk_invalidate();
	}
}

static void on_signal(int number)
{
	(void)number;
	down(9);
}

Test(walk_memo, tells_the_same_across_a_handlers_frame)
{
	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < 500; i++) {
		dice = i % 7;
		raise(SIGUSR1);
	}
}

static jmp_buf out;

Test(walk_memo, tells_the_same_after_longjmp)
{
	for (volatile unsigned i = 0; i < 500; i++) {
		dice = i % 5;
		if (!setjmp(out)) {
			down(12);
			longjmp(out, 1);
		}
		down(3);
	}
}

#ifdef __x86_64__
static void from_jit(void)
{
	compare(FRAMES);
}

/* Calls `to` from code without call frame information, with a frame pointer (push %rbp; mov %rsp,%rbp; sub; call
 * *%rdi; leave; ret) or without one (sub; call *%rdi; add; ret). The frame's size differs each time, the address does
 * not. */
static void jit(unsigned char *code, bool has_pointer, uint32_t size)
{
	static const unsigned char with[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec, 0,
					     0,    0,    0,    0xff, 0xd7, 0xc9, 0xc3};
	static const unsigned char without[] = {0x48, 0x81, 0xec, 0, 0, 0, 0, 0xff, 0xd7,
						0x48, 0x81, 0xc4, 0, 0, 0, 0, 0xc3};

	memcpy(code, has_pointer ? with : without, has_pointer ? sizeof(with) : sizeof(without));
	size += has_pointer ? 0 : 8; /* the stack stays aligned */
	memcpy(code + (has_pointer ? 7 : 3), &size, sizeof(size));
	if (!has_pointer)
		memcpy(code + 12, &size, sizeof(size));
}

Test(walk_memo, tells_the_same_of_code_made_while_it_runs)
{
	unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union {
		unsigned char *code;
		void (*call)(void (*to)(void));
	} made = {code};

	if (code == MAP_FAILED)
		cr_skip_test("no memory here that can be written and run");
	for (unsigned i = 0; i < 2000; i++) {
		if (i % 3 == 0)
			jit(code, i % 2, 16 * (i % 7));
		made.call(from_jit);
	}
	cr_assert_eq(told, walks);
	cr_assert_eq(walks, 2000);
}
#endif

static void *in_a_thread(void *unused)
{
	(void)unused;
	begin();
	for (unsigned i = 0; i < 300; i++) {
		dice = i % 4;
		down(11);
	}
	return NULL;
}

Test(walk_memo, tells_the_same_on_a_threads_stack_that_another_thread_had_before)
{
	for (unsigned i = 0; i < 8; i++) {
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, in_a_thread, NULL), 0);
		pthread_join(thread, NULL);
	}
}

Test(walk_memo, tells_nothing_of_a_stack_that_it_does_not_know)
{
	low = high = 0;
	dice = 1;
	down(5);
	cr_assert_eq(told, 0);
}
#else
Test(walk_memo, is_not_built_without_the_unwinder)
{
	cr_skip_test("built without the unwinder");
}
#endif
