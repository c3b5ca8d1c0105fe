/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching, growing and ending a thread's part of the trace file. */
#include "runtime/recorder/record/thread/thread.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/first_chunk.h"
#include "runtime/recorder/record/image.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/ring/ring_blob.h"
#include "runtime/recorder/record/short_sample.h"
#include "runtime/recorder/record/thread/apart.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/shared/common/clock.h"

enum { FIRST_COUNTERS = 24, FIRST_SLOTS = 128, SECOND_CHUNK = 16384, THIRD_CHUNK = 65536, CHUNK = 262144 };
/* SETTLED_ROOM: beside what is in the range file. A start of Python that nothing delays needs no second chunk then. */
enum { FROZEN_CHUNK = 1 << 20, FROZEN_RESERVE = 64 << 20, SETTLED_ROOM = TF_PAGE };

#ifdef __SANITIZE_THREAD__ /* in our own tests: TSan destroys its state of a thread in the last round */
enum { DEATH_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };
#else
enum { DEATH_ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS };
#endif

/* Set at the start, before any thread is attached; inherited by forked children. */
static struct thread_watch watches[5];
static unsigned watch_count;

static pthread_key_t death_key;
static int (*set_key)(pthread_key_t, const void *); /* NULL: no key available */

void thread_watch(const struct thread_watch *watch)
{
	watches[watch_count++] = *watch;
}

void thread_refresh_name(struct thread *t)
{
	if (t->page && !sys_is_silent)
		sys_call(SYS_prctl, PR_GET_NAME, t->page->name, 0, 0);
}

void thread_set_name(struct thread *t, const char *name)
{
	enum { KERNEL_NAME_BYTES = 15 };
	size_t length = strnlen(name, KERNEL_NAME_BYTES);

	if (!t->page)
		return;
	memcpy(t->page->name, name, length);
	memset(t->page->name + length, 0, sizeof(t->page->name) - length);
}

/* Size of a page with that many counters, up to its first slot. */
static uint32_t thread_page_bytes(uint32_t counters)
{
	size_t places = (process_functions->counters * sizeof(uint16_t) + TF_SLOT - 1) & ~(size_t)(TF_SLOT - 1);

	return (uint32_t)(sizeof(struct tf_thread) + counters * sizeof(struct tf_counter) + places);
}

static uint16_t *thread_page_places(struct tf_thread *page)
{
	return (uint16_t *)&page->counters[page->counter_count];
}

/* Initialises a page with counters for all functions, or for the first few that the thread calls. */
static void thread_init_page(struct tf_thread *page, uint32_t counters)
{
	page->counter_count = counters;
	page->chunk.slots = thread_page_bytes(counters);
	for (uint32_t i = 0; counters == process_functions->counters && i < counters; i++)
		thread_page_places(page)[i] = (uint16_t)(i + 1);
}

