/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of GCC's libgomp that compiled code calls. A process may have several copies of the library, as those
 * of Python's packages, so the real function is that of the caller. Of static loops compiled code calls only the
 * barrier. libomp has functions of these names, too, which call its tool: ompt.c records those. */
#include <alloca.h>
#include <string.h>

#include "preload/hook/caller.h"
#include "preload/openmp/ompt.h"

typedef void outlined(void *data);

enum { TASK_DETACH = 1 << 13, TASK_BYTES = 1 << 16 };

/* Parallel regions: X(returns, symbol, parameters, arguments), with the parameters `function` and `data`. */
#define LOOP_PARAMETERS                                                                                                \
	(outlined *function, void *data, unsigned threads, long start, long end, long step, long chunk, unsigned flags)
#define LOOP_ARGUMENTS (function, data, threads, start, end, step, chunk, flags)
#define PLAIN_LOOP_PARAMETERS                                                                                          \
	(outlined *function, void *data, unsigned threads, long start, long end, long step, unsigned flags)
#define PLAIN_LOOP_ARGUMENTS (function, data, threads, start, end, step, flags)
#define GOMP_REGIONS(X)                                                                                                \
	X(void, GOMP_parallel, (outlined *function, void *data, unsigned threads, unsigned flags),                     \
	  (function, data, threads, flags))                                                                            \
	X(unsigned, GOMP_parallel_reductions, (outlined *function, void *data, unsigned threads, unsigned flags),      \
	  (function, data, threads, flags))                                                                            \
	X(void, GOMP_parallel_sections,                                                                                \
	  (outlined *function, void *data, unsigned threads, unsigned count, unsigned flags),                          \
	  (function, data, threads, count, flags))                                                                     \
	X(void, GOMP_parallel_loop_static, LOOP_PARAMETERS, LOOP_ARGUMENTS)                                            \
	X(void, GOMP_parallel_loop_dynamic, LOOP_PARAMETERS, LOOP_ARGUMENTS)                                           \
	X(void, GOMP_parallel_loop_guided, LOOP_PARAMETERS, LOOP_ARGUMENTS)                                            \
	X(void, GOMP_parallel_loop_nonmonotonic_dynamic, LOOP_PARAMETERS, LOOP_ARGUMENTS)                              \
	X(void, GOMP_parallel_loop_nonmonotonic_guided, LOOP_PARAMETERS, LOOP_ARGUMENTS)                               \
	X(void, GOMP_parallel_loop_runtime, PLAIN_LOOP_PARAMETERS, PLAIN_LOOP_ARGUMENTS)                               \
	X(void, GOMP_parallel_loop_nonmonotonic_runtime, PLAIN_LOOP_PARAMETERS, PLAIN_LOOP_ARGUMENTS)                  \
	X(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, PLAIN_LOOP_PARAMETERS, PLAIN_LOOP_ARGUMENTS)

/* Waits: X(returns, symbol, parameters, arguments, wait, block that ends before it or NONE, that begins after it). */
#define GOMP_WAITS(X)                                                                                                  \
	X(void, GOMP_barrier, (void), (), omp_barrier, NONE, NONE)                                                     \
	X(bool, GOMP_barrier_cancel, (void), (), omp_barrier, NONE, NONE)                                              \
	X(void, GOMP_loop_end, (void), (), omp_barrier, omp_loop, NONE)                                                \
	X(bool, GOMP_loop_end_cancel, (void), (), omp_barrier, omp_loop, NONE)                                         \
	X(void, GOMP_sections_end, (void), (), omp_barrier, omp_sections, NONE)                                        \
	X(bool, GOMP_sections_end_cancel, (void), (), omp_barrier, omp_sections, NONE)                                 \
	X(void, GOMP_taskwait, (void), (), omp_taskwait, NONE, NONE)                                                   \
	X(void, GOMP_taskwait_depend, (void **depend), (depend), omp_taskwait, NONE, NONE)                             \
	X(void, GOMP_taskgroup_end, (void), (), omp_taskgroup, NONE, NONE)

/* Likewise, of which waits below --osrt-threshold are not recorded: a lock is mostly free. */
#define GOMP_LOCKS(X)                                                                                                  \
	X(void, GOMP_critical_start, (void), (), omp_critical_wait, NONE, omp_critical)                                \
	X(void, GOMP_critical_name_start, (void **name), (name), omp_critical_wait, NONE, omp_critical)                \
	X(void, GOMP_atomic_start, (void), (), omp_atomic_wait, NONE, NONE)                                            \
	X(void, GOMP_ordered_start, (void), (), omp_ordered_wait, NONE, omp_ordered)                                   \
	X(void, omp_set_lock, (void *lock), (lock), omp_lock_wait, NONE, NONE)                                         \
	X(void, omp_set_nest_lock, (void *lock), (lock), omp_lock_wait, NONE, NONE)

