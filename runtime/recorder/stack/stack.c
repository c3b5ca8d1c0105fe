/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/stack.h"

#include <alloca.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/loader/readable.h"
#include "runtime/recorder/python/pystack.h"
#include "runtime/recorder/record/event.h"
#include "runtime/recorder/record/process.h"
#include "runtime/recorder/record/profile/profile_state.h"
#include "runtime/recorder/record/ring/ring.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/spare_stack.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/stack/altstack.h"
#include "runtime/recorder/stack/module.h"
#include "runtime/recorder/stack/object.h"
#include "runtime/recorder/stack/walk.h"
#include "runtime/shared/base/slowed.h"
#include "runtime/shared/common/sys.h"

/* Nearer than `room` to the end of a stack, no stack is walked. ROOM: a walk and the blob of a new stack need less than
 * this on the caller's stack; ROOM_SPARE: what remains there if that is done on a spare stack.
 * HANDLER_FRAMES: a shorter stack may not reach the frame of a signal handler. */
enum { PAGE = 4096, PAGES_OVER = 16 };
enum { ROOM = 16384, ROOM_SPARE = 1024, HANDLER_FRAMES = 16, STAY = 65536, MAIN_STACK = 8 << 20 };

/* Frames of the recorder at the start of a walk: none if the walk begins at the wrapper's caller. */
#if defined(__x86_64__)
enum { SKIPPED = 0 };
#else
enum { SKIPPED = 8 };
#endif

/* Bounds of the main thread's stack; main_top: its control block, which is not on its stack. */
static uintptr_t main_low, main_high, main_top;
static uintptr_t room = ROOM;
static bool has_alternate_stack; /* a forked child inherits it, so it is not in `process` */

/* Why stacks were lost. */
enum loss { LOSS_NONE, LOSS_NO_ROOM, LOSS_NESTED, LOSS_ALTERNATE, LOSS_UNKNOWN, LOSS_LITTLE, LOSS_FAILED, LOSSES };
static const char *const losses[LOSSES] = {
	[LOSS_NO_ROOM] = "stacks were lost: the trace had no room",
	[LOSS_NESTED] = "stacks were lost: a signal handler made calls during the walk of another stack",
	[LOSS_ALTERNATE] = "stacks were lost: a signal handler ran on an alternate stack",
	[LOSS_UNKNOWN] = "stacks were lost: they are neither the main stack nor one that libpthread made (coroutines?)",
	[LOSS_LITTLE] = "stacks were lost: too little of the thread's stack was left",
	[LOSS_FAILED] = "stacks were lost: no frame could be read, or the table of stacks was full",
};
static unsigned lost_by; /* a bit for each loss */

static uint32_t stack_lose(struct thread *t, enum loss loss)
{
	t->page->stacks_lost++;
	if (loss == LOSS_FAILED && profile_keeps_rest())
		loss = LOSS_NO_ROOM;
	if (!(__atomic_load_n(&lost_by, __ATOMIC_RELAXED) & 1u << loss))
		__atomic_fetch_or(&lost_by, 1u << loss, __ATOMIC_RELAXED);
	return 0;
}

void stack_note_lost(void)
{
	unsigned lost = __atomic_exchange_n(&lost_by, 0, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < LOSSES; i++)
		if (lost & 1u << i && losses[i])
			process_note(losses[i]);
}

static void stack_unmap_memo(struct thread *t)
{
	if (t->memo && t->memo != THREAD_NO_MEMO)
		sys_munmap(t->memo, WALK_MEMO_BYTES);
	t->memo = THREAD_NO_MEMO;
}

