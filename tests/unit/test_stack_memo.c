/* SPDX-License-Identifier: Apache-2.0 */
/* A walk that is compared instead of made tells the same as one that is made. */
#include <alloca.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_UNWIND
#include <unwind_pillion.h>

enum { FRAMES = 64 };

static struct unw_pillion_memo *memo;
static uintptr_t low, high;
static unsigned long walks, told;
static unsigned dice;

static unsigned roll(void)
{
	dice = dice * 1103515245 + 12345;
	return dice >> 16;
}

/* What a wrapper does. */
__attribute__((noinline)) static void compare(int size)
{
	void *frames[FRAMES];
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uint64_t walked, compared = 0;
	int count = unw_pillion_backtrace_from(frames, size, low, high, frame, &walked) & ~UNW_PILLION_CUT;
	int same = unw_pillion_hash_from(memo, size, low, high, frame, &compared);

	walks++;
	if (!same)
		return;
	told++;
	cr_assert_eq(same, count);
	cr_assert_eq(compared, walked, "of %d frames", count);
}

/* Ways down that differ in what is called from where, in their frames' sizes, and in how far they go. */
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
	pthread_attr_t attributes;
	size_t size;
	void *bottom;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &bottom, &size);
	pthread_attr_destroy(&attributes);
	low = (uintptr_t)bottom;
	high = low + size;
	memo = calloc(1, UNW_PILLION_MEMO);
	walks = told = 0;
}

TestSuite(stack_memo, .init = begin);

Test(stack_memo, tells_what_a_walk_tells_of_stacks_that_come_again_and_of_new_ones)
{
	for (unsigned i = 0; i < 20000; i++) {
		dice = i % 3 ? i % 50 : i;
		down((int)(i % 3 ? i % 29 : i % 31));
	}
#ifdef __x86_64__
	cr_assert_eq(told, walks);
#endif
}

Test(stack_memo, goes_on_after_the_rules_were_forgotten)
{
	for (unsigned i = 0; i < 500; i++) {
		dice = i % 10;
		down(15);
		if (i % 50 == 0)
			unw_pillion_flush();
	}
}

static void on_signal(int number)
{
	(void)number;
	down(9);
}

Test(stack_memo, tells_the_same_across_a_handlers_frame)
{
	signal(SIGUSR1, on_signal);
	for (unsigned i = 0; i < 500; i++) {
		dice = i % 7;
		raise(SIGUSR1);
	}
}

static jmp_buf out;

Test(stack_memo, tells_the_same_after_longjmp)
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

Test(stack_memo, tells_nothing_of_a_stack_that_it_does_not_know)
{
	low = high = 0;
	dice = 1;
	down(5);
	cr_assert_eq(told, 0);
}
#else
Test(stack_memo, is_not_built_without_the_unwinder)
{
	cr_skip_test("built without the unwinder");
}
#endif
