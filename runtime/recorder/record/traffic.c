/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/record/traffic.h"

#include <string.h>
#include <sys/mman.h>

#include "runtime/recorder/record/profile/profile.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/shared/common/sys.h"

/* PROBES: entries of the table that are searched for a pair. DESCRIBED: after each so many calls, an unknown descriptor
 * is described, because the description costs more than a call. REPLACED: counters with so many calls may be given up
 * for others. MANY: an image without a trace file gets one for calls that are so many. */
enum { PROBES = 8, DESCRIBED = 16, REPLACED = 16, MANY = 256 };

static uint64_t **traffic_entry(const struct thread *t, unsigned hash, unsigned probe)
{
	return &t->traffic[(hash + probe) & t->traffic_mask];
}

/* Of directories, which are one descriptor, by their number. */
static unsigned traffic_hash_of(unsigned function, int fd, unsigned generation)
{
	return traffic_hash(function, fd == TF_NO_DESCRIPTOR ? (int)generation : fd);
}

static uint64_t traffic_calls(const uint64_t *counters)
{
	return counters[1 + TF_TRAFFIC_CALLS] >> 8;
}

/* The entries are used up to traffic_done(). */
static const struct tf_chunk *traffic_use(struct thread *t)
{
	t->writing++;
	EVENT_BARRIER();
	return t->chunk;
}

/* If a handler has replaced the chunk meanwhile, an entry may have been copied after it was cleared. */
static void traffic_done(struct thread *t, const struct tf_chunk *chunk)
{
	EVENT_BARRIER();
	if (t->chunk != chunk)
		memset(t->traffic, 0, (t->traffic_mask + 1) * sizeof(*t->traffic));
	event_taken(t);
}

/* Counts the call if the pair has counters, which then are where traffic_count() looks. Returns their calls, or 0. */
static uint64_t traffic_count_known(struct thread *t, unsigned hash, uint64_t key, uint64_t duration, int64_t amount)
{
	const struct tf_chunk *chunk = traffic_use(t);
	uint64_t **first = traffic_entry(t, hash, 0), calls = 0;

	for (unsigned i = 0; i < PROBES && !calls; i++) {
		uint64_t **entry = traffic_entry(t, hash, i), *counters = *entry;

		if (!counters || counters[1 + TF_TRAFFIC_KEY] != key)
			continue;
		*entry = *first;
		*first = counters;
		traffic_add(counters, duration, amount);
		calls = traffic_calls(counters);
	}
	traffic_done(t, chunk);
	return calls;
}

/* Is the descriptor closed or does it refer to something else? */
static bool traffic_is_over(const uint64_t *counters)
{
	uint64_t key = counters[1 + TF_TRAFFIC_KEY] >> 8;

	return (key & 0xffff) < PROCESS_DESCRIPTORS &&
	       descriptor_generation(process.descriptors[key & 0xffff]) != (key >> 16 & 0xffff);
}

/* An entry for new counters; NULL: all are in use. */
static uint64_t **traffic_find_free(struct thread *t, unsigned hash, bool may_replace)
{
	const struct tf_chunk *chunk = traffic_use(t);
	uint64_t **found = NULL;

	for (unsigned i = 0; i < PROBES && !found; i++) {
		uint64_t **entry = traffic_entry(t, hash, i), *counters = *entry;

		if (!counters || traffic_is_over(counters) || (may_replace && traffic_calls(counters) >= REPLACED))
			found = entry;
	}
	traffic_done(t, chunk);
	return found;
}