void stack_init(void)
{
	struct {
		uint64_t soft, hard;
	} limit = {0, 0};

	thread_watch(&(struct thread_watch){.end = stack_unmap_memo});
	readable_init();
	lost_by = 0; /* those of the parent of a forked child */
	if (spare_stack_exists())
		room = ROOM_SPARE;
	sys_call(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
	if (limit.soft == 0 || limit.soft > 1u << 30)
		limit.soft = MAIN_STACK;
	/* The kernel puts these bytes above the arguments. The recorder may start in another library's constructor,
	 * which knows no arguments, and replaces the environment. */
	main_high = getauxval(AT_RANDOM);
	main_top = (uintptr_t)__builtin_thread_pointer();
	main_low = main_high - limit.soft;
}

static bool is_on_alternate_stack(void)
{
	stack_t s = {0};

	if (altstack_is_programs(__builtin_frame_address(0)))
		return true;
	return sys_call(SYS_sigaltstack, NULL, &s, 0, 0) < 0 || s.ss_flags & SS_ONSTACK;
}

/* Determines where the thread's stack may be read. glibc puts the thread's control block at the top of its stack, so
 * everything from `sp` to there must be readable. If it is not, this is a coroutine's stack: it may be small, with
 * other memory below it. */
static bool stack_learn_bounds(struct thread *t, uintptr_t sp)
{
	uintptr_t top = (uintptr_t)__builtin_thread_pointer();

	if (!readable_between(sp - room, sp))
		return false;
	if (t->stack_high && sp < t->stack_low && readable_between(sp, t->stack_low)) {
		t->stack_low = sp - room;
		return true;
	}
	if (sp >= top || !readable_between(sp, top))
		return false;
	t->stack_low = sp - room;
	t->stack_high = top;
	return true;
}

/* LOSS_NONE: the stack can be walked. */
static enum loss stack_obstacle(struct thread *t, uintptr_t sp)
{
	if (sp >= main_low && sp < main_high) {
		t->stack_low = main_low;
		t->stack_high = main_high;
	}
	if (sp - room >= t->stack_low && sp < t->stack_high && !has_alternate_stack)
		return LOSS_NONE;
	if (sys_is_silent)
		return LOSS_UNKNOWN;
	if (is_on_alternate_stack())
		return LOSS_ALTERNATE;
	if (sp - room >= t->stack_low && sp < t->stack_high)
		return LOSS_NONE;
	if ((uintptr_t)__builtin_thread_pointer() != main_top && stack_learn_bounds(t, sp))
		return LOSS_NONE;
	return sp >= t->stack_low && sp < t->stack_high ? LOSS_LITTLE : LOSS_UNKNOWN;
}

/* A forked child begins with an empty memo, because after each fork its pages would be copied as they change. */
static __attribute__((noinline)) struct walk_memo *memo_map(void)
{
	struct walk_memo *memo = sys_is_silent ? NULL : sys_mmap_own(WALK_MEMO_BYTES);

	if (memo)
		sys_madvise(memo, WALK_MEMO_BYTES, MADV_WIPEONFORK);
	return memo ? memo : THREAD_NO_MEMO;
}

/* The thread's memo of its walks, mapped at its second walk, because many threads make only one; NULL: none. */
static struct walk_memo *thread_memo(struct thread *t)
{
	bool has_walked = t->has_walked;

	t->has_walked = true;
	if (t->memo == THREAD_NO_MEMO || !has_walked)
		return NULL;
	if (!t->memo)
		t->memo = memo_map();
	return t->memo == THREAD_NO_MEMO ? NULL : t->memo;
}

/* The key of a stack in the intern table, from its hash. It differs from the keys of other kinds of entries, and of
 * the same addresses before modules were unloaded. */
static inline uint64_t stack_key(uint64_t hash)
{
	hash = (hash + __atomic_load_n(&process.unloads, __ATOMIC_RELAXED)) * 0xff51afd7ed558ccd + TF_BLOB_STACK;
	return hash ? hash : 1;
}

/* The native frames of a stack. */
struct native {
	void **frames; /* NULL: only the hash is known, from the memo */
	int count;
	bool has_handler; /* the frames include that of a signal handler */
	uint64_t hash;
};

static void native_set_result(struct native *n, int result)
{
	n->count = result & WALK_COUNT;
	n->has_handler = result & WALK_SIGNAL;
}

/* Notes once that stacks cannot be walked. */
static void stack_note_no_rules(void)
{
	static bool is_noted;
	struct thread_guard guard;

	if (__atomic_exchange_n(&is_noted, true, __ATOMIC_RELAXED))
		return;
	thread_guard_enter(&thread_self, &guard);
	process_note("no stacks: there was no memory for the cache of unwind rules (RLIMIT_AS, RLIMIT_DATA?)");
	thread_guard_leave(&thread_self, &guard);
}

static void native_walk(const struct thread *t, uintptr_t frame, uint32_t depth, struct native *n)
{
	native_set_result(n,
			  walk_from(n->frames, (int)(depth + SKIPPED), t->stack_low, t->stack_high, frame, &n->hash));
	if (!n->count && !walk_prepare())
		stack_note_no_rules();
	while (n->count && module_is_ours((uintptr_t)n->frames[0])) {
		n->frames++;
		n->count--;
	}
	if (n->count > (int)depth)
		n->count = (int)depth;
}

static uint32_t backtrace_depth(void)
{
	return process_options.backtrace_depth < STACK_FRAMES ? process_options.backtrace_depth : STACK_FRAMES;
}

static void native_write(uint32_t id, void *const *frames, int count)
{
	uint64_t cut = (uint32_t)count >= backtrace_depth() ? TF_STACK_CUT : 0,
		 first = cut | __atomic_load_n(&process.unloads, __ATOMIC_RELAXED);
	bool has_first = first != 0;

	first |= TF_STACK_UNLOADS;
	module_write(frames, count);
	event_blob_of_two(TF_BLOB_STACK, id, &first, has_first ? sizeof(first) : 0, frames,
			  (size_t)count * sizeof(*frames));
}

typedef unsigned python_walk(struct pystack_frame *ret, unsigned size, uint64_t *hash);

static __attribute__((cold, noinline)) void stack_slow_down(uint32_t id, const struct native *n,
							    const struct pystack_frame *python, unsigned python_count)
{
	struct object o;

	for (int i = 0; i < n->count; i++) {
		uintptr_t call = (uintptr_t)n->frames[i] - 1;

		if (object_find(call, &o) == OBJECT_FOUND)
			slow_down_frame(id, frame_key(call - (uintptr_t)o.map_start,
						      (uintptr_t)o.map_end - (uintptr_t)o.map_start, NULL, 0),
					python_count);
	}
	for (unsigned i = 0; i < python_count; i++)
		if (python[i].code)
			slow_down_frame(id, pystack_key(&python[i]), true);
}

/* `again` NULL: a stack without Python frames. */
static void stack_write(uint32_t id, const struct native *n, struct pystack_frame *python, unsigned python_count,
			python_walk *again)
{
	uint64_t unused = 0;

	native_write(id, n->frames, n->count);
	/* module_write() has found the interpreter if this is the first stack through it. */
	if (again && !python_count)
		python_count = again(python, PYSTACK_FRAMES, &unused);
	pystack_write(id, python, python_count, again == pystack_sample);
	if (__builtin_expect(slow_down_is_on, 0) && slow_down_needs_frames() && again != pystack_sample)
		stack_slow_down(id, n, python, python_count);
}

/* The id of the stack with this key. With --mode=profile, that of an import may stand for it, which is the value of its
 * key from then on. *is_new: it is to be written. */
static bool stack_number(uint64_t key, const struct pystack_frame *python, unsigned count, bool is_sample,
			 uint32_t *id, bool *is_new)
{
	struct intern_entry *e;
	uint32_t other;
	unsigned within;

	if (profile_is_full() || (!is_sample && profile_keeps_rest())) {
		other = (uint32_t)intern_get(definition_table(), key);
		*id = other ? other : definition_find(key);
		*is_new = false;
		return *id;
	}
	e = definition_add(key, id, is_new);
	if (!e || !count || !profile_folds_imports())
		return e;
	other = (uint32_t)__atomic_load_n(&e->value, __ATOMIC_RELAXED);
	if (!other && *is_new) {
		within = pystack_within_import(python, count);
		other = within ? pystack_intern(python + within, count - within, is_sample) : *id;
		__atomic_store_n(&e->value, other ? other : *id, __ATOMIC_RELAXED);
	}
	if (other && other != *id) {
		*id = other;
		*is_new = false;
	}
	return true;
}

/* A stack to be identified, and written if it is new. */
struct stack_capture {
	struct thread *thread;
	uintptr_t frame;
	uint32_t depth, id; /* id 0: failed */
	bool is_tried;
	bool has_python;    /* Python frames belong to it, if there are any */
	struct native native; /* at first the result from the memo */
};

static void stack_identify(struct stack_capture *a)
{
	struct native *n = &a->native;
	struct pystack_frame python[PYSTACK_FRAMES];
	unsigned python_count = 0;
	bool is_new;

	if (!n->count) {
		n->frames = alloca((a->depth + SKIPPED) * sizeof(*n->frames));
		native_walk(a->thread, a->frame, a->depth, n);
	}
	/* A handler may have interrupted the interpreter at any instruction, and a short stack may not reach the
	 * handler's frame. */
	a->has_python = a->has_python && !n->has_handler && (n->count < (int)a->depth || a->depth >= HANDLER_FRAMES);
	if (a->has_python)
		python_count = pystack_take(python, PYSTACK_FRAMES, &n->hash);
	if (!n->count || !stack_number(stack_key(n->hash), python, python_count, false, &a->id, &is_new)) {
		a->id = 0;
		return;
	}
	if (is_new) {
		if (!n->frames) {
			n->frames = alloca((a->depth + SKIPPED) * sizeof(*n->frames));
			native_walk(a->thread, a->frame, a->depth, n);
		}
		stack_write(a->id, n, python, python_count, a->has_python ? pystack_take : NULL);
	}
}

/* The walk ends here, because a handler that was deferred meanwhile runs as soon as signals are unblocked. */
static void stack_take_new(void *taking)
{
	struct stack_capture *a = taking;

	a->is_tried = true;
	stack_identify(a);
	a->thread->walk_frame = 0;
}

/* Does the caller's stack have so much space? */
static bool stack_has_room(struct thread *t, uintptr_t sp, uintptr_t bytes)
{
	if (sp - bytes >= t->stack_low)
		return true;
	if (!readable_between(sp - bytes, sp))
		return false;
	t->stack_low = sp - bytes;
	return true;
}

bool stack_has(uintptr_t bytes)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	if (sp >= main_low && sp < main_high)
		return sp - main_low >= bytes;
	return sys_is_silent || readable_between(sp - bytes, sp);
}

