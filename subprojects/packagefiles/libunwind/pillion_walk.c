/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a stack by rules that are worked out once per return address and kept for the whole process.
 *
 * libunwind's own fast trace keeps 256 KB per thread, fills them at each thread's first call, needs
 * a thread-specific key to give them back, and is broken by a signal handler that walks in the middle
 * of a walk. Here one table serves all threads, without locks and without owners: see rule_find. */
#include "pillion_walk.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifdef __x86_64__
enum { DWARF_FP = 6, DWARF_SP = 7, DWARF_RA = 16 };
#define SIGNAL_CONTEXT_OFFSET 0
#define CONTEXT_FP(context) ((context)->uc_mcontext.gregs[REG_RBP])
#define CONTEXT_SP(context) ((context)->uc_mcontext.gregs[REG_RSP])
#define CONTEXT_PC(context) ((context)->uc_mcontext.gregs[REG_RIP])
#else
enum { DWARF_FP = 29, DWARF_SP = 31, DWARF_RA = 30 };
#define SIGNAL_CONTEXT_OFFSET sizeof(siginfo_t)
#define CONTEXT_FP(context) ((context)->uc_mcontext.regs[29])
#define CONTEXT_LR(context) ((context)->uc_mcontext.regs[30])
#define CONTEXT_SP(context) ((context)->uc_mcontext.sp)
#define CONTEXT_PC(context) ((context)->uc_mcontext.pc)
#endif

enum rule_kind {
	RULE_NONE,		/* an empty place in the table */
	RULE_FRAME,		/* CFA is fp or sp and an offset */
	RULE_REALIGNED,		/* x86_64: CFA is stored at an offset from fp; fp at fp */
	RULE_SIGNAL,		/* the frame the kernel builds for a signal handler */
	RULE_GUESS,		/* no call frame information: a chain of frame pointers, or nothing */
	RULE_LAST,		/* the outermost frame */
	RULE_OTHER,		/* something we do not follow */
	RULE_PLT,		/* x86_64: an entry of a procedure linkage table, which has pushed a word or not yet */
};

/* How to get from a frame to its caller's. One word, so that the table can hold it. */
union rule {
	struct {
		uint64_t kind : 3;
		uint64_t cfa_from_sp : 1;
		int64_t cfa_offset : 24;	/* bytes */
		int64_t fp_offset : 18;		/* from the CFA in units of 8 bytes; 0: not saved */
		int64_t ra_offset : 18;		/* likewise */
	};
	uint64_t word;
};
_Static_assert(sizeof(union rule) == sizeof(uint64_t), "a rule is one word");

#define TABLE_BITS 14
#define WAYS 4

/* A bucket is one cache line. A place counts when mark and rule belong together and to the address,
 * which no mixture of two writers' stores does: so they are written in any order, by anybody. */
struct bucket {
	struct place {
		_Atomic uint64_t mark;
		_Atomic uint64_t rule;
	} places[WAYS];
} __attribute__((aligned(64)));

static struct bucket table[1 << TABLE_BITS];
static _Atomic uint64_t generation;
static atomic_uint victim;

/* A stack's readable part. */
struct walk {
	uintptr_t low, high;
	bool is_probed;			/* high is as far as we have looked, and may move up */
	uintptr_t fp, sp, pc;
	bool is_interrupted;		/* pc is where a signal came, not a return address */
	bool has_handler;		/* a signal handler's frame was among those walked */
	struct stretch *noted;		/* keeps what is read; NULL: nobody does */
#ifdef __aarch64__
	uintptr_t lr;			/* known for the frame a signal interrupted, else 0 */
#endif
};

enum { STRETCH_FRAMES = 16, READS_AT_ONCE = 4, STRETCH_READS = 2 * STRETCH_FRAMES + READS_AT_ONCE };

struct read {
	const uintptr_t *at;
	uintptr_t value;
};

/* A few frames that were walked before, and all that was read on the way. Where a walk goes from (sp, fp, pc) is told by
 * the rules, which are the same until the next flush, and by what stands where it reads: so if that is unchanged, it
 * goes the same way. Rules take care of the rest: bounds are those of the memo, and nothing below sp is kept. */
