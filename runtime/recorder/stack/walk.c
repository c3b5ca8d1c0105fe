/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a stack by rules that are cached for the whole process (walk_rule.h). docs/decisions/stack-walker.md
 * explains why libunwind's own trace is not used. */
#include "runtime/recorder/stack/walk.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/stack/walk_rule.h"
#include "runtime/recorder/stack/walk_step.h"

#ifdef __x86_64__
#define SIGNAL_CONTEXT_OFFSET 0
#define CONTEXT_FP offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP])
#define CONTEXT_SP offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP])
#define CONTEXT_PC offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP])
#else
#define SIGNAL_CONTEXT_OFFSET sizeof(siginfo_t)
#define CONTEXT_FP offsetof(ucontext_t, uc_mcontext.regs[29])
#define CONTEXT_LR offsetof(ucontext_t, uc_mcontext.regs[30])
#define CONTEXT_SP offsetof(ucontext_t, uc_mcontext.sp)
#define CONTEXT_PC offsetof(ucontext_t, uc_mcontext.pc)
#endif

enum { PAGE = 4096, GUESS_REACH = 16384, STEP_REACH = 1 << 20, ALIGNED = sizeof(uintptr_t) - 1 };

/* ---- reading the stack ---- */

/* From here on, the stack extends as far as pages can be read; the page of sp is known to be readable. */
static void walk_probe_from(struct stack_walk *walk, uintptr_t sp)
{
	walk->is_probed = true;
	walk->low = sp & -(uintptr_t)PAGE;
	walk->high = walk->low + PAGE;
}

static bool walk_extend(struct stack_walk *walk, uintptr_t address)
{
	if (!walk->is_probed || address < walk->high || address - walk->high >= STEP_REACH)
		return false;
	while (address >= walk->high) {
		if (!readable_address(walk->high))
			return false;
		walk->high += PAGE;
	}
	return true;
}

static inline void walk_log_read(struct stack_walk *walk, uintptr_t address, uintptr_t value)
{
	struct walk_log *log = walk->log;

	if (log->count == WALK_READS || address < log->sp) {
		walk->log = NULL;
		return;
	}
	log->reads[log->count++] = (struct walk_read){address, value};
}

static inline bool walk_read(struct stack_walk *walk, uintptr_t address, uintptr_t *value)
{
	if (__builtin_expect(address - walk->low >= walk->high - walk->low || (address & ALIGNED) != 0, 0)) {
		if ((address & ALIGNED) != 0 || !walk_extend(walk, address))
			return false;
	}
	*value = walk_load(address);
	if (walk->log)
		walk_log_read(walk, address, *value);
	return true;
}

/* ---- from a frame to its caller's ---- */

static inline uintptr_t without_signature(uintptr_t pc)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30)); /* xpaclri, a no-op on processors without it */
	return x30;
#else
	return pc;
#endif
}

/* The caller's stack begins at cfa. Stacks grow down: a frame that is not above the previous one is wrong, and could
 * make the walk endless. Only a function that a signal interrupted may have an empty frame, its return address still
 * being in a register. */
static inline bool walk_pop(struct stack_walk *walk, uintptr_t cfa, uintptr_t fp_at, uintptr_t ra_at)
{
	uintptr_t pc, fp = walk->fp;

	if (cfa < walk->sp || (cfa == walk->sp && ra_at))
		return false;
	/* A table may still describe a saved frame pointer that an epilogue has popped already: then the register is
	 * valid. */
	if (fp_at >= walk->sp && !walk_read(walk, fp_at, &fp))
		return false;
	if (ra_at) {
		if (!walk_read(walk, ra_at, &pc))
			return false;
	} else {
#ifdef __aarch64__
		if (walk->lr == 0)
			return false;
		pc = walk->lr;
#else
		return false;
#endif
	}
#ifdef __aarch64__
	walk->lr = 0;
#endif
	walk->fp = fp;
	walk->sp = cfa;
	walk->pc = without_signature(pc);
	return true;
}

static bool walk_pop_signal(struct stack_walk *walk)
{
	uintptr_t context = walk->sp + SIGNAL_CONTEXT_OFFSET, unused;

	if (!walk_read(walk, context + CONTEXT_FP, &walk->fp) || !walk_read(walk, context + CONTEXT_PC, &walk->pc) ||
#ifdef __aarch64__
	    !walk_read(walk, context + CONTEXT_LR, &walk->lr) ||
#endif
	    !walk_read(walk, context + CONTEXT_SP, &walk->sp))
		return false;
#ifdef __aarch64__
	walk->lr = without_signature(walk->lr);
#endif
	if (walk_read(walk, walk->sp & ~(uintptr_t)ALIGNED, &unused))
		return true;
	/* The handler ran on another stack than the code that it interrupted. */
	walk_probe_from(walk, walk->sp);
	return readable_address(walk->sp);
}

static bool walk_pop_guessed(struct stack_walk *walk)
{
	uintptr_t fp = walk->fp;

	if (fp < walk->sp || fp - walk->sp >= GUESS_REACH)
		return false;
	return walk_pop(walk, fp + 16, fp, fp + 8);
}

