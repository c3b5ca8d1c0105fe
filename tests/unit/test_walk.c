/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the frames that a walk finds with the return addresses that the functions record themselves. */
#include <alloca.h>
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef HAVE_UNWIND
#include "runtime/recorder/loader/loader.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/walk.h"
#include "runtime/recorder/stack/walk_rule.h"
#include "stack_bounds.h"

enum { FRAMES = 128, DEEP = 40, PAGE = 4096 };
/* Functions without a sanitizer's instrumentation: its calls would be single-stepped too. */
#define PLAIN __attribute__((noinline, no_sanitize("address"), no_sanitize("undefined")))
#ifdef __clang__
#define NO_POINTER PLAIN
#else
#define NO_POINTER PLAIN __attribute__((optimize("omit-frame-pointer")))
#endif

static uintptr_t low, high;
static void *noted[FRAMES]; /* outermost first */
static int noted_count;
static void *walked[FRAMES];
static int walked_count, walked_bits;
static uint64_t walked_hash;

static void set_walked(int result)
{
	walked_count = result & WALK_COUNT;
	walked_bits = result & ~WALK_COUNT;
}

PLAIN static void note(void *return_address)
{
	noted[noted_count++] = return_address;
}

/* Walks from this function's caller. On aarch64 the walker's own frames come first. */
__attribute__((noinline)) static void walk_here(int size)
{
	set_walked(walk_from(walked, size, low, high, (uintptr_t)__builtin_frame_address(0), &walked_hash));
	for (int i = 0; i < walked_count && i < 4; i++) {
		if (walked[i] == __builtin_return_address(0)) {
			walked_count -= i;
			memmove(walked, walked + i, (size_t)walked_count * sizeof(*walked));
		}
	}
}

/* Asserts that the walk has the recorded return addresses in order, innermost first, after at most `most` other
 * frames. */
static void has_noted_frames(int most)
{
	int first = 0;

	while (first < walked_count && walked[first] != noted[noted_count - 1])
		first++;
	cr_assert_leq(first, most);
	cr_assert_leq(first + noted_count, walked_count);
	for (int i = 0; i < noted_count; i++)
		cr_assert_eq(walked[first + i], noted[noted_count - 1 - i], "frame %d", i);
}

/* Runs twice: the modules are found in the loader's list, then by _dl_find_object. */
static void begin(void)
{
	stack_bounds(&low, &high);
	noted_count = 0;
	object_init(dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

TestSuite(walk, .init = begin);

/* ---- code of several kinds ---- */

static void (*at_the_end)(void);
static void go_down(int left);

NO_POINTER static void plain(int left)
{
	note(__builtin_return_address(0));
	go_down(left - 1);
	__asm__ volatile("" ::: "memory");
}

NO_POINTER static void wide(int left)
{
	volatile char room[3000];

	note(__builtin_return_address(0));
	room[left] = 1;
	go_down(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
}

NO_POINTER static void of_any_size(int left)
{
	volatile char *room = alloca(16 + (size_t)left * 40);

	note(__builtin_return_address(0));
	room[0] = 1;
	go_down(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
}

NO_POINTER static void realigned(int left)
{
	volatile char room[64] __attribute__((aligned(64)));

	note(__builtin_return_address(0));
	room[0] = 1;
	go_down(left - 1);
	__asm__ volatile("" : : "r"(room) : "memory");
}

NO_POINTER static void go_down(int left)
{
	static void (*const kinds[])(int) = {plain, wide, of_any_size, realigned};

	note(__builtin_return_address(0));
	if (left <= 0)
		at_the_end();
	else
		kinds[left % 4](left);
	__asm__ volatile("" ::: "memory");
}

static void walk_at_the_end(void)
{
	note(__builtin_return_address(0));
	walk_here(FRAMES);
}

Test(walk, finds_each_caller_of_code_without_frame_pointers)
{
	at_the_end = walk_at_the_end;
	for (int mode = 0; mode < 2; mode++) {
		if (mode)
			object_init(NULL);
		walk_invalidate();
		for (int depth = 0; depth < DEEP; depth++) {
			noted_count = 0;
			go_down(depth);
			has_noted_frames(1);
			cr_assert_not(walked_bits & WALK_CUT);
		}
	}
}

Test(walk, finds_the_same_by_probing_where_the_bounds_are_not_known)
{
	at_the_end = walk_at_the_end;
	low = high = 0;
	go_down(DEEP);
	has_noted_frames(1);
	cr_assert_not(walked_bits & WALK_CUT);
}

Test(walk, fills_a_small_buffer_and_writes_nothing_beyond_it)
{
	int all;

	walk_here(FRAMES);
	all = walked_count;
	for (int size = 8; size < all; size++) {
		walked[size] = (void *)1;
		set_walked(walk_from(walked, size, low, high, (uintptr_t)__builtin_frame_address(0), &walked_hash));
		cr_assert_eq(walked_count, size);
		cr_assert_eq(walked_bits, 0);
		cr_assert_eq(walked[size], (void *)1);
	}
}

static void *walk_a_thread(void *unused)
{
	(void)unused;
	stack_bounds(&low, &high);
	noted_count = 0;
	at_the_end = walk_at_the_end;
	go_down(10);
	has_noted_frames(1);
	cr_assert_not(walked_bits & WALK_CUT);
	return NULL;
}

Test(walk, ends_with_the_first_function_of_a_thread)
{
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, walk_a_thread, NULL), 0);
	pthread_join(thread, NULL);
	cr_assert_gt(walked_count, 10);
}

Test(walk, does_not_read_above_the_end_of_the_stack)
{
	at_the_end = walk_at_the_end;
	high = (uintptr_t)__builtin_frame_address(0) - 256;
	go_down(10);
	cr_assert(walked_bits & WALK_CUT);
	cr_assert_lt(walked_count, noted_count + 3);
}

/* ---- signals ---- */

static void on_signal(int number)
{
	(void)number;
	walk_here(FRAMES);
}

static void raise_signal(void)
{
	note(__builtin_return_address(0));
	raise(SIGUSR1);
}

static void is_walked_through_a_handler(void)
{
	at_the_end = raise_signal;
	for (int depth = 0; depth < DEEP; depth++) {
		noted_count = 0;
		go_down(depth);
		has_noted_frames(8);
		cr_assert_eq(walked_bits, WALK_SIGNAL);
	}
}

Test(walk, goes_through_a_signal_handlers_frame)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &action, NULL);
	is_walked_through_a_handler();
}