/* Python's threads have large stacks: theirs are taken without the system calls that a spare stack costs. */
static __attribute__((noinline)) uint32_t stack_take_slowly(struct stack_capture *a, bool has_interpreter)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);

	if (a->native.count && !has_interpreter)
		a->id = definition_find(stack_key(a->native.hash));
	if (a->id)
		return a->id;
	if (has_interpreter && stack_has_room(a->thread, sp, STAY))
		stack_take_new(a);
	else if (!spare_stack_run(stack_take_new, a) && stack_has_room(a->thread, sp, ROOM))
		stack_take_new(a);
	return a->id;
}

/* Most stacks have been walked before: the memo has their hash, and the intern table their id. */
static inline uint32_t stack_take_known(struct thread *t, uintptr_t frame, uint32_t depth, bool has_python)
{
	struct stack_capture a = {.thread = t, .frame = frame, .depth = depth, .has_python = has_python};
	bool has_interpreter = has_python && pystack_has_interpreter();
	struct walk_memo *memo = thread_memo(t);
	uint32_t id = 0;

	if (memo)
		native_set_result(&a.native, walk_memo_hash(memo, (int)(depth + SKIPPED), t->stack_low, t->stack_high,
							    frame, room == ROOM, &a.native.hash));
	if (a.native.count && !has_interpreter)
		id = definition_number(stack_key(a.native.hash));
	if (!id && !stack_take_slowly(&a, has_interpreter))
		return stack_lose(t, a.is_tried ? LOSS_FAILED : LOSS_LITTLE);
	return id ? id : a.id;
}