/* Replaces the table by the large one. */
static void traffic_grow(struct thread *t)
{
	struct thread_guard guard;

	/* The mapping of a thread whose end is not observed could not be released. */
	if (sys_is_silent || (t->number && t->memo == THREAD_NO_MEMO))
		return;
	thread_guard_enter(t, &guard);
	if (!t->traffic_many)
		t->traffic_many = sys_mmap(NULL, TRAFFIC_MANY * sizeof(*t->traffic_many), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else
		memset(t->traffic_many, 0, TRAFFIC_MANY * sizeof(*t->traffic_many));
	for (unsigned i = 0; t->traffic_many && i < TRAFFIC_FEW; i++) {
		const uint64_t *counters = t->traffic_few[i];
		uint64_t key = counters ? counters[1 + TF_TRAFFIC_KEY] >> 8 : 0;

		if (counters)
			t->traffic_many[traffic_hash_of(key >> 32, key & 0xffff, key >> 16 & 0xffff) &
					(TRAFFIC_MANY - 1)] = t->traffic_few[i];
	}
	if (t->traffic_many) {
		t->traffic = t->traffic_many;
		/* A handler must not find the large mask with the small table; this one defers them anyway. */
		EVENT_BARRIER();
		t->traffic_mask = TRAFFIC_MANY - 1;
	}
	thread_guard_leave(t, &guard);
}

/* An image that records little stays without a trace file. Its first thread has counters in `process`, or none if there
 * is no room for them. False: the calls are so many, or not counted by function, that the image gets a trace file,
 * which will have the counters. */
static bool traffic_begin_in_process(const struct thread *t, unsigned function, const uint64_t *numbers,
				     uint64_t **entry)
{
	const uint16_t place = t->place[function];
	uint32_t i = process.traffic_count;

	if (i == PROCESS_TRAFFIC)
		return place && t->page->counters[place - 1].calls < MANY;
	/* A handler that interrupts this may take the same ones: its calls are then not counted here. */
	process.traffic_count = i + 1;
	process.traffic[i][0] = tf_blob(TF_BLOB_TRAFFIC, sizeof(struct tf_traffic), 0);
	memcpy(process.traffic[i] + 1, numbers, TF_TRAFFIC_NUMBERS * sizeof(*numbers));
	*entry = process.traffic[i];
	return true;
}

/* With --mode=profile, a row of its file counts the calls on a descriptor. */
static bool traffic_has_rows(const struct thread *t, int fd)
{
	return __builtin_expect(process.profile != NULL, 0) && fd != TF_NO_DESCRIPTOR && thread_is_in_file(t);
}

static void traffic_begin(struct thread *t, unsigned function, int fd, uint16_t state, const uint64_t *numbers)
{
	unsigned hash = traffic_hash_of(function, fd, descriptor_generation(state));
	uint64_t **entry = traffic_find_free(t, hash, false), *unused;

	if (!entry && t->traffic != t->traffic_many && thread_is_in_file(t)) {
		traffic_grow(t);
		entry = traffic_find_free(t, hash, false);
	}
	if (!entry)
		entry = traffic_find_free(t, hash, true);
	if (traffic_has_rows(t, fd))
		profile_short(t, function, fd, state, numbers, entry ? entry : &unused);
	else if (entry && (t->number || thread_is_in_file(t) || !traffic_begin_in_process(t, function, numbers,
												   entry)))
		event_blob_in_place(TF_BLOB_TRAFFIC, t->number, numbers, TF_TRAFFIC_NUMBERS, entry);
}

bool traffic_in_process(unsigned function)
{
	for (uint32_t i = 0; i < process.traffic_count; i++)
		if (process.traffic[i][1 + TF_TRAFFIC_KEY] >> 40 == function)
			return true;
	return false;
}

/* Are these the bytes of calls whose function has no counter? Then no other figure shows that bytes are missing. */
static bool traffic_is_needed(const uint64_t *counters)
{
	return counters[1 + TF_TRAFFIC_BYTES] >> 8 && !thread_self.place[counters[1 + TF_TRAFFIC_KEY] >> 40];
}

static void traffic_write(bool is_needed)
{
	struct thread *t = &thread_self;
	uint64_t *unused;

	for (uint32_t i = 0; i < process.traffic_count; i++)
		if (traffic_is_needed(process.traffic[i]) == is_needed &&
		    event_has_room(t, t->next, TRAFFIC_SLOTS * TF_SLOT))
			event_blob_in_place(TF_BLOB_TRAFFIC, 0, process.traffic[i] + 1, TF_TRAFFIC_NUMBERS, &unused);
}

void traffic_end(void)
{
	struct thread *t = &thread_self;
	unsigned needed = 0;

	memset(t->traffic, 0, (t->traffic_mask + 1) * sizeof(*t->traffic));
	for (uint32_t i = 0; i < process.traffic_count; i++)
		needed += traffic_is_needed(process.traffic[i]);
	/* The chunk of a trace file, if there is one then, begins with all of the counters. */
	if (needed && !event_has_room(t, t->next, needed * TRAFFIC_SLOTS * TF_SLOT))
		thread_grow(t, needed * TRAFFIC_SLOTS);
	traffic_write(true);
	traffic_write(false);
	process.traffic_count = 0;
}

/* With --ring, counters from before a turn may not be read, so each turn has counters of its own. A turn makes all
 * descriptors unknown, so that calls come here. */
static void traffic_follow_turn(struct thread *t)
{
	uint32_t turn = (uint32_t)(process.defined_in / PROCESS_TURN);

	if (__builtin_expect(t->traffic_turn == turn, 1))
		return;
	memset(t->traffic, 0, (t->traffic_mask + 1) * sizeof(*t->traffic));
	t->traffic_turn = turn;
}

void traffic_count_slowly(unsigned function, int fd, uint16_t state, uint64_t start, uint64_t duration,
			  int64_t amount)
{
	struct thread *t = &thread_self;
	unsigned hash = traffic_hash_of(function, fd, descriptor_generation(state));
	const uint64_t numbers[TF_TRAFFIC_NUMBERS] = {
		[TF_TRAFFIC_KEY] = traffic_key(function, fd, state),
		[TF_TRAFFIC_FROM] = TF_DATA | start << 8,
		[TF_TRAFFIC_CALLS] = TF_DATA | 1 << 8,
		[TF_TRAFFIC_TICKS] = TF_DATA | duration << 8,
		[TF_TRAFFIC_BYTES] = TF_DATA | (uint64_t)(amount > 0 ? amount : 0) << 8,
	};
	uint64_t calls;

	/* A row does not tell calls from before the description apart. */
	if (traffic_has_rows(t, fd) && !(state & 1)) {
		descriptor_describe(fd, start);
		state |= 1; /* of the same generation */
	}
	traffic_follow_turn(t);
	calls = traffic_count_known(t, hash, numbers[TF_TRAFFIC_KEY], duration, amount);

	if (!calls)
		traffic_begin(t, function, fd, state, numbers);
	else if (!(state & 1) && calls % DESCRIBED == 0 && (thread_is_in_file(t) || calls >= MANY))
		descriptor_describe(fd, start);
}
