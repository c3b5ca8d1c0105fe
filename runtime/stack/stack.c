/* SPDX-License-Identifier: Apache-2.0 */
/* Native stacks, each different one written once. */
#include "runtime/stack/stack.h"

#include <alloca.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "runtime/record/event.h"
#include "runtime/record/identity.h"
#include "runtime/common/loaded.h"
#include "runtime/stack/module.h"
#include "runtime/python/pystack.h"
#include "runtime/common/readable.h"
#include "runtime/common/sys.h"
#include "runtime/stack/altstack.h"

#ifdef HAVE_UNWIND
#include <unwind_pillion.h>

/* An unwind takes a few KiB; nearer to a stack's end than this we do not dare. */
enum { ROOM = 16384, WARM = 8, HANDLER_FRAMES = 16, MAIN_STACK = 8 << 20 };

/* Frames of our own that come first: none where the walk starts at the wrapper's caller. */
#if defined(__x86_64__)
enum { SKIPPED = 0 };
#else
enum { SKIPPED = 8 };
#endif

static uintptr_t main_low, main_high, main_top; /* main_top: its control block, which lies elsewhere */
static bool has_alternate_stack; /* a forked child inherits it, so it is not in `process` */

static void end_thread(struct thread *t)
{
	if (t->memo && t->memo != THREAD_NO_MEMO)
		sys_munmap(t->memo, UNW_PILLION_MEMO);
	t->memo = THREAD_NO_MEMO;
}

void stack_init(void)
{
	struct {
		uint64_t soft, hard;
	} limit = {0, 0};
	void *warm[WARM];

	thread_watch(&(struct thread_watch){.end = end_thread});
	/* glibc 2.35's way to find a module without a lock. */
	unw_pillion_init(loaded_next("_dl_find_object"));
	sys_call(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit);
	if (limit.soft == 0 || limit.soft > 1u << 30)
		limit.soft = MAIN_STACK;
	main_high = identity_stack_top();
	main_top = (uintptr_t)__builtin_thread_pointer();
	main_low = main_high - limit.soft;
	unw_pillion_backtrace(warm, WARM, 0, 0);
}

static bool is_on_alternate(void)
{
	stack_t s = {0};

	if (altstack_is_programs(__builtin_frame_address(0)))
		return true;
	return sys_call(SYS_sigaltstack, NULL, &s, 0, 0) < 0 || s.ss_flags & SS_ONSTACK;
}

/* Learns where the thread's stack may be read: glibc puts its control block at the top, so all from `sp` up to there must be
 * readable. What is not joined to it that way is a coroutine's stack: it may be small, with others' memory below. */
static bool learn_bounds(struct thread *t, uintptr_t sp)
{
	uintptr_t top = (uintptr_t)__builtin_thread_pointer();

	if (!readable_between(sp - ROOM, sp))
		return false;
	if (t->stack_high && sp < t->stack_low && readable_between(sp, t->stack_low)) {
		t->stack_low = sp - ROOM;
		return true;
	}
	if (sp >= top || !readable_between(sp, top))
		return false;
	t->stack_low = sp - ROOM;
	t->stack_high = top;
	return true;
}

static bool is_safe(struct thread *t, uintptr_t sp)
{
	if (sp >= main_low && sp < main_high) {
		t->stack_low = main_low;
		t->stack_high = main_high;
	}
	if (sp - ROOM >= t->stack_low && sp < t->stack_high && !has_alternate_stack)
		return true;
	if (sys_is_silent || is_on_alternate())
		return false;
	if (sp - ROOM >= t->stack_low && sp < t->stack_high)
		return true;
	return (uintptr_t)__builtin_thread_pointer() != main_top && learn_bounds(t, sp);
}

/* The thread's memo of its walks: mapped at its second, for many threads make one only. NULL: there is none. */
static struct unw_pillion_memo *memo_of(struct thread *t)
{
	bool has_walked = t->has_walked;