struct stretch {
	uint64_t age;			/* the memo's when this was made; 0: half made, or not worth keeping */
	uintptr_t sp, fp, pc;
	uintptr_t next_sp, next_fp, next_pc;
	uint64_t hash;
	uint8_t frames, reads;
	bool is_last;
	uint16_t next;			/* a hint, see memo_step */
	struct read read[STRETCH_READS];
};

enum { MEMO_PLACES = 512, MEMO_HINTS = 512 };

struct unw_pillion_memo {
	uint64_t age, seed;
	uintptr_t high;
	uint16_t hints[MEMO_HINTS];	/* by where it begins */
	struct stretch stretches[MEMO_PLACES]; /* by what was read */
};
_Static_assert(sizeof(struct unw_pillion_memo) <= UNW_PILLION_MEMO, "what callers map for it");

enum { PAGE = 4096, GUESS_REACH = 16384, STEP_REACH = 1 << 20 };

static bool is_readable(uintptr_t address)
{
	/* An impossible "how" is found out after the set was read: EFAULT or EINVAL, and no effect. */
	return unw_pillion_syscall(SYS_rt_sigprocmask, -1, (long)(address & -sizeof(uint64_t)), 0,
		sizeof(uint64_t)) == -EINVAL;
}

/* From here on the stack is what can be read page by page; the page of sp is known to be readable. */
static void walk_probe_from(struct walk *walk, uintptr_t sp)
{
	walk->is_probed = true;
	walk->low = sp & -(uintptr_t)PAGE;
	walk->high = walk->low + PAGE;
}

static bool walk_extend(struct walk *walk, uintptr_t address)
{
	if (!walk->is_probed || address < walk->high || address - walk->high >= STEP_REACH)
		return false;
	while (address >= walk->high) {
		if (!is_readable(walk->high))
			return false;
		walk->high += PAGE;
	}
	return true;
}

static inline void walk_note(struct walk *walk, uintptr_t address, uintptr_t value)
{
	struct stretch *s = walk->noted;

	if (s->reads == STRETCH_READS || address < s->sp) {
		walk->noted = NULL;
		return;
	}
	s->read[s->reads].at = (const uintptr_t *)address;
	s->read[s->reads++].value = value;
}

static inline bool walk_read(struct walk *walk, uintptr_t address, uintptr_t *value)
{
	if (__builtin_expect(address - walk->low >= walk->high - walk->low || (address & 7) != 0, 0)) {
		if ((address & 7) != 0 || !walk_extend(walk, address))
			return false;
	}
	*value = *(const uintptr_t *)address;
	if (walk->noted)
		walk_note(walk, address, *value);
	return true;
}

#include "pillion_rules.h"

static inline uintptr_t without_signature(uintptr_t pc)
{
#ifdef __aarch64__
	register uintptr_t x30 __asm__("x30") = pc;

	__asm__("hint #7" : "+r"(x30));		/* xpaclri, a no-op on processors without it */
	return x30;
#else
	return pc;
#endif
}

/* Goes on to the caller, whose stack begins at cfa. Stacks grow down: a frame that does not lie above
 * the one before is wrong, and would make the walk endless. Only a function that a signal interrupted
 * may own no stack, its return address still being in a register. */