/* What begins or ends a block: X(returns, symbol, parameters, arguments, begin or end, construct). */
#define START_PARAMETERS (long start, long end, long step, long chunk, long *first, long *last)
#define START_ARGUMENTS (start, end, step, chunk, first, last)
#define PLAIN_PARAMETERS (long start, long end, long step, long *first, long *last)
#define PLAIN_ARGUMENTS (start, end, step, first, last)
#define ULL_PARAMETERS                                                                                                 \
	(bool up, unsigned long long start, unsigned long long end, unsigned long long step,                           \
	 unsigned long long chunk, unsigned long long *first, unsigned long long *last)
#define ULL_ARGUMENTS (up, start, end, step, chunk, first, last)
#define ULL_PLAIN_PARAMETERS                                                                                           \
	(bool up, unsigned long long start, unsigned long long end, unsigned long long step,                           \
	 unsigned long long *first, unsigned long long *last)
#define ULL_PLAIN_ARGUMENTS (up, start, end, step, first, last)
#define LOOP_STARTS(X, prefix, chunked, chunked_arguments, plain, plain_arguments)                                     \
	X(bool, prefix##_static_start, chunked, chunked_arguments, begin, omp_loop)                                    \
	X(bool, prefix##_dynamic_start, chunked, chunked_arguments, begin, omp_loop)                                   \
	X(bool, prefix##_guided_start, chunked, chunked_arguments, begin, omp_loop)                                    \
	X(bool, prefix##_nonmonotonic_dynamic_start, chunked, chunked_arguments, begin, omp_loop)                      \
	X(bool, prefix##_nonmonotonic_guided_start, chunked, chunked_arguments, begin, omp_loop)                       \
	X(bool, prefix##_ordered_static_start, chunked, chunked_arguments, begin, omp_loop)                            \
	X(bool, prefix##_ordered_dynamic_start, chunked, chunked_arguments, begin, omp_loop)                           \
	X(bool, prefix##_ordered_guided_start, chunked, chunked_arguments, begin, omp_loop)                            \
	X(bool, prefix##_runtime_start, plain, plain_arguments, begin, omp_loop)                                       \
	X(bool, prefix##_ordered_runtime_start, plain, plain_arguments, begin, omp_loop)                               \
	X(bool, prefix##_nonmonotonic_runtime_start, plain, plain_arguments, begin, omp_loop)                          \
	X(bool, prefix##_maybe_nonmonotonic_runtime_start, plain, plain_arguments, begin, omp_loop)
#define GOMP_BLOCKS(X)                                                                                                 \
	LOOP_STARTS(X, GOMP_loop, START_PARAMETERS, START_ARGUMENTS, PLAIN_PARAMETERS, PLAIN_ARGUMENTS)                \
	LOOP_STARTS(X, GOMP_loop_ull, ULL_PARAMETERS, ULL_ARGUMENTS, ULL_PLAIN_PARAMETERS, ULL_PLAIN_ARGUMENTS)        \
	X(void, GOMP_loop_end_nowait, (void), (), end, omp_loop)                                                       \
	X(unsigned, GOMP_sections_start, (unsigned count), (count), begin, omp_sections)                               \
	X(void, GOMP_sections_end_nowait, (void), (), end, omp_sections)                                               \
	X(void, GOMP_critical_end, (void), (), end, omp_critical)                                                      \
	X(void, GOMP_critical_name_end, (void **name), (name), end, omp_critical)                                      \
	X(void, GOMP_ordered_end, (void), (), end, omp_ordered)

/* Those with a body of their own, below. */
#define GOMP_OTHERS(X)                                                                                                 \
	X(void, GOMP_parallel_start, (outlined *function, void *data, unsigned threads), (function, data, threads))    \
	X(void, GOMP_parallel_end, (void), ())                                                                         \
	X(void, GOMP_task,                                                                                             \
	  (outlined *function, void *data, void (*copy)(void *, void *), long size, long alignment, bool is_deferred,  \
	   unsigned flags, void **depend, int priority, void *detach),                                                 \
	  (function, data, copy, size, alignment, is_deferred, flags, depend, priority, detach))                       \
	X(void, GOMP_taskloop,                                                                                         \
	  (outlined *function, void *data, void (*copy)(void *, void *), long size, long alignment, unsigned flags,    \
	   unsigned long tasks, int priority, long start, long end, long step),                                        \
	  (function, data, copy, size, alignment, flags, tasks, priority, start, end, step))

/* ---- the real functions ---- */

#define PLACE(returns, symbol, ...) PLACE_##symbol,
enum {
	PLACES = HOOK_PLACE_END,
	GOMP_REGIONS(PLACE) GOMP_WAITS(PLACE) GOMP_LOCKS(PLACE) GOMP_BLOCKS(PLACE) GOMP_OTHERS(PLACE)
};

#define DECLARE(returns, symbol, parameters, ...) HOOK_EXPORT returns symbol parameters;
GOMP_REGIONS(DECLARE) GOMP_WAITS(DECLARE) GOMP_LOCKS(DECLARE) GOMP_BLOCKS(DECLARE) GOMP_OTHERS(DECLARE)

#define REAL(symbol)                                                                                                   \
	({                                                                                                             \
		static struct caller_place place_;                                                                     \
                                                                                                                       \
		(__typeof__(&symbol))caller_real(&place_, PLACE_##symbol, #symbol, __builtin_return_address(0));       \
	})

/* ---- parallel regions ---- */

/* The outlined function of a region as the library sees it. */
static void part(void *region)
{
	struct openmp_region *r = region;
	uint64_t start = openmp_part_begin(r);

	r->function(r->data);
	openmp_part_end(r, start);
}

static struct openmp_region *region_begin(const void *real, outlined *function, void *data, uintptr_t frame)
{
	struct openmp_region *r = ompt_records(real) ? NULL : openmp_region_begin(frame);

	if (r) {
		r->function = function;
		r->data = data;
	}
	return r;
}

#define NONE_void
#define NONE_bool false
#define NONE__Bool false /* bool, where it has been expanded */
#define NONE_unsigned 0
#define RESULT_void(...) __VA_ARGS__
#define RESULT__Bool(...) bool result = __VA_ARGS__
#define RESULT_unsigned(...) unsigned result = __VA_ARGS__
#define RETURN_void
#define RETURN__Bool return result
#define RETURN_unsigned return result

#define REGION(returns, symbol, parameters, arguments)                                                                 \
	returns symbol parameters                                                                                      \
	{                                                                                                              \
		__typeof__(&symbol) real = REAL(symbol);                                                               \
		struct openmp_region *r;                                                                               \
                                                                                                                       \
		if (!real)                                                                                             \
			return NONE_##returns;                                                                         \
		r = region_begin((const void *)real, function, data, (uintptr_t)__builtin_frame_address(0));           \
		if (!r)                                                                                                \
			return real arguments;                                                                         \
		function = part;                                                                                       \
		data = r;                                                                                              \
		RESULT_##returns(real arguments);                                                                      \
		openmp_region_end(r);                                                                                  \
		RETURN_##returns;                                                                                      \
	}
GOMP_REGIONS(REGION)

/* Before GCC 4.9 the encountering thread calls the outlined function itself, between these two. */
void GOMP_parallel_start(outlined *function, void *data, unsigned threads)
{
	__typeof__(&GOMP_parallel_start) real = REAL(GOMP_parallel_start);
	struct openmp_thread *t;
	struct openmp_part *p;

	if (!real)
		return;
	t = openmp_thread();
	p = t && t->started_count++ < OPENMP_STARTED ? &t->started[t->started_count - 1] : NULL;
	if (p)
		p->region = region_begin((const void *)real, function, data, (uintptr_t)__builtin_frame_address(0));
	if (!p || !p->region) {
		real(function, data, threads);
		return;
	}
	real(part, p->region, threads);
	p->start_ticks = openmp_part_begin(p->region);
}

void GOMP_parallel_end(void)
{
	__typeof__(&GOMP_parallel_end) real = REAL(GOMP_parallel_end);
	struct openmp_thread *t = openmp_self;
	unsigned place = t && t->started_count ? --t->started_count : OPENMP_STARTED;
	struct openmp_region *r = place < OPENMP_STARTED ? t->started[place].region : NULL;

	if (r)
		openmp_part_end(r, t->started[place].start_ticks);
	if (real)
		real();
	if (r)
		openmp_region_end(r);
}

/* ---- waits and blocks ---- */

#define BLOCK(action, construct, ...) BLOCK_##construct(openmp_block_##action(HOOK_##construct __VA_ARGS__))
#define BLOCK_NONE(...)
#define BLOCK_omp_loop(...) __VA_ARGS__;
#define BLOCK_omp_sections(...) __VA_ARGS__;
#define BLOCK_omp_critical(...) __VA_ARGS__;
#define BLOCK_omp_ordered(...) __VA_ARGS__;
enum { HOOK_NONE = 0 };

#define WAIT_AT_LEAST(least, returns, symbol, parameters, arguments, wait, ended, begun)                               \
	returns symbol parameters                                                                                      \
	{                                                                                                              \
		const void *site = __builtin_return_address(0);                                                        \
		__typeof__(&symbol) real = REAL(symbol);                                                               \
		bool is_waiting;                                                                                       \
                                                                                                                       \
		if (!real)                                                                                             \
			return NONE_##returns;                                                                         \
		if (ompt_records((const void *)real))                                                                  \
			return real arguments;                                                                         \
		BLOCK(end, ended)                                                                                      \
		is_waiting = openmp_wait_begin(HOOK_##wait, (uintptr_t)__builtin_frame_address(0), site);              \
		RESULT_##returns(real arguments);                                                                      \
		if (is_waiting)                                                                                        \
			openmp_wait_end(least);                                                                        \
		BLOCK(begin, begun, , site)                                                                            \
		RETURN_##returns;                                                                                      \
	}
#define WAIT(...) WAIT_AT_LEAST(0, __VA_ARGS__)
#define LOCK(...) WAIT_AT_LEAST(process_osrt_threshold, __VA_ARGS__)
GOMP_WAITS(WAIT)
GOMP_LOCKS(LOCK)

#define ACT_begin(construct) openmp_block_begin(HOOK_##construct, __builtin_return_address(0))
#define ACT_end(construct) openmp_block_end(HOOK_##construct)
#define BLOCK_ONLY(returns, symbol, parameters, arguments, action, construct)                                          \
	returns symbol parameters                                                                                      \
	{                                                                                                              \
		__typeof__(&symbol) real = REAL(symbol);                                                               \
                                                                                                                       \
		if (!real)                                                                                             \
			return NONE_##returns;                                                                         \
		if (!ompt_records((const void *)real))                                                                 \
			ACT_##action(construct);                                                                       \
		return real arguments;                                                                                 \
	}
GOMP_BLOCKS(BLOCK_ONLY)

/* ---- tasks ---- */

/* What the library copies for a task of ours: this, and from `offset` on what the program passed. */
struct task {
	outlined *function;
	void (*copy)(void *, void *);
	size_t offset;
	void *data; /* the program's own, for `copy` */
};

static void task_run(void *block)
{
	const struct task *t = block;
	outlined *function = t->function;
	struct openmp_task task;

	openmp_task_begin(&task);
	function((char *)block + t->offset);
	openmp_task_end(&task, (const char *)(uintptr_t)function + 1); /* as a return address */
}

static void task_copy(void *to, void *from)
{
	const struct task *t = from;

	memcpy(to, t, sizeof(*t));
	t->copy((char *)to + t->offset, t->data);
}

void GOMP_task(outlined *function, void *data, void (*copy)(void *, void *), long size, long alignment,
	       bool is_deferred, unsigned flags, void **depend, int priority, void *detach)
{
	__typeof__(&GOMP_task) real = REAL(GOMP_task);
	struct task head = {function, copy, sizeof(head), data}, *t = &head;

	if (!real)
		return;
	if (flags & TASK_DETACH || size < 0 || size > TASK_BYTES || alignment > TASK_BYTES ||
	    alignment & (alignment - 1) || ompt_records((const void *)real) || !openmp_is_on()) {
		real(function, data, copy, size, alignment, is_deferred, flags, depend, priority, detach);
		return;
	}
	if (alignment < (long)_Alignof(struct task))
		alignment = (long)_Alignof(struct task);
	if ((long)head.offset < alignment)
		head.offset = (size_t)alignment;
	if (!copy) {
		uintptr_t room = (uintptr_t)alloca(head.offset + (size_t)size + (size_t)alignment);

		t = (struct task *)((room + (size_t)alignment - 1) & -(size_t)alignment);
		*t = head;
		if (size)
			memcpy((char *)t + head.offset, data, (size_t)size);
	}
	real(task_run, t, copy ? task_copy : NULL, (long)head.offset + size, alignment, is_deferred, flags, depend,
	     priority, detach);
}

/* The library writes the bounds of each task's iterations into the data, whose layout must stay: only the whole is
 * recorded. */
void GOMP_taskloop(outlined *function, void *data, void (*copy)(void *, void *), long size, long alignment,
		   unsigned flags, unsigned long tasks, int priority, long start, long end, long step)
{
	__typeof__(&GOMP_taskloop) real = REAL(GOMP_taskloop);
	bool is_ours;

	if (!real)
		return;
	is_ours = !ompt_records((const void *)real);
	if (is_ours)
		openmp_block_begin(HOOK_omp_taskloop, __builtin_return_address(0));
	real(function, data, copy, size, alignment, flags, tasks, priority, start, end, step);
	if (is_ours)
		openmp_block_end(HOOK_omp_taskloop);
}