static void thread_publish_chunk(struct tf_chunk *chunk, uint64_t base_ticks)
{
	chunk->base_ticks = base_ticks;
	__atomic_store_n(&chunk->magic, TF_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static void thread_use_chunk(struct thread *t, struct tf_chunk *chunk)
{
	/* its counters in the old one are not changed any more, see traffic.h */
	memset(t->traffic, 0, (t->traffic_mask + 1) * sizeof(*t->traffic));
	t->chunk = chunk;
	t->next = (uint64_t)chunk + tf_slots_offset(chunk);
	t->limit = (uint64_t)chunk + chunk->size_bytes;
	t->chunks++;
}

static void thread_use_page(struct thread *t, struct tf_thread *page)
{
	t->page = page;
	t->place = thread_page_places(page);
}

/* Is the page in memory that survives the process: in the trace file or in the range file? */
static bool thread_page_is_shared(const struct thread *t)
{
	return (const uint64_t *)t->page != process.main_page && t->page != t->apart;
}

static bool thread_page_is_in_image(const struct tf_thread *page)
{
	return process.image && page == image_page(process.image);
}

bool thread_is_in_file(const struct thread *t)
{
	return thread_page_is_shared(t) && !thread_page_is_in_image(t->page);
}

void thread_lose(struct thread *t, uint64_t events)
{
	t->page->lost += events;
	if (!thread_page_is_shared(t))
		process_lose((int64_t)events);
}

/* With `room` bytes for slots, or a little more. The first chunk of a thread has the sequence number 0. */
static struct tf_thread *thread_create_full_page(const struct thread *t, uint32_t sequence, uint32_t room)
{
	uint64_t size = file_round(thread_page_bytes(process_functions->counters) + room);
	struct tf_thread *page = file_chunk(t->chunk, TF_CHUNK_FIRST, (uint32_t)size, t->number, sequence);

	if (page)
		thread_init_page(page, process_functions->counters);
	return page;
}

/* Copies the facts and counters of a page to a full page, which has a counter for each function. */
static void thread_copy_page(struct tf_thread *full, struct tf_thread *page)
{
	const uint16_t *places = thread_page_places(page);

	memcpy(&full->start_ticks, &page->start_ticks,
	       offsetof(struct tf_thread, counter_count) - offsetof(struct tf_thread, start_ticks));
	memcpy(full->name, page->name, sizeof(full->name));
	full->created_ticks = page->created_ticks;
	full->outer = page->outer;
	for (uint32_t i = 0; i < process_functions->counters; i++)
		if (places[i])
			full->counters[i] = page->counters[places[i] - 1];
}

/* `traffic`: size of the counters in `process`, see traffic.h. */
static void thread_settle_image(struct thread *t, struct tf_thread *full, uint32_t traffic)
{
	struct tf_chunk *from = &t->page->chunk;
	bool is_current = t->chunk == from;
	uint64_t end = is_current ? t->next : (uint64_t)from + from->size_bytes;
	uint32_t size = (uint32_t)(end - (uint64_t)from) - from->slots;

	memcpy((char *)full + full->chunk.slots, (const char *)from + from->slots, size);
	memcpy((char *)full + full->chunk.slots + size, process.traffic, traffic);
	size += traffic;
	/* This store makes readers ignore the place in the range file. */
	thread_publish_chunk(&full->chunk, from->base_ticks);
	from->magic = 0;
	/* the counters in `process` are not written again */
	memset(t->traffic, 0, (t->traffic_mask + 1) * sizeof(*t->traffic));
	thread_use_page(t, full);
	if (is_current) {
		thread_use_chunk(t, &full->chunk);
		t->next += size;
		t->chunks--;
	}
}

bool thread_settle(struct thread *t)
{
	bool is_in_image = thread_page_is_in_image(t->page);
	struct tf_thread *page;
	uint32_t traffic = t->number ? 0 : process.traffic_count * (uint32_t)sizeof(*process.traffic);

	if (thread_is_in_file(t))
		return true;
	if (!file_make())
		return false;
	/* An interrupted writer still holds an address in the place. The page stays there until a later call. */
	if (is_in_image && t->writing)
		return true;
	page = thread_create_full_page(t, 0, (is_in_image ? TF_IMAGE_CHUNK_BYTES + SETTLED_ROOM : 0) + traffic);
	if (!page)
		return false;
	page->chunk.tid = t->page->chunk.tid; /* the caller may be the child of a vfork */
	page->chunk.cpu_before_us = t->page->chunk.cpu_before_us;
	/* Signals are blocked, so no handler counts into the old page meanwhile. */
	thread_copy_page(page, t->page);
	process.traffic_count = t->number ? process.traffic_count : 0;
	if (is_in_image) {
		thread_settle_image(t, page, traffic);
		return true;
	}
	memcpy((char *)page + page->chunk.slots, process.traffic, traffic);
	thread_publish_chunk(&page->chunk, page->start_ticks);
	process_lose(-(int64_t)page->lost);
	thread_use_page(t, page); /* the old one stays: an interrupted call may still count there */
	thread_use_chunk(t, &page->chunk);
	t->next += traffic;
	return true;
}

static uint32_t thread_first_counters(void)
{
	return process_functions->counters < FIRST_COUNTERS ? process_functions->counters : FIRST_COUNTERS;
}

/* Allocates the first chunk of a thread with its page: one of those prepared in advance, or else a chunk of its own. */
static struct tf_thread *thread_take_first_chunk(struct thread *t)
{
	uint32_t counters = thread_first_counters();
	uint32_t size = thread_page_bytes(counters) + FIRST_SLOTS * TF_SLOT;
	struct tf_thread *page = NULL;
	uint64_t offset;

	if (!file_make())
		return NULL;
	if (size <= TF_PAGE && !process.ring)
		page = first_chunk_take(&offset, &t->area);
	if (page)
		file_chunk_head(&page->chunk, TF_CHUNK_FIRST, TF_PAGE, t->number, 0, offset);
	else
		page = file_chunk(t->chunk, TF_CHUNK_FIRST, (uint32_t)file_round(size), t->number, 0);
	if (page)
		thread_init_page(page, counters);
	return page;
}

/* Without room in the file, a page in memory counts what is lost, until thread_settle() finds room. If the run has no
 * range page, its counts would end with the process, so the thread is counted as lost instead. */
static struct tf_thread *thread_create_apart(struct thread *t)
{
	if (!process_gate.groups || !process_range || sys_is_silent)
		return NULL;
	t->apart = apart_take(thread_page_bytes(process_functions->counters));
	if (!t->apart)
		return NULL;
	t->apart->chunk.tid = (uint32_t)sys_gettid();
	thread_init_page(t->apart, process_functions->counters);
	return t->apart;
}

static void thread_begin_page(struct thread *t, struct tf_thread *page)
{
	page->start_ticks = t->last_ticks = clock_now();
	thread_use_page(t, page);
	thread_refresh_name(t);
	if (thread_page_is_shared(t))
		thread_use_chunk(t, &page->chunk);
	thread_publish_chunk(&page->chunk, page->start_ticks);
	if (thread_page_is_in_image(page))
		image_publish();
}

/* The image's first thread begins on a page in the range file or in `process`, because most small processes need no
 * trace file. */
static struct tf_thread *thread_init_main_page(void)
{
	struct tf_thread *page = (struct tf_thread *)process.main_page;

	if (process.image) {
		page = image_page(process.image);
		file_chunk_head(&page->chunk, TF_CHUNK_FIRST, TF_IMAGE_CHUNK_BYTES, 0, 0, 0);
		thread_init_page(page, thread_first_counters());
	} else {
		page->chunk.tid = (uint32_t)sys_gettid();
		thread_init_page(page, process_functions->counters);
	}
	return page;
}

static bool thread_attach(struct thread *t)
{
	uint64_t created_ticks = t->created_ticks; /* not kept: a forked child inherits `t` */
	struct tf_thread *page;

	/* In a child that a handler forked, the interrupted writer has yet to decrement `writing`. */
	*t = (struct thread){.generation = THREAD_OURS,
			     .writing = t->writing, .memo = t->memo, .has_walked = t->memo,
			     .area = THREAD_NO_AREA,
			     .traffic = t->traffic_few, .traffic_many = t->traffic_many, .pushes = t->pushes,
			     .traffic_mask = TRAFFIC_FEW - 1,
			     .number = __atomic_fetch_add(&process.threads, 1, __ATOMIC_RELAXED)};
	page = t->number == 0 ? thread_init_main_page() : thread_take_first_chunk(t);
	page = page ? page : thread_create_apart(t);
	if (!page) {
		__atomic_fetch_add(process.header ? &process.header->threads_lost : &process.threads_lost, 1,
				   __ATOMIC_RELAXED);
		return false;
	}
	page->created_ticks = created_ticks;
	thread_begin_page(t, page);
	short_choose(t);
	/* If the end of the thread cannot be observed, its memo could not be released. */
	if ((!set_key || set_key(death_key, t)) && t->number && !t->memo)
		t->memo = THREAD_NO_MEMO;
	for (unsigned i = 0; i < watch_count; i++)
		if (watches[i].begin)
			watches[i].begin(t);
	return true;
}

bool thread_enter(struct thread *t)
{
	struct thread_guard guard;
	uint64_t start;
	bool is_attached;

	if (!sys_has_errno())
		return false; /* `t` is not valid either: thread-local storage is not libc's */
	if (t->generation == process.generation)
		return true; /* a signal handler has attached it meanwhile */
	if (t->generation == THREAD_OURS || t->generation == THREAD_DEAD || !process_gate.groups || !process.generation)
		return false;
	start = clock_now();
	thread_guard_enter(t, &guard);
	guard.start_ticks = start; /* the new page gets the time of the attachment */
	t->page = NULL; /* in a forked child it is the parent's and not mapped */
	is_attached = thread_attach(t);
	guard.generation = is_attached ? process.generation : process_gate.groups ? THREAD_DEAD : guard.generation;
	thread_guard_leave(t, &guard);
	return is_attached;
}

/* Only the thread itself, or a handler in it, replaces its chunk. If a handler interrupted a store, the interrupted
 * writer (t->writing) still holds an address in the old chunk. */
static void thread_retire_chunk(struct thread *t)
{
	struct tf_chunk *old = t->chunk;

	if (t->writing == 0 && t->retired) {
		file_release(t->retired, t->retired_bytes);
		t->retired = NULL;
	}
	if (!old || old == &t->page->chunk) /* it stays mapped for its counters */
		return;
	if (t->writing == 0) {
		file_release(old, old->size_bytes);
	} else if (!t->retired) {
		t->retired = old;
		t->retired_bytes = old->size_bytes;
	}
}

static uint32_t thread_next_chunk_size(const struct thread *t, unsigned slots)
{
	uint32_t most = ring_has_slow_chunk(t->chunk) ? SECOND_CHUNK : CHUNK;
	uint32_t size = (uint32_t)file_round(t->chunks < 2 ? SECOND_CHUNK : t->chunks == 2 ? THIRD_CHUNK : most);

	while (size < slots * TF_SLOT + sizeof(struct tf_chunk))
		size *= 2;
	return size;
}

static bool thread_take_chunk(struct thread *t, uint32_t size)
{
	struct tf_chunk *chunk = ring_chunk(t->chunk, size, t->number, t->chunks);

	if (!chunk)
		return false;
	thread_publish_chunk(chunk, t->last_ticks);
	thread_retire_chunk(t);
	thread_use_chunk(t, chunk);
	process_take_clocks();
	thread_refresh_name(t);
	return true;
}

bool thread_has_no_room(const struct thread *t)
{
	return t->retry_ticks && clock_now() < t->retry_ticks;
}

static void thread_set_retry(struct thread *t, bool has_failed)
{
	t->retry_ticks = has_failed ? file_retry_ticks(t->failures) : 0;
	t->failures = has_failed ? t->failures + 1 : 0;
}

static bool thread_has_slots(const struct thread *t, unsigned slots)
{
	return t->chunk && t->next + slots * TF_SLOT <= t->limit;
}

static bool thread_make_room(struct thread *t, unsigned slots)
{
	return thread_has_slots(t, slots) ||
	       (thread_settle(t) &&
		(thread_has_slots(t, slots) || thread_take_chunk(t, thread_next_chunk_size(t, slots))));
}

struct thread_work {
	bool (*function)(struct thread *t, unsigned slots);
	struct thread *thread;
	unsigned slots;
	bool result;
};

static void thread_run_work(void *work)
{
	struct thread_work *w = work;

	w->result = w->function(w->thread, w->slots);
}

/* On a spare stack, because the creation of the file and the opening of it take several KB. Under a guard. */
static bool thread_run_spare(const struct thread_guard *g, struct thread *t, unsigned slots,
			     bool (*function)(struct thread *t, unsigned slots))
{
	struct thread_work work = {function, t, slots, false};

	spare_stack_prefer(g, thread_run_work, &work);
	return work.result;
}

bool thread_grow(struct thread *t, unsigned slots)
{
	struct thread_guard guard;
	bool has_room;

	if (sys_is_silent || thread_has_no_room(t))
		return false;
	thread_guard_enter(t, &guard);
	has_room = thread_run_spare(&guard, t, slots, thread_make_room);
	thread_set_retry(t, !has_room);
	thread_guard_leave(t, &guard);
	return has_room;
}

static bool thread_settle_work(struct thread *t, unsigned unused __attribute__((unused)))
{
	return thread_settle(t);
}

void thread_finish_pending(struct thread *t)
{
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	thread_run_spare(&guard, t, 0, thread_settle_work);
	thread_guard_leave(t, &guard);
}

/* Without a lock or a guard: a handler that interrupts this allocates the same counter, or the next one stays
 * unused. */
static struct tf_counter *thread_take_counter(struct thread *t, unsigned function)
{
	uint16_t none = 0, *place = &thread_page_places(t->page)[function];
	uint32_t position = __atomic_add_fetch(&t->counters, 1, __ATOMIC_RELAXED);

	if (position > t->page->counter_count)
		return NULL;
	__atomic_compare_exchange_n(place, &none, (uint16_t)position, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return &t->page->counters[*place - 1];
}

static bool thread_add_full_page(struct thread *t)
{
	struct tf_thread *page = thread_create_full_page(t, t->chunks, 0);

	if (!page)
		return false;
	page->start_ticks = t->page->start_ticks;
	thread_publish_chunk(&page->chunk, t->last_ticks);
	t->more = page;
	return true;
}

/* The page has no counter left: moves it from the range file into the trace file, where it has a counter for each
 * function, or adds such a page. */
static bool thread_make_counters(struct thread *t, unsigned unused)
{
	if (thread_page_is_in_image(t->page) && !thread_settle(t))
		return false;
	return t->page->counter_count == process_functions->counters || thread_add_full_page(t);
}

static void thread_add_counters(struct thread *t)
{
	struct thread_guard guard;

	if (sys_is_silent || thread_has_no_room(t))
		return;
	thread_guard_enter(t, &guard);
	thread_set_retry(t, !thread_run_spare(&guard, t, 0, thread_make_counters));
	thread_guard_leave(t, &guard);
}

struct tf_counter *thread_counter(struct thread *t, unsigned function)
{
	struct tf_counter *counter = t->more ? NULL : thread_take_counter(t, function);
	uint16_t place;

	if (counter)
		return counter;
	if (!t->more)
		thread_add_counters(t);
	place = thread_page_places(t->page)[function]; /* after the page was moved into the file */
	return place ? &t->page->counters[place - 1] : t->more ? &t->more->counters[function] : NULL;
}

static bool thread_make_reserve(struct thread *t, unsigned slots)
{
	if (thread_settle(t) && !thread_has_slots(t, slots))
		thread_take_chunk(t, FROZEN_CHUNK);
	file_reserve(FROZEN_RESERVE);
	return true;
}

void thread_reserve(struct thread *t)
{
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	thread_run_spare(&guard, t, FROZEN_CHUNK / 2 / TF_SLOT, thread_make_reserve);
	thread_guard_leave(t, &guard);
}

static void thread_release_page(struct thread *t)
{
	struct tf_chunk *chunk = &t->page->chunk;

	chunk->full = 1;
	if (t->area != THREAD_NO_AREA)
		first_chunk_release(t->area);
	else if (thread_is_in_file(t))
		file_release(chunk, chunk->size_bytes);
	if (t->apart)
		apart_give(t->apart, thread_page_bytes(process_functions->counters));
	t->apart = NULL;
}

/* The counts of a page that is still not in the file end with the thread: they are lost, too. */
static void thread_settle_last(struct thread *t)
{
	uint64_t calls = 0;

	if (t->page != t->apart || (!sys_is_silent && thread_settle(t)))
		return;
	for (uint32_t i = 0; i < t->page->counter_count; i++)
		calls += t->page->counters[i].calls;
	thread_lose(t, calls);
}

static void thread_finish(struct thread *t)
{
	struct thread_guard guard;

	thread_guard_enter(t, &guard);
	for (unsigned i = watch_count; i-- > 0;)
		watches[i].end(t);
	thread_refresh_name(t);
	thread_settle_last(t);
	t->page->current = t->page->outer = 0;
	t->page->end_ticks = t->page->end_ticks ?: clock_now(); /* when the usage was read, if it was */
	t->writing = 0;
	thread_retire_chunk(t);
	t->chunk = NULL;
	if (t->traffic_many)
		sys_munmap(t->traffic_many, TRAFFIC_MANY * sizeof(*t->traffic_many));
	t->traffic_many = NULL;
	if (t->pushes)
		sys_munmap(t->pushes, PROFILE_PUSHES_BYTES);
	t->pushes = NULL;
	if (t->more)
		file_release(&t->more->chunk, t->more->chunk.size_bytes);
	thread_release_page(t);
	t->page = NULL;
	guard.generation = THREAD_DEAD;
	thread_guard_leave(t, &guard);
}

static void thread_on_death(void *thread)
{
	struct thread *t = thread;

	if (t != &thread_self || t->generation != process.generation)
		return;
	if (++t->deaths < DEATH_ROUNDS && !set_key(death_key, t))
		return;
	thread_finish(t);
}

/* Looked up by name: if these functions are in libpthread, a program without libpthread has one thread only. From
 * key 32 on, pthread_setspecific allocates; then the ends of threads are not observed, and their chunks stay mapped. */
void thread_init(void)
{
	int (*create_key)(pthread_key_t *, void (*)(void *)) = dso_next("pthread_key_create");

	if (create_key && !create_key(&death_key, thread_on_death) && death_key < 32)
		set_key = dso_next("pthread_setspecific");
}