	t->has_walked = true;
	if (t->memo == THREAD_NO_MEMO || !has_walked)
		return NULL;
	if (!t->memo && !sys_is_silent)
		t->memo = sys_mmap(NULL, UNW_PILLION_MEMO, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!t->memo)
		t->memo = THREAD_NO_MEMO;
	return t->memo == THREAD_NO_MEMO ? NULL : t->memo;
}

/* A stack's key by its hash; not another kind's: texts and shapes are in the same table. Nor that of the same addresses before
 * modules were unloaded. */
static inline uint64_t key_of(uint64_t hash)
{
	hash = (hash + __atomic_load_n(&process.unloads, __ATOMIC_RELAXED)) * 0xff51afd7ed558ccd + TF_BLOB_STACK;
	return hash ? hash : 1;
}

/* A stack's native side. */
struct native {
	void **frames; /* NULL: the memo alone has been asked */
	int count;
	bool is_handlers; /* a signal handler is among them */
	uint64_t hash;
};

static void set_found(struct native *n, int found)
{
	n->count = found & UNW_PILLION_COUNT;
	n->is_handlers = found & UNW_PILLION_SIGNAL;
}

static void walk(const struct thread *t, uintptr_t frame, uint32_t depth, struct native *n)
{
	set_found(n, unw_pillion_backtrace_from(n->frames, (int)(depth + SKIPPED), t->stack_low, t->stack_high, frame, &n->hash));
	while (n->count && module_is_ours((uintptr_t)n->frames[0])) {
		n->frames++;
		n->count--;
	}
	if (n->count > (int)depth)
		n->count = (int)depth;
}

static void write_native(uint32_t id, void *const *frames, int count)
{
	uint64_t unloads = __atomic_load_n(&process.unloads, __ATOMIC_RELAXED), first = TF_STACK_UNLOADS | unloads;

	module_write(frames, count);
	event_blob_of_two(TF_BLOB_STACK, id, &first, unloads ? sizeof(first) : 0, frames, (size_t)count * sizeof(*frames));
}

typedef unsigned python_walk(struct pystack_frame *ret, unsigned size, uint64_t *hash);

/* `again` NULL: a stack without Python frames. */
static void write_stack(uint32_t id, const struct native *n, struct pystack_frame *python, unsigned python_count, python_walk *again)
{
	uint64_t unused = 0;

	write_native(id, n->frames, n->count);
	/* The first stack through an interpreter is the one that finds it. */
	if (again && !python_count)
		python_count = again(python, PYSTACK_FRAMES, &unused);
	pystack_write(id, python, python_count, again == pystack_sample);
}

/* `n` as far as the memo knew it. */
static __attribute__((noinline)) uint32_t take(struct thread *t, uintptr_t frame, uint32_t depth, bool has_python, struct native n)
{
	struct pystack_frame python[PYSTACK_FRAMES];
	unsigned python_count = 0;
	uint32_t id = 0;
	bool is_new;

	if (!n.count) {
		n.frames = alloca((depth + SKIPPED) * sizeof(*n.frames)); /* only now, where there is room */
		walk(t, frame, depth, &n);
	}
	/* A handler may have come at any instruction of the interpreter; a short backtrace may not reach down to where it came. */
	has_python = has_python && !n.is_handlers && (n.count < (int)depth || depth >= HANDLER_FRAMES);
	if (has_python)
		python_count = pystack_take(python, PYSTACK_FRAMES, &n.hash);
	if (!n.count || !table_add(&process.interned, key_of(n.hash), &id, &is_new))
		return 0;
	if (is_new) {
		if (!n.frames) {
			n.frames = alloca((depth + SKIPPED) * sizeof(*n.frames));
			walk(t, frame, depth, &n);
		}
		write_stack(id, &n, python, python_count, has_python ? pystack_take : NULL);
	}
	return id;
}

/* What nearly every stack is, one that has been taken before, is told at once. */
static inline uint32_t take_again(struct thread *t, uintptr_t frame, uint32_t depth, bool has_python)
{
	struct unw_pillion_memo *memo = memo_of(t);
	struct native n = {NULL, 0, false, 0};
	uint32_t id = 0;

	if (memo)
		set_found(&n, unw_pillion_hash_from(memo, (int)(depth + SKIPPED), t->stack_low, t->stack_high, frame, &n.hash));
	if (n.count && !(has_python && pystack_is_there()))
		id = table_number(&process.interned, key_of(n.hash));
	return id ? id : take(t, frame, depth, has_python, n);
}