static inline bool walk_pop(struct walk *walk, uintptr_t cfa, uintptr_t fp_at, uintptr_t ra_at)
{
	uintptr_t pc, fp = walk->fp;

	if (cfa < walk->sp || (cfa == walk->sp && ra_at))
		return false;
	if (fp_at && !walk_read(walk, fp_at, &fp))
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

static bool walk_pop_signal(struct walk *walk)
{
	const ucontext_t *context = (const ucontext_t *)(walk->sp + SIGNAL_CONTEXT_OFFSET);
	uintptr_t unused;

	if (!walk_read(walk, (uintptr_t)&CONTEXT_FP(context), &walk->fp) ||
		!walk_read(walk, (uintptr_t)&CONTEXT_PC(context), &walk->pc) ||
#ifdef __aarch64__
		!walk_read(walk, (uintptr_t)&CONTEXT_LR(context), &walk->lr) ||
#endif
		!walk_read(walk, (uintptr_t)&CONTEXT_SP(context), &walk->sp))
		return false;
#ifdef __aarch64__
	walk->lr = without_signature(walk->lr);
#endif
	if (walk_read(walk, walk->sp & -(uintptr_t)8, &unused))
		return true;
	/* The handler ran on another stack than what it interrupted. */
	walk_probe_from(walk, walk->sp);
	return is_readable(walk->sp);
}

static bool walk_pop_guessed(struct walk *walk)
{
	uintptr_t fp = walk->fp;

	if (fp < walk->sp || fp - walk->sp >= GUESS_REACH)
		return false;
	return walk_pop(walk, fp + 16, fp, fp + 8);
}

static inline bool walk_step(struct walk *walk, union rule rule)
{
	uintptr_t cfa = (rule.cfa_from_sp ? walk->sp : walk->fp) + (intptr_t)rule.cfa_offset;

	switch (rule.kind) {
	case RULE_FRAME:
		return walk_pop(walk, cfa, rule.fp_offset ? cfa + rule.fp_offset * 8 : 0,
			rule.ra_offset ? cfa + rule.ra_offset * 8 : 0);
	case RULE_REALIGNED:
		return walk_read(walk, cfa, &cfa) && walk_pop(walk, cfa, walk->fp, cfa - 8);
	case RULE_SIGNAL:
		return walk_pop_signal(walk);
	case RULE_GUESS:
		return walk_pop_guessed(walk);
	case RULE_PLT:
		cfa = walk->sp + ((walk->pc & 15) >= 11 ? 16 : 8);
		return walk_pop(walk, cfa, 0, cfa - 8);
	default:
		return false;
	}
}

enum outcome { WALK_GOES_ON, WALK_ENDED, WALK_CUT };

/* At most `size` frames; their addresses go to `buffer` if it is not NULL. The hash costs nothing here: each step waits for
 * the stack's memory anyway. */
static inline __attribute__((always_inline)) enum outcome walk_stretch(struct walk *walk, void **buffer, int size,
	uint64_t seed, int *ret_count, uint64_t *ret_hash)
{
	enum outcome outcome = WALK_GOES_ON;
	uint64_t hash = 0;
	int n = 0;

	while (n < size && outcome == WALK_GOES_ON) {
		bool is_return_address = !walk->is_interrupted;
		union rule rule;

		if (buffer)
			buffer[n] = (void *)walk->pc;
		n++;
		hash = (hash ^ walk->pc) * 0x9fb21c651e98df25;
		hash ^= hash >> 32;
		rule = rule_find(walk->pc - is_return_address, seed, is_return_address);
		if (rule.kind == RULE_LAST || (rule.kind == RULE_GUESS && walk->fp == 0))
			outcome = WALK_ENDED;
		else if (!walk_step(walk, rule))
			outcome = WALK_CUT;
		else if (walk->pc == 0)
			outcome = WALK_ENDED;
		walk->is_interrupted = rule.kind == RULE_SIGNAL;
		walk->has_handler |= walk->is_interrupted;
	}
	*ret_count = n;
	*ret_hash = hash;
	return outcome;
}

static inline uint64_t hash_join(uint64_t hash, uint64_t stretch)
{
	hash = (hash ^ stretch) * 0xd6e8feb86659fd93;
	return hash ^ hash >> 32;
}

static inline uint64_t rules_seed(void)
{
	return atomic_load_explicit(&generation, memory_order_acquire) * 0xd6e8feb86659fd93;
}

/* In stretches, so that the hash is what a walk with a memo has. */
static int walk_all(struct walk *walk, void **buffer, int size, uint64_t *ret_hash)
{
	enum outcome outcome = WALK_GOES_ON;
	uint64_t seed = rules_seed(), hash;
	int n = 0, count;

	*ret_hash = 0;
	while (n < size && outcome == WALK_GOES_ON) {
		outcome = walk_stretch(walk, buffer + n, size - n < STRETCH_FRAMES ? size - n : STRETCH_FRAMES, seed, &count, &hash);
		n += count;
		*ret_hash = hash_join(*ret_hash, hash);
	}
	return n | (outcome == WALK_CUT ? UNW_PILLION_CUT : 0) | (walk->has_handler ? UNW_PILLION_SIGNAL : 0);
}

#ifdef __x86_64__
#include "pillion_memo.h"

int unw_pillion_hash_from(struct unw_pillion_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
	uint64_t *ret_hash)
{
	struct walk walk = {.low = frame, .high = stack_high, .sp = frame + 16};
	enum outcome outcome = WALK_GOES_ON;
	uint64_t seed = rules_seed(), hash;
	uint16_t *hint;
	int n = 0, count;

	if (frame < stack_low || frame >= stack_high)
		return 0;
	walk.fp = ((const uintptr_t *)frame)[0];
	walk.pc = ((const uintptr_t *)frame)[1];
	if (memo->age == 0 || memo->seed != seed || memo->high != stack_high)
		memo_age(memo, seed, stack_high);
	*ret_hash = 0;
	hint = &memo->hints[beginning(&walk) >> 55];
	while (n < size && outcome == WALK_GOES_ON) {
		if (size - n >= STRETCH_FRAMES && !walk.is_probed && !walk.is_interrupted)
			outcome = memo_step(memo, &walk, seed, &hint, &count, &hash);
		else
			outcome = walk_stretch(&walk, NULL, size - n < STRETCH_FRAMES ? size - n : STRETCH_FRAMES, seed, &count, &hash);
		n += count;
		*ret_hash = hash_join(*ret_hash, hash);
	}
	return n | (walk.has_handler ? UNW_PILLION_SIGNAL : 0);
}
#else
int unw_pillion_hash_from(struct unw_pillion_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
	uint64_t *ret_hash)
{
	return 0;
}
#endif

int unw_pillion_walk(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t sp,
	uintptr_t fp
#ifdef __aarch64__
	, uintptr_t pc
#endif
	)
{
	struct walk walk = {.low = sp, .high = stack_high, .fp = fp};
	uint64_t unused;

#ifdef __x86_64__
	walk.pc = *(const uintptr_t *)sp;
	walk.sp = sp + 8;
#else
	walk.pc = pc;
	walk.sp = sp;
#endif
	if (sp < stack_low || sp >= stack_high)
		walk_probe_from(&walk, sp);
	return walk_all(&walk, buffer, size, &unused);
}

int unw_pillion_backtrace_from(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
	uint64_t *ret_hash)
{
#ifdef __x86_64__
	/* [frame] is the caller's rbp, the return address stands above it. */
	struct walk walk = {.low = frame, .high = stack_high, .fp = *(const uintptr_t *)frame};

	walk.pc = ((const uintptr_t *)frame)[1];
	walk.sp = frame + 16;
	if (frame < stack_low || frame >= stack_high)
		walk_probe_from(&walk, frame);
	return walk_all(&walk, buffer, size, ret_hash);
#else
	int count = unw_pillion_backtrace(buffer, size, stack_low, stack_high);

	(void)frame;
	*ret_hash = 0;
	for (int i = 0; i < (count & UNW_PILLION_COUNT); i++) {
		*ret_hash = (*ret_hash ^ (uintptr_t)buffer[i]) * 0x9fb21c651e98df25;
		*ret_hash ^= *ret_hash >> 32;
	}
	return count;
#endif
}

int unw_pillion_backtrace_at(void **buffer, int size, uintptr_t stack_low, uintptr_t stack_high, const struct unw_pillion_place *place,
	uint64_t *ret_hash)
{
	struct walk walk = {.low = place->sp, .high = stack_high, .fp = place->fp, .sp = place->sp, .pc = place->pc, .is_interrupted = true};

#ifdef __aarch64__
	walk.lr = without_signature(place->lr);
#endif
	if (place->sp < stack_low || place->sp >= stack_high)
		walk_probe_from(&walk, place->sp);
	return walk_all(&walk, buffer, size, ret_hash);
}

void unw_pillion_flush(void)
{
	atomic_fetch_add_explicit(&generation, 1, memory_order_acq_rel);
}
