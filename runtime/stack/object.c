/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stack/object.h"

#include "runtime/common/sys.h"

typedef int find_object(void *address, struct object *ret);

static find_object *dl_find;

/* Threads in dl_iterate_phdr, and forks that wait for them to leave. A child that was forked while another thread
 * was in it must not call it: its copy of the loader's lock may never be released. */
static unsigned searches, forks;
static bool is_search_lost;

enum { MOST_ROUNDS = 10000 }; /* of sys_wait, which sleeps for 50 us */

void object_init(void *dl_find_object)
{
	__atomic_store_n(&dl_find, (find_object *)dl_find_object, __ATOMIC_RELAXED);
}

bool object_has_lookup(void)
{
	return __atomic_load_n(&dl_find, __ATOMIC_RELAXED);
}

/* Signals are blocked, because a handler that interrupted the loader between taking its lock and storing the owner
 * would deadlock. Without system calls they cannot be blocked, so there is no search. */
bool object_each(object_visit *visit, void *data)
{
	uint64_t signals;
	bool is_visited = false;

	if (sys_is_silent || __atomic_load_n(&is_search_lost, __ATOMIC_SEQ_CST))
		return false;
	sys_signals_block(&signals);
	__atomic_fetch_add(&searches, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&forks, __ATOMIC_SEQ_CST)) {
		dl_iterate_phdr(visit, data);
		is_visited = true;
	}
	__atomic_fetch_sub(&searches, 1, __ATOMIC_SEQ_CST);
	sys_signals_restore(&signals);
	return is_visited;
}

struct search {
	uintptr_t address;
	bool is_found;
	struct object *ret;
};

static int object_match(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	uintptr_t low = UINTPTR_MAX, high = 0, eh_frame_hdr = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr, end = start + header->p_memsz;

		if (header->p_type == PT_GNU_EH_FRAME)
			eh_frame_hdr = start;
		if (header->p_type != PT_LOAD)
			continue;
		s->is_found |= s->address >= start && s->address < end;
		low = start < low ? start : low;
		high = end > high ? end : high;
	}
	if (s->is_found)
		*s->ret = (struct object){
			.map_start = (void *)low, .map_end = (void *)high, .eh_frame_hdr = (void *)eh_frame_hdr};
	return s->is_found;
}

enum object_answer object_find(uintptr_t address, struct object *ret)
{
	find_object *find = __atomic_load_n(&dl_find, __ATOMIC_RELAXED);
	struct search search = {address, false, ret};

	if (find)
		return find((void *)address, ret) ? OBJECT_NONE : OBJECT_FOUND;
	if (!object_each(object_match, &search))
		return OBJECT_UNKNOWN;
	return search.is_found ? OBJECT_FOUND : OBJECT_NONE;
}

void object_fork_begin(void)
{
	__atomic_fetch_add(&forks, 1, __ATOMIC_SEQ_CST);
	for (int round = 0; __atomic_load_n(&searches, __ATOMIC_SEQ_CST) && round < MOST_ROUNDS; round++)
		sys_wait(round);
}

void object_fork_end(bool is_child)
{
	if (!is_child) {
		__atomic_fetch_sub(&forks, 1, __ATOMIC_SEQ_CST);
		return;
	}
	if (__atomic_exchange_n(&searches, 0, __ATOMIC_SEQ_CST))
		__atomic_store_n(&is_search_lost, true, __ATOMIC_SEQ_CST);
	__atomic_store_n(&forks, 0, __ATOMIC_SEQ_CST);
}
