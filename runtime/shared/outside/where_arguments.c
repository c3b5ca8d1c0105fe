/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call of MPI or NCCL that is in progress: whom the rank waits for. They are searched on the stack
 * of the main thread, by the ticks at which the call began, so that no call has to say where they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/shared/outside/process_stat.h"
#include "runtime/shared/outside/where.h"

enum { STACK_MOST = 16 << 20, REQUESTS_MOST = 8192, STRIDE = 8, CALLERS_MOST = 1 << 16 };

/* The main thread's stack, or nothing. */
static size_t stack_copy(uint32_t pid, uint64_t *ret_address, char **ret)
{
	char path[32], *line = NULL;
	unsigned long long from = 0, to = 0;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !to && getline(&line, &size, f) > 0)
		if (!strstr(line, "[stack]") || sscanf(line, "%llx-%llx", &from, &to) != 2)
			to = 0;
	if (f)
		fclose(f);
	free(line);
	size = to - from < STACK_MOST ? (size_t)(to - from) : STACK_MOST;
	*ret_address = to - size;
	*ret = size ? malloc(size) : NULL;
	return *ret ? where_copy(pid, *ret_address, *ret, size) : 0;
}

static bool find_arguments(const char *stack, size_t size, uint64_t address, struct tf_where_arguments *ret)
{
	const size_t registers = TF_ARGUMENT_REGISTERS * sizeof(uint64_t), all = sizeof(ret->words) - registers;

	for (size_t at = 0; at + TF_START_TO_STACK + all <= size; at += sizeof(uint64_t)) {
		uint64_t start, frame;

		memcpy(&start, stack + at, sizeof(start));
		if ((start ^ ret->call) << (64 - TF_CURRENT_SHIFT))
			continue;
		memcpy(&frame, stack + at + TF_START_TO_FRAME, sizeof(frame));
		if (frame != address + at + (uint64_t)(int64_t)TF_START_TO_FRAME_POINTER || frame < address)
			continue;
		ret->frame = frame;
		memcpy(ret->words, stack + at + TF_START_TO_REGISTERS, registers);
		memcpy(ret->words + TF_ARGUMENT_REGISTERS, stack + at + TF_START_TO_STACK, all);
		return true;
	}
	return false;
}

/* The handles that MPI_Wait, or another wait for a list of requests, was given. */
static void record_requests(uint32_t pid, const struct tf_where_arguments *a, bool is_one)
{
	struct tf_where_memory head = {a->words[is_one ? 0 : 1]};
	uint64_t wanted = is_one ? 1 : a->words[0] & INT32_MAX, handles[REQUESTS_MOST / STRIDE];
	size_t size = where_copy(pid, head.address, handles, wanted < REQUESTS_MOST / STRIDE ? wanted * STRIDE : 0);

	if (size)
		where_record(TF_WHERE_MEMORY, &head, sizeof(head), handles, size);
}

/* The callers' frames: the registers of a thread that runs are often not known. */
static void record_callers(uint32_t pid, const char *stack, size_t size, uint64_t address, uint64_t frame)
{
	const struct where_process p = {.strings = process_strings(pid)};
	size_t at = (size_t)(frame - address), rest = size - at < CALLERS_MOST ? size - at : CALLERS_MOST;
	struct tf_where_memory head = {frame};

	where_record(TF_WHERE_MEMORY, &head, sizeof(head), stack + at, where_without_strings(&p, frame, rest));
}

void where_arguments(uint32_t pid, uint32_t tid, uint64_t call, enum where_requests requests)
{
	struct tf_where_arguments a = {.tid = tid, .call = call};
	uint64_t address;
	char *stack;
	size_t size = tid == pid ? stack_copy(pid, &address, &stack) : 0;

	if (size && find_arguments(stack, size, address, &a)) {
		record_callers(pid, stack, size, address, a.frame);
		if (requests)
			record_requests(pid, &a, requests == WHERE_REQUEST);
		where_record(TF_WHERE_ARGUMENTS, &a, sizeof(a), NULL, 0);
	}
	if (tid == pid)
		free(stack);
}
