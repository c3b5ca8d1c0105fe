// SPDX-License-Identifier: Apache-2.0
// Preloaded after pillion's library, or named in OMP_TOOL_LIBRARIES: counts the constructs of a program independently
// of pillion, by wrappers of libgomp and as a tool of OMPT, and writes the counts to the file that OPENMP_COUNTS names.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long regions, parts, region_ns, explicit_tasks;

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add(long *to, long value)
{
	__atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}

__attribute__((destructor)) static void print(void)
{
	const char *path = getenv("OPENMP_COUNTS");
	FILE *file = path && regions ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "regions %ld\nparts %ld\ntasks %ld\nregion_ns %ld\n", regions, parts, explicit_tasks, region_ns);
	fclose(file);
}

/* ---- libgomp ---- */

struct region {
	void (*function)(void *);
	void *data;
};

static void part(void *of)
{
	const struct region *r = of;

	add(&parts, 1);
	r->function(r->data);
}

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
	void (*real)(void (*)(void *), void *, unsigned, unsigned) = dlsym(RTLD_NEXT, "GOMP_parallel");
	struct region r = {function, data};
	long start = now();

	real(part, &r, threads, flags);
	add(&regions, 1);
	add(&region_ns, now() - start);
}

/* ---- OMPT ---- */

union data {
	uint64_t value;
	void *ptr;
};

static void parallel_begin(union data *task, const void *frame, union data *parallel, unsigned threads, int flags,
			   const void *site)
{
	parallel->value = (uint64_t)now();
	add(&regions, 1);
}

static void parallel_end(union data *parallel, union data *task, int flags, const void *site)
{
	add(&region_ns, now() - (long)parallel->value);
}

static void implicit_task(int endpoint, union data *parallel, union data *task, unsigned threads, unsigned number,
			  int flags)
{
	if (endpoint == 1 && !(flags & 1))
		add(&parts, 1);
}

static void task_create(union data *by, const void *frame, union data *task, int flags, int depends, const void *site)
{
	if (flags & 4)
		add(&explicit_tasks, 1);
}

static int initialize(void (*(*lookup)(const char *))(void), int device, union data *tool)
{
	int (*set)(int, void (*)(void)) = (int (*)(int, void (*)(void)))lookup("ompt_set_callback");

	set(3, (void (*)(void))parallel_begin);
	set(4, (void (*)(void))parallel_end);
	set(5, (void (*)(void))task_create);
	set(7, (void (*)(void))implicit_task);
	return 1;
}

static void finalize(union data *tool)
{
}

void *ompt_start_tool(unsigned version, const char *library)
{
	static struct {
		int (*initialize)(void (*(*)(const char *))(void), int, union data *);
		void (*finalize)(union data *);
		union data data;
	} tool = {initialize, finalize, {0}};

	return &tool;
}
