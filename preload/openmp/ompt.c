/* SPDX-License-Identifier: Apache-2.0 */
/* The tool: the library asks for it by the name ompt_start_tool, gets a function that registers callbacks, and calls
 * these. Types and numbers are those of OpenMP 5.1, chapter 4; no header is needed. */
#include "preload/openmp/ompt.h"

#include <string.h>
#include <unistd.h>

#include "runtime/recorder/loader/dso.h"
#include "runtime/recorder/stack/object.h"

uintptr_t ompt_library_start, ompt_library_end;

union ompt_data {
	uint64_t value;
	void *ptr;
};
typedef void ompt_callback(void);
typedef ompt_callback *ompt_lookup(const char *name);
typedef int ompt_set_callback(int event, ompt_callback *callback);
struct ompt_tool {
	int (*initialize)(ompt_lookup *lookup, int device, union ompt_data *data);
	void (*finalize)(union ompt_data *data);
	union ompt_data data;
};

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };

/* ---- regions ---- */

static void parallel_begin(union ompt_data *task, const void *task_frame, union ompt_data *parallel, unsigned threads,
			   int flags, void *site)
{
	struct openmp_region *r = openmp_region_begin((uintptr_t)__builtin_frame_address(0));

	if (r)
		r->data = site;
	parallel->ptr = r;
}

static void parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *site)
{
	if (parallel->ptr)
		openmp_region_end(parallel->ptr);
	parallel->ptr = NULL;
}

static struct openmp_part *part_now(void)
{
	unsigned count = openmp_self ? openmp_self->part_count : 0;

	return count && count <= OPENMP_PARTS ? &openmp_self->parts[count - 1] : NULL;
}

static void part_end(struct openmp_part *p)
{
	if (p && p->start_ticks)
		openmp_part_end(p->region, p->start_ticks);
	if (p)
		p->start_ticks = 0;
}

static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads,
			  unsigned number, int flags)
{
	enum { INITIAL = 1 };
	struct openmp_thread *t;
	struct openmp_part *p;

	if (flags & INITIAL)
		return;
	if (endpoint == SCOPE_BEGIN) {
		t = openmp_thread();
		if (t)
			t->part_count++;
		p = part_now();
		if (!p)
			return;
		p->region = parallel ? parallel->ptr : NULL;
		p->start_ticks = p->region ? openmp_part_begin(p->region) : 0;
		return;
	}
	part_end(part_now()); /* a team of one thread has no barrier */
	if (openmp_self)
		openmp_self->part_count -= openmp_self->part_count > 0;
}

/* ---- waits ---- */

/* Of ompt_sync_region_t; 0: a reduction, which is in a barrier. */
static const uint16_t sync_waits[] = {
	0, HOOK_omp_barrier, HOOK_omp_barrier, HOOK_omp_barrier, HOOK_omp_barrier, HOOK_omp_taskwait,
	HOOK_omp_taskgroup, 0, HOOK_omp_barrier, HOOK_omp_barrier, HOOK_omp_barrier,
};

/* The barrier at the end of a region: its kind is new in 5.1, and before it had the kind of those within the region.
 * Those have a place in the code of the region; this one has none, or that of the region itself. A worker is told of
 * its end when it has its next region. */
static bool is_last_barrier(int kind, const struct openmp_part *p, const void *site)
{
	enum { IMPLICIT = 2, IMPLICIT_PARALLEL = 9 };

	return p && p->start_ticks &&
	       (kind == IMPLICIT_PARALLEL || (kind == IMPLICIT && (!site || site == p->region->data)));
}

static void start_waiting(unsigned wait, const void *site)
{
	bool is_waiting = openmp_wait_begin(wait, 0, site);

	if (openmp_self)
		openmp_self->is_waiting = is_waiting;
}

static void stop_waiting(uint64_t least)
{
	struct openmp_thread *t = openmp_self;

	if (t && t->is_waiting)
		openmp_wait_end(least);
	if (t)
		t->is_waiting = false;
}

static void sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, const void *site)
{
	unsigned wait = (size_t)kind < sizeof(sync_waits) / sizeof(sync_waits[0]) ? sync_waits[kind] : 0;

	if (!wait)
		return;
	if (endpoint == SCOPE_END)
		stop_waiting(0);
	else if (is_last_barrier(kind, part_now(), site))
		part_end(part_now());
	else
		start_waiting(wait, site);
}

/* Of ompt_mutex_t. Tests of locks do not wait. */
static const struct {
	uint16_t wait, block;
} mutexes[] = {
	[1] = {HOOK_omp_lock_wait, 0},
	[3] = {HOOK_omp_lock_wait, 0},
	[5] = {HOOK_omp_critical_wait, HOOK_omp_critical},
	[6] = {HOOK_omp_atomic_wait, 0},
	[7] = {HOOK_omp_ordered_wait, HOOK_omp_ordered},
};
enum { MUTEXES = sizeof(mutexes) / sizeof(mutexes[0]) };

static void mutex_acquire(int kind, unsigned hint, unsigned impl, uint64_t lock, const void *site)
{
	if ((size_t)kind < MUTEXES && mutexes[kind].wait)
		start_waiting(mutexes[kind].wait, site);
}

static void mutex_acquired(int kind, uint64_t lock, const void *site)
{
	if ((size_t)kind >= MUTEXES)
		return;
	if (mutexes[kind].wait)
		stop_waiting(process_osrt_threshold);
	if (mutexes[kind].block)
		openmp_block_begin(mutexes[kind].block, site);
}

