/* SPDX-License-Identifier: Apache-2.0 */
/* Memo of the stretches that one thread has walked: they are compared instead of walked again. */
#include "runtime/recorder/stack/walk.h"

#include <stddef.h>

#include "runtime/recorder/stack/walk_rule.h"
#include "runtime/recorder/stack/walk_step.h"

#ifdef __x86_64__

/* A walk from (sp, fp, pc) depends on the rules, which change only by walk_invalidate, and on the words that it
 * reads. If the words are unchanged, it takes the same path. The bounds are those of the memo, and no read below sp
 * is logged, so the words can be read again. */
struct stretch {
	uint64_t age; /* the memo's when this was made; 0: incomplete, or not reusable */
	uintptr_t fp, pc;
	uintptr_t next_sp, next_fp, next_pc;
	uint64_t hash;
	uint8_t frames;
	bool is_last;
	uint16_t next; /* a hint, see walk_memo_step */
	struct walk_log log;
};

enum { MEMO_BITS = 9, MEMO_STRETCHES = 1 << MEMO_BITS };

struct walk_memo {
	uint64_t age, seed;
	uintptr_t high;
	uint16_t hints[MEMO_STRETCHES];           /* by the start of a walk */
	struct stretch stretches[MEMO_STRETCHES]; /* by the words read */
};
_Static_assert(sizeof(struct walk_memo) <= WALK_MEMO_BYTES, "callers map this size");

static inline bool stretch_has_start(const struct stretch *s, const struct stack_walk *walk, uint64_t age)
{
	return ((s->age ^ age) | (s->log.sp ^ walk->sp) | (s->fp ^ walk->fp) | (s->pc ^ walk->pc)) == 0;
}

static inline uint64_t read_word_change(const struct walk_read *r)
{
	return walk_load(r->address) ^ r->value;
}

/* Are all words that it read unchanged? */
static inline bool stretch_is_unchanged(const struct stretch *s)
{
	uint64_t change = 0, more = 0;

	for (const struct walk_read *r = s->log.reads, *end = r + s->log.count; r < end; r += WALK_READS_AT_ONCE) {
		change |= read_word_change(&r[0]) | read_word_change(&r[1]);
		more |= read_word_change(&r[2]) | read_word_change(&r[3]);
	}
	return (change | more) == 0;
}

/* A hash of the current words at the addresses that it read: the position of a stretch with these words. */
static inline uint64_t stretch_mix(const struct stretch *s)
{
	uint64_t mix = 0, factor = 0x9e3779b97f4a7c15;

	for (unsigned i = 0; i < s->log.count; i++) {
		mix += walk_load(s->log.reads[i].address) * factor;
		factor += 0x632be59bd9b4e01a;
	}
	return mix;
}

static inline uint64_t walk_start_mix(const struct stack_walk *walk)
{
	return (walk->sp ^ walk->pc << 20 ^ walk->fp << 7) * 0x9e3779b97f4a7c15;
}

/* Invalidates stretches of other rules or another stack. A handler may leave this function by longjmp: with this
 * order the next walk starts over. */
