/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/thread/spare_stack.h"

#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

/* A walk of 512 frames and the blobs of a new stack with Python frames take less than 28 KB. Below all is a guard. */
enum { STACKS = PROCESS_SPARE_STACKS, STACK_BYTES = 40 << 10, GUARD_BYTES = 4096 };
enum { BYTES = GUARD_BYTES + STACKS * STACK_BYTES };

static bool is_usable; /* stacks are there, or are mapped at their first use */

#if defined(__x86_64__)

static char *stacks; /* NULL: not mapped yet, or none */

/* It is marked as a signal frame, because gdb then accepts that the caller's stack may be at a lower address. */
__asm__(".pushsection .text\n"
	".hidden spare_stack_switch\n"
	".globl spare_stack_switch\n"
	".type spare_stack_switch, @function\n"
	"spare_stack_switch:\n"
	"	.cfi_startproc\n"
	"	.cfi_signal_frame\n"
	"	endbr64\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	movq %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq %rdx, %rsp\n"
	"	movq %rdi, %rax\n"
	"	movq %rsi, %rdi\n"
	"	call *%rax\n"
	"	leave\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size spare_stack_switch, . - spare_stack_switch\n"
	".popsection\n");

void spare_stack_init(void)
{
	is_usable = !sys_is_under_valgrind();
}

static char *spare_stack_map(void)
{
	char *fresh = sys_mmap_own(BYTES);

	if (fresh && sys_guard(fresh, GUARD_BYTES)) {
		sys_munmap(fresh, BYTES);
		return NULL;
	}
	return fresh;
}

/* Many short processes need none. False: there are none. */
static bool spare_stack_prepare(void)
{
	char *fresh, *other = NULL;

	if (__atomic_load_n(&stacks, __ATOMIC_ACQUIRE))
		return true;
	if (!is_usable || sys_is_silent)
		return false;
	fresh = spare_stack_map();
	if (!fresh)
		is_usable = false;
	else if (!__atomic_compare_exchange_n(&stacks, &other, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		sys_munmap(fresh, BYTES);
	return fresh;
}

static bool spare_stack_is_in_use_here(void)
{
	const char *sp = __builtin_frame_address(0), *first = __atomic_load_n(&stacks, __ATOMIC_RELAXED);

	return first && sp >= first && sp < first + BYTES;
}

/* Waiting for a stack could deadlock: before glibc 2.35, its user may wait for the loader's lock, which the waiting
 * thread may hold. */
static bool spare_stack_run_guarded(const struct thread_guard *g, void (*work)(void *), void *argument)
{
	bool is_claimed = false;

	for (int i = 0; g->has_blocked && spare_stack_prepare() && i < STACKS && !is_claimed; i++) {
		is_claimed = !__atomic_exchange_n(&process.spare_stacks[i], true, __ATOMIC_ACQUIRE);
		if (is_claimed) {
			spare_stack_switch(work, argument, stacks + GUARD_BYTES + (i + 1) * STACK_BYTES);
			__atomic_store_n(&process.spare_stacks[i], false, __ATOMIC_RELEASE);
		}
	}
	return is_claimed;
}

bool spare_stack_run(void (*work)(void *), void *argument)
{
	struct thread_guard guard;
	bool has_run;

	if (!is_usable || sys_is_silent)
		return false;
	thread_guard_enter(&thread_self, &guard);
	has_run = spare_stack_run_guarded(&guard, work, argument);
	thread_guard_leave(&thread_self, &guard);
	return has_run;
}

void spare_stack_prefer(const struct thread_guard *g, void (*work)(void *), void *argument)
{
	if (spare_stack_is_in_use_here() || !spare_stack_run_guarded(g, work, argument))
		work(argument);
}

#else

void spare_stack_init(void)
{
}

bool spare_stack_run(void (*work)(void *), void *argument)
{
	(void)work;
	(void)argument;
	return false;
}

void spare_stack_prefer(const struct thread_guard *g, void (*work)(void *), void *argument)
{
	(void)g;
	work(argument);
}

#endif

bool spare_stack_exists(void)
{
	return is_usable;
}