Test(walk, goes_from_an_alternate_signal_stack_to_the_interrupted_one)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_size = 1 << 17};

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	sigaction(SIGUSR1, &action, NULL);
	is_walked_through_a_handler();
}

#ifdef __x86_64__
static struct stack_place place_of(const ucontext_t *u)
{
	const greg_t *r = u->uc_mcontext.gregs;

	return (struct stack_place){
		.pc = (uintptr_t)r[REG_RIP], .sp = (uintptr_t)r[REG_RSP], .fp = (uintptr_t)r[REG_RBP]};
}

enum { TRAP_FLAG = 0x100, NEVER = 1 << 30 };

static volatile bool is_stepping;
static volatile int steps, lost_at;
static void *stepping_caller, *lost_pc;

/* Runs after each instruction while is_stepping: the walk must find the caller of the function being stepped. */
static void on_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	struct stack_place place = place_of(u);
	bool is_found = false;

	(void)number, (void)info;
	u->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	if (!is_stepping)
		return;
	u->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
	steps++;
	set_walked(walk_at(walked, FRAMES, low, high, &place, &walked_hash));
	for (int i = 0; i < walked_count; i++)
		is_found |= walked[i] == stepping_caller;
	if ((!is_found || walked[0] != (void *)place.pc) && lost_at == NEVER) {
		lost_at = steps;
		lost_pc = (void *)place.pc;
	}
}

PLAIN static void do_nothing(void)
{
	__asm__ volatile("" ::: "memory");
}

PLAIN static void step_through_functions(void)
{
	stepping_caller = __builtin_return_address(0);
	at_the_end = do_nothing;
	is_stepping = true;
	raise(SIGTRAP);
	for (int depth = 0; depth < 5; depth++) {
		noted_count = 0;
		go_down(depth);
	}
	is_stepping = false;
}

Test(walk, finds_the_caller_from_every_instruction_that_a_signal_may_interrupt)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_ONSTACK | SA_SIGINFO};
	stack_t stack = {.ss_size = 1 << 17};

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_eq(sigaltstack(&stack, NULL), 0);
	sigaction(SIGTRAP, &action, NULL);
	raise(SIGTRAP); /* binds it, so that no step is in the loader */
	lost_at = NEVER;
	step_through_functions();
	cr_assert_gt(steps, 200);
	cr_assert_eq(lost_at, NEVER, "at step %d, %p", lost_at, lost_pc);
}

/* ---- code without unwind tables, and invalid stacks ---- */

static void walk_from_generated_code(void)
{
	walk_here(FRAMES);
	__asm__ volatile("" ::: "memory");
}

/* push %rbp; movabs $value,%rbp; call *%rdi; pop %rbp; ret: or with the frame pointer in place of the value. */
static void call_by_generated_code(unsigned char *code, const uint64_t *frame_pointer)
{
	static const unsigned char with_value[] = {0x55, 0x48, 0xbd, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd7, 0x5d, 0xc3};
	static const unsigned char with_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	union {
		unsigned char *code;
		void (*call)(void (*to)(void));
	} made = {code};

	if (frame_pointer) {
		memcpy(code, with_value, sizeof(with_value));
		memcpy(code + 3, frame_pointer, sizeof(*frame_pointer));
	} else {
		memcpy(code, with_pointer, sizeof(with_pointer));
	}
	made.call(walk_from_generated_code);
}

static unsigned char *map_code(void)
{
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		cr_skip_test("no memory here that can be written and executed");
	return code;
}