static void walk_memo_renew(struct walk_memo *memo, uint64_t seed, uintptr_t high)
{
	memo->age++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->seed = seed;
	memo->high = high;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Walks a stretch and stores it in `s`. If a handler leaves by longjmp meanwhile, the age stays 0. */
static __attribute__((noinline)) enum walk_outcome stretch_walk(struct stretch *s, struct stack_walk *walk,
								uint64_t seed, uint64_t age, int *ret_count,
								uint64_t *ret_hash)
{
	struct walk_log *log = &s->log;
	bool had_handler = walk->has_handler;
	enum walk_outcome outcome;

	walk->has_handler = false;
	s->age = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->fp = walk->fp;
	s->pc = walk->pc;
	log->sp = walk->sp;
	log->count = 0;
	walk->log = log;
	outcome = walk_stretch(walk, NULL, WALK_STRETCH, seed, ret_count, ret_hash);
	s->next_sp = walk->sp;
	s->next_fp = walk->fp;
	s->next_pc = walk->pc;
	s->hash = *ret_hash;
	s->frames = (uint8_t)*ret_count;
	s->is_last = outcome == WALK_ENDED;
	/* Padding, because words are compared several at a time. */
	while (log->count % WALK_READS_AT_ONCE) {
		log->reads[log->count] = log->reads[log->count - 1];
		log->count++;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Not reusable: a stopped walk may reach further next time, a probed page may be unmapped, and a handler
	 * must be reported. */
	if (walk->log && outcome != WALK_STOPPED && !walk->is_probed && !walk->has_handler)
		s->age = age;
	walk->has_handler |= had_handler;
	walk->log = NULL;
	return outcome;
}

/* *hint is the last stretch that followed this one. Different stacks may continue from here, so if that stretch does
 * not match, the current words at the addresses that it read select another. Both are only guesses of a position: a
 * stretch is used only if all words that it read are unchanged. */
static inline enum walk_outcome walk_memo_step(struct walk_memo *memo, struct stack_walk *walk, uint64_t seed,
					       uint16_t **hint, int *ret_count, uint64_t *ret_hash)
{
	struct stretch *s = &memo->stretches[**hint % MEMO_STRETCHES];
	bool is_alike = stretch_has_start(s, walk, memo->age);

	if (__builtin_expect(!is_alike || !stretch_is_unchanged(s), 0)) {
		uint64_t mix = ((is_alike ? stretch_mix(s) : 0) ^ walk_start_mix(walk)) * 0xd6e8feb86659fd93;

		for (unsigned place = mix >> (64 - MEMO_BITS), way = 0;; way++) {
			s = &memo->stretches[place ^ way];
			**hint = (uint16_t)(place ^ way);
			if (stretch_has_start(s, walk, memo->age) && stretch_is_unchanged(s))
				break;
			if (way == 1 || s->age != memo->age) {
				*hint = &s->next;
				return stretch_walk(s, walk, seed, memo->age, ret_count, ret_hash);
			}
		}
	}
	*hint = &s->next;
	walk->sp = s->next_sp;
	walk->fp = s->next_fp;
	walk->pc = s->next_pc;
	*ret_count = s->frames;
	*ret_hash = s->hash;
	return s->is_last ? WALK_ENDED : WALK_GOES_ON;
}

int walk_memo_hash(struct walk_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
		   bool reads_rules, uint64_t *ret_hash)
{
	struct stack_walk walk = {.low = frame, .high = stack_high, .is_cached_only = !reads_rules, .sp = frame + 16};
	enum walk_outcome outcome = WALK_GOES_ON;
	uint64_t seed = walk_rule_seed(), all = 0, hash;
	uint16_t *hint;
	int n = 0, count;

	if (frame < stack_low || frame >= stack_high || !walk_rules)
		return 0;
	walk.fp = walk_load(frame);
	walk.pc = walk_load(frame + 8);
	if (memo->age == 0 || memo->seed != seed || memo->high != stack_high)
		walk_memo_renew(memo, seed, stack_high);
	hint = &memo->hints[walk_start_mix(&walk) >> (64 - MEMO_BITS)];
	while (n < size && outcome == WALK_GOES_ON) {
		if (size - n >= WALK_STRETCH && !walk.is_probed && !walk.is_interrupted)
			outcome = walk_memo_step(memo, &walk, seed, &hint, &count, &hash);
		else
			outcome = walk_stretch(&walk, NULL, size - n, seed, &count, &hash);
		n += count;
		all = walk_hash_join(all, hash);
	}
	if (walk.has_unread)
		return 0;
	*ret_hash = all;
	return n | (walk.has_handler ? WALK_SIGNAL : 0);
}

#else

int walk_memo_hash(struct walk_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
		   bool reads_rules, uint64_t *ret_hash)
{
	(void)memo, (void)size, (void)stack_low, (void)stack_high, (void)frame, (void)reads_rules,
	    (void)ret_hash;
	return 0;
}

#endif
