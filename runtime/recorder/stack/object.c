/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/recorder/stack/object.h"

#include <string.h>
#include <sys/auxv.h>

#include "runtime/recorder/loader/loader.h"

enum { HEADER_BYTES = 4096 }; /* mapped with the ELF header */

typedef int find_object(void *address, struct object *ret);

static find_object *dl_find;

void object_init(void *dl_find_object)
{
	__atomic_store_n(&dl_find, (find_object *)dl_find_object, __ATOMIC_RELAXED);
}

bool object_has_lookup(void)
{
	return __atomic_load_n(&dl_find, __ATOMIC_RELAXED);
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

struct object_search {
	uintptr_t address;
	bool is_found;
	struct object *ret;
};

static int object_match(struct dl_phdr_info *info, size_t size, void *data)
{
	struct object_search *s = data;
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
	struct object_search search = {address, false, ret};

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
	if (!loader_try_each(object_match, &search))
		return OBJECT_UNKNOWN;
	return search.is_found ? OBJECT_FOUND : OBJECT_NONE;
}

/* The first segment begins with the ELF header, except in unusual objects. */
const ElfW(Phdr) *object_headers(const struct object *o, unsigned *ret_count)
{
	const ElfW(Ehdr) *head = o->map_start;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(ElfW(Phdr)) ||
	    head->e_phoff + head->e_phnum * sizeof(ElfW(Phdr)) > HEADER_BYTES)
		return NULL;
	*ret_count = head->e_phnum;
	return (const ElfW(Phdr) *)((const char *)head + head->e_phoff);
}

const void *object_dynamic(const struct object *o, uintptr_t *ret_bias)
{
	const ElfW(Phdr) *headers, *load = NULL, *dynamic = NULL;
	unsigned count = 0;

	if (o->link_map) {
		*ret_bias = o->link_map->l_addr;
		return o->link_map->l_ld;
	}
	headers = object_headers(o, &count);
	for (unsigned i = 0; headers && i < count; i++) {
		if (headers[i].p_type == PT_LOAD && (!load || headers[i].p_vaddr < load->p_vaddr))
			load = &headers[i];
		if (headers[i].p_type == PT_DYNAMIC)
			dynamic = &headers[i];
	}
	if (!load || !dynamic)
		return NULL;
	*ret_bias = (uintptr_t)o->map_start - load->p_vaddr;
	return (const void *)(*ret_bias + dynamic->p_vaddr);
}