uint32_t stack_take(struct thread *t, uintptr_t frame)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), outer = t->walk_frame;
	uint32_t depth = backtrace_depth(), id;
	enum loss loss;

	/* A walk deeper in the stack than this frame has ended: a handler left it by longjmp. */
	if (outer && outer > sp)
		loss = LOSS_NESTED;
	else if (thread_has_no_room(t))
		loss = LOSS_NO_ROOM;
	else
		loss = stack_obstacle(t, sp);
	if (loss)
		return stack_lose(t, loss);
	t->walk_frame = sp; /* until it is 0 again, no handler uses the memo */
	id = stack_take_known(t, frame & ~(uintptr_t)STACK_NATIVE_ONLY, depth, !(frame & STACK_NATIVE_ONLY));
	t->walk_frame = 0;
	return id;
}

/* Bounds of the stack that contains `sp`; false: unknown. */
static bool stack_find_bounds(struct thread *t, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high)
{
	bool is_main = sp >= main_low && sp < main_high;

	*ret_low = is_main ? main_low : t->stack_low;
	*ret_high = is_main ? main_high : t->stack_high;
	if (is_main || (sp >= t->stack_low && sp < t->stack_high))
		return true;
	if ((uintptr_t)__builtin_thread_pointer() == main_top || !stack_learn_bounds(t, sp))
		return false;
	*ret_low = t->stack_low;
	*ret_high = t->stack_high;
	return true;
}

