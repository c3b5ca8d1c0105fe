/* SPDX-License-Identifier: Apache-2.0 */
/* Stretches that one thread has walked, to be compared instead of walked again. */
#include "runtime/stack/walk.h"

#include <stddef.h>

#include "runtime/stack/walk_rule.h"
#include "runtime/stack/walk_step.h"

#ifdef __x86_64__

/* What a walk does from (sp, fp, pc) depends on the rules, which are the same until the next walk_invalidate, and on
 * the words that it reads: so if those are unchanged, it goes the same way. The bounds are those of the memo, and no
 * read below sp is kept, so the words can be read again. */
struct stretch {
	uint64_t age; /* the memo's when this was made; 0: half made, or not worth keeping */
	uintptr_t fp, pc;
	uintptr_t next_sp, next_fp, next_pc;
	uint64_t hash;
	uint8_t frames;
	bool is_last;
	uint16_t next; /* a hint, see memo_step */
	struct walk_log log;
};

enum { MEMO_BITS = 9, MEMO_STRETCHES = 1 << MEMO_BITS };

struct walk_memo {
	uint64_t age, seed;
	uintptr_t high;
	uint16_t hints[MEMO_STRETCHES];		  /* by where a walk begins */
	struct stretch stretches[MEMO_STRETCHES]; /* by what was read */
};
_Static_assert(sizeof(struct walk_memo) <= WALK_MEMO_BYTES, "what callers map for it");

static inline bool begins_alike(const struct stretch *s, const struct walk *walk, uint64_t age)
{
	return ((s->age ^ age) | (s->log.sp ^ walk->sp) | (s->fp ^ walk->fp) | (s->pc ^ walk->pc)) == 0;
}

static inline uint64_t word_change(const struct walk_read *r)
{
	return walk_load(r->address) ^ r->value;
}

/* Whether nothing that it read has changed. */
static inline bool stretch_holds(const struct stretch *s)
{
	uint64_t change = 0, more = 0;

	for (const struct walk_read *r = s->log.reads, *end = r + s->log.count; r < end; r += WALK_READS_AT_ONCE) {
		change |= word_change(&r[0]) | word_change(&r[1]);
		more |= word_change(&r[2]) | word_change(&r[3]);
	}
	return (change | more) == 0;
}

/* A hash of the present words where it has read: tells where to look for the stretch with these words. */
static inline uint64_t stretch_mix(const struct stretch *s)
{
	uint64_t mix = 0, factor = 0x9e3779b97f4a7c15;

	for (unsigned i = 0; i < s->log.count; i++) {
		mix += walk_load(s->log.reads[i].address) * factor;
		factor += 0x632be59bd9b4e01a;
	}
	return mix;
}

static inline uint64_t beginning_mix(const struct walk *walk)
{
	return (walk->sp ^ walk->pc << 20 ^ walk->fp << 7) * 0x9e3779b97f4a7c15;
}

/* Stretches of other rules or of another stack no longer count. The order matters to a walk that a handler stops
 * here for good: the next one begins here again. */
static void memo_renew(struct walk_memo *memo, uint64_t seed, uintptr_t high)
{
	memo->age++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	memo->seed = seed;
	memo->high = high;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* Walks a stretch, and keeps it in place of `s`. A writer that a handler stops for good leaves an age of 0 behind. */
static __attribute__((noinline)) enum walk_outcome stretch_make(struct stretch *s, struct walk *walk, uint64_t seed,
								 uint64_t age, int *ret_count, uint64_t *ret_hash)
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
	/* To be compared a few at once. */
	while (log->count % WALK_READS_AT_ONCE) {
		log->reads[log->count] = log->reads[log->count - 1];
		log->count++;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Not kept: a walk that was cut may go further next time, a probed page may be gone, and a handler is to be
	 * reported. */
	if (walk->log && outcome != WALK_STOPPED && !walk->is_probed && !walk->has_handler)
		s->age = age;
	walk->has_handler |= had_handler;
	walk->log = NULL;
	return outcome;
}

/* *hint is the stretch that was met last where this one begins. Many stacks may go on from there, so if that stretch
 * does not hold, the present words where it has read tell where to look. Both are guesses of a place: a stretch
 * counts only if all that it read holds. */
static inline enum walk_outcome memo_step(struct walk_memo *memo, struct walk *walk, uint64_t seed, uint16_t **hint,
					  int *ret_count, uint64_t *ret_hash)
{
	struct stretch *s = &memo->stretches[**hint % MEMO_STRETCHES];
	bool is_alike = begins_alike(s, walk, memo->age);

	if (__builtin_expect(!is_alike || !stretch_holds(s), 0)) {
		uint64_t mix = ((is_alike ? stretch_mix(s) : 0) ^ beginning_mix(walk)) * 0xd6e8feb86659fd93;

		for (unsigned place = mix >> (64 - MEMO_BITS), way = 0;; way++) {
			s = &memo->stretches[place ^ way];
			**hint = (uint16_t)(place ^ way);
			if (begins_alike(s, walk, memo->age) && stretch_holds(s))
				break;
			if (way == 1 || s->age != memo->age) {
				*hint = &s->next;
				return stretch_make(s, walk, seed, memo->age, ret_count, ret_hash);
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
		   uint64_t *ret_hash)
{
	struct walk walk = {.low = frame, .high = stack_high, .sp = frame + 16};
	enum walk_outcome outcome = WALK_GOES_ON;
	uint64_t seed = walk_rule_seed(), all = 0, hash;
	uint16_t *hint;
	int n = 0, count;

	if (frame < stack_low || frame >= stack_high)
		return 0;
	walk.fp = walk_load(frame);
	walk.pc = walk_load(frame + 8);
	if (memo->age == 0 || memo->seed != seed || memo->high != stack_high)
		memo_renew(memo, seed, stack_high);
	hint = &memo->hints[beginning_mix(&walk) >> (64 - MEMO_BITS)];
	while (n < size && outcome == WALK_GOES_ON) {
		if (size - n >= WALK_STRETCH && !walk.is_probed && !walk.is_interrupted)
			outcome = memo_step(memo, &walk, seed, &hint, &count, &hash);
		else
			outcome = walk_stretch(&walk, NULL, size - n, seed, &count, &hash);
		n += count;
		all = walk_hash_join(all, hash);
	}
	*ret_hash = all;
	return n | (walk.has_handler ? WALK_SIGNAL : 0);
}

#else

int walk_memo_hash(struct walk_memo *memo, int size, uintptr_t stack_low, uintptr_t stack_high, uintptr_t frame,
		   uint64_t *ret_hash)
{
	(void)memo, (void)size, (void)stack_low, (void)stack_high, (void)frame, (void)ret_hash;
	return 0;
}

#endif
