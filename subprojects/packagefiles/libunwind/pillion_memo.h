/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread has walked, to be compared instead of walked again. A part of pillion_walk.c. */
static inline bool begins_here(const struct stretch *s, const struct walk *walk, uint64_t age)
{
	return ((s->age ^ age) | (s->sp ^ walk->sp) | (s->fp ^ walk->fp) | (s->pc ^ walk->pc)) == 0;
}

/* Whether nothing that it read has changed. */
static inline bool stretch_holds(const struct stretch *s)
{
	uint64_t change = 0, more = 0;

	for (const struct read *r = s->read, *end = r + s->reads; r < end; r += READS_AT_ONCE) {
		change |= (*r[0].at ^ r[0].value) | (*r[1].at ^ r[1].value);
		more |= (*r[2].at ^ r[2].value) | (*r[3].at ^ r[3].value);
	}
	return (change | more) == 0;
}

/* Of what stands now where it has read: tells its kind's place. */
static inline uint64_t stretch_mix(const struct stretch *s)
{
	uint64_t mix = 0, factor = 0x9e3779b97f4a7c15;

	for (unsigned i = 0; i < s->reads; i++) {
		mix += *s->read[i].at * factor;
		factor += 0x632be59bd9b4e01a;
	}
	return mix;
}

static inline uint64_t beginning(const struct walk *walk)
{
	return (walk->sp ^ walk->pc << 20 ^ walk->fp << 7) * 0x9e3779b97f4a7c15;
}

/* What was kept under other rules, or of another stack, counts no more. In this order: whoever is stopped in between for
 * good begins here again. */
static void memo_age(struct unw_pillion_memo *memo, uint64_t seed, uintptr_t high)
{
	memo->age++;
	atomic_signal_fence(memory_order_seq_cst);
	memo->seed = seed;
	memo->high = high;
	atomic_signal_fence(memory_order_seq_cst);
}

/* Walks a stretch, and keeps it where `s` was. A writer that never comes back leaves an age of 0 behind. */
static __attribute__((noinline)) enum outcome stretch_make(struct stretch *s, struct walk *walk, uint64_t seed, uint64_t age,
	int *ret_count, uint64_t *ret_hash)
{
	bool had_handler = walk->has_handler;
	enum outcome outcome;

	walk->has_handler = false;
	s->age = 0;
	atomic_signal_fence(memory_order_seq_cst);
	s->sp = walk->sp;
	s->fp = walk->fp;
	s->pc = walk->pc;
	s->reads = 0;
	walk->noted = s;
	outcome = walk_stretch(walk, NULL, STRETCH_FRAMES, seed, ret_count, ret_hash);
	s->next_sp = walk->sp;
	s->next_fp = walk->fp;
	s->next_pc = walk->pc;
	s->hash = *ret_hash;
	s->frames = (uint8_t)*ret_count;
	s->is_last = outcome == WALK_ENDED;
	/* To be compared a few at once. */
	while (s->reads % READS_AT_ONCE) {
		s->read[s->reads] = s->read[s->reads - 1];
		s->reads++;
	}
	atomic_signal_fence(memory_order_seq_cst);
	/* A cut may be for now only; a probed page is readable for now only; that a handler is there is to be seen. */
	if (walk->noted && outcome != WALK_CUT && !walk->is_probed && !walk->has_handler)
		s->age = age;
	walk->has_handler |= had_handler;
	walk->noted = NULL;
	return outcome;
}

/* Where the way goes on from a stretch, or begins, is remembered in *hint: the stretch that was met there last. Many stacks may go
 * on alike, so if that one does not hold, what stands now where it has read says where to look. Both are guesses at a place,
 * no more: a stretch counts only if all that it read itself holds. */
static inline enum outcome memo_step(struct unw_pillion_memo *memo, struct walk *walk, uint64_t seed, uint16_t **hint, int *ret_count, uint64_t *ret_hash)
{
	struct stretch *s = &memo->stretches[**hint % MEMO_PLACES];
	bool is_alike = begins_here(s, walk, memo->age);

	if (__builtin_expect(!is_alike || !stretch_holds(s), 0)) {
		uint64_t mix = ((is_alike ? stretch_mix(s) : 0) ^ beginning(walk)) * 0xd6e8feb86659fd93;

		for (unsigned place = mix >> 55, way = 0;; way++) {
			s = &memo->stretches[place ^ way];
			**hint = (uint16_t)(place ^ way);
			if (begins_here(s, walk, memo->age) && stretch_holds(s))
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
_Static_assert(MEMO_PLACES == 1 << 9 && MEMO_HINTS == 1 << 9, "memo_step takes 9 bits of each");
