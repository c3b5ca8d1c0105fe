/* SPDX-License-Identifier: Apache-2.0 */
/* Space for threads that record little. */
#include "runtime/recorder/record/first_chunk.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "runtime/recorder/record/file.h"
#include "runtime/recorder/record/process.h"
#include "runtime/shared/common/sys.h"

/* Number of chunks in an area. If the address space is limited, an area takes at most 256 KB of it. */
enum { AREA_LEAST = 4, AREA_MOST = 512, AREA_LIMITED = 64 };

/* process.chunk_next packs the number of the area, its count of chunks and the count of requests so far into one
 * word, so that an atomic add returns all three consistently; an area whose chunks are all taken may be unmapped at
 * any time. */
static uint64_t chunk_word(uint32_t area, uint32_t count)
{
	return (uint64_t)area << 48 | (uint64_t)count << 32;
}

static uint32_t chunk_word_area(uint64_t word)
{
	return word >> 48;
}

static uint32_t chunk_word_count(uint64_t word)
{
	return word >> 32 & 0xffff;
}

static bool chunk_word_has_free(uint64_t word)
{
	return (uint32_t)word < chunk_word_count(word);
}

/* A quarter of the existing chunks, so that few chunks of the file stay unused. */
static uint32_t area_next_count(void)
{
	uint64_t limit[2] = {UINT64_MAX, UINT64_MAX};
	uint32_t count = process.first_chunks / 4, most;

	sys_call(SYS_prlimit64, 0, RLIMIT_AS, NULL, limit);
	most = limit[0] == RLIM_INFINITY ? AREA_MOST : AREA_LIMITED;
	return count < AREA_LEAST ? AREA_LEAST : count > most ? most : count;
}

static bool area_make_of(uint32_t count)
{
	uint32_t number = 0;
	uint64_t size = file_round((uint64_t)count * TF_PAGE);
	struct first_chunk_area *area;

	while (number < FIRST_CHUNK_AREAS && process.areas[number].at)
		number++;
	if (number == FIRST_CHUNK_AREAS)
		return false;
	area = &process.areas[number];
	area->at = file_take(NULL, size, &area->offset);
	if (!area->at)
		return false;
	area->count = area->live = (uint32_t)(size / TF_PAGE);
	process.first_chunks += area->count;
	process.area_last = number;
	__atomic_store_n(&process.chunk_next, chunk_word(number, area->count), __ATOMIC_RELEASE);
	return true;
}

static bool area_make(void)
{
	bool is_there;

	sys_lock(&process.growing);
	is_there = chunk_word_has_free(__atomic_load_n(&process.chunk_next, __ATOMIC_RELAXED)) ||
		   area_make_of(area_next_count()) || area_make_of(1);
	sys_unlock(&process.growing);
	process_take_clocks();
	return is_there;
}

void *first_chunk_take(uint64_t *ret_offset, uint32_t *ret_area)
{
	const struct first_chunk_area *area;
	uint64_t word;

	if (sys_is_silent)
		return NULL;
	while (!chunk_word_has_free(word = __atomic_fetch_add(&process.chunk_next, 1, __ATOMIC_ACQUIRE)))
		if (!area_make())
			return NULL;
	*ret_area = chunk_word_area(word);
	area = &process.areas[*ret_area];
	*ret_offset = area->offset + (uint64_t)(uint32_t)word * TF_PAGE;
	return (char *)area->at + (size_t)(uint32_t)word * TF_PAGE;
}

void first_chunk_release(uint32_t number)
{
	struct first_chunk_area *area = &process.areas[number];

	if (__atomic_sub_fetch(&area->live, 1, __ATOMIC_ACQ_REL))
		return;
	sys_lock(&process.growing);
	sys_munmap(area->at, (size_t)area->count * TF_PAGE);
	area->at = NULL;
	sys_unlock(&process.growing);
}

/* Returns the end of the file without the unused chunks of the current area; `end` is its end with them. No chunk is
 * handed out afterwards. */
static uint64_t area_close(uint64_t end)
{
	uint64_t word = __atomic_exchange_n(&process.chunk_next, 0, __ATOMIC_ACQ_REL);
	const struct first_chunk_area *area = &process.areas[chunk_word_area(word)];

	if (!chunk_word_has_free(word) || area->offset + (uint64_t)area->count * TF_PAGE != end)
		return end;
	return area->offset + (uint64_t)(uint32_t)word * TF_PAGE;
}

void first_chunk_trim(void)
{
	if (!process.header || process_is_frozen)
		return;
	sys_lock(&process.growing);
	process.file_end = file_round(area_close(process.file_end));
	file_cut(process.file_end);
	sys_unlock(&process.growing);
}
