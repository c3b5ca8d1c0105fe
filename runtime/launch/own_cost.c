/* SPDX-License-Identifier: Apache-2.0 */
/* What recording costs on this machine, for the ledger. The time that a wrapper adds to a short call is too short to be
 * measured in the target, because reading a clock is most of it. The launcher measures it once per run: it times a
 * system call without and with what a wrapper does around it. See docs/decisions/own-cost.md. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/common/sys.h"

/* CALLS of each kind in a round. A round that was interrupted does not change the median of ROUNDS. The probe uses
 * SLOTS slots again and again: in the target new ones are populated in a slow path, which is measured there. */
enum { ROUNDS = 15, CALLS = 48, SLOTS = 1024, FUNCTION = 5, SLOTS_OF_CALL = 2 };
enum { PS_OF_NS = 1000 };
enum call_kind { KIND_BARE, KIND_SHORT, KIND_RECORDED, KINDS };

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

static __attribute__((noinline)) void probe_call(void)
{
	uint64_t start, end;

	if (!(probe.groups & probe.recording) || probe.generation != probe.run_generation || probe.current)
		return;
	probe.frame = (uintptr_t)__builtin_frame_address(0);
	start = clock_now();
	probe.current = (uint64_t)(FUNCTION + 1) << TF_CURRENT_SHIFT | (start << 16 >> 16);
	sys_getppid();
	end = clock_now();
	if (probe.generation != probe.run_generation)
		return;
	probe.current = 0;
	if (end - start >= probe.threshold)
		probe_put(end, end - start);
	else if (probe.place[FUNCTION])
		probe_count(end - start);
}

static void probe_begin(enum call_kind kind)
{
	memset((void *)&probe, 0, sizeof(probe));
	probe.groups = probe.recording = 1;
	probe.descriptor = probe.place[FUNCTION] = 1;
	probe.threshold = kind == KIND_RECORDED ? 0 : UINT64_MAX;
	probe.backtrace = UINT64_MAX;
	probe.last_ticks = clock_now();
}

/* Duration of one call. */
static uint64_t probe_time_ps(enum call_kind kind)
{
	uint64_t begin;

	probe_begin(kind);
	begin = clock_monotonic_ns();
	for (int i = 0; i < CALLS; i++) {
		if (kind == KIND_BARE)
			sys_getppid();
		else
			probe_call();
	}
	return (clock_monotonic_ns() - begin) * PS_OF_NS / CALLS;
}

static int by_value(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The median of what was added in each round, and the half of the distance between its quartiles. */
static uint64_t added_ps(int64_t added[ROUNDS], uint64_t *ret_error)
{
	qsort(added, ROUNDS, sizeof(*added), by_value);
	*ret_error = (uint64_t)(added[ROUNDS * 3 / 4] - added[ROUNDS / 4]) / 2;
	return added[ROUNDS / 2] > 0 ? (uint64_t)added[ROUNDS / 2] : 0;
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

void own_cost_calls(struct run *run)
{
	static const char *const names[] = {"short_ps", "short_error_ps", "recorded_ps", "recorded_error_ps"};
	int64_t added[KINDS][ROUNDS];
	uint64_t values[4];

	for (int i = 0; i < ROUNDS; i++) {
		int64_t bare_ps = (int64_t)probe_time_ps(KIND_BARE);

		for (enum call_kind kind = KIND_SHORT; kind < KINDS; kind++)
			added[kind][i] = (int64_t)probe_time_ps(kind) - bare_ps;
	}
	values[0] = added_ps(added[KIND_SHORT], &values[1]);
	values[2] = added_ps(added[KIND_RECORDED], &values[3]);
	line_append(run, names, values, 4);
}

void own_cost_launcher(struct run *run)
{
	static const char *const names[] = {"launcher_ns"};
	struct timespec t = {0};
	uint64_t ns;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + run->helpers_ns;
	line_append(run, names, &ns, 1);
}
