/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stack/object.h"

#include <sys/auxv.h>

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

/* The range of an object's segments and its unwind table. False: no segment contains `address`. */
static bool object_read(uintptr_t bias, const ElfW(Phdr) *headers, unsigned long count, uintptr_t address,
			struct object *ret)
{
	uintptr_t low = UINTPTR_MAX, high = 0, eh_frame_hdr = 0;
	bool is_inside = false;

	for (unsigned long i = 0; i < count; i++) {
		uintptr_t start = bias + headers[i].p_vaddr, end = start + headers[i].p_memsz;

		if (headers[i].p_type == PT_GNU_EH_FRAME)
			eh_frame_hdr = start;
		if (headers[i].p_type != PT_LOAD)
			continue;
		is_inside |= address >= start && address < end;
		low = start < low ? start : low;
		high = end > high ? end : high;
	}
	if (is_inside) {
		ret->map_start = (void *)low;
		ret->map_end = (void *)high;
		ret->eh_frame_hdr = (void *)eh_frame_hdr;
	}
	return is_inside;
}

struct search {
	uintptr_t address;
	bool is_found;
	struct object *ret;
};

static int object_match(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *s = data;
	struct object found = {0};

	(void)size;
	s->is_found = object_read(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, s->address, &found);
	if (s->is_found)
		*s->ret = found;
	return s->is_found;
}

/* The program is the only object that can have gaps between its segments: glibc maps the others in one piece. */
static bool is_program(const struct link_map *map)
{
	return map && !map->l_prev && !*map->l_name;
}

enum object_answer object_find(uintptr_t address, struct object *ret)
{
	find_object *find = __atomic_load_n(&dl_find, __ATOMIC_RELAXED);
	struct search search = {address, false, ret};

	if (find) {
		if (find((void *)address, ret))
			return OBJECT_NONE;
		/* Of an object with gaps, _dl_find_object gives only the range of the segment that contains `address`,
		 * which excludes the ELF header and the unwind table. */
		if (is_program(ret->link_map))
			object_read(ret->link_map->l_addr, (const ElfW(Phdr) *)getauxval(AT_PHDR), getauxval(AT_PHNUM),
				    address, ret);
		return OBJECT_FOUND;
	}
	if (!object_each(object_match, &search))
		return OBJECT_UNKNOWN;
	return search.is_found ? OBJECT_FOUND : OBJECT_NONE;
}

bool object_fork_begin(void)
{
	if (object_has_lookup())
		return false;
	__atomic_fetch_add(&forks, 1, __ATOMIC_SEQ_CST);
	for (int round = 0; __atomic_load_n(&searches, __ATOMIC_SEQ_CST) && round < MOST_ROUNDS; round++)
		sys_wait(round);
	return true;
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
