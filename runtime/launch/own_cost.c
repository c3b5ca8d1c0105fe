/* SPDX-License-Identifier: Apache-2.0 */
/* What recording costs on this machine, for the ledger. The time that a wrapper adds to a short call is too short to be
 * measured in the target, because reading a clock is most of it. The launcher measures it once per run: it times what a
 * wrapper does around nothing, because the time of a system call varies more than that. docs/decisions/own-cost.md. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* CALLS of each kind in a round. A round that was interrupted does not change the median of ROUNDS. The probe uses
 * SLOTS slots again and again: in the target new ones are populated in a slow path, which is measured there. */
enum { ROUNDS = 11, CALLS = 96, SLOTS = 1024, FUNCTION = 5, SLOTS_OF_CALL = 2 };
enum { PS_OF_NS = 1000, NS_OF_MS = 1000000 };
enum call_kind { KIND_BARE, KIND_SHORT, KIND_RECORDED, KIND_PATH, KINDS };
enum { PAGE_ROUNDS = 3, PAGES = 24 };

/* Read and written as preload/hook/call.h, runtime/recorder/record/event.h and traffic.h do: the thread, its page, a
 * counter of calls and one of traffic, the chunk. Volatile, because the compiler knows nothing of these in the target
 * either. */
static volatile struct {
	uint64_t generation, current, frame, last_ticks, next;
	uint32_t writing, short_left, mask;
	uint16_t place[FUNCTION + 1], descriptor;
	struct tf_counter counter;
	uint64_t traffic[TF_TRAFFIC_NUMBERS + 1];
	uint64_t slots[SLOTS];
	uint64_t run_generation, threshold, backtrace;
	uint32_t groups, recording;
	const char *path;
	uint32_t directories[1];
} probe;

static void probe_count(uint64_t duration)
{
	probe.counter.ticks += duration;
	if (++probe.counter.calls == UINT64_MAX)
		probe.place[FUNCTION] = 0;
	probe.writing++;
	if (probe.mask == 0 && (probe.descriptor & 1) && !probe.traffic[1 + TF_TRAFFIC_KEY]) {
		probe.traffic[1 + TF_TRAFFIC_CALLS] += 1 << 8;
		probe.traffic[1 + TF_TRAFFIC_TICKS] += duration << 8;
		probe.traffic[1 + TF_TRAFFIC_BYTES] += 1 << 8;
	}
	probe.writing--;
	if (--probe.short_left == 0)
		probe.place[FUNCTION] = 0;
}

static void probe_put(uint64_t end, uint64_t duration)
{
	uint64_t at;

	if (duration >= probe.backtrace)
		return;
	probe.writing++;
	at = probe.next + SLOTS_OF_CALL <= SLOTS ? probe.next : 0;
	if (end - probe.last_ticks + TF_TIME_BEHIND <= TF_TIME_MASK)
		probe.next = at + SLOTS_OF_CALL;
	probe.slots[at + 1] = tf_arg(TF_ARG_FD, 0, duration);
	probe.slots[at] = tf_event(TF_CALL, FUNCTION, end, duration);
	probe.last_ticks = end;
	probe.writing--;
}