NO_POINTER static void note_and_call(unsigned char *code, const uint64_t *frame_pointer)
{
	note(__builtin_return_address(0));
	call_by_generated_code(code, frame_pointer);
	__asm__ volatile("" ::: "memory");
}

Test(walk, follows_the_frame_pointer_of_code_without_a_table)
{
	unsigned char *code = map_code();

	note_and_call(code, NULL);
	has_noted_frames(3);
	cr_assert_eq(walked[1], code + 6);
	cr_assert_not(walked_bits & WALK_CUT);
}

Test(walk, ends_in_code_without_a_table_where_the_frame_pointer_is_none)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t fake[4] = {(uintptr_t)fake, 0x1234, 0, 0};
	const uint64_t values[] = {0, 1, 8, 0x1000, here + 1, high, high - 8, low, UINT64_MAX, UINT64_MAX - 7,
				   0x8000000000000000, (uintptr_t)fake};
	unsigned char *code = map_code();

	for (unsigned i = 0; i < sizeof(values) / sizeof(*values); i++) {
		note_and_call(code, &values[i]);
		cr_assert_eq(walked[1], code + 13);
		cr_assert_leq(walked_count, 3, "value %u", i);
		cr_assert_eq(walked_bits & WALK_CUT, values[i] ? WALK_CUT : 0, "value %u", i);
	}
}

/* Returns an address as found on a real stack, or one close to it, so that unwind rules of every kind apply. */
static uintptr_t some_address(const uintptr_t *area, size_t words)
{
	switch (random() % 4) {
	case 0:
		return (uintptr_t)&area[random() % (long)words];
	case 1:
		return (uintptr_t)walked[random() % walked_count] + (uintptr_t)(random() % 64);
	case 2:
		return (uintptr_t)walked[random() % walked_count];
	default:
		return (uintptr_t)random() << (random() % 33);
	}
}

Test(walk, survives_stacks_of_random_words)
{
	enum { WORDS = 2 * PAGE / sizeof(uintptr_t), ROUNDS = 20000 };
	uintptr_t *area = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *found[FRAMES];
	int most = 0;

	area += PAGE / sizeof(*area);
	cr_assert_eq(mprotect(area, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
	signal(SIGUSR1, on_signal);
	at_the_end = raise_signal;
	go_down(5);
	srandom(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct stack_place place = {some_address(area, WORDS), (uintptr_t)&area[random() % WORDS],
					    some_address(area, WORDS), 0};
		bool is_bounded = random() % 2;
		int count;

		for (int j = 0; j < 256; j++)
			area[(place.sp - (uintptr_t)area) / sizeof(*area) + (size_t)j < WORDS
				     ? (place.sp - (uintptr_t)area) / sizeof(*area) + (size_t)j
				     : (size_t)j] = some_address(area, WORDS);
		count = walk_at(found, FRAMES, is_bounded ? (uintptr_t)area : 0,
				is_bounded ? (uintptr_t)(area + WORDS) : 0, &place, &walked_hash) &
			WALK_COUNT;
		cr_assert_geq(count, 1);
		cr_assert_leq(count, FRAMES);
		most = count > most ? count : most;
	}
	cr_assert_gt(most, 5);
}
#endif

/* ---- the table of rules ---- */

Test(walk, finds_the_same_after_the_rules_were_invalidated)
{
	uint64_t hash = 0;

	for (volatile int i = 0; i < 4; i++) {
		walk_here(FRAMES);
		cr_assert(i == 0 || walked_hash == hash);
		hash = walked_hash;
		walk_invalidate();
	}
}

Test(walk, stops_where_the_loaders_list_cannot_be_searched_and_keeps_no_rule_of_it)
{
	object_init(NULL);
	walk_invalidate();
	loader_fork_begin();
	walk_here(FRAMES);
	cr_assert(walked_bits & WALK_CUT);
	cr_assert_eq(walked_count, 1);
	loader_fork_end(false);
	walk_here(FRAMES);
	cr_assert_not(walked_bits & WALK_CUT);
	cr_assert_gt(walked_count, 1);
}

Test(walk, keeps_rules_from_before_the_whole_table_is_used)
{
	enum { MANY = 8192 };
	uintptr_t code = (uintptr_t)qsort, here = (uintptr_t)walk_here;
	union walk_rule first;
	unsigned few;

	cr_assert(walk_prepare());
	few = walk_rule_shift;
	first = walk_rule_read(here, walk_rule_seed(), false);
	cr_assert_eq(walk_rule_find(here, walk_rule_seed()).word, first.word);
	for (unsigned i = 0; i < MANY && walk_rule_shift == few; i++)
		walk_rule_read(code + i, walk_rule_seed(), false);
	cr_assert_lt(walk_rule_shift, few, "%d rules were stored", MANY);
	cr_assert_eq(walk_rule_read(here, walk_rule_seed(), false).word, first.word);
	cr_assert_eq(walk_rule_find(here, walk_rule_seed()).word, first.word);
}
#else
Test(walk, is_not_built_without_libunwind)
{
	cr_skip_test("built without libunwind's reader of unwind tables");
}
#endif
