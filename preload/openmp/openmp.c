/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/openmp/openmp.h"

#include "runtime/recorder/record/intern_table.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/module.h"
#include "runtime/shared/common/sys.h"

enum { REGIONS = 1024 };

static struct openmp_region *regions; /* REGIONS of them; NULL: none yet */

/* ---- threads ---- */

__thread struct openmp_thread *openmp_self;

struct openmp_thread *openmp_thread_begin(void)
{
	struct thread_guard guard;

	if (!openmp_is_on() || sys_is_silent)
		return NULL;
	thread_guard_enter(&thread_self, &guard);
	openmp_self = sys_mmap(NULL, sizeof(*openmp_self), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	thread_guard_leave(&thread_self, &guard);
	if (!openmp_self)
		thread_lose(&thread_self, 1);
	return openmp_self;
}

static void thread_end(struct thread *t)
{
	struct openmp_thread *mine = openmp_self;

	(void)t;
	openmp_self = NULL;
	if (mine)
		sys_munmap(mine, sizeof(*mine));
}

void openmp_init(void)
{
	thread_watch(&(struct thread_watch){.end = thread_end});
}

/* ---- events ---- */

/* The id of a stack with one frame: cheap, and enough for a line. */
static uint32_t site_stack(const void *site)
{
	void *frames[] = {(void *)(uintptr_t)site};
	uint64_t unloads = __atomic_load_n(&process.unloads, __ATOMIC_RELAXED),
		 words[2] = {TF_STACK_UNLOADS | unloads, (uint64_t)(uintptr_t)site};
	unsigned first = unloads ? 0 : 1;
	uint32_t id;
	bool is_new;

	if (!site || !intern_add(&process.interned, intern_hash(TF_BLOB_STACK, words, sizeof(words)), &id, &is_new))
		return 0;
	if (is_new) {
		module_write(frames, 1);
		event_blob(TF_BLOB_STACK, id, words + first, sizeof(words) - first * sizeof(*words));
	}
	return id;
}

/* Writes a construct or a wait. */
static void openmp_write(unsigned kind, unsigned function, uint64_t start, uint64_t end, uint32_t stack,
			 const uint64_t *args, unsigned count)
{
	uint64_t slots[1 + EVENT_ARGS], duration = (int64_t)(end - start) < 0 ? 0 : end - start;
	unsigned n = 1;

	if (duration >= TF_DURATION_LONG)
		slots[n++] = tf_arg(TF_ARG_LONG, 0, duration);
	if (stack)
		slots[n++] = tf_arg(TF_ARG_STACK, 0, stack);
	for (unsigned i = 0; i < count; i++)
		slots[n++] = args[i];
	slots[0] = tf_event(kind, function, end, duration < TF_DURATION_LONG ? duration : TF_DURATION_LONG);
	if (n > 3 || !event_put(&thread_self, end, slots[0], slots + 1, n - 1))
		event_put_slowly(&thread_self, end, slots, n);
}

static bool is_recording(void)
{
	return thread_self.generation == process.generation;
}

/* ---- waits ---- */

bool openmp_wait_begin(unsigned function, uintptr_t frame, const void *site)
{
	struct openmp_thread *t = openmp_thread();

	if (!t || t->waits || !openmp_is_on())
		return false;
	t->waits = function;
	t->site = site;
	t->region = NULL;
	call_begin_attached(&t->wait, function, frame ? frame : (uintptr_t)__builtin_frame_address(0));
	t->wait.frame = frame;
	return true;
}

/* When the region ended whose end the thread waited for; if that is not known any more, it was long ago. */
static uint64_t region_end(const struct openmp_thread *t)
{
	uint64_t end = __atomic_load_n(&t->region->end_ticks, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&t->region->number, __ATOMIC_ACQUIRE) != t->number || end < t->wait.start)
		end = t->wait.start;
	return end < t->wait.end ? end : t->wait.end;
}

/* At the end of a region: the wait, and what follows it until now, while the thread has no work. */
static void part_wait_write(const struct openmp_thread *t, bool is_in_region)
{
	uint64_t start = t->wait.start, end = is_in_region ? t->wait.end : region_end(t);

	if (end > start)
		openmp_write(TF_CALL, HOOK_omp_implicit_barrier, start, end, t->stack, NULL, 0);
	if (end < t->wait.end)
		openmp_write(TF_CALL, HOOK_omp_idle, end, t->wait.end, 0, NULL, 0);
}

/* is_in_region: the region whose end the thread waits for has not ended, or ends now. */
static void wait_stop(uint64_t least, bool is_in_region)
{
	struct openmp_thread *t = openmp_self;
	unsigned function = t ? t->waits : 0;
	const struct call *e = t ? &t->wait : NULL;

	if (!function)
		return;
	t->waits = 0;
	if ( call_finish(&t->wait, function, 0) != CALL_LONG || e->end - e->start < least)
		return;
	if (t->region)
		part_wait_write(t, is_in_region);
	else if (e->frame && e->end - e->start >= process_osrt_backtrace)
		call_record(e, function, process_osrt_backtrace, NULL, 0);
	else
		openmp_write(TF_CALL, function, e->start, e->end, site_stack(t->site), NULL, 0);
}

void openmp_wait_end(uint64_t least)
{
	wait_stop(least, true);
}

/* ---- regions ---- */

static struct openmp_region *regions_get(void)
{
	struct openmp_region *known = __atomic_load_n(&regions, __ATOMIC_ACQUIRE), *fresh;