static inline bool walk_step(struct stack_walk *walk, union walk_rule rule)
{
	uintptr_t cfa = (rule.cfa_from_sp ? walk->sp : walk->fp) + (uintptr_t)(intptr_t)rule.cfa_offset;

	switch (rule.kind) {
	case WALK_RULE_FRAME:
		return walk_pop(walk, cfa, rule.fp_offset ? cfa + (uintptr_t)(rule.fp_offset * 8) : 0,
				rule.ra_offset ? cfa + (uintptr_t)(rule.ra_offset * 8) : 0);
	case WALK_RULE_REALIGNED:
		return walk_read(walk, cfa, &cfa) && walk_pop(walk, cfa, walk->fp, cfa - 8);
	case WALK_RULE_SIGNAL:
		return walk_pop_signal(walk);
	case WALK_RULE_GUESS:
		return walk_pop_guessed(walk);
	case WALK_RULE_PLT:
		cfa = walk->sp + ((walk->pc & 15) >= 11 ? 16 : 8);
		return walk_pop(walk, cfa, 0, cfa - 8);
	default:
		return false;
	}
}

/* The hash takes no extra time, because each step waits for memory. */
enum walk_outcome walk_stretch(struct stack_walk *walk, void **buffer, int size, uint64_t seed, int *ret_count,
			       uint64_t *ret_hash)
{
	enum walk_outcome outcome = WALK_GOES_ON;
	uint64_t hash = 0;
	int n = 0;

	size = size < WALK_STRETCH ? size : WALK_STRETCH;
	while (n < size && outcome == WALK_GOES_ON) {
		bool is_return_address = !walk->is_interrupted;
		union walk_rule rule;

		if (buffer)
			buffer[n] = (void *)walk->pc;
		n++;
		hash = (hash ^ walk->pc) * 0x9fb21c651e98df25;
		hash ^= hash >> 32;
		rule = walk_rule_find(walk->pc - is_return_address, seed);
		if (__builtin_expect(rule.kind == WALK_RULE_EMPTY, 0)) {
			walk->has_unread |= walk->is_cached_only;
			if (!walk->is_cached_only)
				rule = walk_rule_read(walk->pc - is_return_address, seed, is_return_address);
		}
		if (rule.kind == WALK_RULE_LAST || (rule.kind == WALK_RULE_GUESS && walk->fp == 0))
			outcome = WALK_ENDED;
		else if (!walk_step(walk, rule))
			outcome = WALK_STOPPED;
		else if (walk->pc == 0)
			outcome = WALK_ENDED;
		walk->is_interrupted = rule.kind == WALK_RULE_SIGNAL;
		walk->has_handler |= walk->is_interrupted;
	}
	*ret_count = n;
	*ret_hash = hash;
	return outcome;
}

static int walk_all(struct stack_walk *walk, void **buffer, int size, uint64_t *ret_hash)
{
	enum walk_outcome outcome = WALK_GOES_ON;
	uint64_t seed = walk_rule_seed(), hash;
	int n = 0, count;

	*ret_hash = 0;
	if (!walk_prepare())
		return 0;
	while (n < size && outcome == WALK_GOES_ON) {
		outcome = walk_stretch(walk, buffer + n, size - n, seed, &count, &hash);
		n += count;
		*ret_hash = walk_hash_join(*ret_hash, hash);
	}
	return n | (outcome == WALK_STOPPED ? WALK_CUT : 0) | (walk->has_handler ? WALK_SIGNAL : 0);
}

#ifdef __x86_64__
/* The word at `frame` is the caller's rbp; the return address is above it. */
static struct stack_walk walk_begin(uintptr_t frame, uintptr_t stack_high)
{
	return (struct stack_walk){
		.low = frame,
		.high = stack_high,
		.fp = walk_load(frame),
		.sp = frame + 16,
		.pc = walk_load(frame + 8),
	};
}
#else
/* The frame address does not give the caller's stack pointer, so the walk begins in this function. One asm statement
 * reads all registers, so that they belong to one instruction. The unwind table describes every instruction of the
 * function. */
static inline __attribute__((always_inline)) struct stack_walk walk_begin(uintptr_t frame, uintptr_t stack_high)
{
	struct stack_walk walk = {.high = stack_high, .is_interrupted = true};

	(void)frame;
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(walk.pc), "=&r"(walk.sp), "=&r"(walk.fp), "=&r"(walk.lr));
	walk.lr = without_signature(walk.lr);
	walk.low = walk.sp;
	return walk;
}
#endif

__attribute__((noinline)) int walk_from(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high,
					uintptr_t frame, uint64_t *ret_hash)
{
	struct stack_walk walk = walk_begin(frame, stack_high);

	if (walk.low < stack_low || walk.low >= stack_high)
		walk_probe_from(&walk, walk.low);
	return walk_all(&walk, buffer, size, ret_hash);
}

int walk_at(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, const struct stack_place *place,
	    uint64_t *ret_hash)
{
	struct stack_walk walk = {
		.low = place->sp,
		.high = stack_high,
		.is_interrupted = true,
		.fp = place->fp,
		.sp = place->sp,
		.pc = place->pc,
	};

#ifdef __aarch64__
	walk.lr = without_signature(place->lr);
#endif
	if (place->sp < stack_low || place->sp >= stack_high)
		walk_probe_from(&walk, place->sp);
	return walk_all(&walk, buffer, size, ret_hash);
}