/* As directory_number() of runtime/recorder/record/directory.c. */
static void probe_path(const char *path)
{
	size_t length = strnlen(path, PATH_MAX);
	uint64_t hash = length, word;

	while (length && path[length - 1] != '/')
		length--;
	for (; length; length -= length < sizeof(word) ? length : sizeof(word), path += sizeof(word)) {
		word = 0;
		memcpy(&word, path, length < sizeof(word) ? length : sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	if (probe.directories[0] != (uint32_t)hash)
		probe.directories[0] = (uint32_t)hash;
}

/* Aligned, because on AMD's processors a function that begins at 16 modulo 64 took 25 ns instead of 15. */
static __attribute__((noinline, aligned(64))) void probe_call(void)
{
	uint64_t start, end;

	if (!(probe.groups & probe.recording) || probe.generation != probe.run_generation || probe.current)
		return;
	probe.frame = (uintptr_t)__builtin_frame_address(0);
	start = clock_now();
	probe.current = (uint64_t)(FUNCTION + 1) << TF_CURRENT_SHIFT | (start << 16 >> 16);
	__asm__ volatile("" ::: "memory");
	end = clock_now();
	if (probe.generation != probe.run_generation)
		return;
	probe.current = 0;
	if (end - start >= probe.threshold)
		probe_put(end, end - start);
	else if (probe.place[FUNCTION])
		probe_count(end - start);
	if (probe.path)
		probe_path(probe.path);
}

static void probe_begin(const struct run *run, enum call_kind kind)
{
	memset((void *)&probe, 0, sizeof(probe));
	probe.path = kind == KIND_PATH ? run->library : NULL;
	probe.groups = probe.recording = 1;
	probe.descriptor = probe.place[FUNCTION] = 1;
	probe.threshold = kind == KIND_RECORDED ? 0 : UINT64_MAX;
	probe.backtrace = UINT64_MAX;
	probe.last_ticks = clock_now();
}

/* Duration of one call. */
static uint64_t probe_time_ps(const struct run *run, enum call_kind kind)
{
	uint64_t begin;

	probe_begin(run, kind);
	begin = clock_monotonic_ns();
	for (int i = 0; i < CALLS; i++) {
		if (kind == KIND_BARE)
			__asm__ volatile("" ::: "memory");
		else
			probe_call();
	}
	return (clock_monotonic_ns() - begin) * PS_OF_NS / CALLS;
}

/* Duration that the counter has of one of the calls just timed. */
static uint64_t counted_ps(void)
{
	return probe.counter.ticks * NS_OF_MS / CALLS * PS_OF_NS / clock_ticks(NS_OF_MS);
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The median of what was added in each round, and the half of the distance between its quartiles. */
static uint64_t added_ps(int64_t *added, size_t rounds, uint64_t *ret_error)
{
	qsort(added, rounds, sizeof(*added), by_value);
	*ret_error = (uint64_t)(added[rounds * 3 / 4] - added[rounds / 4]) / 2;
	return added[rounds / 2] > 0 ? (uint64_t)added[rounds / 2] : 0;
}

static void line_append(struct run *run, const char *const names[], const uint64_t values[], size_t count)
{
	char buffer[512];
	struct index_writer line;

	index_begin(&line, buffer, sizeof(buffer), "cost");
	index_hex(&line, "run", run->id);
	for (size_t i = 0; i < count; i++)
		index_number(&line, names[i], values[i]);
	index_append(&line, run->directory, run->index);
}

/* CPU time of mapping, writing to and unmapping a page of memory, with its part of the system calls. */
static uint64_t page_ps(void)
{
	uint64_t begin = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	volatile char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED)
		return 0;
	for (size_t at = 0; at < size; at += page)
		bytes[at] = 1;
	munmap((void *)bytes, size);
	return (sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * PS_OF_NS / PAGES;
}

void own_cost_calls(struct run *run)
{
	static const char *const names[] = {"short_ps", "short_error_ps", "recorded_ps", "recorded_error_ps", "path_ps",
					    "page_ps",  "empty_ps"};
	int64_t added[KINDS][ROUNDS], counted[ROUNDS];
	uint64_t values[7], error;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t bare_ps = (int64_t)probe_time_ps(run, KIND_BARE);

		for (enum call_kind kind = KIND_SHORT; kind < KINDS; kind++) {
			added[kind][i] = (int64_t)probe_time_ps(run, kind) - bare_ps;
			if (kind == KIND_SHORT)
				counted[i] = (int64_t)counted_ps();
		}
	}
	values[0] = added_ps(added[KIND_SHORT], ROUNDS, &values[1]);
	values[2] = added_ps(added[KIND_RECORDED], ROUNDS, &values[3]);
	values[4] = added_ps(added[KIND_PATH], ROUNDS, &error);
	values[4] -= values[4] > values[0] ? values[0] : values[4];
	for (int i = 0; i < PAGE_ROUNDS; i++)
		added[KIND_BARE][i] = (int64_t)page_ps();
	values[5] = added_ps(added[KIND_BARE], PAGE_ROUNDS, &error);
	values[6] = added_ps(counted, ROUNDS, &error);
	line_append(run, names, values, 7);
}

void own_cost_launcher(struct run *run)
{
	static const char *const names[] = {"launcher_ns"};
	uint64_t ns = sys_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + run->helpers_ns;

	line_append(run, names, &ns, 1);
}