	if (known)
		return known;
	fresh = sys_mmap(NULL, REGIONS * sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!fresh)
		return NULL;
	if (__atomic_compare_exchange_n(&regions, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	sys_munmap(fresh, REGIONS * sizeof(*fresh));
	return known;
}

/* A place that no region has; those that threads may still look at are used again as late as possible. */
static struct openmp_region *region_take(void)
{
	static uint32_t last;
	struct openmp_region *all = regions_get();

	for (unsigned i = 0; all && i < REGIONS; i++) {
		struct openmp_region *r = &all[__atomic_fetch_add(&last, 1, __ATOMIC_RELAXED) % REGIONS];

		if (!__atomic_load_n(&r->is_taken, __ATOMIC_RELAXED) &&
		    !__atomic_exchange_n(&r->is_taken, 1, __ATOMIC_ACQUIRE))
			return r;
	}
	return NULL;
}

struct openmp_region *openmp_region_begin(uintptr_t frame)
{
	struct openmp_region *r;

	if (!openmp_is_on())
		return NULL;
	r = region_take();
	if (!r) {
		thread_lose(&thread_self, 1);
		return NULL;
	}
	__atomic_store_n(&r->number, r->number + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&r->end_ticks, 0, __ATOMIC_RELEASE);
	r->ended = 0;
	r->ends = 0;
	r->start_ticks = clock_now();
	r->stack = stack_take(&thread_self, frame);
	return r;
}

void openmp_region_end(struct openmp_region *r)
{
	uint64_t now = clock_now(), start = r->start_ticks, ended = __atomic_load_n(&r->ended, __ATOMIC_ACQUIRE),
		 ends = __atomic_load_n(&r->ends, __ATOMIC_RELAXED), all = ended * (now - start);
	uint64_t args[] = {tf_arg(TF_ARG_TEAM, 0, ended), tf_arg(TF_ARG_VALUE, 0, all > ends ? all - ends : 0)};
	uint32_t stack = r->stack;

	__atomic_store_n(&r->end_ticks, now, __ATOMIC_RELEASE);
	__atomic_store_n(&r->is_taken, 0, __ATOMIC_RELEASE);
	wait_stop(0, true);
	if (is_recording())
		openmp_write(TF_CONSTRUCT, HOOK_omp_parallel, start, now, stack, args, 2);
}

uint64_t openmp_part_begin(struct openmp_region *r)
{
	(void)r;
	if (!hook_attached())
		return 0;
	wait_stop(0, false);
	return clock_now();
}

void openmp_part_end(struct openmp_region *r, uint64_t start_ticks)
{
	struct openmp_thread *t = openmp_thread();
	uint64_t end = clock_now();

	if (!start_ticks || !t || !is_recording())
		return;
	openmp_write(TF_CONSTRUCT, HOOK_omp_part, start_ticks, end, r->stack, NULL, 0);
	call_begin_attached(&t->wait, HOOK_omp_implicit_barrier, (uintptr_t)__builtin_frame_address(0));
	t->wait.start = end;
	t->waits = HOOK_omp_implicit_barrier;
	t->region = r;
	t->number = r->number;
	t->stack = r->stack;
	__atomic_fetch_add(&r->ends, end - r->start_ticks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&r->ended, 1, __ATOMIC_RELEASE);
}

/* ---- blocks and tasks ---- */

void openmp_block_begin(unsigned construct, const void *site)
{
	struct openmp_thread *t = openmp_thread();

	if (!t)
		return;
	if (t->block_count < OPENMP_BLOCKS)
		t->blocks[t->block_count] = (struct openmp_block){construct, site, openmp_is_on() ? clock_now() : 0};
	t->block_count++;
}

void openmp_block_end(unsigned construct)
{
	struct openmp_thread *t = openmp_self;
	const struct openmp_block *b;
	unsigned count = t ? t->block_count : 0;

	if (count > OPENMP_BLOCKS) {
		t->block_count--;
		return;
	}
	while (count && t->blocks[count - 1].construct != construct)
		count--;
	if (!count)
		return;
	t->block_count = count - 1;
	b = &t->blocks[count - 1];
	if (b->start_ticks && is_recording())
		openmp_write(TF_CONSTRUCT, construct, b->start_ticks, clock_now(), site_stack(b->site), NULL, 0);
}

void openmp_task_begin(struct openmp_task *task)
{
	struct openmp_thread *t = openmp_thread();

	*task = (struct openmp_task){0};
	if (!t || !openmp_is_on())
		return;
	if (t->waits) {
		task->wait = t->waits;
		task->frame = t->wait.frame;
		task->site = t->site;
		task->region = t->region;
		task->number = t->number;
		task->stack = t->stack;
		wait_stop(0, true);
	}
	task->start_ticks = clock_now();
}

void openmp_task_end(const struct openmp_task *task, const void *site)
{
	struct openmp_thread *t = openmp_self;
	struct openmp_region *r = task->region;
	uint64_t end = clock_now();

	if (!task->start_ticks || !t || !is_recording())
		return;
	openmp_write(TF_CONSTRUCT, HOOK_omp_task, task->start_ticks, end, site_stack(site), NULL, 0);
	if (!task->wait || t->waits)
		return;
	call_begin_attached(&t->wait, task->wait, task->frame ? task->frame : (uintptr_t)__builtin_frame_address(0));
	t->wait.frame = task->frame;
	t->wait.start = end;
	t->waits = task->wait;
	t->site = task->site;
	t->region = r;
	t->number = task->number;
	t->stack = task->stack;
	if (r) /* which does not end before its tasks: the thread has worked meanwhile */
		__atomic_fetch_add(&r->ends, end - task->start_ticks, __ATOMIC_RELAXED);
}