static void mutex_released(int kind, uint64_t lock, const void *site)
{
	if ((size_t)kind < MUTEXES && mutexes[kind].block)
		openmp_block_end(mutexes[kind].block);
}

/* ---- work sharing ---- */

static void work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, uint64_t count,
		 const void *site)
{
	/* ompt_work_t; from 10 on, of 5.2, loops by their schedules. Who does not execute a single does nothing. */
	static const uint16_t constructs[] = {
		0, HOOK_omp_loop, HOOK_omp_sections, HOOK_omp_single, 0, HOOK_omp_workshare, 0, HOOK_omp_taskloop,
		0, 0, HOOK_omp_loop, HOOK_omp_loop, HOOK_omp_loop, HOOK_omp_loop,
	};
	unsigned construct = (size_t)kind < sizeof(constructs) / sizeof(constructs[0]) ? constructs[kind] : 0;

	if (construct && endpoint == SCOPE_BEGIN)
		openmp_block_begin(construct, site);
	else if (construct && endpoint == SCOPE_END)
		openmp_block_end(construct);
}

static void masked(int endpoint, union ompt_data *parallel, union ompt_data *task, const void *site)
{
	if (endpoint == SCOPE_BEGIN)
		openmp_block_begin(HOOK_omp_masked, site);
	else
		openmp_block_end(HOOK_omp_masked);
}

/* ---- tasks ---- */

#define TASK_BEGUN (1ull << 63) /* in the data of an explicit task, which is else its site */

static void task_create(union ompt_data *by, const void *frame, union ompt_data *task, int flags, int has_dependences,
			const void *site)
{
	enum { EXPLICIT = 4 };

	if (task && flags & EXPLICIT)
		task->value = (uintptr_t)site;
}

/* A task that waits lets the thread execute others meanwhile, which are parts of its own time. */
static void task_schedule(union ompt_data *before, int status, union ompt_data *next)
{
	enum { COMPLETE = 1, CANCEL = 3, DETACH = 4 };
	struct openmp_thread *t = openmp_thread();

	if (!t)
		return;
	if (before && t->task_count && (status == COMPLETE || status == CANCEL || status == DETACH)) {
		unsigned top = t->task_count - 1;

		if (top >= OPENMP_TASKS) {
			t->task_count--;
		} else if (t->tasks[top].data == before) {
			openmp_task_end(&t->tasks[top].task, t->tasks[top].site);
			t->task_count--;
		}
	}
	if (!next || !next->value || next->value & TASK_BEGUN)
		return;
	if (t->task_count < OPENMP_TASKS) {
		t->tasks[t->task_count].data = next;
		t->tasks[t->task_count].site = (const void *)(uintptr_t)next->value;
		openmp_task_begin(&t->tasks[t->task_count].task);
	}
	t->task_count++;
	next->value |= TASK_BEGUN;
}

/* ---- the tool ---- */

static int initialize(ompt_lookup *lookup, int device, union ompt_data *data)
{
	static const struct {
		int event;
		ompt_callback *callback;
	} callbacks[] = {
		{3, (ompt_callback *)(void *)parallel_begin},	{4, (ompt_callback *)(void *)parallel_end},
		{5, (ompt_callback *)(void *)task_create},	{6, (ompt_callback *)(void *)task_schedule},
		{7, (ompt_callback *)(void *)implicit_task},	{16, (ompt_callback *)(void *)sync_region},
		{17, (ompt_callback *)(void *)mutex_released},	{20, (ompt_callback *)(void *)work},
		{21, (ompt_callback *)(void *)masked},		{26, (ompt_callback *)(void *)mutex_acquire},
		{27, (ompt_callback *)(void *)mutex_acquired},
	};
	ompt_set_callback *set = (ompt_set_callback *)(void *)lookup("ompt_set_callback");

	for (size_t i = 0; set && i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		set(callbacks[i].event, callbacks[i].callback);
	return set != NULL; /* 0: the library drops the tool */
}

static void finalize(union ompt_data *data)
{
}

static bool has_variable(const char *name)
{
	size_t length = strlen(name);

	for (char **v = environ; v && *v; v++)
		if (!strncmp(*v, name, length) && (*v)[length] == '=' && (*v)[length + 1])
			return true;
	return false;
}

HOOK_EXPORT struct ompt_tool *ompt_start_tool(unsigned version, const char *library);

/* A tool of the program's own is used instead of ours: one that a library after us has, or that a variable names. */
struct ompt_tool *ompt_start_tool(unsigned version, const char *library)
{
	static struct ompt_tool tool = {initialize, finalize, {0}};
	struct ompt_tool *(*next)(unsigned, const char *) = NULL, *others;
	struct object caller;

	*(void **)&next = dso_next("ompt_start_tool"); /* the library may have a function that returns NULL */
	others = next ? next(version, library) : NULL;
	if (others || has_variable("OMP_TOOL_LIBRARIES") || !hook_attached() ||
	    !(process_gate.groups & 1u << TF_GROUP_OPENMP) ||
	    object_find((uintptr_t)__builtin_return_address(0), &caller) != OBJECT_FOUND)
		return others;
	__atomic_store_n(&ompt_library_end, (uintptr_t)caller.map_end, __ATOMIC_RELAXED);
	__atomic_store_n(&ompt_library_start, (uintptr_t)caller.map_start, __ATOMIC_RELAXED);
	return &tool;
}