uint32_t stack_take_at(struct thread *t, const struct stack_place *place)
{
	uint32_t depth = backtrace_depth();
	struct native n = {alloca(depth * sizeof(*n.frames)), 0, false, 0};
	struct pystack_frame python[PYSTACK_FRAMES];
	bool is_known, is_new = false;
	unsigned python_count;
	uintptr_t low, high;
	uint32_t id = 0;

	if (!stack_find_bounds(t, place->sp, &low, &high)) {
		low = high = 0;
		if (sys_is_silent || !readable_address(place->sp))
			return stack_lose(t, LOSS_UNKNOWN);
	}
	native_set_result(&n, walk_at(n.frames, (int)depth, low, high, place, &n.hash));
	if (!n.count)
		stack_note_no_rules();
	else
		n.frames[0] = (char *)n.frames[0] + 1;
	python_count = pystack_sample(python, PYSTACK_FRAMES, &n.hash);
	is_known = n.count && stack_number(stack_key(~n.hash), python, python_count, true, &id, &is_new);
	if (is_new)
		stack_write(id, &n, python, python_count, pystack_sample);
	return is_known ? id : stack_lose(t, LOSS_FAILED);
}

/* The page of an overflowed stack pointer, and perhaps some above it, cannot be read. */
uint32_t stack_take_crash(struct thread *t, const struct stack_place *place)
{
	uintptr_t top = (uintptr_t)__builtin_thread_pointer(), page = place->sp & -(uintptr_t)PAGE;

	if (top != main_top && place->sp < top && !readable_address(place->sp)) {
		for (int i = 0; i < PAGES_OVER && !readable_address(page); i++)
			page += PAGE;
		if (page < top && readable_between(page, top)) {
			t->stack_low = place->sp;
			t->stack_high = top;
		}
	}
	return stack_take_at(t, place);
}

void stack_alternate_set(void)
{
	has_alternate_stack = true;
}

void stack_prepare(void)
{
	if (backtrace_depth())
		walk_prepare();
}

void stack_module_unloaded(void)
{
	walk_invalidate();
	module_unloaded();
	pystack_module_unloaded();
}