uint32_t stack_take(struct thread *t, uintptr_t frame)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0), outer = t->walk_frame;
	uint32_t depth = process_options.backtrace_depth < STACK_FRAMES ? process_options.backtrace_depth : STACK_FRAMES, id;

	/* A walk that lies deeper in the stack than we do was left by longjmp out of a handler. */
	if (!depth || (outer && outer > sp) || !is_safe(t, sp)) {
		t->page->stacks_lost++;
		return 0;
	}
	t->walk_frame = sp; /* from here to the end nobody else uses the memo */
	id = take_again(t, frame & ~(uintptr_t)STACK_NATIVE_ONLY, depth, !(frame & STACK_NATIVE_ONLY));
	t->walk_frame = 0;
	if (!id)
		t->page->stacks_lost++;
	return id;
}

/* The stack that `sp` lies in, as far as it is known. */
static bool find_bounds(struct thread *t, uintptr_t sp, uintptr_t *ret_low, uintptr_t *ret_high)
{
	bool is_main = sp >= main_low && sp < main_high;

	*ret_low = is_main ? main_low : t->stack_low;
	*ret_high = is_main ? main_high : t->stack_high;
	if (is_main || (sp >= t->stack_low && sp < t->stack_high))
		return true;
	if ((uintptr_t)__builtin_thread_pointer() == main_top || !learn_bounds(t, sp))
		return false;
	*ret_low = t->stack_low;
	*ret_high = t->stack_high;
	return true;
}

uint32_t stack_take_at(struct thread *t, const struct stack_place *place)
{
	uint32_t depth = process_options.backtrace_depth < STACK_FRAMES ? process_options.backtrace_depth : STACK_FRAMES;
	struct native n = {alloca(depth * sizeof(*n.frames)), 0, false, 0};
	struct pystack_frame python[PYSTACK_FRAMES];
	bool is_known, is_new = false;
	unsigned python_count;
	uintptr_t low, high;
	uint32_t id = 0;

	if (!find_bounds(t, place->sp, &low, &high)) {
		low = high = 0;
		if (sys_is_silent || !readable_address(place->sp)) {
			t->page->stacks_lost++;
			return 0;
		}
	}
	set_found(&n, unw_pillion_backtrace_at(n.frames, (int)depth, low, high,
					       &(struct unw_pillion_place){place->pc, place->sp, place->fp, place->lr}, &n.hash));
	n.frames[0] = (char *)n.frames[0] + 1;
	python_count = pystack_sample(python, PYSTACK_FRAMES, &n.hash);
	is_known = n.count && table_add(&process.interned, key_of(~n.hash), &id, &is_new);
	if (is_new)
		write_stack(id, &n, python, python_count, pystack_sample);
	if (!is_known)
		t->page->stacks_lost++;
	return is_known ? id : 0;
}

void stack_alternate_seen(void)
{
	has_alternate_stack = true;
}

void stack_module_gone(void)
{
	unw_pillion_flush();
	module_gone();
	pystack_module_gone();
}

void stack_fork_begin(void)
{
	unw_pillion_fork_begin();
}

void stack_fork_end(bool is_child)
{
	unw_pillion_fork_end(is_child);
}

#else

/* Built without the unwinder: no stacks, and the ledger says how many. */
void stack_init(void)
{
}

uint32_t stack_take(struct thread *t, uintptr_t frame)
{
	t->page->stacks_lost++;
	return 0;
}

uint32_t stack_take_at(struct thread *t, const struct stack_place *place)
{
	t->page->stacks_lost++;
	return 0;
}

void stack_alternate_seen(void)
{
}

void stack_module_gone(void)
{
}

void stack_fork_begin(void)
{
}

void stack_fork_end(bool is_child)
{
	(void)is_child;
}

#endif
